"""From a text to the failures that it shows: tracebacks with their chains, native diagnostics, exception lines.

`events` joins the dialects. Each reader is called only where `scan` saw one of its marks, so a text without any
costs a few substring searches. Frames are counted as printed: `[Previous line repeated N more times]` adds none,
the `File` line of a SyntaxError is one. The last printed exception is the event's own, also in an exception group.
"""

from __future__ import annotations

from dataclasses import replace

from pipeline.extract import chain, native, scan, status
from pipeline.records import Event

__all__ = ["events"]


def events(text: str) -> list[Event]:
    """The failures of a text, sorted by `start`, not overlapping."""
    tracebacks = _tracebacks(text)
    return _joined(text, tracebacks, native.events(text, [(one.start, one.end) for one in tracebacks]))


def _tracebacks(text: str) -> list[Event]:
    found: list[Event] = []
    behind = 0
    for mark in scan.marks(text):
        if mark.at < behind:
            continue
        event = None
        if mark.kind == "header":
            event = chain.traceback(text, mark.at)
        elif mark.kind == "frame":
            event = chain.orphan(text, mark.at)
        if event is not None:
            event = replace(event, start=max(event.start, behind))
            found.append(event)
            behind = event.end
    return found


def _joined(text: str, tracebacks: list[Event], natives: list[Event]) -> list[Event]:
    """Native diagnostics inside a traceback's span give it their codes; the others stand for themselves."""
    owners = [[one] for one in tracebacks]
    alone: list[Event] = []
    at = 0
    for diagnostic in sorted(natives, key=lambda one: (one.start, one.end)):
        while at < len(tracebacks) and tracebacks[at].end <= diagnostic.start:
            at += 1
        if at < len(tracebacks) and diagnostic.end > tracebacks[at].start:
            owners[at].append(diagnostic)
        elif not alone or alone[-1].end <= diagnostic.start:
            alone.append(diagnostic)
    whole = [_with_codes(text, owned[0], owned[1:]) for owned in owners]
    return sorted([*whole, *alone], key=lambda one: (one.start, one.end))


def _with_codes(text: str, event: Event, inside: list[Event]) -> Event:
    codes = set(status.codes(event.detail))
    for one in event.chain:
        codes.update(status.codes(one.detail or one.message))
    for diagnostic in inside:
        codes.update(diagnostic.codes)
    return replace(event, codes=tuple(sorted(codes)))
