"""What only looks like an error of a program: commands, and rows of `data/extract/guesses.toml`; asked of guesses."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pipeline.extract.blocks import holds_sign
from pipeline.records import warm
from pipeline.text import needed

#: A command that somebody typed. "unrecognized option --glaze" names a flag, too, and is none.
_COMMAND = warm.pattern(
    r"(?:sudo )?[a-z][\w.-]{0,30}(?: [\w./@-]{1,60}){0,3} --?[A-Za-z][\w-]{0,30}(?=[ =]|$)(?!.{0,700}: )"
)
#: So much of a line is looked at: what is longer is data.
_READ = 700


class Refused(NamedTuple):
    """A kind of line that is no error; `examples` are of it, `lookalikes` are errors."""

    name: str
    pattern: re.Pattern[str]
    examples: tuple[str, ...]
    lookalikes: tuple[str, ...]


@cache
def rows() -> tuple[Refused, ...]:
    """The kinds, in the order in which they are asked."""
    table = warm.table(files("pipeline").joinpath("data", "extract", "guesses.toml").read_text("utf-8"))
    return tuple(
        Refused(row["id"], warm.pattern(row["pattern"]), tuple(row["examples"]), tuple(row["lookalikes"]))
        for row in table["refused"]
    )


def refusal(words: str) -> str | None:
    """The kind of line that is no error which the words of a guess are; None if they are of no such kind."""
    command = _COMMAND.match(words)
    if command is not None and not holds_sign(command.group()):
        return "command"
    read = words[:_READ]
    for row, clauses in _asked():
        if needed.stand(clauses, read) and row.pattern.search(read) is not None:
            return row.name
    return None


@cache
def _asked() -> tuple[tuple[Refused, tuple[needed.Clause, ...]], ...]:
    """The kinds with what words need for each."""
    return tuple((row, needed.clauses(row.pattern.pattern)) for row in rows())
