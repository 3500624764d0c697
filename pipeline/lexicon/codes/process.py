"""How a process ended: by a signal, or with a status."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.lexicon import catalogues
from pipeline.lexicon.codes.mention import Mention, Way, starts_word

_EXIT = re.compile(
    r"[Ee](?:xit|XIT)(?:ed)?[ _]?(?:with )?(?:[Cc]ode|CODE|[Ss]tatus"
    r"|STATUS)[ ]?[:=]?[ ]?(-?\d{1,3})(?!\d)"
)
#: `bash: line 1:  5451 Aborted    /tmp/tool`: the shell names the process and the signal.
_SHELL = re.compile(
    r"(?:(?:line \d{1,6}: +\d{1,8} )(Aborted|Killed|Bus error|Terminated|Floating point exception)\b"
    r"|^(?:\S{1,120}: )?(Killed|Aborted)[ \t\r.!]{0,8}$)",
    re.MULTILINE,
)


def _rows() -> list[catalogues.Entry]:
    return [row for code, row in catalogues.signals().items() if code.startswith("signal:")]


@cache
def _name_pattern() -> re.Pattern[str]:
    # the others are sent by programs that stop one another: their names are no sign of an error
    return re.compile(rf"(?:{'|'.join(row.name for row in _rows() if row.is_named)})(?![A-Za-z0-9_])")


@cache
def _by_text() -> Mapping[str, str]:
    return MappingProxyType({text: row.code for row in _rows() for text in row.printed})


@cache
def _text_pattern() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _by_text())))


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


def ways() -> tuple[Way, ...]:
    """How the end of a process is named. It follows every error: none of these decides."""
    return (
        Way("signal", ("sig", "killed", "aborted", ": line ", *(text.lower() for text in _by_text())), _signals),
        Way("exit status", ("exit",), _exits),
    )
