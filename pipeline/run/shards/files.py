"""Shard files: written whole or not at all, and read back as records."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.records import Claim, Skipped
from pipeline.records.errors import StoreError
from pipeline.run.shards import columns
from pipeline.run.shards.result import DocumentRow, EventRow, MapResult

Row = TypeVar("Row")

TABLES = ("documents", "events", "claims", "skipped")
#: notes on speed: zstd level 1 stored a million texts in a third of the time and size of the default.
_COMPRESSION_LEVEL = 1


@dataclass(frozen=True, slots=True)
class ShardPaths:
    """The four files of one shard."""

    documents: Path
    events: Path
    claims: Path
    skipped: Path


def write(folder: Path, name: str, result: MapResult) -> ShardPaths:
    """The paths of the shard `name`, written under `folder`; each file appears whole, `skipped` last."""
    paths = _paths(folder, name)
    documents = sorted(result.documents, key=lambda row: row.document_id)
    events = sorted(result.events, key=lambda row: (row.document_id, row.ordinal, row.event_id))
    claims = sorted(result.claims, key=lambda claim: (claim.quote.document_id, claim.claim_id))
    skipped = sorted(result.skipped, key=columns.skipped_cells)
    _publish(paths.documents, _table(columns.DOCUMENTS, map(columns.document_cells, documents)))
    _publish(paths.events, _table(columns.EVENTS, map(columns.event_cells, events)))
    _publish(paths.claims, _table(columns.CLAIMS, map(columns.claim_cells, claims)))
    _publish(paths.skipped, _table(columns.SKIPPED, map(columns.skipped_cells, skipped)))
    return paths


def listing(folder: Path) -> list[ShardPaths]:
    """The complete shards under `folder`, by name; one whose writer was stopped half way is not listed."""
    names = sorted(path.stem for path in (folder / "skipped").glob("*.parquet"))
    shards = [_paths(folder, name) for name in names]
    return [s for s in shards if s.documents.exists() and s.events.exists() and s.claims.exists()]


def count_documents(shard: ShardPaths) -> int:
    """The number of document rows of a shard, from its footer alone."""
    try:
        return int(pq.read_metadata(shard.documents).num_rows)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"cannot read the shard {shard.documents}: {error}", path=shard.documents) from error


def discard_leftovers(folder: Path) -> int:
    """How many half-written files of killed writers were removed; call it while nobody writes shards."""
    found = [path for table in TABLES for path in (folder / table).glob(".*.parquet.*")]
    for path in found:
        _discard(path)
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


def read_documents(paths: Sequence[Path]) -> list[DocumentRow]:
    """The document rows of the files, in their order."""
    return _rows(paths, columns.DOCUMENTS, columns.document_of)


def read_events(paths: Sequence[Path]) -> list[EventRow]:
    """The event rows of the files, in their order."""
    return _rows(paths, columns.EVENTS, columns.event_of)


def read_claims(paths: Sequence[Path]) -> list[Claim]:
    """The claims of the files, in their order."""
    return _rows(paths, columns.CLAIMS, columns.claim_of)


def read_skipped(paths: Sequence[Path]) -> list[Skipped]:
    """The lost items of the files, in their order."""
    return _rows(paths, columns.SKIPPED, lambda cells: Skipped(**cells))


def _paths(folder: Path, name: str) -> ShardPaths:
    if not name or "/" in name or name.startswith("."):
        raise StoreError(f"a shard cannot be called {name!r}", path=folder)
    return ShardPaths(*(folder / table / f"{name}.parquet" for table in TABLES))


def _table(schema: pa.Schema, rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    listed = list(rows)
    cells = zip(*listed, strict=True) if listed else ([] for _ in schema)
    arrays = [_array(values, field.type) for values, field in zip(cells, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, type=kind)
    except UnicodeEncodeError:  # a lone surrogate, from JSON such as "\ud800": one character for one character
        return pa.array([_sound(value) for value in values], type=kind)


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {name: _sound(cell) for name, cell in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(cell) for cell in value]
    return value


def _publish(path: Path, table: pa.Table) -> None:
    # not the process's number: another machine that shares the folder may have a process of the same one
    staged = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with staged.open("wb") as file:
            pq.write_table(table, file, compression="zstd", compression_level=_COMPRESSION_LEVEL)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError as error:
        _discard(staged)
        raise StoreError(f"cannot write the shard {path}: {error.strerror or error}", path=path) from error


def _discard(staged: Path) -> None:
    with suppress(OSError):
        staged.unlink(missing_ok=True)


def _rows(paths: Sequence[Path], schema: pa.Schema, make: Callable[[dict[str, Any]], Row]) -> list[Row]:
    return [make(cells) for path in paths for cells in _cells(_read_table(path, schema))]


def _cells(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Every row as name -> value; a struct in a list comes as the tuple of its cells."""
    columns = [_values(column) for column in table.columns]
    for row in zip(*columns, strict=True):
        yield dict(zip(table.column_names, row, strict=True))


def _values(column: pa.ChunkedArray) -> list[Any]:
    if not (pa.types.is_list(column.type) and pa.types.is_struct(column.type.value_type)):
        return list(column.to_pylist())
    # field by field: Arrow takes four times as long to make a dict for every stack frame
    lists = column.combine_chunks()
    cells = lists.flatten()
    fields = [cells.field(place).to_pylist() for place in range(cells.type.num_fields)]
    structs = iter(list(zip(*fields, strict=True)))
    lengths = lists.value_lengths().to_pylist()
    return [None if length is None else tuple(islice(structs, length)) for length in lengths]


def _read_table(path: Path, schema: pa.Schema) -> pa.Table:
    try:
        table = pq.read_table(path, memory_map=False)
    except (OSError, pa.ArrowException) as error:
        hint = "Delete the file and run `errmine build`: it makes it anew."
        raise StoreError(f"cannot read the shard {path}: {error}", path=path, hint=hint) from error
    version = (table.schema.metadata or {}).get(b"errmine_shard_version", b"").decode()
    if version != columns.SHARD_VERSION:
        raise StoreError(f"the shard {path} is of version {version or 'unknown'}, not 1", path=path)
    for field in schema:
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select(schema.names)
