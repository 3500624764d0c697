"""Errors grouped, where only those are asked again that what came, changed or went may matter to.

What grouping decided is kept as tables: every template with its unit (`cluster.units`) and its keys, the clusters, why
each template is in its own, and which clusters look alike. Whole units without a change are passed on as they lie
there; templates, units and neighbours of the others are asked as if all of it were new. A build that keeps nothing
asks all of it the same way.
"""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, TypeVar, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipeline import cluster
from pipeline.cluster import Proof, neighbours, proofs, units
from pipeline.records import Assignment, Cluster, Neighbour, Template
from pipeline.run.build import keyed
from pipeline.run.build.keyed import Keyed
from pipeline.run.build.rows import TEMPLATES
from pipeline.run.shards.columns import Record, Table

Mask = NDArray[np.bool_]
Gate = tuple[tuple[str, str], ...]
Key = TypeVar("Key", np.uint32, np.uint64)

CLUSTERS = Table(Cluster, shared=("cluster_id", "medoid", "exception_type"))
ASSIGNMENTS = Table(Assignment, shared=("signature_id", "cluster_id", "rule"))
_NEIGHBOURS = Table(Neighbour, shared=("cluster_id", "other_id"))
PROOFS = Table(Proof, shared=("cluster_id", "regex", "chosen", "anchors"))
_KEYS = pa.list_(pa.uint32())
_UNIT = pa.field("unit", pa.string())


def _with(schema: pa.Schema, *more: pa.Field) -> pa.Schema:
    return pa.schema([*schema, *more])


#: Of pairs of clusters, the lesser id first, how alike they are. They have the unit in which they did not join, or none
#: where their representatives look alike whatever their gates.
_PAIR = pa.schema(
    [("one", pa.string()), ("other", pa.string()), ("score", pa.float64()), ("reason", pa.string()), _UNIT]
)
SCHEMAS: Mapping[str, pa.Schema] = {
    "templates": _with(
        TEMPLATES.schema, _UNIT, pa.field("own", _KEYS), pa.field("asked", _KEYS), pa.field("mask", pa.int64())
    ),
    "clusters": _with(CLUSTERS.schema, _UNIT, pa.field("alike", pa.list_(pa.uint64()))),
    "assignments": _with(ASSIGNMENTS.schema, _UNIT),
    "pairs": _PAIR,
    "neighbours": _NEIGHBOURS.schema,
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What grouping decided, by the name of each of SCHEMAS; all sorted by what stands first in them."""

    templates: pa.Table
    clusters: pa.Table
    assignments: pa.Table
    pairs: pa.Table
    neighbours: pa.Table

    def tables(self) -> dict[str, pa.Table]:
        """By name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


NOTHING = Kept(**{name: schema.empty_table() for name, schema in SCHEMAS.items()})


#: So many records are looked up one by one.
_FEW = 64
#: Of more texts each expression is looked at that is filed under a word of theirs.
_MANY_MASKS = 1000
#: Rows that are made texts at once.
_LINES_AT_ONCE = 100_000


class Lying(Sequence[Record], Generic[Record]):
    """Records of a table, sorted by their first field, each read when somebody asks for it."""

    def __init__(self, records: Table[Record], table: pa.Table) -> None:
        self._records = records
        self.table = table.select(records.schema.names)

    @classmethod
    def written(cls, records: Table[Record], every: Sequence[Record]) -> Lying[Record]:
        """Of records that are there."""
        return cls(records, records.write(every))

    @cached_property
    def ids(self) -> pa.Array:
        """The first field of each."""
        return keyed.whole(self.table.column(0))

    def place(self, one: str) -> int:
        """Where the record with this first field is; -1 where there is none."""
        return keyed.place(self.ids, one)

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Record]: ...
    def __getitem__(self, place: int | slice) -> Record | Sequence[Record]:
        if isinstance(place, slice):
            return self.read(self.table.take(pa.array(range(*place.indices(len(self))), pa.int64())))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        (found,) = self.read(self.table.slice(place % len(self), 1))
        return found

    def __iter__(self) -> Iterator[Record]:
        return iter(self.read(self.table))

    def lines(self) -> pa.Table:
        """Of each its cluster, and all that it is as one text."""
        parts = [pa.Table.from_batches([one]) for one in self._whole().to_batches(_LINES_AT_ONCE)]
        lines = [keyed.lines(one, one.column_names) for one in parts]
        return pa.table({"cluster_id": self.table["cluster_id"], "line": pa.chunked_array(lines, pa.string())})

    def _whole(self) -> pa.Table:
        return self.table

    def of_clusters(self, ids: Collection[str]) -> list[Record]:
        """Those of these clusters."""
        return self.read(self.table.filter(pa.array(keyed.is_in(self.table["cluster_id"], ids))))

    def read(self, table: pa.Table) -> list[Record]:
        """The records of some rows."""
        return self._records.read(table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class Clusters(Lying[Cluster]):
    """Clusters by their ids; each has the expression that is proven."""

    def __init__(self, table: pa.Table, proven: KeptProofs) -> None:
        super().__init__(CLUSTERS, table)
        self._proven = proven

    @classmethod
    def of(cls, found: Sequence[Cluster], proven: KeptProofs) -> Clusters:
        """These clusters, with these expressions."""
        return cls(found.table if isinstance(found, Clusters) else CLUSTERS.write(found), proven)

    def read(self, table: pa.Table) -> list[Cluster]:
        """See `Lying`."""
        found = super().read(table)
        if len(found) < _FEW:
            return [one.proven(self._proven[one.cluster_id].regex) for one in found]
        told = self._proven.rows(["cluster_id", "regex"])
        regexes = dict(zip(*(column.to_pylist() for column in told.columns), strict=True))
        return [one.proven(regexes[one.cluster_id]) for one in found]

    def _whole(self) -> pa.Table:
        told = self._proven.rows(["cluster_id", "regex"])
        regexes = told["regex"].take(pc.index_in(self.ids, value_set=keyed.whole(told["cluster_id"])))
        return self.table.set_column(self.table.column_names.index("regex"), "regex", regexes)

    def of_ids(self, cluster_ids: Iterable[str]) -> list[Cluster]:
        """The clusters of these ids, in their order, of those that are there."""
        places = (self.place(one) for one in sorted(cluster_ids))
        return [self[place] for place in places if place >= 0]


class Assigned(Mapping[str, str]):
    """The cluster of each signature id."""

    def __init__(self, rows: Lying[Assignment]) -> None:
        self._rows = rows
        self._clusters = keyed.whole(rows.table["cluster_id"])

    def __getitem__(self, signature_id: str) -> str:
        place = self._rows.place(signature_id)
        if place < 0:
            raise KeyError(signature_id)
        return str(self._clusters[place].as_py())

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows.ids.to_pylist())

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> ItemsView[str, str]:
        """All of them, read at once."""
        return dict(zip(self._rows.ids.to_pylist(), self._clusters.to_pylist(), strict=True)).items()


class KeptProofs(Keyed[Proof]):
    """Proofs by cluster, of which those are looked at that may not stand; see `cluster.proofs.Standing`."""

    @classmethod
    def of(cls, found: Mapping[str, Proof] = MappingProxyType({})) -> KeptProofs:
        """These, of which nothing is kept."""
        return cls(PROOFS, changed=found)

    def refuted_by(self, owners: Set[str], /) -> Iterable[Proof]:
        """Those of which a try was refuted by a text of one of these clusters."""
        return self.naming("witnesses", owners, field="owner")

    def that_may_find(self, came: proofs.Came, /) -> Iterable[Proof]:
        """Those of whose chosen try an alternative may find one of the texts that came, and perhaps a few others."""

        def are_hits(anchors: pa.Array, masks: pa.Array) -> Mask:
            found = np.flatnonzero(keyed.is_in(anchors, came.words))
            asked = keyed.numbers(masks)[found]
            is_hit = np.full(len(found), len(came.masks) > _MANY_MASKS)
            for one in () if is_hit.any() else came.masks:
                is_hit |= asked & ~one == 0
            hits = np.zeros(len(anchors), bool)
            hits[found[is_hit]] = True
            return hits

        return self.having(("anchors", "masks"), are_hits) if came.masks else []


def lying(partition: cluster.Partition) -> Lying[Assignment]:
    """Why each signature is in its cluster."""
    rows = partition.assignments
    return rows if isinstance(rows, Lying) else Lying.written(ASSIGNMENTS, rows)


def grouped(
    templates: pa.Table, last: Kept, proven: KeptProofs, *, shown: Set[str] | None = None
) -> tuple[cluster.Partition, Kept, KeptProofs]:
    """The clusters of distinct templates, sorted by id, as `cluster.partition` gives them; what is kept of it, and how
    their expressions were proven.

    `last` is what the last build kept, `proven` its proofs; of its templates no others came, changed or went than those
    with the ids `shown`, unless that is None.
    """
    touched = _Touched.of(templates, last, None if shown is None else pa.array(sorted(shown), pa.string()))
    found = units.alone(TEMPLATES.read(templates.filter(pa.array(touched.now))), large=touched.large)
    kept = _kept(templates, last, touched, found)
    gone = last.clusters["cluster_id"].filter(pa.array(touched.clusters)).to_pylist() if len(last.clusters) else proven
    bare, assignments = Lying(CLUSTERS, kept.clusters), Lying(ASSIGNMENTS, kept.assignments)
    rest = proofs.Untouched(
        frozenset(gone),
        lambda some: [bare[bare.place(one)] for one in some],
        Masked(templates["text"], kept.assignments["cluster_id"], kept.templates["mask"]),
        _came(templates.filter(pa.array(touched.new)), assignments),
    )
    came = sorted(found.clusters, key=lambda one: one.cluster_id)
    now = proven.with_those_of(
        proofs.on_templates(came, _Known(templates, found.templates), proven, rest), gone=rest.gone
    )
    made = cluster.Partition(
        clusters=Clusters(kept.clusters, now),
        assignments=assignments,
        neighbours=tuple(_NEIGHBOURS.read(kept.neighbours)),
        proofs=now,
    )
    return made, kept, now


def _came(templates: pa.Table, assignments: Lying[Assignment]) -> list[tuple[str, str]]:
    """Whose templates these are, and their texts."""
    cluster_of = Assigned(assignments)
    names = templates["signature_id"].to_pylist()
    return [(cluster_of[one], text) for one, text in zip(names, templates["text"].to_pylist(), strict=True)]


class _Known(dict[str, Template]):
    """Templates by id; one that nobody looked at is read when somebody asks."""

    def __init__(self, table: pa.Table, read: Iterable[Template]) -> None:
        super().__init__({one.signature_id: one for one in read})
        self._table = table

    def __missing__(self, signature_id: str) -> Template:
        place = pc.index(self._table["signature_id"], signature_id).as_py()
        (found,) = TEMPLATES.read(self._table.slice(place, 1))
        self[signature_id] = found
        return found


class Texts:
    """Texts with their owners, in columns."""

    def __init__(self, texts: pa.ChunkedArray, owners: pa.ChunkedArray) -> None:
        self._texts = texts
        self._owners = owners

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        texts = (text for chunk in self._texts.chunks for text in chunk.to_pylist())
        return zip(self._owners.to_pylist(), texts, strict=True)


class Masked(Texts):
    """The same with the bits of the words of each (`cluster.proofs.mask`); see `cluster.proofs.Lying`."""

    def __init__(self, texts: pa.ChunkedArray, owners: pa.ChunkedArray, masks: pa.ChunkedArray) -> None:
        super().__init__(texts, owners)
        self._masks = keyed.numbers(masks)

    def holding(self, words: frozenset[str], but: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Owner and text of those that hold these words; none of some owners."""
        asked = proofs.mask(words)
        places = pa.array(np.flatnonzero(self._masks & asked == asked))
        owners = self._owners.take(places)
        is_other = pa.array(~keyed.is_in(owners, but))
        some = zip(owners.filter(is_other).to_pylist(), self._texts.take(places.filter(is_other)), strict=True)
        yield from ((owner, text) for owner, cell in some if words <= proofs.words_of(text := cell.as_py()))


@dataclass(frozen=True, slots=True)
class _Touched:
    """Whom it concerns what came, changed or went."""

    now: Mask  # of the templates that are there now
    new: Mask  # those of these whose texts were not there
    last: Mask  # of those that were there
    clusters: Mask  # of the clusters that were there
    units: pa.Array
    large: frozenset[Gate]

    @classmethod
    def of(cls, templates: pa.Table, last: Kept, shown: pa.Array | None) -> _Touched:
        """By the templates that are there now and those that were; see `grouped`."""
        place, is_same, is_new = _compared(templates, last.templates, shown)
        is_gone = np.ones(len(last.templates), bool)
        is_gone[place[is_same]] = False
        came = templates.filter(pa.array(~is_same))
        gone = last.templates.filter(pa.array(is_gone))
        is_touched = is_gone | _reached(last.templates, came, gone, templates)
        unit = pc.unique(last.templates["unit"].filter(pa.array(is_touched)))
        in_units = keyed.is_in(last.templates["unit"], unit)
        now = ~is_same
        now[is_same] = in_units[place[is_same]]
        large = _large(templates, templates["gate"].filter(pa.array(now)))
        return cls(now, is_new, in_units, keyed.is_in(last.clusters["unit"], unit), unit, large)


def _compared(templates: pa.Table, last: pa.Table, shown: pa.Array | None) -> tuple[NDArray[np.int64], Mask, Mask]:
    """Of each template its place in `last`, -1 if it has none; whether it is there as it is, and whether its text is
    not. None but those `shown` are looked at: the others are the same, in the same order.
    """
    is_asked, was_asked = (
        np.ones(len(one), bool) if shown is None else keyed.is_in(one["signature_id"], shown)
        for one in (templates, last)
    )
    some, there = templates.filter(pa.array(is_asked)), last.filter(pa.array(was_asked))
    at, alike, strange = _compared_all(some, there)
    place = np.full(len(templates), -1)
    place[~is_asked] = np.flatnonzero(~was_asked)
    place[is_asked] = np.where(at < 0, -1, np.append(np.flatnonzero(was_asked), -1)[at])
    is_same, is_new = np.ones(len(templates), bool), np.zeros(len(templates), bool)
    is_same[is_asked], is_new[is_asked] = alike, strange
    return place, is_same, is_new


def _compared_all(templates: pa.Table, last: pa.Table) -> tuple[NDArray[np.int64], Mask, Mask]:
    """The same of all of them."""
    found = pc.index_in(templates["signature_id"], value_set=keyed.whole(last["signature_id"]))
    place = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    is_same = place >= 0
    is_new = ~is_same
    if is_same.any():
        before = last.take(pa.array(np.where(is_same, place, 0)))
        for name in TEMPLATES.schema.names:
            one, other = templates[name], before[name]
            equal = pc.or_(pc.fill_null(pc.equal(one, other), False), pc.and_(pc.is_null(one), pc.is_null(other)))
            is_same &= equal.to_numpy()
            if name == "text":
                is_new |= ~equal.to_numpy()
    return place, is_same, is_new


def _reached(last: pa.Table, came: pa.Table, gone: pa.Table, templates: pa.Table) -> Mask:
    """Which of the templates that were there share a gate or a key with one that came or went."""
    if not len(last):
        return np.zeros(0, bool)
    found = keyed.is_in(
        last["gate"], _whole_gates(last, templates, pa.concat_tables([came, gone.select(came.column_names)]))
    )
    new = units.keys(TEMPLATES.read(came), large=_large(templates, came["gate"]))
    own = np.union1d(new.own.keys, _flat(gone["own"]))
    asked = np.union1d(new.asked.keys, _flat(gone["asked"]))
    crowded = _crowded(last, new, own)
    found |= _holding(last["own"], np.union1d(asked, crowded))
    found |= _holding(last["asked"], own)
    return found


def _whole_gates(last: pa.Table, templates: pa.Table, changed: pa.Table) -> pa.Array:
    """The gates of what came or went of which each text matters to each, or did."""
    gates = changed["gate"].unique()
    sizes = [one for table in (last, templates) for one in _sizes(table, gates).items()]
    return pa.array(sorted({gate for gate, size in sizes if _is_whole(size)}), pa.string())


def _crowded(last: pa.Table, new: units.Keys, own: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Of the keys `own` those that so many have, or had, that ranks decide, if anybody looks for them."""
    some = np.array([key for key in own.tolist() if key % units.KINDS in units.CROWDED], np.uint32)
    before = _flat(last["own"])
    found, counts = np.unique(np.concatenate([before[_is_among(before, some)], new.own.keys]), return_counts=True)
    every = zip(found.tolist(), counts.tolist(), strict=True)
    crowded = np.array([key for key, count in every if units.is_crowded(key, count)], np.uint32)
    wanted = _flat(last["asked"])
    return np.intersect1d(crowded, np.union1d(wanted[_is_among(wanted, crowded)], new.asked.keys))


def _sizes(table: pa.Table, gates: pa.ChunkedArray) -> dict[str, tuple[int, bool]]:
    """Of gates, as their columns have them, how many full texts each has, and whether it says all by itself."""
    some = table.select(["gate", "is_truncated", "is_gate_complete"]).filter(
        pa.array(keyed.is_in(table["gate"], gates))
    )
    some = some.set_column(1, "full", pc.invert(some["is_truncated"]).cast(pa.int64()))
    found = some.group_by("gate").aggregate([("full", "sum"), ("is_gate_complete", "any")])
    return {row["gate"]: (row["full_sum"], row["is_gate_complete_any"]) for row in found.to_pylist()}


def _is_whole(size: tuple[int, bool]) -> bool:
    """Whether all texts of a gate matter to each other."""
    count, is_complete = size
    return is_complete or count <= units.LARGE


def _large(templates: pa.Table, gates: pa.ChunkedArray) -> frozenset[Gate]:
    """Those of `gates` that are not whole."""
    named = [gate for gate, size in _sizes(templates, gates.unique()).items() if not _is_whole(size)]
    first = pc.index_in(pa.array(named, pa.string()), value_set=keyed.whole(templates["gate"]))
    return frozenset(one.gate for one in TEMPLATES.read(templates.take(first)))


# ---------------------------------------------------------------- what is kept


def _kept(templates: pa.Table, last: Kept, touched: _Touched, found: units.Alone) -> Kept:
    names = [one.signature_id for one in found.templates]
    unit_of = dict(zip(names, found.units, strict=True))
    of_cluster = {one.cluster_id: unit_of[one.medoid] for one in found.clusters}
    asked = _table(
        TEMPLATES.write(found.templates),
        unit=pa.array(found.units, pa.string()),
        own=_lists(found.keys.own, len(names)),
        asked=_lists(found.keys.asked, len(names)),
        mask=pa.array([proofs.mask(proofs.words_of(one.text)) for one in found.templates], pa.int64()),
    )
    known = {one.signature_id: one for one in found.templates}
    alike = units.medoid_keys([known[one.medoid] for one in found.clusters]).T
    made = _table(
        CLUSTERS.write(found.clusters),
        unit=pa.array([of_cluster[one.cluster_id] for one in found.clusters], pa.string()),
        alike=_rows(alike),
    )
    told = _table(
        ASSIGNMENTS.write(found.assignments),
        unit=pa.array([unit_of[one.signature_id] for one in found.assignments], pa.string()),
    )
    clusters = keyed.replaced(last.clusters, touched.clusters, made)
    pairs, concerned = _pairs(templates, last, touched, found, clusters)
    return Kept(
        templates=keyed.replaced(last.templates, touched.last, asked),
        clusters=clusters,
        assignments=keyed.replaced(last.assignments, keyed.is_in(last.assignments["unit"], touched.units), told),
        pairs=pairs,
        neighbours=_neighbours(last.neighbours, pairs, concerned),
    )


def _pairs(
    templates: pa.Table, last: Kept, touched: _Touched, found: units.Alone, clusters: pa.Table
) -> tuple[pa.Table, pa.Array]:
    """The pairs of clusters that look alike, and the ids of clusters that may have others now than they had."""
    gone = last.clusters.filter(pa.array(touched.clusters))
    new = pa.array([one.cluster_id for one in found.clusters], pa.string())
    asked, around = _asked(clusters, gone, new, is_small=min(len(clusters), len(last.clusters)) <= units.LARGE)
    ids = clusters["cluster_id"].filter(pa.array(asked))
    concerned = pc.unique(pa.concat_arrays([keyed.whole(ids), keyed.whole(gone["cluster_id"])]))
    some = clusters.filter(pa.array(around))
    medoids = TEMPLATES.read(
        templates.take(pc.index_in(some["medoid"], value_set=keyed.whole(templates["signature_id"])))
    )
    cases = list(zip(some["cluster_id"].to_pylist(), medoids, strict=True))
    alike = units.alike(
        cases, _matrix(some["alike"]), frozenset(ids.to_pylist()), is_small=len(clusters) <= units.LARGE
    )
    unit_of = (
        dict(zip(clusters["cluster_id"].to_pylist(), clusters["unit"].to_pylist(), strict=True))
        if found.refused
        else {}
    )
    made = [
        *((*pair, *said, None) for pair, said in alike.items()),
        *((*pair, *said, unit_of[pair[0]]) for pair, said in found.refused.items()),
    ]
    columns = list(zip(*made, strict=True)) or [()] * len(_PAIR)
    rows = pa.table([pa.array(cells, kind.type) for cells, kind in zip(columns, _PAIR, strict=True)], schema=_PAIR)
    both = keyed.is_in(last.pairs["one"], concerned) & keyed.is_in(last.pairs["other"], concerned)
    is_alike = pc.is_null(last.pairs["unit"]).to_numpy()
    dropped = (is_alike & both) | keyed.is_in(last.pairs["unit"], touched.units)
    kept = pa.concat_tables([last.pairs.filter(pa.array(~dropped)), rows])
    order = [("one", "ascending"), ("other", "ascending"), ("unit", "ascending")]
    return kept.sort_by(order).combine_chunks(), concerned


def _asked(clusters: pa.Table, gone: pa.Table, new: pa.Array, *, is_small: bool) -> tuple[Mask, Mask]:
    """Which clusters share a key with one that came or went, and which with one of these."""
    if is_small:
        return np.ones(len(clusters), bool), np.ones(len(clusters), bool)
    keys, before = _matrix(clusters["alike"]), _matrix(gone["alike"])
    is_new = keyed.is_in(clusters["cluster_id"], new)
    asked, around = is_new.copy(), np.zeros(len(clusters), bool)
    for band, was in zip(keys, before, strict=True):
        asked |= _is_among(band, np.union1d(band[is_new], was))
    for band in keys:
        around |= _is_among(band, np.unique(band[asked]))
    return asked, around


def _neighbours(last: pa.Table, pairs: pa.Table, concerned: pa.Array) -> pa.Table:
    some = pairs.filter(pa.array(keyed.is_in(pairs["one"], concerned) | keyed.is_in(pairs["other"], concerned)))
    found: neighbours.Pairs = {}
    cells = (some[name].to_pylist() for name in ("one", "other", "score", "reason"))
    for one, other, score, reason in zip(*cells, strict=True):
        neighbours.join(found, {(one, other): (score, reason)})
    made = _NEIGHBOURS.write(neighbours.kept(found))
    made = made.filter(pa.array(keyed.is_in(made["cluster_id"], concerned)))
    rest = last.filter(pa.array(~keyed.is_in(last["cluster_id"], concerned)))
    both = pa.concat_tables([rest, made])
    return both.take(pc.sort_indices(both["cluster_id"])).combine_chunks()  # stable: of one cluster as they were


# ---------------------------------------------------------------- columns


def _table(table: pa.Table, **columns: pa.Array) -> pa.Table:
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table


def _flat(column: pa.ChunkedArray) -> NDArray[Any]:
    return keyed.numbers(keyed.whole(column).flatten())


def _matrix(column: pa.ChunkedArray) -> NDArray[np.uint64]:
    """Lists of equal length, one column each."""
    return _flat(column).astype(np.uint64).reshape(len(column), -1).T if len(column) else np.empty((10, 0), np.uint64)


def _rows(found: NDArray[np.uint64]) -> pa.Array:
    count, width = found.shape
    ends = pa.array(np.arange(0, count * width + 1, width), pa.int32()) if count else pa.array([0], pa.int32())
    return pa.ListArray.from_arrays(ends, pa.array(found.ravel(), pa.uint64()))


def _lists(found: units.Ragged, count: int) -> pa.Array:
    """The keys of each of `count` templates."""
    ends = np.searchsorted(found.rows, np.arange(count + 1))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(found.keys))


def _is_among(flat: NDArray[Key], few: NDArray[Key]) -> Mask:
    """Which numbers are among a few: a table of their first bits says of nearly all that they are not."""
    table = np.zeros(1 << 16, bool)
    rest = flat.dtype.type(8 * flat.itemsize - 16)
    table[few >> rest] = True
    found: Mask = table[flat >> rest]
    at = np.flatnonzero(found)
    found[at] = np.isin(flat[at], few)
    return found


def _holding(column: pa.ChunkedArray, few: NDArray[np.uint32]) -> Mask:
    """Which rows have one of a few numbers in their lists."""
    whole = keyed.whole(column)
    hits = np.flatnonzero(_is_among(_flat(whole), few))
    ends = whole.offsets.to_numpy() - whole.offsets[0].as_py()
    found = np.zeros(len(whole), bool)
    found[np.searchsorted(ends, hits, side="right") - 1] = True
    return found
