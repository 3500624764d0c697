"""The database opened: its schema, its version, who may hold it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import Lock

import duckdb

from pipeline.records.disk import unfit
from pipeline.records.errors import StoreError

# The versions of the tables, oldest first: every change of them is a step, with a number and a sentence.
#
# A minor step only adds tables and columns; a major step may change what is there, and then `_BEFORE` gives tables of
# earlier files the names and types of now, so that this errmine reads them all. No step alters a file in place:
# `errmine build` makes the new file from raw, and carries over what raw does not hold: the journal, from the old file;
# published ids and their aliases, from the bundle's registry; the runs, from the home's own record of them. A file of a
# later version is neither read nor replaced.


@dataclass(frozen=True, slots=True)
class Version:
    """A step: what it is called, and what it changed."""

    version: str
    changed: str


VERSIONS = (
    Version("1.0", "The first"),
    Version("1.1", "Added catalogue, withheld, cluster_aliases, overrides and journal.run_id"),
    Version("1.2", "Added schema_versions, glossary, search_terms and search_sizes"),
    Version("1.3", "Added documents.hidden_count"),
    Version("1.4", "Added cases and case_statements"),
    Version("1.5", "Added entries.is_answered"),
    Version("1.6", "Added claims.passage"),
    Version("1.7", "Added documents.fixed_in"),
    Version("1.8", "Added the view candidates"),
    Version("1.9", "Added entries.cause_type and case_statements.cause_type"),
    Version(
        "2.0",
        "signatures.text and clusters.text are called signature, claims.template (withheld_claims too) is called fact; "
        "claims.posted_at is a TIMESTAMPTZ, official_docs.first_seen and last_updated are DATEs; columns of views have "
        "comments",
    ),
    Version("2.1", "Added claims.doubt"),
    Version(
        "2.2",
        "Added entries.documentation, documentation_zh, documentation_url, documentation_row and is_documented; "
        "is_documented in cluster_summary and unanswered, documented_count and known_count in answer_shares",
    ),
    Version("2.3", "Added replies"),
    Version("2.4", "Added registry, which was JSON in meta"),
)
#: The version that is written.
SCHEMA_VERSION = VERSIONS[-1].version

#: Version -> table -> what a file of before that version shows of it: what is new beside what was, so that its own
#: views find their columns as well.
_BEFORE = {
    "2.0": {
        "signatures": "SELECT *, text AS signature",
        "clusters": "SELECT *, text AS signature",
        "claims": "SELECT * REPLACE (CAST(posted_at AS TIMESTAMPTZ) AS posted_at), template AS fact",
        "official_docs": (
            "SELECT * REPLACE (CAST(first_seen AS DATE) AS first_seen, CAST(last_updated AS DATE) AS last_updated)"
        ),
    }
}


# The tables as schema.sql writes them down: statements, and the comments that people see in the catalogue.

_TABLE = re.compile(r"CREATE TABLE (\w+) \( -- (.+)")
_COLUMN = re.compile(r"    (\w+) ([^-]+?),? -- (.+)")
_SHOWN = re.compile(r"^COMMENT ON VIEW (\w+) .+\n-- Columns: (\w+(?:, \w+)*)$", re.MULTILINE)
_COMMENTS = "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE database_name = current_database()"


def sql(name: str) -> str:
    """The text of one of the .sql files beside this module."""
    return (files("pipeline.store") / name).read_text(encoding="utf-8")


def tables(schema: str) -> list[tuple[str, str]]:
    """(name, its columns as SQL) of each table of `schema`, in order."""
    return re.findall(r"^CREATE TABLE (\w+) \((.+?)^\);", schema, re.MULTILINE | re.DOTALL)


def columns(schema: str) -> dict[str, tuple[str, ...]]:
    """The names of each table's columns, in order."""
    return {name: tuple(found[1] for found in _COLUMN.finditer(body)) for name, body in tables(schema)}


def comments(schema: str) -> Iterator[str]:
    """`COMMENT ON` statements for the words behind the dashes of `schema`."""
    table = ""
    for line in schema.splitlines():
        if found := _TABLE.fullmatch(line):
            table = found[1]
            yield f"COMMENT ON TABLE {table} IS {_literal(found[2])}"
        elif found := _COLUMN.fullmatch(line):
            yield f"COMMENT ON COLUMN {table}.{found[1]} IS {_literal(found[3])}"


def view_comments(connection: duckdb.DuckDBPyConnection, views: str) -> Iterator[str]:
    """`COMMENT ON` statements for columns of the views of `connection` that have none: the words of what they show.

    `views` names for each, in the line "-- Columns: ..." behind its own comment, whose columns it shows.
    """
    told = {(str(table), str(column)): comment for table, column, comment in connection.execute(_COMMENTS).fetchall()}
    for view, named in _SHOWN.findall(views):
        for column in [column for table, column in told if table == view and not told[table, column]]:
            words = next(filter(None, (told.get((one, column)) for one in named.split(", "))), None)
            if words:
                told[view, column] = words  # a view may show another one
                yield f"COMMENT ON COLUMN {view}.{column} IS {_literal(words)}"


def loading_steps(text: str) -> list[tuple[str, str, str]]:
    """(table, shard table, statement) of loading.sql, in order: `-- events` names the files of the next statement."""
    form = r"^-- (documents|events|claims|skipped)\n(INSERT INTO (\w+).+?);$"
    found = re.findall(form, text, re.MULTILINE | re.DOTALL)
    return [(table, kind, statement) for kind, statement, table in found]


def _literal(words: str) -> str:
    escaped = words.replace("'", "''")
    return f"'{escaped}'"


# Opening the file: read-only, walled in, and with errors that say what to do.

_MAKE_ANEW = "Run `errmine build` to make it anew."
_MAKE_IT = "Begin with `errmine run`; where pages were imported already, `errmine build` makes it."

#: Untrusted SQL gets no file, no network, no extension, no Python variable, and cannot change that.
_WALLS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
    "threads": 2,
    "memory_limit": "2GB",
}

#: Tables and views that a connection sees under their names alone; other files may be open beside this one.
OF_THE_FILE = "database_name IN (current_database(), 'temp')"
#: Connections of one process to one file share their settings: the first one sets and locks them.
_OPENING = Lock()

Opener = Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]]
_HELD: ContextVar[tuple[Path | None, duckdb.DuckDBPyConnection | None]] = ContextVar("held", default=(None, None))
_LASTING: ContextVar[dict[Path, duckdb.DuckDBPyConnection] | None] = ContextVar("lasting", default=None)


@contextmanager
def read_only(path: Path, *, opener: Opener | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the file at `path` that reaches nothing else; its schema version is checked.

    In a file of an earlier version the tables that were added since are there and empty, and what has another name or
    type now has it. What `held` has open is not opened again. `opener` has other ways, for questions of our own.
    """
    held_path, connection = _HELD.get()
    if held_path == path and connection is not None:
        yield connection
        return
    with (opener or _walled_in)(path) as connection:
        try:
            version = version_of(connection)
            _check_version(version, path)
            if version != SCHEMA_VERSION:
                _bring_up_to_date(connection, version)
            yield connection
        except (duckdb.Error, OSError) as error:  # what comes through Arrow is an OSError
            if not is_damage(error):
                raise
            raise StoreError(f"{path} is damaged: {error}", path=path, hint=_MAKE_ANEW) from error


def is_damage(error: BaseException) -> bool:
    """Whether a block of the file is not the one that its checksum is of: DuckDB compares each that it reads."""
    return "Corrupt database file" in str(error)


@contextmanager
def held(path: Path, *, opener: Opener | None = None) -> Iterator[None]:
    """Nothing; all that this thread reads of `path` in the context is of one file, though another may take its place.

    It is opened once: DuckDB takes 30 ms to open any file, if `opener` does not.
    """
    with read_only(path, opener=opener) as connection:
        before = _HELD.set((path, connection))
        try:
            yield
        finally:
            _HELD.reset(before)


@contextmanager
def lasting() -> Iterator[None]:
    """Nothing; a file that this thread reads in the context, or checks, is opened once and stays open until its end.

    For what reads a file several times in a row, whether it is whole or not. No file is to be replaced meanwhile by
    whoever is in the context: DuckDB would go on with the one that it has open.
    """
    kept: dict[Path, duckdb.DuckDBPyConnection] = {}
    before = _LASTING.set(kept)
    try:
        yield
    finally:
        _LASTING.reset(before)
        for connection in kept.values():
            connection.close()


def meta(path: Path) -> dict[str, str]:
    """The file's own facts: schema_version, normaliser, ..."""
    with read_only(path) as connection:
        rows = connection.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
    return {str(key): str(value) for key, value in rows}


def meta_digest(path: Path) -> str:
    """What tells the file's own facts from any others. The engine says it: of a file of before all ids are one."""
    with read_only(path) as connection:
        lines = "string_agg(key || chr(31) || value, chr(30) ORDER BY key)"
        ((found,),) = connection.execute(f"SELECT md5({lines}) FROM meta").fetchall()  # noqa: S608  (as above)
    return str(found)


def check(path: Path) -> None:
    """Nothing; every row of the file was read, and with it every block that a question can come to.

    Raises:
        StoreError: there is none, it is of another version, or a block of it is damaged.
    """
    with read_only(path) as connection:
        for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall():
            connection.execute(f'SELECT bit_xor(hash(t)) FROM "{name}" t').fetchall()  # noqa: S608  (from the catalogue)


def _walled_in(path: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    return closing(_connected(path))


def _connected(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection to the file, which whoever asked for it closes."""
    kept = _LASTING.get()
    if kept is None:
        return _opened(path)
    if path not in kept:
        kept[path] = _opened(path)
    return kept[path].cursor()


def _opened(path: Path) -> duckdb.DuckDBPyConnection:
    check_path(path)
    if not path.is_file():
        raise StoreError(f"there is no database at {path}", path=path, hint=_MAKE_IT)
    try:
        with _OPENING:
            connection = duckdb.connect(str(path), read_only=True, config=_WALLS)
            if not connection.execute("SELECT current_setting('lock_configuration')").fetchall()[0][0]:
                connection.execute("SET GLOBAL TimeZone = 'UTC'").fetchall()
                hush(connection)
                connection.execute("SET lock_configuration = true").fetchall()
    except duckdb.Error as error:
        raise refused(path, error) from error
    return connection


def check_path(path: Path) -> None:
    """Nothing; DuckDB takes the path for that of this file.

    Raises:
        StoreError: it would take it for another one's.
    """
    if why := unfit(path):
        message = f"{path}: its path has {why}, and DuckDB cannot open it"
        raise StoreError(message, path=path, hint="Give its folder another name.")


def hush(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing; no bar is drawn. In a notebook without ipywidgets it is off, and DuckDB refuses to turn it off."""
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
        connection.execute("SET enable_progress_bar = false").fetchall()


def refused(path: Path, error: duckdb.Error) -> StoreError:
    """What there is to say where DuckDB does not open the file."""
    if isinstance(error, duckdb.IOException):
        return StoreError(_reason(path, error), path=path, hint=_hint(error))
    return StoreError(f"{path} is no database that can be read: {error}", path=path, hint=_MAKE_ANEW)


def _reason(path: Path, error: duckdb.Error) -> str:
    first = str(error).splitlines()[0]
    if "lock" in first.lower():
        return f"{path} is held open for writing by another program: {first}"
    return f"cannot open {path}: {first}"


def _hint(error: duckdb.Error) -> str:
    if "lock" in str(error).lower():
        return "Close the program that the message names, then run the same command again."
    return _MAKE_ANEW


def version_of(connection: duckdb.DuckDBPyConnection) -> str:
    """The version of the tables of the file that is open, "0.0" where it does not say.

    Raises:
        StoreError: errmine did not make it.
    """
    try:
        found = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchall()
    except duckdb.Error as error:
        if is_damage(error):
            raise
        raise StoreError("the file has no table `meta`: errmine did not make it", path=Path()) from error
    return str(found[0][0]) if found else "0.0"


def _bring_up_to_date(connection: duckdb.DuckDBPyConnection, version: str) -> None:
    """Nothing; for this connection alone, tables of an earlier file have the names and types of now, or are empty."""
    ((catalog,),) = connection.execute("SELECT current_database()").fetchall()
    file = str(catalog).replace('"', '""')
    for step, shown in _BEFORE.items():
        if _numbers(version) < _numbers(step):
            for name, question in shown.items():
                connection.execute(f'CREATE TEMP VIEW {name} AS {question} FROM "{file}".main.{name}')
    asked = "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
    known = {name for (name,) in connection.execute(asked).fetchall()}
    for name, columns in tables(sql("schema.sql")):
        if name not in known:
            connection.execute(f"CREATE TEMP TABLE {name} ({columns})")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def check_newer(version: str, path: Path) -> None:
    """Nothing, or an error where the file is of a later errmine."""
    if _numbers(version) > _numbers(SCHEMA_VERSION):
        raise StoreError(
            f"{path} has schema {version}; this errmine knows {SCHEMA_VERSION}",
            path=path,
            hint="Upgrade errmine, or choose another --home.",
        )


def _check_version(version: str, path: Path) -> None:
    check_newer(version, path)
    if _numbers(version) < _numbers(VERSIONS[0].version):
        raise StoreError(
            f"{path} has schema {version}; this errmine writes {SCHEMA_VERSION}",
            path=path,
            hint="Run `errmine build`: it makes the file anew from raw.",
        )
