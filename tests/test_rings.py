"""The quick tests and the long ones are all tests, and CI runs both rings and fails with either."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.rings import one_in


def test_the_two_rings_are_all_tests() -> None:
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    rings = dict(re.findall(r"^(test\S*):.*\n\t\$\(BIN\)/pytest -n \d+ (.+)$", make, re.MULTILINE))
    assert rings == {"test": '-m "not long"', "test-long": "-m long"}  # nothing else says what is left out
    assert re.search(r"^test-all: test test-long$", make, re.MULTILINE)
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert (options["testpaths"], options["addopts"]) == (["tests"], "-q --strict-markers --strict-config")


@pytest.mark.parametrize(
    ("broken", "ran"), [("", ["test", "test-long"]), ("test-long", ["test", "test-long"]), ("test", ["test"])]
)
def test_ci_runs_both_rings_and_fails_with_either(tmp_path: Path, broken: str, ran: list[str]) -> None:
    script, tools = tmp_path / ".ci" / "run", tmp_path / "bin"
    script.parent.mkdir()
    tools.mkdir()
    shutil.copy2(ROOT / ".ci" / "run", script)
    for name, body in (("chromium", ""), ("make", f'echo "$@" >> made; test "$1" != "{broken}"')):
        (tools / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    done = subprocess.run([script], env={"PATH": f"{tools}:{os.environ['PATH']}"}, check=False, capture_output=True)
    assert (tmp_path / "made").read_text().split() == ran
    assert (done.returncode == 0) == (broken == "")


def test_of_many_rows_the_first_and_every_fourth_after_it_are_quick() -> None:
    told = [(one.values, [mark.name for mark in one.marks]) for one in one_in(4, ["a", "b", ("c", 1), "d", "e"])]
    assert told == [(("a",), []), (("b",), ["long"]), (("c", 1), ["long"]), (("d",), ["long"]), (("e",), [])]
