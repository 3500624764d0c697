"""Joins exceptions that were printed one after the other into one event: chains, groups, re-raises, remote ones."""

from __future__ import annotations

import re

from pipeline.extract import boilerplate, frames, head, python
from pipeline.extract.lines import Lines
from pipeline.records import Event, Link

#: Empty lines, quotes and boilerplate that may stand between two linked tracebacks.
WIDEST_JOINT = 14
#: Links of one event that are kept; a recursion error in handlers may print hundreds.
MOST_LINKS = 200

_LINKS = (
    ("cause", re.compile(r"The above exception was the direct cause of")),
    ("context", re.compile(r"During handling of the above exception")),
    ("reraise", re.compile(r"-- Process \d{1,9} terminated with the following|Original Traceback \(most|Original traceback")),
)
_FILLING = re.compile(r"(?:\"\"\"|'''|[-=+]{3,200})$")
_REMOTE = re.compile(r"ray::|RemoteTraceback|RemoteError|RayTaskError")
_INTERRUPTIONS = frozenset("KeyboardInterrupt SystemExit BdbQuit GeneratorExit CancelledError Exit Abort".split())


def traceback(text: str, header: int) -> Event | None:
    """The event whose first header stands at `header`, None if no traceback is printed there."""
    where = head.learn(text, header)
    lines = Lines(text, where.start, where.peeler)
    return _event(lines, _chain(lines, 1, where.base), start=_start(text, where.start, header), dialect="python")


def orphan(text: str, mark: int) -> Event | None:
    """The event whose frames begin at `mark` without a header, None if it is no traceback."""
    where = head.learn(text, mark)
    lines = Lines(text, where.start, where.peeler)
    first = lines.at(0)
    if first is None or frames.frame(first.body) is None:
        return None
    printed = _chain(lines, 0, max(first.indent - 2, 0))
    if printed[0].exception_type is None and len(printed[0].frames) < 2:
        return None
    printed[0].is_truncated = not (printed[0].exception_type or "").endswith(("SyntaxError", "IndentationError"))
    return _event(lines, printed, start=where.start, dialect="python")


def _start(text: str, start: int, header: int) -> int:
    """The block begins with its line where only a prefix stands before the header, else at the header."""
    return start if header - start <= 120 else max(start, header - 1)


def _chain(lines: Lines, first: int, base: int) -> list[python.Printed]:
    """Every exception of the block, in print order, each but the last with the link that leads on from it."""
    found = [python.read(lines, first, base)]
    while len(found) < MOST_LINKS:
        last = found[-1]
        step = _joint(lines, last)
        if step is None:
            break
        last.link, number, base = step
        found.append(python.read(lines, number, base))
    while len(found) > 1 and not found[-1].frames and found[-1].exception_type is None:
        found.pop()
        found[-1].link = ""
    return found


def _joint(lines: Lines, last: python.Printed) -> tuple[str, int, int] | None:
    """How it goes on behind an exception: the link, the first line behind the next header, the header's indent."""
    if last.header_in_message:
        return "wrapper", last.after, 0
    link = ""
    for number in range(last.after, last.after + WIDEST_JOINT):
        line = lines.at(number)
        if line is None:
            return None
        body = line.body.strip()
        if line.is_foreign:
            continue
        if line.is_border:
            link = "group"
            continue
        link = next((name for name, rule in _LINKS if rule.search(body)), link)
        if frames.HEADER in body:
            return (link, number + 1, line.indent) if link else _remote(lines, last, number)
        if number == last.after and frames.frame(body) and _REMOTE.search((last.exception_type or "") + last.message):
            return "remote", number, max(line.indent - 2, 0)
        if body and not (link or _FILLING.match(body) or boilerplate.is_boilerplate(body)):
            return None
    return None


def _remote(lines: Lines, last: python.Printed, number: int) -> tuple[str, int, int] | None:
    """A header that follows without a word belongs to the message above it if that announces it."""
    line = lines.at(number)
    assert line is not None
    announced = last.message.rstrip().endswith((":", '"""')) or _REMOTE.search(last.exception_type or "")
    if number <= last.after + 2 and (announced or line.indent > 0 and line.body.lstrip().startswith("Traceback")):
        return ("remote", number + 1, line.indent) if announced else None
    return None


def severity(exception_type: str | None) -> str:
    """How much an exception of that type counts."""
    last = (exception_type or "").rsplit(".", 1)[-1]
    if last in _INTERRUPTIONS:
        return "interruption"
    return "warning" if last.endswith("Warning") else "error"


def _event(lines: Lines, printed: list[python.Printed], *, start: int, dialect: str) -> Event | None:
    last = printed[-1]
    if not last.frames and last.exception_type is None:
        return None
    links = tuple(
        Link(
            one.link or "context",
            one.exception_type,
            one.message,
            len(one.frames),
            one.detail if "\n" in one.detail else "",
        )
        for one in printed[:-1]
    )
    return Event(
        dialect=dialect,
        exception_type=last.exception_type,
        message=last.message,
        detail=last.detail,
        frames=tuple(last.frames),
        chain=links,
        codes=(),
        start=start,
        end=max(one.end for one in printed),
        is_truncated=any(one.is_truncated for one in printed),
        severity=severity(last.exception_type),
    )
