"""The words of entries on the disk, each found by its cluster: a build holds those of one entry at a time.

A file of them is one record after the other: how long it is, and the packed text. Nothing but the file itself is needed
to find them again; who keeps it knows their order.
"""

from __future__ import annotations

import hashlib
import os
import struct
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa

from pipeline.records.errors import StoreError

_LENGTH = struct.Struct("<I")
_LENGTH_BITS = 32
_CODEC = "zstd"
_ADVICE = "Check free space and rights of the folder, then run `errmine build` again."


def packed(text: str) -> bytes:
    """`text` as a record holds it."""
    body = text.encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(body)) + bytes(pa.compress(body, codec=_CODEC, asbytes=True))


def unpacked(body: bytes) -> str:
    """The text of a record."""
    (length,) = _LENGTH.unpack_from(body)
    found = pa.decompress(body[_LENGTH.size :], decompressed_size=length, codec=_CODEC, asbytes=True)
    return str(found, "utf-8", "surrogatepass")


def _packed_place(start: int, length: int) -> int:
    return start << _LENGTH_BITS | length


class Place(NamedTuple):
    """Where a record is."""

    path: Path
    start: int
    length: int

    def read(self) -> bytes:
        """The record."""
        with self.path.open("rb") as file:
            return os.pread(file.fileno(), self.length, self.start)


class Texts(Mapping[str, bytes]):
    """Records of texts by key, in a file; of those that it lacks, the ones of `older`."""

    def __init__(self, path: Path, older: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self._path = path
        self._older = older
        self._places: dict[str, int] = {}  # where the record begins, and in the last bits its length: one number each
        self._end = 0
        self._descriptor: int | None = None

    @classmethod
    def of(cls, path: Path, keys: Sequence[str]) -> Texts:
        """Those of a file that holds the records of `keys` in this order.

        Raises:
            ValueError: it holds others.
        """
        made = cls(path)
        size = path.stat().st_size
        with path.open("rb") as file:
            for key in keys:
                (length,) = _LENGTH.unpack(file.read(_LENGTH.size).ljust(_LENGTH.size, b"\0"))
                made._places[key] = _packed_place(made._end + _LENGTH.size, length)
                made._end += _LENGTH.size + length
                file.seek(made._end)
        if made._end != size:
            raise ValueError(f"{path} does not hold {len(keys)} texts")
        return made

    def add(self, key: str, body: bytes) -> None:
        """Nothing; there is the record `body` of `key`, in the place of any that there was.

        Raises:
            StoreError: the disk refuses.
        """
        try:
            if self._descriptor is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._open(os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            assert self._descriptor is not None
            left = memoryview(body)
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}", path=self._path, hint=_ADVICE) from error
        self._places[key] = _packed_place(self._end, len(body))
        self._end += len(body)

    def _open(self, flags: int) -> None:
        """Nothing; the file is open, as long as somebody asks for its texts."""
        self._descriptor = os.open(self._path, flags, 0o666)
        weakref.finalize(self, os.close, self._descriptor)

    def __getitem__(self, key: str) -> bytes:
        if key not in self._places:
            return self._older[key]
        if self._descriptor is None:
            self._open(os.O_RDONLY)
        assert self._descriptor is not None
        start, length = self._place(key)
        return os.pread(self._descriptor, length, start)

    def _place(self, key: str) -> tuple[int, int]:
        return self._places[key] >> _LENGTH_BITS, self._places[key] & (1 << _LENGTH_BITS) - 1

    def place(self, key: str) -> Place | None:
        """Where the record of `key` is, for other processes; None if it is not in the file."""
        return Place(self._path, *self._place(key)) if key in self._places else None

    def __iter__(self) -> Iterator[str]:
        yield from {**dict.fromkeys(self._older), **self._places}

    def __len__(self) -> int:
        return sum(1 for _ in self)


def write(path: Path, keys: Sequence[str], texts: Mapping[str, bytes]) -> dict[str, object]:
    """What a list says of the file at `path`, which holds the records of `keys` then; after a kill, what it held.

    Raises:
        OSError: the disk refuses.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    digest, length = hashlib.sha256(), 0
    try:
        with staged.open("wb") as file:
            for key in keys:
                body = texts[key]
                for piece in (_LENGTH.pack(len(body)), body):
                    digest.update(piece)
                    length += file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError:
        with suppress(OSError):
            staged.unlink(missing_ok=True)
        raise
    return {"bytes": length, "path": path.name, "sha256": digest.hexdigest()}
