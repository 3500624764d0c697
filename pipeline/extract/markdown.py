"""Where the code of a markdown text stands: fenced blocks."""

from __future__ import annotations

from collections.abc import Iterator

#: Blanks and quote marks that may stand before a fence.
_MARGIN = 12


def fences(text: str) -> list[tuple[int, int]]:
    """The fenced blocks of a text as spans, the last one open to the end if nobody closed it."""
    if "```" not in text and "~~~" not in text:
        return []
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
