"""What the pages of error catalogues are made of, whichever form they come in, and their text.

Three parsers (Markdown, devsite HTML, plain text) give the same blocks; the text is written from the blocks, so that
one page has one text in all its forms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pipeline import text as texts

BULLET = "•"
_NOT_IN_ANCHORS = re.compile(r"[^\w\s-]")


class BlockKind(StrEnum):
    """What a block of a page is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CODE = "code"
    ITEM = "item"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, piece of code, list item (with its own words only) or table."""

    kind: BlockKind
    text: str  # readable, without marks; a table has one line a row, the first is its head
    level: int = 0  # of a heading 1-6; of an item its depth, from 1
    marker: str = ""  # of an item: a bullet or its number
    anchor: str = ""  # of a heading


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it, up to the next heading. `spans[i]` is where `blocks[i]` stands in `text`."""

    heading: Block | None
    blocks: tuple[Block, ...]
    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Builder:
    """Collects blocks while a page is read; items may still grow when later words belong to them."""

    blocks: list[Block] = field(default_factory=list)
    links: dict[str, None] = field(default_factory=dict)
    _lists: list[tuple[int, int]] = field(default_factory=list)  # (indent, index of the item), outermost first

    def add(self, kind: BlockKind, text: str, *, level: int = 0, anchor: str = "") -> None:
        """Append a block that ends every list; empty ones leave nothing."""
        self._lists.clear()
        self._append(Block(kind, _safe(text, kind), level, "", anchor))

    def item(self, text: str, *, indent: int, marker: str) -> None:
        """Append a list item: inside the last one that is indented less."""
        while self._lists and indent <= self._lists[-1][0]:
            self._lists.pop()
        self._lists.append((indent, len(self.blocks)))
        self.blocks.append(Block(BlockKind.ITEM, _safe(text, BlockKind.ITEM), len(self._lists), marker))

    def continues(self, indent: int) -> bool:
        """Whether a paragraph indented by `indent` belongs to an item; that item is then the one that grows."""
        while self._lists and indent <= self._lists[-1][0]:
            self._lists.pop()
        return bool(self._lists)

    def grow(self, text: str) -> None:
        """Add words to the item that is open."""
        place = self._lists[-1][1]
        old = self.blocks[place]
        words = f"{old.text} {_safe(text, BlockKind.ITEM)}".strip()
        self.blocks[place] = Block(old.kind, words, old.level, old.marker, old.anchor)

    def has_open_item(self) -> bool:
        """Whether the last thing added is a list item."""
        return bool(self._lists)

    def close(self) -> None:
        """End every list: the next item begins a new one."""
        self._lists.clear()

    def link(self, url: str) -> None:
        """Remember where a link of the page leads."""
        self.links.setdefault(url)

    def _append(self, block: Block) -> None:
        if block.text:
            self.blocks.append(block)


def anchor_of(heading: str) -> str:
    """The fragment that the site gives a heading."""
    return _NOT_IN_ANCHORS.sub("", heading.lower()).strip().replace(" ", "_")


def without_comments(text: str) -> str:
    """`text` without HTML comments; one that is not closed is words."""
    kept: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + len("-->")
    return "".join([*kept, text[position:]])


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())


def sections(blocks: Sequence[Block]) -> tuple[Section, ...]:
    """The sections of a page in its order; the first one is the title's own."""
    starts = [place for place, block in enumerate(blocks) if block.kind is BlockKind.HEADING]
    if not starts or starts[0] != 0:
        starts.insert(0, 0)
    ends = [*starts[1:], len(blocks)]
    return tuple(_section(blocks[start:end]) for start, end in zip(starts, ends, strict=True) if end > start)


def _section(blocks: Sequence[Block]) -> Section:
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    position = 0
    for number, block in enumerate(blocks):
        lead = "" if number == 0 else "\n" if _is_close(blocks[number - 1], block) else "\n\n"
        if block.kind is BlockKind.ITEM:
            lead += f"{'  ' * block.level}{block.marker} "
        start = position + len(lead)
        position = start + len(block.text)
        parts += (lead, block.text)
        spans.append((start, position))
    heading = blocks[0] if blocks[0].kind is BlockKind.HEADING else None
    first = 1 if heading else 0
    return Section(heading, tuple(blocks[first:]), "".join(parts), tuple(spans[first:]))


def _is_close(before: Block, block: Block) -> bool:
    return before.kind is BlockKind.ITEM and block.kind is BlockKind.ITEM


def _safe(text: str, kind: BlockKind) -> str:
    """The words of a block, redacted here because places in the text are counted before it is put together."""
    written = texts.safe(text)
    if kind is BlockKind.CODE:
        return "\n".join(line.rstrip() for line in written.split("\n")).strip("\n")
    if kind is BlockKind.TABLE:
        return "\n".join(row for line in written.split("\n") if (row := one_line(line)))
    return one_line(written)
