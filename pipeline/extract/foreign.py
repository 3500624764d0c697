"""Failures that prose tells of, and the lines that tell of no failure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

from pipeline.extract.rule import Block, Lazy, Rule
from pipeline.records import warm
from pipeline.text.needed import Seen

# Lines that programs print around every error and that say nothing about this one; kept as data.


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
    return warm.table(path.read_text(encoding="utf-8"))


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
    return warm.pattern("|".join(row.pattern for row in remarks(kind) if not row.rules))


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


# Failures that a sentence names: an abort or an assertion failure in a qualified C++ function.

_RULE = Rule("cpp-named", "cpp-prose", (), Lazy(r"(?!)"))

#: Narrow on purpose: the word for the failure, "in" or "at", and right behind it a name with `::`.
_FAILURE = warm.pattern(
    r"(?:ssertion fail(?:ures?|s|ed)|ssert failures?|borts?|egfaults?|rash(?:es)?) (?:in|at) ?[`'\"*]{0,2}"
    r"(?P<name>(?:[A-Za-z_]\w{1,60}::){1,5}~?[A-Za-z_]\w{1,80})"
)
#: The stem that is searched, the letter before it, and what the message calls it.
_STEMS = (
    ("ssert", "aA", "assertion failure"),
    ("bort", "aA", "abort"),
    ("egfault", "sS", "segmentation fault"),
    ("rash", "cC", "crash"),
)


PROSE_LITERALS = tuple(stem for stem, _, _ in _STEMS)


def prose_blocks(text: str, seen: Seen) -> Iterator[Block]:
    """One block for each C++ function that a sentence says the program died in; each function once."""
    named: set[str] = set()
    for stem, initials, label in _STEMS:
        for at in seen.get(stem, ()):
            match = _FAILURE.match(text, at) if at and text[at - 1] in initials else None
            if match and match["name"] not in named:
                named.add(match["name"])
                name = match["name"]
                yield Block(rule=_RULE, start=at - 1, end=match.end(), message=f"{label} in {name}", function=name)
