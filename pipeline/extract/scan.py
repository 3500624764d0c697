"""One cheap look over a text for the places where something may have failed; everything else is never split."""

from __future__ import annotations

import re
from typing import NamedTuple

# Plain substring searches; they cost less than 0.1 s for 100 MB each.
_MARKS: tuple[tuple[str, str], ...] = (
    ("header", "raceback (most recent call"),
    ("frame", 'File "'),
    ("frame", "File &quot;"),
    ("fatal", "Fatal Python error: "),
    ("fatal", "(most recent call first)"),
    ("vscode", "Exception has occurred: "),
    ("pytest", "\nE   "),
    ("pytest", " E   "),
    ("arrow", "--> "),
    ("arrow", "\n-> "),
)

#: Ends of exception names as they stand before a colon.
_ENDINGS = (
    "Error",
    "Exception",
    "ExceptionGroup",
    "Interrupt",
    "Warning",
    "Failure",
    "Unsupported",
    "OutOfResources",
    "Exit",
    "Fault",
    "Timeout",
)
_FRAME = re.compile(r'File (?:\\?"|&quot;)[^"\n]{0,1000}(?:"|&quot;), line \d|File "[^"\n]{1,1000}$', re.M)
_COLON = re.compile(r"(?:\([\w.]{1,80}\))? ?[:：]")


class Mark(NamedTuple):
    """A place worth a look, and what made it so."""

    at: int
    kind: str  # "header" | "frame" | "fatal" | "vscode" | "pytest" | "arrow"


def marks(text: str) -> list[Mark]:
    """The places of the text that a reader of some dialect should look at, in order."""
    found: list[Mark] = []
    for kind, needle in _MARKS:
        at = text.find(needle)
        while at >= 0:
            if kind != "frame" or _FRAME.match(text, at) is not None:
                found.append(Mark(_place(text, at, kind), kind))
            at = text.find(needle, at + len(needle))
    return sorted(found)


def _place(text: str, at: int, kind: str) -> int:
    if kind == "header":  # the T may be lost (`raceback`)
        return at - (at > 0 and text[at - 1] in "Tt")
    return at + 1 if text[at] in "\n " and kind != "frame" else at


def name_ends(text: str) -> list[int]:
    """The places where a name that ends like an exception's stands before a colon, in order."""
    found: list[int] = []
    for ending in _ENDINGS:
        at = text.find(ending)
        while at >= 0:
            at += len(ending)
            if _COLON.match(text, at):
                found.append(at)
            at = text.find(ending, at)
    return sorted(found)
