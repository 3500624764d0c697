"""What an export reads of a database: a sign of every entry, and all of those that it has to make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from pipeline.records import Template

#: What tells whether an entry is what it was: its id, bytes and sha256 of its row, and a digest of what the index says
#: of it besides, "" of one without a cluster.
SIGNS = pa.schema([("entry_id", pa.string()), ("size", pa.int64()), ("digest", pa.string()), ("indexed", pa.string())])


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

    def signs(self) -> pa.Table:
        """`SIGNS` of every entry, by id."""

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        """The entries of these ids, by id."""
