"""What goes into the file: the shards by path, and the records of the reduce step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pipeline.records import Assignment, Cluster, Neighbour, Skipped

if TYPE_CHECKING:
    import pyarrow as pa

    from pipeline.records.entry import KnowledgeEntry


@runtime_checkable
class InColumns(Protocol):
    """Records of clusters that lie in columns: of few of them a record is made."""

    def lines(self) -> pa.Table:
        """Of each record its `cluster_id`, and as `line` all that it is as one text, which no other one has."""

    def of_clusters(self, ids: Collection[str]) -> Sequence[Any]:
        """The records of these clusters."""


class Names(Protocol):
    """A registry of ids, in columns."""

    @property
    def digest(self) -> str:
        """What tells it from any other."""

    def against(self, there: pa.Table) -> tuple[pa.Array, pa.Table]:
        """(the names of rows of `OF_NAMES` that go, the rows that come): then its own are there."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """Something that happened to a cluster or an entry."""

    action: str  # new, grown, merged, split, renamed, withdrawn
    subject_id: str
    other_id: str | None
    detail: str
    run_id: str | None = None  # the run that did it, where runs are recorded


@dataclass(frozen=True, slots=True)
class OverrideRow:
    """What people decided, and what it means for the templates of the file."""

    kind: str  # merge, split, rename, ignore
    place: str
    name: str | None
    reason: str
    texts: tuple[str, ...]
    signature_ids: tuple[tuple[str, ...], ...]  # templates that each text means
    problem: str | None  # why it, or a part of it, does nothing


@dataclass(frozen=True, slots=True)
class WithheldRow:
    """A statement about a cluster that its entry does not show."""

    cluster_id: str
    claim_id: str
    document_id: str
    repo: str | None
    frame: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class StageCount:
    """What went into a stage and came out: in = out + skipped."""

    stage: str
    item_kind: str
    in_count: int
    out_count: int
    skipped_count: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of a flow; the only record of the store with wall-clock times."""

    run_id: str
    flow: str
    status: str
    started_at: datetime | None
    ended_at: datetime | None
    detail: Mapping[str, object] = field(default_factory=dict)


#: The names of the shards that have a row of a kind with one of some values in a column: "documents", "document_id" …
Holding = Callable[[str, str, Collection[str]], Collection[str]]


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that `write` puts into a file."""

    documents: tuple[Path, ...] = ()  # shard files
    events: tuple[Path, ...] = ()
    claims: tuple[Path, ...] = ()
    skipped_files: tuple[Path, ...] = ()
    holding: Holding | None = None  # which of the shards hold what; None where nobody knows
    clusters: Sequence[Cluster] = ()
    assignments: Sequence[Assignment] = ()
    neighbours: tuple[Neighbour, ...] = ()
    entries: Sequence[KnowledgeEntry] = ()
    withheld: tuple[WithheldRow, ...] = ()
    skipped: tuple[Skipped, ...] = ()  # of the stages after the map step
    aliases: Mapping[str, str] = field(default_factory=dict)  # former id -> id
    journal: Sequence[JournalRow] = ()
    overrides: tuple[OverrideRow, ...] = ()
    cluster_aliases: Mapping[str, str] = field(default_factory=dict)  # former cluster id -> cluster id
    registry: Names | None = None
    stage_counts: tuple[StageCount, ...] = ()
    runs: tuple[RunRow, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
