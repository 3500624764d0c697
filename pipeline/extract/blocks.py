"""The lines of a text that may tell of an error, and the blocks in which they stand: code, or a paragraph of prose."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice
from typing import NamedTuple

from pipeline.records import warm
from pipeline.text import prefixes
from pipeline.text.needed import Literals, Seen

#: So much is looked at of a text, of a line. What is longer is data.
_MOST, _WIDEST = 60_000, 700
#: A line with fewer words states nothing.
FEWEST = 2
WORDS = warm.pattern(r"[A-Za-z][A-Za-z']+")

_FENCE = warm.pattern(
    r"[ \t>]{0,12}(?:(?:`{3,}|~{3,})[ \t]{0,4}(?P<lang>[\w+#.-]{0,20})[^`\n]{0,60}$"
    r"|\{(?:code|noformat)(?P<kind>[^}\n]{0,60})\}|</?pre\b[^>\n]{0,80}>)"
)
#: Blocks so marked hold what a program printed, or nobody said what; all others hold source code.
PLAIN = frozenset(
    re.findall(
        r"\S+",
        "bash bat cmd console error log logs none output plain plaintext powershell pytb sh shell shell-session"
        " stacktrace terminal text traceback txt zsh",
    )
) | {""}
#: What is left of such a prefix, and marks of quotes.
_OPENING = warm.pattern(r"(?:(?:ERROR|FATAL|SEVERE|CRITICAL)(?=[ :|-]))?[ \t:|-]{0,6}[`\"']{0,3}(?=\w)")

#: What a sign says of its line: it may be an error, it may be announced or logged as one, a block of code may begin.
_TELLS, _IS_LOUD, _IS_FENCE = 1, 2, 4
#: One of these stands in every line that is worth a look: all others are passed over.
_KNOWN_BY = {
    **dict.fromkeys(
        re.findall(
            r"[^|]+",
            "EMERG|PANIC|FAIL|ailed|ailing|nable to|annot|an't"
            "|an not|ould not|ould n't|ouldn't|o such|enied|efused"
            "|onnection |imed out|ime out|imeout|nexpected|nknown|ndefined|nvalid|issing"
            "|nsupported|nrecogni|nresolved|llegal|oo many|uplicate|ircular|Bad |bad |ut of |egmentation|ssert|xpected"
            "|ccurred|xception|went wrong|ot found|ot enough|ot implemented|ot supported|ot permitted|ot allowed"
            "|ncaught|oes not|oesn't|id not|idn't|s not |as not |ere not |een not |has no |s null|lready |equired "
            "|oo few|oo large|oo long|oo big|ismatch|xit code|xit status|xited |rashed|core dumped| E ",
        ),
        _TELLS,
    ),
    **dict.fromkeys(("rror", "ERR", "atal", "FATAL", "SEVERE", "CRIT", "anic", "ault", "bort"), _TELLS | _IS_LOUD),
    **dict.fromkeys(("```", "~~~", "{code", "{noformat", "<pre", "</pre"), _IS_FENCE),
}
#: What `told` wants to have been looked for.
SIGNS = tuple(_KNOWN_BY)
_SIGNS = Literals(SIGNS)


class Line(NamedTuple):
    """A line that holds a sign: a word or a part of one that errors are told with."""

    text: str
    start: int
    lang: str | None  # what the block of code is marked as in which it stands; None outside
    is_loud: bool  # only such a line may announce an error
    opened: int  # where the line stands that begins its block of code, and the one that ends it; -1 outside
    closed: int

    @property
    def is_plain(self) -> bool:
        """Whether its block holds what a program printed, or nobody said what."""
        return self.lang in PLAIN


def lines(text: str) -> list[Line]:
    """The lines that hold a sign, in order, without those that begin or end a block of code."""
    return told(text, _SIGNS.seen(text[:_MOST]))


def told(text: str, seen: Seen) -> list[Line]:
    """The same where it is known where the signs stand."""
    text = text[:_MOST]
    signs = _signs(text, seen)
    fences = _fences(text, sorted(start for start, (told_by, _) in signs.items() if told_by & _IS_FENCE))
    begins = [start for start, _ in fences]
    found: list[Line] = []
    for start, (told_by, end) in sorted(signs.items()):
        if not told_by & _TELLS:
            continue
        opened = closed = -1
        lang = None
        if place := bisect_right(begins, start):
            if start == begins[place - 1]:
                continue
            if (lang := fences[place - 1][1]) is not None:
                opened, closed = begins[place - 1], begins[place] if place < len(begins) else len(text)
        line = text[start : end if end - start < _WIDEST else start + _WIDEST]
        found.append(Line(line, start, lang, bool(told_by & _IS_LOUD), opened, closed))
    return found


def _signs(text: str, seen: Seen) -> dict[int, tuple[int, int]]:
    """The lines that hold a sign, by where they begin: what the signs say of them, and where they end."""
    found: dict[int, tuple[int, int]] = {}
    size = len(text)
    for sign in seen.keys() & _KNOWN_BY.keys():
        told_by, last, end = _KNOWN_BY[sign], size - len(sign), -1
        for at in seen[sign]:
            if at < end:
                continue
            if at > last:
                break
            start = text.rfind("\n", 0, at) + 1
            known = found.get(start)
            if known is None:
                end = text.find("\n", at)
                end = size if end < 0 else end
                found[start] = told_by, end
            else:
                end = known[1]
                found[start] = known[0] | told_by, end
    return found


def holds_sign(text: str) -> bool:
    """Whether a word that errors are told with stands in it."""
    return any(_KNOWN_BY[sign] & _TELLS for sign in _SIGNS.seen(text))


def paragraph(text: str, place: int) -> tuple[int, int]:
    """From where to where the paragraph goes in which `place` stands: blank lines part them."""
    stop = text.find("\n\n", place)
    start = text.rfind("\n\n", 0, place)
    return start + 2 if start >= 0 else 0, stop if stop >= 0 else len(text)


def is_fence(line: str) -> bool:
    """Whether a line begins or ends a block of code."""
    return _FENCE.match(line[:_WIDEST]) is not None


def _fences(text: str, starts: list[int]) -> list[tuple[int, str | None]]:
    """The lines that begin or end a block: where, and what the block is marked as that begins; None ends one."""
    found: list[tuple[int, str | None]] = []
    lang: str | None = None
    for start in starts:
        end = text.find("\n", start, start + _WIDEST)
        if (fence := _FENCE.match(text, start, end if end >= 0 else start + _WIDEST)) is not None:
            lang = None if lang is not None else (fence["lang"] or fence["kind"] or "").lower().strip(":")
            found.append((start, lang))
    return found


def word_count(line: str, end: int) -> int:
    """How many words stand in a line up to `end`, as far as anybody asks: at most one more than `FEWEST`."""
    return len(tuple(islice(WORDS.finditer(line, 0, end), FEWEST + 1)))


def words_at(line: str) -> int:
    """Where the words of a line begin, behind prefixes, a logger's level and the mark of a quote."""
    at = prefixes.message_start(line)
    opening = _OPENING.match(line, at)
    return opening.end() if opening is not None else at
