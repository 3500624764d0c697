"""The trained reader of lines: in blocks in which no rule sees a failure, the line that states the error, if one does.

Rules know errors by what announces them; this reader knows them by their words, by the shape of the line and of those
beside it, by what it stands in and what leads to that. Each thing that is seen has a whole number
(`data/extract/sight.json`), and a line's score is their sum: the same on every machine. An encoder taught the numbers,
which reads posts as wholes and learned from what rules find and from labels of people (benchmarks/README.md).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise, repeat
from typing import NamedTuple

from pipeline.extract import blocks, generic
from pipeline.records import Event, warm

#: From this score on, in hundredths of a logit, a line is taken for an error's, by what it stands in. Readers who knew
#: no score found 92 of 94 lines of a draw to state one from there on, and 32 of 48 below (benchmarks/README.md).
LEAST = {"p": -75, "c": -100, "o": 0}

#: A title as sure as this states an error, one that is less speaks of it: of 61 titles that readers judged as entries,
#: 17 of 22 from here on are what a program said, 23 of 39 below.
_SURE_TITLE = 150

#: A line gives way to one below it in its block only where that is so much surer.
_SURER = 100

#: So many words of a line are read, of so many characters; so many characters of what stands beside it.
_MOST_WORDS, _READ, _BESIDE, _LEAD = 22, 180, 300, 120
_NOUGHT = repeat(0)

_DIGITS = warm.pattern(r"\d+")
_WORD = warm.pattern(r"[a-z][a-z']*")
_TOKEN = warm.pattern(r"[a-z][a-z']*|[^\sa-z]")
_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~0")
_LEVEL = warm.pattern(
    r"\b(?:error|fatal|severe|critical|crit|err|e|w|i|warn|warning|info|debug|trace|notice)\b", re.IGNORECASE
)
_LEADS = warm.pattern(
    r"error|exception|fail|crash|message|log|output|trace|following|get|got|throw|says|see|warning|result|panic|code"
    r"|example|config|expected|actual|run|command|version|environment|steps|test"
)
_PLACE = warm.pattern(r"\s{0,8}(?:[A-Za-z]:)?[\w./\\+@-]{1,120}[:(]\d{1,7}")
_TIMED = warm.pattern(r"[\d\[(/:.T -]{6}")

#: What a line is that opens or closes so, tried in this order.
_OPENS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("fence", ("```", "{code", "{noformat", "<pre", "</pre", "~~~")),
    ("frame", ("at ", "in ", 'File "', "from ")),
    ("prompt", ("$", "%", "#", ">")),
    ("bracket", ("{", "}", "[", "]", "(", ")", ";")),
)
_CLOSES: tuple[tuple[str, tuple[str, ...]], ...] = (("code", (";", "{", "}", ")", ",")), ("colon", (":",)))


#: What a program itself calls a warning, within so many characters of its words.
_WARNS = warm.pattern(r"\b(?:WARNING|WARN|Warn)\b|\b[Ww]arning(?: [A-Z]{1,10}\d{1,6})?:|^[ \t\[]{0,8}W ?\d{4,8}[ :]")
_WARNED = 80
#: What the string of a listing ends with.
_LISTED = tuple(f"{quote}){mark}" for quote in "\"'`" for mark in ("", ",", ";"))


class Line(NamedTuple):
    """A line that may state an error, and what stands around it."""

    words: str
    start: int  # of the words
    before: str  # what stands before them
    above: str
    below: str
    lead: str  # the last line above its block of code, or the line above it in prose
    kind: str  # "p" in a block of what was printed, "c" in one of code, "o" outside
    read: blocks.Line


class Seen(NamedTuple):
    """What is seen of a line: its words, pairs of what stands side by side, and shape, place, neighbours as traits."""

    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    traits: list[str]


class Learned(NamedTuple):
    """Whole numbers in hundredths of a logit: what each thing seen adds to a line's score."""

    bias: int
    words: Mapping[str, int]
    pairs: Mapping[tuple[str, str], int]
    traits: Mapping[str, int]
    gate: Mapping[str, int]  # by a word between blanks, and by the kind of a line: whether it is worth a look


def read(
    text: str, lines: Iterable[blocks.Line], failures: Sequence[Event], others: Sequence[Event] = ()
) -> list[Event]:
    """The best of the lines of each block without a failure, by start; none of a line that one of the others holds.

    Both stand apart and by start.
    """
    best: dict[tuple[int, int], tuple[int, Line]] = {}
    leads: dict[int, str] = {}
    failed, known = _Spans(failures), _Spans(others)
    for found, block in _worth_a_look(text, lines, failed):
        if known.meet(found.start, found.start + len(found.text)):
            continue
        line = look(text, found, leads)
        told = score(line) - LEAST[line.kind] if line is not None else -1
        if line is not None and told >= 0 and (block not in best or told > best[block][0] + _SURER):
            best[block] = told, line
    return sorted((generic.stated(line.read, line.start, line.words) for _, line in best.values()), key=_start)


def _worth_a_look(
    text: str, lines: Iterable[blocks.Line], failed: _Spans
) -> Iterator[tuple[blocks.Line, tuple[int, int]]]:
    """The lines that by their words may state an error, each with its block; none of a block that has a failure."""
    block = (-1, -1)  # the block of code read last
    is_failed = False
    paragraph = (0, 0)  # the one read last: the end of a long one is far to look for from each of its lines
    for found in lines:
        if found.lang is not None:
            if block != (found.opened, found.closed):
                block = found.opened, found.closed
                is_failed = failed.meet(*block)
            if not is_failed and is_worth(found):
                yield found, block
        elif is_worth(found):
            if not paragraph[0] <= found.start < paragraph[1]:
                paragraph = blocks.paragraph(text, found.start)
            if not failed.meet(*paragraph):
                yield found, paragraph


def is_heading(title: str) -> bool:
    """Whether a title that seems to state an error only speaks of one: "Segmentation fault when it is cold"."""
    looked = (look(title, line, {}) for line in blocks.lines(title))
    return max((score(one) for one in looked if one is not None), default=_SURE_TITLE) < _SURE_TITLE


class _Spans:
    """Where events stand, which stand apart and by start."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._starts = [event.start for event in events]
        self._ends = [event.end for event in events]

    def meet(self, begin: int, end: int) -> bool:
        """Whether some of one of them stands between the two places."""
        place = bisect_left(self._starts, end)
        return place > 0 and self._ends[place - 1] > begin


def _start(event: Event) -> int:
    return event.start


def kind_of(line: blocks.Line) -> str:
    """What the line stands in: "p", a block of what was printed; "c", one of code; "o", none."""
    return "o" if line.lang is None else "p" if line.is_plain else "c"


def is_worth(line: blocks.Line) -> bool:
    """Whether the words of a line alone leave a chance that it states an error: two lines of three are passed over."""
    gate = learned().gate
    return sum(map(gate.get, words_of(line), _NOUGHT), gate[f" {kind_of(line)}"]) >= 0


def words_of(line: blocks.Line) -> list[str]:
    """What stands between blanks, for `is_worth`."""
    return line.text[:_READ].lower().split()


def look(text: str, line: blocks.Line, leads: dict[int, str]) -> Line | None:
    """A line with what stands around it, None if its words are few or a listing's; `leads` are kept for its text."""
    at = blocks.words_at(line.text)
    words = line.text[at:].rstrip()
    if _warns(line.text[: at + _WARNED]) or words.endswith(_LISTED) or blocks.word_count(words, _READ) < blocks.FEWEST:
        return None
    above, below = _beside(text, line.start)
    lead = above
    if line.lang is not None:
        opened = line.opened
        if opened not in leads:
            leads[opened] = text[max(0, opened - _BESIDE) : opened].rstrip().rpartition("\n")[2]
        lead = leads[opened]
    return Line(words, line.start + at, line.text[:at], above, below, lead, kind_of(line), line)


def _warns(words: str) -> bool:
    """Whether a program itself calls what it says a warning."""
    return ("W" in words or "warning" in words) and _WARNS.search(words) is not None


def _beside(text: str, start: int) -> tuple[str, str]:
    """The lines above and below the one that begins at `start`."""
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    above = text[max(text.rfind("\n", 0, start - 1) + 1, start - _BESIDE) : start - 1] if start else ""
    stop = text.find("\n", end + 1, end + _BESIDE)
    return above, text[end + 1 : stop if stop >= 0 else end + _BESIDE]


def score(line: Line) -> int:
    """How sure it is that the line states an error, in hundredths of a logit."""
    known, what = learned(), seen(line)
    return (
        known.bias
        + sum(map(known.words.get, what.words, _NOUGHT))
        + sum(map(known.pairs.get, what.pairs, _NOUGHT))
        + sum(map(known.traits.get, what.traits, _NOUGHT))
    )


@cache
def learned() -> Learned:
    """The numbers that are shipped."""
    table = json.loads(files("pipeline").joinpath("data", "extract", "sight.json").read_text("utf-8"))
    pairs = {tuple(pair.split(" ")): number for pair, number in table["pairs"].items()}
    return Learned(table["bias"], table["words"], pairs, table["traits"], table["gate"])


def seen(line: Line) -> Seen:
    """What is seen of a line."""
    kind, before = line.kind, line.before
    words = _DIGITS.sub("0", line.words[:_READ].lower())
    plain = _WORD.findall(words)[:_MOST_WORDS]
    first, share = line.words[0], 10 * sum(map(len, plain)) // len(words)
    opens = "A" if first.isupper() else "a" if first.islower() else "0" if first.isdigit() else first
    traits = [
        f"e{kind}{words[-1]}", f"f{opens}", f"r{kind}{share}", f"n{len(plain)}", f"k{kind}",
        f"u{kind}{_shape(line.above)}", f"d{kind}{_shape(line.below)}",
        f"indent {min(4, len(before) - len(before.lstrip()))}",
    ]  # fmt: skip
    traits += [f"0{kind}{word}" for word in plain[:1]]
    traits += [f"1{word}" for word in plain[1:2]]
    if _PLACE.match(words):
        traits.append("place")
    if before and not before.isspace():
        traits += ("behind", "behind place") if _PLACE.match(before) else ("behind",)
        traits += {f"l{level.lower()}" for level in _LEVEL.findall(before)[:2]}
    traits += _led("L" if kind == "o" else "l", line.lead)
    tokens = _TOKEN.findall(words)[:_MOST_WORDS]
    return Seen(frozenset(plain) | _SIGNS.intersection(words), frozenset(pairwise(tokens)), traits)


@lru_cache(maxsize=256)  # the lines of a block have the same one
def _led(mark: str, lead: str) -> tuple[str, ...]:
    """What is seen of the line that leads to another."""
    ends = (f"{mark}:",) if lead.rstrip().endswith(":") else ()
    return (*dict.fromkeys(f"{mark} {word}" for word in _LEADS.findall(lead[-_LEAD:].lower())), *ends)


def _shape(line: str) -> str:
    """What a line beside looks like."""
    bare = line.strip()
    if not bare:
        return "blank"
    for name, signs in _OPENS:
        if bare.startswith(signs):
            return name
    for name, signs in _CLOSES:
        if bare.endswith(signs):
            return name
    if _TIMED.match(bare):
        return "time"
    if _PLACE.match(bare):
        return "place"
    if bare[0].isupper():
        return "sentence" if bare.endswith(".") else "upper"
    return "lower"
