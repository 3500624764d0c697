"""The value that an act names, with its unit: "to 500m", "`a=b`", "60 seconds"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from pipeline.distil import tables
from pipeline.text.needed import late

_QUOTED = re.compile(r"`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+'")
#: A number, what else it may be written with, and what is written without blanks: an address, a path, a list.
_NUMBER = re.compile(r"[-+~]?\d+(?:[.,_]\d+)*(?:[eE][-+]?\d+)?")
_COUNTED = re.compile(r"(?:[A-Za-z0-9_.%:+/*~µ-]|,(?=\d))+")
_WORDED = re.compile(r"(?:[A-Za-z0-9_.%:+/*~$=@#?&\\-]|,(?=[\w./-])(?![A-Za-z_]\w*=))+")
_SWITCH = re.compile(r"(?:True|False|None|null|on|off)(?![\w.-])", re.IGNORECASE)
_BORDER = re.compile(r"$|[\s`'\")\]},;.:!?*_]|[^\x00-\x7f]")
#: What follows a number and leaves open where it ends: "set x=2.Then", "x=2,y".
_OPEN = re.compile(r"\.[A-Z][a-z]|,[A-Za-z_](?![\w.]*=)")
_LONGEST_VALUE = 160


def value(text: str, start: int) -> tuple[str, int] | None:
    """The value that begins at `start`, with its unit, and where it ends; None if it is not whole there.

    Kept as written, but for units that are words: those have one sign in all languages ("60 秒" is "60 s").
    """
    if start and text[start - 1] == "`":
        start -= 1
    quoted = _QUOTED.match(text, start)
    if quoted:
        end, said = quoted.end(), quoted.group().strip("`").strip()
        is_command = said and text[start] == "`" and text[start - 1 : start] == "=" and text[start - 2 : start] != "`="
        return (said, end) if 0 < len(said) <= _LONGEST_VALUE and not is_command else None
    number = _NUMBER.match(text, start)
    written = _SWITCH.match(text, start) or (_COUNTED if number else _WORDED).match(text, start)
    if written is None or (number and _OPEN.match(text, number.end())):
        return None
    end = start + len(written.group().rstrip(".,:;?*-/" if number else ".,:;?*-"))
    said, patterns = text[start:end], _amounts()
    unit = patterns[0].match(text, end) if number and number.end() == end else None
    if unit and unit.lastgroup:
        sign = patterns[2][unit.lastgroup]
        said, end = f"{said}{'' if sign == '%' else ' '}{sign}", unit.end()
    elif unit:
        said, end = text[start : unit.end()], unit.end()
    is_cut = number and (patterns[1].match(text, end) or (unit and re.match(r" ?\d", text[end : end + 2])))
    return (said, end) if not is_cut and len(said) <= _LONGEST_VALUE and _BORDER.match(text, end) else None


@cache
def _amounts() -> tuple[re.Pattern[str], re.Pattern[str], Mapping[str, str]]:
    """What finds a unit behind a number, by its sign or in words; what tells that a value goes on; signs by group."""
    rows = tables.table("actions.toml")
    signs = {f"unit{number}": sign for number, sign in enumerate(rows["units"])}
    words = "|".join(f"(?P<{group}>(?: |-)?(?:{rows['units'][sign]})(?![A-Za-z]))" for group, sign in signs.items())
    unit = late(rf"(?i:{words})| (?:{rows['amounts']['signs']})(?![\w/])")
    return unit, late(rows["amounts"]["goes_on"], re.IGNORECASE), signs
