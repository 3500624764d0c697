"""A bundle read back: each file checked against the manifest, the manifest against its seal; errors name the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.records import kept, leaves
from pipeline.records.bundle import Index, Manifest, Model, Registry, parsed
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError, unreadable
from pipeline.records.leaves import Opened

REGISTRY = leaves.REGISTRY


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the bundle in `folder`."""
    path = folder / kept.MANIFEST
    if not path.exists():
        hint = "Run `errmine run`, or `errmine build` and `errmine export`, first, or name a bundle with --bundle."
        raise ExportError(f"there is no bundle in {folder}", path=path, hint=hint)
    try:
        kept.Listing.of_bundle(folder)
        return _parsed(kept.read(path), Manifest, path)
    except kept.Damaged as error:
        raise unreadable(path, error) from error


def opened(folder: Path) -> Opened:
    """The bundle in `folder`, by its list of files."""
    try:
        return Opened.of(folder)
    except kept.Damaged as error:
        raise unreadable(error.path, error) from error


def read_index(folder: Path) -> Index:
    """The index of the bundle in `folder`, all leaves as one."""
    there = opened(folder)
    path = leaves.HEAD if there.is_split else leaves.INDEX
    head = _parsed(read_file(folder, path), Index, folder / path)
    if not there.is_split:
        return head
    parts = [_parsed(read_file(folder, path), Index, folder / path) for path in there.paths(leaves.INDEX)]
    rows = sorted((row for part in parts for row in part.entries), key=lambda row: row.id)
    return head.model_copy(update={"entries": rows})


def read_registry(folder: Path) -> Registry:
    """The ids published so far, of all leaves; none where there is no bundle yet."""
    if not (folder / REGISTRY).exists() and not (folder / kept.MANIFEST).exists():
        return Registry()
    return registry_of((folder / path, read_file(folder, path)) for path in opened(folder).paths(leaves.REGISTRY))


def registry_of(files: Iterable[tuple[Path, bytes]]) -> Registry:
    """The registry that stands in these files, one of each leaf."""
    rows: dict[str, dict[str, Any]] = {}
    withdrawn: list[str] = []
    version = Registry().schema_version
    for path, body in files:
        part = _parsed(body, Registry, path)
        version = part.schema_version
        withdrawn += part.withdrawn
        for name in ("ids", "aliases", "merged", "cluster_aliases"):
            rows.setdefault(name, {}).update(getattr(part, name))
    by_name = {name: dict(sorted(own.items())) for name, own in rows.items()}
    return Registry(schema_version=version, withdrawn=sorted(withdrawn), **by_name)


def read_entries(folder: Path) -> list[KnowledgeEntry]:
    """Every entry of the bundle in `folder`, by id."""
    found = [entry for own in entries_by_leaf(folder) for entry in own]
    return sorted(found, key=lambda entry: entry.id)


def entries_by_leaf(folder: Path) -> Iterator[list[KnowledgeEntry]]:
    """Every entry of the bundle in `folder`, those of a leaf at a time."""
    for path in opened(folder).paths(leaves.LINES):
        yield entries_of(folder / path, read_file(folder, path).splitlines())


def entries_of(path: Path, lines: Sequence[bytes]) -> list[KnowledgeEntry]:
    """The entries of the lines that stand, or are to stand, in the file at `path`."""
    return [_parsed(line, KnowledgeEntry, path) for line in lines]


def read_file(folder: Path, name: str) -> bytes:
    """The bytes of the file `name` of the bundle in `folder`, which are those that the manifest names."""
    try:
        return kept.of_bundle(folder, name)
    except kept.Damaged as error:
        raise unreadable(error.path, error) from error


def _parsed(body: bytes, model: type[Model], path: Path) -> Model:
    try:
        return parsed(body, model)
    except ValueError as error:
        raise unreadable(path, error) from error
