"""The database brought up to date: in a copy of the file what changed goes and comes, and the copy takes its place.

What a file holds is noted (`noted`), by document, by entry and by cluster. Rows of those that changed are deleted and
put in anew, and so are rows of clusters that are counted from them; the journal grows. Of tables that belong to none of
these, and are short, all rows are made and compared where they are not told as before. The outcome has the digest of a
file that is written whole. Where nothing is known of the file, it is written whole.

DuckDB gives deleted space back only in part. What has grown by a quarter beyond what it was when it was last written
whole, row for row, is copied table by table into a file of its own, in the order in which `writing` puts them.
A file of few rows is written whole: that is quicker.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.records import chained, kept
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import StoreError
from pipeline.store import engine, noted, opening, querying
from pipeline.store.contents import Contents, InColumns, RunRow
from pipeline.store.engine import staged, transaction
from pipeline.store.noted import Digests, Held, Journaled, Size, Told
from pipeline.store.rows import ENTRY_TABLES, cluster_cells, row, run_row
from pipeline.store.writing import (
    SHARDS,
    bring_registry,
    files_of,
    insert_entries,
    insert_journal,
    insert_of_clusters,
    insert_others,
    load,
    others,
    row_count,
    write_counted,
)

#: A file may be so much larger than its rows were in one that was written whole. 26 of 7,560 entries a round make it
#: half a per cent larger, so that a copy is due every second day of hourly rounds.
_MOST_DEAD = 1.25
#: A file of fewer rows is written whole. To bring one up to date takes 0.3 s of CPU whatever it holds, and as much
#: again where it has grown, which a small one does each time; to write the sample's 8,200 rows takes 0.3 s.
FEW_ROWS = 10_000
#: `ioctl` that lets two files share their blocks until one of them changes, on file systems that know of it.
_FICLONE = 0x40049409

#: From so many bytes on a file is copied meanwhile: see `copied_meanwhile`.
_LARGE = 64 << 20

#: Tables in which each row is of one cluster.
_OF_CLUSTERS = ("assignments", "neighbours", "withheld", "clusters")
#: A digest of each cluster, of the lines of its rows in all of these: of one table no two lines are equal.
_LINES = " UNION ALL ".join(
    f"SELECT cluster_id, md5_number('{table}' || chr(30) || line) AS digest FROM lines_{table}"  # noqa: S608
    for table in _OF_CLUSTERS
)
_DIGESTS = f"SELECT cluster_id, hex(bit_xor(digest)) FROM ({_LINES}) GROUP BY cluster_id ORDER BY cluster_id"  # noqa: S608
#: Clusters whose rows may be others though nothing of themselves is: they are counted from events, and name an entry.
_COUNTED_ANEW = {
    "events": "SELECT cluster_id FROM assignments WHERE signature_id IN (FROM changed_signatures)",
    "entries": "SELECT cluster_id FROM entries WHERE entry_id IN (FROM changed_entries)",
}
#: Entries whose sign may be another one: it tells of the row, of the cluster, and of the signatures of its members.
_SIGNED_ANEW = """SELECT entry_id FROM entries
    WHERE entry_id IN (FROM changed_entries) OR cluster_id IN (FROM changed_clusters)"""
#: Tables of rows that no document, entry or cluster owns, but the journal. Those of what errmine itself knows
#: (`insert_known`) are not among them: who makes the file is who made it before.
_OTHERS = ("skipped", "aliases", "overrides", "cluster_aliases", "stage_counts", "runs", "meta")
#: Of these the ones in which rows have their order by place alone.
_BY_PLACE = frozenset({"stage_counts"})
#: Which rows of the shards a table gets anew.
_CHOSEN = {
    "documents": "document_id IN (FROM changed_documents)",
    "official_docs": "document_id IN (FROM changed_documents)",
    "events": "document_id IN (FROM changed_documents)",
    "parameters": "document_id IN (FROM changed_documents)",
    "claims": "quote.document_id IN (FROM changed_documents)",
}
#: Signatures that documents had before they changed; those that they have then and had not; and rows of the latter.
_SIGNATURES_GONE = "SELECT DISTINCT signature_id FROM events WHERE document_id IN (FROM changed_documents)"
_SIGNATURES_COME = """SELECT DISTINCT signature_id FROM events ANTI JOIN changed_signatures USING (signature_id)
    WHERE document_id IN (FROM changed_documents)"""
_SIGNATURES_STAYED = "FROM signatures WHERE signature_id IN (FROM came_signatures)"
#: Of which events the rows of both are made: of the former all, of the latter those that their rows do not tell of yet.
_SIGNED_BEFORE = "signature.signature_id IN (FROM changed_signatures)"
_SIGNED_NOW = "document_id IN (FROM changed_documents) AND signature.signature_id IN (FROM came_signatures)"
#: Two rows of a signature, of other documents each, as the one that loading.sql makes of all.
_ADDED_UP = """CREATE TEMP TABLE added_up AS
SELECT signature_id, min(exception_type) AS exception_type, min(signature) AS signature, min(gate) AS gate,
    bool_and(is_gate_complete) AS is_gate_complete, bool_and(is_truncated) AS is_truncated,
    sum(event_count)::BIGINT AS event_count, sum(document_count)::BIGINT AS document_count,
    min(first_seen) AS first_seen, max(last_seen) AS last_seen
FROM (FROM signatures WHERE signature_id IN (SELECT signature_id FROM stayed) UNION ALL FROM stayed)
GROUP BY signature_id"""
#: Entries that other words find.
_FOUND_ANEW = """FROM changed_entries UNION
    SELECT entry_id FROM evidence WHERE document_id IN (FROM changed_documents)"""
#: The order of rows in a file that is written whole; in all other tables they have it by place.
_ORDER = {
    "documents": "document_id",
    "official_docs": "document_id",
    "events": "document_id, ordinal, event_id",
    "signatures": "signature_id",
    "parameters": "event_id, ordinal",
    "claims": "document_id, claim_id",
    "clusters": "cluster_id",
    "withheld": "cluster_id, claim_id",
    "search_terms": "term, entry_id",
    "search_sizes": "entry_id",
    "registry": "entry_id",
    **dict.fromkeys(ENTRY_TABLES, "entry_id"),
    **dict.fromkeys(("assignments", "neighbours", "skipped", "aliases", "cluster_aliases", "meta"), "ALL"),
    "journal": "ordinal",
}


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A copy that a thread makes of a file, and what the file was when it was begun."""

    sign: kept.Sign
    made: Path
    future: Future[None]


#: By the file that it is of.
_AHEAD: dict[Path, _Ahead] = {}


def bring(path: Path, contents: Contents, told: Told, *, note: Path) -> Digests:
    """By entry id the sha256 of its row; the file at `path` has `contents`, which `told` tells, as if made anew.

    Entries are in the order of their ids. Of those that stayed as they were none is asked for, and no row is read.

    `note` is the folder in which it stands what the file holds. Killed at any moment, the old file stays whole, or the
    new one is in its place; where the note is not of it, the next call writes it whole.

    Raises:
        StoreError: the file may not be replaced, or the disk refuses.
    """
    last = noted.read(note) if told.made_by else None
    known = last.told.journal if last else Journaled()
    rows = contents.journal if isinstance(contents.journal, chained.Rows) else chained.Rows(contents.journal)
    told = replace(
        told,
        clusters=_clusters_of(path, contents),
        journal=known.going_on(rows),
        others=_others_of(contents),
    )
    if last is None or last.told.made_by != told.made_by or not last.fits(path):
        whole, lines, signs = _written(path, contents)
    elif last.told == told and _has_runs(path, contents.runs):
        return last.lines
    elif last.whole.row_count < FEW_ROWS:
        whole, lines, signs = _written(path, contents)
    else:
        whole, lines, signs = _brought_whole(path, contents, told, last)
    if told.made_by:
        checksum, sign = noted.seen(path)
        if last is not None and whole is last.whole and not noted.is_sound(path, checksum, last.checksum):
            whole, lines, signs = _written(path, contents)
            checksum, sign = noted.seen(path)
        noted.write(note, Held(told, checksum, whole, lines, signs, sign))
    else:
        noted.forget(note)
    return lines


def add_runs(path: Path, runs: Sequence[RunRow], *, note: Path | None = None) -> None:
    """Nothing; the file at `path` then tells of `runs` as well, and the note in the folder `note` stays true of it.

    Rows go into a copy. It costs a second a gigabyte, where the build before it cost minutes.

    Raises:
        StoreError: the file may not be replaced, or the disk refuses.
    """
    before = noted.checksum_known(note, path) if note else ""
    with staged(path, telling="cannot add a run to") as made:
        _copy(path, made)
        with transaction(made) as connection:
            there = {run_id for (run_id,) in connection.execute("SELECT run_id FROM runs").fetchall()}
            for run_id, run in {run.run_id: run for run in runs}.items():
                if run_id not in there:
                    connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", list(run_row(run)))
    if note:
        noted.renew(note, before, path)


def _clusters_of(path: Path, contents: Contents) -> Digests:
    """By cluster a digest of all that it is and of the rows that are its own: equal digests, equal rows.

    They are made in the engine: of a million threads Python hashes for four seconds.
    """
    every: Mapping[str, Sequence[Any]] = {
        "clusters": contents.clusters,
        "assignments": contents.assignments,
        "neighbours": contents.neighbours,
        "withheld": contents.withheld,
    }
    with engine.alone(path) as connection:
        for table, records in every.items():
            lines = records.lines() if isinstance(records, InColumns) else _lines(table, records)
            connection.register(f"lines_{table}", lines)
        return Digests(connection.sql(_DIGESTS).to_arrow_table())


def _lines(table: str, records: Sequence[Any]) -> pa.Table:
    """See `InColumns`: of equal records each has its number."""
    cells = cluster_cells if table == "clusters" else partial(row, table)
    told = [(one.cluster_id, repr(cells(one))) for one in records]
    seen: defaultdict[tuple[str, str], count[int]] = defaultdict(count)
    lines = [(cluster_id, f"{line} {next(seen[cluster_id, line])}") for cluster_id, line in told]
    columns = zip(*lines, strict=True) if lines else ((), ())
    return pa.table([pa.array(column, pa.string()) for column in columns], names=["cluster_id", "line"])


def _others_of(contents: Contents) -> dict[str, str]:
    """By table a digest of its rows, of those that no document, entry or cluster owns; without the runs.

    Of `skipped` also what was lost before there was a document.
    """
    told = {}
    for name, rows in others(contents):
        if name != "runs":
            digest = hashlib.blake2b(digest_size=16)
            for cells in rows:
                digest.update(repr(cells).encode("utf-8", "surrogatepass") + b"\x1e")
            for path in sorted(contents.skipped_files) if name == "skipped" else ():
                digest.update(path.read_bytes() if path.exists() else b"")
            told[name] = digest.hexdigest()
    return told | ({"registry": contents.registry.digest} if contents.registry is not None else {})


def _has_runs(path: Path, runs: Iterable[RunRow]) -> bool:
    """Whether the file, which is ours to the bit, tells of all these runs."""
    with engine.looked_at(path) as connection:
        there = {run_id for (run_id,) in connection.execute("SELECT run_id FROM runs").fetchall()}
    return all(run.run_id in there for run in runs)


def _changed(before: Digests, now: Digests) -> list[str]:
    """The keys that came, went, or have another digest."""
    return before.changed(now)


def _brought_whole(path: Path, contents: Contents, told: Told, last: Held) -> tuple[Size, Digests, Digests]:
    """What `_brought` gives; of a file that is damaged, where that is noticed, what `_written` does."""
    try:
        return _brought(path, contents, told, last)
    except (StoreError, duckdb.Error) as error:
        if not opening.is_damage(error if isinstance(error, duckdb.Error) else error.__cause__ or error):
            raise
    return _written(path, contents)


def _brought(path: Path, contents: Contents, told: Told, last: Held) -> tuple[Size, Digests, Digests]:
    """Puts into the file at `path` what differs from what it held; how large it was when nothing in it was dead.

    And the sha256 of the row of each entry, and its sign.
    """
    entries = _changed(last.told.entries, told.entries)
    with staged(path) as made:
        _copy(path, made)
        with transaction(made) as connection:
            documents = _changed(last.told.documents, told.documents)
            _name(connection, "changed_documents", "document_id", documents)
            _name(connection, "changed_entries", "entry_id", entries)
            _name(connection, "changed_clusters", "cluster_id", _changed(last.told.clusters, told.clusters))
            _bring_documents(connection, contents, documents)
            _count_anew(connection)
            there = [contents.entries[place] for place in told.entries.places(entries)]
            came = _bring_entries(connection, there)
            lines = last.lines.with_those_of(entries, Digests.of({name: one for name, (one, _) in came.items()}))
            _count_anew(connection)
            _bring_clusters(connection, contents)
            _bring_journal(connection, contents, told.journal, last.told.journal)
            if told.others.get("registry") != last.told.others.get("registry"):
                bring_registry(connection, contents)
            _bring_others(connection, contents, _differing(last.told, told))
            _bring_words(connection)
            signs = _signed_anew(last.signs, entries, came, querying.indexed_of(connection, _SIGNED_ANEW))
            rows = row_count(connection)
        if made.stat().st_size <= _MOST_DEAD * last.whole.byte_count * rows / max(last.whole.row_count, 1):
            return last.whole, lines, signs
        _compact(made)
        return Size(made.stat().st_size, rows), lines, signs


def _written(path: Path, contents: Contents) -> tuple[Size, Digests, Digests]:
    """Puts into the place of the file at `path` one that is written whole; gives what `_brought` does."""
    count, lines, signs = write_counted(path, contents)
    return Size(path.stat().st_size, count), Digests.of(lines), _signed(signs)


def _signed(signs: pa.Table) -> Digests:
    """What is noted of the signs of entries."""
    told = map(noted.sign_told, signs["size"].to_pylist(), signs["indexed"].to_pylist())
    return Digests.of(dict(zip(signs["entry_id"].to_pylist(), told, strict=True)))


def _signed_anew(
    last: Digests, entries: Sequence[str], came: Mapping[str, tuple[str, int]], indexed: Mapping[str, str]
) -> Digests:
    """`last` without the `entries` that changed, and with the signs of those that `indexed` says anew."""
    stayed = last.table.take(pa.array(last.places([name for name in indexed if name not in came]), pa.int64()))
    sizes = {name: size for name, (_, size) in came.items()}
    sizes |= zip(stayed["key"].to_pylist(), map(noted.size_told, stayed["digest"].to_pylist()), strict=True)
    signs = {name: noted.sign_told(sizes[name], told) for name, told in indexed.items() if name in sizes}
    return last.with_those_of([*entries, *indexed], Digests.of(signs))


@contextmanager
def copied_meanwhile(path: Path, *, is_worth: bool) -> Iterator[None]:
    """Inside the context a thread copies the file at `path`, if that `is_worth` it, for the `bring` that is to come.

    That one takes the copy if nothing touched the file. Where file systems do not share blocks a large file takes a
    second a gigabyte, and longer to reach the disk.
    """
    sign, made = kept.sign_of(path), engine.ahead_of(path)
    if not is_worth or sign is None or sign[0] < _LARGE:
        yield
        return
    try:
        with ThreadPoolExecutor(1, "copy") as pool:
            _AHEAD[path] = _Ahead(sign, made, pool.submit(_copied, path, made))
            yield
    finally:
        _AHEAD.pop(path, None)
        made.unlink(missing_ok=True)


def _copy(path: Path, made: Path) -> None:
    """Nothing; `made` has the bytes of `path`: the copy that was made meanwhile, if there is one that is whole."""
    ahead = _AHEAD.pop(path, None)
    if ahead is not None and ahead.future.exception() is None and ahead.sign == kept.sign_of(path):
        ahead.made.replace(made)
    else:
        _copied(path, made)


def _copied(path: Path, made: Path) -> None:
    """Nothing; `made` has the bytes of `path`, and shares its blocks where the file system can."""
    with path.open("rb") as source, made.open("wb") as target, suppress(OSError):
        fcntl.ioctl(target, _FICLONE, source.fileno())
        return
    shutil.copyfile(path, made)


def _name(connection: duckdb.DuckDBPyConnection, table: str, column: str, ids: list[str]) -> None:
    connection.execute(f"CREATE TEMP TABLE {table} AS SELECT unnest($1::VARCHAR[]) AS {column}", [ids])


def _bring_documents(connection: duckdb.DuckDBPyConnection, contents: Contents, documents: Collection[str]) -> None:
    """Nothing; what shards say of the documents that changed is what they say now, and so are signatures of theirs."""
    connection.execute(f"CREATE TEMP TABLE changed_signatures AS {_SIGNATURES_GONE}")
    events = "SELECT event_id FROM events WHERE document_id IN (FROM changed_documents)"
    connection.execute(f"DELETE FROM parameters WHERE event_id IN ({events})")  # noqa: S608  (as above)
    for table in ("documents", "official_docs", "events", "claims"):
        connection.execute(f"DELETE FROM {table} WHERE document_id IN (FROM changed_documents)")  # noqa: S608
    some = _holding(contents, "documents", "document_id", documents)
    for table, kind, statement in opening.loading_steps(opening.sql("loading.sql")):
        if table == "signatures":
            asked = "SELECT signature_id FROM changed_signatures WHERE signature_id IS NOT NULL"
            had = [signature_id for (signature_id,) in connection.execute(asked).fetchall()]
            showing = _holding(contents, "events", "signature_id", had)
            _bring_signatures(connection, statement, showing[kind] if had else [], some[kind])
        elif table in _CHOSEN and some[kind]:
            load(connection, statement.replace(SHARDS, _rows(_CHOSEN[table])), some[kind])


def _rows(chosen: str) -> str:
    return f"(SELECT * FROM {SHARDS} WHERE {chosen})"  # noqa: S608  (from this module)


def _bring_signatures(
    connection: duckdb.DuckDBPyConnection, statement: str, showing: list[str], some: list[str]
) -> None:
    """Nothing; signatures of the documents that changed have their rows, and are among those that changed.

    Those that such a document had are made of all events, which are in the files `showing` them; to those that one has
    now alone its events are added, which are in `some`.
    """
    connection.execute(f"CREATE TEMP TABLE came_signatures AS {_SIGNATURES_COME}")
    connection.execute(f"CREATE TEMP TABLE stayed AS {_SIGNATURES_STAYED}")
    for names in ("changed_signatures", "came_signatures"):
        connection.execute(f"DELETE FROM signatures WHERE signature_id IN (FROM {names})")  # noqa: S608
    for chosen, files in ((_SIGNED_BEFORE, showing), (_SIGNED_NOW, some)):
        if files:
            load(connection, statement.replace(SHARDS, _rows(chosen)), files)
    connection.execute(_ADDED_UP)
    connection.execute("DELETE FROM signatures WHERE signature_id IN (SELECT signature_id FROM stayed)")
    connection.execute("INSERT INTO signatures BY NAME FROM added_up ORDER BY signature_id")
    connection.execute("INSERT INTO changed_signatures FROM came_signatures")


def _holding(contents: Contents, kind: str, column: str, values: Collection[str]) -> dict[str, list[str]]:
    """The files of those shards that have a row of a kind with one of these values in a column, or of all of them."""
    every = files_of(contents)
    if contents.holding is None:
        return every
    names = contents.holding(kind, column, values)
    return {kind: [path for path in paths if Path(path).stem in names] for kind, paths in every.items()}


def _bring_entries(
    connection: duckdb.DuckDBPyConnection, entries: Sequence[KnowledgeEntry]
) -> dict[str, tuple[str, int]]:
    """What `insert_entries` gives; the rows of the entries that changed are these."""
    for table in ENTRY_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE entry_id IN (FROM changed_entries)")  # noqa: S608
    return insert_entries(connection, entries)


def _count_anew(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing; those clusters are changed too whose rows in the file are counted from what changed."""
    for asked in _COUNTED_ANEW.values():
        connection.execute(f"INSERT INTO changed_clusters {asked}")


def _bring_clusters(connection: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    """Nothing; the rows of the clusters that changed are those of now."""
    for table in _OF_CLUSTERS:
        connection.execute(f"DELETE FROM {table} WHERE cluster_id IN (FROM changed_clusters)")  # noqa: S608
    chosen = connection.execute("SELECT DISTINCT cluster_id FROM changed_clusters").fetchall()
    insert_of_clusters(connection, contents, {str(cluster_id) for (cluster_id,) in chosen})


def _bring_journal(
    connection: duckdb.DuckDBPyConnection, contents: Contents, now: Journaled, before: Journaled
) -> None:
    """Nothing; the journal has its rows of now: nearly always some came behind those that it had."""
    count, _ = now.kept
    if count < before.count:
        connection.execute("DELETE FROM journal WHERE ordinal >= ?", [count])
    insert_journal(connection, contents, but=count)


def _differing(before: Told, now: Told) -> list[str]:
    """The tables that nobody owns whose rows may be others."""
    same = {name for name, digest in now.others.items() if before.others.get(name) == digest}
    if before.documents != now.documents:  # of events that are no errors there are rows as well
        same.discard("skipped")
    return [name for name in _OTHERS if name not in same]


def _bring_others(connection: duckdb.DuckDBPyConnection, contents: Contents, tables: Sequence[str]) -> None:
    """Nothing; these tables have the rows of now: made under their names as temporary ones, compared."""
    ((catalog,),) = connection.execute("SELECT current_database()").fetchall()
    file = f'"{str(catalog).replace(chr(34), chr(34) * 2)}".main'
    for table in tables:
        connection.execute(f"CREATE TEMP TABLE {table} AS FROM {file}.{table} LIMIT 0")
    for table, kind, statement in opening.loading_steps(opening.sql("loading.sql")):
        if table in tables and files_of(contents)[kind]:
            load(connection, statement, files_of(contents)[kind])
    insert_others(connection, contents, tables)
    for table in tables:
        _even(connection, f"{file}.{table}", f"temp.{table}", is_by_place=table in _BY_PLACE)
        connection.execute(f"DROP TABLE temp.{table}")


def _even(connection: duckdb.DuckDBPyConnection, table: str, wanted: str, *, is_by_place: bool) -> None:
    """Nothing; `table` has the rows of `wanted`, each as often."""
    for name, rows in (("had", table), ("wants", wanted)):
        connection.execute(f"""CREATE TEMP TABLE {name} AS
            SELECT place, line, row_number() OVER (PARTITION BY line ORDER BY place) AS number
            FROM (SELECT rowid AS place, to_json(t)::VARCHAR AS line FROM {rows} t)""")  # noqa: S608
    gone, come = (
        f"(SELECT place FROM {one} ANTI JOIN {other} USING (line, number))"  # noqa: S608
        for one, other in (("had", "wants"), ("wants", "had"))
    )
    if is_by_place:
        ((differs,),) = connection.execute(f"SELECT EXISTS {gone} OR EXISTS {come}").fetchall()
        gone = come = "(SELECT place FROM had UNION ALL SELECT place FROM wants)" if differs else "(SELECT -1)"
    connection.execute(f"DELETE FROM {table} WHERE rowid IN {gone}")  # noqa: S608
    connection.execute(f"INSERT INTO {table} SELECT * FROM {wanted} WHERE rowid IN {come} ORDER BY rowid")  # noqa: S608
    connection.execute("DROP TABLE had; DROP TABLE wants")


def _bring_words(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing; entries are found by the words of now: those that changed, and those of documents that did (titles)."""
    connection.execute(f"CREATE TEMP TABLE to_search AS {_FOUND_ANEW}")
    for table in ("search_terms", "search_sizes"):
        connection.execute(f"DELETE FROM {table} WHERE entry_id IN (FROM to_search)")  # noqa: S608
    connection.execute(opening.sql("searched.sql"))


def _compact(path: Path) -> None:
    """Nothing; the file at `path` has the same rows, in the order of one that is written whole, and nothing else."""
    made = path.with_name(f"{path.name}.whole")
    made.unlink(missing_ok=True)
    with transaction(made, is_new=True) as connection:
        grown = engine.beside(connection, path)
        for table, _ in opening.tables(opening.sql("schema.sql")):
            order = _ORDER.get(table, "rowid")
            by = order if order in ("ALL", "rowid") else f"{order}, rowid"
            connection.execute(f"INSERT INTO {table} SELECT * FROM {grown}.main.{table} ORDER BY {by}")  # noqa: S608
    made.replace(path)
