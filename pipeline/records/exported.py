"""What an export reads of a database: a sign of every entry, and all of those that it has to make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.records import Template


@dataclass(frozen=True, slots=True)
class Sign:
    """What tells whether an entry is what it was."""

    entry_id: str
    size: int  # bytes of its row
    digest: str  # sha256 of its row
    indexed: str  # of what the index says of it besides; "" of an entry without a cluster


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as JSON, and what the index says of it besides."""

    entry_id: str
    json: str
    medoid: str | None = None  # of its cluster, None where it has none
    lowest_score: float | None = None
    templates: tuple[Template, ...] = ()  # of its cluster, by their ids


class Rows(Protocol):
    """The entries of a database, or of anything that has some."""

    def signs(self) -> Sequence[Sign]:
        """One of every entry, by id."""

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        """The entries of these ids, by id."""
