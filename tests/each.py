"""One test over the rows of a table, for tables of hundreds: it names every row that fails, not the first one alone.

A test of its own for each row costs pytest and its workers 4 ms, several times what looking at a row costs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.rings import quick_alone


def each(names: str, rows: Iterable[Any], *, parts: int = 1) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator as `pytest.mark.parametrize`, without a test a row: `names` are the arguments, apart by commas.

    With `parts`, a test for every `parts`-th row, the first of them quick and the others `long` (`tests/rings.py`).
    """
    arguments = [name.strip() for name in names.split(",")]
    table = [dict(zip(arguments, row if len(arguments) > 1 else (row,), strict=True)) for row in rows]

    def over(check: Callable[..., None]) -> Callable[..., None]:
        def look(some: list[dict[str, Any]]) -> None:
            told = [f"{_shown(row)}\n{error}" for row in some if (error := _error(check, row))]
            if told or not some:
                pytest.fail("\n\n".join([f"{len(told)} of {len(some)} rows fail", *told]), pytrace=False)

        def whole() -> None:
            look(table)

        def in_parts(part: int) -> None:
            look(table[part::parts])

        test = functools.wraps(check)(whole if parts == 1 else in_parts)
        del test.__wrapped__  # pytest would take the arguments of `check` for fixtures
        return test if parts == 1 else pytest.mark.parametrize("part", quick_alone(range(parts), [0]))(test)

    return over


def _error(check: Callable[..., None], row: dict[str, Any]) -> str:
    try:
        check(**row)
    except Exception as error:  # noqa: BLE001  (whatever a row does, the others are looked at and it is told)
        return f"{type(error).__name__}: {error}"
    return ""


def _shown(row: dict[str, Any]) -> str:
    return ", ".join(f"{name}={str(value)[:200]!r}" for name, value in row.items())
