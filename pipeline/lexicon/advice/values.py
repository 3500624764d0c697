"""What commands hand to each other: texts as far as they are known, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto

#: A longer value is cut: `x=$x$x` doubles it each time.
LONGEST = 2_000


class From(Flag):
    """Where a value comes from, if not from the words themselves."""

    WORDS = 0
    NETWORK = auto()
    DECODED = auto()
    SECRET = auto()
    UNKNOWN = auto()  # a variable that nobody set, a program that is not known


@dataclass(frozen=True, slots=True)
class Value:
    """A text as far as it is known, and where it comes from."""

    text: str = ""
    source: From = From.WORDS
    is_stream: bool = False  # a process substitution: a file that another command writes
    is_quoted: bool = False
    made_by: str = ""  # the commands of a substitution, as written

    def __add__(self, other: Value) -> Value:
        return Value(
            (self.text + other.text)[:LONGEST],
            self.source | other.source,
            self.is_stream or other.is_stream,
            self.is_quoted or other.is_quoted,
            self.made_by or other.made_by,
        )


NOTHING = Value()


@dataclass(frozen=True, slots=True)
class Redirect:
    """`> file`, `< file` and the like."""

    operator: str
    target: Value


@dataclass(frozen=True, slots=True)
class Command:
    """One command with its words and what it reads."""

    words: tuple[Value, ...]  # name first
    stdin: Value | None
    redirects: tuple[Redirect, ...] = ()
    assigned: tuple[tuple[str, Value], ...] = ()
    pipes_to: str = ""  # the rest of its pipeline, as written
