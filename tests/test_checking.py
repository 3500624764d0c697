"""Every quote is found again in raw, and one that is not is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.run import Places
from pipeline.run.check import checking
from tests import golden


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.copied(sample_home, tmp_path_factory.mktemp("home"))


def _entries(home: Path) -> list[dict[str, Any]]:
    return list(checking.entries_at(Places.of(home).curated))


def test_every_quote_of_the_sample_stands_in_raw_where_it_says(home: Path) -> None:
    entries = _entries(home)
    count, problems = checking.quote_problems(entries, Places.of(home).raw)
    assert problems == []
    assert count == sum(len(entry["evidence"]) for entry in entries) > 50


def test_a_quote_that_was_moved_or_changed_is_named(home: Path) -> None:
    entries = [entry for entry in _entries(home) if len(entry["evidence"]) > 1][:1]
    entries[0]["evidence"][0]["start"] += 1
    entries[0]["evidence"][1]["quote"] += "!"
    _, problems = checking.quote_problems(entries, Places.of(home).raw)
    assert [(problem.rule, problem.place) for problem in problems] == [
        ("quote_in_raw", "evidence[0]"),
        ("quote_in_raw", "evidence[1]"),
    ]


def test_a_document_that_raw_does_not_hold_is_named(home: Path) -> None:
    entry = _entries(home)[0]
    entry["evidence"][0]["document_id"] = "github.com/errmine-fixtures/nowhere#1"
    _, problems = checking.quote_problems([entry], Places.of(home).raw)
    assert [problem.message for problem in problems] == ["raw holds no github.com/errmine-fixtures/nowhere#1"]


def test_evidence_of_any_form_is_a_problem_and_no_crash(home: Path) -> None:
    strange = {"id": 7, "evidence": [{"document_id": None}, 5, {"start": "a"}]}
    count, problems = checking.quote_problems([strange, {"evidence": "none"}, {}], Places.of(home).raw)
    assert (count, len(problems)) == (2, 2)


def test_entries_are_read_from_a_bundle_a_folder_a_list_and_lines(home: Path, tmp_path: Path) -> None:
    entries = _entries(home)
    shutil.copytree(Places.of(home).curated / "entries", tmp_path / "pages")
    (tmp_path / "list.json").write_text(json.dumps(entries))
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries) + "broken {\n")
    for name in ("pages", "list.json", "lines.jsonl"):
        assert len(list(checking.entries_at(tmp_path / name))) == len(entries)
