"""Dumps of Python's faulthandler: `Fatal Python error: ...` and stacks printed innermost frame first."""

from __future__ import annotations

import re

from pipeline.extract import chain, head
from pipeline.extract.lines import Lines
from pipeline.records import Event, Frame, Severity, warm

_FATAL = warm.pattern(r"(Fatal Python error): (.{0,2000})")
_FIRST = "(most recent call first)"
_THREAD = warm.pattern(rf"(Current thread|Thread|Stack)\b.{{0,200}}{re.escape(_FIRST)}")
#: What `dump_traceback_later` prints above the threads when a program hangs.
_HUNG = warm.pattern(r"Timeout \(\d{1,5}:\d\d:\d\d(?:\.\d{1,9})?\)!(?=\s*\Z)")
#: A line is looked at so far.
WIDEST_LINE = 400
#: Lines between the fatal line and the first thread (`Python runtime state`, the abort message, empty lines).
MOST_BETWEEN = 8
#: Threads without a frame that may follow each other.
MOST_EMPTY = 20


def read(text: str, mark: int) -> Event | None:
    """The dump that begins at `mark` (its fatal line or its first thread), None if there is none."""
    where = head.learn(text, mark)
    lines = Lines(text, where.start, where.peeler)
    line = lines.at(0)
    if line is None:
        return None
    fatal = _FATAL.search(line.body)
    if fatal is None and not _THREAD.search(line.body):
        return None
    end, stack = _threads(lines, line.end)
    if fatal is None and not stack:
        return None
    hung = None if fatal else _above(text, where.start)
    message = fatal.group(2).strip() if fatal else hung[0] if hung else ""
    start = where.start + (fatal.start() if fatal and where.peeler.prefix is None else 0)
    return Event(
        dialect="faulthandler",
        exception_type=fatal.group(1) if fatal else None,
        message=message,
        detail=message,
        frames=tuple(reversed(stack)),
        chain=(),
        codes=(),
        start=hung.start() if hung else start,
        end=end,
        is_truncated=fatal is None and hung is None,
        severity=Severity.ERROR,
    )


def _above(text: str, start: int) -> re.Match[str] | None:
    """The line above `start` if it tells that the program hung."""
    line = max(text.rfind("\n", 0, max(start - 1, 0)) + 1, start - WIDEST_LINE, 0)
    return _HUNG.search(text, line, start)


def _threads(lines: Lines, end: int) -> tuple[int, list[Frame]]:
    """Where the dump ends, and the stack of the thread that failed (the first one, where none is named current)."""
    best: list[Frame] = []
    current: list[Frame] | None = None
    idle = number = empty = 0
    while idle < MOST_BETWEEN and empty < MOST_EMPTY and (line := lines.at(number)) is not None:
        number += 1
        thread = _THREAD.search(line.body) if _FIRST in line.body else None
        found = chain.frame(line.body)
        if thread is not None:
            empty = empty + 1 if current == [] else 0
            is_current = thread.group(1) == "Current thread"
            current = best if is_current or not best else []
            if is_current:
                best.clear()
        elif found is not None and current is not None:
            current.append(found)
        elif line.body.startswith("```") or chain.HEADER in line.body:
            break
        elif line.body or not current:
            idle += 1 if current is None else MOST_BETWEEN
            continue
        if line.body:
            end = line.end
    return end, best
