"""Statuses of absl and XLA, of processes and of tools, as they are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.lexicon import catalogues
from pipeline.lexicon.codes.printed import Mention, Reader, Way, starts_word
from pipeline.records import warm

# Statuses of absl, as gRPC, TensorFlow and XLA print them.

_BEFORE = frozenset(" \t\n:]\"'(`;>*")
#: The old spelling counts behind a log prefix, an exception name or "failed: ", or at the start of a line.
_OLD_BEFORE = warm.pattern(
    r"(?:\.(?:cc|h|cpp|cu):\d{1,6}(?:\]|\))?:? |failed[:,] |Error: |[Ss]tatus: |(?P<bare>^|\n))$"
)
#: Statuses that are everybody's words: no status where they begin a line, no class without TensorFlow's module.
_EVERYDAY = frozenset(("UNKNOWN", "NOT_FOUND", "INTERNAL", "CANCELLED", "ABORTED", "UNAVAILABLE", "OUT_OF_RANGE"))
_EVERYDAY_CLASSES = _EVERYDAY | {"ALREADY_EXISTS", "PERMISSION_DENIED", "DATA_LOSS", "UNAUTHENTICATED"}
#: Statuses that nobody printed in words.
_NEVER_IN_WORDS = frozenset(("PERMISSION_DENIED", "UNAUTHENTICATED"))


def _names() -> list[str]:
    return [row.name for row in catalogues.absl_statuses().values()]


def _words(name: str) -> str:
    """The spelling of 2016-2020: "Resource exhausted"."""
    return name.replace("_", " ").capitalize()


@cache
def _pattern() -> re.Pattern[str]:
    # `NAME: text`; what may stand before it is looked at afterwards
    return warm.pattern(rf"({'|'.join(_names())})(?::(?=[ \t]{{0,2}}\S)|(?![A-Za-z0-9_]))")


@cache
def _by_words() -> Mapping[str, str]:
    return MappingProxyType({_words(name): name for name in _names() if name not in _NEVER_IN_WORDS})


@cache
def _words_pattern() -> re.Pattern[str]:
    return warm.pattern(rf"({'|'.join(_by_words())}): ?(?=\S)")


@cache
def _by_class() -> Mapping[str, str]:
    return MappingProxyType({str(row.string): row.name for row in catalogues.absl_statuses().values()})


@cache
def _class_pattern() -> re.Pattern[str]:
    return warm.pattern(rf"({'|'.join(_by_class())})Error(?=[:\s)\"'`]|$)")


def _constants(text: str) -> Iterator[Mention]:
    for match in _pattern().finditer(text):
        at = match.start()
        if match[0].endswith(":"):
            is_status = at == 0 or text[at - 1] in _BEFORE or text[at - 2 : at] == "\\n"
        else:
            is_status = text[max(at - 11, 0) : at] == "StatusCode."  # as gRPC prints it
        if is_status:
            yield Mention(f"absl:{match[1]}", at, match.end(1))


def _in_words(text: str) -> Iterator[Mention]:
    for match in _words_pattern().finditer(text):
        name = _by_words()[match[1]]
        before = _OLD_BEFORE.search(text[max(match.start() - 16, 0) : match.start()])
        if before and not (before["bare"] is not None and name in _EVERYDAY):
            yield Mention(f"absl:{name}", match.start(), match.end(1))


def _classes(text: str) -> Iterator[Mention]:
    for match in _class_pattern().finditer(text):
        at, name = match.start(), _by_class()[match[1]]
        in_module = text[max(at - 12, 0) : at].endswith(("errors.", "errors_impl."))
        if in_module or (name not in _EVERYDAY_CLASSES and starts_word(text, at)):
            yield Mention(f"absl:{name}", at, match.end())


def absl_ways() -> tuple[Way, ...]:
    """How absl's statuses are named. A status is a wrapper of many errors: none of these decides."""
    return (
        Way("absl: constant", tuple(name.lower() for name in _names()), _constants),
        Way("absl: words", tuple(f"{words.lower()}: " for words in _by_words()), _in_words),
        Way("absl: class", tuple(f"{name.lower()}error" for name in _by_class()), _classes),
    )


# Codes of XLA, JAX and torch.compile.
#
# A bare number is never a code: `E1001 15:22:33.27 4353 file.cc:1350]` is a log line of 1 October, `error[E0200]` is
# rustc's.

#: A line break, as the program wrote it or as JSON and repr() escape it (once or twice).
_BREAK = r"(?:\s|\\{1,2}[nrt])"
#: What the names of XLA's own errors begin with; the generic ones (Internal, Unknown, ...) are everybody's words.
_OWN = ("Runtime", "CompileTime")
_URL = warm.pattern(r"openxla\.org/xla/errors(?:/error_|/[Ee]|#[Ee](?:rror_)?)(\d{4})(?!\d)")


@cache
def _by_name() -> Mapping[str, str]:
    return MappingProxyType({row.name: code for code, row in catalogues.xla_codes().items()})


@cache
def _numbered_pattern() -> re.Pattern[str]:
    names = "|".join(sorted(_by_name(), key=len, reverse=True))
    between = rf"""["'`*]{{0,3}}{_BREAK}{{0,4}}:["'`*]{{0,3}}{_BREAK}{{0,8}}["'`*]{{0,3}}"""
    return warm.pattern(rf"(E\d{{4}}){between}({names})(?![A-Za-z0-9_])")


@cache
def _named_pattern() -> re.Pattern[str]:
    own = [name for name in _by_name() if name.startswith(_OWN)]
    return warm.pattern(rf"({'|'.join(sorted(own, key=len, reverse=True))})(?![A-Za-z0-9_])")


@cache
def _signatures() -> tuple[tuple[catalogues.XlaSignature, re.Pattern[str]], ...]:
    return tuple((row, warm.pattern(row.pattern)) for row in catalogues.xla_signatures())


def _numbered(text: str) -> Iterator[Mention]:
    for match in _numbered_pattern().finditer(text):
        number, name = match.groups()
        # where they disagree the name wins: CoreHalt was numbered E0103 for four weeks of 2026
        if starts_word(text, match.start()) and (number in catalogues.xla_aliases() or name.startswith(_OWN)):
            yield Mention(f"xla:{_by_name()[name]}", match.start(), match.end())


def _named(text: str) -> Iterator[Mention]:
    for match in _named_pattern().finditer(text):
        if starts_word(text, match.start()):
            yield Mention(f"xla:{_by_name()[match[1]]}", match.start(), match.end())


def _linked(text: str) -> Iterator[Mention]:
    for match in _URL.finditer(text):
        if code := catalogues.xla_aliases().get(f"E{match[1]}"):
            yield Mention(f"xla:{code}", match.start(), match.end())


def _signed(text: str) -> Iterator[Mention]:
    for row, pattern in _signatures():
        if match := pattern.search(text):
            yield Mention(f"xla:{row.code}", match.start(), match.end(), tuple(match.groupdict().items()))


#: Number with its name, else the name, else the address, else a known message: the first that is there.
READERS = (_numbered, _named, _linked, _signed)


def _read(text: str) -> list[Mention]:
    return next((found for read in READERS if (found := list(read(text)))), [])


def _own_errors(text: str) -> list[Mention]:
    return [one for one in _read(text) if _is_xlas(one)]


def _statuses(text: str) -> list[Mention]:
    return [one for one in _read(text) if not _is_xlas(one)]


def _is_xlas(mention: Mention) -> bool:
    return (catalogues.code_name(mention.code) or "").startswith(_OWN)


# ---------------------------------------------------------------- JAX, graph breaks


@cache
def _jax_pattern() -> re.Pattern[str]:
    """A documented class, in any module that it had, or the documented anchor.

    JaxRuntimeError wraps every XLA status, the others of these name no error of their own: no codes.
    """
    names = [row.name.rpartition(".")[2] for row in catalogues.jax_errors().values() if row.is_named]
    return warm.pattern(rf"({'|'.join(sorted(names))})(?![A-Za-z0-9_(])")


def _jax(text: str) -> Iterator[Mention]:
    for match in _jax_pattern().finditer(text):
        if starts_word(text, match.start()):
            yield Mention(f"jax:jax.errors.{match[1]}", match.start(), match.end())


_GB_URL = warm.pattern(r"compile-graph-break-site/gb/gb(\d{4})\b")
_GB_TYPE = warm.pattern(r"Unsupported: ([^\n\\]{3,200})")


@cache
def _graph_break_by_type() -> Mapping[str, str]:
    """Codes by type line, of those whose line belongs to one code and holds no placeholder."""
    types: dict[str, list[str]] = {}
    for code, row in catalogues.graph_breaks().items():
        types.setdefault(row.string or "", []).append(code)
    return MappingProxyType({line: found[0] for line, found in types.items() if len(found) == 1 and "{" not in line})


def _graph_breaks(text: str) -> Iterator[Mention]:
    linked = list(_GB_URL.finditer(text))
    for match in linked:  # a newer one than the catalogue's is a code too: its page has the number
        yield Mention(f"gb:GB{match[1]}", match.start(), match.end())
    if linked:
        return
    for match in _GB_TYPE.finditer(text):
        if starts_word(text, match.start()) and (code := _graph_break_by_type().get(match[1].strip())):
            yield Mention(code, match.start(), match.end())


def xla_ways() -> tuple[Way, ...]:
    """How XLA, JAX and torch.compile name their codes."""
    own = (name.lower() for name in _by_name() if name.startswith(_OWN))
    signs = (row.sign for row in catalogues.xla_signatures())
    jax = (row.name.rpartition(".")[2].lower() for row in catalogues.jax_errors().values())
    return (
        Way("xla: own error", ("openxla.org/xla/errors", *own, *signs), _own_errors, decides=True),
        Way("xla: status", ("e00", "openxla.org/xla/errors"), _statuses),
        Way("jax: class", tuple(jax), _jax),
        Way("torch: graph break", ("graph-break-site", "unsupported: "), _graph_breaks),
    )


# How a process ended: by a signal, or with a status.

_EXIT = warm.pattern(
    r"[Ee](?:xit|XIT)(?:ed)?[ _]?(?:with )?(?:[Cc]ode|CODE|[Ss]tatus"
    r"|STATUS)[ ]?[:=]?[ ]?(-?\d{1,3})(?!\d)"
)
#: `bash: line 1:  5451 Aborted    /tmp/tool`: the shell names the process and the signal.
_SHELL = warm.pattern(
    r"(?:(?:line \d{1,6}: +\d{1,8} )(Aborted|Killed|Bus error|Terminated|Floating point exception)\b"
    r"|^(?:\S{1,120}: )?(Killed|Aborted)[ \t\r.!]{0,8}$)",
    re.MULTILINE,
)


def _rows() -> list[catalogues.Entry]:
    return [row for code, row in catalogues.signals().items() if code.startswith("signal:")]


@cache
def _name_pattern() -> re.Pattern[str]:
    # the others are sent by programs that stop one another: their names are no sign of an error
    return warm.pattern(rf"(?:{'|'.join(row.name for row in _rows() if row.is_named)})(?![A-Za-z0-9_])")


@cache
def _by_text() -> Mapping[str, str]:
    return MappingProxyType({text: row.code for row in _rows() for text in row.printed})


@cache
def _text_pattern() -> re.Pattern[str]:
    return warm.pattern("|".join(map(re.escape, _by_text())))


@cache
def _by_string() -> Mapping[str, str]:
    return MappingProxyType({str(row.string): row.code for row in _rows()})


@cache
def _by_number() -> Mapping[int, str]:
    return MappingProxyType({row.number: row.code for row in _rows() if row.number is not None})


def _signals(text: str) -> Iterator[Mention]:
    for match in _name_pattern().finditer(text):
        if starts_word(text, match.start()):
            yield Mention(f"signal:{match[0]}", match.start(), match.end())
    for match in _text_pattern().finditer(text):
        yield Mention(_by_text()[match[0]], match.start(), match.end())
    for match in _SHELL.finditer(text):
        yield Mention(_by_string()[match[1] or match[2]], match.start(), match.end())


def _exits(text: str) -> Iterator[Mention]:
    for match in _EXIT.finditer(text):
        number = int(match[1])
        code = f"exit:{number}" if f"exit:{number}" in catalogues.signals() else _by_number().get(-number)
        if code:
            yield Mention(code, match.start(), match.end())


def process_ways() -> tuple[Way, ...]:
    """How the end of a process is named. It follows every error: none of these decides."""
    return (
        Way("signal", ("sig", "killed", "aborted", ": line ", *(text.lower() for text in _by_text())), _signals),
        Way("exit status", ("exit",), _exits),
    )


# Codes of compilers and of OpenSSL: thousands, listed by nobody here. What the program prints is the code.

_MSVC = warm.pattern(r"\b[Ee]rror ((?:C|LNK|MSB)\d{4})\b")
#: OpenSSL's reason, as Python prints it.
_SSL = warm.pattern(r"\[SSL: ([A-Z][A-Z0-9_]{5,60})\]")


def _as_printed(family: str, pattern: re.Pattern[str]) -> Reader:
    def read(text: str) -> Iterator[Mention]:
        for match in pattern.finditer(text):
            yield Mention(f"{family}:{match[1]}", match.start(), match.end(1))

    return read


def tools_ways() -> tuple[Way, ...]:
    """How these tools print their codes. The families of their diagnostics decide, which know more than the code."""
    return (
        Way("msvc", ("error c", "error lnk", "error msb"), _as_printed("msvc", _MSVC)),
        Way("openssl", ("[ssl: ",), _as_printed("ssl", _SSL)),
    )
