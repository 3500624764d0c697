"""A bundle read back: each file checked against the manifest, the manifest against its seal; errors name the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.records import kept
from pipeline.records.bundle import Index, Manifest, Model, Registry, parsed
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError

REGISTRY = "registry.json"
LINES = "entries.jsonl"


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
        raise _unreadable(path, str(error)) from error


def read_index(folder: Path) -> Index:
    """The index of the bundle in `folder`."""
    return _parsed(read_file(folder, "index.json"), Index, folder / "index.json")


def read_registry(folder: Path) -> Registry:
    """The ids published so far; none where there is no bundle yet."""
    path = folder / REGISTRY
    if not path.exists() and not (folder / kept.MANIFEST).exists():
        return Registry()
    return _parsed(read_file(folder, REGISTRY), Registry, path)


def read_entries(folder: Path) -> list[KnowledgeEntry]:
    """Every entry of the bundle in `folder`, by id."""
    return entries_of(folder / LINES, read_file(folder, LINES).splitlines())


def entries_of(path: Path, lines: Sequence[bytes]) -> list[KnowledgeEntry]:
    """The entries of the lines that stand, or are to stand, in the file at `path`."""
    return [_parsed(line, KnowledgeEntry, path) for line in lines]


def read_file(folder: Path, name: str) -> bytes:
    """The bytes of the file `name` of the bundle in `folder`, which are those that the manifest names."""
    try:
        return kept.of_bundle(folder, name)
    except kept.Damaged as error:
        raise _unreadable(error.path, str(error)) from error


def _parsed(body: bytes, model: type[Model], path: Path) -> Model:
    try:
        return parsed(body, model)
    except ValueError as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, reason: str) -> ExportError:
    hint = "Run `errmine export` to make the bundle anew, or fetch it again from where it came."
    return ExportError(f"cannot read {path}: {reason}", path=path, hint=hint)
