"""Lines that programs print around every error and that say nothing about this one; kept as data."""

from __future__ import annotations

import functools
import re
import tomllib
from importlib import resources
from typing import Any, NamedTuple


class Remark(NamedTuple):
    """A line that a program prints although nothing failed, or one that only announces what failed."""

    name: str
    rules: frozenset[str]  # the rules for native diagnostics that would take it; none: it is a warning under all
    pattern: str  # what its message begins with
    example: str
    counter: str  # a look-alike that tells of a failure


@functools.cache
def _tables() -> dict[str, Any]:
    path = resources.files("pipeline").joinpath("data/extract/boilerplate.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@functools.cache
def table(name: str) -> tuple[str, ...]:
    """The lines or words of one list of the data file."""
    return tuple(_tables()[name])


@functools.cache
def remarks(kind: str) -> tuple[Remark, ...]:
    """The rows of one kind: "chatter", "announcing" or "progress"."""
    return tuple(
        Remark(row["name"], frozenset(row.get("rules", ())), row["pattern"], row["example"], row["counter"])
        for row in _tables()[kind]
    )


def no_chatter(rule: str) -> str:
    """An expression that fails where the message of that rule's diagnostic would be chatter."""
    return f"(?!{'|'.join(row.pattern for row in remarks('chatter') if rule in row.rules)})"


def is_warning(message: str) -> bool:
    """Whether a native diagnostic tells of no failure, whoever prints it."""
    return _begins("chatter").match(message) is not None


def is_progress(message: str) -> bool:
    """Whether a message tells of a retry, a start or a step, whatever level it was logged at."""
    return _begins("progress").match(message) is not None


def announces(line: str) -> bool:
    """Whether the first line of a message only says that another exception follows on the next line."""
    return _begins("announcing").match(line) is not None


@functools.cache
def _begins(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(row.pattern for row in remarks(kind) if not row.rules))


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
