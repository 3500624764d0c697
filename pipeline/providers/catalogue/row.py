"""What every parser of a catalogue's page gives."""

from __future__ import annotations

from dataclasses import dataclass

# The longest description seen has 1,100 characters.
MAX_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Row:
    """One code as its page describes it."""

    name: str  # as the program spells it: "cudaErrorIllegalAddress", "jax.errors.KeyReuseError", "GB0025"
    description: str  # on one line; "" where the page says nothing
    number: int | None = None
    anchor: str = ""  # fragment of the page's address, "" if it has none
    title: str = ""  # what the page calls it, where that is not the name


def one_line(text: str) -> str:
    """`text` with single spaces, cut to what a description may have."""
    return " ".join(text.split())[:MAX_CHARACTERS].rstrip()
