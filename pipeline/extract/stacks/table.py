"""The forms of stacks, as packs have them in stacks.toml: how one is announced, what its lines are, how it chains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field

from pipeline import packs
from pipeline.text import needed

#: A line is looked at up to here: what one line holds beyond it is data.
WIDEST = 1500

Expressions = tuple[packs.Expression, ...]


def _names_an_exception(expression: str) -> str:
    if lacking := {"type", "message"} - set(packs.compiled(expression).groupindex):
        raise ValueError(f"no group {' and no group '.join(sorted(lacking))}: both say which exception is inside")
    return expression


class Form(packs.Row):
    """One form of stack. All expressions are matched at the begin of one line, its prefixes taken off.

    A stack begins with a line of `start`, or with its first `frame`, above which a line of `head` names the error. What
    follows belongs to it as long as each line is one of those below, a part of the message, or blank before such a one.
    Groups: `type`, `message`; `file`, `line`, `function`, `module` of a frame or of the place where it was raised.
    """

    dialect: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,30}$", description="`dialect` of its events.")]
    literals: Annotated[
        tuple[Annotated[str, Field(min_length=3, max_length=80)], ...],
        Field(min_length=1, description="One of them stands on each line of `start` and each first frame, as it is."),
    ]
    start: Annotated[
        Expressions, Field(description="Searched in a line that holds a literal: it announces the error.")
    ] = ()
    head: Annotated[Expressions, Field(description="The line above the first frame that names the error.")] = ()
    never: Annotated[
        Expressions, Field(description="Such a line above the frames: no error, they are told of nothing.")
    ] = ()
    frame: Annotated[Expressions, Field(description="A frame.")] = ()
    below: Annotated[Expressions, Field(description="The second line of a frame: its place.")] = ()
    cause: Annotated[Expressions, Field(description="The next exception of the chain.")] = ()
    aside: Annotated[Expressions, Field(description="An exception that is none of the chain (suppressed).")] = ()
    other: Annotated[
        Expressions, Field(description="The stack of another thread begins: its frames are none of the error's.")
    ] = ()
    thread: Annotated[
        Expressions, Field(description="The stack of a thread begins; the frames of the first one count.")
    ] = ()
    more: Annotated[
        Expressions, Field(description="Frames left out that the exception before has; group `count`.")
    ] = ()
    says: Annotated[
        Expressions, Field(description="A line that says more of the error: groups as those of `start`.")
    ] = ()
    skip: Annotated[Expressions, Field(description="A line that belongs to the stack and says nothing.")] = ()
    inner: Annotated[
        Annotated[packs.Expression, AfterValidator(_names_an_exception)] | None,
        Field(description="In a message: an exception inside begins behind it."),
    ] = None
    runtime: Annotated[
        packs.Expression | None,
        Field(
            description="Functions and files of the language itself: left out at the inner end, where others follow."
        ),
    ] = None
    unwinds: Annotated[
        packs.Expression | None,
        Field(
            description="Functions that begin to unwind a stack: what stands further in recovers, ends or raises"
            " again, and is left out with them."
        ),
    ] = None
    order: Annotated[
        Literal["innermost-first", "outermost-first"], Field(description="How its frames are printed.")
    ] = "innermost-first"
    root: Annotated[Literal["first", "last"], Field(description="Which exception of a chain is the cause of all.")] = (
        "last"
    )
    type: Annotated[str | None, Field(description="The event's type where no group names one.")] = None
    codes: Annotated[
        tuple[
            Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,39}:[^{}]{0,60}\{(?:type|code)\}$", max_length=120)], ...
        ],
        Field(description="Codes, made of what the error is called or of its group `code`: `rustc:{type}`."),
    ] = ()
    least_frames: Annotated[int, Field(ge=0, le=20, description="A start with fewer frames is no event.")] = 0
    unnamed: Annotated[
        bool, Field(description="Frames under a line that `head` does not know: the line is the message.")
    ] = False
    message_lines: Annotated[int, Field(ge=0, le=60, description="Lines that a message may have.")] = 12
    message_below: Annotated[bool, Field(description="Where `start` has no message, the next line is it.")] = False
    paired: Annotated[bool, Field(description="A frame without its second line is none.")] = False
    blanks: Annotated[
        int, Field(ge=0, le=5, description="Blank lines between the name, the message and the first frame.")
    ] = 1
    breaks: Annotated[
        packs.Expression | None, Field(description="Where lines were put on one: what stands for their breaks.")
    ] = None
    inside: Annotated[
        bool, Field(description="Its frames stand below what rules for diagnostics announce: only those.")
    ] = False
    alone: Annotated[bool, Field(description="Read only where no other error stands near; `head` tells of one.")] = (
        False
    )
    escaped: Annotated[
        bool, Field(description="It stands in a string of JSON: backslashes stand before its quotes and backslashes.")
    ] = False
    joins: Annotated[bool, Field(description="Neighbours are one failure: a compiler's list of errors.")] = False
    apart: Annotated[
        bool, Field(description="Where it joins: one of another type, or the first of another file, stands for itself.")
    ] = False
    wraps: Annotated[
        bool, Field(description="A message of `says` goes on in the lines right below, cut where a terminal ended.")
    ] = False
    warns: Annotated[
        bool, Field(description="A type that ends in Warning is a warning, not how the language calls an error.")
    ] = True


FORMS = packs.Table("stacks", Form)


class Matched(NamedTuple):
    """What an expression found on a line."""

    groups: dict[str, str]
    words: str = ""  # all that it matched


@packs.cached
def _tried(expressions: Sequence[str]) -> tuple[tuple[re.Pattern[str], tuple[needed.Clause, ...]], ...]:
    """The expressions compiled, and what a line needs for each."""
    return tuple((packs.compiled(one), needed.clauses(one, shortest=needed.SHORTEST_OF_LINE)) for one in expressions)


def first(expressions: Sequence[str], line: str, *, is_searched: bool = False) -> Matched | None:
    """What the first of the expressions that knows the line finds there."""
    for pattern, clauses in _tried(expressions):
        if not needed.stand(clauses, line):
            continue
        hit = pattern.search(line) if is_searched else pattern.match(line)
        if hit is not None:
            return Matched({name: text for name, text in hit.groupdict().items() if text}, hit[0].strip())
    return None


def may_stand(expressions: Sequence[str], text: str, start: int) -> bool:
    """Whether the text has behind a place what one of the expressions needs."""
    return any(needed.stand(clauses, text, start) for _, clauses in _tried(expressions))


@packs.cached
def by_literal() -> dict[str, tuple[int, ...]]:
    """The numbers of the forms (in `FORMS.rows()`) that are tried on a line with the literal, in their order."""
    return _by_literal(alone=False)


@packs.cached
def alone() -> dict[str, tuple[int, ...]]:
    """The same of the forms that are read where no other error stands near."""
    return _by_literal(alone=True)


def _by_literal(*, alone: bool) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for number, form in enumerate(FORMS.rows()):
        for literal in form.literals if not form.inside and form.alone == alone else ():
            found.setdefault(literal, []).append(number)
    return {literal: tuple(numbers) for literal, numbers in found.items()}
