"""A file of lines that only grows, each bound to the one before it: what was cut off, changed or taken out is noticed.

A line is a JSON object: the fields of whoever wrote it, `previous` (the `sha256` of the line before, "" in the first)
and `sha256` (of the line without it, keys sorted, no spaces, UTF-8). That is a checksum against accidents and careless
hands, no signature: who can write the file can also write another chain.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from pipeline.records import disk

Row = TypeVar("Row")
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


#: Of the end of a file so much is read to find its last line, and twice as much where that is longer.
_ENDING = 1 << 16
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """The end of a line in a file."""

    byte_count: int = 0
    checksum: int = 0  # CRC-32 of all bytes before it
    previous: str = ""  # the `sha256` of that line


@dataclass(frozen=True, slots=True)
class Chain:
    """What a file of chained lines says, and what is wrong with it."""

    rows: tuple[Mapping[str, Any], ...] = ()  # the fields of every line that is as it was written, in order
    broken: tuple[str, ...] = ()  # "line 3: ...", for people
    is_cut: bool = False  # the last line has no end: its writer was killed, or more than that line is gone
    end: Place = Place()  # of the last line that has one


def read(path: Path, since: Place = Place(), until: int | None = None) -> Chain:
    """The lines of the file at `path` from one place to another; none where there is no file.

    A last line without its end is none of them.

    Raises:
        OSError: the file is there and cannot be read.
    """
    try:
        with disk.opened(path) as file:
            file.seek(since.byte_count)
            body = file.read(-1 if until is None else until - since.byte_count)
    except FileNotFoundError:
        return Chain()
    return _parsed(body, since)


def has(path: Path, place: Place) -> bool:
    """Whether the file at `path` has to this place the bytes that it had."""
    found, left = 0, place.byte_count
    try:
        with disk.opened(path) as file:
            while left and (chunk := file.read(min(left, _CHUNK))):
                found, left = zlib.crc32(chunk, found), left - len(chunk)
    except OSError:
        return False
    return not left and found == place.checksum


def _parsed(body: bytes, since: Place) -> Chain:
    rows: list[Mapping[str, Any]] = []
    broken: list[str] = []
    previous = since.previous
    lines = body.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        fields = _fields(line)
        if fields is None:
            broken.append(f"line {number}: is not what was written")
            previous = _digest(line)
            continue
        if fields.pop("previous") != previous:
            broken.append(f"line {number}: does not follow the line before it")
        previous = fields.pop("sha256")
        rows.append(fields)
    whole = memoryview(body)[: len(body) - len(lines[-1])]
    end = Place(since.byte_count + len(whole), zlib.crc32(whole, since.checksum), previous)
    return Chain(tuple(rows), tuple(broken), is_cut=bool(lines[-1]), end=end)


def extend(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Nothing; `rows` then stand at the end of the file at `path`, on disk. Several processes may do so at once.

    Half a line at the end, of a process that was killed while it wrote, gives way: nobody was told that it is there.

    Raises:
        OSError: the disk does not take them; the file is as it was.
    """
    descriptor = disk.descriptor(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        whole, previous = _last(descriptor)
        added = _lines(rows, previous=previous)
        try:
            os.ftruncate(descriptor, whole)
            _write(descriptor, added, whole)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, whole)
            raise
        if not whole:
            disk.sync(path.parent)  # the file may be new: its name has to be on the disk too
    finally:
        os.close(descriptor)


def _lines(rows: Iterable[Mapping[str, Any]], *, previous: str) -> bytes:
    made = []
    for row in rows:
        fields = {**row, "previous": previous}
        previous = _digest(_ENCODER.encode(fields).encode())
        made.append(_ENCODER.encode({**fields, "sha256": previous}).encode() + b"\n")
    return b"".join(made)


def _last(descriptor: int) -> tuple[int, str]:
    """Where the last line ends that has an end, and what the next one is bound to."""
    start = os.fstat(descriptor).st_size
    body = b""
    while start and body.count(b"\n") < 2:  # one before the line, one behind it
        more = min(start, max(len(body), _ENDING))
        start -= more
        body = os.pread(descriptor, more, start) + body
    whole = body.rfind(b"\n") + 1
    if not whole:
        return 0, ""
    line = body[: whole - 1].rpartition(b"\n")[2]
    fields = _fields(line)
    return start + whole, _digest(line) if fields is None else str(fields["sha256"])


def _fields(line: bytes) -> dict[str, Any] | None:
    """The fields of a line, None if it is not what was written."""
    try:
        fields = json.loads(line)
        said = fields["sha256"]
        rest = {name: value for name, value in fields.items() if name != "sha256"}
        is_sound = isinstance(rest["previous"], str) and said == _digest(_ENCODER.encode(rest).encode())
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return fields if is_sound else None


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _write(descriptor: int, body: bytes, place: int) -> None:
    while body:
        written = os.pwrite(descriptor, body, place)
        body, place = body[written:], place + written


# ---------------------------------------------------------------- rows that lines hold


@dataclass(frozen=True, slots=True)
class Stretch(Generic[Row]):
    """Rows that lie in a file, of which nobody has read any so far."""

    count: int
    digest: str  # of all rows up to its end: see `Rows.told`
    read: Callable[[], Sequence[Row]]


class Rows(Sequence[Row]):
    """Rows that only grow, of which the first ones may lie in a file: they are read when somebody asks for them.

    Who goes on with them asks how many there are and whether they are those that it knows.
    """

    def __init__(self, rows: Iterable[Row] = (), lying: Sequence[Stretch[Row]] = ()) -> None:
        self.lying = tuple(lying)
        self._rows = tuple(rows)
        self._told = {0: ""}
        at = 0
        for one in self.lying:
            at += one.count
            self._told[at] = one.digest
        self._start = at

    def __len__(self) -> int:
        return self._start + len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            start, end, step = place.indices(len(self))
            return self._between(start, max(start, end)) if step == 1 else list(self)[place]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        (found,) = self._between(place % len(self), place % len(self) + 1)
        return found

    def __iter__(self) -> Iterator[Row]:
        return iter(self._between(0, len(self)))

    def _between(self, start: int, end: int) -> list[Row]:
        found: list[Row] = []
        at = 0
        for one in self.lying:
            if start < at + one.count and at < end:
                found += one.read()[max(start - at, 0) : end - at]
            at += one.count
        return [*found, *self._rows[max(start - at, 0) : max(end - at, 0)]]

    def told(self, count: int) -> str:
        """A digest of the first `count` rows: of each, and of the digest of those before it. So it goes on."""
        if count not in self._told:
            last = max(known for known in self._told if known < count)
            digest = self._told[last]
            for row in self._between(last, count):
                body = f"{digest}{row!r}".encode("utf-8", "surrogatepass")
                digest = hashlib.blake2b(body, digest_size=16).hexdigest()
            self._told[count] = digest
        return self._told[count]

    def first(self, count: int) -> Rows[Row]:
        """The first `count` rows."""
        lying: list[Stretch[Row]] = []
        at = 0
        for one in self.lying:
            if at + one.count > count:
                break
            lying.append(one)
            at += one.count
        return Rows(self._between(at, count), lying)

    def then(self, rows: Iterable[Row]) -> Rows[Row]:
        """The same rows, and more behind them."""
        return Rows((*self._rows, *rows), self.lying)

    def shared(self, other: Rows[Row]) -> int:
        """How many rows both have in common from the beginning."""
        at = 0
        for one, same in zip(self.lying, other.lying, strict=False):
            if (one.count, one.digest) != (same.count, same.digest):
                break
            at += one.count
        pairs = zip(self[at:], other[at:], strict=False)
        least = min(len(self), len(other)) - at
        return at + next((place for place, (row, same) in enumerate(pairs) if row != same), least)

    def each(self, change: Callable[[Row], Row]) -> Rows[Row]:
        """The same with each row changed, but for those that nobody has read."""
        return Rows(map(change, self._rows), self.lying)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)
        if self.lying or other.lying:
            return len(self) == len(other) and self.told(len(self)) == other.told(len(other))
        return self._rows == other._rows

    __hash__ = None  # type: ignore[assignment]
