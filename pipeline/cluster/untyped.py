"""Words that are known with one exception type only: who quotes them without the type means that error.

"list index out of range" says too little without its type, so `IndexError: ...` keeps it as a gate. A report that
leaves the type out has no such gate; it joins if all others who print these words print them with one type.
"""

from __future__ import annotations

import re

from pipeline.cluster.shapes import SLOT_CHARACTER, Shape, tokens

Gate = tuple[tuple[str, str], ...]

#: Telling words of a text that may join: "required" alone is anybody's.
LEAST_WORDS = 2

_TELLING = re.compile(r"[a-z][a-z']{2,}")


def bare(gate: Gate, shape: Shape) -> Shape:
    """The shape of a text's words alone, without the exception type that stands before few of them."""
    kind = dict(gate).get("exception")
    text = shape.text.removeprefix(f"{kind.lower()}: ") if kind is not None else shape.text
    if text == shape.text:
        return shape
    parts = tokens(text)
    return Shape(text, parts, frozenset(parts) - {SLOT_CHARACTER})


class Untyped:
    """Texts of exception types by their words alone."""

    def __init__(self) -> None:
        self._owners: dict[tuple[Gate, str], set[int]] = {}

    def add(self, gate: Gate, owner: int, shape: Shape) -> None:
        """Make a text findable for those who leave its exception type out."""
        if "exception" in dict(gate):
            rest = tuple(pair for pair in gate if pair[0] != "exception")
            self._owners.setdefault((rest, bare(gate, shape).text), set()).add(owner)

    def only(self, gate: Gate, shape: Shape) -> int | None:
        """The only owner of these words, None if nobody has them with a type, or several do."""
        owners = self._owners.get((gate, shape.text), set())
        return min(owners) if len(owners) == 1 and len(_TELLING.findall(shape.text)) >= LEAST_WORDS else None
