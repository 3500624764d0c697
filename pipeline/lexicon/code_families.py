r"""Catalogues of codes that packs bring, one file a family: facts, the link to each code, and how they are printed.

::

    {"name": "kiln", "url": "https://kiln.example/errors/{name}",
     "signs": ["kiln-"], "printed": ["\\b(KILN-\\d{4})\\b"], "decides": true,
     "examples": ["KILN-0042: too cold"], "lookalikes": ["KILN-42"],
     "entries": [{"name": "KILN-0042", "string": "too cold"}]}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from pipeline import packs

Name = Annotated[str, Field(min_length=1, max_length=200)]
Address = Annotated[str, Field(pattern=r"^https://[^\s]{3,400}$")]


def _captures(expression: str) -> str:
    if packs.compiled(expression).groups != 1:
        raise ValueError("one group, the code's name: (?:...) for the others")
    return expression


def _small(sign: str) -> str:
    if sign != sign.lower():
        raise ValueError(f"{sign!r} is not in small letters; the text is searched so")
    return sign


class Code(BaseModel):
    """One code."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    number: int | None = None
    string: (
        Annotated[str, Field(min_length=1, max_length=400, description="What the program prints for it.")] | None
    ) = None
    url: Address | None = None
    also: tuple[Name, ...] = Field(default=(), description="Other names of the same error.")
    decides: bool = Field(default=False, description="Whether this one decides, where not all of its list do.")
    says: tuple[Annotated[str, Field(min_length=8, max_length=400)], ...] = Field(
        default=(),
        description="Its own words, {} for what varies: a message that ends with them is it, code or no code.",
    )


class Catalogue(packs.Row):
    """A family of codes; its name is what stands before the colon of a code."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,39}$")]
    title: str = Field(default="", description="What the list is.")
    source: str = Field(default="", description="Where the facts were read.")
    url: Address | None = Field(default=None, description="The page of a code; {name} is the code's name.")
    signs: tuple[Annotated[str, Field(min_length=2, max_length=80), AfterValidator(_small)], ...] = Field(
        min_length=1, description="In small letters: one of them stands in every text that names a code."
    )
    printed: tuple[Annotated[packs.Expression, AfterValidator(_captures)], ...] = Field(
        min_length=1, description="Expressions for a code in a text; the one group is its name."
    )
    decides: bool = Field(default=False, description="Whether the code says alone which error a message is.")
    is_open: bool = Field(default=False, alias="open", description="Whether names that are not listed are codes too.")
    entries: tuple[Code, ...] = Field(
        default=(), description="The codes: name, and number, string, url, also, decides, says."
    )

    @model_validator(mode="after")
    def _has_codes(self) -> Catalogue:
        if not self.entries and not self.is_open:
            raise ValueError("no entries: list the codes, or say that all are (open: true)")
        from pipeline.lexicon import catalogues  # noqa: PLC0415  it reads the families that are made here

        if self.name in catalogues.own_families():
            raise ValueError(f"name: {self.name!r} is a family that errmine reads itself")
        names = [name for row in self.entries for name in (row.name, *row.also)]
        if twice := next((name for name, count in Counter(names).items() if count > 1), None):
            raise ValueError(f"entries: {twice!r} stands there twice")
        return self

    def url_of(self, row: Code) -> str | None:
        """The page of a code."""
        return row.url or (self.url.replace("{name}", row.name) if self.url else None)


CODES = packs.Files("codes", Catalogue)


@CODES.whole
@packs.cached
def families() -> Mapping[str, Catalogue]:
    """The catalogues of packs by family.

    Raises:
        PackError: two packs bring one family.
    """
    found: dict[str, Catalogue] = {}
    for row in CODES.rows():
        if (first := found.setdefault(row.name, row)) is not row:
            message = f"{row.name!r} is a family of {first.place.path} already"
            raise packs.PackError.of(row.place.path, 1, message, "Give the family another name.")
    return MappingProxyType(found)
