"""Errors of other languages and in prose, and the lines that tell of no failure."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

from pipeline.extract.rule import Block, Rule, compiled
from pipeline.text.literals import Seen

# Lines that programs print around every error and that say nothing about this one; kept as data.


class Remark(NamedTuple):
    """A line that a program prints although nothing failed, or one that only announces what failed."""

    name: str
    rules: frozenset[str]  # the rules for native diagnostics that would take it; none: it is a warning under all
    pattern: str  # what its message begins with
    example: str
    counter: str  # a look-alike that tells of a failure


@functools.cache
def _tables() -> dict[str, Any]:
    path = resources.files("pipeline").joinpath("data/extract/boilerplate.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@functools.cache
def table(name: str) -> tuple[str, ...]:
    """The lines or words of one list of the data file."""
    return tuple(_tables()[name])


@functools.cache
def remarks(kind: str) -> tuple[Remark, ...]:
    """The rows of one kind: "chatter", "announcing" or "progress"."""
    return tuple(
        Remark(row["name"], frozenset(row.get("rules", ())), row["pattern"], row["example"], row["counter"])
        for row in _tables()[kind]
    )


def no_chatter(rule: str) -> str:
    """An expression that fails where the message of that rule's diagnostic would be chatter."""
    return f"(?!{'|'.join(row.pattern for row in remarks('chatter') if rule in row.rules)})"


def is_warning(message: str) -> bool:
    """Whether a native diagnostic tells of no failure, whoever prints it."""
    return _begins("chatter").match(message) is not None


def is_progress(message: str) -> bool:
    """Whether a message tells of a retry, a start or a step, whatever level it was logged at."""
    return _begins("progress").match(message) is not None


def announces(line: str) -> bool:
    """Whether the first line of a message only says that another exception follows on the next line."""
    return _begins("announcing").match(line) is not None


@functools.cache
def _begins(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(row.pattern for row in remarks(kind) if not row.rules))


def is_boilerplate(line: str) -> bool:
    """Whether the line (stripped) is one that is printed with every error of a library."""
    return line.startswith(table("boilerplate"))


def is_continuation(line: str) -> bool:
    """Whether the line (stripped) goes on with a message although an empty line stands before it."""
    return line.startswith(table("continuation"))


def opens_stack(line: str) -> bool:
    """Whether the line of a message announces a stack or code that belongs to the message."""
    body = line.strip()
    return body.endswith(table("opens_stack")) or (body.endswith(":") and is_continuation(body))


# Failures that a sentence names: an abort or an assertion failure in a qualified C++ function.

_RULE = Rule("cpp-named", "cpp-prose", (), compiled(r"(?!)"))

#: Narrow on purpose: the word for the failure, "in" or "at", and right behind it a name with `::`.
_FAILURE = re.compile(
    r"(?:ssertion fail(?:ures?|s|ed)|ssert failures?|borts?|egfaults?|rash(?:es)?) (?:in|at) ?[`'\"*]{0,2}"
    r"(?P<name>(?:[A-Za-z_]\w{1,60}::){1,5}~?[A-Za-z_]\w{1,80})"
)
#: The stem that is searched, the letter before it, and what the message calls it.
_STEMS = (
    ("ssert", "aA", "assertion failure"),
    ("bort", "aA", "abort"),
    ("egfault", "sS", "segmentation fault"),
    ("rash", "cC", "crash"),
)


PROSE_LITERALS = tuple(stem for stem, _, _ in _STEMS)


def prose_blocks(text: str, seen: Seen) -> Iterator[Block]:
    """One block for each C++ function that a sentence says the program died in; each function once."""
    named: set[str] = set()
    for stem, initials, label in _STEMS:
        for at in seen.get(stem, ()):
            match = _FAILURE.match(text, at) if at and text[at - 1] in initials else None
            if match and match["name"] not in named:
                named.add(match["name"])
                name = match["name"]
                yield Block(rule=_RULE, start=at - 1, end=match.end(), message=f"{label} in {name}", function=name)


# Failures of other languages: Rust, Go, Java, JavaScript, by type, message and top frames.

RULES: tuple[Rule, ...] = (
    Rule(
        "rust-panic",
        "rust",
        ("panic",),
        compiled(
            r"thread '[^'\n]{0,80}'(?: \(\d{1,9}\))? panicked at (?P<file>[^\s:']{1,300}):(?P<line>\d{1,7}):\d{1,5}:?"
        ),
        goes_on=compiled(r"^[^\n]{1,600}$"),
        most_lines=60,
        says_more=compiled(
            r"panicked at [^\s:']{1,300}:\d{1,7}:\d{1,5}:?\s{0,3}\n[^\S\n]{0,40}(?P<msg>"
            r"[^\n]{1,900})"
        ),
    ),
    Rule(
        "rust-panic-quoted",  # before Rust 1.73
        "rust",
        ("panic",),
        compiled(
            r"thread '[^'\n]{0,80}'(?: \(\d{1,9}\))? panicked at '(?P<msg>[^\n]{1,900}?)', (?P<file>"
            r"[^\s:]{1,300}):(?P<line>\d{1,7})"
        ),
        goes_on=compiled(r"^[^\n]{1,600}$"),
        most_lines=60,
    ),
    Rule(
        "rustc",
        "rustc",
        ("error[E",),
        compiled(r"(?P<msg>error\[E\d{4}\]: [^\n]{2,600})"),
        goes_on=compiled(r"^ {0,8}(?:-->|\d{0,6} ?\||= |\.\.\.)"),
        joins=True,
    ),
    Rule(
        "java-thread",
        "java",
        ('Exception in thread "',),
        compiled(
            r"Exception in thread \"[^\"\n]{1,120}\" (?P<type>(?:[a-z_$][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,80})"
            r"(?:: (?P<msg>[^\n]{1,1500}))?"
        ),
        message="{msg}",
    ),
    Rule(
        "jvm-crash",
        "jvm",
        ("detected by the Java Runtime Environment",),
        compiled(r"(?P<msg>A fatal error has been detected by the Java Runtime Environment)"),
        goes_on=compiled(r"^[> ]{0,4}#"),
        most_lines=40,
        says_more=compiled(
            r"#  (?P<msg>(?:SIG[A-Z]{2,5}|EXCEPTION_\w{4,40}|Internal Error"
            r"|Out of Memory Error) \([^\n]{1,120})"
        ),
    ),
    Rule(
        "go-panic",
        "go",
        ("panic",),
        compiled(r"^[> \t]{0,8}panic: (?P<msg>[^\n]{2,900}?)(?: \[recovered\])?[ \t\r]{0,4}$"),
        goes_on=compiled(
            r"^(?:\[signal |goroutine \d|\s{0,4}$(?=\n?goroutine)|[\w./*()-]{2,200}\(|\t|created by "
            r"|[ \t]{1,12}(?:panic: |\S{1,300}\.(?:go|s):\d))"
        ),
    ),
)

_HEADER = re.compile(
    r"(?P<lead>[^\n]{0,120}?)(?P<type>(?:[a-z_$][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,80}"
    r"|(?:[A-Z]\w{0,60})?(?:Error|Exception))"
    r"(?: \[[A-Z_]{2,40}\])?(?:: (?P<msg>[^\n]{0,1500}))?\r?$"
)
_AT_LINE = re.compile(
    r"\n[ \t]{1,12}at (?=[^\n]{2,400}[:(](?:\d|Native|Unknown|<anonymous>"
    r"|[\w$]{1,80}\.(?:java|kt|scala|js|ts)))"
)
_GOES_ON = re.compile(
    r"[ \t]{1,12}(?:at |\.\.\. \d{1,4} (?:more|common)|- locked)|Caused by: "
    r"|[ \t]{1,12}Suppressed: |\t\.\.\. "
)
_CAUSED = re.compile(r"^[ \t]{0,8}Caused by: (?P<type>[\w.$]{2,200})(?:: (?P<msg>[^\n]{0,1500}))?", re.MULTILINE)
_MOST_LINES = 400
#: Lines of a message between the header and the first frame.
_MESSAGE_LINES = 6

_STACK_RULE = Rule("jvm-js-stack", "java", (), compiled(r"(?!)"))
_JS_RULE = Rule("js-stack", "js", (), compiled(r"(?!)"))


#: How a frame line begins.
LITERALS = ("\tat ", "\n    at ", "\n  at ")


def blocks(text: str, seen: Seen) -> Iterator[Block]:
    """The failures that nothing but their first frame line tells: `    at f (file.js:1:2)`."""
    if not any(literal in seen for literal in LITERALS):
        return
    end = 0
    for match in _AT_LINE.finditer(text):
        if match.start() < end:
            continue
        header = _header(text, match.start())
        end = _stack_end(text, match.start())
        if header:
            yield _block(text, header, end)


def _header(text: str, at: int) -> re.Match[str] | None:
    """The line that names the exception, at most a few lines above the first frame."""
    stop = at
    for _ in range(_MESSAGE_LINES):
        start = text.rfind("\n", max(stop - 2000, 0), stop) + 1
        if start == 0 and stop > 2000:
            return None
        line = text[start:stop]
        if not line.strip() or line.startswith("```"):
            return None
        if header := _HEADER.match(text, start, stop):
            return header
        stop = start - 1
    return None


def _stack_end(text: str, at: int) -> int:
    """The end of the run of frame lines that begins with the line break at `at`."""
    for _ in range(_MOST_LINES):
        if not _GOES_ON.match(text, at + 1):
            return at
        stop = text.find("\n", at + 1)
        if stop < 0:
            return len(text)
        at = stop
    return at


def _block(text: str, header: re.Match[str], end: int) -> Block:
    is_java = (
        ".java:" in text[header.start() : end] or "." in header["type"] or "Native Method" in text[header.start() : end]
    )
    block = Block(
        rule=_STACK_RULE if is_java else _JS_RULE,
        start=header.start(),
        end=end,
        message=header["msg"] or "",
        exception_type=header["type"],
    )
    for caused in _CAUSED.finditer(text, header.end(), end):
        block.links.append((block.exception_type, block.message, 0))
        block.exception_type, block.message = caused["type"], caused["msg"] or ""
    return block
