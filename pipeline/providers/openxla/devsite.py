"""Blocks from a page of a devsite documentation site (openxla.org and others), without the words of the site itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import Comment, NavigableString, PageElement, Tag

from pipeline.providers.openxla.blocks import BULLET, BlockKind, Builder, anchor_of, without_comments
from pipeline.text import markup

# A page's tree is not followed deeper than this; real pages stay under 60.
MAX_DEPTH = 150
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_NAMES = frozenset(
    [*_HEADINGS, "p", "ul", "ol", "pre", "table", "div", "section", "aside", "blockquote", "devsite-code", "dl"]
)
_DROPPED = frozenset(["script", "style", "template", "noscript", "svg", "button", "form", "nav", "devsite-actions"])
_UPDATED = re.compile(r"Last updated (\d{4}-\d\d-\d\d)")


@dataclass(frozen=True, slots=True)
class Page:
    """What a devsite page shows."""

    content: Builder
    language: str  # of the page as it was served
    updated_on: str | None  # the day that its foot states


def page(text: str, resolve: Callable[[str], str | None]) -> Page | str:
    """The page's blocks, or what was expected and is not there."""
    soup = markup.soup(without_comments(text).replace("<!--", ""))
    if soup is None:
        return "markup that closes its tags"
    article = soup.find("article", class_="devsite-article")
    if not isinstance(article, Tag):
        return "an element article.devsite-article"
    title = article.find("h1", class_="devsite-page-title")
    body = article.find("div", class_="devsite-article-body")
    if not isinstance(title, Tag) or not isinstance(body, Tag):
        return "h1.devsite-page-title and div.devsite-article-body in the article"
    reader = _Reader(Builder(), resolve)
    words = reader.words(title)
    reader.content.add(BlockKind.HEADING, words, level=1, anchor=anchor_of(" ".join(words.split())))
    reader.blocks(body, 0)
    foot = _UPDATED.search(text)
    return Page(reader.content, _language(soup), foot[1] if foot else None)


def _language(soup: BeautifulSoup) -> str:
    root = soup.find("html")
    if soup.find(class_="devsite-banner-translated") is not None:
        return "translated"
    stated = root.get("lang") if isinstance(root, Tag) else None
    return str(stated or "en").lower().split("-")[0]


@dataclass(slots=True)
class _Reader:
    content: Builder
    resolve: Callable[[str], str | None]
    loose: list[str] = field(default_factory=list)  # words that stand between blocks

    def blocks(self, parent: Tag, depth: int) -> None:
        """Add what `parent` holds."""
        if depth > MAX_DEPTH:
            return
        for child in parent.children:
            if isinstance(child, Tag) and child.name in _BLOCK_NAMES:
                self.flush()
                self._block(child, depth)
            elif not _is_dropped(child):
                self.loose.append(self._inline(child))
        self.flush()

    def flush(self) -> None:
        """End the words that stand between blocks."""
        if self.loose:
            words = "".join(self.loose)
            self.loose.clear()
            self.content.add(BlockKind.PARAGRAPH, words)

    def words(self, parent: Tag) -> str:
        """The words of an element, as one string; parts that belong to the site are left out."""
        return "".join(self._inline(child) for child in parent.children if not _is_dropped(child))

    def _block(self, tag: Tag, depth: int) -> None:
        if _is_dropped(tag):
            return
        if tag.name in _HEADINGS:
            words = self.words(tag)
            own = str(tag.get("id") or "") or anchor_of(" ".join(words.split()))
            self.content.add(BlockKind.HEADING, words, level=_HEADINGS[tag.name], anchor=own)
        elif tag.name == "pre":
            self.content.add(BlockKind.CODE, tag.get_text())
        elif tag.name in ("ul", "ol"):
            self._list(tag, depth, level=0)
            self.content.close()
        elif tag.name == "table":
            self._table(tag)
        elif tag.name == "p":
            self.content.add(BlockKind.PARAGRAPH, self.words(tag))
        else:
            self.blocks(tag, depth + 1)

    def _list(self, tag: Tag, depth: int, *, level: int) -> None:
        if depth > MAX_DEPTH:
            return
        for number, item in enumerate(tag.find_all("li", recursive=False), start=_first_number(tag)):
            marker = f"{number}." if tag.name == "ol" else BULLET
            own = [child for child in item.children if not _is_list(child) and not _is_dropped(child)]
            self.content.item("".join(self._own_words(own)), indent=level, marker=marker)
            for inner in item.children:
                if isinstance(inner, Tag) and _is_list(inner):
                    self._list(inner, depth + 1, level=level + 1)

    def _own_words(self, children: list[PageElement]) -> Iterator[str]:
        for child in children:
            yield self._inline(child)
            if isinstance(child, Tag) and child.name in _BLOCK_NAMES:
                yield " "

    def _table(self, tag: Tag) -> None:
        rows = [
            " ".join(" ".join(self.words(cell).split()) for cell in row.find_all(["th", "td"], recursive=False))
            for row in tag.find_all("tr")
        ]
        self.content.add(BlockKind.TABLE, "\n".join(rows))

    def _inline(self, node: PageElement) -> str:
        if isinstance(node, NavigableString):
            return "" if isinstance(node, Comment) else str(node)
        if not isinstance(node, Tag):
            return ""
        for link in [node, *node.find_all("a")] if node.name == "a" else node.find_all("a"):
            url = self.resolve(str(link.get("href") or ""))
            if url:
                self.content.link(url)
        if node.name == "br":
            return " "
        return node.get_text()


def _first_number(tag: Tag) -> int:
    start = str(tag.get("start") or "1")
    return int(start) if start.isdecimal() and len(start) < 4 else 1


def _is_list(node: PageElement) -> bool:
    return isinstance(node, Tag) and node.name in ("ul", "ol")


def _is_dropped(node: PageElement) -> bool:
    """Whether a part belongs to the site and not to the page."""
    if not isinstance(node, Tag):
        return isinstance(node, Comment)
    classes: list[str] = list(node.get("class") or ())
    return node.name in _DROPPED or "nocontent" in classes or node.has_attr("data-nosnippet")
