"""The verdict on one of our own entries: a value, never an exception."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.records.entry import KnowledgeEntry
from pipeline.validate.problem import Context, Problem
from pipeline.validate.rules import broken


@dataclass(frozen=True, slots=True)
class Accepted:
    """The entry keeps every rule."""

    entry: KnowledgeEntry


@dataclass(frozen=True, slots=True)
class Rejected:
    """The entry breaks at least one rule and is not published."""

    entry_id: str
    reasons: tuple[Problem, ...]


Verdict = Accepted | Rejected

_NOTHING_KNOWN = Context()


def verdict(entry: KnowledgeEntry, context: Context = _NOTHING_KNOWN) -> Verdict:
    """`Accepted` or `Rejected`, after every rule has looked at `entry`."""
    reasons = tuple(broken(entry.model_dump(), context))
    return Rejected(entry.id, reasons) if reasons else Accepted(entry)
