"""Codes of XLA, JAX and torch.compile.

A bare number is never a code: `E1001 15:22:33.27 4353 file.cc:1350]` is a log line of 1 October, `error[E0200]` is
rustc's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.lexicon import catalogues
from pipeline.lexicon.codes.mention import Mention, Way, starts_word

#: A line break, as the program wrote it or as JSON and repr() escape it (once or twice).
_BREAK = r"(?:\s|\\{1,2}[nrt])"
#: What the names of XLA's own errors begin with; the generic ones (Internal, Unknown, ...) are everybody's words.
_OWN = ("Runtime", "CompileTime")
_URL = re.compile(r"openxla\.org/xla/errors(?:/error_|/[Ee]|#[Ee](?:rror_)?)(\d{4})(?!\d)")


@cache
def _by_name() -> Mapping[str, str]:
    return MappingProxyType({row.name: code for code, row in catalogues.xla_codes().items()})


@cache
def _numbered_pattern() -> re.Pattern[str]:
    names = "|".join(sorted(_by_name(), key=len, reverse=True))
    between = rf"""["'`*]{{0,3}}{_BREAK}{{0,4}}:["'`*]{{0,3}}{_BREAK}{{0,8}}["'`*]{{0,3}}"""
    return re.compile(rf"(E\d{{4}}){between}({names})(?![A-Za-z0-9_])")


@cache
def _named_pattern() -> re.Pattern[str]:
    own = [name for name in _by_name() if name.startswith(_OWN)]
    return re.compile(rf"({'|'.join(sorted(own, key=len, reverse=True))})(?![A-Za-z0-9_])")


@cache
def _signatures() -> tuple[tuple[catalogues.XlaSignature, re.Pattern[str]], ...]:
    return tuple((row, re.compile(row.pattern)) for row in catalogues.xla_signatures())


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
    return re.compile(rf"({'|'.join(sorted(names))})(?![A-Za-z0-9_(])")


def _jax(text: str) -> Iterator[Mention]:
    for match in _jax_pattern().finditer(text):
        if starts_word(text, match.start()):
            yield Mention(f"jax:jax.errors.{match[1]}", match.start(), match.end())


_GB_URL = re.compile(r"compile-graph-break-site/gb/gb(\d{4})\b")
_GB_TYPE = re.compile(r"Unsupported: ([^\n\\]{3,200})")


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


def ways() -> tuple[Way, ...]:
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
