"""Shard files: written whole or not at all, and read back as records."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.records import Claim, Skipped
from pipeline.records.errors import StoreError
from pipeline.run.shards.columns import DocumentRow, EventRow, MapResult, Record, Table

TABLES = ("documents", "events", "claims", "skipped")
DOCUMENTS, EVENTS, CLAIMS, SKIPPED = Table(DocumentRow), Table(EventRow), Table(Claim), Table(Skipped)
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
    skipped = sorted(result.skipped, key=lambda item: (item.stage, item.item_id, item.reason, item.detail))
    _publish(paths.documents, DOCUMENTS.write(documents))
    _publish(paths.events, EVENTS.write(events))
    _publish(paths.claims, CLAIMS.write(claims))
    _publish(paths.skipped, SKIPPED.write(skipped))
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
    return ShardPaths(*(folder / table / f"{name}.parquet" for table in TABLES))


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


def _rows(paths: Sequence[Path], table: Table[Record]) -> list[Record]:
    return [record for path in paths for record in table.read(_read_table(path, table.schema))]


def _read_table(path: Path, schema: pa.Schema) -> pa.Table:
    hint = "Delete the file and run `errmine build`: it makes it anew."
    try:
        table = pq.read_table(path, memory_map=False)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"cannot read the shard {path}: {error}", path=path, hint=hint) from error
    if not table.schema.equals(schema):
        raise StoreError(f"the columns of the shard {path} are not this errmine's", path=path, hint=hint)
    return table
