"""PyTorch's registry of graph breaks, a JSON file: code -> its versions, the newest first.

::

    {"GB0003": [{"Gb_type": "...", "Context": "...", "Explanation": "...", "Hints": ["..."]}]}

An explanation may be a placeholder that nobody filled in, or a piece of the source that the registry's script could not
read; neither is said of the code. Hints are printed by the program itself and are read there.
"""

from __future__ import annotations

import json
import re

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.providers.catalogue.row import Row, one_line

# Three words at least, begun by a word, a name in back quotes or a placeholder; no pieces of string literals.
_SENTENCE = re.compile(r"[A-Za-z`{][^\n\"]{0,1990}\s\S{1,200}\s\S[^\n\"]{0,1990}")


class _Version(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str = Field(alias="Gb_type")
    explanation: str = Field(alias="Explanation")


_REGISTRY = TypeAdapter(dict[str, list[_Version]])


def rows(text: str) -> tuple[Row, ...] | str:
    """The codes in order, or what was expected."""
    try:
        registry = _REGISTRY.validate_python(json.loads(text))
    except (ValueError, RecursionError, ValidationError):
        return "JSON: code -> list of objects with Gb_type and Explanation"
    found = [_row(code, versions[0]) for code, versions in sorted(registry.items()) if versions]
    return tuple(found) or "at least one code"


def _row(code: str, newest: _Version) -> Row:
    words = one_line(newest.explanation)
    return Row(code, words if _SENTENCE.fullmatch(words) else "", title=one_line(newest.type))
