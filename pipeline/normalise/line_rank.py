"""Lines without an event: how much each looks like an error's message."""

from __future__ import annotations

import re

from pipeline.normalise import peel
from pipeline.records import warm

#: A logger's level stands within so many characters of its line's begin.
LEVEL_WITHIN = 120
#: How much of a line is looked at to rank it.
RANKED = 400

_ERROR_WORD = warm.pattern(
    r"error|oom\b|exhausted|exception|fail|fatal|abort|cannot|can't|couldn't|unable|\bnot |denied|out of|exceed|invalid"
    r"|unsupported|killed|(?<!de)fault|timeout|timed out",
    re.IGNORECASE,
)
_TYPED = warm.pattern(r"\b[A-Za-z_][\w.]{0,100}(?:Error|Exception|Unsupported|OutOfResources|Failure)\b")
#: A line that a program prints about an error: `ld: x.so: error adding symbols: DSO missing from command line`.
_PRINTED = warm.pattern(r"(?:\A|[\s:/])(?:fatal )?(?:error|ERROR|Error)\b[a-z ]{0,30}: \S")
#: The level that a logger prints before an error.
_LEVEL = warm.pattern(r"\[ ?(?:ERROR|FATAL|CRITICAL) ?\]|\b(?:ERROR|FATAL|CRITICAL|panic|[Ee]rror): ")
#: Prose that only announces a message: `I get the following error:`.
_ANNOUNCING = warm.pattern(
    r"\b(?:this|following|errors?|exception|messages?|happens|problem|issue|here|below|get|got|output|logs?|was|is|as)"
    r"\W{0,4}[:：][\s`*]{0,6}\Z"
)


def line_rank(line: str) -> int:
    """How much a line looks like an error's message, 0 to 4: an exception opens it, is named in it."""
    plain = peel.without_prefix(line[:RANKED])
    if peel.typed(plain)[0] is not None:
        return 4
    if _TYPED.search(plain):
        return 3
    if _ERROR_WORD.search(plain) or _LEVEL.search(line, 0, LEVEL_WITHIN):
        return 1 if _ANNOUNCING.search(plain) else 2
    return 0


def is_printed(line: str) -> bool:
    """Whether a program printed the line to tell of an error."""
    return _PRINTED.search(line) is not None
