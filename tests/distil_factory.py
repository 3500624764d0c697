"""Documents for the tests of distil, built from the small JSON form of tests/cases/distil."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from pipeline import distil
from pipeline.records import Claim, Document, DocumentKind, Event, Post, PostKind, Signature
from pipeline.run import shards
from pipeline.run.build import mapping, reduce

REPO = "errmine-fixtures/kernels"


def _post(row: dict[str, Any], start: int, place: int, url: str) -> Post:
    return Post(
        kind=PostKind(row["kind"]),
        start=start,
        end=start + len(row["text"]),
        url=f"{url}#post-{place}",
        posted_at=datetime.fromisoformat(row["at"]) if row.get("at") else None,
        author_role=row.get("role"),
        author_hash=row.get("author"),
        is_bot=row.get("bot", False),
        reactions=0,
    )


def document(case: dict[str, Any]) -> Document:
    """The document of a case: its posts, one after the other."""
    url = f"https://github.com/{REPO}/issues/{case['number']}"
    start, posts = 0, []
    for place, row in enumerate(case["posts"]):
        posts.append(_post(row, start, place, url))
        start += len(row["text"]) + 2
    text = "\n\n".join(row["text"] for row in case["posts"])
    return Document(
        document_id=f"github.com/{REPO}#{case['number']}",
        kind=DocumentKind(case["kind"]),
        url=url,
        repo=REPO,
        number=case["number"],
        title=case["posts"][0]["text"],
        text=text,
        posts=tuple(posts),
        state="open",
        state_reason=None,
        is_draft=None,
        is_merged=None,
        labels=(),
        opened_at=posts[0].posted_at,
        updated_at=None,
        closed_at=None,
        links=(),
        record=None,
        payload=None,
        raw_sha256=hashlib.sha256(text.encode()).hexdigest(),
        source="import",
        form="test",
        is_lossy=False,
        fixed_in=(),
        hidden_count=0,
    )


def events(text: Document) -> tuple[list[Event], list[Signature]]:
    """The errors of a document with their signatures, as a build reads them."""
    signed = [(event, signature) for event, signature in mapping.signed(text) if signature is not None]
    return [event for event, _ in signed], [signature for _, signature in signed]


def occurrences(made: Document) -> list[distil.Occurrence]:
    """What a build keeps of the errors of a document."""
    row = shards.document_row(made)
    return [
        reduce.occurrence(shards.event_row(made, event, ordinal=0, signature=signature), row)
        for event, signature in zip(*events(made), strict=True)
    ]


def facts(made: Document) -> distil.DocumentFacts:
    """What a build counts with of a document."""
    return reduce.facts(shards.document_row(made))


def claims(made: Document) -> tuple[Claim, ...]:
    """What a document says about its errors."""
    return distil.read(made, *events(made)).claims
