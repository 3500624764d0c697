"""The lines of a Python stack: frames, their source lines, what stands in for frames that were left out."""

from __future__ import annotations

import re

from pipeline.records import Frame

HEADER = "raceback (most recent call"

_FRAME = re.compile(r'\s*File ["“]([^"”\n]{0,1000})["”], line (\d{1,9})(?:,? in (.*))?')
#: A name, with Cython's place behind it; where line breaks were lost, source follows on the same line.
_FUNCTION = re.compile(r"<[^<>\n]{1,60}>(?:\(\))?|\S{1,400}(?: \([^()\n]{1,200}:\d{1,7}\))?")
_FRAME_CUT = re.compile(r'\s*File "([^"\n]{0,1000})(?:",? ?l?i?n?e?|\.\.\.)?$')
_ELIDED = re.compile(
    r"\s*(?:\.{3,}|…|<\.{3,}>|\[\.{3,}\]|\(\.{3,}\)|\[?\.{3} ?\d{1,6} [\w ]{1,40}\.{3}\]?"
    r"|<?\[?\(?(?:snip|skip|omitted|truncated)[\w ]{0,40}\]?\)?>?"
    r"|-{2,}8<-{2,}|#{2,} ?\.{3}.{0,40})\s*$",
    re.I,
)
#: What such a line begins with: most lines are known by their first letters not to be one.
_ELIDED_MARKS, _ELIDED_WORDS = frozenset(".…<[(-#"), frozenset(("sn", "sk", "om", "tr"))
_REPEATED = re.compile(r"\s*\[Previous line repeated \d{1,12} more times?\]")
_CARETS = re.compile(r"\s*[\^~]{1,2000}[\^~ ]*$")


def frame(body: str) -> Frame | None:
    """The frame that a line of a traceback names."""
    if "File " not in body:
        return None
    hit = _FRAME.match(body)
    if hit is None:
        return None
    file, line, rest = hit.groups()
    function = _FUNCTION.match(rest.strip()) if rest else None
    return Frame(file, int(line), function[0] if function else None)


def is_cut_frame(body: str) -> bool:
    """Whether the line is a frame that ends in the middle."""
    return 'File "' in body and _FRAME_CUT.match(body) is not None


def is_elided(body: str) -> bool:
    """Whether somebody left out frames here and said so."""
    begun = body.lstrip()[:2]
    return (begun[:1] in _ELIDED_MARKS or begun.lower() in _ELIDED_WORDS) and _ELIDED.match(body) is not None


def is_filler(body: str) -> bool:
    """Whether the line belongs to a stack without being a frame or source: repetition, carets."""
    return _REPEATED.match(body) is not None or _CARETS.match(body) is not None
