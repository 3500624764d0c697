"""The SQL cookbook: every query in tests/cases/sql runs, read-only, and answers as its case says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline import store
from tests import entry_factory as make
from tests.rings import one_in
from tests.test_store import contents

CASES = sorted((Path(__file__).parent / "cases" / "sql").iterdir())


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return invented_world(tmp_path_factory.mktemp("cookbook"))


def invented_world(folder: Path) -> Path:
    """A database of the invented world, with a contested remedy and an error code."""
    raw = make.raw_entry(codes=["xla:E1001"])
    again = make.evidence(3, role="failed", quote="TRITON_STAGES=2 did not help me.")
    raw["evidence"].append(again)
    raw["workarounds"][0] |= {"failed": 1, "success_rate": 0.5}
    raw["workarounds"][0]["evidence"].append(again["evidence_id"])
    told = contents(folder)
    fields = {name: getattr(told, name) for name in told.__dataclass_fields__}
    fields["entries"] = (make.KnowledgeEntry.model_validate(raw), told.entries[1])  # the second has a case
    return store.write(folder / "errmine.duckdb", store.Contents(**fields))


def test_the_cookbook_has_twenty_queries() -> None:
    assert len(CASES) >= 20


@pytest.mark.parametrize("case", one_in(4, CASES), ids=lambda case: case.name)
def test_a_query_answers_as_its_case_says(case: Path, database: Path) -> None:
    result = store.query(database, (case / "query.sql").read_text())
    answer = {"columns": list(result.columns), "rows": json.loads(store.rendered(result, "json"))}
    assert answer == json.loads((case / "expected.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_query_says_what_it_is_for(case: Path) -> None:
    assert (case / "about.md").read_text().rstrip().endswith(".")
