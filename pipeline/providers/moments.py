"""Whether the times that a file states can be: what says to be of the future would hide the real thread for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pipeline.providers.assemble import EARLIEST, EARLIEST_CHANGE
from pipeline.providers.provider import Place

#: How far a clock that wrote a file may go ahead of ours.
SLACK = timedelta(days=1)

#: GitHub's own form, or a day: they compare as text as they do as times.
_OURS = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?")
#: The fields that hold times, and those in which there are more of them.
_TIMES = ("created_at", "updated_at", "closed_at", "merged_at", "submitted_at")
_CHANGES = frozenset({"updated_at"})
_NESTED = ("payload", "issue", "pull_request", "comment", "review", "comments", "reviews")
_DEEPEST = 4


def impossible(value: object, *, now: datetime) -> str:
    """The first time in a JSON object or list of GitHub's that cannot be, with its field; "" if all of them can."""
    # what is no time at all is unknown; it does harm only where it would decide which version is the newest
    stated = ((name, text) for name, text in _stated(value, 0) if name in _CHANGES or _parsed(text))
    found = ((name, text, _wrong(text, now=now, is_change=name in _CHANGES)) for name, text in stated)
    return next((f"{name} {text[:40]!r} {why}" for name, text, why in found if why), "")


def dated(place: Place, *, now: datetime) -> Place | str:
    """`place` with its version in GitHub's form, so that versions compare, or what is wrong with the version."""
    if not place.version_at or (_OURS.fullmatch(place.version_at) and not _wrong(place.version_at, now=now)):
        return place
    why = _wrong(place.version_at, now=now)
    if why:
        return f"{place.version_at[:40]!r} {why}"
    moment = _parsed(place.version_at)
    assert moment is not None
    return replace(place, version_at=moment.isoformat().replace("+00:00", "Z"))


def _stated(value: object, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value if depth < _DEEPEST else ():
            yield from _stated(item, depth + 1)
    if not isinstance(value, dict):
        return
    for name in _TIMES:
        if isinstance(text := value.get(name), str) and text:
            yield name, text
    for name in _NESTED if depth < _DEEPEST else ():
        yield from _stated(value.get(name), depth + 1)


def _wrong(text: str, *, now: datetime, is_change: bool = False) -> str:
    moment = _parsed(text)
    if moment is None:
        return "is no time"
    if moment > now + SLACK:
        return "is in the future"
    least = EARLIEST_CHANGE if is_change else EARLIEST
    return "" if moment >= least else f"is before {least.year}"


def _parsed(text: str) -> datetime | None:
    """The time in UTC of an ISO string, also of one that ends in " UTC", as BigQuery writes it."""
    try:
        moment = datetime.fromisoformat(f"{text[:-4]}Z" if text.endswith(" UTC") else text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
