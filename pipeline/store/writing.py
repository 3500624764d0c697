"""The database written whole: entries as rows, everything else from shards."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.lexicon import catalogues, glossary
from pipeline.records.entry import (
    CaseStatement,
    DeadEnd,
    Edge,
    Environment,
    KnowledgeEntry,
    Version,
    Workaround,
    is_answered,
)
from pipeline.records.errors import StoreError
from pipeline.records.shown import shown
from pipeline.store import opening
from pipeline.store.contents import Contents, RunRow
from pipeline.store.opening import SCHEMA_VERSION, VERSIONS, check_replaceable

# Records as rows: a column of schema.sql takes the field of its name, so a new one needs its line there, no more.

Row = tuple[Any, ...]
_Cited = Workaround | DeadEnd | CaseStatement | Version | Environment | Edge

#: Columns that SQL calls otherwise than the record does: `end` is a word of SQL's, `count` a function.
FIELDS = {"start_offset": "start", "end_offset": "end", "document_count": "count"}


def canonical(value: object) -> str:
    """`value` as JSON with sorted keys: equal values, equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def row(table: str, record: object, **given: object) -> Row:
    """The cells of `record` in the order of the columns of `table`; those `given` are no fields of it."""
    return tuple(
        given[column] if column in given else getattr(record, FIELDS.get(column, column)) for column in _columns(table)
    )


@cache
def _columns(table: str) -> tuple[str, ...]:
    return opening.columns(opening.sql("schema.sql"))[table]


def tables_of(entries: Iterable[KnowledgeEntry]) -> dict[str, list[Row]]:
    """Rows of every table that entries fill, by the table's name, in the order of the entries."""
    tables: dict[str, list[Row]] = {name: [] for name in _MAKERS}
    for entry in entries:
        for name, make in _MAKERS.items():
            tables[name].extend(make(entry))
    return tables


def _entries(entry: KnowledgeEntry) -> Iterator[Row]:
    yield row(
        "entries",
        entry,
        entry_id=entry.id,
        workaround_count=len(entry.workarounds),
        dead_end_count=len(entry.dead_ends),
        origin=entry.provenance.origin,
        is_answered=is_answered(entry),
        json=canonical(shown(entry).model_dump(mode="json")),
    )


def _evidence(entry: KnowledgeEntry) -> Iterator[Row]:
    return (row("evidence", piece, entry_id=entry.id) for piece in entry.evidence)


def _cited_parts(entry: KnowledgeEntry) -> Iterator[tuple[str, int, list[str]]]:
    yield "root_cause", 0, entry.root_cause_evidence
    graph = entry.transition_graph
    lists: tuple[tuple[str, Sequence[_Cited]], ...] = (
        ("workaround", entry.workarounds),
        ("dead_end", entry.dead_ends),
        ("version", entry.versions),
        ("environment", entry.environment),
        ("leads_to", graph.leads_to),
        ("preceded_by", graph.preceded_by),
        ("frequently_confused_with", graph.frequently_confused_with),
    )
    said = [statement for case in entry.cases for statement in case.statements]
    for part, items in (*lists, ("case_statement", said)):
        for ordinal, item in enumerate(items):
            yield part, ordinal, item.evidence


def _citations(entry: KnowledgeEntry) -> Iterator[Row]:
    for part, ordinal, evidence in _cited_parts(entry):
        for evidence_id in evidence:
            yield entry.id, part, ordinal, evidence_id


def _remedies(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, (way, chinese) in enumerate(zip(entry.workarounds, entry.workarounds_zh, strict=True)):
        place = {"entry_id": entry.id, "kind": "workaround", "ordinal": ordinal, "action_zh": chinese}
        yield row("remedies", way, **place, why_fails=None, rate=way.success_rate)
    for ordinal, (end, chinese) in enumerate(zip(entry.dead_ends, entry.dead_ends_zh, strict=True)):
        place = {"entry_id": entry.id, "kind": "dead_end", "ordinal": ordinal, "action_zh": chinese}
        yield row("remedies", end, **place, how=None, rate=end.fail_rate, tier=None)


def _cases(entry: KnowledgeEntry) -> Iterator[Row]:
    return (row("cases", case, entry_id=entry.id, ordinal=number) for number, case in enumerate(entry.cases))


def _case_statements(entry: KnowledgeEntry) -> Iterator[Row]:
    said = [(number, one) for number, case in enumerate(entry.cases) for one in case.statements]
    for ordinal, (case, one) in enumerate(said):
        yield row("case_statements", one, entry_id=entry.id, ordinal=ordinal, case_ordinal=case)


def _versions(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, item in enumerate(entry.versions):
        yield row("versions", item, entry_id=entry.id, ordinal=ordinal)


def _environment(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, item in enumerate(entry.environment):
        yield row("environment", item, entry_id=entry.id, ordinal=ordinal)


def _edges(entry: KnowledgeEntry) -> Iterator[Row]:
    for relation in ("leads_to", "preceded_by", "frequently_confused_with"):
        for ordinal, edge in enumerate(getattr(entry.transition_graph, relation)):
            yield row("edges", edge, entry_id=entry.id, relation=relation, ordinal=ordinal, other_id=edge.entry_id)


def _translations(entry: KnowledgeEntry) -> Iterator[Row]:
    for field, made in sorted(entry.translations.items()):
        yield row("translations", made, entry_id=entry.id, field=field, gates=canonical(made.gates))


_MAKERS = {
    "entries": _entries,
    "evidence": _evidence,
    "citations": _citations,
    "remedies": _remedies,
    "cases": _cases,
    "case_statements": _case_statements,
    "versions": _versions,
    "environment": _environment,
    "edges": _edges,
    "translations": _translations,
}


# Writing the file: everything into a new one, in one sorted order, then one rename.

#: What the file is written for: DuckDB from 1.0 on reads it. Their own default is the newest form, which no earlier
#: release opens. The price: without zstd, which came with 1.2, the corpus' file has 92 MB instead of 37.
_WRITTEN_FOR = "v1.0.0"

#: Counts of each cluster, from the events of its templates.
_CLUSTER_COUNTS = """
CREATE TEMP TABLE counts AS
SELECT a.cluster_id, count(*) AS event_count, count(DISTINCT e.document_id) AS document_count,
    count(DISTINCT a.signature_id) AS signature_count,
    min(e.posted_at AT TIME ZONE 'UTC')::DATE AS first_seen, max(e.posted_at AT TIME ZONE 'UTC')::DATE AS last_seen
FROM assignments a JOIN events e ON e.signature_id = a.signature_id
WHERE e.severity = 'error' GROUP BY a.cluster_id
"""
#: The same where there are no events, of what entries say: a bundle holds no more.
_ENTRY_COUNTS = """
CREATE TEMP TABLE counts AS
SELECT e.cluster_id, any_value(e.occurrence_count) AS event_count, count(DISTINCT v.document_id) AS document_count,
    min(v.posted_at AT TIME ZONE 'UTC')::DATE AS first_seen, max(v.posted_at AT TIME ZONE 'UTC')::DATE AS last_seen
FROM entries e JOIN evidence v ON v.entry_id = e.entry_id AND v.role = 'occurrence' AND v.kind <> 'doc'
WHERE e.cluster_id IS NOT NULL GROUP BY e.cluster_id
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


def write(path: Path, contents: Contents) -> Path:
    """`path`, now a file with `contents`; the old file stays whole until the new one replaces it by rename."""
    check_replaceable(path)
    staged = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _discard_leftovers(path)
        _fill(staged, contents)
        _publish(staged, path)
    except (OSError, *_DISK_ERRORS) as error:
        raise StoreError(f"cannot write {path}: {error}", path=path, hint=_ADVICE) from error
    finally:
        _discard(staged)
    return path


#: What DuckDB raises where the disk is full or fails: while it writes, and when it commits.
_DISK_ERRORS = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
_ADVICE = "Check free space and rights of the folder; the old file is unharmed."


def add_run(path: Path, run: RunRow) -> None:
    """Nothing; the file at `path` then tells of `run` as well.

    The row goes into a copy that takes the file's place by rename: who reads the file is neither disturbed nor in the
    way. A copy costs a second a gigabyte, where the build before it cost minutes.
    """
    check_replaceable(path)
    staged = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        _discard_leftovers(path)
        shutil.copyfile(path, staged)
        connection = duckdb.connect(str(staged))
        try:
            connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", list(_run_row(run)))
        finally:
            connection.close()
        _publish(staged, path)
    except (OSError, duckdb.Error) as error:
        raise StoreError(f"cannot add a run to {path}: {error}", path=path, hint=_ADVICE) from error
    finally:
        _discard(staged)


def _fill(path: Path, contents: Contents) -> None:
    # one thread: rows keep the order of their ORDER BY in every table
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "preserve_insertion_order": True,
        "storage_compatibility_version": _WRITTEN_FOR,
    }
    connection = duckdb.connect(str(path), config=config)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        opening.hush(connection)
        connection.execute("BEGIN")
        text = opening.sql("schema.sql")
        connection.execute(text)
        _load_shards(connection, contents)
        _load_records(connection, contents)
        connection.execute(";\n".join(opening.comments(text)))
        views = opening.sql("views.sql")
        connection.execute(views)
        for comment in opening.view_comments(connection, views):
            connection.execute(comment)
        connection.execute(opening.sql("search.sql"))
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT")
    finally:
        connection.close()


def _load_shards(connection: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    paths = {
        "documents": contents.documents,
        "events": contents.events,
        "claims": contents.claims,
        "skipped": contents.skipped_files,
    }
    for kind, statement in opening.loading_steps(opening.sql("loading.sql")):
        if paths[kind]:
            connection.execute(statement, {"files": sorted(map(str, paths[kind]))})


def _load_records(connection: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    entries = sorted(contents.entries, key=lambda entry: entry.id)
    connection.execute(_BARE_CLUSTERS)
    tables: dict[str, Iterable[Row]] = dict(tables_of(entries))
    tables |= {
        "bare_clusters": sorted(_cluster_row(cluster) for cluster in contents.clusters),
        "assignments": sorted(row("assignments", one) for one in contents.assignments),
        "neighbours": sorted(row("neighbours", one) for one in contents.neighbours),
        "catalogue": [row("catalogue", code) for code in catalogues.listed()],
        "glossary": sorted(glossary.pairs()),
        "withheld": sorted((row("withheld", one) for one in contents.withheld), key=lambda cells: cells[:2]),
        "skipped": sorted(row("skipped", one) for one in contents.skipped),
        "aliases": sorted(contents.aliases.items()),
        "journal": [row("journal", one, ordinal=n) for n, one in enumerate(contents.journal)],
        "overrides": [row("overrides", one, ordinal=n) for n, one in enumerate(contents.overrides)],
        "cluster_aliases": sorted(contents.cluster_aliases.items()),
        "stage_counts": [row("stage_counts", one) for one in contents.stage_counts],
        "runs": [_run_row(run) for run in contents.runs],
        "schema_versions": [row("schema_versions", step) for step in VERSIONS],
        "meta": sorted(_meta(contents.meta).items()),
    }
    for name, rows in tables.items():
        _insert(connection, name, list(rows))
    connection.execute(_CLUSTER_COUNTS if contents.events else _ENTRY_COUNTS)
    connection.execute(_CLUSTERS)


def _meta(given: Mapping[str, str]) -> dict[str, str]:
    return {**given, "schema_version": SCHEMA_VERSION}


def _cluster_row(cluster: Any) -> Row:
    whole = (cluster.exception_type, cluster.text, canonical(cluster.gate), cluster.regex or None)
    return (cluster.cluster_id, cluster.medoid, *whole, cluster.lowest_score, len(cluster.members))


def _run_row(run: RunRow) -> Row:
    return row("runs", run, detail=canonical(dict(run.detail)))


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    """Nothing; `rows` stand in `table` then. They travel as Arrow columns: row by row is a thousand times slower."""
    if not rows:
        return
    arrays = [pa.array(column) for column in zip(*rows, strict=True)]
    batch = pa.Table.from_arrays(arrays, names=[f"c{place}" for place in range(len(arrays))])
    connection.register("incoming", batch)
    connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")  # noqa: S608  (a name from this module)
    connection.unregister("incoming")


def _publish(staged: Path, path: Path) -> None:
    for target in (staged, path.parent):
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if target is staged:
            staged.replace(path)


def _discard_leftovers(path: Path) -> None:
    """Nothing; half-written files of processes that were killed are gone."""
    for leftover in path.parent.glob(f".{path.name}.*.new*"):
        pid = leftover.name.removeprefix(f".{path.name}.").partition(".")[0]
        if not (pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists()):
            leftover.unlink(missing_ok=True)


def _discard(staged: Path) -> None:
    for leftover in (staged, staged.with_name(staged.name + ".wal")):
        with suppress(OSError):
            leftover.unlink(missing_ok=True)
