"""Rules about dates: in order, and from evidence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from pipeline.validate.problem import Context, Finding, Raw, Rule, items, text

_DATES = ("first_seen", "last_confirmed", "last_updated")
_DAY = len("2026-01-02")
#: Evidence of these roles shows that the error exists.
_CONFIRMING = frozenset({"occurrence", "worked", "failed"})


def _ordered(raw: Raw, _context: Context) -> Iterator[Finding]:
    for earlier, later in combinations(_DATES, 2):
        one, other = text(raw, earlier), text(raw, later)
        if one is not None and other is not None and one > other:
            yield earlier, f"{earlier} {one} is after {later} {other}"


def _from_evidence(raw: Raw, _context: Context) -> Iterator[Finding]:
    posted = (text(piece, "posted_at") for _, piece in items(raw, "evidence"))
    days = {time[:_DAY] for time in posted if time}
    for name in _DATES:
        claimed = text(raw, name)
        if claimed is not None and claimed not in days:
            yield name, f"no evidence is of {claimed}"


def _newest(raw: Raw, _context: Context) -> Iterator[Finding]:
    posted = (text(piece, "posted_at") for _, piece in items(raw, "evidence") if text(piece, "role") in _CONFIRMING)
    newest = max((time[:_DAY] for time in posted if time), default=None)
    claimed = text(raw, "last_confirmed")
    if claimed is not None and newest is not None and claimed < newest:
        yield "last_confirmed", f"says {claimed}, but it was met on {newest}"


RULES = (
    Rule("dates_ordered", "first_seen <= last_confirmed <= last_updated.", _ordered),
    Rule("last_confirmed_newest", "No occurrence, worked or failed is newer than last_confirmed.", _newest),
    Rule("dates_from_evidence", "Every date is the date of a piece of evidence; unknown is null.", _from_evidence),
)
