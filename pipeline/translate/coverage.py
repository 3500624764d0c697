"""How much of the Chinese side is there, and how it came to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.records.entry import KnowledgeEntry


@dataclass(frozen=True, slots=True)
class FieldCoverage:
    """One `*_zh` field over a list of entries: how many values have which status."""

    field: str
    total: int
    by_status: tuple[tuple[str, int], ...]  # most frequent first

    def share(self, status: str) -> float:
        """The share of that status, 0 where the field has no values."""
        return dict(self.by_status).get(status, 0) / self.total if self.total else 0.0


def coverage(entries: Iterable[KnowledgeEntry]) -> list[FieldCoverage]:
    """One row for each `*_zh` field, sorted by name; a list field counts each of its items."""
    counts: dict[str, Counter[str]] = {}
    for entry in entries:
        for key, translation in entry.translations.items():
            counts.setdefault(key.split("[", 1)[0], Counter())[translation.status] += 1
    return [_row(field, counts[field]) for field in sorted(counts)]


def _row(field: str, statuses: Counter[str]) -> FieldCoverage:
    ordered = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return FieldCoverage(field, statuses.total(), tuple(ordered))
