"""Failures as pytest reports them: `E   ` lines, `>` before the failing line, `path:12: AssertionError`."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.extract import chain, head, python
from pipeline.extract.lines import Line, Lines, Peeler
from pipeline.records import Event, Frame, Link, Severity, warm
from pipeline.text import prefixes

_E = warm.pattern(r"E(?:  ? ?|$)\s{0,200}(.*)$")
_PLACE = warm.pattern(r"([^\s:>][^\n:]{0,300}?\.\w{1,5}):(\d{1,7}): ?(in [^\n]{1,200}|[A-Z_][\w.]{0,100})?\s*$")
#: What each place holds: most lines that are searched back are known not to be one before the dearer pattern is tried.
_NUMBERED = warm.pattern(r"\.\w{1,5}:\d")
_TEST = warm.pattern(r"_{3,200} .{1,300} _{3,200}$")
_SECTION = warm.pattern(r"={6,}|-{10,} Captured|_{3,200} [^_\n]{1,300} _{3,200}$|```")
#: A report is searched for its beginning so far back (functions are printed whole).
BACK_LINES = 600


@dataclass(slots=True)
class _Failure:
    """One exception of a report while it is read."""

    said: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    kind: str | None = None
    end: int = 0
    is_closed: bool = False


def read(text: str, mark: int, *, floor: int) -> Event | None:
    """The failure whose `E` line stands at `mark`; it begins behind `floor`."""
    line_start = text.rfind("\n", 0, mark) + 1
    prefix = text[line_start:mark]
    if prefix.strip() and not prefixes.width(prefix):
        return None
    start = _begin(text, line_start, floor)
    lines = Lines(text, start, Peeler(prefixes.shape(prefix) if prefix else None))
    found = _failures(lines, line_start)
    if not found:
        return None
    return _event(found, start)


def _begin(text: str, line_start: int, floor: int) -> int:
    """Where the report of the failing test begins: behind its title, or at the marked source line."""
    at = line_start
    last_marked = line_start
    for _ in range(BACK_LINES):
        if at <= floor:
            return last_marked if last_marked < line_start else line_start
        before = text.rfind("\n", floor, at - 1) + 1 if at - 1 > floor else floor
        before = max(before, floor)
        line = text[before : at - 1][:400]
        if "___" in line and " _ _" not in line and _TEST.search(line):
            return before
        if "```" in line or line.startswith(("=====", "E   ")):
            return at
        if line.lstrip().startswith(">") or (_NUMBERED.search(line) and _PLACE.search(line)):
            last_marked = before
        at = before
    return last_marked


def _failures(lines: Lines, mark: int) -> list[_Failure]:
    found = [_Failure()]
    number = 0
    while (line := lines.at(number)) is not None:
        body = line.body
        one = found[-1]
        if line.start > mark and _SECTION.match(body):
            break
        if body.startswith(python.CHAIN_WORDS):
            found.append(_Failure())
        elif not line.is_foreign and not _take(line, one) and one.is_closed and body:
            break
        if one.said and chain.HEADER in one.said[-1]:  # it quotes a traceback, which another reader reads
            return []
        number += 1
        if number > BACK_LINES * 2:
            break
    return [one for one in found if one.said]


def _take(line: Line, one: _Failure) -> bool:
    """Whether the line said something about the failure."""
    said = _E.match(line.body) if line.body.startswith("E") else None
    if said is not None and not one.is_closed:
        one.said.append(said.group(1).rstrip())
        one.end = line.end
        return True
    place = _PLACE.match(line.body) if ":" in line.body else None
    if place is None:
        return False
    word = place.group(3) or ""
    is_function = word.startswith("in ")
    one.frames.append(Frame(place.group(1), int(place.group(2)), word[3:] if is_function else None))
    if word and not is_function:
        one.kind = word
        one.is_closed = bool(one.said)
        one.end = line.end
    return True


def _named(one: _Failure) -> tuple[str | None, list[str]]:
    """The type and the message's lines."""
    for number, said in enumerate(one.said):
        named = head.strict(said) or (head.loose(said) if one.kind and said.startswith(one.kind) else None)
        if named is not None and (number == 0 or one.kind is None or named.exception_type.endswith(one.kind)):
            rest = [named.message.strip()] if named.message else []
            return named.exception_type, [*rest, *one.said[number + 1 :]]
    is_assertion = one.kind is None and one.said[0].startswith("assert ")
    return ("AssertionError" if is_assertion else one.kind), one.said


def _event(found: list[_Failure], start: int) -> Event:
    links = []
    for one in found[:-1]:
        kind, said = _named(one)
        links.append(Link("context", kind, said[0] if said else "", tuple(one.frames)))
    last = found[-1]
    kind, said = _named(last)
    return Event(
        dialect="pytest",
        exception_type=kind,
        message=said[0][: python.WIDEST_DETAIL] if said else "",
        detail="\n".join(said)[: python.WIDEST_DETAIL],
        frames=tuple(last.frames),
        chain=tuple(links),
        codes=(),
        start=start,
        end=last.end,
        is_truncated=not last.frames,
        severity=Severity.ERROR,
    )
