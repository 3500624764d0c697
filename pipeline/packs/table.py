"""A table that packs have rows of, and the rows of all that are active.

What all rows have, where a row stands and the check of its expressions come first.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, ValidationInfo

from pipeline.packs.active import active
from pipeline.packs.folder import CODES, TABLES, Pack, toml
from pipeline.packs.problem import PackError, Problem
from pipeline.records import warm

#: An expression longer than this is several rows.
_LONGEST_EXPRESSION = 2_000
#: Key of the context in which rows are validated: the rows of a shipped pack are tested, and compiled when first used.
IS_SHIPPED = "is_shipped"


Text = Annotated[str, Field(min_length=1, max_length=20_000)]
T = TypeVar("T")
_KEY = "row"
_ROW = re.compile(r"[ \t]*\[\[[ \t]*row[ \t]*\]\]")
_QUOTES = re.compile(r"'''|\"\"\"")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands."""

    pack: str
    path: Path  # of the table's file
    number: int  # of the row in its table, from 1
    line: int  # of its [[row]], from 1


@functools.cache
def compiled(expression: str) -> re.Pattern[str]:
    """The expression, where `^` and `$` mean the ends of a line."""
    return warm.pattern(expression, re.MULTILINE)


def is_shipped(info: ValidationInfo) -> bool:
    """Whether a row that is validated ships: what would compile its expressions for a check is left to a test then."""
    return bool((info.context or {}).get(IS_SHIPPED))


def _checked(expression: str, info: ValidationInfo) -> str:
    if is_shipped(info):
        return expression
    if len(expression) > _LONGEST_EXPRESSION:
        raise ValueError(f"longer than {_LONGEST_EXPRESSION} characters: make several rows of it")
    try:
        compiled(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"no regular expression of Python: {error}") from error
    return expression


#: A regular expression as Python's `re` reads it; `compiled` gives it compiled.
Expression = Annotated[str, Field(min_length=1), AfterValidator(_checked)]


class Row(BaseModel):
    """What every row has; the room that reads the table adds what is its own. An unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,79}$", description="Unique in the table of a pack.")]
    examples: Annotated[tuple[Text, ...], Field(min_length=1, description="Texts that the row knows, and no other.")]
    lookalikes: Annotated[tuple[Text, ...], Field(min_length=1, description="Texts that only look like those.")]

    _place: Place | None = PrivateAttr(default=None)

    @property
    def place(self) -> Place:
        """Where it stands."""
        assert self._place is not None, "a row comes from a table"
        return self._place


R = TypeVar("R", bound=Row)
#: The rows that a text goes to as the whole engine reads it, with the packs that are active.
Hits = Callable[[str], Iterable[Row]]

_KNOWN: dict[str, Table[Any]] = {}


class Table(Generic[R]):
    """One table: its name, and the type of its rows. It is made once, by the room that reads it."""

    def __init__(self, name: str, row: type[R]) -> None:
        assert name in TABLES or name == CODES, f"{name} is no table of a pack"
        assert name not in _KNOWN, f"{name} has two readers"
        self.name = name
        self.row = row
        self.hits: Hits | None = None
        self.wholes: list[Callable[[], object]] = []
        self._last: tuple[tuple[Pack, ...] | None, tuple[R, ...]] = None, ()
        # by the packs: two of them are active by turns where one is tried
        self._rows = functools.lru_cache(maxsize=2)(lambda packs: tuple(row for one in packs for row in self.of(one)))
        self._of = functools.cache(self._read)  # by the pack alone: what ships is read once
        _KNOWN[name] = self

    def rows(self) -> tuple[R, ...]:
        """The rows of all active packs, in the order of `Active`.

        Raises:
            PackError: a row is wrong.
        """
        packs = active().packs
        known, rows = self._last
        if known is not packs:  # packs are long to compare
            rows = self._rows(packs)
            self._last = packs, rows
        return rows

    def of(self, pack: Pack) -> tuple[R, ...]:
        """The rows of one pack, in the order of its file.

        Raises:
            PackError: a row is wrong; all that are, are named.
        """
        rows: tuple[R, ...] = self._of(pack)
        return rows

    def tested(self, hits: Hits) -> Hits:
        """A decorator: `hits` says which rows a text goes to; `errmine pack test` asks it of every example."""
        self.hits = hits
        return hits

    def whole(self, work: Callable[[], T]) -> Callable[[], T]:
        """A decorator: `work` puts all rows together, and raises a PackError where they do not go together."""
        self.wholes.append(work)
        return work

    def _read(self, pack: Pack) -> tuple[R, ...]:
        problems: list[Problem] = []
        rows: list[R] = []
        for name in (f"{self.name}.toml", *pack.listed(self.name)):
            if (text := pack.text(name)) is not None:
                for place, value in _values(text, pack, pack.folder / name, behind=len(rows)):
                    made = self._made(value, place, text, is_shipped=pack.is_shipped)
                    if isinstance(made, list):
                        problems += made
                    else:
                        rows.append(made)
        return _without(problems, rows)

    def _made(self, value: Any, place: Place, text: str, *, is_shipped: bool) -> R | list[Problem]:
        """The row of a value, or what is wrong with it."""
        try:
            row = self.row.model_validate(value, context={IS_SHIPPED: is_shipped})
        except ValidationError as error:
            return [self._problem(place, text, value, each) for each in error.errors()]
        row._place = place
        return row

    def _problem(self, place: Place, text: str, value: Any, error: Any) -> Problem:
        """What is wrong with one key of a row."""
        name = value.get("name", "") if isinstance(value, dict) else ""
        key = ".".join(map(str, error["loc"]))
        first = str(error["loc"][0]) if error["loc"] else ""
        row = f"row {name!r}" if name else "the row"
        return Problem(
            place.path,
            _line_of_key(text, first, after=place.line) or place.line,
            f"{row}: {key}: {_said(error, first)}" if key else f"{row}: {error['msg']}",
            f"Keys of a row of {self.name}: {', '.join(_keys(self.row))}; docs/packs.md says what each holds.",
        )


class Files(Table[R]):
    """A folder of a pack in which each file of JSON is one row, in the order of their names."""

    def _read(self, pack: Pack) -> tuple[R, ...]:
        rows: list[R] = []
        problems: list[Problem] = []
        for number, name in enumerate(pack.listed(self.name), 1):
            path, text = pack.folder / name, pack.text(name) or ""
            try:
                value = json.loads(text)
            except json.JSONDecodeError as error:
                problems.append(Problem(path, error.lineno, f"not valid JSON: {error.msg}", "Correct the JSON there."))
                continue
            except RecursionError:
                problems.append(Problem(path, None, "brackets within brackets without end", "Write the JSON flat."))
                continue
            made = self._made(value, Place(pack.name, path, number, 1), text, is_shipped=pack.is_shipped)
            if isinstance(made, list):
                problems += made
            else:
                rows.append(made)
        return _without(problems, rows)


def tables() -> Sequence[Table[Any]]:
    """All tables that somebody reads, by name."""
    return [_KNOWN[name] for name in sorted(_KNOWN)]


def check(packs: Iterable[Pack]) -> None:
    """Nothing; every row of the packs can be read, and those of all active packs together.

    Where nothing is active but all that ships, nothing is read: the tests hold it, and to put all rows together takes
    as long as to make thirty entries.

    Raises:
        PackError: some cannot; all of them are named.
    """
    problems: list[Problem] = []
    packs = tuple(packs)
    if not packs and not active().folders:
        return
    for pack in packs:
        for table in tables():
            try:
                table.of(pack)
            except PackError as error:
                problems += error.problems
    if not problems:
        problems += together()
    if problems:
        raise PackError(problems)


def together() -> list[Problem]:
    """What is wrong with the rows of all active packs, each of which is right by itself."""
    problems: list[Problem] = []
    for whole in (whole for table in tables() for whole in table.wholes):
        try:
            whole()
        except PackError as error:
            problems += error.problems
    return problems


def _said(error: Any, key: str) -> str:
    """What is wrong, in the words of TOML."""
    if error["type"] == "tuple_type":
        return f"a list: write it in brackets, {key} = ['…']"
    return str(error["msg"].removeprefix("Value error, "))


def _keys(row: type[Row]) -> Iterator[str]:
    return (field.alias or name for name, field in row.model_fields.items())


def _values(text: str, pack: Pack, path: Path, *, behind: int) -> Iterator[tuple[Place, Any]]:
    """What is written for each row of a file, with its place; `behind` rows of the table stand before it.

    Raises:
        PackError: the file is no TOML, or holds what is no row.
    """
    table = toml(text, path, is_shipped=pack.is_shipped)
    values = table.pop(_KEY, [])
    if table or not isinstance(values, list):
        advice = f"{path.name} holds rows and nothing else: each begins with [[{_KEY}]]."
        raise PackError.of(path, _line_of_key(text, next(iter(table), _KEY)), "no row", advice)
    lines = list(_row_lines(text))
    lines += [lines[-1] if lines else 1] * (len(values) - len(lines))  # rows as an inline array stand on one line
    for number, (value, line) in enumerate(zip(values, lines, strict=False), behind + 1):
        yield Place(pack.name, path, number, line), value


def _row_lines(text: str) -> Iterator[int]:
    """The lines on which rows begin, from 1."""
    within = ""
    for number, line in enumerate(text.splitlines(), 1):
        if "[[" in line and not within and _ROW.match(line):
            yield number
        if ("'''" in line or '"""' in line) and (within or not line.lstrip().startswith("#")):
            for quote in _QUOTES.findall(line):
                within = quote if not within else "" if quote == within else within


def _line_of_key(text: str, key: str, *, after: int = 0) -> int | None:
    """The line of the key of the row that begins on line `after`; None where the row has none."""
    pattern = re.compile(rf"[ \t{{]*(?:\[+[ \t]*)?[\"']?{re.escape(key)}[\"']?[ \t.]*[=\]:]") if key else None
    for number, line in enumerate(text.splitlines()[after:], after + 1):
        if pattern is not None and pattern.match(line):
            return number
        if after and _ROW.match(line):
            return None
    return None


def _without(problems: Sequence[Problem], rows: Sequence[R]) -> tuple[R, ...]:
    """The rows, where nothing is wrong with them or with their names.

    Raises:
        PackError: something is; all of it is named.
    """
    if every := [*problems, *_same_names(rows)]:
        raise PackError(every)
    return tuple(rows)


def _same_names(rows: Sequence[Row]) -> Iterator[Problem]:
    first: dict[str, Row] = {}
    for row in rows:
        if first.setdefault(row.name, row) is not row:
            place = first[row.name].place
            where = "" if place.path == row.place.path else f" of {place.path.name}"
            message = f"row {row.name!r}: a row of that name stands in line {place.line}{where} already"
            yield Problem(row.place.path, row.place.line, message, "Give one of them another name.")
