"""docs/ingest.md promises nothing without a test: each line of its table names tests that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from pipeline.config import GithubSource
from pipeline.sources.github import compare, run

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "ingest.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    table = TEXT.partition("<!-- proofs -->")[2].partition("<!-- proofs end -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]


def test_every_promise_names_tests_that_exist() -> None:
    known = {
        node.name
        for path in (ROOT / "tests").glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert len(rows()) >= 20
    for feature, promise, proofs in rows():
        named = re.findall(r"`(test_\w+)`", proofs)
        assert promise, feature
        assert named, feature
        assert set(named) <= known, feature


def test_the_settings_shown_are_settings_with_their_defaults() -> None:
    block = TEXT.partition("[[sources.github]]")[2].partition("\n\n")[0]
    shown = tomllib.loads("\n".join(line.strip() for line in block.splitlines()))
    made = GithubSource.model_validate(shown)
    default = GithubSource(repos=["a/b"])
    assert set(shown) == set(GithubSource.model_fields)
    for name in ("state", "labels", "max_wait_seconds", "overlap_seconds"):
        assert getattr(made, name) == getattr(default, name)


def test_the_numbers_in_the_text_are_those_of_the_code() -> None:
    assert f"Every {run.BATCH_THREADS} threads" in TEXT
    assert f"{compare.RECHECKS} more in turn ({compare.ANONYMOUS_RECHECKS} without a token)" in TEXT
