"""A bundle read back: manifest, index, registry, entries; errors name the file."""

from __future__ import annotations

from pathlib import Path

from pipeline.records.bundle import Index, Manifest, Model, Registry, parsed
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the bundle in `folder`."""
    return _read(folder / "manifest.json", Manifest)


def read_index(folder: Path) -> Index:
    """The index of the bundle in `folder`."""
    return _read(folder / "index.json", Index)


def read_registry(folder: Path) -> Registry:
    """The ids published so far; none where there is no bundle yet."""
    path = folder / "registry.json"
    return _read(path, Registry) if path.exists() else Registry()


def read_entries(folder: Path) -> list[KnowledgeEntry]:
    """Every entry of the bundle in `folder`, by id."""
    path = folder / "entries.jsonl"
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    return [_parsed(line, KnowledgeEntry, path) for line in lines]


def _read(path: Path, model: type[Model]) -> Model:
    try:
        body = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    return _parsed(body, model, path)


def _parsed(body: bytes, model: type[Model], path: Path) -> Model:
    try:
        return parsed(body, model)
    except ValueError as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, reason: str) -> ExportError:
    return ExportError(f"cannot read {path}: {reason}", path=path, hint="Run `errmine export` to make the bundle anew.")
