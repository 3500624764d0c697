"""Texts that quote another error whole, behind the words of whoever passes it on: they are that error.

"worker 3 failed: cannot reshape array of size <n> into shape <shape>" is no error of its own where "cannot reshape
array of size <n> into shape <shape>" is one. The shorter text must occur word for word; the ratio decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pipeline.cluster.shapes import SLOT_CHARACTER, TOKEN, Shape

Gate = tuple[tuple[str, str], ...]

#: Gates that come from the words of a text: the longer text has more words, so they may differ.
WORD_GATES = frozenset({"polarity", "exception"})
#: Telling words that a quoted text needs where punctuation sets it off, and where nothing does. Read on the corpus:
#: with three, "no such file or directory" swallows every error that ends so; a phrase of four or five stands in prose.
SET_OFF_WORDS, INSIDE_WORDS = 4, 6
#: Words by which quoted texts are found.
KEY_TOKENS = 3
#: Texts of one key that are tried on one place.
TRIED_TEXTS = 64

_TELLING = re.compile(r"\b(?!(?:errors?|exception|panic|runtime|fatal|warning|the|and)\b)[a-z][a-z']{2,}")
_SET_OFF_BEFORE = re.compile(r"(?:\A|[:\])>»|]\s|[-–—=]>?\s|[\"'`(“])[\"'`(]{0,2}\Z")
_SET_OFF_AFTER = re.compile(r"[\"'`)\].,;!”]{0,3}(?:\Z|[,.;!)”\"'`]|\s-)")
#: Behind a message that somebody tells of: when and where it came.
_TOLD = re.compile(r"[\"'`)]{0,2}\s(?:when|while|in|with|during|after|at|using|error|issue)\b")
#: Behind a text that only announces another, or whose reason differs: what follows is the error.
_ANNOUNCES = re.compile(
    rf"[\"'`)]{{0,2}}\s?(?::(?!\s?[\"'`(]{{0,2}}{SLOT_CHARACTER})"
    r"|,?\s?(?:because|since|due to|caused by|as|unless)\b)"
)
#: A longer text that begins with a shorter one and goes on to a message behind a colon: the shorter one is a headline.
_GOES_ON = re.compile(r"[:=]\s(?P<message>.*)", re.DOTALL)
#: Telling words of that message.
MESSAGE_WORDS = 4
#: What follows are values with their names: `: requested <n>, available: <n>`.
_VALUES = re.compile(
    rf"\s?[:,;(\[]\s?(?:(?:[a-z_]{{1,30}}[\s:=]{{1,3}}){{0,3}}{SLOT_CHARACTER}[\s,;:)(\]./=]{{0,6}}){{1,20}}"
    r"(?:[a-z_]{1,30}[\s:=)]{0,3})?"
)


_MARKS = " \"'`([<"


class Quoted(NamedTuple):
    """A text that others may quote: the position that owns it and its words."""

    position: int
    tokens: tuple[str, ...]
    words: int


def hard(gate: Gate) -> Gate:
    """The gates of a template that a text must share with what it quotes."""
    return tuple(pair for pair in gate if pair[0] not in WORD_GATES)


class Quotations:
    """Full texts by hard gate and first words: where a longer text finds what it quotes."""

    def __init__(self) -> None:
        self._texts: dict[tuple[Gate, tuple[str, ...]], list[Quoted]] = {}

    def add(self, gate: Gate, position: int, shape: Shape) -> None:
        """Make a text findable; texts of higher rank must come first."""
        words = len(_TELLING.findall(shape.text))
        if words >= SET_OFF_WORDS and len(shape.tokens) >= KEY_TOKENS:
            row = Quoted(position, shape.tokens, words)
            self._texts.setdefault((hard(gate), shape.tokens[:KEY_TOKENS]), []).append(row)

    def longest(self, gate: Gate, shape: Shape, *, but: Iterable[int] = ()) -> int | None:
        """The position of the longest text that `shape` quotes, the first in rank of those; None if there is none."""
        refused = frozenset(but)
        best: Quoted | None = None
        for row in self._found(hard(gate), shape):
            if row.position not in refused and (best is None or len(row.tokens) > len(best.tokens)):
                best = row
        return best.position if best is not None else None

    def _found(self, gate: Gate, shape: Shape) -> Iterator[Quoted]:
        tokens = shape.tokens
        spans: list[tuple[int, int]] | None = None
        for place in range(len(tokens) - KEY_TOKENS + 1):
            for row in self._texts.get((gate, tokens[place : place + KEY_TOKENS]), ())[:TRIED_TEXTS]:
                end = place + len(row.tokens)
                if len(row.tokens) < len(tokens) and tokens[place:end] == row.tokens:
                    spans = [found.span() for found in TOKEN.finditer(shape.text)] if spans is None else spans
                    if _is_quoted(shape.text, (spans[place][0], spans[end - 1][1]), row.words):
                        yield row


def _is_quoted(text: str, span: tuple[int, int], words: int) -> bool:
    """Whether the words at `span` are passed on as a message, not the beginning of one or a phrase by chance."""
    before, after = text[: span[0]].replace(SLOT_CHARACTER, "'"), text[span[1] :]
    has_values = _VALUES.fullmatch(after) is not None
    if not has_values and (_ANNOUNCES.match(after) or (not before.strip(_MARKS) and _has_message(after))):
        return False
    if words >= INSIDE_WORDS:
        return True
    is_closed = has_values or _SET_OFF_AFTER.match(after) or _TOLD.match(after)
    return bool(is_closed and _SET_OFF_BEFORE.search(before))


def _has_message(rest: str) -> bool:
    found = _GOES_ON.search(rest)
    return found is not None and len(_TELLING.findall(found["message"])) >= MESSAGE_WORDS
