"""A file beside the one that it is to replace: made or changed there, then renamed into its place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from pipeline.records.errors import StoreError
from pipeline.store import engine, opening
from pipeline.store.noted import log_of

#: What DuckDB raises where the disk is full or fails: while it writes, and when it commits.
_DISK_ERRORS = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
_ADVICE = "Check free space and rights of the folder; the old file is unharmed."


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
    if not path.exists():
        return
    try:
        with engine.looked_at(path) as connection:
            version = opening.version_of(connection)
    except StoreError as error:
        if isinstance(error.__cause__, duckdb.IOException) and "lock" in str(error.__cause__).lower():
            raise
        return  # broken: the new file cures it
    opening.check_newer(version, path)


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
