"""The rows of all shards by key: what is asked of all of them at once is counted in DuckDB, records are read of a few.

A build never holds the records of all documents. It asks for the templates, for what decides the draft of each
cluster, and for the records of one batch of clusters after the other (`laid_out`). What DuckDB has of every row is a
few columns; beyond its share of memory they lie on the disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.records import Claim, ClaimKind, Skipped, Template
from pipeline.records.disk import literal
from pipeline.records.errors import StoreError
from pipeline.run import shards
from pipeline.run.build import keyed, narrow, reduce, rows_sql
from pipeline.run.shards.columns import Record, Table
from pipeline.run.shards.files import CLAIMS, DOCUMENTS, EVENTS, ORIGINS, SKIPPED

#: What DuckDB may hold at once; the rest of its tables and sorts goes to the disk.
_MEMORY = "768MB"
#: So few batches are copied from where their rows lie, one after the other; of more all is sorted at once.
_FEW_BATCHES = 8
#: Engines without tables that the next builds of this process take: to start one and to end it takes 25 ms of CPU.
_WAITING: list[duckdb.DuckDBPyConnection] = []
#: The database in memory that has the tables of one build.
_TABLES = "rows"
TEMPLATES = Table(Template, shared=("signature_id", "exception_type"))
_SCHEMAS: Mapping[str, Table[Any]] = {
    "documents": DOCUMENTS,
    "events": EVENTS,
    "claims": CLAIMS,
    "skipped": SKIPPED,
    "origins": ORIGINS,
}
#: Claims that say nothing of an error by themselves: of these `reduce` makes some that do, and official pages.
_PLACED_BY_OTHERS = (ClaimKind.CLOSING, ClaimKind.RELEASE)


@dataclass(frozen=True, slots=True)
class Decisive:
    """What decides the draft of a cluster beside itself; equal digests, equal rows."""

    cluster_id: str
    documents: str  # digest of the documents that speak of it, each with its own digest
    claims: str  # of what is claimed of its errors
    candidates: str  # of what is a lead at most
    spoken: tuple[str, ...]  # signatures that these claims name, sorted
    codes: tuple[str, ...]  # codes of its events that have official pages, sorted
    weight: int  # how many documents


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows there are, for the summary."""

    documents: int
    foreign: int  # entries made elsewhere
    hidden: int  # invisible characters that were taken out
    sources: Mapping[str, int]
    events: int
    set_aside: Counter[str]  # events that are not grouped, by severity
    claims: Counter[str]  # by kind
    lost: Counter[tuple[str, str]]  # by stage and reason

    def lost_in(self, *stages: str) -> list[str]:
        """The reasons for which items of these stages were lost, each as often."""
        return [reason for (stage, reason), many in self.lost.items() if stage in stages for _ in range(many)]


@contextmanager
def opened(
    used: Sequence[shards.ShardPaths],
    added: Sequence[shards.ShardPaths] = (),
    *,
    spill: Path,
    threads: int = 1,
    last: narrow.Kept = narrow.NOTHING,
) -> Iterator[Rows]:
    """The rows of the shards `used`, with the claims of the shards `added`; what memory does not hold is in `spill`.

    `last` is what the last build kept of its shards: of those that are there still it is not read again.

    Raises:
        StoreError: the disk refuses.
    """
    try:
        spill.parent.mkdir(parents=True, exist_ok=True)  # DuckDB makes the last folder of its path and no other
    except OSError as error:
        raise _no_room(spill, error) from error
    try:
        with ExitStack() as ending:
            engine = _engine(spill, threads)
            ending.callback(engine.close)
            engine.execute(f"ATTACH ':memory:' AS {_TABLES}")
            with _cursor(engine) as connection:
                yield Rows(connection, used, added, last=last)
            engine.execute(f"DETACH {_TABLES}")
            ending.pop_all()
        _WAITING.append(engine)
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise _no_room(spill, error) from error


def _engine(spill: Path, threads: int) -> duckdb.DuckDBPyConnection:
    """A DuckDB without tables, for whoever closes it or leaves it to the next."""
    while _WAITING:
        with suppress(IndexError, duckdb.Error):  # another thread took it; who was on the disk once cannot move
            engine = _WAITING.pop()
            engine.execute(f"SET temp_directory = '{_quoted(str(spill))}'")
            engine.execute(f"SET threads = {threads}; SET memory_limit = '{_MEMORY}'")
            return engine
    config: dict[str, Any] = {
        "threads": threads,
        "memory_limit": _MEMORY,
        "temp_directory": str(spill),
        "preserve_insertion_order": False,
    }
    return duckdb.connect(config=config)


def _cursor(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Another connection to the same tables."""
    made = connection.cursor()
    made.execute(f"USE {_TABLES}; SET TimeZone = 'UTC'; SET enable_progress_bar = false")
    return made


def _quoted(path: str) -> str:
    return path.replace("'", "''")


def _no_room(spill: Path, error: Exception) -> StoreError:
    hint = "Check free space and rights of the folder, then run `errmine build` again."
    return StoreError(f"cannot count rows, with room at {spill}: {error}", path=spill, hint=hint)


@contextmanager
def _kept_room(place: Path) -> Iterator[None]:
    """Nothing; what Arrow says of the disk at `place` is said as what DuckDB says of it."""
    try:
        yield
    except OSError as error:
        raise _no_room(place, error) from error


class Rows:
    """The rows of shards; see the module."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        used: Sequence[shards.ShardPaths],
        added: Sequence[shards.ShardPaths],
        *,
        last: narrow.Kept,
    ) -> None:
        self._connection = connection
        every = [*used, *added]
        self._lying = [one.rows for one in every]
        self._opened: dict[int, shards.LyingRows] = {}
        self._files = {kind: [str(getattr(one, kind)) for one in every] for kind in _SCHEMAS}
        for kind in ("documents", "events", "skipped", "origins"):  # of what was added only the claims are asked for
            self._files[kind] = self._files[kind][: len(used)]
        numbered = [(path, number) for files in self._files.values() for number, path in enumerate(files)]
        self._put("files", pa.table({"filename": [p for p, _ in numbered], "shard_number": [n for _, n in numbered]}))
        self._empty: set[str] = set()
        self._found = narrow.Found.of([shards.identity(one) for one in used], last, self._narrowed)
        tables = self._found.tables
        self._put("every_document", tables["documents"])
        self._put("events", tables["events"].drop_columns(["quote"]))
        claims = [tables["claims"]]
        if added:
            claims.append(self._narrow("claims", range(len(used), len(every))))
        self._put("claims", pa.concat_tables(claims))
        connection.execute(rows_sql.DOCUMENTS)

    def _narrowed(self, places: Sequence[int]) -> narrow.Tables:
        """What is kept of the shards at these places, under their numbers among these."""
        numbers = pa.array(places, pa.int64())
        found = {kind: self._narrow(kind, places) for kind in narrow.SCHEMAS}
        return {
            kind: table.set_column(0, "shard", pc.index_in(table["shard"], value_set=numbers).cast(pa.int64()))
            for kind, table in found.items()
        }

    def _narrow(self, kind: str, places: Sequence[int]) -> pa.Table:
        """The same of one kind, under the numbers that the shards have."""
        named = ("documents", "origins") if kind == "documents" else (kind,)
        sources = {name: self._source(name, [self._files[name][place] for place in places]) for name in named}
        return self._arrow(rows_sql.NARROW[kind].format(**sources)).cast(narrow.SCHEMAS[kind])

    # ------------------------------------------------------------ since the last build

    @property
    def kept(self) -> narrow.Kept:
        """What the next build need not read of these shards."""
        return self._found.kept

    @cached_property
    def touched(self) -> narrow.Touched | None:
        """What documents the last build did not have as they are now; None where nothing is known of it."""
        return self._found.touched()

    def holding_shards(self, kind: str, column: str, values: Collection[str]) -> frozenset[str]:
        """The names of the shards that have a row of a kind with one of some values in a column."""
        table = self._found.tables[kind].select(["shard", column])
        some = pc.unique(table["shard"].filter(pa.array(keyed.is_in(table[column], values))))
        return frozenset(Path(self._files[kind][number]).stem for number in some.to_pylist())

    # ------------------------------------------------------------ of all

    @cached_property
    def counts(self) -> Counts:
        """How many rows there are."""
        ((documents, foreign, hidden),) = self._rows(
            "SELECT count(*), coalesce(count_if(is_foreign), 0), coalesce(sum(hidden_count), 0) FROM every_document"
        )
        ((events,),) = self._rows("SELECT count(*) FROM events")
        skipped = self._found.tables["skipped"].group_by(["stage", "reason"]).aggregate([([], "count_all")])
        lost = zip(*(column.to_pylist() for column in skipped.select(["stage", "reason", "count_all"])), strict=True)
        return Counts(
            documents=documents,
            foreign=foreign,
            hidden=int(hidden),
            sources=dict(self._rows("SELECT source, count(*) FROM every_document GROUP BY source ORDER BY source")),
            events=events,
            set_aside=Counter(
                dict(self._rows("SELECT severity, count(*) FROM events WHERE signature_id IS NULL GROUP BY ALL"))
            ),
            claims=Counter(dict(self._rows("SELECT kind, count(*) FROM claims WHERE shard IS NOT NULL GROUP BY ALL"))),
            lost=Counter({(stage, reason): count for stage, reason, count in lost}),
        )

    def lost(self, *, but: str, most: int) -> list[Skipped]:
        """The first lost items of the shards, in their order, but those of one stage."""
        table = self._found.tables["skipped"]
        table = table.filter(pc.not_equal(table["stage"], but)).select(["shard", "place"])
        first = table.take(pc.select_k_unstable(table, most, [("shard", "ascending"), ("place", "ascending")]))
        return SKIPPED.read(self._taken("skipped", zip(*(column.to_pylist() for column in first), strict=True)))

    def templates(self) -> list[Template]:
        """The distinct signatures with their counts, sorted by id: all that clustering sees."""
        return TEMPLATES.read(self.template_table())

    def template_table(self, last: pa.Table | None = None) -> pa.Table:
        """The same, as `TEMPLATES` has them; those of the `last` build that no document touched are as they were."""
        touched = self.touched
        if last is None or touched is None:
            last = TEMPLATES.schema.empty_table()
            shown = pc.drop_null(pc.unique(self._found.tables["events"]["signature_id"]))
        else:
            last = last.select(TEMPLATES.schema.names)
            shown = pa.array(sorted(touched.shown), pa.string())
        self._put("wanted", pa.table({"id": shown}))
        self._connection.execute(rows_sql.FIRSTS)
        names = ", ".join(TEMPLATES.schema.names)
        files = self._of_shards("events", "SELECT DISTINCT first.shard FROM firsts")
        asked = rows_sql.OF_TEMPLATES.format(events=self._source("events", files))
        found = self._arrow(f"SELECT {names} FROM ({asked})").cast(TEMPLATES.schema)  # noqa: S608
        return keyed.replaced(last, keyed.is_in(last["signature_id"], shown), found)

    def error_counts(self) -> pa.Table:
        """How many errors have each signature: signature_id, event_count."""
        return self._arrow("""SELECT signature_id, count(*) AS event_count FROM events
            WHERE signature_id IS NOT NULL AND severity = 'error' GROUP BY ALL""")

    def document_digests(self) -> pa.Table:
        """The id and the digest of each document, in order; of one that several keys lead to, theirs together."""
        found = self._arrow("SELECT document_id, coalesce(digest, '') FROM documents")
        return found.sort_by("document_id")  # for which DuckDB takes twice as long

    def document_ids(self) -> Iterator[str]:
        """The ids of all documents."""
        return (document_id for (document_id,) in self._rows("SELECT document_id FROM documents"))

    # ------------------------------------------------------------ by key

    def of_members(self, members: Mapping[str, str]) -> None:
        """Nothing; what is asked of clusters from here on is asked of those with these members, by signature."""
        table = pa.table({"signature_id": list(members.keys()), "cluster_id": list(members.values())})
        self._put("members", table.cast(pa.schema([(name, pa.string()) for name in table.column_names])))

    def decisive(self) -> Iterator[Decisive]:
        """What decides the draft of each cluster, sorted by its id."""
        self._place()
        cursor = _cursor(self._connection)
        cursor.execute(rows_sql.DECISIVE)
        while found := cursor.fetchmany(1000):
            for cluster_id, documents, claims, candidates, spoken, codes, weight in found:
                yield Decisive(cluster_id, documents, claims, candidates, tuple(spoken), tuple(codes), weight)

    def quotes(self) -> Iterator[tuple[str, str, bool]]:
        """(cluster, words, whether an official page says them) of all events of clusters, each once, by cluster."""
        events = self._found.tables["events"].select(["signature_id", "quote", "severity"])
        members = self._arrow("SELECT signature_id FROM members")["signature_id"]
        shown = events.filter(pc.is_in(events["signature_id"], value_set=members.combine_chunks()))
        self._put("shown", shown)
        cursor = _cursor(self._connection)
        cursor.execute(
            """SELECT cluster_id, quote, bool_or(severity = 'official') FROM shown JOIN members USING (signature_id)
            GROUP BY cluster_id, quote ORDER BY cluster_id"""
        )
        while found := cursor.fetchmany(5000):
            yield from found

    def words_that_came(self) -> pa.Table:
        """The same of the events that the last build did not have as they are, where something is known of it."""
        assert self.touched is not None
        return self.touched.came.select(["signature_id", "quote", "severity"])

    def words_of_events(self) -> pa.Table:
        """Signature, words and severity of all events, as they lie; some have no signature."""
        return self._found.tables["events"].select(["signature_id", "quote", "severity"])

    def holding(self, words: frozenset[str], but: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Signature and words of the events that hold all of these words; none of some signatures."""
        return self._found.holding(words, but)

    def events_of(self, signature_ids: Sequence[str]) -> list[tuple[str, str]]:
        """(signature, event) ids of the events with these signatures, in the order of their documents."""
        self._wanted(signature_ids)
        return self._rows(
            """SELECT signature_id, event_id FROM events JOIN wanted ON id = signature_id
            ORDER BY document_id, ordinal, event_id, shard, place"""
        )

    def messages_of(self, document_ids: Iterable[str]) -> list[tuple[str, str, str]]:
        """(document, message, signature) of the grouped events of documents, in the order of their texts."""
        self._wanted(document_ids)
        shards_there = "SELECT DISTINCT shard FROM events JOIN wanted ON id = document_id"
        return self._rows(
            f"""SELECT document_id, event.message, signature.signature_id
            FROM {self._source("events", self._of_shards("events", shards_there))} JOIN files USING (filename)
            JOIN wanted ON id = document_id WHERE signature.signature_id IS NOT NULL
            ORDER BY document_id, ordinal, event_id, shard_number, file_row_number"""  # noqa: S608  (from this module)
        )

    def foreign(self) -> Iterator[shards.DocumentRow]:
        """The entries that were made elsewhere, by their ids."""
        rows = self._records("documents", DOCUMENTS, "SELECT shard, place FROM documents WHERE is_foreign")
        return iter(sorted(rows, key=lambda row: row.document_id))

    @cached_property
    def pages(self) -> shards.MapResult:
        """The official pages, with the claims that hold their words."""
        rows = self._records("documents", DOCUMENTS, "SELECT * FROM documents WHERE code IS NOT NULL")
        words = """SELECT claims.* FROM claims SEMI JOIN (FROM documents WHERE code IS NOT NULL) USING (document_id)
            WHERE kind = 'official'"""
        return shards.MapResult(documents=tuple(rows), claims=tuple(self._records("claims", CLAIMS, words)))

    @cached_property
    def page_digests(self) -> dict[str, list[tuple[str, str]]]:
        """By their code (id, digest) of the official pages."""
        found: dict[str, list[tuple[str, str]]] = {}
        rows = self._rows("SELECT code, document_id, digest FROM documents WHERE code IS NOT NULL ORDER BY 1, 2")
        for code, document_id, digest in rows:
            found.setdefault(code, []).append((document_id, digest))
        return found

    @cached_property
    def placed(self) -> tuple[Claim, ...]:
        """What closed reports and what releases name, as claims about the errors of these reports."""
        kinds = ", ".join(f"'{kind}'" for kind in _PLACED_BY_OTHERS)
        told = self._records("claims", CLAIMS, f"SELECT * FROM claims WHERE kind IN ({kinds})")  # noqa: S608
        if not told:
            return ()
        named = sorted({claim.key for claim in told})
        self._wanted(named)
        reports = "SELECT shard, place FROM documents JOIN wanted ON id = document_id"
        documents = self._records("documents", DOCUMENTS, reports)
        releases = [claim.key for claim in told if claim.kind == ClaimKind.RELEASE]
        if releases:  # they may name what closed a report
            documents += self._closed_by(releases)
        known = {row.document_id: row for row in documents}
        self._wanted(known)
        errors = self._rows(
            """SELECT signature_id, document_id, ordinal, posted_at FROM events JOIN wanted ON id = document_id
            WHERE signature_id IS NOT NULL AND severity = 'error'"""
        )
        opening = reduce.opening(known, [reduce.Shown(*cells) for cells in errors])
        return tuple(reduce.placed(told, known, opening))

    def _closed_by(self, names: Sequence[str]) -> list[shards.DocumentRow]:
        """The documents that say they were closed by one of these."""
        self._wanted(names)
        rows = self._arrow(
            f"""SELECT {", ".join(DOCUMENTS.schema.names)}
            FROM {self._source("documents", self._files["documents"])} JOIN files USING (filename)
            SEMI JOIN documents d ON d.shard = shard_number AND d.place = file_row_number
            WHERE list_has_any((links::JSON->>'$[*].target')::VARCHAR[], (SELECT list(id) FROM wanted))"""  # noqa: S608
        )
        return DOCUMENTS.read(rows)

    def _place(self) -> None:
        """Nothing; what decides drafts knows of the claims that others place."""
        if self._rows("SELECT count(*) FROM claims WHERE shard IS NULL") == [(0,)] and self.placed:
            cells = [(c.claim_id, str(c.kind), c.key, c.quote.document_id, list(c.signature_ids)) for c in self.placed]
            ids, kinds, keys, documents, signatures = zip(*cells, strict=True)
            columns = [pa.array(column) for column in (ids, kinds, keys, documents, signatures)]
            self._put("newly_placed", pa.Table.from_arrays(columns, ["claim_id", "kind", "key", "document_id", "ids"]))
            self._connection.execute(
                "INSERT INTO claims BY NAME SELECT * RENAME (ids AS signature_ids) FROM newly_placed"
            )

    # ------------------------------------------------------------ batches

    def lay_out(self, batches: Sequence[Iterable[str]], folder: Path) -> None:
        """Nothing; `folder` holds the records that speak of each batch of signatures, for `laid_out`."""
        self._place()
        cells = [(signature_id, number) for number, batch in enumerate(batches) for signature_id in batch]
        names, numbers = zip(*cells, strict=True)
        self._put("batches", pa.table({"signature_id": pa.array(names, pa.string()), "batch": numbers}))
        put = self._put_few if len(batches) <= _FEW_BATCHES else self._put_batches
        with _kept_room(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for kind, chosen in rows_sql.CHOSEN.items():
                put(kind, chosen, folder / f"{kind}.parquet")
        self._opened.clear()  # what is mapped counts as this process's own

    def _put_batches(self, kind: str, chosen: str, path: Path) -> None:
        files = self._source(kind, self._of_shards(kind, f"SELECT DISTINCT shard FROM ({chosen})"))  # noqa: S608
        columns = ", ".join(f'rows."{name}"' for name in _SCHEMAS[kind].schema.names)
        self._connection.execute(
            f"""COPY (SELECT batch, {columns} FROM {files} rows JOIN files USING (filename)
            JOIN ({chosen}) chosen ON shard = shard_number AND place = file_row_number
            ORDER BY batch, shard_number, file_row_number)
            TO '{_quoted(str(path))}' (FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE {rows_sql.ROW_GROUP})"""  # noqa: S608
        )

    def _put_few(self, kind: str, chosen: str, path: Path) -> None:
        """The same of a few batches, one after the other: nothing is to be sorted, for which DuckDB has room."""
        places = self._rows(f"SELECT DISTINCT batch, shard, place FROM ({chosen}) ORDER BY ALL")  # noqa: S608
        batch_of = pa.field("batch", pa.int64())
        with pq.ParquetWriter(path, pa.schema([batch_of, *_SCHEMAS[kind].schema]), compression="lz4") as file:
            for batch, inside in groupby(places, key=itemgetter(0)):
                found = self._taken(kind, [(shard, place) for _, shard, place in inside])
                numbers = pa.repeat(pa.scalar(batch, pa.int64()), len(found))
                file.write_table(found.add_column(0, batch_of, numbers), row_group_size=rows_sql.ROW_GROUP)

    def let_go(self) -> None:
        """Nothing; from here on only documents are asked for, and what was lost: the room of the others is free."""
        for (name,) in self._rows("SELECT table_name FROM duckdb_tables()"):
            if name not in ("documents", "files") and not name.startswith("no_"):
                self._connection.execute(f"DROP TABLE {name}")

    # ------------------------------------------------------------ how

    def _source(self, kind: str, files: Sequence[str]) -> str:
        """What stands behind FROM for the rows of these files, with their numbers."""
        if not files:
            if kind not in self._empty:
                self._put(f"no_{kind}", _SCHEMAS[kind].schema.empty_table())
                self._empty.add(kind)
            return f"(SELECT *, '' AS filename, 0::BIGINT AS file_row_number FROM no_{kind})"  # noqa: S608
        listed = ", ".join(f"'{_quoted(path)}'" for path in literal(files))
        return f"read_parquet([{listed}], filename = true, file_row_number = true, hive_partitioning = false)"

    def _of_shards(self, kind: str, numbers: str) -> list[str]:
        """The files of a kind in the shards that a query names."""
        return [self._files[kind][number] for (number,) in sorted(self._rows(numbers))]

    def _records(self, kind: str, table: Table[Record], chosen: str) -> list[Record]:
        """The records at the places (shard, place) that a query names, in the order of the shards."""
        return table.read(self._at(kind, chosen))

    def _at(self, kind: str, chosen: str) -> pa.Table:
        """The rows at the places (shard, place) that a query names, in their order.

        Of a few rows DuckDB needs four times as long for all columns as Arrow does.
        """
        return self._taken(kind, self._rows(f"SELECT DISTINCT shard, place FROM ({chosen}) ORDER BY ALL"))  # noqa: S608

    def _taken(self, kind: str, places: Iterable[tuple[int, int]]) -> pa.Table:
        """The rows at these places, which are in order."""
        found: list[pa.StructArray] = []
        for shard, inside in groupby(places, key=itemgetter(0)):
            if shard not in self._opened:
                self._opened[shard] = shards.LyingRows(self._lying[shard])
            found += self._opened[shard].rows(kind, [place for _, place in inside])
        return shards.rows_of(kind, found)

    def _wanted(self, ids: Iterable[str]) -> None:
        self._put("wanted", pa.table({"id": pa.array(sorted(set(ids)), pa.string())}))

    def _put(self, name: str, incoming: pa.Table) -> None:
        """Nothing; there is a table of that name with these rows: DuckDB finds them under their name here."""
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM incoming")  # noqa: S608

    def _arrow(self, statement: str) -> pa.Table:
        return self._connection.sql(statement).to_arrow_table()

    def _rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Any]:
        return self._connection.execute(statement, parameters or {}).fetchall()


def laid_out(folder: Path, batch: int) -> shards.MapResult:
    """The records of a batch that `Rows.lay_out` put into `folder`."""

    def read(kind: str, table: Table[Record]) -> tuple[Record, ...]:
        with pq.ParquetFile(folder / f"{kind}.parquet") as file:
            groups = [number for number in range(file.num_row_groups) if _may_hold(file, number, batch)]
            found = file.read_row_groups(groups, columns=["batch", *table.schema.names], use_threads=False)
        return tuple(table.read(found.filter(pc.equal(found["batch"], batch)).select(table.schema.names)))

    return shards.MapResult(read("documents", DOCUMENTS), read("events", EVENTS), read("claims", CLAIMS))


def _may_hold(file: pq.ParquetFile, group: int, batch: int) -> bool:
    """Whether rows of a batch may be in a group of rows of a file whose first column is their batch."""
    told = file.metadata.row_group(group).column(0).statistics
    return told is None or not told.has_min_max or told.min <= batch <= told.max
