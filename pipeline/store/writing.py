"""The database written whole: entries as rows, everything else from shards; all of it in one sorted order."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import duckdb
import pyarrow as pa

from pipeline import packs
from pipeline.lexicon import catalogues, glossary
from pipeline.records.disk import literal
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.exported import OF_NAMES
from pipeline.store import opening, querying
from pipeline.store.contents import Contents, InColumns
from pipeline.store.engine import staged, transaction
from pipeline.store.opening import SCHEMA_VERSION, VERSIONS
from pipeline.store.rows import Row, cluster_row, lines_of, row, run_row, tables_of

#: How loading.sql names the files of a statement. DuckDB would take a folder `a=b` above them for a column of its own.
SHARDS = "read_parquet($files, hive_partitioning = false)"
#: Counts of each cluster that gets its row, from the events of its templates.
_CLUSTER_COUNTS = """
CREATE TEMP TABLE counts AS
SELECT a.cluster_id, count(*) AS event_count, count(DISTINCT e.document_id) AS document_count,
    count(DISTINCT a.signature_id) AS signature_count,
    min(e.posted_at AT TIME ZONE 'UTC')::DATE AS first_seen, max(e.posted_at AT TIME ZONE 'UTC')::DATE AS last_seen
FROM bare_clusters JOIN assignments a USING (cluster_id) JOIN events e ON e.signature_id = a.signature_id
WHERE e.severity = 'error' GROUP BY a.cluster_id
"""
#: The same where there are no events, of what entries say: a bundle holds no more.
_ENTRY_COUNTS = """
CREATE TEMP TABLE counts AS
SELECT e.cluster_id, any_value(e.occurrence_count) AS event_count, count(DISTINCT v.document_id) AS document_count,
    min(v.posted_at AT TIME ZONE 'UTC')::DATE AS first_seen, max(v.posted_at AT TIME ZONE 'UTC')::DATE AS last_seen
FROM bare_clusters JOIN entries e USING (cluster_id)
JOIN evidence v ON v.entry_id = e.entry_id AND v.role = 'occurrence' AND v.kind <> 'doc' GROUP BY e.cluster_id
"""
_CLUSTERS = """
INSERT INTO clusters
SELECT c.cluster_id, e.entry_id, c.signature_id, c.exception_type, c.signature, c.gate, c.regex, c.lowest_score,
    c.signature_count, coalesce(n.event_count, 0), coalesce(n.document_count, 0), n.first_seen, n.last_seen
FROM bare_clusters c LEFT JOIN counts n USING (cluster_id)
LEFT JOIN (SELECT cluster_id, min(entry_id) AS entry_id FROM entries GROUP BY cluster_id) e USING (cluster_id)
ORDER BY c.cluster_id
"""
_BARE_CLUSTERS = """
CREATE TEMP TABLE bare_clusters (cluster_id VARCHAR, signature_id VARCHAR, exception_type VARCHAR, signature VARCHAR,
    gate VARCHAR, regex VARCHAR, lowest_score DOUBLE, signature_count BIGINT)
"""


class _OfCluster(Protocol):
    @property
    def cluster_id(self) -> str: ...


_Owned = TypeVar("_Owned", bound=_OfCluster)
#: Entries of which the rows are held at once, and rows that travel at once.
_ENTRIES_AT_ONCE, _ROWS_AT_ONCE = 500, 20_000


def write(path: Path, contents: Contents) -> Path:
    """`path`, now a file with `contents`; the old file stays whole until the new one replaces it by rename."""
    with staged(path) as made, transaction(made, is_new=True) as connection:
        _fill(connection, contents)
    return path


def write_counted(path: Path, contents: Contents) -> tuple[int, dict[str, str], pa.Table]:
    """Of the file that `write` puts at `path` how many rows its tables have, what `insert_entries` gives, and signs."""
    with staged(path) as made, transaction(made, is_new=True) as connection:
        lines = _fill(connection, contents)
        return (
            row_count(connection),
            {name: digest for name, (digest, _) in lines.items()},
            querying.signs_of(connection),
        )


def row_count(connection: duckdb.DuckDBPyConnection) -> int:
    """The rows of all tables of the file, in one question: each costs more than counting does."""
    names = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
    ).fetchall()
    counts = " UNION ALL ".join(f'SELECT count(*) AS n FROM "{name}"' for (name,) in names)  # noqa: S608  (its catalogue)
    ((count,),) = connection.execute(f"SELECT sum(n)::BIGINT FROM ({counts})").fetchall()  # noqa: S608
    return int(count)


def _fill(connection: duckdb.DuckDBPyConnection, contents: Contents) -> dict[str, tuple[str, int]]:
    for _, kind, statement in opening.loading_steps(opening.sql("loading.sql")):
        if files := files_of(contents)[kind]:
            load(connection, statement, files)
    lines = insert_entries(connection, contents.entries)
    insert_known(connection)
    insert_of_clusters(connection, contents)
    insert_journal(connection, contents)
    bring_registry(connection, contents)
    insert_others(connection, contents)
    connection.execute("CREATE TEMP TABLE to_search AS SELECT entry_id FROM entries")
    connection.execute(opening.sql("searched.sql"))
    return lines


def load(connection: duckdb.DuckDBPyConnection, statement: str, files: list[str]) -> None:
    """Nothing; a statement of loading.sql was executed: of these files, or of rows that stand in the database."""
    connection.execute(statement, {"files": files} if "$files" in statement else None)


def files_of(contents: Contents) -> dict[str, list[str]]:
    """The files of shards, sorted, by the kind of their rows in loading.sql; as patterns that fit them alone."""
    paths = {
        "documents": contents.documents,
        "events": contents.events,
        "claims": contents.claims,
        "skipped": contents.skipped_files,
    }
    return {kind: literal(sorted(map(str, files))) for kind, files in paths.items()}


def insert_entries(
    connection: duckdb.DuckDBPyConnection, entries: Sequence[KnowledgeEntry]
) -> dict[str, tuple[str, int]]:
    """By id sha256 and bytes of each entry's JSON; every table that entries fill has the rows of `entries` too then.

    They are in the order of their ids. So many are held at once: a home may have more than memory does.
    """
    lines: dict[str, tuple[str, int]] = {}
    for start in range(0, len(entries), _ENTRIES_AT_ONCE):
        tables = tables_of(entries[start : start + _ENTRIES_AT_ONCE])
        for name, rows in tables.items():
            _insert(connection, name, rows)
        bodies = ((entry_id, line.encode()) for entry_id, line in lines_of(tables))
        lines |= {entry_id: (hashlib.sha256(body).hexdigest(), len(body)) for entry_id, body in bodies}
    return lines


def insert_of_clusters(
    connection: duckdb.DuckDBPyConnection, contents: Contents, chosen: Collection[str] | None = None
) -> None:
    """Nothing; the tables whose rows are of clusters have those of the clusters `chosen`, of all by default.

    Shards and entries are in their tables before: clusters are counted from them.
    """
    connection.execute(_BARE_CLUSTERS)
    for name, rows in of_clusters(contents, chosen):
        _insert(connection, name, rows)
    connection.execute(_CLUSTER_COUNTS if contents.events else _ENTRY_COUNTS)
    connection.execute(_CLUSTERS)


def of_clusters(contents: Contents, chosen: Collection[str] | None = None) -> Iterator[tuple[str, list[Row]]]:
    """Name and rows of each table whose rows are of clusters, in their order; of the clusters `chosen` alone."""

    def own(records: Iterable[_Owned]) -> Iterable[_Owned]:
        if chosen is None:
            return records
        if isinstance(records, InColumns):
            return records.of_clusters(chosen)
        return (one for one in records if one.cluster_id in chosen)

    yield "bare_clusters", sorted(cluster_row(cluster) for cluster in own(contents.clusters))
    yield "assignments", sorted(row("assignments", one) for one in own(contents.assignments))
    yield "neighbours", sorted(row("neighbours", one) for one in own(contents.neighbours))
    yield "withheld", sorted((row("withheld", one) for one in own(contents.withheld)), key=lambda cells: cells[:2])


def insert_others(
    connection: duckdb.DuckDBPyConnection, contents: Contents, tables: Collection[str] | None = None
) -> None:
    """Nothing; every table that nothing of the above fills has its rows, or these tables alone."""
    for name, rows in others(contents):
        if tables is None or name in tables:
            _insert(connection, name, rows)


def others(contents: Contents) -> Iterator[tuple[str, list[Row]]]:
    """Name and rows of each table that nothing of the above fills, in their order; one table after the other."""
    yield "skipped", sorted(row("skipped", one) for one in contents.skipped)
    yield "aliases", sorted(contents.aliases.items())
    yield "overrides", [row("overrides", one, ordinal=n) for n, one in enumerate(contents.overrides)]
    yield "cluster_aliases", sorted(contents.cluster_aliases.items())
    yield "stage_counts", [row("stage_counts", one) for one in contents.stage_counts]
    yield "runs", [run_row(run) for run in contents.runs]
    yield "meta", sorted(_meta(contents.meta).items())


def insert_journal(connection: duckdb.DuckDBPyConnection, contents: Contents, *, but: int = 0) -> None:
    """Nothing; the table `journal` has its rows as well, but for the first so many."""
    rows = [row("journal", one, ordinal=n) for n, one in enumerate(contents.journal[but:], but)]
    _insert(connection, "journal", rows)


def bring_registry(connection: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    """Nothing; the table `registry` has its rows of now: those that differ from the ones that it had go and come."""
    if contents.registry is not None:
        there = connection.sql("FROM registry").to_arrow_table().rename_columns(OF_NAMES.names).cast(OF_NAMES)
        gone, come = contents.registry.against(there)
        if len(gone):
            connection.execute(
                "DELETE FROM registry WHERE entry_id IN (SELECT unnest($1::VARCHAR[]))", [gone.to_pylist()]
            )
        if len(come):
            _insert_arrow(connection, "registry", come)


def insert_known(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing; the tables of what this errmine and its packs know, whatever there is in raw, have their rows."""
    for name, incoming in _known().items():
        _insert_arrow(connection, name, incoming)


@packs.cached
def _known() -> dict[str, pa.Table]:
    """The rows of `insert_known` as Arrow columns, by table: they are the same for every file that a process writes."""
    tables: dict[str, list[Row]] = {
        "catalogue": [row("catalogue", code) for code in catalogues.listed()],
        "glossary": sorted(glossary.pairs()),
        "schema_versions": [row("schema_versions", step) for step in VERSIONS],
    }
    return {name: _arrow(rows) for name, rows in tables.items()}


def _meta(given: Mapping[str, str]) -> dict[str, str]:
    return {**given, "schema_version": SCHEMA_VERSION}


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    """Nothing; `rows` stand in `table` then. They travel as Arrow columns: row by row is a thousand times slower."""
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        _insert_arrow(connection, table, _arrow(rows[start : start + _ROWS_AT_ONCE]))


def _arrow(rows: Sequence[Row]) -> pa.Table:
    """The rows, one at least, as Arrow columns."""
    arrays = [pa.array(column) for column in zip(*rows, strict=True)]
    return pa.Table.from_arrays(arrays, names=[f"c{place}" for place in range(len(arrays))])


def _insert_arrow(connection: duckdb.DuckDBPyConnection, table: str, incoming: pa.Table) -> None:
    """Nothing; the rows of `incoming` stand in `table` then.

    DuckDB finds them under the name that they have here. What is registered under a name a transaction holds to its
    end, though the name is taken back: of 1e6 threads three gigabytes.
    """
    connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")  # noqa: S608  (a name from this module)
