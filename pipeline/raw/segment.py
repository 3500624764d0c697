"""Segments of the raw layer: zip archives that any unzip program opens, and the index that names them all.

A segment has a list of its pages at its end. The index is a file of chained lines (`records.chained`), one a change::

    {"change": "added", "segment": "<sha256>.zip", "bytes": 812, "pages": 3}    written by this layer
    {"change": "found", ...}               lay there whole and unnamed: copied there, or its writer was killed
    {"change": "replaced", "segment": ..., "by": "<sha256>.zip"}    rewritten without a document that was forgotten
    {"change": "lost", "segment": ...}     is gone or damaged, and a person said to go on without it
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from io import BufferedRandom
from pathlib import Path
from typing import Any

from pipeline.records import PageRef, RawPage, chained, disk
from pipeline.records.errors import RawError
from pipeline.records.kept import Seen

INDEX = "pages.jsonl"
# Level 3 packs 106 MB of threads in 1.4 s to 45 MB; level 6 needs 2.0 s for 43 MB.
COMPRESSION_LEVEL = 3
# A zip's local header without extra fields; the deflated body begins after it and the name.
_LOCAL_HEADER_BYTES = 30
_EPOCH = (1980, 1, 1, 0, 0, 0)  # same pages, same bytes, on any day
_FIELDS = (
    "sha256",
    "source",
    "url",
    "form",
    "document_key",
    "part",
    "version_at",
    "fetched_at",
    "etag",
    "offset",
    "length",
    "size",
)


def segment_fields() -> tuple[str, ...]:
    """The keys of one line of the index, in their order."""
    return _FIELDS


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Nothing; what the disk refuses inside the context is an error that says what to do."""
    try:
        yield
    except OSError as error:
        message = f"cannot write to {folder}: {error.strerror or error}"
        hint = "Check free space and rights of the folder, then run the command again: what was finished is kept."
        raise RawError(message, path=folder, hint=hint) from error


@dataclass(frozen=True, slots=True)
class Listed:
    """A segment as the index names it; its sha256 is its name."""

    name: str
    bytes: int
    pages: int


@dataclass(frozen=True, slots=True)
class Stock:
    """The segments that are there against those that the index names."""

    segments: int  # named, there, and as named
    is_indexed: bool = True  # False: pages are there and no index; raw was made by an errmine that kept none
    unnamed: tuple[Listed, ...] = ()  # whole, and in no line of the index
    missing: tuple[Listed, ...] = ()
    changed: tuple[str, ...] = ()  # names of files whose bytes are not the ones that their name promises
    broken: tuple[str, ...] = ()  # lines of the index that are not what was written
    is_cut: bool = False  # its last line has no end; the next line gets the place

    @property
    def losses(self) -> tuple[str, ...]:
        """What is lost or damaged, one sentence a segment."""
        gone = (f"segments/{one.name} is missing ({one.pages:,} pages)" for one in self.missing)
        return (*gone, *(f"segments/{name} is damaged: its bytes are not its name's" for name in self.changed))


class SegmentIndex:
    """The index of the segments in one raw folder, which it only ever adds lines to."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "index.jsonl"
        self._segments = folder / "segments"

    def add(self, *lines: Mapping[str, Any]) -> None:
        """Nothing; the lines are on disk then."""
        if lines:
            chained.extend(self.path, lines)

    def remake(self) -> None:
        """Nothing; the lines that are as they were written make an index of their own, with what they do not name."""
        lines = (*self._chain().rows, *(line("found", one) for one in self.unnamed()))
        new, old = (self.path.with_name(f"{self.path.name}.{end}") for end in ("new", "damaged"))
        new.unlink(missing_ok=True)
        chained.extend(new, lines)
        old.write_bytes(disk.body(self.path))
        new.replace(self.path)

    def stock(self, seen: Seen | None = None) -> Stock:
        """What is there against what is named; every segment is read and hashed that `seen` does not know as whole."""
        found = self._stock(seen)
        # a document that is forgotten meanwhile has its segments rewritten: a second look sees them named anew
        return self._stock(seen) if found.losses else found

    def unnamed(self) -> tuple[Listed, ...]:
        """The whole segments that no line names."""
        named, replaced = self._named()
        known = named.keys() | replaced.keys()
        return tuple(_listed(path) for path in self.files() if path.name not in known and is_whole(path))

    def leftovers(self) -> list[Path]:
        """Segments that were rewritten and whose writer was killed before it could take them away."""
        there = {path.name: path for path in self.files()}
        _, replaced = self._named()
        return [there[old] for old, new in replaced.items() if old in there and (not new or new in there)]

    def _stock(self, seen: Seen | None) -> Stock:
        chain = self._chain()
        named, replaced = _state(chain.rows)
        whole: list[str] = []
        changed: list[str] = []
        there = {path.name: path for path in self.files() if path.name not in replaced}
        for name, path in there.items():
            (whole if _is_whole_still(path, seen) else changed).append(name)
        return Stock(
            segments=len(named.keys() & set(whole)),
            is_indexed=self.path.exists() or not there,
            unnamed=tuple(_listed(there[name]) for name in whole if name not in named),
            missing=tuple(one for name, one in sorted(named.items()) if name not in there),
            changed=tuple(changed),
            broken=chain.broken,
            is_cut=chain.is_cut,
        )

    def files(self) -> list[Path]:
        """The segments that are there, by name."""
        return sorted(self._segments.glob("[0-9a-f]*.zip"))

    def page_counts(self) -> dict[str, int]:
        """How many pages each segment that is there has, by its name."""
        named, _ = self._named()
        return {path.name: (named.get(path.name) or _listed(path)).pages for path in self.files()}

    def _named(self) -> tuple[dict[str, Listed], dict[str, str]]:
        return _state(self._chain().rows)

    def _chain(self) -> chained.Chain:
        try:
            return chained.read(self.path)
        except OSError as error:
            raise RawError(f"{self.path}: cannot be read: {error.strerror}", path=self.path) from error


def _state(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Listed], dict[str, str]]:
    """The segments that have to be there, and those that were rewritten: old name -> new name, or "" for none."""
    named: dict[str, Listed] = {}
    replaced: dict[str, str] = {}
    for row in rows:
        name = str(row.get("segment"))
        if row.get("change") in {"added", "found"}:
            named[name] = Listed(name, int(row.get("bytes", 0)), int(row.get("pages", 0)))
            replaced.pop(name, None)
        else:
            named.pop(name, None)
        if row.get("change") == "replaced":
            replaced[name] = str(row.get("by", ""))
    return named, replaced


def line(change: str, one: Listed) -> dict[str, Any]:
    """A line of the index about a segment that is there."""
    return {"change": change, "segment": one.name, "bytes": one.bytes, "pages": one.pages}


def is_whole(path: Path) -> bool:
    """True if the bytes of a segment are the ones that its name promises."""
    try:
        with disk.opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == path.stem
    except FileNotFoundError:
        return False
    except OSError as error:
        raise RawError(f"{path}: cannot be read: {error.strerror}", path=path) from error


def _is_whole_still(path: Path, seen: Seen | None) -> bool:
    """As `is_whole`; a segment that was whole, and that nothing has touched since, is not read again."""
    if seen is None:
        return is_whole(path)
    if seen.is_whole(path):
        return True
    found = is_whole(path)
    if found:
        seen.note(path)
    return found


def _listed(path: Path) -> Listed:
    return Listed(path.name, path.stat().st_size, len(index_rows(path)))


class SegmentWriter:
    """Writes pages into a temporary file; `finish` gives it its name for good, `discard` removes it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary: Path | None = None
        self._file: BufferedRandom | None = None
        self._archive: zipfile.ZipFile | None = None
        self._places: dict[str, tuple[int, int, int]] = {}
        self._rows: list[str] = []
        self.size = 0  # bytes of bodies taken

    @property
    def pages(self) -> int:
        """The number of pages taken since the last `finish`."""
        return len(self._rows)

    def add(self, page: RawPage) -> None:
        """Takes one page; a body that came before is not written twice."""
        archive = self._archive or self._open()
        place = self._places.get(page.sha256)
        if place is None:
            member = _member(page.sha256)
            archive.writestr(member, page.body, compresslevel=COMPRESSION_LEVEL)
            offset = member.header_offset + _LOCAL_HEADER_BYTES + len(member.filename)
            place = self._places[page.sha256] = (offset, member.compress_size, len(page.body))
            self.size += len(page.body)
        self._rows.append(json.dumps(_row(page, place), ensure_ascii=False))

    def finish(self) -> Listed | None:
        """The segment of the pages taken so far, durable under its name; the next page begins another one."""
        if self._archive is None or self._file is None or self._temporary is None:
            return None
        self._archive.writestr(_member(INDEX), "\n".join(self._rows) + "\n", compresslevel=COMPRESSION_LEVEL)
        self._archive.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.seek(0)
        name = f"{hashlib.file_digest(self._file, 'sha256').hexdigest()}.zip"
        made = Listed(name, os.fstat(self._file.fileno()).st_size, self.pages)
        self._file.close()
        self._temporary.rename(self._folder / name)
        disk.sync(self._folder)
        self._archive = self._file = self._temporary = None
        self._forget()
        return made

    def discard(self) -> None:
        """Removes what was not finished."""
        temporary = self._temporary
        self._close()
        if temporary is not None:
            temporary.unlink(missing_ok=True)

    def _close(self) -> None:
        """Lets go of the temporary file, which stays where it is."""
        for open_file in (self._archive, self._file):
            with suppress(OSError, ValueError):  # a full disk; what is in it is thrown away
                if open_file is not None:
                    open_file.close()
        self._archive = self._file = self._temporary = None
        self._forget()

    def _forget(self) -> None:
        self._rows, self._places, self.size = [], {}, 0

    def _open(self) -> zipfile.ZipFile:
        self._temporary = self._folder / f".{os.getpid()}-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "w+b")
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)
        return self._archive


def index_rows(path: Path) -> list[dict[str, object]]:
    """The lines of a segment's index."""
    try:
        with disk.opened(path) as file, zipfile.ZipFile(file) as archive:
            return [json.loads(line) for line in archive.read(INDEX).decode("utf-8").splitlines()]
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError) as error:
        raise RawError(f"{path}: the segment is damaged: {error}", path=path) from error
    except OSError as error:
        raise RawError(f"{path}: cannot be read: {error.strerror}", path=path) from error


def ref_of(row: dict[str, object], path: Path) -> PageRef:
    """The reference that one line of a segment's index stands for."""
    try:
        values = {name: row[name] for name in segment_fields()}
        fetched = values["fetched_at"]
        values["fetched_at"] = datetime.fromisoformat(fetched) if isinstance(fetched, str) else None
        return PageRef(segment=path.name, **values)  # type: ignore[arg-type]
    except (KeyError, ValueError) as error:
        raise RawError(f"{path}: its index has a line of another form: {error}", path=path) from error


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = 3  # the same bytes on every system
    member.external_attr = 0o600 << 16
    return member


def _row(page: RawPage, place: tuple[int, int, int]) -> dict[str, object]:
    values = {name: getattr(page, name) for name in _FIELDS[:9]}
    values["fetched_at"] = page.fetched_at.isoformat() if page.fetched_at else None
    return values | {"offset": place[0], "length": place[1], "size": place[2]}
