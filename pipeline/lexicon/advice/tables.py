"""The tables of `data/advice`, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """The content of one file."""
    path = resources.files("pipeline").joinpath("data", "advice", f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8"))


@cache
def words(name: str, row: str) -> frozenset[str]:
    """The words of one row."""
    return frozenset(table(name)[row])


@cache
def heads() -> frozenset[str]:
    """Every program that is judged."""
    rows = table("programs")
    return frozenset(name for row, names in rows.items() if row not in ("passing", "code_options") for name in names)
