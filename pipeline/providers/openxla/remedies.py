"""Which parts of an error page are remedies, by rules on its blocks; the same for every form of the page.

A remedy is, under a heading of remedies: a list item (of nested ones with leads, the inner ones), a row of a table of
flags, or the opening words of a part whose heading or first sentence says what to do. What explains, sends the reader
on, or asks for a report is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.providers.openxla.blocks import Block, BlockKind, Section
from pipeline.providers.openxla.words import is_action, is_numbered, unnumbered, words

# A lead is short; the longest of 12 pages has 11 words ("Ensure configuration consistency between ...").
MAX_LEAD_WORDS = 14
MAX_LEAD_CHARACTERS = 110

_LEAD = re.compile(r"([^:.!?]{2,110}):(?: |$)")
_FLAG_LINE = re.compile(r"(--[a-z]\S{2,200})")
_FLAG = re.compile(
    r"(?<![\w.\-/=])(?:--[A-Za-z]\w{1,100}(?:=[\w./:=+-]{0,100}[\w/])?"
    r"|[a-z]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,6}(?:\(\)|(?![\w-]))|[A-Za-z]\w{0,60}_\w{1,60}(?![\w-]))"
)
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a"})


@dataclass(frozen=True, slots=True)
class Found:
    """A remedy as a place: blocks `first` to `last` of section number `section`; a row of a table has its own part."""

    section: int
    heading: str
    title: str
    first: int
    last: int
    row: tuple[int, int] | None = None  # of the table's text


def remedies(sections: Sequence[Section]) -> tuple[Found, ...]:
    """The remedies of a page in its order."""
    found: list[Found] = []
    is_inside = False
    acting_level = 0  # of the heading with something to do that the part stands below, 0 if none
    opening: Found | None = None
    for number, section in enumerate(sections):
        heading = section.heading
        if heading is None or heading.level <= 1:
            continue
        if heading.level == 2:
            is_inside = heading.text.lower().startswith(words().remedy_headings)
            opening = opening or (_opening(number, section, "") if is_inside else None)
        if not is_inside:
            continue
        if heading.level <= acting_level or heading.level == 2:
            acting_level = 0
        is_acting = is_numbered(heading.text) and is_action(unnumbered(heading.text))
        found += _of_section(number, section, is_acting=is_acting or acting_level > 0)
        acting_level = acting_level or (heading.level if is_acting else 0)
    return tuple(found) if found or opening is None else (opening,)


def flags(text: str) -> tuple[str, ...]:
    """Flags, parameters and environment variables that `text` names, each once, in its order."""
    return tuple(dict.fromkeys(name for name in _FLAG.findall(text) if name not in _ABBREVIATIONS))


def lead(block: Block, *, has_children: bool) -> str:
    """The short title that an item begins with, "" if it has none."""
    match = _LEAD.match(block.text)
    if match and len(match[1].split()) <= MAX_LEAD_WORDS:
        return match[1]
    is_title = has_children and len(block.text) <= MAX_LEAD_CHARACTERS and len(block.text.split()) <= MAX_LEAD_WORDS
    return block.text if is_title and not block.text.endswith((".", "!", "?", ":")) else ""


def _of_section(number: int, section: Section, *, is_acting: bool) -> Iterator[Found]:
    items = list(_items(number, section))
    first = section.blocks[0] if section.blocks else None
    if not items and first is not None and (is_acting or (first.kind is BlockKind.PARAGRAPH and is_action(first.text))):
        title = unnumbered(section.heading.text) if section.heading and is_acting else ""
        opening = _opening(number, section, title)
        if opening:
            yield opening
    yield from items
    yield from _flag_rows(number, section)


def _opening(number: int, section: Section, title: str) -> Found | None:
    """The paragraphs that a part begins with, and the list that the last of them announces."""
    blocks = section.blocks
    last = -1
    while (
        last + 1 < len(blocks) and blocks[last + 1].kind is BlockKind.PARAGRAPH and not _is_aside(blocks[last + 1].text)
    ):
        if blocks[last + 1].text.endswith(":") and not _announces_list(blocks, last + 1):
            break
        last += 1
    while (
        last >= 0 and last + 1 < len(blocks) and blocks[last].text.endswith(":") | (blocks[last].kind is BlockKind.ITEM)
    ):
        if blocks[last + 1].kind is not BlockKind.ITEM:
            break
        last += 1
    if last < 0:
        return None
    return Found(number, section.heading.text if section.heading else "", title, 0, last)


def _announces_list(blocks: Sequence[Block], place: int) -> bool:
    return place + 1 < len(blocks) and blocks[place + 1].kind is BlockKind.ITEM


def _is_aside(text: str) -> bool:
    """Whether a paragraph explains, or speaks of something else than the remedy."""
    lower = text.lower()
    return lower.startswith(words().explaining_intros) or _leads_elsewhere(lower)


def _items(number: int, section: Section) -> Iterator[Found]:
    blocks = section.blocks
    is_explaining = False
    place = 0
    while place < len(blocks):
        block = blocks[place]
        if block.kind is not BlockKind.ITEM:
            is_explaining = block.text.lower().startswith(words().explaining_intros)
            place += 1
            continue
        end = _last_of(blocks, place)
        if not is_explaining:
            yield from _item(number, section, place, end)
        place = end + 1


def _last_of(blocks: Sequence[Block], place: int) -> int:
    """The last block that lies inside the item at `place`."""
    end, depth = place, blocks[place].level
    while end + 1 < len(blocks) and blocks[end + 1].kind is BlockKind.ITEM and blocks[end + 1].level > depth:
        end += 1
    return end


def _item(number: int, section: Section, place: int, end: int) -> Iterator[Found]:
    """The remedies of one item: its inner items if they have leads of their own, else itself."""
    blocks = section.blocks
    children = [inner for inner in range(place + 1, end + 1) if blocks[inner].level == blocks[place].level + 1]
    ends = [*(inner - 1 for inner in children[1:]), end]
    own = lead(blocks[place], has_children=bool(children))
    if any(_has_own_lead(blocks, inner, last) for inner, last in zip(children, ends, strict=bool(children))):
        for inner, last in zip(children, ends, strict=True):
            yield from _item(number, section, inner, last)
        return
    whole = " ".join(block.text for block in blocks[place : end + 1])
    if own.lower() in words().explaining_leads or _leads_elsewhere(whole.lower()):
        return
    if own or is_action(blocks[place].text) or any(name.startswith("--") for name in flags(whole)):
        yield Found(number, section.heading.text if section.heading else "", own, place, end)


def _has_own_lead(blocks: Sequence[Block], place: int, last: int) -> bool:
    own = lead(blocks[place], has_children=last > place).lower()
    return bool(own) and own not in words().explaining_leads and not _leads_elsewhere(blocks[place].text.lower())


def _leads_elsewhere(lower: str) -> bool:
    return any(sign in lower for sign in words().elsewhere)


def _flag_rows(number: int, section: Section) -> Iterator[Found]:
    for place, block in enumerate(section.blocks):
        position = 0
        for row in block.text.split("\n") if block.kind is BlockKind.TABLE else ():
            match = _FLAG_LINE.match(row)
            if match:
                heading = section.heading.text if section.heading else ""
                yield Found(number, heading, match[1], place, place, (position, position + len(row)))
            position += len(row) + 1
