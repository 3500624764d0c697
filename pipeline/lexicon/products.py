"""Names of software and of GPUs as people spell them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from pipeline import packs
from pipeline.records import warm


def _small(spelling: str) -> str:
    if spelling != spelling.lower():
        raise ValueError(f"{spelling!r} is not in small letters; texts are searched so")
    return spelling


class Product(packs.Row):
    """Software whose versions matter; an example names it with a version, as `Kiln 1.4`."""

    product: Annotated[str, Field(min_length=2, max_length=60, description="Its name, as people read it.")]
    spellings: tuple[Annotated[str, Field(min_length=2, max_length=60), AfterValidator(_small)], ...] = Field(
        min_length=1, description="How it is written, in small letters: of a package, of a command."
    )


PRODUCTS = packs.Table("products", Product)


@packs.cached
def products() -> Mapping[str, str]:
    """Spelling in lower case -> name of the product; what the package and a pack say, the package says."""
    rows = _table()["packages"]
    found = {spelling: name for name, spellings in rows.items() for spelling in (*spellings, name.lower())}
    added: dict[str, str] = {}
    for row in PRODUCTS.rows():  # those of added packs first: the first name counts
        for one in (*row.spellings, row.product.lower()):
            added.setdefault(one, row.product)
    return added | found


def gpus() -> str:
    """A pattern for the model name of a GPU."""
    return str(_table()["gpus"]["pattern"])


@cache
def _table() -> dict[str, Any]:
    return warm.table((files("pipeline") / "data" / "products.toml").read_text(encoding="utf-8"))
