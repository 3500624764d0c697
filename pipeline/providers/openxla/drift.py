"""Where what is published says different things: two forms of one page, a page and the list of codes, a list and ours.

Nothing is decided here: entries are made of the form that loses least, and a person reads what differs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.providers.openxla import header as xla_header
from pipeline.providers.openxla import read as xla
from pipeline.providers.openxla.blocks import one_line
from pipeline.providers.saved.thread import page_text
from pipeline.records import DocRecord, Document, PostKind, RawPage

#: Forms that one page is kept in side by side.
MARKDOWN, HTML = "xla-md", "xla-html"
#: The list of codes in XLA's own source.
HEADER = "xla-catalog"
HEADER_KEY_END = "/error/error_codes"
#: The catalogue that errmine ships.
SHIPPED = "shipped"
# Of each text the words from where they part; enough to find the place, too little to replace the page.
_SHOWN_CHARACTERS = 80
_NOTHING = ""
_MISSING = ("", _NOTHING)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place at which two sources part. A side that has no such place has the sha256 of nothing."""

    page: str  # document key
    section: str  # heading of the section, "(top)" above the first one, or a name such as "links" or "status"
    sides: tuple[str, str]  # what was compared: forms, or a form and the list of codes
    first_sha256: str  # of the section's text with single spaces
    second_sha256: str
    first: str  # from where the texts part, shortened
    second: str


def between_forms(pages: Sequence[RawPage]) -> tuple[Difference, ...]:
    """Every section of one error page that its Markdown and its HTML tell differently, in the page's order."""
    found = {form: _document(pages, form) for form in (MARKDOWN, HTML)}
    first, second = found[MARKDOWN], found[HTML]
    if first is None or second is None:
        return ()
    key, sides = pages[0].document_key, (MARKDOWN, HTML)
    ours, theirs = _sections(first), _sections(second)
    named = {folded: name for folded, (name, _) in (theirs | ours).items()}
    order = [*ours, *(folded for folded in theirs if folded not in ours)]
    made = (
        _difference(key, named[one], sides, ours.get(one, _MISSING)[1], theirs.get(one, _MISSING)[1]) for one in order
    )
    return tuple(found for found in made if found is not None)


def with_list(
    pages: Sequence[RawPage], listed: Mapping[str, xla_header.Row], *, side: str = HEADER
) -> tuple[Difference, ...]:
    """Where an error page and a list of codes disagree on its code: listed at all, and status. `side` is the list's."""
    document = _document(pages, MARKDOWN) or _document(pages, HTML)
    if document is None or document.record is None:
        return ()
    record = document.record
    row = listed.get(record.code.removeprefix("xla:"))
    stated = {"code": (record.code.removeprefix("xla:"), row.code if row else _NOTHING)}
    if row is not None and record.status_code is not None:
        stated["status"] = (record.status_code, row.status)
    sides = (document.form, side)
    made = (_difference(pages[0].document_key, name, sides, *pair) for name, pair in stated.items())
    return tuple(found for found in made if found is not None)


def of_list(page: RawPage) -> tuple[Difference, ...]:
    """What the list of codes in XLA's source says otherwise than the catalogue that errmine ships."""
    ours, theirs = shipped_codes(), listed_codes(page)
    if not theirs:
        return ()
    made = (
        _difference(page.document_key, code, (SHIPPED, HEADER), _words(ours.get(code)), _words(theirs.get(code)))
        for code in sorted(ours.keys() | theirs.keys())
    )
    return tuple(found for found in made if found is not None)


def listed_codes(page: RawPage) -> dict[str, xla_header.Row]:
    """The codes of the list in XLA's source by number."""
    return {row.code: row for row in xla_header.rows(page_text(page))}


def shipped_codes() -> dict[str, xla_header.Row]:
    """The codes of the catalogue that errmine ships, by number."""
    return {row.code: row for row in xla_header.shipped()}


def _document(pages: Sequence[RawPage], form: str) -> Document | None:
    reader = xla.read_markdown if form == MARKDOWN else xla.read_html
    own = [page for page in pages if page.form == form]
    found = reader(own) if own else None
    return found if isinstance(found, Document) else None


def _sections(document: Document) -> dict[str, tuple[str, str]]:
    """Heading and text of each section, by the heading in lower case; headings that recur are numbered."""
    found: dict[str, tuple[str, str]] = {}
    seen: Counter[str] = Counter()
    for heading, text in _parts(document):
        seen[heading.lower()] += 1
        count = seen[heading.lower()]
        name = f"{heading} ({count})" if count > 1 else heading
        found[name.lower()] = (name, one_line(text))
    if document.record is not None:
        found["links"] = ("links", _links(document.record))
    return found


def _parts(document: Document) -> Iterator[tuple[str, str]]:
    for place, post in enumerate(document.posts):
        text = document.text[post.start : post.end]
        is_top = post.kind == PostKind.TITLE or (place == 1 and document.posts[0].kind == PostKind.TITLE)
        yield (
            ("(title)" if post.kind == PostKind.TITLE else "(top)" if is_top else text.split("\n", 1)[0].strip()),
            text,
        )


def _links(record: DocRecord) -> str:
    return " ".join(sorted(record.links))


def _words(row: xla_header.Row | None) -> str:
    return f"{row.name} {row.status}" if row else _NOTHING


def _difference(page: str, section: str, sides: tuple[str, str], first: str, second: str) -> Difference | None:
    if first == second:
        return None
    start = _parting(first, second)
    return Difference(
        page=page,
        section=section,
        sides=sides,
        first_sha256=hashlib.sha256(first.encode()).hexdigest(),
        second_sha256=hashlib.sha256(second.encode()).hexdigest(),
        first=_shown(first, start),
        second=_shown(second, start),
    )


def _parting(first: str, second: str) -> int:
    """Where the word begins at which two texts part."""
    shorter = min(len(first), len(second))
    same = next((place for place in range(shorter) if first[place] != second[place]), shorter)
    return first.rfind(" ", 0, same) + 1


def _shown(text: str, start: int) -> str:
    rest = text[start:]
    return rest if len(rest) <= _SHOWN_CHARACTERS else rest[: _SHOWN_CHARACTERS - 1] + "…"
