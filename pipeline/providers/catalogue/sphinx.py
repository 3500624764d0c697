"""Objects that Sphinx documents: exceptions of a Python module, macros and enumerators of a C header.

::

    <dl class="py exception"><dt class="sig sig-object py" id="jax.errors.KeyReuseError">...</dt>
    <dd><p>...</p></dd></dl>
    <dl class="c macro"><dt class="sig sig-object c" id="c.ncclSystemError">...</dt>
    <dd><p>(<code>2</code>) ...</p></dd></dl>

Sphinx before 4 wrote `<dt id="...">` without the class.
"""

from __future__ import annotations

import re

from bs4.element import Tag

from pipeline.providers.catalogue.row import Row, one_line
from pipeline.text import markup

_DOMAIN = re.compile(r"^(?:c|cpp)\.")
_NUMBER = re.compile(r"\(\s?(\d{1,6})\s?\)\s?")


def rows(text: str) -> tuple[Row, ...] | str:
    """The documented objects in the page's order, or what was expected."""
    soup = markup.soup(text)
    if soup is None:
        return "markup that closes its tags"
    found = [_row(term) for term in soup.find_all("dt", id=True)]
    return tuple(row for row in found if row is not None) or "dt elements with an id and a dd behind each"


def _row(term: Tag) -> Row | None:
    told = term.find_next_sibling()
    if not isinstance(told, Tag) or told.name != "dd":
        return None
    anchor = str(term["id"])
    first = told.find("p", recursive=False)
    words = one_line(markup.words(first)) if isinstance(first, Tag) else ""
    number = _NUMBER.match(words)
    return Row(
        name=_DOMAIN.sub("", anchor),
        description=words[number.end() :] if number else words,
        number=int(number[1]) if number else None,
        anchor=anchor,
    )
