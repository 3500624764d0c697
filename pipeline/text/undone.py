"""A text as it was before it was quoted: escapes undone, lines joined, with the way back to each place.

A token may stand in JSON inside of JSON, be escaped for Markdown, or be broken over lines by a mail, a terminal or an
editor. What finds it whole looks here, and acts on the text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

#: Pieces shorter than this say too little to look random or not.
_LEAST_RANDOM = 6
#: How often the kind of letter changes from one to the next: 0.1 in words and names of code, 0.3 in base32, 0.47 in
#: hex, 0.62 in base64 (computed from their alphabets; 0.05 to 0.15 in the identifiers of 22,694 threads).
_RANDOM_CHANGES = 0.2

_LINE_END = r"(?:\\{0,4}\r?\n|(?:\\{1,8}r)?\\{1,8}n)"
_QUOTED = re.compile(
    r"(?P<code>\\{1,4}u00(?P<json>[2-7][0-9a-fA-F])|&\#(?:(?P<decimal>[0-9]{2,3})|[xX](?P<hex>[2-7][0-9a-fA-F]));"
    r"|&(?P<name>quot|amp|lt|gt|apos|lowbar|sol|equals|colon);)"
    r"|(?P<joined>[\"'](?<=[A-Za-z0-9_+/=.-].)(?:[ \t]{0,8}[+.&][ \t]{0,8}|[ \t]{1,8}|[ \t]{0,8}[+.&\\]?[ \t]{0,8}"
    rf"{_LINE_END}[ \t]{{0,40}}[+.&]?[ \t]{{0,8}})[fbr]?[\"'](?=[A-Za-z0-9_+/=. -]))"
    rf"|(?P<line>{_LINE_END}[ \t]{{0,40}}(?:(?:>[ \t]?){{1,6}}|[|#*+][ \t]{{1,4}}|//[ \t]{{0,4}})?)"
    r"|<wbr ?/?>"
    r"|\\{1,4}(?=[!-/:-@\[\]-`{-~])"
)
_NAMED = {
    "quot": '"',
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "apos": "'",
    "lowbar": "_",
    "sol": "/",
    "equals": "=",
    "colon": ":",
}
_UPPER, _LOWER, _DIGIT = 1, 2, 3
_KINDS = {
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _UPPER),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", _LOWER),
    **dict.fromkeys("0123456789", _DIGIT),
}


class Piece(NamedTuple):
    """A run of the text that stands in the undone text as it is, or one character for an escape."""

    at: int  # in the undone text
    start: int  # in the text
    end: int
    is_line: bool  # whether a line ended in front of it


class Undone(NamedTuple):
    """The text without its quoting: `text`, and where its pieces come from."""

    text: str
    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]  # `at` of each piece

    def piece_of(self, position: int) -> int:
        """The number of the piece that holds a position of the undone text."""
        return bisect_right(self.starts, position) - 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the text that the undone text between `start` and `end` comes from."""
        first, last = self.pieces[self.piece_of(start)], self.pieces[self.piece_of(end - 1)]
        is_escape = last.end - last.start != self._length(last)
        return first.start + start - first.at, last.end if is_escape else last.start + end - last.at

    def is_joined(self, start: int, end: int) -> bool:
        """Whether something was undone inside of the place."""
        return self.piece_of(start) != self.piece_of(end - 1)

    def is_border(self, position: int) -> bool:
        """Whether something was undone right in front of the position, so that what stands there begins a word."""
        return self.pieces[self.piece_of(position)].at == position if position < len(self.text) else True

    def line_starts(self, start: int, end: int) -> list[int]:
        """Where lines begin inside of the place."""
        first, last = self.piece_of(start), self.piece_of(end - 1)
        return [piece.at for piece in self.pieces[first + 1 : last + 1] if piece.is_line]

    def _length(self, piece: Piece) -> int:
        after = self.piece_of(piece.at) + 1
        return (self.starts[after] if after < len(self.starts) else len(self.text)) - piece.at


def undone(text: str) -> Undone:
    """The text as it was before it was quoted."""
    parts: list[str] = []
    pieces: list[Piece] = []
    at = done = 0
    is_line = False

    def take(start: int, end: int, written: str) -> None:
        nonlocal at
        if written:
            pieces.append(Piece(at, start, end, is_line))
            parts.append(written)
            at += len(written)

    for match in _QUOTED.finditer(text):
        written = text[done : match.start()]
        kind = match.lastgroup
        if match["line"] is not None:
            written = written.rstrip(" \t")
        if written:
            take(done, done + len(written), written)
            is_line = False
        if match["code"] is not None:
            take(match.start(), match.end(), _character(match))
            is_line = False
        elif match["line"] is not None:
            is_line = True
        elif kind == "joined":
            is_line = False
        done = match.end()
    take(done, len(text), text[done:])
    return Undone("".join(parts), tuple(pieces), tuple(piece.at for piece in pieces))


def _character(match: re.Match[str]) -> str:
    if match["json"]:
        return chr(int(match["json"], 16))
    if match["decimal"]:
        number = int(match["decimal"])
        return chr(number) if 32 <= number < 127 else " "
    return chr(int(match["hex"], 16)) if match["hex"] else _NAMED[match["name"]]


def looks_random(word: str, *, least: float = _RANDOM_CHANGES) -> bool:
    """Whether small letters, capitals and digits follow each other as by chance, as in no word and few names."""
    kinds = [kind for letter in word if (kind := _KINDS.get(letter))]
    if len(kinds) < _LEAST_RANDOM:
        return False
    changes = sum(one != other for one, other in pairwise(kinds))
    return changes >= least * (len(kinds) - 1)
