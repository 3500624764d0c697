"""Where an error is that has no frames: a place on a line of its own beside it, or among its words.

Compilers, linters and runtimes print it so: `  --> kiln.rs:4:2`, `at file:///srv/kiln.ts:14:7`, `on main.tf line 14`.
The forms are rows of `data/extract/places.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pipeline.extract import blocks
from pipeline.records import Event, Frame, Severity, warm
from pipeline.text import needed, prefixes

#: So many lines are looked at below an error and above it, so much of each; so many frames are kept.
BELOW, ABOVE, WIDEST, MOST = 10, 4, 400, 20
#: What an error says of itself is looked at so far.
_SAID = 1000
#: A place is a name with an ending and the number of a line, behind it or, in words, before it.
_NUMBERED = warm.pattern(
    r"\.\w{1,10}[\"'`]?(?:\?[^\s:]{1,60})?(?:[:(\t#]| \(?|,? (?:on |at )?[Ll]ine:? {1,2}|: line |::\w{1,80}::)\d"
)
_COUNTED, _POSITION = warm.pattern(r"ine:? {1,2}\d"), warm.pattern(r"\.\w{1,5}[:.] .{2,200}\(\d{1,7}:\d")
#: So much is looked at for one, from an error on and before its line.
_NEAR, _BEFORE = 600, 200
#: What stands before a place besides what carried its line: a level, and the colon behind it.
_LEVELS, _COLON = frozenset({"level", "level-in-brackets"}), warm.pattern(r"[ \t]{0,4}:(?=\s)")
#: The margin that tools draw beside lines.
_MARGIN = warm.pattern(r"[\s│|┃╷╵]{0,40}")
#: A list of errors below the name of the file: `  14:9  error  no lid`.
_LISTED = warm.pattern(r"[ \t]{0,8}(?:line )?(?P<line>\d{1,7})(?::\d{1,6}| {2,8})")
_HEADING = warm.pattern(
    r"(?:[ \t]{0,8}Line {2,4})?(?P<file>(?:[A-Za-z]:)?[\w./\\@+~-]{1,300}\.[A-Za-z]\w{0,9})\s{0,4}$"
)
HIGHEST = 40
#: A frame of .NET behind others on its line.
_FLAT = warm.pattern(
    r"(?<=[\s\"])at (?P<function>(?:[A-Za-z_][\w`+<>]{0,80}\.){1,12}[\w`<>]{1,80})\([^()\n]{0,300}\)"
    r"(?: in (?P<file>(?:[A-Za-z]:)?[^:\n]{1,300}):line (?P<line>\d{1,7}))?"
)
_WIDEST_FLAT = 4000
#: Of these the reader knows all frames that were printed.
_WHOLE = frozenset({"python", "faulthandler"})
#: Code of a language itself, or of somebody else's package: where an error has no other frames, its place is missing.
_NOT_OWN = warm.pattern(
    r"node:|internal/|<anonymous>|/usr/include/|.{0,200}[\\/](?:node_modules|site-packages|include[\\/]c\+\+"
    r"|Windows Kits|(?:share[\\/])?cmake(?:-[\d.]{1,12})?[\\/]Modules)[\\/]"
)


class Place(NamedTuple):
    """A form in which tools print a place."""

    name: str
    at: frozenset[str]
    pattern: re.Pattern[str]
    examples: tuple[str, ...]
    lookalikes: tuple[str, ...]


@cache
def rows() -> tuple[Place, ...]:
    """The forms, in the order in which they are tried."""
    table = warm.table(files("pipeline").joinpath("data", "extract", "places.toml").read_text("utf-8"))
    return tuple(
        Place(
            row["id"],
            frozenset(row["at"]),
            warm.pattern(prefixes.filled(row["pattern"], table["parts"]), re.MULTILINE),
            tuple(row["examples"]),
            tuple(row["lookalikes"]),
        )
        for row in table["place"]
    )


@cache
def _at(where: str) -> tuple[tuple[re.Pattern[str], tuple[needed.Clause, ...]], ...]:
    """The forms that may stand there, and what a text needs for each."""
    return tuple((row.pattern, needed.clauses(row.pattern.pattern, re.MULTILINE)) for row in rows() if where in row.at)


def added(text: str, events: Sequence[Event]) -> list[Event]:
    """The events, those without a frame of their own with the places printed beside them, outermost first."""
    whole = list(events)
    for number, one in enumerate(whole):
        if (
            one.severity != Severity.ERROR
            or one.dialect in _WHOLE
            or any(frame.file and not _NOT_OWN.match(frame.file) for frame in one.frames)
        ):
            continue
        floor = whole[number - 1].end if number else 0
        ceiling = whole[number + 1].start if number + 1 < len(whole) else len(text)
        if found := _places(text, one, floor, ceiling):
            whole[number] = replace(one, frames=(*one.frames, *found))
    return whole


def _places(text: str, event: Event, floor: int, ceiling: int) -> tuple[Frame, ...]:
    """The places of an event, from the nearest source of them that has any."""
    line = text.rfind("\n", 0, event.start) + 1
    begin, end = max(floor, line - _BEFORE), event.start + _NEAR
    if (
        _NUMBERED.search(text, begin, end) is None
        and _COUNTED.search(text, begin, end) is None
        and _LISTED.match(text, line) is None
        and _POSITION.search(text, line, event.end) is None
    ):
        return _flat(text, event, ceiling) if not event.frames else ()
    if any(frame.file for frame in event.frames):
        return _below(text, event, event.end) or _above(text, event, floor)
    return (
        _flat(text, event, ceiling)
        or _listed(text, event, floor)
        or _said(text, event)
        or _below(text, event, ceiling)
        or _above(text, event, floor)
    )


def _flat(text: str, event: Event, ceiling: int) -> tuple[Frame, ...]:
    """The frames of a stack of .NET whose lines were run together, behind the words or on the line below."""
    begin = text.rfind("\n", 0, event.start) + 1
    end = min(ceiling, begin + _WIDEST_FLAT, text.find("\n\n", event.end) % (len(text) + 1))
    first = text.find(" at ", begin, end)
    if first < 0:
        return ()
    found = [
        Frame(hit["file"], int(hit["line"]) if hit["line"] else None, hit["function"])
        for hit in _FLAT.finditer(text, first, end)
    ]
    return tuple(reversed(found[:MOST])) if len(found) > 1 else ()


def _said(text: str, event: Event) -> tuple[Frame, ...]:
    """The place among an event's own words, or before them on their line."""
    begin = max(text.rfind("\n", 0, event.start) + 1, event.start - WIDEST)
    words = text[begin : min(event.end, event.start + _SAID)]
    sign = _NUMBERED.search(words) or _COUNTED.search(words) or _POSITION.search(words)
    if sign is None:
        return ()
    begin, end = max(0, sign.start() - WIDEST), sign.end() + WIDEST
    for pattern, clauses in _at("words"):
        if needed.stand(clauses, words, begin, end) and (hit := pattern.search(words, begin, end)) is not None:
            return (_frame(hit),)
    return ()


def _below(text: str, event: Event, ceiling: int) -> tuple[Frame, ...]:
    """The places on lines below, as far as one stands right below another."""
    found: list[Frame] = []
    first = text.rfind("\n", 0, event.start) + 1
    if _NUMBERED.search(text, first, first + _NEAR) is None and _COUNTED.search(text, first, first + _NEAR) is None:
        return ()
    for line in _lines(text, first, max(ceiling, event.end)):
        hit = match(line, "below")
        if hit is not None and ("file" in hit.groupdict() or not event.frames):
            found.append(_frame(hit))
        if len(found) == MOST:
            break
    return tuple(reversed(found))


def _lines(text: str, begin: int, ceiling: int) -> Iterator[str]:
    """The lines from one below `begin` on that may tell of the error: none behind its block, or two blank lines."""
    blanks = 0
    at = text.find("\n", begin) + 1
    for _ in range(BELOW):
        if not at or at >= ceiling:
            return
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at : min(stop, at + WIDEST)]
        if blocks.is_fence(line):
            return
        blanks = 0 if line.strip() else blanks + 1
        if blanks > 1:
            return
        # some have the number on the line below
        yield text[at : text.find("\n", stop + 1, stop + WIDEST)] if "ile" in line and line[-1:] not in ":" else line
        at = stop + 1


def _above(text: str, event: Event, floor: int) -> tuple[Frame, ...]:
    """The nearest place on a line above, with those right above it."""
    found: list[Frame] = []
    stop = text.rfind("\n", 0, event.start)
    for _ in range(ABOVE):
        if stop <= floor:
            break
        begin = text.rfind("\n", 0, stop) + 1
        line = text[begin : min(stop, begin + WIDEST)]
        if blocks.is_fence(line):
            break
        if (hit := match(line, "above")) is not None:
            found.append(_frame(hit))
        elif found:
            break
        stop = begin - 1
    return tuple(reversed(found))


def _listed(text: str, event: Event, floor: int) -> tuple[Frame, ...]:
    """The file that stands above a list of errors, of which each line begins with its number."""
    begin = text.rfind("\n", 0, event.start) + 1
    hit = _LISTED.match(text, begin)
    if hit is None:
        return ()
    stop = begin - 1
    for _ in range(HIGHEST):
        if stop <= floor and floor:
            break
        above = text.rfind("\n", 0, max(stop, 0)) + 1
        line = text[above : min(stop, above + WIDEST)]
        if blocks.is_fence(line) or stop <= 0:
            break
        if (heading := _HEADING.match(line)) is not None:
            return (Frame(heading["file"], int(hit["line"]), None),)
        stop = above - 1
    return ()


def match(line: str, where: str) -> re.Match[str] | None:
    """The place that a line is, behind what is drawn beside it."""
    if _NUMBERED.search(line) is None and _COUNTED.search(line) is None:
        return None
    body = line[_front(line) :]
    margin = _MARGIN.match(body)
    body = body[margin.end() :] if margin is not None else body
    for pattern, clauses in _at(where):
        if needed.stand(clauses, body) and (hit := pattern.match(body)) is not None:
            return hit
    return None


def _front(line: str) -> int:
    """How much of a line stands before a place: what carried it, and a level."""
    end, carried = 0, prefixes.carried()
    for one in prefixes.prefixes(line):
        if one.name in _LEVELS and (colon := _COLON.match(line, one.end)) is not None:
            return colon.end()
        if one.name not in carried and one.name not in _LEVELS:
            break
        end = one.end
    return end


def _frame(hit: re.Match[str]) -> Frame:
    told = {name: said for name, said in hit.groupdict().items() if said}
    number = told.get("line") or told.get("row") or told.get("cell")
    return Frame(told.get("file"), int(number) if number else None, told.get("function"))
