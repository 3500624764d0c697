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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.records import disk

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class Chain:
    """What a file of chained lines says, and what is wrong with it."""

    rows: tuple[Mapping[str, Any], ...] = ()  # the fields of every line that is as it was written, in order
    broken: tuple[str, ...] = ()  # "line 3: ...", for people
    is_cut: bool = False  # the last line has no end: its writer was killed, or more than that line is gone


def read(path: Path) -> Chain:
    """The lines of the file at `path`; none where there is no file. A last line without its end is none of them.

    Raises:
        OSError: the file is there and cannot be read.
    """
    try:
        body = disk.body(path)
    except FileNotFoundError:
        return Chain()
    return _parsed(body)


def _parsed(body: bytes) -> Chain:
    rows: list[Mapping[str, Any]] = []
    broken: list[str] = []
    previous = ""
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
    return Chain(tuple(rows), tuple(broken), is_cut=bool(lines[-1]))


def extend(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Nothing; `rows` then stand at the end of the file at `path`, on disk. Several processes may do so at once.

    Half a line at the end, of a process that was killed while it wrote, gives way: nobody was told that it is there.

    Raises:
        OSError: the disk does not take them; the file is as it was.
    """
    descriptor = disk.descriptor(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            body = file.read()
        whole = body.rfind(b"\n") + 1
        added = _lines(rows, previous=_last(body[:whole]))
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


def _last(body: bytes) -> str:
    """What the next line is bound to."""
    if not body:
        return ""
    line = body[:-1].rpartition(b"\n")[2]
    fields = _fields(line)
    return _digest(line) if fields is None else str(fields["sha256"])


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
