"""Every query of the cookbook has an answer on the sample, and the page shows the queries that are tested."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline import store
from pipeline.run import Places
from tests import cookbook, golden, schema_page
from tests.rings import one_in

#: Nothing comes back: no count is invented, and no remedy of the sample is said to have helped and to have not.
ALWAYS_EMPTY = frozenset({"check-every-count", "contested-remedies"})


@pytest.fixture(scope="module")
def database(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = golden.copied(sample_home, tmp_path_factory.mktemp("home"))
    return Places.of(home).database


@pytest.mark.parametrize("case", one_in(4, cookbook.CASES), ids=lambda case: case.name)
def test_a_query_answers_on_the_sample_with_the_columns_of_its_case(case: Path, database: Path) -> None:
    result = store.query(database, cookbook.statement(case))
    assert list(result.columns) == json.loads((case / "expected.json").read_text())["columns"]
    assert bool(result.rows) == (case.name not in ALWAYS_EMPTY)


@pytest.mark.long
@pytest.mark.parametrize("case", one_in(4, cookbook.CASES), ids=lambda case: case.name)
def test_a_query_gives_the_same_rows_in_the_same_order_twice(case: Path, database: Path) -> None:
    sql = cookbook.statement(case)
    assert store.query(database, sql).rows == store.query(database, sql).rows


def test_a_count_walks_back_to_as_many_quotes_as_it_says(database: Path) -> None:
    """For every remedy: `worked` is the number of documents whose quotes say so."""
    sql = """
        SELECT r.entry_id, r.action, r.worked, count(DISTINCT v.document_id) FILTER (v.role = 'worked') AS said
        FROM remedies r
        JOIN citations c ON c.entry_id = r.entry_id AND c.part = r.kind AND c.ordinal = r.ordinal
        JOIN evidence v ON v.entry_id = c.entry_id AND v.evidence_id = c.evidence_id
        WHERE r.kind = 'workaround' GROUP BY ALL HAVING r.worked <> said"""
    assert store.query(database, sql).rows == []


def test_the_walk_back_gives_a_quote_an_address_and_a_date_in_each_row(database: Path) -> None:
    case = next(case for case in cookbook.CASES if case.name == "walk-back-a-count")
    result = store.query(database, cookbook.statement(case))
    places = [result.columns.index(name) for name in ("quote", "url", "posted_at")]
    assert all(all(row[place] for place in places) for row in result.rows)


def test_the_page_shows_every_query_as_it_is_tested() -> None:
    text = cookbook.COOKBOOK.read_text(encoding="utf-8")
    missing = [case.name for case in cookbook.CASES if cookbook.statement(case) not in text]
    assert missing == [], "run `make golden`"
    assert text.count("```sql") == len(cookbook.CASES)


def test_the_page_of_tables_is_what_the_database_says_of_itself(database: Path) -> None:
    assert schema_page.PAGE.read_text(encoding="utf-8") == schema_page.page(database), "run `make golden`"


def test_every_table_view_macro_and_column_carries_a_comment(database: Path) -> None:
    text = schema_page.page(database)
    assert [line for line in text.splitlines() if line.startswith("| ") and line.endswith("|  |")] == []
    assert "None." not in text


def test_the_picture_in_readme_is_part_of_the_whole_picture(database: Path) -> None:
    readme = (golden.ROOT / "README.md").read_text(encoding="utf-8")
    shown = [line for line in readme.splitlines() if "||--o{" in line]
    whole = schema_page.page(database).splitlines()
    assert shown
    assert [line for line in shown if line not in whole] == []
