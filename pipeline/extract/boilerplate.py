"""Lines that programs print around every error and that say nothing about this one; kept as data."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources


@functools.cache
def table(name: str) -> tuple[str, ...]:
    """The lines or words of one list of the data file."""
    path = resources.files("pipeline").joinpath("data/extract/boilerplate.toml")
    table: dict[str, list[str]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(table[name])


def is_boilerplate(line: str) -> bool:
    """Whether the line (stripped) is one that is printed with every error of a library."""
    return line.startswith(table("boilerplate"))


def is_continuation(line: str) -> bool:
    """Whether the line (stripped) goes on with a message although an empty line stands before it."""
    return line.startswith(table("continuation"))


def opens_stack(line: str) -> bool:
    """Whether the line of a message announces a stack or code that belongs to the message."""
    body = line.strip()
    return body.endswith(table("opens_stack")) or (body.endswith(":") and is_continuation(body))
