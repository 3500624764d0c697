"""The one DuckDB of this process that writes: files are opened in it, and new ones get their tables from it.

To start a DuckDB takes 30 ms and to make the tables with their comments 200, as much as all else that writing a small
file takes; to open another file in one that runs takes 2, and to take the tables over from it 3. What is written is a
file beside the one that it is to replace: made or changed there, then signed and renamed into its place.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock

import duckdb

from pipeline.records import disk, kept
from pipeline.records.errors import ConfigError, StoreError
from pipeline.store import noted, opening, reading
from pipeline.store.noted import log_of

#: What the file is written for: DuckDB from 1.0 on reads it. Their own default is the newest form, which no earlier
#: release opens. The price: without zstd, which came with 1.2, the corpus' file has 92 MB instead of 37.
_WRITTEN_FOR = "v1.0.0"
#: What it may hold at once; the rest of what it sorts and counts lies beside the file meanwhile. Without a limit it
#: takes four fifths of the machine. With an eighth of this it writes 30,000 threads, of which the words need most.
_MEMORY = "1GB"
#: To look for parts that strings share takes 250 columns of a small file two thirds of the CPU that writing its blocks
#: does, and spares it none: files of the sample and of 150 real threads (16,000 rows, a log of 3.7 MB) stay as large.
_SMALL = 4 << 20
_SHARED_PARTS = "fsst"
#: A larger file is read with more than one thread, and takes longer to be compared with a note than walls do to stand.
_SHORT = 32 << 20
#: The database in memory that has tables, views and macros, and no rows.
_MODEL = "model"


_STARTING = Lock()
#: What DuckDB raises where the disk is full or fails: while it writes, and when it commits.
_DISK_ERRORS = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
_ADVICE = "Check free space and rights of the folder; the old file is unharmed."
#: The file that this process put into its place last, or found replaceable, as it was then. To open it for its version
#: takes 9 ms, and a build asks four times.
_REPLACEABLE: list[tuple[Path, kept.Sign | None]] = []
#: The file that was opened last for its sign, and what that is: a build asks twice.
_LAST: list[tuple[Path, kept.Sign | None, str]] = []


@dataclass(slots=True)
class _Engine:
    """What runs, and how many files it has opened: each gets a name of its own."""

    connection: duckdb.DuckDBPyConnection
    numbers: count[int] = field(default_factory=count)
    lock: Lock = field(default_factory=Lock)
    settling: Lock = field(default_factory=Lock)
    has_model: bool = False


_RUNNING: list[_Engine] = []


def _running(path: Path) -> _Engine:
    """What runs; started for the file at `path` where nothing does, beside which it puts what memory cannot hold."""
    with _STARTING:
        if not _RUNNING:
            config: dict[str, str | bool | int | float | list[str]] = {
                "threads": 1,  # rows keep the order of their ORDER BY in every table
                "preserve_insertion_order": True,
                "memory_limit": _MEMORY,
                "temp_directory": f"{path}.tmp",
            }
            _RUNNING.append(_Engine(duckdb.connect(config=config)))
        return _RUNNING[0]


@contextmanager
def opened(path: Path, *, is_new: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that writes into the file at `path`; a new one has all tables, views and macros, and no rows."""
    version = "" if path.exists() else f"(STORAGE_VERSION '{_WRITTEN_FOR}')"
    with _attached(path, version) as (engine, connection, name):
        if is_new:
            _make_tables(engine, connection, name)
        yield connection


def settle(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Nothing; what was committed to the file at `path` stands in its blocks, and no log is beside it any more."""
    size = sum(one.stat().st_size for one in (path, noted.log_of(path)) if one.exists())
    with _running(path).settling:  # the setting is one of all files that are open
        connection.execute(f"SET disabled_compression_methods = '{_SHARED_PARTS if size <= _SMALL else ''}'")
        connection.execute("CHECKPOINT")


@contextmanager
def looked_at(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that reads the file at `path`, for questions of our own: there are no walls around it.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        with _attached(path, "(READ_ONLY)") as (_, connection, _name):
            yield connection
    except duckdb.Error as error:
        raise opening.refused(path, error) from error


@contextmanager
def alone(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection at no file, for questions about rows in memory; `path` is the file that is written then."""
    connection = _running(path).connection.cursor()
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def glanced_at(path: Path) -> Iterator[None]:
    """`opening.held`, for a short question or two of our own: it takes a tenth of the time."""
    with opening.held(path, opener=looked_at):
        yield


@contextmanager
def of_ours(path: Path, *, note: Path) -> Iterator[None]:
    """`opening.held`; a small file that is to the bit what the note in the folder `note` is of needs no walls.

    What reads a file of strangers must have them: it may say of a table that it is what stands in another file.
    """
    is_ours = path.exists() and path.stat().st_size <= _SHORT and noted.is_of(note, path)
    with opening.held(path, opener=looked_at if is_ours else None):
        yield


@contextmanager
def _attached(path: Path, options: str) -> Iterator[tuple[_Engine, duckdb.DuckDBPyConnection, str]]:
    """What runs, and a connection of it that is at the file, with the file's name there."""
    opening.check_path(path)
    engine = _running(path)
    name = f"file_{next(engine.numbers)}"
    connection = engine.connection.cursor()
    try:
        connection.execute(f"ATTACH '{_quoted(path)}' AS {name} {options}")
        connection.execute(f"USE {name}; SET TimeZone = 'UTC'")
        opening.hush(connection)
        yield engine, connection, name
        _let_go(connection, name)
    except BaseException:
        _give_up(engine)
        with suppress(duckdb.Error):
            _let_go(connection, name)
        raise
    finally:
        connection.close()


def beside(connection: duckdb.DuckDBPyConnection, path: Path) -> str:
    """The name under which the connection reads the file at `path` as well, until the one that it writes is let go."""
    ((own,),) = connection.execute("SELECT current_database()").fetchall()
    connection.execute(f"ATTACH '{_quoted(path)}' AS {_beside(own)} (READ_ONLY)")
    return _beside(own)


def _beside(name: str) -> str:
    return f"{name}_beside"


def _let_go(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    connection.execute("USE memory")
    connection.execute(f"DETACH {name}")
    connection.execute(f"DETACH DATABASE IF EXISTS {_beside(name)}")


def _give_up(engine: _Engine) -> None:
    """Nothing; the next file is opened in another one: after an error of the disk one may refuse all work."""
    with _STARTING:
        if engine in _RUNNING:
            _RUNNING.remove(engine)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _make_tables(engine: _Engine, connection: duckdb.DuckDBPyConnection, name: str) -> None:
    with engine.lock:
        if not engine.has_model:
            with engine.connection.cursor() as maker:
                _make_model(maker)
            engine.has_model = True
    connection.execute(f"COPY FROM DATABASE {_MODEL} TO {name} (SCHEMA)")


def _make_model(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing; the database in memory has the tables as schema.sql, views.sql and search.sql describe them."""
    connection.execute(f"ATTACH ':memory:' AS {_MODEL}")
    connection.execute(f"USE {_MODEL}")
    connection.execute("BEGIN")
    schema, views = opening.sql("schema.sql"), opening.sql("views.sql")
    connection.execute(schema)
    connection.execute(";\n".join(opening.comments(schema)))
    connection.execute(views)
    for comment in opening.view_comments(connection, views):
        connection.execute(comment)
    connection.execute(opening.sql("search.sql"))
    connection.execute("COMMIT")


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
        _REPLACEABLE[:] = [(path, kept.sign_of(path))]
    except (OSError, *_DISK_ERRORS) as error:
        raise StoreError(f"{telling} {path}: {error}", path=path, hint=_ADVICE) from error
    finally:
        _discard(made)


@contextmanager
def transaction(path: Path, *, is_new: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the file at `path`, committed at the end or not at all; a new one has all tables, without rows.

    One thread: rows keep the order of their ORDER BY in every table.
    """
    with opened(path, is_new=is_new) as connection:
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
        settle(connection, path)


def check_replaceable(path: Path) -> None:
    """Nothing, or an error: `path` may be replaced if absent, ours and not newer, or broken; not if it is held."""
    if not path.exists() or ((path, kept.sign_of(path)) in _REPLACEABLE and not _is_held(path)):
        return
    try:
        with looked_at(path) as connection:
            version = opening.version_of(connection)
    except StoreError as error:
        if isinstance(error.__cause__, duckdb.IOException) and "lock" in str(error.__cause__).lower():
            raise
        return  # broken: the new file cures it
    opening.check_newer(version, path)
    _REPLACEABLE[:] = [(path, kept.sign_of(path))]


def _is_held(path: Path) -> bool:
    """Whether another program has the file open for writing, or it cannot be told."""
    try:
        with disk.opened(path) as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # DuckDB's own kind of lock; it ends with the file
    except OSError:
        return True
    return False


def _publish(staged: Path, path: Path) -> None:
    for target in (staged, path.parent):
        disk.sync(target)
        if target is staged:
            log_of(path).unlink(missing_ok=True)  # it is of the old file, and DuckDB would write it into the new one
            staged.replace(path)


def ahead_of(path: Path) -> Path:
    """Where to copy the file at `path` before it is known what is to change in it."""
    return path.with_name(f".{path.name}.{os.getpid()}.ahead")


def _discard_leftovers(path: Path) -> None:
    """Nothing; half-written files of processes that were killed are gone."""
    for leftover in (*path.parent.glob(f".{path.name}.*.new*"), *path.parent.glob(f".{path.name}.*.ahead")):
        pid = leftover.name.removeprefix(f".{path.name}.").partition(".")[0]
        is_own = pid == str(os.getpid())
        if not (pid.isdigit() and Path(f"/proc/{pid}").exists()) or (is_own and leftover.suffix != ".ahead"):
            leftover.unlink(missing_ok=True)


def _discard(staged: Path) -> None:
    for leftover in staged.parent.glob(f"{staged.name}*"):  # DuckDB's own log, and a copy of it
        with suppress(OSError):
            leftover.unlink(missing_ok=True)


def sign(path: Path) -> str:
    """What the file at `path` says of itself, "" where it cannot be read. Every run puts its own line into the file."""
    place = kept.sign_of(path)
    for known_path, known_place, known in _LAST:
        if place is not None and (known_path, known_place) == (path, place):
            return known
    try:
        with glanced_at(path):
            told = f"{opening.meta_digest(path)} {reading.source_counts(path)}"
    except (OSError, StoreError, ConfigError):
        return ""
    found = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    _LAST[:] = [(path, place, found)]
    return found
