"""Where the code of a markdown text stands: fenced blocks."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t>]{0,12}(?:```|~~~)", re.M)


def fences(text: str) -> list[tuple[int, int]]:
    """The fenced blocks of a text as spans, the last one open to the end if nobody closed it."""
    if "```" not in text and "~~~" not in text:
        return []
    marks = [hit.start() for hit in _FENCE.finditer(text)]
    ends = [*marks[1::2], len(text)] if len(marks) % 2 else marks[1::2]
    return list(zip(marks[::2], ends, strict=True))
