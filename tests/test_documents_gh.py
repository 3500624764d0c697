"""What `gh` prints: issues under its own names, pages of a list, and answers of the search API."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.providers import documents, files
from pipeline.records import Document, PostKind, RawPage, Skipped

URL = "https://github.com/errmine-fixtures/pond/issues/7"
COMMENT = {
    "id": "IC_kwDOAB",
    "author": {"login": "heron"},
    "authorAssociation": "MEMBER",
    "body": "Setting `POND_DEPTH=3` fixed it.",
    "createdAt": "2026-02-02T09:00:00Z",
    "includesCreatedEdit": False,
    "reactionGroups": [{"content": "THUMBS_UP", "users": {"totalCount": 4}}, {"content": "EYES"}],
    "url": f"{URL}#issuecomment-1001",
}
GH = {
    "author": {"id": "U_1", "is_bot": False, "login": "frog", "name": ""},
    "body": "pond.DryError: no water",
    "closedAt": "2026-02-03T10:00:00Z",
    "comments": [COMMENT],
    "createdAt": "2026-02-01T08:00:00Z",
    "labels": [{"name": "bug"}],
    "number": 7,
    "state": "CLOSED",
    "stateReason": "COMPLETED",
    "title": "The pond is dry",
    "updatedAt": "2026-02-04T11:00:00Z",
    "url": URL,
}
REST = {"html_url": URL, "title": "The pond is dry", "body": "b", "state": "open"}


def pages(path: Path, text: str) -> list[RawPage | Skipped]:
    (path / "a.json").write_text(text, encoding="utf-8")
    return list(files.pages([path / "a.json"], now=datetime(2026, 6, 1, tzinfo=UTC)))


def document(path: Path, value: object) -> Document:
    (page,) = pages(path, json.dumps(value))
    assert isinstance(page, RawPage)
    found = documents.document([page])
    assert isinstance(found, Document)
    return found


@pytest.mark.parametrize("wrapped", [GH, [GH]], ids=["gh issue view", "gh issue list"])
def test_dates_and_roles_of_what_gh_prints_are_read(wrapped: object, tmp_path: Path) -> None:
    found = document(tmp_path, wrapped)
    assert (found.opened_at, found.updated_at, found.closed_at) == (
        datetime(2026, 2, 1, 8, tzinfo=UTC),
        datetime(2026, 2, 4, 11, tzinfo=UTC),
        datetime(2026, 2, 3, 10, tzinfo=UTC),
    )
    assert (found.state, found.state_reason, found.url) == ("closed", "completed", URL)
    said = found.posts[-1]
    assert (said.kind, said.posted_at, said.author_role) == (
        PostKind.COMMENT,
        datetime(2026, 2, 2, 9, tzinfo=UTC),
        "MEMBER",
    )
    assert (said.url, said.reactions) == (f"{URL}#issuecomment-1001", 4)


def test_the_newer_of_two_prints_of_an_issue_is_known_by_its_date(tmp_path: Path) -> None:
    (page,) = pages(tmp_path, json.dumps(GH))
    assert isinstance(page, RawPage)
    assert page.version_at == "2026-02-04T11:00:00Z"
    (early,) = pages(tmp_path, json.dumps({**GH, "updatedAt": "1999-01-01T00:00:00Z"}))
    assert isinstance(early, Skipped)
    assert early.reason == "impossible_time"


def test_a_comment_that_gh_and_an_archive_both_have_is_one_post(tmp_path: Path) -> None:
    issue_url = "https://api.github.com/repos/errmine-fixtures/pond/issues/7"
    single = {"id": 1001, "issue_url": issue_url, "body": COMMENT["body"], "created_at": COMMENT["createdAt"]}
    both = pages(tmp_path, f"{json.dumps(GH)}\n{json.dumps(single)}\n")
    found = documents.document([page for page in both if isinstance(page, RawPage)])
    assert isinstance(found, Document)
    assert [post.kind for post in found.posts].count(PostKind.COMMENT) == 1


def test_a_merged_pull_request_of_gh_is_one(tmp_path: Path) -> None:
    url = URL.replace("issues", "pull")
    found = document(tmp_path, {**GH, "url": url, "state": "MERGED", "mergedAt": "2026-02-03T10:00:00Z"})
    assert (found.kind, found.state, found.is_merged, found.url) == ("pull", "closed", True, url)


def test_what_a_bot_opened_is_a_bots(tmp_path: Path) -> None:
    found = document(tmp_path, {**GH, "author": {"is_bot": True, "login": "app/mower"}})
    assert found.posts[0].is_bot


def test_names_of_rest_are_believed_before_those_of_gh(tmp_path: Path) -> None:
    assert document(tmp_path, {**GH, "created_at": "2025-01-01T00:00:00Z"}).opened_at == datetime(
        2025, 1, 1, tzinfo=UTC
    )


def issue(number: int) -> str:
    return json.dumps({**REST, "html_url": URL.replace("/7", f"/{number}")}, separators=(" ,", " :"))


@pytest.mark.parametrize(
    "text",
    [
        f"[[{issue(1)}, {issue(2)}],\n[{issue(3)}]]",
        f'{{"total_count": 3, "incomplete_results": false, "items": [{issue(1)}, {issue(2)}, {issue(3)}]}}',
        f'[{{"total_count":3,"items":[{issue(1)},{issue(2)}]}}, {{"items":[{issue(3)}],"total_count":3}}]',
    ],
    ids=["slurped", "search", "slurped search"],
)
def test_what_pages_and_answers_hold_is_read_with_its_own_bytes(text: str, tmp_path: Path) -> None:
    found = pages(tmp_path, text)
    assert [page.body.decode() for page in found if isinstance(page, RawPage)] == [issue(1), issue(2), issue(3)]


def test_what_is_refused_inside_an_answer_is_named_by_its_place(tmp_path: Path) -> None:
    found = pages(tmp_path, f'{{"total_count": 2, "items": [{{"a": 1}}, {issue(2)}]}}')
    assert [type(item) for item in found] == [Skipped, RawPage]
    assert isinstance(found[0], Skipped)
    assert (found[0].reason, found[0].item_id) == ("unknown_json", f"{tmp_path / 'a.json'}:1:1")


@pytest.mark.parametrize(
    "text",
    ['{"items": [{"title": "t"}]}', '{"total_count": 1, "items": [1]}', "[[[" + issue(1) + "]]]", "[[1, 2], [3]]"],
)
def test_other_lists_stay_unknown(text: str, tmp_path: Path) -> None:
    assert {item.reason if isinstance(item, Skipped) else "read" for item in pages(tmp_path, text)} == {"unknown_json"}
