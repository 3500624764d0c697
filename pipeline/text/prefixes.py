"""What stands before the words of a line: times, ranks, levels, tags, places. The rows are data (prefixes.toml).

Readers of stacks follow the lines of one stream behind their prefixes (`prefixes`, `shape`); whoever chooses the words
of an error takes more off (`without_prefix`): a title's tag, a compiler's place. Each row says where it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from pipeline import packs
from pipeline.records import warm
from pipeline.text.needed import Alternatives

#: A line carries at most this many prefixes in a row (the corpus shows up to six).
MOST_PREFIXES = 8
#: The same before a message, where every blank and every mark counts.
MOST_BEFORE_MESSAGE = 12

#: What is looked at for prefixes; longer ones were not seen in 22,694 threads.
WIDEST_PREFIX = 400


class Row(NamedTuple):
    """One form of prefix. `example`: what is taken of a line, and what stays of it."""

    name: str
    at: frozenset[str]  # "line", "message", "template"
    pattern: str
    is_carried: bool  # put there by whoever carried the line, not by the program
    is_behind: bool  # a prefix only behind another one
    example: tuple[str, str]
    counter: str  # a look-alike, of which nothing is taken


class Prefix(NamedTuple):
    """One prefix of a line: `line[start:end]` and which row knows it."""

    name: str
    start: int
    end: int


def _plain(pattern: str) -> str:
    """The pattern of an added row, if it can stand among the others.

    Raises:
        ValueError: it has groups, or takes nothing of a line.
    """
    compiled = warm.pattern(filled(pattern, _table()["parts"]))
    if compiled.groups:
        raise ValueError("groups are written (?:...)")
    if compiled.match(""):
        raise ValueError("takes nothing of a line")
    return pattern


class Added(packs.Row):
    """A prefix of a pack; each example is a line that begins with it."""

    at: tuple[Literal["line", "message", "template"], ...] = Field(
        default=("line", "message"), min_length=1, description="What it comes off: printed lines, words of an error."
    )
    pattern: Annotated[packs.Expression, AfterValidator(_plain)] = Field(
        description="Matched where the prefix begins; groups are (?:...). {clock}, {day}, {zone}, {level} are parts."
    )
    carried: bool = Field(default=False, description="Put before the line by what carried it, not by the program.")
    behind: bool = Field(default=False, description="A prefix only behind another one.")


ADDED = packs.Table("prefixes", Added)


@packs.cached
def rows() -> tuple[Row, ...]:
    """Those of packs, then the rows of prefixes.toml, in the order in which they are tried."""
    parts = _table()["parts"]
    added = tuple(
        Row(
            name=_name_of(row),
            at=frozenset(row.at),
            pattern=filled(row.pattern, parts),
            is_carried=row.carried,
            is_behind=row.behind,
            example=(row.examples[0], ""),
            counter=row.lookalikes[0],
        )
        for row in ADDED.rows()
    )
    return (*added, *own_rows())


def _name_of(row: Added) -> str:
    """A name among all rows, of which a group can be made."""
    return re.sub(r"[^a-z0-9]", "-", f"{row.place.pack}-{row.name}")


@cache
def _table() -> dict[str, Any]:
    return warm.table((files("pipeline") / "data" / "prefixes.toml").read_text(encoding="utf-8"))


@cache
def own_rows() -> tuple[Row, ...]:
    """The rows of prefixes.toml."""
    table = _table()
    return tuple(
        Row(
            name=row["name"],
            at=frozenset(row["at"]),
            pattern=filled(row["pattern"], table["parts"]),
            is_carried=row.get("carried", False),
            is_behind=row.get("behind", False),
            example=tuple(row["example"]),
            counter=row["counter"],
        )
        for row in table["prefix"]
    )


def filled(pattern: str, parts: Mapping[str, str]) -> str:
    """A row's pattern with its named parts."""
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


def joined(some: Iterable[Row], *, group: str = "(?:{pattern})") -> Alternatives:
    """The rows as one expression: the first that matches takes the prefix."""
    return Alternatives(
        (row.pattern, group.format(name=row.name.replace("-", "_"), pattern=row.pattern)) for row in some
    )


#: How lines begin that carry a prefix; where a row takes other letters too (`../kiln.py:3`), a message goes on.
_BEGINS = warm.pattern(r"[\x1b\ufffd^\[>(#|│┃=<{A-Z0-9a-z\xa0]")


def _heads() -> tuple[str, ...]:
    """What packs' rows take of a line's head: other lines than theirs are read as without them."""
    parts = _table()["parts"]
    return tuple(f"(?:{filled(row.pattern, parts)})" for row in ADDED.rows() if "line" in row.at and not row.behind)


class _Forms(NamedTuple):
    """The rows, joined for each use."""

    begins: re.Pattern[str]
    any: Alternatives  # most lines have no prefix, which an expression without groups tells twice as fast
    named: Alternatives  # the groups name the row
    named_first: Alternatives
    message: Alternatives
    message_first: Alternatives
    template: Alternatives
    carried: frozenset[str]


@packs.cached
def _forms() -> _Forms:
    every = rows()
    line = [row for row in every if "line" in row.at]
    return _Forms(
        begins=warm.pattern("|".join((_BEGINS.pattern, *_heads()))),
        any=joined(line),
        named=joined(line, group="(?P<{name}>{pattern})"),
        named_first=joined((row for row in line if not row.is_behind), group="(?P<{name}>{pattern})"),
        message=joined(row for row in every if "message" in row.at),
        message_first=joined(row for row in every if "message" in row.at and not row.is_behind),
        template=joined(row for row in every if "template" in row.at),
        carried=frozenset(row.name for row in line if row.is_carried),
    )


def prefixes(line: str) -> tuple[Prefix, ...]:
    """The prefixes at the head of a printed line, in order; none for most lines."""
    forms = _forms()
    if not forms.begins.match(line) or forms.any.match(line) is None:
        return ()
    found: list[Prefix] = []
    column = 0
    while True:
        step = (forms.named if column else forms.named_first).match(line, column)
        if step is None:
            break
        column = step.end()
        found.append(Prefix(str(step.lastgroup).replace("_", "-"), step.start(), column))
        if len(found) == MOST_PREFIXES or column >= WIDEST_PREFIX or forms.any.match(line, column) is None:
            break
    return tuple(found)


def width(line: str) -> int:
    """How many characters of the line are prefixes."""
    found = prefixes(line)
    return found[-1].end if found else 0


def carrier_width(line: str) -> int:
    """How much of the line was put before it by whoever carried it: a log collector, a launcher, a quoting reader.

    Levels, loggers and places in source files are the program's own words and end it.
    """
    end = 0
    for one in prefixes(line):
        if one.name not in carried():
            break
        end = one.end
    return end


def carried() -> frozenset[str]:
    """The names of the prefixes that carriers put before lines."""
    return _forms().carried


def message_start(line: str) -> int:
    """Where the words of a line begin, behind everything that is no part of an error's message."""
    at = 0
    forms = _forms()
    for _ in range(MOST_BEFORE_MESSAGE):
        found = (forms.message if at else forms.message_first).match(line, at)
        if found is None or found.end() == at:
            break
        at = found.end()
    return at


def without_context(template: str) -> str:
    """The template without one prefix that says who says it, or what failed because of it; as it is if it has none."""
    found = _forms().template.match(template)
    return template[found.end() :] if found is not None else template


# What tells one stream of a log from another keeps its digits; all other digits (times, line numbers) may vary.
_IDENTITY = warm.pattern(r"(?:rank|default|pid|Rank|RANK|TP|DP|PP|worker|Worker|GPU)[ =_:]{0,2}\d+|\[\d+,\d+\]")
_VARIES = warm.pattern(r"\d+|[A-Za-z]*(?:ERROR|WARNING|INFO|CRITICAL|DEBUG) *|\s+|[^\d\s]")


#: A name and its number and nothing else (`worker-3:`, `0:`): two lines with the same one are of the same stream.
_NUMBERED = warm.pattern(r"[\[(<]{0,2}[A-Za-z_. -]{0,24}\d{1,5}[\])>:| ]{0,3}$")


def shape(prefix: str, *, is_fixed: bool = False) -> re.Pattern[str]:
    """A pattern for lines of the same stream: as `prefix`, with other times, line numbers and paddings.

    `is_fixed`: two lines of the stream were seen to carry the very same one.
    """
    core = prefix.rstrip()
    trail = re.escape(prefix[len(core) :])  # exact: what follows it is indentation
    if is_fixed and _NUMBERED.match(core):
        return _compiled(re.escape(core) + trail)
    out: list[str] = []
    at = 0
    for kept in _IDENTITY.finditer(core):
        out += _loosen(core[at : kept.start()])
        out.append(re.escape(kept.group()))
        at = kept.end()
    out += _loosen(core[at:])
    return _compiled("".join(out) + trail)


@lru_cache(maxsize=2048)  # `re` keeps 512 of all, and streams of one program come again and again
def _compiled(expression: str) -> re.Pattern[str]:
    return warm.pattern(expression)


def _loosen(piece: str) -> list[str]:
    out: list[str] = []
    for token in _VARIES.findall(piece):
        if token.isdigit():
            out.append(r"\d{1,20}")
        elif token.isspace():
            out.append(f"[ \\t]{{1,{len(token) + 12}}}" if len(token) > 1 else re.escape(token))
        else:
            out.append(re.escape(token))
    return out


@ADDED.tested
def _standing_before(line: str) -> list[Added]:
    """The added rows that take something of the head of a line."""
    taken = {one.name for one in prefixes(line)}
    return [row for row in ADDED.rows() if _takes(row, line, taken)]


def _takes(row: Added, line: str, taken: Set[str]) -> bool:
    if "line" in row.at:
        return _name_of(row) in taken
    return re.match(filled(row.pattern, _table()["parts"]), line) is not None
