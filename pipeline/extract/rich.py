"""Tracebacks that rich draws in a box."""

from __future__ import annotations

import re

from pipeline.extract import python
from pipeline.extract.lines import Lines
from pipeline.records import Frame

BOX = re.compile(r"[╭┌+][─-]{1,200} ?\[?[^\n]{0,20}Traceback \(most recent call last\)")
_FRAME = re.compile(r"(?P<file>[^\s│|❱][^│\n]{0,400}?):(?P<line>\d{1,7})(?: in(?: (?P<function>[^\s│]{1,120}))?)?\s*$")
_MARGIN = re.compile(r"\s*[│|] ?(.*?)\s*[│|]?$")
_SOURCE = re.compile(r"\s*❱? ?\s*\d{1,7}(?: |$)")


def read(lines: Lines, first: int) -> python.Printed:
    """The exception whose box is open at line `first`."""
    printed = python.Printed(after=first)
    number = first
    is_open = True
    while (line := lines.at(number)) is not None:
        body = line.body.strip()
        if body.startswith(("╰", "└", "+-")):
            is_open = False
        elif not is_open:
            if python.is_named(body):
                python.message(lines, number, printed)
                return printed
            if body:
                break
        elif not body.startswith(("│", "|")):
            break
        else:
            _row(body, printed)
        number += 1
        printed.after, printed.end = number, line.end
    printed.is_truncated = True
    return printed


def _row(body: str, printed: python.Printed) -> None:
    margin = _MARGIN.match(body)
    inside = margin.group(1) if margin is not None else ""
    if not inside or _SOURCE.match(inside):
        return
    hit = _FRAME.match(inside)
    if hit is not None:
        printed.frames.append(Frame(hit["file"].strip(), int(hit["line"]), hit["function"]))
