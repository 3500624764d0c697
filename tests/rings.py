"""The two rings of tests: `make test` runs what is quick, and `make test-all` also what is marked `long`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def quick_alone(values: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """The values for `pytest.mark.parametrize`: those in `quick` are quick, all others long."""
    return [value if value in quick else pytest.param(value, marks=pytest.mark.long) for value in values]


def one_in(number: int, values: Iterable[Any]) -> list[Any]:
    """The same where the first and every `number`-th after it are quick; a tuple is the values of several names."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*row, marks=[pytest.mark.long] if place % number else []) for place, row in enumerate(rows)]


def first_alone(values: Iterable[Any]) -> list[Any]:
    """The same where the first alone is quick: the main path of a promise whose other cases repeat it."""
    rows = list(values)
    return one_in(len(rows), rows)
