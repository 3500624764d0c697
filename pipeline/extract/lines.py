"""The lines of a block, read one at a time and only as far as somebody looks, each with its prefix taken off."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

#: No block is followed further than this (the longest traceback of the corpus has 1,003 lines).
MOST_LINES = 4000

#: A line is looked at up to here; what a program prints in one line beyond it is data, not structure.
WIDEST_LINE = 20_000

_GROUP_MARGIN = re.compile(r" {0,40}(?:\| ?|\+ (?=Exception Group))")
_GROUP_BORDER = re.compile(r" {0,40}\+[-+]{1,8}-{6,40}(?: (?:\d{1,6}|\.\.\.) -{6,40})?$")
_CLOSING = {'"': re.compile(r'(?<!\\)"'), "'": re.compile(r"(?<!\\)'")}
_STRAY = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]|\r+$")


class Line(NamedTuple):
    """One line: its place in the text, its words without prefixes, how far they are indented."""

    start: int
    end: int
    body: str
    indent: int
    is_foreign: bool  # it lacks the prefix that the block's lines carry: another stream wrote it
    is_border: bool  # `+-+------ 1 ------` between the parts of an exception group


class Peeler(NamedTuple):
    """How the lines of one block are cleaned: the shape of their prefix, margins of groups, escapes."""

    prefix: re.Pattern[str] | None = None
    is_group: bool = False
    newline: str = "\n"
    is_html: bool = False


_BARE = Peeler()


def _end_of_string(text: str, start: int) -> int:
    """Where the quoted string ends in which an escaped block stands: at its closing quote, else with the line."""
    stop = text.find("\n", start)
    stop = stop if stop >= 0 else len(text)
    if start == 0 or text[start - 1] not in "\"'":
        return stop
    quote = _CLOSING[text[start - 1]].search(text, start, stop)
    return quote.end() - 1 if quote is not None else stop


class Lines:
    """Lines from `start` on (the start of a line, or of an escaped line), numbered from 0."""

    __slots__ = ("_is_bare", "_kept", "_limit", "_next", "peeler", "text")

    def __init__(self, text: str, start: int, peeler: Peeler) -> None:
        self.text = text
        self.peeler = peeler
        self._kept: list[Line] = []
        self._next = start
        self._limit = len(text)
        self._is_bare = peeler == _BARE
        if peeler.newline != "\n":
            self._limit = _end_of_string(text, start)

    def at(self, number: int) -> Line | None:
        """The line of that number, None behind the last one."""
        kept = self._kept
        while len(kept) <= number:
            if self._next > self._limit or number >= MOST_LINES:
                return None
            self._read()
        return kept[number]

    def _read(self) -> None:
        newline = self.peeler.newline
        start = self._next
        end = self.text.find(newline, start, self._limit)
        if end < 0:
            end = self._limit
            self._next = self._limit + 1
        else:
            self._next = end + len(newline)
        self._kept.append(self._line(start, end))

    def _line(self, start: int, end: int) -> Line:
        raw = self.text[start : end if end - start < WIDEST_LINE else start + WIDEST_LINE]
        is_foreign = is_border = False
        if self._is_bare:
            body = raw[2:] if raw.startswith("> ") else raw
        else:
            body, is_foreign = self._peeled(raw)
            if self.peeler.is_group:
                is_border = _GROUP_BORDER.match(body) is not None
                margin = _GROUP_MARGIN.match(body)
                if margin is not None:
                    body = body[margin.end() :]
        if "\x1b" in body or body.endswith("\r"):
            body = _STRAY.sub("", body)
        body = body.rstrip()
        end -= end > start and self.text[end - 1] == "\r"
        indent = len(body) - len(body.lstrip()) if body[:1].isspace() else 0
        return Line(start, end, body, indent, is_foreign, is_border)

    def _peeled(self, raw: str) -> tuple[str, bool]:
        if self.peeler.newline != "\n":
            raw = raw.removesuffix("\\r").replace('\\"', '"').replace("\\\\", "\\")
        if self.peeler.is_html:
            raw = html.unescape(raw)
        if self.peeler.prefix is None:  # one quoted line among bare ones: the others wrap
            return (raw[2:] if raw.startswith("> ") else raw), False
        hit = self.peeler.prefix.match(raw)
        if hit is not None:
            return raw[hit.end() :], False
        bare = raw.strip()
        # the blanks at the end of a prefix are often cut from an empty line
        return (raw, bool(bare)) if self.peeler.prefix.match(raw + "    ") is None else ("", False)
