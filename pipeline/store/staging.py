"""A file beside the one that it is to replace: made or changed there, then renamed into its place."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from pipeline.records import seen
from pipeline.records.errors import StoreError
from pipeline.store import engine, opening
from pipeline.store.noted import log_of

#: What DuckDB raises where the disk is full or fails: while it writes, and when it commits.
_DISK_ERRORS = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
_ADVICE = "Check free space and rights of the folder; the old file is unharmed."
#: The file that this process put into its place last, or found replaceable, as it was then. To open it for its version
#: takes 9 ms, and a build asks four times.
_REPLACEABLE: list[tuple[Path, seen.Sign | None]] = []


@contextmanager
def staged(path: Path, *, telling: str = "cannot write") -> Iterator[Path]:
    """Where to make what takes the place of the file at `path` at the end; until then, or for good, that one stays.

    Who reads the file is neither disturbed nor in the way.

    Raises:
        StoreError: the file may not be replaced, or the disk refuses; its message begins with `telling`.
    """
    check_replaceable(path)
    made = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _discard_leftovers(path)
        yield made
        _publish(made, path)
        _REPLACEABLE[:] = [(path, seen.sign_of(path))]
    except (OSError, *_DISK_ERRORS) as error:
        raise StoreError(f"{telling} {path}: {error}", path=path, hint=_ADVICE) from error
    finally:
        _discard(made)


@contextmanager
def transaction(path: Path, *, is_new: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the file at `path`, committed at the end or not at all; a new one has all tables, without rows.

    One thread: rows keep the order of their ORDER BY in every table.
    """
    with engine.opened(path, is_new=is_new) as connection:
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
        engine.settle(connection, path)


def check_replaceable(path: Path) -> None:
    """Nothing, or an error: `path` may be replaced if absent, ours and not newer, or broken; not if it is held."""
    if not path.exists() or ((path, seen.sign_of(path)) in _REPLACEABLE and not _is_held(path)):
        return
    try:
        with engine.looked_at(path) as connection:
            version = opening.version_of(connection)
    except StoreError as error:
        if isinstance(error.__cause__, duckdb.IOException) and "lock" in str(error.__cause__).lower():
            raise
        return  # broken: the new file cures it
    opening.check_newer(version, path)
    _REPLACEABLE[:] = [(path, seen.sign_of(path))]


def _is_held(path: Path) -> bool:
    """Whether another program has the file open for writing, or it cannot be told."""
    try:
        with path.open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # DuckDB's own kind of lock; it ends with the file
    except OSError:
        return True
    return False


def _publish(staged: Path, path: Path) -> None:
    for target in (staged, path.parent):
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if target is staged:
            log_of(path).unlink(missing_ok=True)  # it is of the old file, and DuckDB would write it into the new one
            staged.replace(path)


def _discard_leftovers(path: Path) -> None:
    """Nothing; half-written files of processes that were killed are gone."""
    for leftover in path.parent.glob(f".{path.name}.*.new*"):
        pid = leftover.name.removeprefix(f".{path.name}.").partition(".")[0]
        if not (pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists()):
            leftover.unlink(missing_ok=True)


def _discard(staged: Path) -> None:
    for leftover in staged.parent.glob(f"{staged.name}*"):  # DuckDB's own log, and a copy of it
        with suppress(OSError):
            leftover.unlink(missing_ok=True)
