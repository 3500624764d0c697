"""Shard files: written whole or not at all, and read back as records if they are what was written."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.records import Claim, Skipped, disk, kept
from pipeline.records.errors import StoreError
from pipeline.records.kept import Damaged, KeptFile, KeptKind, Seen
from pipeline.run.shards.columns import DocumentRow, EventRow, MapResult, Origin, Part, Record, Table

TABLES = ("documents", "events", "claims", "skipped")
DOCUMENTS, EVENTS, CLAIMS, SKIPPED = Table(DocumentRow), Table(EventRow), Table(Claim), Table(Skipped)
ORIGINS = Table(Origin)
_RECORDS: Mapping[str, Table[Any]] = {"documents": DOCUMENTS, "events": EVENTS, "claims": CLAIMS, "skipped": SKIPPED}
#: By what the rows of a table are sorted, so that equal rows give equal bytes; a name in a name is a field of a struct.
_SORTED_BY = {
    "documents": ("document_id",),
    "events": ("document_id", "ordinal", "event_id"),
    "claims": ("quote.document_id", "claim_id"),
    "skipped": ("stage", "item_id", "reason", "detail"),
}
_OWNER = "owner"
#: The folder of each file of a shard, and how its name ends.
_FOLDERS = {**dict.fromkeys((*TABLES, "origins"), ".parquet"), "rows": ".arrow"}
#: notes on speed: zstd level 1 stored a million texts in a third of the time and size of the default.
_COMPRESSION_LEVEL = 1
#: Folder of the lists that say what the files of each shard are.
_LISTS = "lists"
#: What is done with a shard that is damaged.
CURE = "`errmine build` makes it anew from raw."
#: More rows of one shard are copied together.
_MANY = 32


@dataclass(frozen=True, slots=True)
class ShardPaths:
    """The six files of one shard."""

    documents: Path
    events: Path
    claims: Path
    skipped: Path
    origins: Path
    rows: Path

    @property
    def name(self) -> str:
        """The name of the shard."""
        return self.skipped.stem


@dataclass(frozen=True, slots=True)
class Carried:
    """Documents of a shard that is there whose rows go into another one as they are."""

    shard: ShardPaths
    keys: frozenset[str]


def write(folder: Path, name: str, result: MapResult) -> ShardPaths:
    """The paths of the shard `name` with `result`, of which nobody asks what came from which document."""
    tables, _ = _arranged([Part("", "", result)], ())
    return _written(folder, name, tables, ())


def write_parts(folder: Path, name: str, parts: Sequence[Part], carried: Sequence[Carried] = ()) -> ShardPaths:
    """The paths of the shard `name` with what came from each document, mapped now or carried over from other shards.

    The same documents give the same bytes, whichever of them are carried.

    Raises:
        StoreError: a shard to carry from is not what was written.
    """
    return _written(folder, name, *_arranged(parts, carried))


def _written(folder: Path, name: str, tables: Mapping[str, pa.Table], origins: Sequence[Origin]) -> ShardPaths:
    """The paths of the shard `name`, written under `folder`; each file appears whole, the list of all six last."""
    paths = _paths(folder, name)
    files = {getattr(paths, table): _body(rows) for table, rows in tables.items()}
    files[paths.origins] = _body(ORIGINS.write(origins))
    files[paths.rows] = _rows_body(tables)
    named = kept.listed((str(path.relative_to(folder)), body) for path, body in files.items())
    files[folder / _LISTS / f"{name}.json"] = kept.sealed_json({"files": named, "documents": len(origins)})
    for path, body in files.items():
        _publish(path, body)
    return paths


def _arranged(parts: Sequence[Part], carried: Sequence[Carried]) -> tuple[dict[str, pa.Table], list[Origin]]:
    """The sorted rows of the four tables, and where in them those of each document are, by its key."""
    sources = [(one, [origin for origin in origins(one.shard) if origin.document_key in one.keys]) for one in carried]
    digests = {part.document_key: part.digest for part in parts}
    digests |= {origin.document_key: origin.digest for _, found in sources for origin in found}
    rank = {key: number for number, key in enumerate(sorted(digests))}
    places: dict[str, list[list[int]]] = {}
    tables = {}
    for name, record in _RECORDS.items():
        rows = [record.write([row for part in parts for row in getattr(part.result, name)])]
        owners = [rank[part.document_key] for part in parts for _ in getattr(part.result, name)]
        for one, found in sources:
            there = [place for origin in found for place in getattr(origin, name)]
            owners += [rank[origin.document_key] for origin in found for _ in getattr(origin, name)]
            rows.append(_read_table(getattr(one.shard, name), record.schema).take(pa.array(there, pa.int64())))
        tables[name], places[name] = _sorted(name, pa.concat_tables(rows).combine_chunks(), owners, len(rank))
    return tables, [
        Origin(key, digests[key], **{name: tuple(found[number]) for name, found in places.items()})
        for key, number in rank.items()
    ]


def _sorted(name: str, rows: pa.Table, owners: Sequence[int], count: int) -> tuple[pa.Table, list[list[int]]]:
    """`rows` in their order, and the places of those of each of `count` owners. Of equal ones the owner decides."""
    columns = {key: _field(rows, key) for key in _SORTED_BY[name]} | {_OWNER: pa.array(owners, pa.int64())}
    order = pc.sort_indices(pa.table(columns), sort_keys=[(key, "ascending") for key in columns])
    places: list[list[int]] = [[] for _ in range(count)]
    for place, owner in enumerate(np.asarray(owners, np.int64)[order.to_numpy()].tolist()):
        places[owner].append(place)
    return rows.take(order).combine_chunks(), places


def _field(rows: pa.Table, key: str) -> pa.ChunkedArray:
    first, *rest = key.split(".")
    column = rows[first]
    for name in rest:
        column = pc.struct_field(column, name)
    return column


def origins(shard: ShardPaths) -> list[Origin]:
    """Where in a shard the rows of each of its documents are, by their keys.

    Raises:
        StoreError: it is not what was written.
    """
    return ORIGINS.read(_read_table(shard.origins, ORIGINS.schema))


def listing(folder: Path, is_wanted: Callable[[str], bool] = lambda _name: True) -> list[ShardPaths]:
    """The complete shards under `folder` of wanted names, by name; one whose writer was stopped half way is none."""
    names = sorted(path.stem for path in (folder / _LISTS).glob("*.json") if is_wanted(path.stem))
    whole = (
        set(names).intersection(*(_stems(folder / table, end) for table, end in _FOLDERS.items())) if names else names
    )
    return [_paths(folder, name) for name in names if name in whole]


def kept_files(folder: Path, seen: Seen | None = None) -> list[KeptFile]:
    """Every file of the shards whose writers came to their end, with what a look at its bytes says.

    One that `seen` knows as whole is not read again.
    """
    found = []
    for path in sorted((folder / _LISTS).glob("*.json")):
        try:
            verdicts = list(_listing(folder, path.stem).verdicts(seen))
        except Damaged as error:  # the files may be whole, but nothing says so
            verdicts = [(error.path, error.verdict)]
        found += [KeptFile(place, KeptKind.SHARD, verdict, CURE) for place, verdict in verdicts]
    return found


def check(shard: ShardPaths, seen: Seen | None = None) -> None:
    """Nothing; all its files are what was written. One that `seen` knows as whole is not read again.

    Raises:
        StoreError: one is not; it is named.
    """
    folder = _list_of(shard).parent.parent
    try:
        listing = _listing(folder, shard.name)
        for path in _files(shard):
            listing.check(str(path.relative_to(folder)), seen)
    except Damaged as error:
        raise StoreError(f"cannot read the shard {error.path}: {error}", path=error.path, hint=CURE) from error


def identity(shard: ShardPaths) -> str:
    """What tells a shard from any other, whatever its name, and from what it was before it was made anew.

    Raises:
        StoreError: its list is not what was written.
    """
    path = _list_of(shard)
    try:
        told = sorted(_listing(path.parent.parent, shard.name).sums.items())
    except Damaged as error:
        raise StoreError(f"cannot read the shard {error.path}: {error}", path=error.path, hint=CURE) from error
    return hashlib.blake2b(repr(told).encode(), digest_size=12).hexdigest()


def discard(folder: Path, names: Collection[str]) -> None:
    """Nothing; no file of the shards `names` is left, nor of one of which only some are there."""
    for name in names:
        disk.clear(folder / _LISTS / f"{name}.json")  # first: without it the others count for nothing
        for path in _files(_paths(folder, name)):
            disk.clear(path)


def names(folder: Path) -> set[str]:
    """The names of all shards of which anything is there."""
    lists = {path.stem for path in (folder / _LISTS).glob("[!.]*.json")}
    return lists.union(*(_stems(folder / table, end) for table, end in _FOLDERS.items()))


def _stems(folder: Path, end: str) -> set[str]:
    """The shards of which a folder has a file: one look at the folder, where a look at each file takes 5,000."""
    return {path.stem for path in folder.glob(f"[!.]*{end}")}


def count_documents(shard: ShardPaths) -> int:
    """The number of documents that a shard accounts for, read or skipped, as its list says.

    Raises:
        StoreError: the list is not what was written.
    """
    path = _list_of(shard)
    try:
        return int(kept.unsealed_once(path).get("documents", 0))
    except Damaged as error:
        raise StoreError(f"cannot read the shard {error.path}: {error}", path=error.path, hint=CURE) from error


def discard_leftovers(folder: Path) -> int:
    """How many half-written files of killed writers were removed; call it while nobody writes shards."""
    found = [path for table in (*_FOLDERS, _LISTS) for path in (folder / table).glob(".*.*.*")]
    for path in found:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    return len(found)


def read(shards: Iterable[ShardPaths]) -> MapResult:
    """All rows of `shards` in one result, in the order of the shards."""
    listed = list(shards)
    return MapResult(
        documents=tuple(read_documents([s.documents for s in listed])),
        events=tuple(read_events([s.events for s in listed])),
        claims=tuple(read_claims([s.claims for s in listed])),
        skipped=tuple(read_skipped([s.skipped for s in listed])),
    )


def digests(shards: Iterable[ShardPaths]) -> dict[str, str]:
    """By its id the digest of each document of `shards`; of one that several keys lead to, theirs together."""
    found: dict[str, str] = {}
    for shard in shards:
        ids = _read_table(shard.documents, DOCUMENTS.schema, ["document_id"])["document_id"].to_pylist()
        there = _read_table(shard.origins, ORIGINS.schema, ["digest", "documents"])
        for digest, places in zip(there["digest"].to_pylist(), there["documents"].to_pylist(), strict=True):
            for place in places:
                found[ids[place]] = f"{found.get(ids[place], '')}{digest}"
    return found


def read_documents(paths: Sequence[Path]) -> list[DocumentRow]:
    """The document rows of the files, in their order."""
    return _rows(paths, DOCUMENTS)


def read_events(paths: Sequence[Path]) -> list[EventRow]:
    """The event rows of the files, in their order."""
    return _rows(paths, EVENTS)


def read_claims(paths: Sequence[Path]) -> list[Claim]:
    """The claims of the files, in their order."""
    return _rows(paths, CLAIMS)


def read_skipped(paths: Sequence[Path]) -> list[Skipped]:
    """The lost items of the files, in their order."""
    return _rows(paths, SKIPPED)


def _paths(folder: Path, name: str) -> ShardPaths:
    if not name or "/" in name or name.startswith("."):
        raise StoreError(f"a shard cannot be called {name!r}", path=folder)
    return ShardPaths(*(folder / table / f"{name}{end}" for table, end in _FOLDERS.items()))


def _files(shard: ShardPaths) -> tuple[Path, ...]:
    return tuple(getattr(shard, name) for name in _FOLDERS)


def _list_of(shard: ShardPaths) -> Path:
    return shard.skipped.parent.parent / _LISTS / f"{shard.name}.json"


def _listing(folder: Path, name: str) -> kept.Listing:
    """What the list of a shard says, which must name the files of this shard and no others."""
    found = kept.Listing.of_once(folder, f"{_LISTS}/{name}.json")
    own = {str(path.relative_to(folder)) for path in _files(_paths(folder, name))}
    # an errmine of before wrote no origins, or no rows: its shards are stale, not damaged
    if not own - {f"origins/{name}.parquet", f"rows/{name}.arrow"} <= found.sums.keys() <= own:
        raise Damaged(found.path, "it is the list of another shard")
    return found


def _body(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", compression_level=_COMPRESSION_LEVEL)
    return out.getvalue()


def _rows_body(tables: Mapping[str, pa.Table]) -> bytes:
    """A file that holds each table as one list, as it lies in memory: see `LyingRows`."""
    lists = [
        pa.ListArray.from_arrays([0, len(table)], pa.StructArray.from_arrays(_arrays(table), fields=list(table.schema)))
        for table in tables.values()
    ]
    batch = pa.RecordBatch.from_arrays(lists, names=list(tables))
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, batch.schema) as file:
        file.write_batch(batch)
    return bytes(out.getvalue())


def _arrays(table: pa.Table) -> list[pa.Array]:
    return [column.combine_chunks() for column in table.columns]


class LyingRows:
    """The rows of one shard in the file at `path`, where they lie in memory; no more of them is read than is asked for.

    To open it takes 2 ms, for all tables as long as for one, and a row 10 us. Of Parquet a few rows take 4 to 5 ms, 0.1
    for each of their 40 columns; events take 2.4 times the room.
    """

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as file:
            self._lists = file.get_batch(0)  # what it names stays mapped

    def rows(self, kind: str, places: Sequence[int]) -> list[pa.StructArray]:
        """The rows at these places of a table, in pieces, for `rows_of`."""
        every = self._lists.column(TABLES.index(kind)).flatten()
        if len(places) > _MANY:
            return [every.take(pa.array(places, pa.int64()))]
        return [every.slice(place, 1) for place in places]


def rows_of(kind: str, pieces: Sequence[pa.StructArray]) -> pa.Table:
    """The rows that `LyingRows.rows` gave, of any shards, as a table."""
    schema = _RECORDS[kind].schema
    if not pieces:
        return schema.empty_table()
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.concat_arrays(pieces))], schema=schema)


def _publish(path: Path, body: bytes) -> None:
    try:
        kept.write(path, body)
    except OSError as error:
        hint = "Check free space and rights of the folder, then run `errmine build` again: finished shards are kept."
        raise StoreError(f"cannot write the shard {path}: {error.strerror or error}", path=path, hint=hint) from error


def _rows(paths: Sequence[Path], table: Table[Record]) -> list[Record]:
    return [record for path in paths for record in table.read(_read_table(path, table.schema))]


def _checked(path: Path) -> bytes:
    """The bytes of one file of a shard, which its list names."""
    folder = path.parent.parent
    try:
        return _listing(folder, path.stem).read(str(path.relative_to(folder)))
    except Damaged as error:
        raise StoreError(f"cannot read the shard {error.path}: {error}", path=error.path, hint=CURE) from error


def _read_table(path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """The table of a file of this schema, or some of its columns."""
    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    try:
        table = pq.read_table(io.BytesIO(_checked(path)), columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"cannot read the shard {path}: {error}", path=path, hint=CURE) from error
    if not table.schema.equals(wanted):
        raise StoreError(f"the columns of the shard {path} are not this errmine's", path=path, hint=CURE)
    return table
