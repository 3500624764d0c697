"""Where the code of a markdown text stands: fenced blocks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

#: Blanks and quote marks that may stand before a fence.
_MARGIN = 12


class Fences:
    """The fenced blocks of a text, looked for when somebody first asks for one."""

    def __init__(self, text: str) -> None:
        self._text = text

    def hold(self, at: int) -> bool:
        """Whether the place stands in a block."""
        place = bisect_right(self._spans, (at, at))
        return place > 0 and at < self._spans[place - 1][1]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The blocks, the last one open to the end if nobody closed it."""
        text = self._text
        marks = sorted({start for fence in ("```", "~~~") for start in _opening(text, fence)})
        ends = [*marks[1::2], len(text)] if len(marks) % 2 else marks[1::2]
        return list(zip(marks[::2], ends, strict=True))


def _opening(text: str, fence: str) -> Iterator[int]:
    """The starts of the lines that begin with the fence, quoting and indentation apart."""
    at = text.find(fence)
    while at >= 0:
        start = text.rfind("\n", max(at - _MARGIN - 1, 0), at) + 1
        if at - start <= _MARGIN and not text[start:at].strip(" \t>") and (start or at <= _MARGIN):
            yield start
        stop = text.find("\n", at)
        at = text.find(fence, stop) if stop >= 0 else -1
