"""Paths as people name them: what DuckDB makes of them, and opening what stands there.

DuckDB takes the path of a file for more than its name: what is behind a question mark for options, a backslash for a
slash, and in the files of a question `*`, `?` and `[` for patterns, which other folders may fit as well.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from pipeline.records.errors import StoreError

#: What no escape helps against: the log of a new database would lie in another folder, or the database would.
_UNFIT = {"?": "a question mark", "\\": "a backslash", "\0": "a NUL"}
_PATTERN = frozenset("*?[")


def unfit(path: Path) -> str:
    """Why no database can be at `path`, in words that go behind "its path has"; "" where one can."""
    if "\0" in str(path):
        return _UNFIT["\0"]
    for whole in (os.path.abspath(path), os.path.realpath(path)):  # DuckDB follows links before it looks
        try:
            whole.encode()
        except UnicodeEncodeError:
            return "bytes that are no UTF-8"
        for sign, told in _UNFIT.items():
            if sign in whole:
                return told
    return ""


def literal(paths: Iterable[str]) -> list[str]:
    """The paths for `read_parquet`, which takes them for patterns: each fits itself alone."""
    return ["".join(f"[{sign}]" if sign in _PATTERN else sign for sign in path) for path in paths]


# Opening: a named pipe in the place of a file makes who opens it wait for ever, and a device never ends.


def descriptor(path: Path, flags: int, *, mode: int = 0o600, pipes: bool = False) -> int:
    """The file at `path`, opened with the flags of `os.open`; with `pipes` what a shell's `<(...)` gives is one too.

    Raises:
        OSError: it is missing, may not be opened, or is a folder, a pipe or a device.
    """
    kind = 0 if pipes else os.O_NONBLOCK
    if pipes and not (stat.S_ISREG(found := path.stat().st_mode) or stat.S_ISFIFO(found)):
        raise _no_file(path, found)
    opened = os.open(path, flags | kind | os.O_CLOEXEC, mode)
    found = os.fstat(opened).st_mode
    if stat.S_ISREG(found) or (pipes and stat.S_ISFIFO(found)):
        return opened
    os.close(opened)
    raise _no_file(path, found)


def opened(path: Path, *, pipes: bool = False) -> io.BufferedReader:
    """The file at `path` to read; raises as `descriptor` does."""
    return os.fdopen(descriptor(path, os.O_RDONLY, pipes=pipes), "rb")


def body(path: Path, *, pipes: bool = False) -> bytes:
    """The bytes of the file at `path`; raises as `descriptor` does."""
    with opened(path, pipes=pipes) as file:
        return file.read()


def clear(path: Path) -> None:
    """Nothing; no file, link, pipe or device is at `path`. A folder stays, with all that somebody put into it.

    Raises:
        StoreError: a folder is there, or the disk refuses.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        if path.is_dir() and not path.is_symlink():
            message = f"{path}: a folder is where a file of errmine's should be"
            hint = "Move the folder away, then run the same command again."
        else:
            message, hint = f"{path}: cannot be removed: {error.strerror}", "Check the rights of its folder."
        raise StoreError(message, path=path, hint=hint) from error


def sync(path: Path) -> None:
    """Nothing; what was written to the file at `path` is on the disk; of a folder, the names in it are."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _no_file(path: Path, mode: int) -> OSError:
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return OSError(errno.EINVAL, "Is a pipe" if stat.S_ISFIFO(mode) else "Is a device, no file", str(path))
