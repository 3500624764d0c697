"""Where a traceback begins: the prefix that its lines carry and the indentation of its header, learned from it."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.extract import peel
from pipeline.extract.lines import Peeler

#: The first frame stands within so many lines of the header (other streams may write between them).
FRAME_WITHIN = 12
#: A chain that leads to an exception group shows it within so many characters.
GROUP_WITHIN = 20_000
_FRAME_MARK = re.compile(r'File (?:\\?"|&quot;)[^"\n]{0,1000}(?:"|&quot;), line \d')


class Head(NamedTuple):
    """How to read the block: the line to start from, how to clean lines, how far the header is indented."""

    start: int
    peeler: Peeler
    base: int


def learn(text: str, header: int) -> Head:
    """How to read the traceback whose header word begins at `header` (or the frame, where the header is lost)."""
    start = text.rfind("\n", 0, header) + 1
    stop = text.find("\n", header)
    stop = len(text) if stop < 0 else stop
    if text.find("\\n", header, stop) >= 0 and text.find("File ", header, stop) >= 0:
        return _escaped(text, start, header)
    before = text[start:header]
    is_html = text.find("&quot;", header, stop + 300) >= 0
    if before.rstrip().endswith("+ Exception Group") or before.strip() == "|":
        return _group(text, start, before)
    is_group = text.find("+ Exception Group Traceback", header, header + GROUP_WITHIN) >= 0
    lead = _frame_lead(text, start, header)
    if lead is None:
        return _from_grammar(text, start, before)
    core = lead.rstrip(" \t")
    blanks = len(lead) - len(core)
    if not core:
        own = len(before) - len(before.lstrip()) if not before.strip() else max(blanks - 2, 0)
        return Head(start, Peeler(is_html=is_html, is_group=is_group), min(own, blanks))
    hit = peel.shape(core).match(before)
    gap = before[hit.end() :] if hit is not None else ""
    if hit is None or gap.strip() or text.startswith("File", header):
        gap = lead[len(core) : len(lead) - 2] if blanks >= 2 else ""
        if not _is_carried(text, stop, peel.shape(core)):  # only the first frame's line has it: no prefix
            return Head(header - blanks, Peeler(is_html=is_html, is_group=is_group), 0)
    return Head(start, Peeler(peel.shape(core + gap), is_html=is_html, is_group=is_group), 0)


def _is_carried(text: str, stop: int, shape: re.Pattern[str]) -> bool:
    """Whether one of the next lines that say something begins with the prefix."""
    at = stop + 1
    for _ in range(3):
        if at >= len(text):
            return False
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if shape.match(text, at, end):
            return True
        at = end + 1
    return False


def _frame_lead(text: str, start: int, header: int) -> str | None:
    """What stands before the first frame on its line."""
    at = start
    for _ in range(FRAME_WITHIN):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        hit = _FRAME_MARK.search(text, at, min(stop, at + 2000))
        if hit is not None and (at > header or hit.start() == header):
            return text[at : hit.start()]
        if stop >= len(text):
            return None
        at = stop + 1
    return None


def _group(text: str, start: int, before: str) -> Head:
    outer = before[: before.index("+")] if "+" in before else before[: before.index("|")]
    core = outer.rstrip()
    return Head(start, Peeler(peel.shape(core) if core else None, is_group=True), 0)


def _escaped(text: str, start: int, header: int) -> Head:
    inside = text.rfind("\\n", start, header)
    first = inside + 2 if inside >= 0 else start
    if header - first > 0 and text[header - 1] in "\"'":
        first = header
    return Head(first, Peeler(newline="\\n"), 0)


def _from_grammar(text: str, start: int, before: str) -> Head:
    """No frame follows: what the grammar knows of the header's own line has to do."""
    wide = peel.width(before)
    if not wide:
        return Head(start, Peeler(), len(before) - len(before.lstrip()) if not before.strip() else 0)
    return Head(start, Peeler(peel.shape(before[:wide])), 0)
