"""Shard files: written whole or not at all, and read back as records if they are what was written."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.records import Claim, Skipped, kept
from pipeline.records.errors import StoreError
from pipeline.records.kept import Damaged, KeptFile
from pipeline.run.shards.columns import DocumentRow, EventRow, MapResult, Record, Table

TABLES = ("documents", "events", "claims", "skipped")
DOCUMENTS, EVENTS, CLAIMS, SKIPPED = Table(DocumentRow), Table(EventRow), Table(Claim), Table(Skipped)
#: notes on speed: zstd level 1 stored a million texts in a third of the time and size of the default.
_COMPRESSION_LEVEL = 1
#: Folder of the lists that say what the four files of each shard are.
_LISTS = "lists"
#: What is done with a shard that is damaged.
CURE = "`errmine build` makes it anew from raw."


@dataclass(frozen=True, slots=True)
class ShardPaths:
    """The four files of one shard."""

    documents: Path
    events: Path
    claims: Path
    skipped: Path


def write(folder: Path, name: str, result: MapResult) -> ShardPaths:
    """The paths of the shard `name`, written under `folder`; each file appears whole, the list of all four last."""
    paths = _paths(folder, name)
    documents = sorted(result.documents, key=lambda row: row.document_id)
    events = sorted(result.events, key=lambda row: (row.document_id, row.ordinal, row.event_id))
    claims = sorted(result.claims, key=lambda claim: (claim.quote.document_id, claim.claim_id))
    skipped = sorted(result.skipped, key=lambda item: (item.stage, item.item_id, item.reason, item.detail))
    files = {
        paths.documents: _body(DOCUMENTS.write(documents)),
        paths.events: _body(EVENTS.write(events)),
        paths.claims: _body(CLAIMS.write(claims)),
        paths.skipped: _body(SKIPPED.write(skipped)),
    }
    named = kept.listed((str(path.relative_to(folder)), body) for path, body in files.items())
    files[folder / _LISTS / f"{name}.json"] = kept.sealed_json({"files": named})
    for path, body in files.items():
        _publish(path, body)
    return paths


def listing(folder: Path) -> list[ShardPaths]:
    """The complete shards under `folder`, by name; one whose writer was stopped half way is not listed."""
    names = sorted(path.stem for path in (folder / _LISTS).glob("*.json"))
    return [shard for shard in (_paths(folder, name) for name in names) if all(path.exists() for path in _files(shard))]


def kept_files(folder: Path) -> list[KeptFile]:
    """Every file of the shards whose writers came to their end, with what a look at its bytes says."""
    found = []
    for path in sorted((folder / _LISTS).glob("*.json")):
        try:
            verdicts = list(_listing(folder, path.stem).verdicts())
        except Damaged as error:  # the files may be whole, but nothing says so
            verdicts = [(error.path, error.verdict)]
        found += [KeptFile(place, "shard", verdict, CURE) for place, verdict in verdicts]
    return found


def check(shard: ShardPaths) -> None:
    """Nothing; all four files are what was written.

    Raises:
        StoreError: one is not; it is named.
    """
    for path in _files(shard):
        _checked(path)


def discard(folder: Path, names: Collection[str]) -> None:
    """Nothing; no file of the shards `names` is left, nor of one of which only some are there."""
    for name in names:
        (folder / _LISTS / f"{name}.json").unlink(missing_ok=True)  # first: without it the others count for nothing
        for path in _files(_paths(folder, name)):
            path.unlink(missing_ok=True)


def names(folder: Path) -> set[str]:
    """The names of all shards of which anything is there."""
    found = [path for table in TABLES for path in (folder / table).glob("[!.]*.parquet")]
    return {path.stem for path in (*found, *(folder / _LISTS).glob("[!.]*.json"))}


def count_documents(shard: ShardPaths) -> int:
    """The number of document rows of a shard, from its footer."""
    try:
        return int(pq.read_metadata(io.BytesIO(_checked(shard.documents))).num_rows)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"cannot read the shard {shard.documents}: {error}", path=shard.documents) from error


def discard_leftovers(folder: Path) -> int:
    """How many half-written files of killed writers were removed; call it while nobody writes shards."""
    found = [path for table in (*TABLES, _LISTS) for path in (folder / table).glob(".*.*.*")]
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


def _files(shard: ShardPaths) -> tuple[Path, ...]:
    return shard.documents, shard.events, shard.claims, shard.skipped


def _listing(folder: Path, name: str) -> kept.Listing:
    """What the list of a shard says, which must name the files of this shard and no others."""
    found = kept.Listing.of(folder, f"{_LISTS}/{name}.json")
    if found.sums.keys() != {str(path.relative_to(folder)) for path in _files(_paths(folder, name))}:
        raise Damaged(found.path, "it is the list of another shard")
    return found


def _body(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", compression_level=_COMPRESSION_LEVEL)
    return out.getvalue()


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


def _read_table(path: Path, schema: pa.Schema) -> pa.Table:
    try:
        table = pq.read_table(io.BytesIO(_checked(path)))
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"cannot read the shard {path}: {error}", path=path, hint=CURE) from error
    if not table.schema.equals(schema):
        raise StoreError(f"the columns of the shard {path} are not this errmine's", path=path, hint=CURE)
    return table
