"""A row of a table: what all rows have, where a row stands, and the check of its expressions."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo

#: An expression longer than this is several rows.
_LONGEST_EXPRESSION = 2_000
#: Key of the context in which rows are validated: the rows of a shipped pack are tested, and compiled when first used.
IS_SHIPPED = "is_shipped"


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
    return re.compile(expression, re.MULTILINE)


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
Text = Annotated[str, Field(min_length=1, max_length=20_000)]


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
