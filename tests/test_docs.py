"""Documentation is tested: what README shows is what the program does."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from pipeline import store
from pipeline.distil.drafts import support
from pipeline.records import Doubt, entry
from pipeline.run import Places
from tests import golden, readme


@pytest.fixture(scope="module")
def database(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = golden.copied(sample_home, tmp_path_factory.mktemp("home"))
    return Places.of(home).database


@pytest.mark.parametrize("page", [readme.README, readme.ENTRY], ids=lambda page: page.name)
def test_a_page_shows_the_entry_and_the_help_of_today(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == readme.filled(text), "run `make golden`"


def test_every_command_says_what_it_does() -> None:
    silent = [name for name, sentence in readme.commands().items() if len(sentence) < 20]
    assert silent == []


@pytest.mark.parametrize("statement", readme.queries(readme.README.read_text(encoding="utf-8")))
def test_the_queries_of_readme_answer_something(database: Path, statement: str) -> None:
    assert store.query(database, statement).rows


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(golden.ROOT))
        for path in sorted((golden.ROOT / "pipeline").rglob("*.py"))
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_every_reason_for_a_skip_is_named_in_the_closed_list() -> None:
    named = tomllib.loads((golden.ROOT / "pipeline" / "data" / "skip_reasons.toml").read_text(encoding="utf-8"))
    used = set(get_args(Doubt))  # reasons of claims of a model that nothing shows
    for path in sorted((golden.ROOT / "pipeline").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Skipped" and len(node.args) >= 3:
                reason = node.args[2]
                if isinstance(reason, ast.Constant):
                    used.add(reason.value)
    assert used - set(named["reasons"]) == set()


def test_nothing_lies_at_the_top_that_has_no_room_there() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=golden.ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout: git lists no files")
    rooms = {".ci", "benchmarks", "curated", "deploy", "docs", "pipeline", "raw", "requirements", "schemas", "tests"}
    files = {".dockerignore", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"}
    files |= {"SECURITY.md", "action.yml", "prefect.yaml", "pyproject.toml"}
    assert {path.partition("/")[0] for path in listed.stdout.splitlines()} == rooms | files


def test_every_number_is_defined_beside_the_function_that_counts_it() -> None:
    page = (golden.ROOT / "docs" / "counting.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(support|entry)\.(\w+)`", page))
    assert {name for _, name in named} >= {"outcomes", "rate", "tier", "best_tier", "confidence", "dates"}
    modules = {"support": support, "entry": entry}
    assert [name for module, name in named if not callable(getattr(modules[module], name, None))] == []
    assert [tier for tier in support.TIERS if f"| `{tier}` |" not in page] == []
    assert {"evidence_count", "document_count"} <= set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))


def test_a_package_that_lists_its_modules_lists_them_all_and_no_others() -> None:
    wrong = []
    for path in sorted((golden.ROOT / "pipeline").rglob("__init__.py")):
        told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        listed = set(re.findall(r"^ {4}(\w+)\.py +\S", told, re.MULTILINE))
        there = {one.stem for one in path.parent.glob("*.py")} - {"__init__"}
        unsaid = {name for name in there if f"`{name}`" not in told} - listed
        if listed and (unsaid or listed - there):
            wrong.append((str(path.relative_to(golden.ROOT)), sorted(unsaid), sorted(listed - there)))
    assert wrong == []
