"""What the joining code needs of a document: its facts, and an official page with the quotes of its remedies."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pipeline.distil.material import DocumentFacts, Official
from pipeline.distil.prose import post_at, quote
from pipeline.records import Document, Quote


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None


def document_facts(document: Document) -> DocumentFacts:
    """What counting needs to know of `document`."""
    return DocumentFacts(
        document_id=document.document_id,
        kind=document.kind,
        url=document.url,
        raw_sha256=document.raw_sha256,
        repo=document.repo,
        number=document.number,
        state=document.state,
        state_reason=document.state_reason,
        is_merged=document.is_merged,
        opened_at=_iso(document.opened_at),
        closed_at=_iso(document.closed_at),
    )


def official(document: Document) -> Official | None:
    """The document as an official page, None if it is none; its summary is quoted where the text holds it."""
    record = document.record
    if document.kind != "doc" or record is None:
        return None
    at = document.text.find(record.summary) if record.summary else -1
    summary = _quoted(document, at, at + len(record.summary)) if at >= 0 else None
    return Official(record, summary, tuple(_quoted(document, r.start, r.end) for r in record.remedies))


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


def _quoted(document: Document, start: int, end: int) -> Quote:
    """The words under the address of their section."""
    return quote(document, start, end, post=post_at(document, start))
