"""Errors that a service or a program prints as an object: JSON, the repr of a dictionary, a property list.

Which of its fields is the message, which the type and which a place is told by their names. An object is taken where
what holds it, or another of its fields, says that it is an error: many an object has a message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pipeline.records import Event, Frame, Severity, warm
from pipeline.text.needed import Seen

DIALECT = "object"

#: What names the field of the message; a text without them holds no such object.
LITERALS = (
    "message\":", "message\" :", "message':", "message' :", "message = \"", "message\\\":",
    "Message\":", "Message\" :", "error_description\":",
)  # fmt: skip
#: So many places of a text are looked at, with so much before and behind each.
MOST, BEFORE, BEHIND = 40, 1500, 2500
#: Fields that are read of one object, and what is kept of a message.
MOST_FIELDS, WIDEST = 80, 1000
#: Dialects of rows that know a part of such an object: what is read whole replaces them.
_PARTS = frozenset({"http-api", "graphql", "generic"})

_BRACES = warm.pattern(r"[{}]")
_FIELD = warm.pattern(
    r"(?<![\w.])(?P<q>\\?[\"']?)(?P<key>[A-Za-z_][\w.-]{0,40})(?P=q)\s{0,4}(?P<sign>[:=])\s{0,4}"
    r"(?:\"(?P<twice>(?:[^\"\\\n]|\\.){0,1000})\"|'(?P<once>(?:[^'\\\n]|\\.){0,1000})'"
    r"|\\\"(?P<escaped>(?:[^\"\\\n]|\\\\.){0,1000})\\\"|(?P<bare>[\w.+-]{1,80}))"
)
_MESSAGES = ("message", "errormessage", "error_message", "error_description", "msg")
#: What names an object that is an error: the key before it, or the words on its line.
_HOLDER = warm.pattern(
    r"(?:[Ee]rrors?|ERROR|[Ee]xception|[Ff]ault|[Ff]ailure|[Cc]ause)\\?[\"']?\s{0,4}[:=]?\s{0,4}\[?\s{0,4}$"
)
#: Source code that makes such an object.
_LISTING = warm.pattern(
    r"\b(?:return|const|let|var|expect|assert\w*|throw|raise|def|func|function|new|case)\b|=>|\w\($"
)
_STATES = frozenset({"failure", "error", "fail", "failed", "fatal", "critical", "severe"})
_NUMBERS = ("code", "status", "statuscode", "status_code", "httpstatus", "errorcode", "error_code", "errno")
_NAMED = ("errortype", "error_type", "exceptiontype", "exception_type", "exception", "__type", "name", "type", "kind")
_CLASS = warm.pattern(r"[A-Za-z_][\w.$/#-]{0,120}(?:[Ee]rror|[Ee]xception|Fault|Failure)$")
_WORD = warm.pattern(r"(?=.{4})[A-Za-z][A-Za-z0-9]{1,60}(?:[_.-][A-Za-z0-9]{1,40}){0,8}$")
_FILES = ("sourceurl", "filename", "file", "filepath", "path")
_LINES = ("line", "linenumber", "lineno")
#: A function with its place, as the value of a field: "-[Kiln heat:] (Kiln.m:751)".
_PLACE = warm.pattern(r"(?P<function>\S.{0,200}?) \((?P<file>[^\s():]{1,120}):(?P<line>\d{1,7})\)")


class _Object(NamedTuple):
    """An object: where it stands, where its line begins, what it holds."""

    start: int
    end: int
    fields: Mapping[str, str]  # by the key in small letters, the first one of a name


def added(text: str, seen: Seen, found: list[Event]) -> list[Event]:
    """The events with those that objects are, by start; the parts of one that rows knew are left out for it."""
    places = sorted({at for literal in LITERALS for at in seen.get(literal) or ()})[:MOST]
    kept = found
    behind = 0
    for at in places:
        if at < behind or (one := _object(text, at)) is None:
            continue
        others = [event for event in kept if event.start < one.end and event.end > one.start]
        if (event := _event(one, at)) is None or not all(map(_is_part, others)):
            continue
        behind = one.end
        kept = [other for other in kept if other not in others]
        kept.insert(bisect_right(kept, event.start, key=lambda other: other.start), event)
    return kept


def _is_part(other: Event) -> bool:
    """Whether an event knows no more than a part of the object: a field, or the line that opens it."""
    return other.dialect in _PARTS or other.message.endswith("{")


def _object(text: str, at: int) -> _Object | None:
    """The object in which the field at a place stands, None if nothing says that it is an error."""
    opened = _opened(text, at)
    if opened is None:
        return None
    line = text.rfind("\n", max(opened - BEFORE, 0), opened) + 1
    before = text[max(line, opened - BEFORE) : opened]
    if _LISTING.search(before):
        return None
    end = _closed(text, at)
    fields: dict[str, str] = {}
    for key, value in _fields(text, opened, end):
        fields.setdefault(key, value)
    if _HOLDER.search(text[max(opened - 60, 0) : opened]) or _is_error(fields):
        return _Object(max(line, opened - BEFORE), end, fields)
    return None


def _opened(text: str, at: int) -> int | None:
    """The brace that opens the object around a place."""
    depth = 0
    for brace in reversed([*_BRACES.finditer(text, max(at - BEFORE, 0), at)]):
        depth += 1 if brace[0] == "}" else -1
        if depth < 0:
            return brace.start()
    return None


def _closed(text: str, at: int) -> int:
    """Where that object ends: behind its brace, or with what is looked at."""
    depth = 0
    stop = min(len(text), at + BEHIND)
    for brace in _BRACES.finditer(text, at, stop):
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return brace.end()
    fence = text.find("```", at, stop)
    return fence if fence >= 0 else stop


def _fields(text: str, opened: int, end: int) -> Iterator[tuple[str, str]]:
    for number, field in enumerate(_FIELD.finditer(text, opened, end)):
        if number == MOST_FIELDS:
            return
        if field["sign"] == ":" and not field["q"]:
            continue  # a literal of source code, or prose
        value = next((field[name] for name in ("twice", "once", "escaped", "bare") if field[name] is not None), "")
        yield field["key"].lower(), value


def _is_error(fields: Mapping[str, str]) -> bool:
    """Whether another field than the message says that it tells of an error."""
    states = (fields.get(key, "").lower() for key in ("status", "level", "severity", "type", "result"))
    return (
        any(state in _STATES for state in states)
        or any(_is_refusal(fields.get(key, "")) for key in _NUMBERS)
        or any(fields.get(key, "").lower() == "false" for key in ("success", "ok"))
        or any(key in fields for key in ("errortype", "error_type", "errorcode", "error_code", "errormessage"))
        or any(_CLASS.match(fields.get(key, "")) for key in _NAMED)
        or fields.get("error", "null").lower() not in ("null", "none", "false", "0", "")
    )


def _is_refusal(number: str) -> bool:
    """Whether it is a status of HTTP by which a request fails."""
    return len(number) == len("404") and number.isdecimal() and number[0] in "45"


def _event(one: _Object, at: int) -> Event | None:
    """The event that an object is, None if it says nothing."""
    message = next((one.fields[key] for key in _MESSAGES if one.fields.get(key)), "")[:WIDEST].strip()
    if not any(map(str.isalpha, message)):
        return None
    file = next((one.fields[key] for key in _FILES if one.fields.get(key)), None)
    line = next((one.fields[key] for key in _LINES if one.fields.get(key, "").isdecimal()), None)
    places = (_PLACE.fullmatch(value) for key, value in one.fields.items() if key.endswith("location"))
    inner = [Frame(hit["file"], int(hit["line"]), hit["function"]) for hit in places if hit is not None]
    return Event(
        dialect=DIALECT,
        exception_type=_type(one.fields),
        message=message,
        detail=message,
        frames=(*((Frame(file, int(line), None),) if file and line else ()), *inner),
        chain=(),
        codes=(),
        start=min(one.start, at),
        end=one.end,
        is_truncated=message.endswith(("...", "…")),
        severity=Severity.ERROR,
    )


def _type(fields: Mapping[str, str]) -> str | None:
    """What the object calls the error: a class, else the one word that is its reason, its status or its code."""
    classes = (fields.get(key, "") for key in (*_NAMED, "error", "code"))
    if kind := next((value for value in classes if _CLASS.match(value)), None):
        return kind
    words = (fields.get(key, "") for key in ("errortype", "__type", "reason", "status", "code", "error_code", "error"))
    return next((word for word in words if _WORD.match(word) and word.lower() not in _STATES), None)
