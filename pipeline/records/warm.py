"""What a process makes of the package's own tables and expressions, kept for the next one.

A command that has fifty documents to read spends most of its time on reading TOML and compiling expressions: Python's
readers of both are written in Python. What they give is kept in `$XDG_CACHE_HOME/errmine/warm`, by the hash of what it
was made of, so it is never old. Nothing of a document is kept here, where nobody would forget it.

The file is taken only if nobody but this user can have written it, for an expression is kept as the code that `re`
runs; each piece has a checksum. Where there is no such file, or none can be written, all is made as ever.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]
import functools
import hashlib
import json
import mmap
import os
import re
import stat
import struct
import sys
import tempfile
import tomllib
from array import array
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any, AnyStr, Final

#: First bytes of the file: its form.
_FORM = b"errmine warm 2\n"
_HEAD = struct.Struct("<15sI16s")  # form, how many pieces, digest of their rows
_ROW = struct.Struct("<16sQI8s")  # key, where it begins, how long it is, digest of it
#: More is begun anew: all that ships is a tenth of it. Releases and packs that are gone leave their pieces behind.
_MOST_BYTES = 64 << 20
#: Shorter text is read as fast as it is found.
_SHORTEST_TABLE = 1_000
#: Releases of Python whose way from an expression to its code is that of `pattern`; others compile as ever.
_RELEASES: Final = ((3, 11), (3, 12), (3, 13))
_IS_KNOWN = sys.version_info[:2] in _RELEASES and array("I").itemsize == _sre.CODESIZE
_CODE = "I"  # of an expression: numbers of four bytes
#: What decides it besides the expression.
_PYTHON = f"{sys.version} {_sre.MAGIC} {_sre.CODESIZE}"


def table(text: str) -> dict[str, Any]:
    """The table that `text`, TOML of the package, is.

    Raises:
        tomllib.TOMLDecodeError: it is no TOML.
    """
    if len(text) < _SHORTEST_TABLE:
        return tomllib.loads(text)
    key = _key("toml", text.encode())
    if (body := _pieces().get(key)) is not None:
        found: dict[str, Any] = json.loads(body)
        return found
    made = tomllib.loads(text)
    with suppress(TypeError):  # a date, which JSON lacks
        _made()[key] = json.dumps(made, ensure_ascii=False).encode()
    return made


def pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression, one of the package, compiled.

    Raises:
        re.error: it is none.
    """
    if not _IS_KNOWN:
        return re.compile(expression, flags)
    flags = int(flags)
    written = expression.encode("utf-8", "surrogatepass") if isinstance(expression, str) else expression
    key = _key(f"{_PYTHON} {type(expression).__name__} {flags}", written)
    if (body := _pieces().get(key)) is not None:
        told, _, written = body.partition(b"\n")
        all_flags, groups, places = json.loads(told)
        code = array(_CODE, written).tolist()
    else:
        parsed = _parser.parse(expression, flags)
        state, code = parsed.state, _compiler._code(parsed, flags)
        all_flags, groups, places = flags | state.flags, state.groups, state.groupdict
        told = json.dumps((all_flags, groups, places), separators=(",", ":")).encode()
        _made()[key] = told + b"\n" + array(_CODE, code).tobytes()
    names: list[str | None] = [None] * groups
    for name, place in places.items():
        names[place] = name
    return _sre.compile(expression, all_flags, code, groups - 1, places, tuple(names))  # type: ignore[no-any-return]


def keep() -> None:
    """Nothing; what this process made is there for the next one, where the disk takes it."""
    if not (new := _made()):
        return
    with suppress(OSError, RuntimeError):
        path = _path()
        there = _pieces()
        old = {key: body for key in there if (body := there.get(key)) is not None}
        pieces = {**old, **new} if sum(map(len, old.values())) < _MOST_BYTES else new
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(path, pieces)
        new.clear()


class _Pieces(Mapping[bytes, bytes]):
    """The pieces of a file by key; one that is not what was written is none of them."""

    def __init__(self, body: bytes | mmap.mmap) -> None:
        self._body = body
        self._rows: dict[bytes, tuple[int, int, bytes]] = {}
        form, count, digest = _HEAD.unpack_from(body) if len(body) >= _HEAD.size else (b"", 0, b"")
        rows = bytes(body[_HEAD.size : _HEAD.size + count * _ROW.size])
        if form == _FORM and digest == hashlib.blake2b(rows, digest_size=16).digest():
            self._rows = {key: (start, length, told) for key, start, length, told in _ROW.iter_unpack(rows)}

    def __getitem__(self, key: bytes) -> bytes:
        start, length, told = self._rows[key]
        body = self._body[start : start + length]
        if hashlib.blake2b(body, digest_size=8).digest() != told:
            raise KeyError(key)
        return body

    def __iter__(self) -> Any:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _key(kind: str, written: bytes) -> bytes:
    digest = hashlib.blake2b(f"{kind}\x1e".encode(), digest_size=16)
    digest.update(written)
    return digest.digest()


@functools.cache
def _made() -> dict[bytes, bytes]:
    """What this process made and the file lacks."""
    return {}


@functools.cache
def _pieces() -> _Pieces:
    """What others left."""
    with suppress(OSError, ValueError, RuntimeError):  # an empty file cannot be mapped; a user may have no home
        descriptor = os.open(_path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            is_ours = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if stat.S_ISREG(found.st_mode) and is_ours:
                return _Pieces(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
        finally:
            os.close(descriptor)
    return _Pieces(b"")


def _path() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "errmine" / "warm"


def _write(path: Path, pieces: Mapping[bytes, bytes]) -> None:
    start = _HEAD.size + len(pieces) * _ROW.size
    rows = bytearray()
    for key, body in pieces.items():
        rows += _ROW.pack(key, start, len(body), hashlib.blake2b(body, digest_size=8).digest())
        start += len(body)
    head = _HEAD.pack(_FORM, len(pieces), hashlib.blake2b(rows, digest_size=16).digest())
    descriptor, name = tempfile.mkstemp(prefix=".warm-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines((head, rows, *pieces.values()))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
