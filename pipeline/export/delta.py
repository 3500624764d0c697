"""What turns an older bundle into a newer one, and the turning, checked to the byte."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pipeline.export import content
from pipeline.export.reading import entries_of, read_file, read_manifest, read_registry
from pipeline.export.writing import MANIFEST, publish
from pipeline.records.bundle import Delta, Manifest, bundle_id, parsed
from pipeline.records.errors import ExportError

#: Made again from the entries when a delta is applied: its bytes need not travel.
_REMADE = "entries.parquet"
_LINES = "entries.jsonl"


def delta(older: Path, newer: Path) -> Delta:
    """What turns the bundle in `older` into the one in `newer`."""
    return delta_since(read_manifest(older), newer)


def delta_since(before: Manifest, newer: Path) -> Delta:
    """What turns the bundle of the manifest `before` into the one in `newer`; no older file is needed."""
    after = read_manifest(newer)
    old_files = {file.path: file.sha256 for file in before.files}
    new_files = {file.path: file.sha256 for file in after.files}
    old_ids, new_ids = _pages(old_files), _pages(new_files)
    changed = [path for path, digest in sorted(new_files.items()) if old_files.get(path) != digest]
    texts = {path: _text(newer, path) for path in (*changed, MANIFEST) if path not in (_REMADE, _LINES)}
    removed = sorted(set(old_ids) - set(new_ids))
    aliases = read_registry(newer).aliases
    return Delta(
        from_bundle=before.bundle_id,
        to_bundle=after.bundle_id,
        added=sorted(set(new_ids) - set(old_ids)),
        changed=sorted(name for name in set(new_ids) & set(old_ids) if new_ids[name] != old_ids[name]),
        removed=removed,
        aliased={name: aliases[name] for name in removed if name in aliases},
        files=texts,
        deleted_files=sorted(set(old_files) - set(new_files)),
    )


def read_delta(path: Path) -> Delta:
    """The delta that a file holds."""
    try:
        return parsed(path.read_bytes(), Delta)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        hint = "A delta is what `errmine export --since` writes."
        raise ExportError(f"cannot read {path}: {reason}", path=path, hint=hint) from error


def write_delta(path: Path, change: Delta) -> None:
    """Nothing; `path` holds the delta then, or what it held before."""
    body = content.compact_json(change.model_dump(mode="json")) + "\n"
    staged = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(body, encoding="utf-8", newline="\n")
        staged.replace(path)
    except OSError as error:
        raise ExportError(f"cannot write {path}: {error.strerror}", path=path) from error


def apply(folder: Path, change: Delta, *, into: Path) -> None:
    """Nothing; `into` then holds the newer bundle, byte for byte, or is as it was and the error says why."""
    manifest = read_manifest(folder)
    if manifest.bundle_id != change.from_bundle:
        raise ExportError(
            f"the delta is for bundle {change.from_bundle[:12]}, not for {manifest.bundle_id[:12]}",
            path=folder,
            hint="Fetch the delta that begins at this bundle, or the whole new bundle.",
        )
    kept = [file.path for file in manifest.files if file.path not in change.deleted_files]
    publish(into, lambda staged: _fill(staged, folder, change, kept))


def _fill(staged: Path, folder: Path, change: Delta, kept: list[str]) -> None:
    for path in sorted({*kept, *change.files} - {_REMADE, _LINES}):
        body = change.files[path].encode() if path in change.files else read_file(folder, path)
        place = _inside(staged, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)
    _remake(staged)
    _check(staged, change)


def _inside(staged: Path, path: str) -> Path:
    """The place of `path` in `staged`; a delta from elsewhere must not write outside."""
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise ExportError(f"the delta names a path outside the bundle: {path!r}", path=staged)
    return staged / path


def _remake(staged: Path) -> None:
    pages = sorted(staged.glob("entries/*/*.json"), key=lambda page: f"{page.parent.name}/{page.stem}")
    lines = [content.compact_json(json.loads(page.read_bytes())) + "\n" for page in pages]
    (staged / _LINES).write_bytes("".join(lines).encode())
    entries = entries_of(staged / _LINES, [line.encode() for line in lines])
    (staged / _REMADE).write_bytes(content.parquet(entries, lines))


def _check(staged: Path, change: Delta) -> None:
    manifest = read_manifest(staged)
    for file in manifest.files:
        body = _inside(staged, file.path).read_bytes()
        if hashlib.sha256(body).hexdigest() != file.sha256:
            raise ExportError(
                f"after the delta {file.path} is not what the new manifest says",
                path=staged,
                hint="The bundles were made by different versions of errmine: fetch the whole new bundle.",
            )
    if bundle_id(manifest.files) != change.to_bundle:
        raise ExportError("the delta does not lead to the bundle that it names", path=staged)


def _pages(files: dict[str, str]) -> dict[str, str]:
    """Entry id -> sha256 of its page."""
    prefix, suffix = "entries/", ".json"
    return {path[len(prefix) : -len(suffix)]: digest for path, digest in files.items() if path.startswith(prefix)}


def _text(folder: Path, path: str) -> str:
    if path == MANIFEST:
        return (folder / path).read_text(encoding="utf-8")
    return read_file(folder, path).decode()
