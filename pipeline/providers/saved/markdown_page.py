"""An issue saved as markdown: a heading with its number and title, a list of metadata, description, comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.providers import assemble
from pipeline.providers.assemble import Piece
from pipeline.providers.saved.thread import Thread, page_text, saved_document, stated_time
from pipeline.records import Document, PostKind, RawPage, Skipped

_HEADING = re.compile(r"\s*#\s{1,3}(Issue|PR|Pull Request) #(\d{1,10}):[ \t]*([^\n]{0,1000})", re.IGNORECASE)
_FIELD = re.compile(r"^- \*\*(\w[\w ]{0,30})\*\*:[ \t]*([^\n]{0,500})$", re.MULTILINE)
_LOGIN = re.compile(r"\[@?([\w.\[\]-]{1,60})\]\(https?://[^/\s)]{1,100}/")
_SECTION = re.compile(r"^## (Metadata|Description|Comments)[ \t]*(?:\(\d+\))?[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"^### (?=[^\n]{0,300}(?:\]\(https?://|[Cc]omment))[^\n]{1,300}$", re.MULTILINE)
_NO_COMMENTS = re.compile(r"\s*[*_]?No comments(?: yet)?\.?[*_]?\s*")


def read(pages: Sequence[RawPage]) -> Document | Skipped:
    """The issue that a markdown page shows."""
    text = page_text(pages[0])
    heading = _HEADING.match(text)
    if heading is None:
        return Skipped("document", pages[0].document_key, "unreadable_page", "no heading with a number")
    metadata, description, comments = _sections(text, heading.end())
    fields = {match[1].lower(): match[2].strip() for match in _FIELD.finditer(metadata)}
    opened = stated_time(fields.get("created", ""))
    login = _LOGIN.search(fields.get("author", ""))
    author = login[1] if login else fields.get("author") or None
    is_bot = bool(author and assemble.is_bot_login(author))
    title = heading[3].strip()
    state = fields.get("state", "").lower()
    return saved_document(
        Thread(
            is_pull=heading[1].lower() != "issue",
            title=title or None,
            number=int(heading[2]),
            pieces=(
                Piece(PostKind.TITLE, title, None, opened, None, author, is_bot),
                Piece(PostKind.BODY, description, None, opened, None, author, is_bot),
                *_comments(comments),
            ),
            state="closed" if state == "merged" else state if state in ("open", "closed") else None,
            is_merged=True if state == "merged" else None,
            labels=tuple(label.strip(" `") for label in fields.get("labels", "").split(",") if label.strip(" `")),
            opened_at=opened,
            updated_at=stated_time(fields.get("updated", "")),
            is_lossy=False,
        ),
        pages,
    )


def _sections(text: str, start: int) -> tuple[str, str, str]:
    """Metadata, description and comments.

    The description may have headings of its own: the first one named Description begins it and the last one named
    Comments ends it.
    """
    marks = list(_SECTION.finditer(text, start))
    first = next((mark for mark in marks if mark[1] == "Description"), None)
    last = next((mark for mark in reversed(marks) if mark[1] == "Comments"), None)
    if first is None:
        return text[start:], text[start:], ""
    if last is None or last.start() < first.end():
        return text[start : first.start()], text[first.end() :], ""
    return text[start : first.start()], text[first.end() : last.start()], text[last.end() :]


def _comments(text: str) -> Iterator[Piece]:
    if _NO_COMMENTS.fullmatch(text):
        return
    marks = list(_COMMENT.finditer(text))
    if not marks:
        yield Piece(PostKind.COMMENT, text)
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        login = _LOGIN.search(mark[0])
        author = login[1] if login else None
        is_bot = bool(author and assemble.is_bot_login(author))
        body = text[mark.end() : end].strip().removesuffix("---")
        yield Piece(PostKind.COMMENT, body, None, stated_time(mark[0]), None, author, is_bot)
