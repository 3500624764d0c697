"""What goes into the file: the shards by path, and the records of the reduce step."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

from pipeline.records import Assignment, Cluster, Neighbour, Skipped

if TYPE_CHECKING:
    from pipeline.records.entry import KnowledgeEntry


@runtime_checkable
class InColumns(Protocol):
    """Records of clusters that lie in columns: of few of them a record is made."""

    def lines(self) -> Iterable[tuple[str, str]]:
        """Of each record its cluster, and all that it is as one text."""

    def of_clusters(self, ids: Collection[str]) -> Sequence[Any]:
        """The records of these clusters."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """Something that happened to a cluster or an entry."""

    action: str  # new, grown, merged, split, renamed, withdrawn
    subject_id: str
    other_id: str | None
    detail: str
    run_id: str | None = None  # the run that did it, where runs are recorded

    @classmethod
    def of(cls, cells: Sequence[Any]) -> JournalRow:
        """The row with these cells, whose texts are those of other rows: most say that something is new."""
        action, subject_id, other_id, detail, *run_id = cells
        return cls(sys.intern(action), sys.intern(subject_id), other_id, sys.intern(detail), *run_id)


#: All that a row of the journal is.
_CELLS = attrgetter(*(one.name for one in fields(JournalRow)))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows of a journal that lie in a file, of which nobody has read any so far."""

    count: int
    digest: str  # of all rows up to its end: see `JournalRows.told`
    read: Callable[[], Sequence[JournalRow]]


class JournalRows(Sequence[JournalRow]):
    """The rows of a journal, of which the first ones may lie in a file: they are read when somebody asks for them.

    Who goes on with a journal asks how many there are and whether they are those that it knows.
    """

    def __init__(self, rows: Iterable[JournalRow] = (), lying: Sequence[Stretch] = ()) -> None:
        self.lying = tuple(lying)
        self._rows = tuple(rows)
        self._told = {0: ""}
        at = 0
        for one in self.lying:
            at += one.count
            self._told[at] = one.digest
        self._start = at

    def __len__(self) -> int:
        return self._start + len(self._rows)

    @overload
    def __getitem__(self, place: int) -> JournalRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[JournalRow]: ...
    def __getitem__(self, place: int | slice) -> JournalRow | list[JournalRow]:
        if isinstance(place, slice):
            start, end, step = place.indices(len(self))
            return self._between(start, max(start, end)) if step == 1 else list(self)[place]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        (found,) = self._between(place % len(self), place % len(self) + 1)
        return found

    def __iter__(self) -> Iterator[JournalRow]:
        return iter(self._between(0, len(self)))

    def _between(self, start: int, end: int) -> list[JournalRow]:
        found: list[JournalRow] = []
        at = 0
        for one in self.lying:
            if start < at + one.count and at < end:
                found += one.read()[max(start - at, 0) : end - at]
            at += one.count
        return [*found, *self._rows[max(start - at, 0) : max(end - at, 0)]]

    def told(self, count: int) -> str:
        """A digest of the first `count` rows: of each, and of the digest of those before it. So it goes on."""
        if count not in self._told:
            last = max(known for known in self._told if known < count)
            digest = self._told[last]
            for row in self._between(last, count):
                body = f"{digest}{_CELLS(row)!r}".encode("utf-8", "surrogatepass")
                digest = hashlib.blake2b(body, digest_size=16).hexdigest()
            self._told[count] = digest
        return self._told[count]

    def first(self, count: int) -> JournalRows:
        """The first `count` rows."""
        lying: list[Stretch] = []
        at = 0
        for one in self.lying:
            if at + one.count > count:
                break
            lying.append(one)
            at += one.count
        return JournalRows(self._between(at, count), lying)

    def then(self, rows: Iterable[JournalRow]) -> JournalRows:
        """The same rows, and more behind them."""
        return JournalRows((*self._rows, *rows), self.lying)

    def shared(self, other: JournalRows) -> int:
        """How many rows two journals have in common from the beginning."""
        at = 0
        for one, same in zip(self.lying, other.lying, strict=False):
            if (one.count, one.digest) != (same.count, same.digest):
                break
            at += one.count
        pairs = zip(self[at:], other[at:], strict=False)
        least = min(len(self), len(other)) - at
        return at + next((place for place, (row, same) in enumerate(pairs) if row != same), least)

    def each(self, change: Callable[[JournalRow], JournalRow]) -> JournalRows:
        """The same with each row changed, but for those that nobody has read."""
        return JournalRows(map(change, self._rows), self.lying)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JournalRows):
            return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)
        if self.lying or other.lying:
            return len(self) == len(other) and self.told(len(self)) == other.told(len(other))
        return self._rows == other._rows

    __hash__ = None  # type: ignore[assignment]


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


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that `write` puts into a file."""

    documents: tuple[Path, ...] = ()  # shard files
    events: tuple[Path, ...] = ()
    claims: tuple[Path, ...] = ()
    skipped_files: tuple[Path, ...] = ()
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
    stage_counts: tuple[StageCount, ...] = ()
    runs: tuple[RunRow, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
