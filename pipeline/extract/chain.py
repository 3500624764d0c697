"""Frames and stacks, and how tracebacks that follow each other are chained."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.extract import displays, foreign, head, python
from pipeline.extract.lines import Lines, Peeler
from pipeline.records import Event, Frame, Link, Severity, short_class, warm

# The lines of a Python stack: frames, their source lines, what stands in for frames that were left out.

HEADER = "raceback (most recent call"

_FRAME = warm.pattern(r'\s*File ["“]([^"”\n]{0,1000})["”], line (\d{1,9})(?:,? in (.*))?')
#: A name, with Cython's place behind it; where line breaks were lost, source follows on the same line.
_FUNCTION = warm.pattern(r"<[^<>\n]{1,60}>(?:\(\))?|\S{1,400}(?: \([^()\n]{1,200}:\d{1,7}\))?")
_FRAME_CUT = warm.pattern(r'\s*File "([^"\n]{0,1000})(?:",? ?l?i?n?e?|\.\.\.)?$')
_ELIDED = warm.pattern(
    r"\s*(?:\.{3,}|…|<\.{3,}>|\[\.{3,}\]|\(\.{3,}\)|\[?\.{3} ?\d{1,6} [\w ]{1,40}\.{3}\]?"
    r"|<?\[?\(?(?:snip|skip|omitted|truncated)[\w ]{0,40}\]?\)?>?"
    r"|-{2,}8<-{2,}|#{2,} ?\.{3}.{0,40})\s*$",
    re.I,
)
#: What such a line begins with: most lines are known by their first letters not to be one.
_ELIDED_MARKS, _ELIDED_WORDS = frozenset(".…<[(-#"), frozenset(("sn", "sk", "om", "tr"))
_REPEATED = warm.pattern(r"\s*\[Previous line repeated \d{1,12} more times?\]")
_CARETS = warm.pattern(r"\s*[\^~]{1,2000}[\^~ ]*$")


def frame(body: str) -> Frame | None:
    """The frame that a line of a traceback names."""
    if "File " not in body:
        return None
    hit = _FRAME.match(body)
    if hit is None:
        return None
    file, line, rest = hit.groups()
    function = _FUNCTION.match(rest.strip()) if rest else None
    return Frame(file, int(line), function[0] if function else None)


def is_cut_frame(body: str) -> bool:
    """Whether the line is a frame that ends in the middle."""
    return 'File "' in body and _FRAME_CUT.match(body) is not None


def is_elided(body: str) -> bool:
    """Whether somebody left out frames here and said so."""
    begun = body.lstrip()[:2]
    return (begun[:1] in _ELIDED_MARKS or begun.lower() in _ELIDED_WORDS) and _ELIDED.match(body) is not None


def is_filler(body: str) -> bool:
    """Whether the line belongs to a stack without being a frame or source: repetition, carets."""
    return _REPEATED.match(body) is not None or _CARETS.match(body) is not None


# Joins exceptions that were printed one after the other into one event: chains, groups, re-raises, remote ones.

#: Empty lines, quotes and boilerplate that may stand between two linked tracebacks.
WIDEST_JOINT = 14
#: Links of one event that are kept; a recursion error in handlers may print hundreds.
MOST_LINKS = 200

_LINKS = (
    ("cause", warm.pattern(r"The above exception was the direct cause of")),
    ("context", warm.pattern(r"During handling of the above exception")),
    (
        "reraise",
        warm.pattern(r"-- Process \d{1,9} terminated with the following|Original Traceback \(most|Original traceback"),
    ),
)
_FILLING = warm.pattern(r"(?:\"\"\"|'''|[-=+]{3,200})$")
_REMOTE = warm.pattern(r"ray::|RemoteTraceback|RemoteError|RayTaskError")
_INTERRUPTIONS = frozenset(
    ("KeyboardInterrupt", "SystemExit", "BdbQuit", "GeneratorExit", "CancelledError", "Exit", "Abort")
)


class _Step(NamedTuple):
    """Where the next exception begins: how it follows, its header's line (-1: none), its first line, its indent."""

    link: str
    header: int
    first: int
    base: int


def traceback(text: str, header: int) -> Event | None:
    """The event whose first header stands at `header`, None if no traceback is printed there."""
    where = head.learn(text, header)
    lines = Lines(text, where.start, where.peeler)
    start = where.start if header - where.start <= 160 else header
    first = lines.at(0)
    is_notebook = first is not None and displays.header_name(first.body.strip()) is not None
    printed = _chain(lines, _Step("", 0, 1, where.base))
    return event(printed, start=start, dialect="ipython" if is_notebook else "python")


def orphan(text: str, mark: int) -> Event | None:
    """The event whose frames begin at `mark` without a header, None if it is no traceback."""
    where = head.learn(text, mark)
    lines = Lines(text, where.start, where.peeler)
    first = lines.at(0)
    if first is None or frame(first.body) is None:
        return None
    printed = _chain(lines, _Step("", -1, 0, max(first.indent - 2, 0)))
    if printed[0].exception_type is None and len(printed[0].frames) < 2 and not _opens_block(text, where.start):
        return None
    printed[0].is_truncated = not (printed[0].exception_type or "").endswith(("SyntaxError", "IndentationError"))
    return event(printed, start=where.start, dialect="python")


def notebook_orphan(text: str, arrow: int, *, floor: int) -> Event | None:
    """The event of a notebook's frames whose header is lost, found by the marked source line at `arrow`."""
    start = displays.begin(text, arrow, floor)
    if start is None:
        return None
    lines = Lines(text, start, Peeler())
    printed = [displays.read_ipython(lines, 0, "", 0)]
    if printed[0].exception_type is None and len(printed[0].frames) < 2:
        return None
    while len(printed) < MOST_LINKS and (following := _joint(lines, printed[-1])) is not None:
        printed[-1].link = following.link
        printed.append(_printed(lines, following))
    printed[0].is_truncated = True
    return event(printed, start=start, dialect="ipython")


def _opens_block(text: str, start: int) -> bool:
    """Whether nothing stands above on the page or in the fenced block: the head was cut, not left out."""
    above = text[max(0, start - 200) : start].rstrip()
    return not above or above.rsplit("\n", 1)[-1].lstrip().startswith(("```", "~~~"))


def _chain(lines: Lines, step: _Step) -> list[python.Printed]:
    """Every exception of the block, in print order, each but the last with the link that leads on from it."""
    found = [_printed(lines, step)]
    while len(found) < MOST_LINKS:
        following = _joint(lines, found[-1])
        if following is None:
            break
        found[-1].link = following.link
        found.append(_printed(lines, following))
    while len(found) > 1 and _is_cut(found):
        end = found.pop().end
        found[-1].end = max(found[-1].end, end)
        found[-1].link = ""
        found[-1].is_truncated = True
    return found


def _is_cut(found: list[python.Printed]) -> bool:
    """Whether the last exception breaks off before its name, so that the one before it is the last that is told."""
    last = found[-1]
    return last.exception_type is None and (not last.frames or any(one.exception_type for one in found[:-1]))


def _printed(lines: Lines, step: _Step) -> python.Printed:
    """The exception behind a header, read in the dialect of that header."""
    header = lines.at(step.header) if step.header >= 0 else None
    if header is not None:
        name = displays.header_name(header.body.strip())
        if name is not None:
            return displays.read_ipython(lines, step.first, name, header.indent + displays.margin(header.body.strip()))
        if displays.BOX.search(header.body):
            return displays.read_rich(lines, step.first)
    return python.read(lines, step.first, step.base)


def _joint(lines: Lines, last: python.Printed) -> _Step | None:
    """How it goes on behind an exception, None if it does not."""
    if last.header_in_message:
        return _Step("wrapper", -1, last.after, 0)
    link = ""
    own = 0
    for number in range(last.after, last.after + WIDEST_JOINT + python.MOST_FOREIGN):
        line = lines.at(number)
        if line is None or own == WIDEST_JOINT:
            return None
        body = line.body.strip()
        if line.is_foreign:
            continue
        own += 1
        if line.is_border:
            link = "group"
            continue
        link = _link(body) or link
        if HEADER in body:
            return _Step(link, number, number + 1, line.indent) if link else _remote(lines, last, number)
        if link and body and not _link(body) and head.loose(body) is not None:  # never raised: without a stack
            return _Step(link, -1, number, line.indent)
        if number == last.after and frame(body) and _is_remote(last):
            return _Step("remote", -1, number, max(line.indent - 2, 0))
        if body and not (link or _FILLING.match(body) or foreign.is_boilerplate(body)):
            return None
    return None


def _link(body: str) -> str | None:
    """The link that a line between two exceptions names."""
    if "exception" not in body and "rocess " not in body and "traceback" not in body.lower():
        return None
    return next((name for name, rule in _LINKS if rule.search(body)), None)


def _is_remote(last: python.Printed) -> bool:
    return _REMOTE.search(f"{last.exception_type} {last.message}") is not None


def _remote(lines: Lines, last: python.Printed, number: int) -> _Step | None:
    """A header that follows without a word belongs to the message above it if that announces it."""
    line = lines.at(number)
    assert line is not None
    announced = last.message.rstrip().endswith((":", '"""')) or _is_remote(last)
    if announced and number <= last.after + 2:
        return _Step("remote", number, number + 1, line.indent)
    return None


#: Called warnings because nobody waits for the promise: what they tell of failed.
_REJECTED = frozenset({"UnhandledPromiseRejectionWarning", "PromiseRejectionHandledWarning"})


def severity(exception_type: str | None) -> Severity:
    """How much an exception of that type counts."""
    last = short_class(exception_type)
    if last in _INTERRUPTIONS:
        return Severity.INTERRUPTION
    is_warning = last.endswith("Warning") and last not in _REJECTED
    return Severity.WARNING if is_warning else Severity.ERROR


def _raised(exception_type: str | None) -> Severity:
    """The same for one that was raised: a warning turned into an error is one."""
    found = severity(exception_type)
    return Severity.ERROR if found == Severity.WARNING else found


def event(printed: list[python.Printed], *, start: int, dialect: str) -> Event | None:
    """The event of exceptions in print order, None if they hold neither a frame nor a name."""
    last = printed[-1]
    if not last.frames and last.exception_type is None:
        return None
    links = tuple(
        Link(
            one.link or "context",
            one.exception_type,
            one.message[: python.WIDEST_DETAIL],
            tuple(one.frames),
            one.detail if "\n" in one.detail else "",
        )
        for one in printed[:-1]
    )
    return Event(
        dialect=dialect,
        exception_type=last.exception_type,
        message=last.message[: python.WIDEST_DETAIL],
        detail=last.detail,
        frames=tuple(last.frames),
        chain=links,
        codes=(),
        start=start,
        end=max(one.end for one in printed),
        is_truncated=any(one.is_truncated for one in printed),
        severity=severity(last.exception_type) if not last.frames else _raised(last.exception_type),
    )
