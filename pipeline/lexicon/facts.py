"""The closed list of facts: what `distil` may state and `translate` puts into words, from `data/facts.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

PATH = Path("pipeline/data/facts.toml")


@cache
def table() -> dict[str, Any]:
    """`facts` by template id (English, types of slots), the closed lists of `terms`, the `units` of resources."""
    return tomllib.loads(resources.files("pipeline").joinpath("data/facts.toml").read_text("utf-8"))
