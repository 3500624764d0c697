"""Names of software and of GPUs as people spell them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def products() -> Mapping[str, str]:
    """Spelling in lower case -> name of the product."""
    rows = _table()["packages"]
    return {spelling: name for name, spellings in rows.items() for spelling in (*spellings, name.lower())}


def gpus() -> str:
    """A pattern for the model name of a GPU."""
    return str(_table()["gpus"]["pattern"])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files("pipeline") / "data" / "products.toml").read_text(encoding="utf-8"))
