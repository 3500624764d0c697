"""Blocks from an error page saved as plain text: headings, code and depths are told from words and places."""

from __future__ import annotations

import re

from pipeline.providers.openxla.blocks import BULLET, BlockKind, Builder, anchor_of
from pipeline.providers.openxla.record import is_label, is_samples_label, messages
from pipeline.providers.openxla.words import (
    MAX_HEADING_CHARACTERS,
    is_lettered,
    is_numbered,
    is_scenario,
    is_second,
    words,
)

MAX_HEADING_WORDS = 9

_ITEM = re.compile(r"(\s*)([•*-]|\d{1,2}\.)\s+(\S.*)")


def blocks(text: str) -> Builder:
    """The blocks of a page of text."""
    page = Builder()
    parts = [part.strip("\n") for part in re.split(r"\n[ \t]*\n", text.strip())]
    level = 0
    place = 0
    while place < len(parts):
        part = parts[place].strip() if "\n" not in parts[place] else parts[place]
        place += 1
        if not part:
            continue
        heading = _level(part, level)
        if heading:
            level = heading
            page.add(BlockKind.HEADING, part, level=level, anchor=anchor_of(part))
        elif "\n" not in part and not _ITEM.match(part):
            page.add(BlockKind.PARAGRAPH, part)
        else:
            _lines(page, part.split("\n"))
        if is_samples_label(part):
            place = _samples(page, parts, place)
        elif part.lower().endswith(words().template_intros) and place < len(parts):
            _template(page, parts[place].split("\n"))
            place += 1
    return page


def _level(part: str, before: int) -> int:
    """The level of the heading that `part` is, 0 if it is none; `before` is the last heading's."""
    if words().heading.match(part):
        return 1
    if is_second(part):
        return 2
    if "\n" in part or len(part) > MAX_HEADING_CHARACTERS or part.endswith((".", ":", ";", ",")) or before < 2:
        return 0
    if is_scenario(part) or (is_numbered(part) and part[0].isdigit()):
        return 4 if is_lettered(part) else 3
    is_title = part[0].isupper() and ": " not in part and not is_label(part)
    if not is_title or len(part.split()) > MAX_HEADING_WORDS:
        return 0
    return before + 1 if before in (2, 4) else before


def _samples(page: Builder, parts: list[str], place: int) -> int:
    """Read the code below a label: up to the next label, heading of a known name, or end."""
    end = place
    while end < len(parts) and not _ends_sample(parts[end].strip()):
        end += 1
    if end == len(parts):  # nothing marks the end: the sample is one block
        end = min(place + 1, len(parts))
    for message in messages("\n\n".join(parts[place:end])):
        page.add(BlockKind.CODE, message)
    return end


def _ends_sample(part: str) -> bool:
    lower = part.lower()
    return lower.startswith((*words().sample_ends, *words().samples)) or is_second(part) or is_scenario(part)


def _template(page: Builder, lines: list[str]) -> None:
    """A template, and the list that may follow it without an empty line."""
    first_item = next((place for place, line in enumerate(lines) if _ITEM.match(line)), len(lines))
    page.add(BlockKind.CODE, "\n".join(lines[:first_item]))
    _lines(page, lines[first_item:])


def _lines(page: Builder, lines: list[str]) -> None:
    """A list, wrapped lines of a paragraph, or the rows of a table."""
    loose: list[str] = []
    page.close()
    for line in lines:
        item = _ITEM.match(line)
        if item:
            page.item(item[3], indent=len(item[1]), marker=item[2] if item[2][0].isdigit() else BULLET)
        elif page.has_open_item():
            page.grow(line)
        else:
            loose.append(line)
    if loose:
        page.add(BlockKind.TABLE if _are_rows(loose) else BlockKind.PARAGRAPH, "\n".join(loose))


def _are_rows(lines: list[str]) -> bool:
    """Whether lines are rows of a table rather than a wrapped paragraph, whose lines go on in lower case."""
    return not any(line[:1].islower() for line in lines[1:])
