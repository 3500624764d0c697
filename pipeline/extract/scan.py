"""One cheap look over a text for the places where something may have failed; everything else is never split."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.text.literals import Seen

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
#: What `marks` and `name_ends` want to have been looked for.
LITERALS = (*(needle for _, needle in _MARKS), *_ENDINGS)

_FRAME = re.compile(r'File (?:\\?"|&quot;)[^"\n]{0,1000}(?:"|&quot;), line \d|File "[^"\n]{1,1000}$', re.M)
_BEFORE_COLON = frozenset(("(", " ", ":", "："))
_COLON = re.compile(r"(?:\([\w.]{1,80}\))? ?[:：]")


class Mark(NamedTuple):
    """A place worth a look, and what made it so."""

    at: int
    kind: str  # "header" | "frame" | "fatal" | "vscode" | "pytest" | "arrow"


def marks(text: str, seen: Seen) -> list[Mark]:
    """The places of the text that a reader of some dialect should look at, in order."""
    found: list[Mark] = [Mark(0, "pytest")] if text.startswith("E   ") else []
    for kind, needle in _MARKS:
        if kind == "frame":
            found.extend([Mark(at, kind) for at in seen.get(needle, ())])
        else:
            found.extend([Mark(_place(text, at, kind), kind) for at in seen.get(needle, ())])
    return sorted(found)


def is_mark(text: str, mark: Mark) -> bool:
    """Whether the place is what it looks like. Asked late: most frames lie inside a traceback that was read by then."""
    return mark.kind != "frame" or _FRAME.match(text, mark.at) is not None


def _place(text: str, at: int, kind: str) -> int:
    if kind == "header":  # the T may be lost (`raceback`)
        return at - (at > 0 and text[at - 1] in "Tt")
    return at + 1 if text[at] in "\n " else at


def name_ends(text: str, seen: Seen) -> list[int]:
    """The places where a name that ends like an exception's stands before a colon, in order."""
    found: list[int] = []
    for ending in _ENDINGS:
        width = len(ending)
        for at in seen.get(ending, ()):
            end = at + width
            if text[end : end + 1] in _BEFORE_COLON and _COLON.match(text, end):
                found.append(end)
    return sorted(found)
