"""Enumerators as NVIDIA's API references list them (Doxygen made into DITA).

::

    <a name="group__CUDART__TYPES_1g3f51..."></a>... enum cudaError
    <dt><span class="enum-member-name-def">cudaErrorInvalidValue = <span class="ph ph apiData">1</span></span></dt>
    <dd>This indicates ...</dd>

The members have no anchors; the enumeration has.
"""

from __future__ import annotations

import re

from bs4.element import Tag

from pipeline.providers.catalogue.row import Row, one_line
from pipeline.text import markup

_MEMBER = "enum-member-name-def"
_TITLE = re.compile(r"([A-Za-z_]\w{0,199})\s{0,9}(?:=\s{0,9}(\d{1,9}))?")


def rows(text: str) -> tuple[Row, ...] | str:
    """The enumerators in the page's order, or what was expected."""
    soup = markup.soup(text)
    if soup is None:
        return "markup that closes its tags"
    found: list[Row] = []
    anchor = ""
    for tag in soup.find_all(["a", "span"]):
        if tag.name == "a":
            anchor = str(tag.get("name") or anchor)
        elif _MEMBER in (tag.get("class") or ()):
            row = _row(tag, anchor)
            found += [row] if row else []
    return tuple(found) or f"span.{_MEMBER} in a dt, and a dd behind each"


def _row(member: Tag, anchor: str) -> Row | None:
    term = member.parent
    told = term.find_next_sibling() if term is not None and term.name == "dt" else None
    stated = _TITLE.match(markup.words(member))
    if not isinstance(told, Tag) or told.name != "dd" or stated is None:
        return None
    number = int(stated[2]) if stated[2] else None
    # the heading "Deprecated" stands before a sentence that says so
    return Row(stated[1], one_line(markup.words(told, without="h6")), number, anchor)
