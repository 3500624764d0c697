"""An official page as the joining code needs it: its record, with the quotes of its remedies."""

from __future__ import annotations

from dataclasses import replace

from pipeline.distil.claims.prose import MAX_QUOTE, quote
from pipeline.distil.material import Official
from pipeline.records import Document, DocumentKind, Quote
from pipeline.text.sentences import whole


def official(document: Document) -> Official | None:
    """The document as an official page, None if it is none; its summary is quoted where the text holds it."""
    record = document.record
    if document.kind != DocumentKind.DOC or record is None:
        return None
    at = document.text.find(record.summary) if record.summary else -1
    summary = _page_quote(document, at, at + len(record.summary)) if at >= 0 else None
    return Official(record, summary, tuple(_page_quote(document, r.start, r.end) for r in record.remedies))


def dated(page: Official) -> Official:
    """The page with its quotes dated by the landing of what it says now, where the source knows it."""
    landed = page.record.last_updated or page.record.first_seen
    if landed is None:
        return page
    return replace(
        page,
        summary=replace(page.summary, posted_at=page.summary.posted_at or landed) if page.summary else None,
        remedies=tuple(replace(quote, posted_at=quote.posted_at or landed) for quote in page.remedies),
    )


def _page_quote(document: Document, start: int, end: int) -> Quote:
    """The words under the address of their section; too many of them are cut at the end of a sentence."""
    end = start + (whole(document.text[start:end], MAX_QUOTE) or end - start)
    return quote(document, start, end, post=document.post_at(start))
