"""Entries into a folder of files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pipeline.export import content
from pipeline.export.content import Facts
from pipeline.export.publishing import MANIFEST, publish
from pipeline.records.bundle import FileRecord, bundle_id
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in the folder now."""

    folder: Path
    bundle_id: str
    entry_count: int
    file_count: int  # with the manifest
    byte_count: int


def write(folder: Path, entries: Iterable[KnowledgeEntry], *, facts: Facts | None = None) -> Written:
    """What was written: the bundle of `entries` in `folder`, in place of the one there was, whole or not at all."""
    told = facts or Facts()
    ordered = sorted(entries, key=lambda entry: entry.id)
    _check_ids(folder, ordered)
    records: list[FileRecord] = []
    publish(folder, lambda staged: records.extend(_fill(staged, ordered, told)))
    bundle = bundle_id(records[:-1])
    return Written(folder, bundle, len(ordered), len(records), sum(record.bytes for record in records))


def _check_ids(folder: Path, ordered: Sequence[KnowledgeEntry]) -> None:
    for one, other in pairwise(ordered):
        if one.id == other.id:
            raise ExportError(f"two entries are called {one.id}", path=folder, hint="Give ids through export.assign.")


def _fill(staged: Path, ordered: Sequence[KnowledgeEntry], facts: Facts) -> list[FileRecord]:
    """The records of all files, the manifest's last."""
    pages = [content.encoded(entry) for entry in ordered]
    lines = [page.line for page in pages]
    for domain in sorted({entry.id.partition("/")[0] for entry in ordered}):
        (staged / "entries" / domain).mkdir(parents=True)
    records = [_put(staged, content.page_path(page.entry_id), page.page.encode()) for page in pages]
    records.append(_put(staged, "entries.jsonl", "".join(lines).encode()))
    records.append(_put(staged, "entries.parquet", content.parquet(ordered, lines)))
    records.append(_put(staged, "index.json", content.index(ordered, facts).encode()))
    records.append(_put(staged, "registry.json", content.registry(facts).encode()))
    records.append(_put(staged, MANIFEST, content.manifest(ordered, facts, records).encode()))
    return records


def _put(folder: Path, path: str, body: bytes) -> FileRecord:
    (folder / path).write_bytes(body)
    return content.record_of(path, body)
