"""Lines by which tools announce an error: the table `lines` of the packs, as rules for native diagnostics.

A row says by which words its line is found, what its pattern takes of it, and where on a line that may stand. Rows are
tried behind the rules of errmine's own, and before those for what any program prints; those of native programs stand
between these: behind crashes, before loggers and compilers, or, where several programs print it, behind those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Self

from pydantic import Field, ValidationInfo, model_validator

from pipeline import packs
from pipeline.extract.crash import STACK
from pipeline.extract.rule import PLACE, Lazy, Rule, Where
from pipeline.packs import Expression
from pipeline.records import Severity, warm

#: What an expression may name instead of writing it: a place as compilers print it before the number of a line, and a
#: line of a native stack.
PARTS = {"{place}": PLACE, "{stack}": STACK.pattern}

_GROUP = warm.pattern(r"\{(\w+)\}")
_Word = Annotated[str, Field(min_length=2, max_length=80)]
_Template = Annotated[str, Field(max_length=200)]


class Line(packs.Row):
    """A line that announces an error, and how far the error goes."""

    dialect: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,39}$", description="Whose line it is: `postgresql`.")]
    words: Annotated[
        tuple[_Word, ...],
        Field(
            min_length=1,
            description="One of them stands in every such line; of another script with the blank or mark before it.",
        ),
    ]
    needs: tuple[str, ...] = Field((), description="One of these stands in the line too; before the pattern is tried.")
    pattern: Expression = Field(
        description="Searched in the line. Groups: `msg` the message (without it all that matched), or `string`, the"
        " same as it stands between the quotes of JSON and Go, and where there are any `type`, `file`, `line`,"
        " `function`, for a place in another form `path`, `row`, and `source`, `source_line`: what a tool was reading"
        " when it failed at that place in itself."
        " `{place}` is a file as compilers print it, in the group `file`."
    )
    where: Where = Field(Where.SHOWN, description="Where on its line it may stand.")
    type: _Template = Field("", description="What the error is called, made of groups, where no group `type` is it.")
    message: _Template = Field("", description="Its message, made of groups, where no group `msg` is it.")
    codes: tuple[_Template, ...] = Field((), description="Codes, made of groups: `sqlstate:{state}`.")
    severity: Severity = Field(Severity.ERROR, description="How much it is an error.")
    goes_on: Expression | None = Field(
        None,
        description="Matched at the start of each line that goes on with it; `{stack}` is a line of a native stack.",
    )
    above: Expression | None = Field(
        None,
        description="Matched at the line before, which may name the exception: group `type`; or what failed: `msg`.",
    )
    most_lines: Annotated[int, Field(ge=1, le=200, description="Of what goes on.")] = 12
    says_more: Expression | None = Field(
        None,
        description="Searched in all of it: its group `msg` or `string` is the message; others are groups that the"
        " pattern lacks.",
    )
    joins: bool = Field(False, description="Neighbours of this dialect are one failure: a compiler's list.")
    apart: bool = Field(
        False,
        description="Where it joins: one of another code, of another file or a missing package stands for itself.",
    )
    follows: Expression | None = Field(
        None, description="Where it joins: only a message in which this is found goes on with the error above."
    )
    exits: bool = Field(False, description="Its program ends with it in good order: a crash below is another's.")
    trails: bool = Field(False, description="Right behind another error it only tells how that one ended.")
    yields: bool = Field(False, description="It gives way to an error that follows within a few lines.")
    generic: bool = Field(False, description="Any program may print it: tried behind the rows that know theirs.")
    native: bool = Field(
        False,
        description="A native program prints it as it dies: tried before rows of other programs, and all that stands"
        " on its lines is kept.",
    )

    @model_validator(mode="after")
    def _names_its_groups(self, info: ValidationInfo) -> Self:
        if packs.is_shipped(info):
            return self
        groups = {*packs.compiled(self.expression).groupindex}
        if self.says_more is not None:
            groups |= {*packs.compiled(self.says_more).groupindex}
        for template in (self.type, self.message, *self.codes):
            if re.search(r"[{}]", _GROUP.sub("", template)):
                raise ValueError(
                    f"{template!r} has a brace that is none of {{group}}: a name in braces, and nothing else"
                )
            for name in _GROUP.findall(template):
                if name not in groups:
                    raise ValueError(f"{template!r} names a group that the pattern lacks: {name}")
        if self.says_more is not None and not {"msg", "string"} & {*packs.compiled(self.says_more).groupindex}:
            raise ValueError("says_more has no group msg or string, which is the message")
        return self

    @property
    def expression(self) -> str:
        """The pattern with its parts."""
        return _with_parts(self.pattern)


def _with_parts(expression: str) -> str:
    for name, part in PARTS.items():
        expression = expression.replace(name, part)
    return expression


LINES = packs.Table("lines", Line)


@packs.cached
def rules() -> tuple[Rule, ...]:
    """The rows of all active packs as rules, those for what any program prints last; not those of native programs.

    Raises:
        PackError: a row is wrong.
    """
    return tuple(_rule(row) for row in sorted(LINES.rows(), key=lambda row: row.generic) if not row.native)


@packs.cached
def of_natives(*, generic: bool) -> tuple[Rule, ...]:
    """The rows of native programs as rules: those that know their program, or those for what several print.

    Raises:
        PackError: a row is wrong.
    """
    return tuple(_rule(row) for row in LINES.rows() if row.native and row.generic is generic)


def _rule(row: Line) -> Rule:
    return Rule(
        name=f"{row.place.pack}/{row.name}",
        dialect=row.dialect,
        triggers=row.words,
        pattern=Lazy(row.expression),
        message=row.message,
        needs=row.needs,
        goes_on=_lazy(row.goes_on and _with_parts(row.goes_on)),
        named_above=_lazy(row.above),
        most_lines=row.most_lines,
        says_more=_lazy(row.says_more),
        joins=row.joins,
        apart=row.apart,
        follows=_lazy(row.follows),
        exits=row.exits,
        trails=row.trails,
        yields=row.yields,
        severity=row.severity,
        type=row.type,
        codes=row.codes,
        where=row.where,
        is_of_pack=not row.native,
    )


def _lazy(expression: str | None) -> Lazy | None:
    return Lazy(expression) if expression is not None else None


def filled(template: str, groups: Mapping[str, str]) -> str:
    """A row's `type`, `message` or code with its groups put in; nothing else of it is looked at, unlike a format's."""
    return _GROUP.sub(lambda name: groups.get(name[1], ""), template)


def named(names: Iterable[str]) -> list[Line]:
    """The rows that rules of these names were made of; what is a rule of errmine's own is left out."""
    rows = {f"{row.place.pack}/{row.name}": row for row in LINES.rows()}
    return [rows[name] for name in names if name in rows]
