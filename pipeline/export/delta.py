"""What turns an older bundle into a newer one, and the turning, checked to the byte."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from pipeline.export import content
from pipeline.export.reading import entries_of, read_file, read_manifest, read_registry
from pipeline.export.writing import BUNDLE_NAMES, MANIFEST, finish, passed_on, publish, told_beside
from pipeline.records.bundle import Delta, Manifest, answers, bundle_id, parsed
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError

#: Made again from the entries when a delta is applied: its bytes need not travel.
_REMADE = "entries.parquet"
#: Made again as well, because programs take orders from them: no delta from elsewhere brings words of its own.
_TOLD = re.compile(r"llms\.txt|schemas/[a-z0-9.-]{1,60}\.json")
_LINES = "entries.jsonl"
#: What a bundle has: pages of entries, and the files beside them.
_PATH = re.compile(r"entries/[a-z0-9][a-z0-9_-]{0,60}/[a-z0-9][a-z0-9._-]{0,200}\.json")
_FETCH = "Fetch the delta anew from where the bundle comes from, or the whole new bundle."


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
    texts = {path: _text(newer, path) for path in (*_travelling(changed), MANIFEST)}
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
    """Nothing; `into` then holds the newer bundle, byte for byte, or is as it was and the error says why.

    Killed at any point, the same call does the rest.
    """
    for place in (folder, into):
        finish(place)
    manifest = read_manifest(folder)
    if manifest.bundle_id == change.to_bundle and folder.resolve() == into.resolve():
        _check(folder, change)  # it was applied before, by a run that was killed as soon as it had
        return
    if manifest.bundle_id != change.from_bundle:
        raise ExportError(
            f"the delta is for bundle {change.from_bundle[:12]}, not for {manifest.bundle_id[:12]}",
            path=folder,
            hint="Fetch the delta that begins at this bundle, or the whole new bundle.",
        )
    _check_paths(folder, change)
    kept = [file.path for file in manifest.files if file.path not in change.deleted_files]
    publish(into, lambda staged: _fill(staged, folder, change, kept))


def _check_paths(folder: Path, change: Delta) -> None:
    """Nothing, or an error: the delta brings what its own manifest names, and nothing beside it."""
    if MANIFEST not in change.files:
        raise ExportError("the delta brings no manifest", path=folder, hint=_FETCH)
    named = {file.path for file in _new_manifest(change, folder).files}
    for path in (*named, *change.files):
        _inside(folder, path)
    strangers = sorted(set(change.files) - named - {MANIFEST})
    if strangers:
        told = ", ".join(map(repr, strangers[:3]))
        raise ExportError(f"the delta brings files that its manifest does not name: {told}", path=folder, hint=_FETCH)


def _new_manifest(change: Delta, folder: Path) -> Manifest:
    try:
        return parsed(change.files[MANIFEST], Manifest)
    except ValueError as error:
        raise ExportError(f"the manifest that the delta brings: {error}", path=folder, hint=_FETCH) from error


def _fill(staged: Path, folder: Path, change: Delta, kept: list[str]) -> None:
    named = {file.path for file in _new_manifest(change, staged).files}
    for path in sorted(_travelling({*kept, *change.files} & {*named, *change.files})):
        body = change.files[path].encode() if path in change.files else read_file(_unlinked(folder, path), path)
        place = _inside(staged, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)
    _remake(staged, named)
    # last, as in a bundle that is written: one that has a manifest is whole
    (staged / MANIFEST).write_bytes(change.files[MANIFEST].encode())
    _check(staged, change)


def _travelling(paths: Iterable[str]) -> set[str]:
    """Those of the paths whose bytes a delta brings; the manifest, which it always brings, apart."""
    return {path for path in {*paths} - {_REMADE, _LINES, MANIFEST} if not _TOLD.fullmatch(path)}


def _inside(folder: Path, path: str) -> Path:
    """The place of `path` in `folder`; a delta or a bundle from elsewhere must not lead outside."""
    if path not in BUNDLE_NAMES and not _PATH.fullmatch(path) and not _TOLD.fullmatch(path):
        raise ExportError(f"the delta names a path outside the bundle: {path!r}", path=folder, hint=_FETCH)
    return folder / path


def _unlinked(folder: Path, path: str) -> Path:
    """The folder of the older bundle, where no link leads from `path` elsewhere."""
    place = _inside(folder, path)
    if place.resolve() != folder.resolve() / path:
        raise ExportError(f"{place} is a link: a bundle has none", path=place, hint=_FETCH)
    return folder


def _remake(staged: Path, named: set[str]) -> None:
    pages = sorted(staged.glob("entries/*/*.json"), key=lambda page: f"{page.parent.name}/{page.stem}")
    lines = [content.compact_json(_value(page)) + "\n" for page in pages]
    (staged / _LINES).write_bytes("".join(lines).encode())
    entries = entries_of(staged / _LINES, [line.encode() for line in lines])
    _ask(staged, entries)
    (staged / _REMADE).write_bytes(content.parquet(list(map(content.fields_of, entries)), lines))
    for path, body in told_beside(answers(entries)).items():
        if path in named:  # a bundle of before has neither
            (staged / path).parent.mkdir(exist_ok=True)
            (staged / path).write_bytes(body)


def _ask(staged: Path, entries: Iterable[KnowledgeEntry]) -> None:
    """Nothing, or an error: a delta from elsewhere brings no words that errmine would not publish itself."""
    _, refused = passed_on(entries)
    if refused:
        named = ", ".join(f"{item.item_id} ({item.reason}: {item.detail})" for item in refused[:3])
        raise ExportError(
            f"the delta brings {len(refused):,} entries that are not passed on: {named}",
            path=staged,
            hint="Do not take it. If you trust its source, ask there for a bundle of this version of errmine.",
        )


def _value(page: Path) -> object:
    try:
        return json.loads(page.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ExportError(f"entries/{page.parent.name}/{page.name}: {error}", path=page, hint=_FETCH) from error


def _check(staged: Path, change: Delta) -> None:
    manifest = read_manifest(staged)
    for file in manifest.files:
        place = _inside(staged, file.path)
        if not place.is_file() or hashlib.sha256(place.read_bytes()).hexdigest() != file.sha256:
            raise ExportError(
                f"after the delta {file.path} is not what the new manifest says",
                path=staged,
                hint="The bundles were made by different versions of errmine: fetch the whole new bundle.",
            )
    there = {path.relative_to(staged).as_posix() for path in staged.glob("entries/**/*") if not path.is_dir()}
    if strangers := sorted(there - {file.path for file in manifest.files}):
        raise ExportError(
            f"after the delta there is {strangers[0]!r}, which no manifest names", path=staged, hint=_FETCH
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
