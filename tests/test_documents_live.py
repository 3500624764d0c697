"""Threads as the live ingest keeps them: a case folder each (tests/cases/github), and hostile pages."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.providers import documents
from pipeline.records import Document, RawPage, Skipped

CASES = Path(__file__).parent / "cases" / "github"
KEY = "github.com/errmine-fixtures/pond#1"


def page(part: str, form: str, body: bytes) -> RawPage:
    digest = hashlib.sha256(body).hexdigest()
    return RawPage(digest, "github", None, form, KEY, part, "", None, None, body)


def pages(case: str) -> list[RawPage]:
    rows = json.loads((CASES / case / "input.json").read_text())
    bodies = [b"{broken" if row["body"] is None else json.dumps(row["body"]).encode() for row in rows]
    return [page(row["part"], row["form"], body) for row, body in zip(rows, bodies, strict=True)]


def told(found: Document | Skipped) -> dict[str, object]:
    if isinstance(found, Skipped):
        return {"skipped": found.reason, "detail": found.detail}
    links = [[link.kind, link.target] for link in found.links]
    return {"links": links, "posts": [post.kind for post in found.posts]}


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_the_pages_of_a_thread_give_what_is_expected_in_any_order(case: str) -> None:
    expected = json.loads((CASES / case / "expected.json").read_text())
    assert told(documents.document(pages(case))) == expected
    assert told(documents.document(pages(case)[::-1])) == expected


@settings(deadline=None)
@given(part=st.sampled_from(["references", "timeline", "timeline:2", "tombstone", "pull"]), body=st.binary(max_size=60))
def test_no_live_page_makes_a_reader_raise(part: str, body: bytes) -> None:
    form = {"tombstone": "github-tombstone", "pull": "github-thread"}.get(part, f"github-{part.partition(':')[0]}")
    assert documents.document([*pages("returned")[:1], page(part, form, body)]) is not None


@pytest.mark.parametrize("part", ["references", "timeline", "tombstone"])
@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"closed_by":' * 20_000, b'{"state":{"a":1}}', b'{"closed_by":[{"url":5}]}']
)
def test_deep_or_odd_json_is_read_or_named(part: str, body: bytes) -> None:
    found = documents.document([*pages("returned")[:1], page(part, f"github-{part}", body)])
    assert isinstance(found, Document) or found.reason in ("unreadable_page", "withdrawn")
