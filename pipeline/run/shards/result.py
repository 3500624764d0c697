"""The records that the map step hands on: a partition's documents without their text, its events, claims and losses."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime

from pipeline.records import Claim, Document, DocumentHead, Event, Signature, Skipped, content_id

#: A longer message is kept by its beginning; the whole stands in raw.
DETAIL_CHARACTERS = 1000
#: The longest quote that an entry may show (DESIGN, limits of trust).
QUOTE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class DocumentRow(DocumentHead):
    """A document without its text and posts."""

    post_count: int
    character_count: int


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event in its document, with its signature and the words that prove it.

    `quote` is verbatim: `document.text[signature.start:signature.end]`, cut at 300 characters. `signature` is None
    where the event is not grouped (a warning, an interruption).
    """

    event_id: str
    document_id: str
    ordinal: int  # 0 for the first event of the document
    event: Event
    signature: Signature | None
    quote: str
    posted_at: datetime | None
    author_role: str | None
    post_url: str | None


@dataclass(frozen=True, slots=True)
class MapResult:
    """Everything that one partition gives; the reduce step reads nothing else."""

    documents: tuple[DocumentRow, ...] = ()
    events: tuple[EventRow, ...] = ()
    claims: tuple[Claim, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def __add__(self, other: MapResult) -> MapResult:
        """Both results, this one's rows first."""
        return MapResult(
            self.documents + other.documents,
            self.events + other.events,
            self.claims + other.claims,
            self.skipped + other.skipped,
        )


def document_row(document: Document) -> DocumentRow:
    """`document` without its text and posts."""
    head = {field.name: getattr(document, field.name) for field in fields(DocumentHead)}
    return DocumentRow(**head, post_count=len(document.posts), character_count=len(document.text))


def event_row(document: Document, event: Event, *, ordinal: int, signature: Signature | None) -> EventRow:
    """The row of `event`: its id, its quote, and who posted it when."""
    start, end = (signature.start, signature.end) if signature else (event.start, event.end)
    place = document.post_at(start)
    post = document.posts[place] if place >= 0 else None
    return EventRow(
        event_id=content_id("event", document.document_id, str(event.start), str(event.end)),
        document_id=document.document_id,
        ordinal=ordinal,
        event=replace(event, detail=event.detail[:DETAIL_CHARACTERS]),
        signature=signature,
        quote=document.text[start : min(end, start + QUOTE_CHARACTERS)],
        posted_at=post.posted_at if post else document.opened_at,
        author_role=post.author_role if post else None,
        post_url=(post.url if post else None) or document.url,
    )
