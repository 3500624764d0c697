"""The DuckDB file: whole or old, walled in, equal content from equal input, every table explained."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import store
from pipeline.records import Skipped
from pipeline.records.errors import ConfigError, StoreError
from pipeline.run import Places
from pipeline.store import engine, opening, writing
from tests import entry_factory as make
from tests import golden


def _with_replies(**changes: Any) -> dict[str, Any]:
    """An entry with a case whose workaround is answered twice, and the case's act once."""
    raw = make.raw_entry_with_case(**changes)
    worked, failed = (make.reply(make.evidence(number), outcome) for number, outcome in ((4, "worked"), (5, "failed")))
    raw["workarounds"][0]["replies"] = [worked, failed]
    raw["cases"][0]["statements"][0]["replies"] = [worked]
    return raw


def contents(folder: Path) -> store.Contents:
    shard = make.written_shard(folder)
    return store.Contents(
        documents=(shard.documents,),
        events=(shard.events,),
        claims=(shard.claims,),
        skipped_files=(shard.skipped,),
        clusters=(make.CLUSTER,),
        assignments=(make.ASSIGNMENT,),
        neighbours=(make.NEIGHBOUR,),
        entries=(
            make.entry(),
            make.KnowledgeEntry.model_validate(_with_replies(id="triton/another", cluster_id=None)),
        ),
        withheld=(
            store.WithheldRow(
                make.CLUSTER.cluster_id, "claim:1", make.document(1).document_id, "o/r", None, "names_nothing"
            ),
        ),
        skipped=(Skipped("validate", "triton/bad", "broken_rule"),),
        aliases={"triton/old-name": "triton/out-of-resources-shared-memory"},
        journal=(store.JournalRow("new", "cluster:0000000000000001", None, "first seen"),),
        stage_counts=(store.StageCount("extract", "document", 4, 3, 1),),
        meta={"normaliser": "7"},
    )


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    return store.write(folder / "errmine.duckdb", contents(folder))


def ask(path: Path, sql: str) -> list[tuple[object, ...]]:
    return store.query(path, sql).rows


def test_every_table_holds_its_rows(database: Path) -> None:
    counts = store.table_counts(database)
    assert counts["documents"] == counts["events"] == 3
    assert counts["parameters"] == 6
    assert (counts["entries"], counts["evidence"], counts["remedies"], counts["skipped"]) == (2, 6, 4, 2)
    answered = ask(database, "SELECT entry_id, part, ordinal, outcome FROM replies ORDER BY ALL")
    assert answered == [
        ("triton/another", part, 0, outcome)
        for part, outcome in (("case_statement", "worked"), ("workaround", "failed"), ("workaround", "worked"))
    ]
    empty = {name for name, count in counts.items() if not count}
    assert empty == {"versions", "edges", "runs", "overrides", "cluster_aliases", "registry"}


def test_clusters_are_counted_from_events(database: Path) -> None:
    row = ask(database, "SELECT entry_id, event_count, document_count, first_seen::VARCHAR FROM clusters")
    assert row == [("triton/out-of-resources-shared-memory", 3, 3, "2026-03-01")]


def test_slots_can_be_asked_as_numbers(database: Path) -> None:
    row = ask(database, "SELECT least, greatest, unit FROM parameter_summary WHERE name = 'required'")
    assert row == [(147457.0, 147459.0, "byte")]


@pytest.mark.long
def test_a_small_file_is_not_searched_for_parts_that_strings_share(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SMALL", 0)
    searched = store.write(tmp_path / "errmine.duckdb", contents(tmp_path))
    kinds = "SELECT DISTINCT compression FROM pragma_storage_info('catalogue')"
    assert ("FSST",) in ask(searched, kinds)
    assert ("FSST",) not in ask(database, kinds)
    assert store.digest(searched) == store.digest(database)


def test_only_a_file_that_is_to_the_bit_what_a_build_left_is_read_without_walls(
    sample_home: Path, tmp_path: Path
) -> None:
    places = Places.of(golden.copied(sample_home, tmp_path / "home"))
    database, secret = places.database, tmp_path / "secret.csv"
    secret.write_text("words\nof nobody's business\n")

    def reached() -> list[tuple[object, ...]]:
        with store.of_ours(database, note=places.state), store.read_only(database) as connection:
            return connection.execute(f"FROM read_csv('{secret}')").fetchall()

    assert reached() == [("of nobody's business",)]  # a question of our own could
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE VIEW more AS FROM read_csv('{secret}')")
    with pytest.raises(duckdb.PermissionException):
        reached()


def test_official_pages_stand_in_a_table_of_their_own(database: Path) -> None:
    assert ask(database, "SELECT code, flags FROM official_docs") == [("xla:E1001", ["--fixture_limit"])]


def test_every_table_view_and_column_has_a_comment(database: Path) -> None:
    assert ask(database, "SELECT table_name FROM duckdb_tables() WHERE comment IS NULL") == []
    assert ask(database, "SELECT view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL") == []
    silent = """SELECT c.table_name, c.column_name FROM duckdb_columns() c
        JOIN duckdb_tables() t USING (table_name) WHERE c.comment IS NULL"""
    assert ask(database, silent) == []
    macros = "SELECT function_name FROM duckdb_functions() WHERE NOT internal AND comment IS NULL"
    assert ask(database, macros) == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT entry_id, recent_documents FROM trending(30)", [("triton/out-of-resources-shared-memory", 3)]),
        ("SELECT count(*) FROM trending(1)", [(1,)]),
        ("SELECT recent_documents, earlier_documents FROM trending(1)", [(1, 1)]),
        ("SELECT count(*) FROM evidence_of('triton/old-name')", [(3,)]),
        (
            "SELECT cited_by FROM evidence_of('triton/another') WHERE role = 'worked'",
            [(["case_statement[0]", "workaround[0]"],)],
        ),
        ("SELECT count(*) FROM fixes_for('no such code')", [(0,)]),
        ("SELECT count(*) FROM entries_zh", [(2,)]),
        ("SELECT DISTINCT workarounds_zh FROM entries_zh", [(["设置环境变量 TRITON_STAGES=2。"],)]),
        ("SELECT count(*), any_value(signature) FROM cluster_summary", [(1, make.SIGNATURE)]),
        (
            f"SELECT entry_id, matched_by FROM match_error('{make.SHARED.format(n=5)}') ORDER BY ALL LIMIT 1",
            [("triton/another", "regex")],
        ),
        ("SELECT count(*) FROM match_error('all is well')", [(0,)]),
        ("SELECT count(*) FROM remedy_evidence WHERE role = 'failed'", [(2,)]),
    ],
)
def test_views_and_macros_answer(database: Path, sql: str, expected: list[tuple[object, ...]]) -> None:
    assert ask(database, sql) == expected


def test_remedies_are_found_by_code_with_and_without_its_catalogue(tmp_path: Path) -> None:
    found = make.entry(codes=["cuda:cudaErrorFixture"])
    path = store.write(tmp_path / "x.duckdb", store.Contents(entries=(found,)))
    for code in ("cuda:cudaErrorFixture", "cudaErrorFixture"):
        assert ask(path, f"SELECT kind FROM fixes_for('{code}')") == [("workaround",), ("dead_end",)]
    assert ask(path, "SELECT matched_by FROM match_error('got cudaErrorFixture here')") == [("code",)]


ATTACKS = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM '/etc/passwd'",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/other.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT * FROM read_parquet('https://example.invalid/x.parquet')",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "CREATE TABLE x (a INT)",
    "DELETE FROM entries",
    "SELECT * FROM database",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
]


@pytest.mark.parametrize("sql", ATTACKS)
def test_a_query_reaches_nothing_but_the_tables(database: Path, tmp_path: Path, sql: str) -> None:
    with pytest.raises(ConfigError):
        store.query(database, sql.format(folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_query_may_take_values(database: Path) -> None:
    hostile = "'; DROP TABLE entries; --"
    assert store.query(database, "SELECT count(*) FROM entries WHERE entry_id = ?", parameters=[hostile]).rows == [(0,)]


def test_answers_come_as_table_json_csv_and_parquet(database: Path, tmp_path: Path) -> None:
    sql = "SELECT 1 AS n, 'a,b' AS t, [1, 2] AS l, 'nan'::DOUBLE AS x, DATE '2026-01-02' AS d"
    result = store.query(database, sql)
    assert store.rendered(result).decode().splitlines()[0].split() == ["n", "t", "l", "x", "d"]
    assert json.loads(store.rendered(result, "json")) == [
        {"n": 1, "t": "a,b", "l": [1, 2], "x": None, "d": "2026-01-02"}
    ]
    assert store.rendered(result, "csv").decode() == 'n,t,l,x,d\n1,"a,b","[1, 2]",,2026-01-02\n'
    (tmp_path / "a.parquet").write_bytes(store.rendered(result, "parquet"))
    assert pq.read_table(tmp_path / "a.parquet").column("n").to_pylist() == [1]
    with pytest.raises(ConfigError, match="yaml"):
        store.rendered(result, "yaml")


def test_a_wrong_query_says_what_is_wrong(database: Path) -> None:
    with pytest.raises(ConfigError, match="entriez") as caught:
        store.query(database, "SELECT * FROM entriez")
    assert "SHOW TABLES" in caught.value.hint()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 1; SELECT 2", "2 questions"),
        ("EXPLAIN SELECT 1; SELECT 2", "2 questions"),
        ("", "no question"),
        (" -- nothing\n", "no question"),
    ],
)
def test_a_query_asks_one_question(database: Path, sql: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        store.query(database, sql)
    assert store.query(database, "SELECT ';' AS t;").rows == [(";",)]
    assert store.query(database, "CREATE TEMP MACRO more(n) AS n + 1; SELECT more(1) AS n").rows == [(2,)]


@pytest.mark.long
def test_equal_input_in_any_order_gives_an_equal_digest(tmp_path: Path) -> None:
    one = contents(tmp_path)
    fields = {name: getattr(one, name) for name in one.__dataclass_fields__}
    fields |= {"entries": one.entries[::-1]}
    paths = [
        store.write(tmp_path / "1.duckdb", one),
        store.write(tmp_path / "2.duckdb", store.Contents(**fields)),
    ]
    assert store.digest(paths[0]) == store.digest(paths[1])
    changed = store.write(tmp_path / "3.duckdb", store.Contents(**{**fields, "entries": one.entries[:1]}))
    assert store.digest(changed) != store.digest(paths[0])


@pytest.mark.long
def test_the_digest_is_that_of_the_rows_wherever_they_lie(tmp_path: Path) -> None:
    path = store.write(tmp_path / "a.duckdb", contents(tmp_path))
    before = store.digest(path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TEMP TABLE aside AS FROM citations")
        connection.execute("DELETE FROM citations")
        connection.execute("INSERT INTO citations FROM aside ORDER BY evidence_id DESC, ordinal DESC, part DESC")
        assert connection.execute("SELECT count(DISTINCT evidence_id) > 1 FROM citations").fetchone() == (True,)
    assert store.digest(path) == before
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO citations FROM citations LIMIT 1")
    assert store.digest(path) != before


def test_a_run_is_told_of_without_changing_the_digest(tmp_path: Path) -> None:
    path = store.write(tmp_path / "x.duckdb", store.Contents())
    before = store.digest(path)
    store.add_runs(path, [store.RunRow("run:1", "build", "completed", None, None, {"documents": 3})])
    assert ask(path, "SELECT flow, detail->>'documents' FROM runs") == [("build", "3")]
    assert store.digest(path) == before


def test_rows_that_stand_in_the_file_are_held_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = tuple(make.entry(id=f"press/belt-{number:04d}") for number in range(50))
    before, held = pa.total_allocated_bytes(), []
    known = writing.insert_known

    def looked(connection: duckdb.DuckDBPyConnection) -> None:
        held.append(pa.total_allocated_bytes())  # the transaction goes on
        known(connection)

    monkeypatch.setattr(writing, "insert_known", looked)
    store.write(tmp_path / "errmine.duckdb", store.Contents(entries=entries))
    assert held == [before]


def test_writing_leaves_one_file(tmp_path: Path) -> None:
    store.write(tmp_path / "a" / "x.duckdb", store.Contents())
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["x.duckdb"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = store.write(tmp_path / "x.duckdb", store.Contents(meta={"a": "old"}))
    with pytest.raises(StoreError, match="cannot write") as caught:
        store.write(path, store.Contents(documents=(tmp_path / "absent.parquet",)))
    assert "unharmed" in caught.value.hint()
    assert store.meta(path)["a"] == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.duckdb"]


def test_a_reader_keeps_the_old_content_while_the_file_is_replaced(tmp_path: Path) -> None:
    path = store.write(tmp_path / "x.duckdb", store.Contents(meta={"a": "old"}))
    with store.read_only(path) as reader:
        store.write(path, store.Contents(meta={"a": "new"}))
        assert reader.execute("SELECT value FROM meta WHERE key = 'a'").fetchone() == ("old",)
    assert store.meta(path)["a"] == "new"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"x\.duckdb") as caught:
        store.query(tmp_path / "x.duckdb", "SELECT 1")
    assert "errmine build" in caught.value.hint()


def test_a_file_that_is_no_database_is_named_and_cured_by_writing(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError):
        store.meta(path)
    store.write(path, store.Contents())
    assert store.meta(path)["schema_version"] == store.SCHEMA_VERSION


def set_version(path: Path, version: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", [version])


def test_a_newer_file_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    path = store.write(tmp_path / "x.duckdb", store.Contents())
    set_version(path, "99.0")
    with pytest.raises(StoreError, match=r"99\.0"):
        store.meta(path)
    with pytest.raises(StoreError, match=r"99\.0"):
        store.write(path, store.Contents())


def test_an_older_file_is_replaced_by_a_rebuild(tmp_path: Path) -> None:
    path = store.write(tmp_path / "x.duckdb", store.Contents())
    set_version(path, "0.1")
    with pytest.raises(StoreError) as caught:
        store.meta(path)
    assert "errmine build" in caught.value.hint()
    store.write(path, store.Contents())
    assert store.meta(path)["schema_version"] == store.SCHEMA_VERSION


HOLDER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_a_file_held_by_another_writer_is_named(tmp_path: Path) -> None:
    path = store.write(tmp_path / "x.duckdb", store.Contents())
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        for act in (lambda: store.meta(path), lambda: store.write(path, store.Contents())):
            with pytest.raises(StoreError, match="held open") as caught:
                act()
            assert "Close the program" in caught.value.hint()
        holder.communicate()


@pytest.mark.long
def test_what_is_held_is_read_from_one_file_though_another_takes_its_place(tmp_path: Path) -> None:
    path = store.write(tmp_path / "errmine.duckdb", contents(tmp_path))
    newer = replace(contents(tmp_path), meta={"normaliser": "8"})
    with store.held(path):
        assert store.meta(path)["normaliser"] == "7"
        store.write(tmp_path / "other" / "errmine.duckdb", newer).replace(path)
        assert store.meta(path)["normaliser"] == "7"
        assert ask(path, "SELECT value FROM meta WHERE key = 'normaliser'") == [("7",)]
    assert store.meta(path)["normaliser"] == "8"


def test_threads_read_one_file_side_by_side(database: Path) -> None:
    asked = "SELECT count(*), current_setting('TimeZone'), current_setting('lock_configuration') FROM entries"
    with store.held(database), ThreadPoolExecutor(4) as threads:
        found = [row for rows in threads.map(lambda _: ask(database, asked), range(8)) for row in rows]
    assert set(found) == {(len(ask(database, "SELECT entry_id FROM entries")), "UTC", True)}


@pytest.mark.parametrize("is_on", [True, False])
def test_a_bar_is_turned_off_only_where_it_is_on(is_on: bool) -> None:
    """In a notebook without ipywidgets it is off, and DuckDB refuses to be told so."""
    told: list[str] = []

    class Connection:
        def execute(self, sql: str) -> Connection:
            told.append(sql)
            return self

        def fetchall(self) -> list[tuple[bool]]:
            return [(is_on,)]

    opening.hush(Connection())  # type: ignore[arg-type]
    assert ("SET enable_progress_bar = false" in told) == is_on
