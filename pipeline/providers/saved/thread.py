"""A document from a saved page: what the page states, and nothing that it does not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pipeline.lexicon import repositories
from pipeline.providers.assemble import EARLIEST, Piece, assembled, safe
from pipeline.providers.links import Home, description_of, mentions
from pipeline.records import Document, DocumentKind, RawPage, Skipped

_KEY = re.compile(r"([^/]+)/([^/]+/[^/#]+)#(\d+)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(r"\b([A-Z][a-z]{2,8})\.? (\d{1,2}), (\d{4})(?:,? (?:at )?(\d{1,2}):(\d\d)(?: (AM|PM))?)?")


@dataclass(frozen=True, slots=True)
class Thread:
    """What a saved page says about its thread. None: it does not say."""

    is_pull: bool
    title: str | None
    number: int | None
    pieces: tuple[Piece, ...]
    repo: str | None = None  # as written on the page; the document key wins
    state: str | None = None
    is_draft: bool | None = None
    is_merged: bool | None = None
    labels: tuple[str, ...] = ()
    opened_at: datetime | None = None
    updated_at: datetime | None = None
    is_lossy: bool = True


def page_text(page: RawPage) -> str:
    """The page's text with its line ends as newlines."""
    return page.body.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def saved_document(thread: Thread, pages: Sequence[RawPage]) -> Document | Skipped:
    """The document of one saved page."""
    page = pages[0]
    key = page.document_key
    known = _KEY.fullmatch(key)
    number = int(known[3]) if known else thread.number
    repo = repositories.current_name(thread.repo or known[2]) if known else None
    home = Home(known[1], repo, number) if known else Home(None, None, number)
    text, posts, hidden = assembled(thread.pieces, key)
    if not text:
        return Skipped("document", key, "no_text")
    path = "pull" if thread.is_pull else "issues"
    return Document(
        document_id=key,
        kind=DocumentKind.PULL if thread.is_pull else DocumentKind.ISSUE,
        url=f"https://{known[1]}/{repo}/{path}/{number}" if known else f"urn:sha256:{page.sha256}",
        repo=repo,
        number=number,
        title=safe(thread.title) if thread.title else None,
        text=text,
        posts=posts,
        fixed_in=(),
        hidden_count=hidden,
        state=thread.state,
        state_reason=None,
        is_draft=thread.is_draft,
        is_merged=thread.is_merged,
        labels=tuple(safe(label) for label in thread.labels),
        opened_at=thread.opened_at,
        updated_at=thread.updated_at,
        closed_at=None,
        links=mentions(text, home, description=description_of(posts) if thread.is_pull else (0, 0)),
        record=None,
        payload=None,
        raw_sha256=page.sha256,
        source=page.source,
        form=page.form,
        is_lossy=thread.is_lossy,
    )


def stated_time(text: str) -> datetime | None:
    """The first date that `text` states in words: "Jun 23, 2026", "August 08, 2025 at 16:28 UTC".

    Midnight UTC if it gives no time of day.
    """
    match = _DATE.search(text)
    if match is None or match[1][:3].lower() not in _MONTHS:
        return None
    hour, minute = int(match[4] or 0), int(match[5] or 0)
    if match[6]:
        hour = hour % 12 + (12 if match[6] == "PM" else 0)
    try:
        time = datetime(int(match[3]), _MONTHS.index(match[1][:3].lower()) + 1, int(match[2]), hour, minute, tzinfo=UTC)
    except ValueError:
        return None
    return time if time >= EARLIEST else None
