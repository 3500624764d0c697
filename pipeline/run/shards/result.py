"""The records that the map step hands on: a partition's documents without their text, its events, claims and losses."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.records import Claim, DocLink, DocRecord, Document, Event, Post, Signature, Skipped, content_id

#: A longer message is kept by its beginning; the whole stands in raw.
DETAIL_CHARACTERS = 1000
#: The longest quote that an entry may show (DESIGN, limits of trust).
QUOTE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document without its text and posts: what counting and citing need."""

    document_id: str
    kind: str
    url: str
    repo: str | None
    number: int | None
    title: str | None
    state: str | None
    state_reason: str | None
    is_draft: bool | None
    is_merged: bool | None
    labels: tuple[str, ...]
    opened_at: datetime | None
    updated_at: datetime | None
    closed_at: datetime | None
    post_count: int
    character_count: int
    links: tuple[DocLink, ...]
    record: DocRecord | None
    payload: str | None
    raw_sha256: str
    source: str
    form: str
    is_lossy: bool


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
    return DocumentRow(
        document_id=document.document_id,
        kind=document.kind,
        url=document.url,
        repo=document.repo,
        number=document.number,
        title=document.title,
        state=document.state,
        state_reason=document.state_reason,
        is_draft=document.is_draft,
        is_merged=document.is_merged,
        labels=document.labels,
        opened_at=document.opened_at,
        updated_at=document.updated_at,
        closed_at=document.closed_at,
        post_count=len(document.posts),
        character_count=len(document.text),
        links=document.links,
        record=document.record,
        payload=document.payload,
        raw_sha256=document.raw_sha256,
        source=document.source,
        form=document.form,
        is_lossy=document.is_lossy,
    )


def event_row(document: Document, event: Event, *, ordinal: int, signature: Signature | None) -> EventRow:
    """The row of `event`: its id, its quote, and who posted it when."""
    start, end = (signature.start, signature.end) if signature else (event.start, event.end)
    post = _post_at(document.posts, start)
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


def _post_at(posts: tuple[Post, ...], offset: int) -> Post | None:
    """The post that holds `offset`; posts stand in the order of the text."""
    place = bisect_right([post.start for post in posts], offset) - 1
    if place >= 0 and offset < posts[place].end:
        return posts[place]
    return None
