"""One cheap look over a text for the places where something may have failed; everything else is never split."""

from __future__ import annotations

import re
from typing import NamedTuple

# Plain substring searches; they cost less than 0.1 s for 100 MB each.
_MARKS: tuple[tuple[str, str], ...] = (
    ("header", "raceback (most recent call"),
    ("frame", 'File "'),
    ("frame", "File &quot;"),
)

#: Ends of exception names as they stand before a colon.
_ENDINGS = ("Error", "Exception", "Interrupt", "Warning", "Failure", "Unsupported", "OutOfResources", "Exit")
_COLON = re.compile(r" ?[:：]")


class Mark(NamedTuple):
    """A place worth a look, and what made it so."""

    at: int
    kind: str  # "header" | "frame" | "name"


def marks(text: str) -> list[Mark]:
    """The places of the text that a reader of some dialect should look at, in order."""
    found: list[Mark] = []
    for kind, needle in _MARKS:
        at = text.find(needle)
        while at >= 0:
            # the T may be lost (`raceback`)
            has_initial = kind == "header" and at > 0 and text[at - 1] in "Tt"
            found.append(Mark(at - has_initial, kind))
            at = text.find(needle, at + len(needle))
    for ending in _ENDINGS:
        at = text.find(ending)
        while at >= 0:
            at += len(ending)
            if _COLON.match(text, at):
                found.append(Mark(at, "name"))
            at = text.find(ending, at)
    found.sort()
    return found
