"""docs/ingest.md promises nothing without a test: each line of its table names tests that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from pipeline.config import Sources
from pipeline.providers.catalogue import pages as catalogue_pages
from pipeline.providers.github import GithubSource
from pipeline.providers.github.fetch import compare, run

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "ingest.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    table = TEXT.partition("<!-- proofs -->")[2].partition("<!-- proofs end -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]


def collected() -> set[str]:
    """The names of all tests: functions of test modules at their top level, as pytest collects them."""
    return {
        node.name
        for path in (ROOT / "tests").glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_every_promise_names_tests_that_exist() -> None:
    known = collected()
    assert len(rows()) >= 30
    for feature, promise, proofs in rows():
        named = re.findall(r"`(test_\w+)`", proofs)
        assert promise, feature
        assert named, feature
        assert ", ".join(f"`{name}`" for name in named) == proofs, feature
        assert set(named) <= known, feature


def test_no_page_of_the_documentation_names_a_test_that_is_not_there() -> None:
    known = collected()
    modules = {path.stem for path in (ROOT / "tests").glob("test_*.py")}
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").glob("*.md")):
        named = set(re.findall(r"\btest_\w+", page.read_text(encoding="utf-8")))
        assert named <= known | modules, page.name


def test_the_catalogues_shown_are_settings_that_make_catalogues() -> None:
    block = TEXT.partition("and then `errmine ingest docs`:\n")[2].partition("\n`jax-errors`")[0]
    shown = Sources.model_validate(tomllib.loads("\n".join(line[4:] for line in block.splitlines()))["sources"])
    made = [catalogue_pages.wanted(one.name, **one.model_dump(exclude={"name"})) for one in shown.catalogues]
    assert [one.name for one in made] == ["cuda-driver", "pond"]
    assert re.fullmatch(made[1].names, "pond.DryError")
    listed = re.findall(r"`([a-z-]+)`", TEXT.partition("    family = ")[2].partition(" are known by their names")[0])
    assert set(listed) == set(catalogue_pages.shipped())


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
