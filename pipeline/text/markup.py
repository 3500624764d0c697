"""Markup into a tree, if it is markup that a parser gets through: html.parser is quadratic on tags that never close."""

from __future__ import annotations

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

#: Tags that begin before one ends; real pages have 1, scripts with comparisons up to some dozens. html.parser looks for
#: the end of each of them anew, and of each open comment: 90 kB of `<a <a ` cost it 72 s.
MAX_OPEN_TAGS = 1000
#: Nodes of an element that `words` looks at: elements nested by the thousand would each hold all those inside.
MAX_NODES = 400


def soup(text: str) -> BeautifulSoup | None:
    """The tree of `text`, None where its tags do not close."""
    if max(part.count("<") for part in text.split(">")) > MAX_OPEN_TAGS:
        return None
    return BeautifulSoup(text, "html.parser")


def words(tag: Tag, *, without: str = "") -> str:
    """The text of an element on one line, without that of elements called `without`; comments are no text."""
    parts: list[str] = []
    waiting = [iter(tag.contents)]
    for _ in range(MAX_NODES):
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            if not waiting:
                break
        elif isinstance(node, Tag) and node.name != without:
            waiting.append(iter(node.contents))
        elif type(node) is NavigableString:
            parts.append(str(node))
    return " ".join("".join(parts).split())
