"""Lines that programs print around every error and that say nothing about this one; kept as data."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources


@functools.cache
def _table(name: str) -> tuple[str, ...]:
    path = resources.files("pipeline").joinpath("data/extract/boilerplate.toml")
    table: dict[str, list[str]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(table[name])


def is_boilerplate(line: str) -> bool:
    """Whether the line (stripped) is one that is printed with every error of a library."""
    return line.startswith(_table("boilerplate"))


def is_continuation(line: str) -> bool:
    """Whether the line (stripped) goes on with a message although an empty line stands before it."""
    return line.startswith(_table("continuation"))


def opens_stack(line: str) -> bool:
    """Whether the line of a message announces a stack or code that belongs to the message."""
    return line.rstrip().endswith(_table("opens_stack"))
