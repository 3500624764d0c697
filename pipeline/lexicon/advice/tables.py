"""The tables of `data/advice`, read once."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import Any

from pipeline.records import warm


@cache
def table(name: str) -> dict[str, Any]:
    """The content of one file."""
    path = resources.files("pipeline").joinpath("data", "advice", f"{name}.toml")
    return warm.table(path.read_text("utf-8"))


@cache
def words(name: str, row: str) -> frozenset[str]:
    """The words of one row."""
    return frozenset(table(name)[row])


@cache
def heads() -> frozenset[str]:
    """Every program that is judged."""
    rows = table("programs")
    return frozenset(name for row, names in rows.items() if row not in ("passing", "code_options") for name in names)


@cache
def digest() -> str:
    """sha256 over the code and the tables of the gate: what passed it once passes it again."""
    package = resources.files("pipeline")
    folders = [package / "lexicon" / "advice", package / "text", package / "data" / "advice"]
    read = [one for folder in folders for one in folder.iterdir() if one.name.endswith((".py", ".toml"))]
    bodies = (f"{one.name}\0".encode() + one.read_bytes() for one in sorted(read, key=lambda one: one.name))
    return hashlib.sha256(b"\0".join(bodies)).hexdigest()
