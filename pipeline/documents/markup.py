"""Markup into a tree, if it is markup that a parser gets through: html.parser is quadratic on tags that never close."""

from __future__ import annotations

from bs4 import BeautifulSoup

#: Tags that begin before one ends; real pages have 1, scripts with comparisons up to some dozens. html.parser looks for
#: the end of each of them anew, and of each open comment: 90 kB of `<a <a ` cost it 72 s.
MAX_OPEN_TAGS = 1000


def soup(text: str) -> BeautifulSoup | None:
    """The tree of `text`, None where its tags do not close."""
    if max(part.count("<") for part in text.split(">")) > MAX_OPEN_TAGS:
        return None
    return BeautifulSoup(text, "html.parser")
