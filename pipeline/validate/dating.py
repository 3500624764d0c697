"""Rules about dates: in order, and from evidence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from pipeline.validate.problem import Context, Finding, Raw, Rule, items, text

_DATES = ("first_seen", "last_confirmed", "last_updated")
_DAY = len("2026-01-02")


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


RULES = (
    Rule("dates_ordered", "first_seen <= last_confirmed <= last_updated.", _ordered),
    Rule("dates_from_evidence", "Every date is the date of a piece of evidence; unknown is null.", _from_evidence),
)
