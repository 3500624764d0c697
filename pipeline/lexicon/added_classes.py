"""What packs add to the classes of errors: domains, and rules that choose a category.

An example is written "type | message | key=value", as `KilnError | kiln 7 is cold | repo=acme/kiln`; keys are code,
kind, dialect, package, repo, page, and gates.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from pipeline import packs

Beginnings = tuple[Annotated[str, Field(min_length=2, max_length=200)], ...]
Label = Annotated[str, Field(min_length=1, max_length=40)]


class Domain(packs.Row):
    """A domain; its name is the id. `en` and `zh` may be missing where another row says them."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,39}$")]
    en: Label | None = Field(default=None, description="Its name in English; a new domain needs it.")
    zh: Label | None = Field(default=None, description="Its name in Chinese; a new domain needs it.")
    codes: Beginnings = Field(default=(), description="Beginnings of its error codes.")
    kinds: Beginnings = Field(default=(), description="Beginnings of the kinds of known errors that are its own.")
    gates: Beginnings = Field(default=(), description="Gates that only its errors have.")
    types: packs.Expression | None = Field(default=None, description="Expression for the exception's class.")
    words: packs.Expression | None = Field(default=None, description="Expression for what only its messages say.")
    weak_words: packs.Expression | None = Field(default=None, description="Expression for what others say too.")
    packages: Beginnings = Field(default=(), description="Top-level packages in which it is raised.")
    dialects: Beginnings = Field(default=(), description="Dialects of its lines and stacks.")
    repos: Beginnings = Field(default=(), description="Repositories, owner/name, * for any.")
    language_kinds: Beginnings = Field(default=(), description="As `kinds`, where it tells the language: asked last.")
    language_gates: Beginnings = Field(default=(), description="As `gates`, asked last.")
    language_types: packs.Expression | None = Field(default=None, description="As `types`, asked last.")
    language_words: packs.Expression | None = Field(default=None, description="As `words`, asked last.")
    language_repos: Beginnings = Field(default=(), description="As `repos`, asked after all others' `repos`.")
    language_dialects: Beginnings = Field(default=(), description="As `dialects`, asked last.")

    @model_validator(mode="after")
    def _says_something(self) -> Domain:
        if not self.model_fields_set - {"name", "en", "zh", "examples", "lookalikes"}:
            raise ValueError("no evidence: say by what an error is known to belong to it (types, words, dialects, ...)")
        return self


class Category(packs.Row):
    """A rule that says what kind of failure an error is: all that it names must hold."""

    is_: str = Field(alias="is", description="A category of docs/classes.md.")
    page: Beginnings = Field(default=(), description="Beginnings of the code whose official page describes the error.")
    code: Beginnings = Field(default=(), description="Beginnings of codes that it prints.")
    family: Beginnings = Field(default=(), description="Beginnings of kinds of known errors.")
    gate: Beginnings = Field(default=(), description="Keys of gates of which it has one.")
    dialect: Beginnings = Field(default=(), description="Dialects of its lines and stacks.")
    words: packs.Expression | None = Field(default=None, description="Expression for the message.")
    class_: packs.Expression | None = Field(default=None, alias="class", description="Expression for its class.")
    last: bool = Field(default=False, description="Whether it is asked after all others, before words of any message.")

    @model_validator(mode="after")
    def _says_something(self) -> Category:
        if not self.model_fields_set - {"name", "is_", "examples", "lookalikes"}:
            raise ValueError("no evidence: say page, code, family, gate, dialect, words or class")
        return self


DOMAINS = packs.Table("domains", Domain)
CATEGORIES = packs.Table("categories", Category)
