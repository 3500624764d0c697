"""Blocks from the Markdown of OpenXLA's docs: only what their pages use, read line by line."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.providers.openxla.blocks import BULLET, BlockKind, Builder, anchor_of, without_comments

_FENCE = re.compile(r"\s{0,8}(```|~~~)")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ANCHOR = re.compile(r"\s*\{:?\s*#([\w-]{1,100})\s*\}\s*$")
_RULE = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*$")
_ITEM = re.compile(r"(\s*)([*+-]|\d{1,2}[.)])\s+(\S.*)")
_INTERRUPTING = frozenset({"*", "+", "-", "1.", "1)"})
_INLINE = re.compile(
    r"`(?P<code>[^`]{1,500})`|!?\[(?P<label>[^\[\]]{0,300})\]\((?P<url>[^()\s]{0,500})\)|\*\*"
    r"|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|\\(?P<escaped>[\\`*_{}\[\]()#+.!|<>-])"
)


def blocks(text: str, resolve: Callable[[str], str | None]) -> Builder:
    """The blocks of a Markdown page; `resolve` gives the absolute URL of a link, None for one inside the page."""
    reader = _Reader(Builder(), resolve)
    lines = without_comments(text).split("\n")
    place = 0
    while place < len(lines):
        place = reader.take(lines, place)
    reader.flush()
    return reader.page


@dataclass(slots=True)
class _Reader:
    page: Builder
    resolve: Callable[[str], str | None]
    lines: list[str] = field(default_factory=list)  # of the piece that is being read
    piece: str = ""  # "paragraph", "item", or "more" of an item; "" between pieces
    indent: int = 0  # of the item
    marker: str = ""

    def take(self, lines: list[str], place: int) -> int:
        """Read the line at `place`, with those that belong to it; the place of the next one."""
        line = lines[place]
        if not line.strip():
            self.flush()
            return place + 1
        following = self._special(lines, place)
        if following is None:
            self._words(line)
            following = place + 1
        return following

    def flush(self) -> None:
        """End the piece that is being read: marks may span its lines, so it is made plain as a whole."""
        words = self._plain("\n".join(self.lines))
        if self.piece == "paragraph":
            self.page.add(BlockKind.PARAGRAPH, words)
        elif self.piece == "item":
            self.page.item(words, indent=self.indent, marker=self.marker)
        elif self.piece == "more":
            self.page.grow(words)
        self.lines.clear()
        self.piece = ""

    def _special(self, lines: list[str], place: int) -> int | None:
        line = lines[place]
        fence = _FENCE.match(line)
        if fence:
            return self._code(lines, place, fence[1])
        heading = _HEADING.match(line)
        if heading:
            self._heading(len(heading[1]), heading[2])
            return place + 1
        if _RULE.match(line):
            self.flush()
            return place + 1
        if "|" in line and place + 1 < len(lines) and _is_delimiter(lines[place + 1]):
            return self._table(lines, place)
        item = _ITEM.match(line)
        # Of numbered lists only one that begins with 1 may follow a paragraph's line at once.
        if item and (self.piece != "paragraph" or item[2] in _INTERRUPTING):
            self.flush()
            self.piece, self.indent = "item", len(item[1])
            self.marker = item[2] if item[2][0].isdigit() else BULLET
            self.lines.append(item[3])
            return place + 1
        return None

    def _words(self, line: str) -> None:
        """A line of words goes on with the piece that is open; an indented one behind an empty line, with its item."""
        if not self.piece:
            indent = len(line) - len(line.lstrip())
            self.piece = "more" if self.page.has_open_item() and self.page.continues(indent) else "paragraph"
        self.lines.append(line)

    def _code(self, lines: list[str], place: int, fence: str) -> int:
        self.flush()
        end = place + 1
        while end < len(lines) and not lines[end].strip().startswith(fence):
            end += 1
        self.page.add(BlockKind.CODE, "\n".join(lines[place + 1 : end]))
        return end + 1

    def _heading(self, level: int, words: str) -> None:
        self.flush()
        own = _ANCHOR.search(words)
        text = self._plain(words[: own.start()] if own else words)
        self.page.add(BlockKind.HEADING, text, level=level, anchor=own[1] if own else anchor_of(text))

    def _table(self, lines: list[str], place: int) -> int:
        self.flush()
        rows = [lines[place]]
        end = place + 2
        while end < len(lines) and "|" in lines[end]:
            rows.append(lines[end])
            end += 1
        cells = [" ".join(self._plain(cell) for cell in row.strip().strip("|").split("|")) for row in rows]
        self.page.add(BlockKind.TABLE, "\n".join(cells))
        return end

    def _plain(self, text: str) -> str:
        """`text` without its marks; the links in it are remembered."""
        return _INLINE.sub(self._shown, html.unescape(text) if "&" in text and "`" not in text else text)

    def _shown(self, match: re.Match[str]) -> str:
        if match["label"] is not None:
            url = self.resolve(match["url"])
            if url:
                self.page.link(url)
            return _INLINE.sub(self._shown, match["label"])
        return match["code"] or match["escaped"] or ""


def _is_delimiter(line: str) -> bool:
    """The line between a table's head and body."""
    return "|" in line and "-" in line and not set(line.strip()) - set("|:- \t")
