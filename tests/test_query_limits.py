"""A question may cost so much time, memory and room, and its answer in CSV runs nothing in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import store
from pipeline.records.errors import ConfigError, LimitReached
from pipeline.store import opening, querying
from tests.cli import run
from tests.each import each
from tests.golden import ROOT
from tests.rings import quick_alone

ENDLESS = "SELECT count(*) FROM range(1000000000) a, range(1000) b"
#: DuckDB looks for a call to stop between two vectors; this takes minutes on one value.
DEAF = "SELECT levenshtein(repeat('a', 400000), repeat('b', 400000))"
#: 8 GB as an answer, which DuckDB hands out as fast as it is taken.
VAST = "SELECT range AS n, repeat('x', 200) AS t FROM range(40000000)"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    store.write(folder / "curated" / "errmine.duckdb", store.Contents())
    return folder


@pytest.fixture
def database(home: Path) -> Path:
    return home / "curated" / "errmine.duckdb"


# ---------------------------------------------------------------- time


def test_a_question_that_takes_too_long_is_stopped_and_says_so(home: Path) -> None:
    begun = time.monotonic()
    done = run("query", ENDLESS, "--home", home, "--seconds", "0.3")
    assert time.monotonic() - begun < 10
    assert done.code == 3
    assert "stopped after 0.3 s" in done.err
    assert "--seconds" in done.err


@pytest.mark.long
def test_rows_that_never_end_are_stopped_between_two_of_them(database: Path) -> None:
    sql = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) FROM t"
    with store.asked(database, sql, limits=store.Limits(seconds=0.3)) as answer, pytest.raises(LimitReached):
        for _ in answer.batches():
            pass


@pytest.mark.long
def test_an_engine_that_does_not_hear_is_given_up(home: Path) -> None:
    code = "from pipeline.store import querying; querying.GRACE_SECONDS = 0.5\nfrom pipeline.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "query", DEAF, "--home", str(home), "--seconds", "0.3"],
        capture_output=True, timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 3
    assert b"stopped after 0.3 s" in done.stderr


@pytest.mark.long
def test_a_slow_reader_of_the_output_costs_the_question_nothing(database: Path) -> None:
    with store.asked(database, "FROM range(6000)", limits=store.Limits(seconds=0.5)) as answer:
        for _ in answer.batches():
            time.sleep(0.3)
    assert answer.row_count == 6000


def test_a_question_without_a_limit_starts_no_thread(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(querying.threading.Thread, "start", lambda _: pytest.fail("a thread"))
    assert store.query(database, "SELECT 1 AS n").rows == [(1,)]


# ---------------------------------------------------------------- rows, bytes, memory


def test_an_answer_is_cut_at_the_default_limit_and_says_how_to_have_it_all(home: Path) -> None:
    done = run("query", VAST, "--home", home, "--format", "csv")
    assert done.code == 3
    assert len(done.out.splitlines()) == 100_001
    assert "cut after 100,000 rows" in done.err
    assert "--limit 0 --format csv" in done.err


@pytest.mark.long
def test_a_limit_of_ones_own_is_no_failure(home: Path) -> None:
    done = run("query", VAST, "--home", home, "--limit", "3", "--json")
    assert done.code == 0
    assert [row["n"] for row in json.loads(done.out)] == [0, 1, 2]
    assert "cut after 3 rows" in done.err
    whole = run("query", "FROM range(3)", "--home", home, "--limit", "3")
    assert (whole.code, whole.err) == (0, "")
    assert len(run("query", "FROM range(100001)", "--home", home, "--limit", "0", "--format", "csv").out) == 588_903


def test_few_rows_that_are_large_are_cut_by_their_bytes(database: Path) -> None:
    limits = store.Limits(bytes=1_000_000)
    with store.asked(database, "SELECT repeat('x', 100000) AS t FROM range(50)", limits=limits) as answer:
        rows = sum(batch.num_rows for batch in answer.batches())
    assert (rows, answer.row_count, answer.is_cut) == (9, 9, True)


_CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from pipeline.cli import main
try:
    main()
finally:
    # ru_maxrss begins with what the process that started this one held
    (peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    print(int(peak) // 1024, file=sys.stderr)
"""


@pytest.mark.long
@pytest.mark.parametrize("form", quick_alone(["csv", "parquet"], ["csv"]))
def test_an_answer_of_gigabytes_never_stands_in_memory(home: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / "answer"
    with path.open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, "query", VAST, "--home", str(home), "--limit", "20000", "--format", form],
            stdout=out, stderr=subprocess.PIPE, timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-1]) < 600
    if form == "parquet":
        assert pq.read_table(path).num_rows == 20_000


def test_what_needs_more_memory_than_it_may_have_says_so(
    home: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.query(database, "SELECT current_setting('memory_limit')").rows == [("1.8 GiB",)]  # 2 GB
    monkeypatch.setitem(opening._WALLS, "memory_limit", "200MB")  # to fill the whole of it takes half a minute
    done = run("query", "SELECT list(repeat('x', 100000)) FROM range(1000000)", "--home", home)
    assert done.code == 3
    assert "memory" in done.err


def test_a_form_that_does_not_exist_is_said_before_the_question_is_asked(home: Path) -> None:
    begun = time.monotonic()
    assert run("query", ENDLESS, "--home", home, "--format", "xml").code == 2
    assert time.monotonic() - begun < 5


def test_answers_written_batch_by_batch_are_those_of_one_piece(database: Path) -> None:
    sql = "SELECT range AS n, 'é' || range AS t, [range] AS l FROM range(5000)"
    result = store.query(database, sql)
    rows = [{"n": n, "t": f"é{n}", "l": [n]} for n in range(5000)]
    assert store.rendered(result, "json").decode() == json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    assert store.rendered(store.query(database, "SELECT 1 AS n WHERE false"), "json") == b"[]\n"
    assert [row["t"] for row in csv.DictReader(io.StringIO(store.rendered(result, "csv").decode()))][-1] == "é4999"


def test_a_statement_that_answers_nothing_is_no_error(database: Path) -> None:
    with pytest.raises(ConfigError, match="the query failed"):
        store.query(database, "SET threads = 1")


#: Times that Python has no value for; Arrow's words for those that are out of its own range too name the number.
FAR = (
    ("DATE '99999-01-01'", "out of range"),
    ("TIMESTAMP '0044-03-15 (BC) 00:00:00'", "-0043-03-15 00:00:00"),
    ("'infinity'::TIMESTAMP", "out of range"),
    ("TIMESTAMPTZ '12000-01-01 00:00:00+00'", "12000-01-01 00:00:00.000000Z"),
    ("TIMESTAMP_NS '2262-01-01 00:00:00.123456789'", "2262-01-01 00:00:00.123456789"),
    ("[DATE '99999-01-01', NULL]", "out of range"),
    ("{'a': DATE '99999-01-01'}", "out of range"),
)


@pytest.mark.long
@pytest.mark.parametrize("form", ["table", "csv", "json", "parquet"])
@pytest.mark.parametrize(("sql", "words"), FAR)
def test_a_time_outside_python_is_written_all_the_same(database: Path, form: str, sql: str, words: str) -> None:
    body = store.rendered(store.query(database, f"SELECT {sql} AS t"), form)
    assert form == "parquet" or words in body.decode()


def test_what_parquet_cannot_hold_is_said(home: Path) -> None:
    done = run("query", "SELECT INTERVAL 5 YEAR AS t", "--home", home, "--format", "parquet")
    assert done.code == 2
    assert "Parquet" in done.err


# ---------------------------------------------------------------- CSV in a spreadsheet

#: What OWASP's page on CSV injection lists, and what hides the sign.
FORMULAS = (
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", '=HYPERLINK("http://x","y")', " =1+1",
    '"=1+1', "'=1+1", "“=1+1”", "\ufeff=1", "\u200b=1", "＝1+1", "＋1", "－1+1", "＠x", "-", "--help", "- a point",
    "\n=1+1", "-1e5x", "+-1",
)  # fmt: skip
#: Look-alikes that stay.
PLAIN = ("a=b", "a\r=1+1", "a\n=1+1", "1+1", "-5", "+1.5", "-1e-5", "x - y", "", "e@x.org", "[1]", "'quoted'", "<n>")


def in_csv(text: str) -> list[list[str]]:
    """A row of `text` and a number, as a spreadsheet reads it."""
    result = store.QueryResult(("t", "n"), pa.table({"t": [text], "n": [-5]}))
    assert json.loads(store.rendered(result, "json")) == [{"t": text, "n": -5}]  # the way to the text as it is
    return list(csv.reader(io.StringIO(store.rendered(result, "csv").decode(), newline="")))[1:]


@each("text", FORMULAS)
def test_a_cell_that_a_spreadsheet_would_run_stands_behind_an_apostrophe(text: str) -> None:
    assert in_csv(text) == [[f"'{text}", "-5"]]


@each("text", PLAIN)
def test_a_cell_that_is_only_text_stays(text: str) -> None:
    assert in_csv(text) == [[text, "-5"]]


def test_columns_of_one_name_all_stand_in_every_form(database: Path) -> None:
    asked = "SELECT 1 AS x, 2 AS x, 3 AS x_1, 4 AS x, 5 AS x_1"
    names = ["x", "x_2", "x_1", "x_3", "x_1_1"]
    (row,) = json.loads(store.rendered(store.query(database, asked), "json"))
    assert row == dict(zip(names, range(1, 6), strict=True))
    assert store.query(database, asked).columns == tuple(names)
    assert store.query(database, asked).rows == [(1, 2, 3, 4, 5)]


def test_the_name_of_a_column_is_no_formula_either(database: Path) -> None:
    assert store.rendered(store.query(database, 'SELECT 1 AS "=1+1"'), "csv") == b"'=1+1\n1\n"
