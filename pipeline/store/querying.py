"""Questions to the file: their answers batch by batch, what one may cost, and those that an export asks."""

from __future__ import annotations

import json
import threading
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.records import Template
from pipeline.records.errors import ConfigError, LimitReached, PipelineError
from pipeline.records.exported import SIGNS, Row
from pipeline.store import noted
from pipeline.store.opening import OF_THE_FILE, held, is_damage, meta, read_only

#: Rows that are asked for at a time: one vector of DuckDB.
_BATCH_ROWS = 2_048
#: How long an engine that was told to stop may go on. It looks between two vectors: a function that is slow on one
#: value (`levenshtein` of two long texts) is not stopped by anything but the end of the process.
GRACE_SECONDS = 5.0
#: Between two calls to stop: one that comes between two statements is lost.
_CALL_SECONDS = 0.5
#: What errors that come through Arrow, as OSError, say of memory; the second is of 2 GiB of text in one vector.
_TOO_BIG = ("Out of Memory", "maximum total string size")


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer may cost; None is no limit."""

    rows: int | None = None
    bytes: int | None = None  # of the rows, as Arrow holds them
    seconds: float | None = None  # in the engine; who reads the output may be as slow as they like
    give_up: Callable[[], object] | None = None  # called if the engine does not stop in `GRACE_SECONDS`


_NONE = Limits()
#: Statements that are asked for their rows; a macro or a setting may stand before one.
_ANSWERED = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN})
#: Values of $1, $2 … in their order, or of $name by their names.
Parameters = Sequence[object] | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer: the names of its columns and its rows."""

    columns: tuple[str, ...]
    table: pa.Table

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as Python values."""
        columns = [column.to_pylist() for column in self.table.columns]
        return list(zip(*columns, strict=True)) if columns else []


def query(path: Path, sql: str, *, parameters: Parameters = (), limits: Limits = _NONE) -> QueryResult:
    """What the file at `path` answers to `sql`, whole in memory; raises what `asked` does."""
    with asked(path, sql, parameters=parameters, limits=limits) as answer:
        table = pa.Table.from_batches(list(answer.batches()), schema=answer.schema)
    return QueryResult(tuple(table.column_names), table)


class Answer:
    """An answer that is read once, batch by batch: it never stands in memory whole."""

    def __init__(self, reader: pa.RecordBatchReader, clock: _Clock, limits: Limits) -> None:
        self.schema: pa.Schema = _named_apart(reader.schema)
        self.row_count = 0  # read so far
        self.is_cut = False  # whether there was more than the limits allow: known when all is read
        self._reader = reader
        self._clock = clock
        self._limits = limits

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in the order of the answer, as far as the limits allow; raises what `asked` does."""
        left = self._limits.bytes
        while (batch := self._next()) is not None:
            fitting = batch.num_rows
            if self._limits.rows is not None:
                fitting = min(fitting, self._limits.rows - self.row_count)
            if left is not None:
                fitting = min(fitting, _fitting(batch, left))
            part = batch.slice(0, fitting)
            self.row_count += fitting
            left = None if left is None else left - part.nbytes
            if fitting:
                yield part
            if fitting < batch.num_rows:
                self.is_cut = True
                return

    def _next(self) -> pa.RecordBatch | None:
        with self._clock.running():
            batch = next((batch for batch in self._reader if batch.num_rows), None)
        return None if batch is None else pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)


def _named_apart(schema: pa.Schema) -> pa.Schema:
    """The columns with a name each: JSON has room for one of a name. The second `x` is `x_1`, as DuckDB calls it.

    Names that the question gives itself stay.
    """
    taken, fields = set(schema.names), []
    seen: set[str] = set()
    for column in schema:
        name, number = column.name, 0
        while name in seen or (number and name in taken):
            number += 1
            name = f"{column.name}_{number}"
        seen.add(name)
        fields.append(column.with_name(name))
    return pa.schema(fields, metadata=schema.metadata)


@contextmanager
def asked(path: Path, sql: str, *, parameters: Parameters = (), limits: Limits = _NONE) -> Iterator[Answer]:
    """What the file at `path` answers to `sql`: read-only, with no way to files, network or extensions.

    Raises:
        ConfigError: the engine does not understand the query, or it fails on a row.
        LimitReached: the time or the memory was not enough.
        StoreError: there is no database at `path`, or it cannot be read.
    """
    with read_only(path) as connection:
        clock = _Clock(connection, limits)
        try:
            with clock.running():
                _check_one(connection, sql)
                relation = connection.sql(sql, params=_bound(parameters))
                reader = pa.table({}).to_reader() if relation is None else relation.to_arrow_reader(_BATCH_ROWS)
            with reader:
                yield Answer(reader, clock, limits)
        finally:
            clock.close()


class _Clock:
    """Counts the time in the engine, and tells it to stop when that is used up."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._left = limits.seconds
        self._end: float | None = None  # on the monotonic clock; None while the engine rests
        self._is_closed = False
        self._changed = threading.Condition()
        # one thread for all batches: where memory is short no other could be started
        self._thread = threading.Thread(target=self._watch, daemon=True)
        if self._left is not None:
            self._thread.start()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Nothing; what the engine does in the context is timed, and its errors are ours."""
        begun = time.monotonic()
        if self._left is not None:
            self._set(begun + self._left)
        try:
            yield
        except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
            if is_damage(error):  # who opened the file names it
                raise
            raise self._told(error, time.monotonic() - begun) from error
        finally:
            if self._left is not None:
                self._set(None)
                self._left = max(0.0, self._left - (time.monotonic() - begun))

    def close(self) -> None:
        """Nothing; nobody is told to stop any more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._left is not None:
            self._thread.join()

    def _set(self, end: float | None) -> None:
        with self._changed:
            self._end = end
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._is_closed:
                late = -1.0 if self._end is None else time.monotonic() - self._end
                if self._end is None:
                    self._changed.wait()
                elif late < 0:
                    self._changed.wait(-late)
                else:
                    self._connection.interrupt()
                    if late > GRACE_SECONDS and self._limits.give_up is not None:
                        self._limits.give_up()
                    self._changed.wait(_CALL_SECONDS)

    def _told(self, error: Exception, seconds: float) -> PipelineError:
        if self._left is not None and seconds >= self._left:
            hint = "Ask for less (a WHERE, a LIMIT inside, fewer joins), or give it longer: --seconds."
            return LimitReached(f"the query was stopped after {self._limits.seconds:g} s", hint=hint)
        if isinstance(error, MemoryError | duckdb.OutOfMemoryException) or any(map(str(error).__contains__, _TOO_BIG)):
            hint = "Ask for fewer columns or rows at a time, and sort and aggregate less."
            return LimitReached("the query needs more memory than it may have", hint=hint)
        hint = "`SHOW TABLES` lists the tables, `DESCRIBE entries` the columns of one."
        return ConfigError(f"the query failed: {error}", hint=hint)


def _check_one(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Nothing; of several answers the engine would give the last, of none an empty table."""
    statements = connection.extract_statements(sql)
    asking = sum(one.type in _ANSWERED for one in statements)
    if asking > 1:
        raise ConfigError(
            f"these are {asking} questions, and only the last would be answered", hint="Ask one at a time."
        )
    if not statements:
        raise ConfigError("there is no question", hint='Say it in SQL: errmine query "SELECT count(*) FROM entries"')


def _bound(parameters: Parameters) -> object:
    return (dict(parameters) if isinstance(parameters, Mapping) else list(parameters)) or None


def _fitting(batch: pa.RecordBatch, size: int) -> int:
    """How many of the first rows are of `size` bytes or less together."""
    if batch.nbytes <= size:
        return int(batch.num_rows)
    return bisect_right(range(1, batch.num_rows + 1), size, key=lambda count: batch.slice(0, count).nbytes)


# What an export asks: a sign of every entry, and what the bundle has of the few that changed.
#
# The engine hashes what stays in it: of a million entries nothing but this comes into Python. Who brought the file up
# to date has noted it.
_INDEXED = """
WITH members AS (
    SELECT a.cluster_id, sha256(to_json(list({{
        'i': s.signature_id, 'e': s.exception_type, 't': s.signature, 'g': s.gate, 'w': s.is_gate_complete,
        'c': s.is_truncated, 'n': s.event_count, 'd': s.first_seen
    }} ORDER BY s.signature_id))::VARCHAR) AS told
    FROM assignments a JOIN signatures s USING (signature_id)
    WHERE a.cluster_id IN (SELECT cluster_id FROM entries WHERE entry_id IN ({chosen})) GROUP BY ALL
)
SELECT e.entry_id, {row}
    coalesce(sha256(to_json({{'m': c.signature_id, 's': c.lowest_score, 'o': m.told}})::VARCHAR), '') AS indexed
FROM entries e LEFT JOIN clusters c ON c.cluster_id = e.cluster_id LEFT JOIN members m ON m.cluster_id = c.cluster_id
WHERE e.entry_id IN ({chosen}) ORDER BY e.entry_id
"""
_SIGNS = _INDEXED.format(
    row="strlen(e.json::VARCHAR) AS size, sha256(e.json::VARCHAR) AS digest,", chosen="SELECT entry_id FROM entries"
)
_ROWS = """
SELECT e.entry_id, e.json, c.signature_id, c.lowest_score, c.cluster_id
FROM entries e LEFT JOIN clusters c ON c.cluster_id = e.cluster_id
WHERE e.entry_id IN (SELECT unnest($1::VARCHAR[])) ORDER BY e.entry_id
"""
_MEMBERS = """
SELECT a.cluster_id, s.signature_id, s.exception_type, s.signature, s.gate, s.is_gate_complete, s.is_truncated,
    s.event_count, s.first_seen
FROM assignments a JOIN signatures s USING (signature_id)
WHERE a.cluster_id IN (SELECT cluster_id FROM entries WHERE entry_id IN (SELECT unnest($1::VARCHAR[])))
ORDER BY s.signature_id
"""
_TEXTS = "SELECT signature_id, signature FROM signatures WHERE signature_id IN (SELECT unnest($1::VARCHAR[]))"
_SOURCES = "SELECT source, count(*) FROM documents GROUP BY source"
# A file of before may have none.
_HAS_OVERRIDES = f"FROM duckdb_tables() WHERE table_name = 'overrides' AND {OF_THE_FILE}"
# Of two rows about one text the first says why.
_IGNORED = """
SELECT signature_id, arg_min(reason, ordinal) FROM (
    SELECT unnest(flatten(signature_ids)) AS signature_id, reason, ordinal FROM overrides WHERE kind = 'ignore'
) GROUP BY signature_id
"""


def signs_of(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """What `Entries.signs` says of the file that is open."""
    found: pa.Table = connection.sql(_SIGNS).to_arrow_table()
    return found.cast(SIGNS)


def indexed_of(connection: duckdb.DuckDBPyConnection, chosen: str) -> dict[str, str]:
    """By id `Sign.indexed` of the entries that the question `chosen` names; no row of an entry is read for it."""
    return dict(connection.execute(_INDEXED.format(row="", chosen=chosen)).fetchall())


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of the file at a path, as an export asks for them."""

    path: Path
    note: Path | None = None  # the folder in which it may be noted what the file holds

    def signs(self) -> pa.Table:
        """`SIGNS` of every entry, by id."""
        known = noted.signs(self.note, self.path) if self.note else None
        found: pa.Table = query(self.path, _SIGNS).table if known is None else known
        return found.cast(SIGNS)

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        """The entries of these ids, by id."""
        with held(self.path):
            found = query(self.path, _ROWS, parameters=[list(ids)]).rows
            members: dict[str, list[Template]] = defaultdict(list)
            for cluster_id, *cells in query(self.path, _MEMBERS, parameters=[list(ids)]).rows:
                members[cluster_id].append(_template(*cells))
        for entry_id, body, medoid, score, cluster_id in found:
            yield Row(entry_id, body, medoid, score, tuple(members.get(cluster_id, ())))


@dataclass(frozen=True, slots=True)
class Facts:
    """What a bundle needs of the file besides its entries."""

    meta: dict[str, str]
    sources: dict[str, int]  # source -> documents
    ignored: dict[str, str]  # signature that people ignore -> their reason
    texts: dict[str, str]  # of these signatures


def made_of(note: Path) -> str:
    """All that makes rows of what the note in this folder tells; "" where there is none."""
    return noted.made_by(note)


def facts(path: Path) -> Facts:
    """The file's own facts, its sources, and what people said is no error."""
    with held(path):
        reasons = dict(query(path, _IGNORED).rows) if query(path, _HAS_OVERRIDES).rows else {}
        texts = dict(query(path, _TEXTS, parameters=[sorted(reasons)]).rows) if reasons else {}
        return Facts(meta(path), dict(query(path, _SOURCES).rows), reasons, texts)


def _template(*row: Any) -> Template:
    name, kind, text, gate, whole, cut, count, day = row
    gates = tuple((key, value) for key, value in json.loads(gate))
    return Template(name, kind, text, gates, whole, cut, count=count, first_seen=str(day or ""))
