"""What turns an older bundle into a newer one, and the turning, checked to the byte."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.export import content
from pipeline.export.placing import finish, publish
from pipeline.export.reading import entries_of, opened, read_file, read_manifest, read_registry
from pipeline.export.writing import passed_on, told_beside
from pipeline.records import disk, leaves
from pipeline.records.bundle import BUNDLE_VERSION, Delta, Manifest, bundle_id, parsed
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError
from pipeline.records.kept import MANIFEST
from pipeline.records.leaves import page_path

#: Made again of the entries when a delta is applied: their bytes need not travel.
_REMADE = frozenset({leaves.LINES, leaves.TABLE})
#: Made again as well, because programs take orders from them: no delta from elsewhere brings words of its own.
_TOLD = re.compile(r"llms\.txt|schemas/[a-z0-9.-]{1,60}\.json")
#: Pages of entries.
_PAGE = re.compile(r"entries/([a-z0-9][a-z0-9_-]{0,60}/[a-z0-9][a-z0-9._-]{0,200})\.json")
#: Files of leaves, and what they have in common.
_LEAF = re.compile(rf"{leaves.FOLDER}/(?:[0-9a-f]{{1,16}}/(?:{'|'.join(map(re.escape, leaves.NAMES))})|index\.json)")
_FETCH = "Fetch the delta anew from where the bundle comes from, or the whole new bundle."


@dataclass(frozen=True, slots=True)
class Before:
    """A bundle, as far as it has to be known to tell what changed since."""

    manifest: Manifest
    digests: Mapping[str, str]  # entry id -> sha256 of its page, or of its line in a bundle without pages
    has_pages: bool

    @classmethod
    def read(cls, folder: Path) -> Before:
        """The bundle in `folder`. Of one with pages the manifest is enough; of any other the lines are read."""
        manifest = read_manifest(folder)
        if pages := _pages(manifest):
            return cls(manifest, pages, has_pages=True)
        has_entries = any(leaf.entries for leaf in manifest.leaves)
        return cls(manifest, dict(_digests(folder, of_pages=False)) if has_entries else {}, has_pages=False)


def delta(older: Path, newer: Path) -> Delta:
    """What turns the bundle in `older` into the one in `newer`."""
    return delta_since(Before.read(older), newer)


def delta_since(before: Before, newer: Path) -> Delta:
    """What turns the bundle `before` into the one in `newer`.

    Entries travel as pages, also where neither bundle has any; index and registry by the leaf.
    """
    after = read_manifest(newer)
    old_files = {file.path: file.sha256 for file in before.manifest.files}
    new_files = {file.path: file.sha256 for file in after.files}
    digests = (_pages(after) if before.has_pages else {}) or dict(_digests(newer, of_pages=before.has_pages))
    added = sorted(digests.keys() - before.digests.keys())
    changed = sorted(name for name in digests.keys() & before.digests.keys() if digests[name] != before.digests[name])
    removed = sorted(before.digests.keys() - digests.keys())
    differing = {path for path, digest in new_files.items() if old_files.get(path) != digest}
    sides = (path for path in _travelling(differing) if not _PAGE.fullmatch(path))
    texts = {path: read_file(newer, path).decode() for path in sides}
    texts |= {page_path(name): _page(newer, name) for name in (*added, *changed)}
    aliases = read_registry(newer).aliases
    return Delta(
        from_bundle=before.manifest.bundle_id,
        to_bundle=after.bundle_id,
        added=added,
        changed=changed,
        removed=removed,
        aliased={name: aliases[name] for name in removed if name in aliases},
        files=dict(sorted({**texts, MANIFEST: (newer / MANIFEST).read_text(encoding="utf-8")}.items())),
        deleted_files=sorted(set(old_files) - set(new_files)),
    )


def _pages(manifest: Manifest) -> dict[str, str]:
    """Entry id -> sha256 of its page; of a bundle without entries or pages nothing."""
    found = ((_PAGE.fullmatch(file.path), file.sha256) for file in manifest.files)
    return {page[1]: digest for page, digest in found if page}


def _digests(folder: Path, *, of_pages: bool) -> Iterator[tuple[str, str]]:
    """(id, sha256) of every entry of a bundle without pages: of its line, or of the page that it would have."""
    for path in opened(folder).paths(leaves.LINES):
        for line in read_file(folder, path).splitlines():
            fields = json.loads(line)
            body = content.page(fields).encode() if of_pages else line
            yield fields["id"], hashlib.sha256(body).hexdigest()


def _page(folder: Path, entry_id: str) -> str:
    """The page of an entry, which the bundle has or could have."""
    there = opened(folder)
    if page_path(entry_id) in there.listing.sums:
        return read_file(folder, page_path(entry_id)).decode()
    read_file(folder, there.path_of(entry_id))
    return content.page(json.loads(there.entry(entry_id) or b"{}"))


def read_delta(path: Path) -> Delta:
    """The delta that a file holds."""
    try:
        return parsed(disk.body(path, pipes=True), Delta)
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
    if change.bundle_version != BUNDLE_VERSION:
        told = f"the delta was made for bundles {change.bundle_version}, and this errmine makes {BUNDLE_VERSION}"
        hint = f"Apply it with the errmine that made it, or fetch the whole new bundle: bundles of {BUNDLE_VERSION}"
        raise ExportError(told, path=folder, hint=f"{hint} take deltas from bundles of before.")
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
    publish(into, lambda staged: _Applying(staged, folder, change).fill())


def _check_paths(folder: Path, change: Delta) -> None:
    """Nothing, or an error: the delta brings what its own manifest names, and nothing beside it."""
    if MANIFEST not in change.files:
        raise ExportError("the delta brings no manifest", path=folder, hint=_FETCH)
    named = {file.path for file in _new_manifest(change, folder).files}
    for path in (*named, *change.files):
        _inside(folder, path)
    # of a bundle without pages the entries travel as such all the same
    entries = set() if any(map(_PAGE.fullmatch, named)) else set(map(page_path, (*change.added, *change.changed)))
    strangers = sorted(set(change.files) - named - entries - {MANIFEST})
    if strangers:
        told = ", ".join(map(repr, strangers[:3]))
        raise ExportError(f"the delta brings files that its manifest does not name: {told}", path=folder, hint=_FETCH)


def _new_manifest(change: Delta, folder: Path) -> Manifest:
    try:
        return parsed(change.files[MANIFEST], Manifest)
    except ValueError as error:
        raise ExportError(f"the manifest that the delta brings: {error}", path=folder, hint=_FETCH) from error


class _Applying:
    """The newer bundle that is made of the older one and what the delta brings, leaf by leaf."""

    def __init__(self, staged: Path, folder: Path, change: Delta) -> None:
        self._staged, self._folder, self._change = staged, folder, change
        self._manifest = _new_manifest(change, staged)
        self._named = {file.path: file.sha256 for file in self._manifest.files}
        self._old = opened(folder)
        self._brought = dict(_brought(staged, change))
        self._dropped = {*change.removed, *self._brought}

    def fill(self) -> None:
        """Nothing; the newer bundle stands in `staged`, and is what its manifest says."""
        prefixes = leaves.prefixes(self._named)
        for prefix in prefixes:
            self._lines(prefix)
        for path in sorted(_travelling(self._named)):
            page = _PAGE.fullmatch(path)
            if path in self._change.files:
                self._put(path, self._change.files[path].encode())
            elif path in self._old.listing.sums:
                self._put(path, self._read(path))
            elif page and (line := self._old.entry(page[1])):
                self._put(path, content.page(json.loads(line)).encode())
        for path, body in told_beside(self._manifest.answers, prefixes).items():
            if path in self._named:  # a bundle of before has neither
                self._put(path, body)
        # last, as in a bundle that is written: one that has a manifest is whole
        self._put(MANIFEST, self._change.files[MANIFEST].encode())
        _check(self._staged, self._change)

    def _lines(self, prefix: str) -> None:
        """Nothing; the lines and the table of a leaf stand there: those of before, if they are the same."""
        paths = [leaves.path(prefix, name) for name in (leaves.LINES, leaves.TABLE)]
        if all(self._old.listing.sums.get(path) == self._named.get(path, "") for path in paths):
            for path in paths:
                self._put(path, self._read(path))
            return
        lines = {**self._left(prefix), **{name: line for name, line in self._brought.items() if _is_in(name, prefix)}}
        ordered = [lines[name] for name in sorted(lines)]
        entries = entries_of(self._staged / paths[0], ordered)
        fields = list(map(content.fields_of, entries))
        self._put(paths[0], b"".join(ordered))
        self._put(paths[1], content.parquet(fields, [line.decode() for line in ordered]))

    def _left(self, prefix: str) -> dict[str, bytes]:
        """The lines of before, by id, that stay and belong to the leaf."""
        found: dict[str, bytes] = {}
        for old in self._old.prefixes:
            path = leaves.path(old, leaves.LINES)
            if (old.startswith(prefix) or prefix.startswith(old)) and path in self._old.listing.sums:
                for line in self._read(path).splitlines(keepends=True):
                    name = str(json.loads(line)["id"])
                    if name not in self._dropped and _is_in(name, prefix):
                        found[name] = line
        return found

    def _read(self, path: str) -> bytes:
        return read_file(_unlinked(self._folder, path), path)

    def _put(self, path: str, body: bytes) -> None:
        place = _inside(self._staged, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)


def _is_in(name: str, prefix: str) -> bool:
    return leaves.place_of(name).startswith(prefix)


def _brought(staged: Path, change: Delta) -> Iterator[tuple[str, bytes]]:
    """(id, line) of every entry that the delta brings.

    Raises:
        ExportError: one is not what it is called, or errmine would not publish it.
    """
    found: dict[str, bytes] = {}
    for path, text in change.files.items():
        if not (page := _PAGE.fullmatch(path)):
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ExportError(f"{path}: {error}", path=staged / path, hint=_FETCH) from error
        if not isinstance(value, dict) or value.get("id") != page[1]:
            raise ExportError(f"{path} is not the entry that it is called", path=staged / path, hint=_FETCH)
        found[page[1]] = content.line(value).encode()
    _ask(staged, entries_of(staged / leaves.LINES, list(found.values())))
    yield from found.items()


def _travelling(paths: Iterable[str]) -> set[str]:
    """Those of the paths whose bytes a delta brings; the manifest, which it always brings, apart."""
    return {
        path
        for path in paths
        if path.rpartition("/")[2] not in _REMADE and path != MANIFEST and not _TOLD.fullmatch(path)
    }


def _inside(folder: Path, path: str) -> Path:
    """The place of `path` in `folder`; a delta or a bundle from elsewhere must not lead outside."""
    if path not in leaves.BUNDLE_NAMES and not any(form.fullmatch(path) for form in (_PAGE, _LEAF, _TOLD)):
        raise ExportError(f"the delta names a path outside the bundle: {path!r}", path=folder, hint=_FETCH)
    return folder / path


def _unlinked(folder: Path, path: str) -> Path:
    """The folder of the older bundle, where no link leads from `path` elsewhere."""
    place = _inside(folder, path)
    if place.resolve() != folder.resolve() / path:
        raise ExportError(f"{place} is a link: a bundle has none", path=place, hint=_FETCH)
    return folder


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
    inside = (path for name in ("entries", leaves.FOLDER) for path in staged.glob(f"{name}/**/*"))
    there = {path.relative_to(staged).as_posix() for path in inside if not path.is_dir()}
    if strangers := sorted(there - {file.path for file in manifest.files}):
        raise ExportError(
            f"after the delta there is {strangers[0]!r}, which no manifest names", path=staged, hint=_FETCH
        )
    if bundle_id(manifest.files) != change.to_bundle:
        raise ExportError("the delta does not lead to the bundle that it names", path=staged)
