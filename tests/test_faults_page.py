"""docs/faults.md: every fault that was found is held by tests that are there, and no number is left out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
TEXT = (TESTS.parent / "docs" / "faults.md").read_text(encoding="utf-8")
#: How many faults stand below each of the last numbers, a row each, and what was found of the supply.
SMALL, LATER, LAST, NEWEST, SUPPLY = 11, 8, 6, 4, 2


def rows() -> list[list[str]]:
    table = TEXT.partition("<!-- faults -->")[2].partition("<!-- faults end -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]


@cache
def kept_in(name: str) -> frozenset[str]:
    """The tests of a module, as pytest collects them: functions at its top level, the last of each name."""
    body = ast.parse((TESTS / name).read_text(encoding="utf-8")).body
    return frozenset(one.name for one in body if isinstance(one, ast.FunctionDef) and one.name.startswith("test_"))


def test_every_fault_is_held_by_tests_that_exist() -> None:
    for number, fault, held in rows():
        named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", held)
        assert fault, number
        assert named, number
        assert ", ".join(f"`{module}::{name}`" for module, name in named) == held, number
        assert [f"{module}::{name}" for module, name in named if name not in kept_in(module)] == [], number


def test_no_number_is_left_out() -> None:
    numbers = [row[0] for row in rows()]
    assert numbers == [
        *map(str, range(1, 18)),
        *["18-24"] * SMALL,
        *["25-32"] * LATER,
        *["33-38"] * LAST,
        *["39-41"] * NEWEST,
        *["supply"] * SUPPLY,
    ]
