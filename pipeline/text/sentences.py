"""The sentences of an official text, each with its place: what is quoted whole and what is translated one by one.
And what stands behind a message in the title of an error (`titled`).

A line is a heading, a list item, a row of a table or running text; in it a sentence ends where a full stop, a question
or an exclamation mark is followed by a blank and what begins a sentence. Bullets and numbers of items belong to none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipeline.records import warm

_ITEM = warm.pattern(r"[ \t]{0,12}(?:[•*+-]|\d{1,2}[.)])[ \t]+|[ \t]+")
_BORDER = warm.pattern(r"(?<=[.!?])[\"')\]”]{0,3} +(?=[A-Z`\"'(\[“→-])")
#: What ends in a point and ends no sentence: "e.g. XLA flags", "Scenario 1. Balance".
_GOES_ON = warm.pattern(r"(?:^|[ (])(?:e\.g|i\.e|etc|vs|cf|(?:Scenario|Section|Step) \d|\d{1,2})\.\)? +$")
_SAME = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})


#: Behind a message that does not stand for all others: too few of its words are theirs.
SEVERAL = "(one of several)"
_BEHIND = warm.pattern(rf"(?: \(in \S{{2,120}}\))?(?: {re.escape(SEVERAL)})?\Z")


class Span(NamedTuple):
    """Where a sentence stands in its text."""

    start: int
    end: int


def sentences(text: str) -> Iterator[Span]:
    """The sentences of `text` in order; what stands between two is blank, a line end or the mark of an item."""
    start = 0
    for line in text.split("\n"):
        stop = start + len(line)
        yield from _of_line(text, start, start + len(line.rstrip()))
        start = stop + 1


def _of_line(text: str, start: int, end: int) -> Iterator[Span]:
    mark = _ITEM.match(text, start, end)
    begin = mark.end() if mark else start
    for border in _BORDER.finditer(text, begin, end):
        if _GOES_ON.search(text, max(begin, border.end() - 16), border.end()):
            continue
        yield Span(begin, border.start() + len(border.group().rstrip()))
        begin = border.end() + 2 * text.startswith("- ", border.end())  # an item that its page did not part
    if begin < end:
        yield Span(begin, end)


def whole(text: str, limit: int) -> int:
    """The end of the last sentence that ends within `limit` characters, 0 if the first is longer."""
    return max((span.end for span in sentences(text) if span.end <= limit), default=0)


def plain(sentence: str) -> str:
    """The sentence as sentences are compared: single blanks, straight quotes; forms of one page differ in these."""
    return " ".join(sentence.translate(_SAME).split())


def titled(message: str, *, place: str = "", is_one_of_several: bool = False) -> str:
    """A message with the function that tells which error it is, if one does, and that others say it otherwise."""
    behind = (f"(in {place})" if place else "", SEVERAL if is_one_of_several else "")
    return " ".join(filter(None, (message, *behind)))


def bare(title: str) -> str:
    """The message alone: what `titled` put behind it is no word of it."""
    return _BEHIND.sub("", title, count=1)
