"""Pages that list error codes with what each means: one parser a kind of page, one row of data a catalogue.

A source asks a parser whether a page is still built as it was and which codes it lists; a reader asks it what the page
says of one of them. To add a catalogue whose page is of a known kind: a row in `pages.toml` of a pack, or
the same keys under `[[sources.catalogues]]` of errmine.toml. For another kind of page: a module here with `rows`, and
its name in `PARSERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from pipeline import packs
from pipeline.providers.catalogue import doxygen_enum, graph_break_registry, sphinx
from pipeline.providers.catalogue.row import Row
from pipeline.records.errors import ConfigError

__all__ = [
    "FORM_PREFIX",
    "PARSERS",
    "Catalogue",
    "Parser",
    "Row",
    "code_of_key",
    "key_of",
    "rows",
    "selected",
    "shipped",
    "wanted",
]

#: How the form of such a page begins in raw; its parser's name follows.
FORM_PREFIX = "codes-"
#: Parsed pages that are kept in memory: a page is asked once for each of its codes.
_KEPT_PAGES = 8


@dataclass(frozen=True, slots=True)
class Parser:
    """One kind of page."""

    content_type: str
    rows: Callable[[str], tuple[Row, ...] | str]  # of the page's text: its codes, or what was expected and is not there


#: Name -> parser.
PARSERS: Mapping[str, Parser] = MappingProxyType(
    {
        "sphinx": Parser("text/html", sphinx.rows),
        "doxygen-enum": Parser("text/html", doxygen_enum.rows),
        "graph-break-registry": Parser("text/plain", graph_break_registry.rows),
    }
)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """One page and which of its names are error codes."""

    name: str  # "jax-errors"
    url: str
    parser: str  # a key of PARSERS
    names: str  # regular expression that a whole name must match to be an error code
    family: str  # "jax" makes the code "jax:jax.errors.KeyReuseError"


class Page(packs.Row):
    """A page that lists codes; the examples are names that are codes, the look-alikes names that are none."""

    url: Annotated[str, Field(pattern=r"^https?://[^\s]{3,400}$", description="Where it is.")]
    parser: str = Field(description="How it is built: sphinx, doxygen-enum or graph-break-registry.")
    names: packs.Expression = Field(description="Expression that a whole name on it matches where it is a code.")
    family: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,39}$", description="The family of its codes.")]

    @model_validator(mode="after")
    def _can_be_read(self) -> Page:
        if self.parser not in PARSERS:
            raise ValueError(f"parser: {self.parser!r} is none of {', '.join(sorted(PARSERS))}")
        return self


PAGES = packs.Table("pages", Page)


@PAGES.tested
def _listed(name: str) -> list[Page]:
    """The pages on which the name would be a code."""
    return [row for row in PAGES.rows() if re.fullmatch(row.names, name)]


@packs.cached
def shipped() -> Mapping[str, Catalogue]:
    """The catalogues that the packs know, by name; of two that know a name the first one counts."""
    found: dict[str, Catalogue] = {}
    for row in PAGES.rows():
        found.setdefault(row.name, Catalogue(row.name, row.url, row.parser, row.names, row.family))
    return MappingProxyType(found)


@lru_cache(maxsize=_KEPT_PAGES)
def rows(parser: str, body: bytes) -> tuple[Row, ...] | str:
    """The codes of a page, each name once, or what was expected and is not there."""
    found = PARSERS[parser].rows(body.decode("utf-8-sig", "replace"))
    if isinstance(found, str):
        return found
    first: dict[str, Row] = {}
    for row in found:
        first.setdefault(row.name, row)
    return tuple(first.values())


def selected(catalogue: Catalogue, body: bytes) -> tuple[Row, ...] | str:
    """The rows of a page that are error codes of the catalogue: name as wanted, and not the code of success."""
    found = rows(catalogue.parser, body)
    if isinstance(found, str):
        return found
    wanted = re.compile(catalogue.names)
    chosen = tuple(row for row in found if wanted.fullmatch(row.name) and row.number != 0)
    return chosen or f"names such as {catalogue.names}"


def wanted(name: str, **said: str | None) -> Catalogue:
    """The catalogue called `name`: a shipped one with what is `said` otherwise, or a new one of which all is said.

    Raises:
        ConfigError: something is missing, there is no such parser, or `names` is no regular expression.
    """
    known = shipped().get(name)
    values = {**(asdict(known) if known else {}), **{key: value for key, value in said.items() if value is not None}}
    missing = sorted({field.name for field in fields(Catalogue)} - {"name"} - values.keys())
    if missing:
        hint = f"Say it, or name one of {', '.join(sorted(shipped()))}."
        raise ConfigError(f"catalogue {name}: no {', '.join(missing)}", hint=hint)
    made = Catalogue(**{**values, "name": name})
    if made.parser not in PARSERS:
        raise ConfigError(f"catalogue {name}: no parser {made.parser}", hint=f"There are {', '.join(sorted(PARSERS))}.")
    try:
        re.compile(made.names)
    except re.error as error:
        raise ConfigError(f"catalogue {name}: names: {error}", hint="It is a regular expression.") from error
    return made


def key_of(url: str, code: str = "") -> str:
    """The document key of a page, or of one code on it: "docs.jax.dev/en/latest/errors.html#jax:jax.errors.X"."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{parts.path}{f'#{code}' if code else ''}"


def code_of_key(key: str) -> str:
    """The code that a document key names; "" for the page itself."""
    return key.partition("#")[2]
