"""The database in the oldest DuckDB that it is written for: it opens there, and every query of the cookbook answers.

Needs `.cache/duckdb-1.0.0`, which `make test` installs where there is a package index; skipped where it is not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline import store
from tests import golden
from tests.test_store_cookbook import CASES, invented_world

OLD = golden.ROOT / ".cache" / "duckdb-1.0.0"

pytestmark = pytest.mark.skipif(not (OLD / "duckdb").is_dir(), reason=f"needs {OLD}: make test installs it")

#: Asks each query given on standard input, and leaves the answers as Parquet; the old release comes first on the path.
_CHILD = """
import json, sys
folder, database, old = sys.argv[1:]
sys.path.insert(0, old)
import duckdb, pyarrow.parquet as pq
assert duckdb.__version__ == "1.0.0", duckdb.__file__
connection = duckdb.connect(database, read_only=True)
connection.execute("SET TimeZone = 'UTC'")
for name, sql in json.load(sys.stdin).items():
    pq.write_table(connection.execute(sql).fetch_arrow_table(), f"{folder}/{name}.parquet")
"""


def answers(database: Path, folder: Path, queries: dict[str, str]) -> dict[str, list[dict[str, object]]]:
    """What the old release answers to each query, as `errmine query --format json` would show it."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(folder), str(database), str(OLD)],
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    tables = {name: pq.read_table(folder / f"{name}.parquet") for name in queries}
    return {
        name: json.loads(store.rendered(store.QueryResult(tuple(table.column_names), table), "json"))
        for name, table in tables.items()
    }


def test_every_query_of_the_cookbook_has_the_same_answer_in_the_old_release(tmp_path: Path) -> None:
    queries = {case.name: (case / "query.sql").read_text() for case in CASES}
    expected = {case.name: json.loads((case / "expected.json").read_text())["rows"] for case in CASES}
    assert answers(invented_world(tmp_path), tmp_path, queries) == expected


@pytest.mark.long
def test_the_old_release_reads_comments_and_a_file_to_which_a_run_was_added(tmp_path: Path) -> None:
    database = invented_world(tmp_path)
    store.add_runs(database, [store.RunRow("run-2", "export", "completed", None, None, {})])
    asked = {
        "runs": "SELECT flow FROM runs WHERE run_id = 'run-2'",
        "comments": "SELECT count(*) AS n FROM duckdb_columns() WHERE NOT internal AND comment IS NULL "
        "AND table_name IN (SELECT table_name FROM duckdb_tables())",
    }
    assert answers(database, tmp_path, asked) == {"runs": [{"flow": "export"}], "comments": [{"n": 0}]}
