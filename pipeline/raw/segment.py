"""One segment of the raw layer: a zip archive that any unzip program opens, with an index of provenance at its end."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

from pipeline.records import RawPage
from pipeline.records.errors import RawError

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

    def finish(self) -> None:
        """Makes the pages taken so far durable under the segment's name; the next page begins a new segment."""
        if self._archive is None or self._file is None or self._temporary is None:
            return
        self._archive.writestr(_member(INDEX), "\n".join(self._rows) + "\n", compresslevel=COMPRESSION_LEVEL)
        self._archive.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.seek(0)
        name = hashlib.file_digest(self._file, "sha256").hexdigest()
        self._file.close()
        self._temporary.rename(self._folder / f"{name}.zip")
        sync_folder(self._folder)
        self._archive = self._file = self._temporary = None
        self._forget()

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
        with zipfile.ZipFile(path) as archive:
            return [json.loads(line) for line in archive.read(INDEX).decode("utf-8").splitlines()]
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError) as error:
        raise RawError(f"{path}: the segment is damaged: {error}", path=path) from error
    except OSError as error:
        raise RawError(f"{path}: cannot be read: {error.strerror}", path=path) from error


def sync_folder(folder: Path) -> None:
    """Returns once the names in `folder` are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
