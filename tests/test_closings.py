"""What closed a report is GitHub's word; what a post says about a fix is quoted as what a post says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline import distil
from pipeline.distil import tables
from pipeline.distil.drafts import remedies, support
from pipeline.distil.drafts.support import Ledger
from pipeline.providers import documents
from pipeline.records import Claim, DocLink, Document, LinkKind
from pipeline.run import shards
from pipeline.run.build import mapping, reduce
from tests.distil_factory import REPO, document, events, facts
from tests.distil_factory import claims as claims_of
from tests.each import each
from tests.test_documents_live import page, pages

OPENED = "2026-03-01T10:00:00Z"
TRACE = (
    '```\nTraceback (most recent call last):\n  File "a.py", line 3, in main\nValueError: the tray {n} is empty\n```'
)
CLOSING = DocLink(LinkKind.CLOSED_BY, f"github.com/{REPO}#78", None, None)


def thread(*comments: str, role: str = "NONE", kind: str = "issue", number: int = 5, body: str = "") -> Document:
    """A closed report with one error in its first post and comments of one role."""
    post = {"author": "a", "at": OPENED, "role": "MEMBER"}
    posts: list[dict[str, Any]] = [
        {"kind": "title", "text": "ValueError in main", **post},
        {"kind": "body", "text": f"It ends with\n\n{TRACE.replace('{n}', '7')}\n\n{body}".rstrip(), **post},
    ]
    posts += (
        {"kind": "comment", "text": text, "author": f"u{n}", "role": role, "at": f"2026-03-{n + 2:02d}T10:00:00Z"}
        for n, text in enumerate(comments)
    )
    made = document({"kind": kind, "number": number, "posts": posts})
    return replace(made, state="closed", opened_at=datetime.fromisoformat(OPENED).astimezone(UTC))


def fixes(made: Document) -> list[Claim]:
    return [claim for claim in claims_of(made) if claim.kind == "fix"]


def changes(claims: Sequence[Claim]) -> list[tuple[str, str]]:
    return [(claim.fact.template, dict(claim.fact.slots)["pr"]) for claim in claims if claim.fact is not None]


def remedy(claims: Sequence[Claim], made: Document) -> Any:
    ledger = Ledger({made.document_id: facts(made)})
    return remedies.remedy(remedies.group_remedies(claims, [])[0], ledger)


def test_the_change_that_github_names_closed_the_report() -> None:
    made = replace(thread(), links=(CLOSING,))
    (claim,) = fixes(made)
    assert changes([claim]) == [("fix.closed_by", f"{REPO}#78")]
    assert claim.rule == "fix.closed_by_api"
    assert claim.quote.author_role is None, "GitHub says so, not the member who wrote the title"
    assert (remedy([claim], made).tier, remedy([claim], made).worked) == ("user_confirmed", 0)


def test_the_title_of_the_change_stands_beside_it() -> None:
    made = replace(thread(), links=(replace(CLOSING, title="Refill the tray in time"),))
    (claim,) = fixes(made)
    assert (remedy([claim], made).how, claim.key) == ("Refill the tray in time", f"change|{REPO}#78".lower())
    assert remedy(fixes(replace(thread(), links=(CLOSING,))), made).how is None, "the report's title is the symptom"


def test_a_title_that_is_not_passed_on_takes_its_fix_not_along() -> None:
    bad = "Run `curl https://get.example.net/fix.sh | sh`"
    made = replace(thread(), links=(replace(CLOSING, title=bad),))
    (claim,) = fixes(made)
    assert changes([claim]) == [("fix.closed_by", f"{REPO}#78")]
    assert bad not in str(claim)


@pytest.mark.parametrize(
    "change", [{"state": "open"}, {"state_reason": "not_planned"}, {"state_reason": "duplicate"}], ids=str
)
def test_a_report_that_is_open_or_was_refused_was_fixed_by_nothing(change: dict[str, str]) -> None:
    assert fixes(replace(thread(), links=(CLOSING,), **change)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("role", "tier"), [("MEMBER", "maintainer_confirmed"), ("NONE", "reported"), (None, "reported")]
)
def test_what_a_comment_says_is_said_by_the_comment(role: str | None, tier: str) -> None:
    made = thread("Fixed by #78", role=role or "")
    made = made if role else replace(made, posts=tuple(post._replace(author_role=None) for post in made.posts))
    (claim,) = fixes(made)
    assert changes([claim]) == [("fix.merged", f"{REPO}#78")]
    assert claim.quote.text == "Fixed by #78"
    assert (remedy([claim], made).tier, remedy([claim], made).worked) == (tier, 0)


def _hedges(column: str) -> list[tuple[str, str]]:
    return [(row["lang"], text) for row in tables.table("cues.toml")["hedge"] for text in row[column]]


@each("lang, text", _hedges("examples"))
def test_a_hedged_sentence_is_no_fix(lang: str, text: str) -> None:
    assert tables.hedges(lang, "fix").search(text)
    assert fixes(thread(text)) == []


@each("lang, text", _hedges("lookalikes"))
def test_a_look_alike_of_a_hedged_sentence_is_not_hedged(lang: str, text: str) -> None:
    assert not tables.hedges(lang, "fix").search(text)


@pytest.mark.parametrize(
    "text",
    [
        "Was this fixed by #78?",
        "It is not fixed by #78.",
        "Once #78 lands, this is fixed.",
        f"Fixed by #5, see {REPO}#5",
        f"Fixed in https://github.com/{REPO.upper()}/pull/5",
        f"It was fixed as shown in https://github.com/{REPO}/issues/70#issuecomment-1",
    ],
)
def test_a_question_a_denial_another_report_and_the_thread_itself_are_no_fix(text: str) -> None:
    assert changes(fixes(thread(text))) == []


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("It was fixed in 0a1b2c3:\n[errmine-fixtures/lake@0a1b2c3](https://github.com/errmine-fixtures/lake)", "lake"),
        ("Fixed in 0a1b2c3\nSee https://github.com/errmine-fixtures/lake/commit/0a1b2c3d4e5f", "lake"),
        ("Fixed in 0a1b2c3\nSee errmine-fixtures/lake@9f8e7d6", "kernels"),
    ],
)
def test_a_commit_is_of_the_repository_that_the_thread_names_with_it(text: str, change: str) -> None:
    assert changes(fixes(thread(text))) == [("fix.merged", f"errmine-fixtures/{change}@0a1b2c3")]


def pull(body: str, **more: object) -> Document:
    """A pull request with a description, as its page is read."""
    rows: dict[str, object] = {
        "number": 1,
        "html_url": "https://github.com/errmine-fixtures/pond/pull/1",
        "title": "Refill the tray",
        "body": body,
        "state": "closed",
        "created_at": OPENED,
        "merged_at": "2026-03-03T00:00:00Z",
        "labels": [],
        "head": {},
        **more,
    }
    found = documents.document([page("pull", "github-thread", json.dumps(rows).encode())])
    assert isinstance(found, Document)
    return found


def base(branch: str) -> dict[str, object]:
    return {"ref": branch, "repo": {"default_branch": "main"}}


@pytest.mark.parametrize(
    ("body", "more", "closed"),
    [
        ("Retries.\n\nFixes #2, closes: #3 and resolves errmine-fixtures/lake#4", {}, ["pond#2", "pond#3", "lake#4"]),
        ("Fixes #2", {"base": base("main")}, ["pond#2"]),
        ("Fixes #2", {"base": base("release-1")}, []),
        ("Fixes #2", {"merged_at": None}, []),
        ("The fix for #2 and fixed by #3, fixing #4, prefixes #5", {}, []),
        ("<!-- Fixes #2 -->\nRefills it.", {}, []),
    ],
)
def test_a_merged_pull_request_closes_what_its_keywords_name(
    body: str, more: dict[str, object], closed: list[str]
) -> None:
    found = distil.read(pull(body, **more), [], []).claims
    assert [claim.key for claim in found] == [f"github.com/errmine-fixtures/{name}" for name in closed]
    assert {claim.rule for claim in found} <= {"fix.closed_by_pull"}


def test_a_keyword_in_a_comment_of_a_pull_request_closes_nothing() -> None:
    made = replace(thread("Fixes #9", kind="pull"), is_merged=True)
    assert [claim for claim in claims_of(made) if claim.kind in {"closing", "fix"}] == []


def test_a_merged_pull_request_fixes_the_report_that_it_closed_and_no_later_error_of_it() -> None:
    report = thread(TRACE.replace("the tray {n} is empty", "no such drawer"), number=2)
    report = replace(report, document_id="github.com/errmine-fixtures/pond#2")
    known = knowledge(report, pull("Fixes #2"))
    found, signatures = events(report)
    opening, later = (signature.signature_id for signature in signatures)
    (claim,) = (claim for claim in known.claims[opening] if claim.kind == "fix")
    assert (claim.quote.text, claim.quote.document_id) == ("Fixes #2", "github.com/errmine-fixtures/pond#1")
    assert changes([claim]) == [("fix.closed_by", "errmine-fixtures/pond#1")]
    assert later not in known.claims or not [c for c in known.claims[later] if c.kind == "fix"]
    assert len(found) == 2


def test_a_merged_pull_request_fixes_no_error_that_only_a_comment_on_it_shows() -> None:
    made = thread(f"The checks end with\n\n{TRACE.replace('{n}', '9')}", kind="pull", number=6)
    bare = replace(made, text=made.text.replace("ValueError: the tray 7 is empty", "x" * 31))
    assert len(events(bare)[0]) == 1
    closing = DocLink(LinkKind.CLOSES, f"github.com/{REPO}#2", None, None)
    assert [claim.signature_ids for claim in fixes(replace(bare, is_merged=True, links=(closing,)))] == [()]


def test_a_pull_request_fixes_no_report_that_is_open_again() -> None:
    report = replace(thread(number=2), document_id="github.com/errmine-fixtures/pond#2", state="open")
    known = knowledge(report, pull("Fixes #2"))
    assert [claim for claims in known.claims.values() for claim in claims if claim.kind == "fix"] == []


def knowledge(*made: Document) -> reduce.Knowledge:
    rows = [mapping.map_text(one) for one in made]
    return reduce.knowledge(sum(rows, shards.MapResult()))


def _timeline(*rows: dict[str, object]) -> set[tuple[str, str]]:
    whole = [*pages("returned")[:1], page("timeline", "github-timeline", json.dumps(rows).encode())]
    found = documents.document(whole)
    assert isinstance(found, Document)
    return {(link.kind, link.target) for link in found.links}


CLOSED = {"event": "closed", "commit_id": "c" * 40}


def test_what_closed_a_thread_before_it_was_reopened_did_not_close_it() -> None:
    commit = f"github.com/errmine-fixtures/pond@{'c' * 40}"
    assert _timeline(CLOSED) == {("closed_by", commit)}
    assert _timeline(CLOSED, {"event": "reopened"}) == {("commit_ref", commit)}
    assert _timeline(CLOSED, {"event": "reopened"}, CLOSED) == {("commit_ref", commit), ("closed_by", commit)}


def test_a_commit_of_another_repository_is_named_as_that_one() -> None:
    url = f"https://api.github.com/repos/errmine-fixtures/Lake/commits/{'c' * 40}"
    assert _timeline({**CLOSED, "commit_url": url}) == {("closed_by", f"github.com/errmine-fixtures/lake@{'c' * 40}")}


# ---------------------------------------------------------------- trackers besides GitHub


def tracked(**fields: object) -> Document:
    """A report of an archive, as another tracker closed it."""
    rows = {
        "number": 5,
        "html_url": f"https://github.com/{REPO}/issues/5",
        "title": "ValueError in main",
        "body": f"It ends with\n\n{TRACE.replace('{n}', '7')}",
        "state": "closed",
        "created_at": OPENED,
        "closed_at": "2026-03-09T10:00:00Z",
        "labels": [],
        **fields,
    }
    made = page("main", "github-thread", json.dumps(rows).encode())
    found = documents.document([replace(made, document_key=f"github.com/{REPO}#5")])
    assert isinstance(found, Document)
    return found


def stated_versions(**fields: object) -> list[str]:
    return [dict(claim.fact.slots)["version"] for claim in fixes(tracked(**fields)) if claim.fact]


@pytest.mark.parametrize(
    ("fields", "versions"),
    [
        ({"resolution": "Fixed", "fix_versions": ["0.18.0"]}, ["0.18.0"]),
        (
            {"resolution": {"name": "Fixed"}, "fixVersions": [{"name": "3.0.0-alpha4"}, {"name": "2.9"}]},
            ["2.9, 3.0.0-alpha4"],
        ),
        ({"resolution": "Fixed", "fix_versions": ["2012 Sprint 14", "Backlog", "", None, 7, "$(rm -rf)"]}, []),
        ({"resolution": "Duplicate", "fix_versions": ["0.18.0"]}, []),
        ({"resolution": "Won't Fix", "fix_versions": ["0.18.0"]}, []),
        ({"resolution": "Somehow", "fix_versions": ["0.18.0"]}, []),
        ({"fix_versions": ["0.18.0"]}, []),
        ({"resolution": "Fixed", "fix_versions": "0.18.0"}, []),
        ({"resolution": "Fixed", "fix_versions": ["0.18.0"], "state": "open"}, []),
    ],
)
def test_a_tracker_names_the_versions_with_the_fix(fields: dict[str, object], versions: list[str]) -> None:
    assert sorted(stated_versions(**fields)) == versions


@pytest.mark.parametrize(
    ("label", "count"), [("component:reader", 1), ("component:documentation", 0), ("component:test", 0)]
)
def test_a_fix_of_documentation_or_of_a_test_is_none_of_its_error(label: str, count: int) -> None:
    assert len(fixes(tracked(resolution="Fixed", fix_versions=["0.18.0"], labels=[{"name": label}]))) == count


def test_the_version_of_a_tracker_is_nobodys_word_that_it_helped() -> None:
    made = tracked(resolution="Fixed", fix_versions=["0.18.0"])
    (claim,) = fixes(made)
    assert (made.state_reason, made.fixed_in) == ("completed", ("0.18.0",))
    assert claim.quote.author_role is None
    assert (remedy([claim], made).tier, remedy([claim], made).worked) == ("user_confirmed", 0)
    assert remedy([claim], made).how is None


def test_several_lines_of_releases_are_one_statement_and_a_version_each() -> None:
    made = tracked(resolution="Fixed", fix_versions=["2.10.0", "3.0.0-alpha4", "2.9.1", "2.10.0-rc1"])
    (claim,) = fixes(made)
    assert claim.fact is not None
    assert claim.fact.template == "fix.tracked_in_lines"
    assert dict(claim.fact.slots)["version"] == "2.9.1, 2.10.0-rc1, 2.10.0, 3.0.0-alpha4"
    rows = support.versions([claim], Ledger({made.document_id: facts(made)}))
    named = sorted(row.version.removeprefix(f"{REPO} ") for row in rows)
    assert named == ["2.10.0", "2.10.0-rc1", "2.9.1", "3.0.0-alpha4"]


MET = "OSError: [Errno 24] Too many open files: 'pool.db'"
RAISED = "AssertionError: the pool has 3 pages, expected 4"


@pytest.mark.parametrize(
    ("title", "error", "is_said"),
    [
        ("TestPoolReader#testTwice fails intermittently", MET, False),
        ("TestPoolReader#testTwice fails intermittently", RAISED, True),
        ("The reader opens the pool twice", MET, True),
        ("Too many open files during TestPoolReader", MET, True),
    ],
)
def test_what_closed_the_report_of_a_failing_test_fixes_what_the_test_raises(
    title: str, error: str, is_said: bool
) -> None:
    body = TRACE.replace("ValueError: the tray {n} is empty", error)
    shown: dict[str, object] = {"title": title, "body": f"It ends with\n\n{body}"}
    assert bool(stated_versions(resolution="Fixed", fix_versions=["0.18.0"], **shown)) is is_said
    closed = replace(tracked(**shown, state_reason="completed"), links=(CLOSING,))
    assert bool(fixes(closed)) is is_said
    said = [{"body": "Fixed in #91.", "created_at": OPENED, "user": {"login": "b"}, "author_association": "MEMBER"}]
    assert bool(fixes(tracked(**shown, comments=said))) is is_said


EMPTY = (
    "java.lang.NullPointerException\n\tat org.fixture.Tray.fill(Tray.java:7)\n\tat org.fixture.Main.run(Main.java:3)"
)
FULL = "java.lang.IllegalStateException: the drawer jams\n\tat org.fixture.Drawer.pull(Drawer.java:9)"
LATE = "java.lang.IllegalArgumentException: the lid is late\n\tat org.fixture.Lid.shut(Lid.java:5)"
AWAY = "java.net.ConnectException: Connection refused\n\tat org.fixture.Line.dial(Line.java:4)"


@pytest.mark.parametrize(
    ("title", "shown", "said"),
    [
        ("Filling the tray twice", [EMPTY], [EMPTY]),
        ("Filling the tray twice", [EMPTY, FULL], []),
        ("NPE when the tray is filled twice", [EMPTY, FULL], [EMPTY]),
        ("Null Pointer Exception in Tray", [EMPTY, FULL], [EMPTY]),
        ("The drawer jams", [EMPTY, FULL], [FULL]),
        ("The line should hang up when nobody answers", [AWAY], []),
        ("ConnectException when the line is dialled twice", [AWAY], [AWAY]),
        ("The drawer jams", [EMPTY, FULL, AWAY], []),
        ("The drawer jams", [EMPTY, FULL, AWAY, LATE], []),
    ],
    ids=[
        "one error",
        "one of two",
        "initials",
        "spelled apart",
        "message",
        "met, not made",
        "met and named",
        "of three",
        "of four",
    ],
)
def test_a_tracker_fixes_the_error_that_its_report_is_about(title: str, shown: list[str], said: list[str]) -> None:
    body = "\n\nand then\n\n".join(f"```\n{one}\n```" for one in shown)
    made = tracked(title=title, body=f"It ends with\n\n{body}", resolution="Fixed", fix_versions=["0.18.0"])
    about = {one for claim in fixes(made) for one in claim.signature_ids}
    types = {e.exception_type for e, s in zip(*events(made), strict=True) if s.signature_id in about}
    assert types == {one.partition(":")[0].partition("\n")[0] for one in said}


def test_githubs_own_word_goes_before_a_resolution() -> None:
    assert tracked(resolution="Fixed", fix_versions=["1.0"], state_reason="not_planned").fixed_in == ()


REVISION = "Comment 3:\n\n_This issue was closed by revision 0c1f2a3b4c5d6e7f8a9b._\n\n\n\n_Status changed to **{}**._"
TRACKER = tables.table("cues.toml")["tracker"]


def test_words_of_a_tracker_find_their_examples_and_no_look_alike() -> None:
    for pattern, good, bad in (
        (tables.closed_by_revision(), "examples", "lookalikes"),
        (tables.opened_again(), "opening", "no_opening"),
    ):
        assert all(pattern.search(text) for text in TRACKER[good])
        assert not any(pattern.search(text) for text in TRACKER[bad])


def test_the_revision_that_an_older_tracker_names_closed_the_report() -> None:
    (claim,) = fixes(thread("Comment 1: I see it too.", REVISION.format("Fixed")))
    assert changes([claim]) == [("fix.closed_by", f"{REPO}@0c1f2a3b4c5d")]
    assert (claim.rule, claim.quote.author_role) == ("fix.closed_by_revision", None)
    assert claim.quote.text == "This issue was closed by revision 0c1f2a3b4c5d6e7f8a9b"
    again = REVISION.format("Fixed").replace("0c1f", "1111")
    assert changes(fixes(thread(REVISION.format("Fixed"), again))) == [("fix.closed_by", f"{REPO}@11112a3b4c5d")]


@each("posts", [(REVISION.format("Accepted"),), (REVISION.format("Fixed"), "_Status changed to **Accepted**._")])
def test_a_revision_fixes_nothing_where_the_report_is_open_again(posts: tuple[str, ...]) -> None:
    assert fixes(thread(*posts)) == []


def test_a_revision_is_not_said_to_fix_words_of_no_class() -> None:
    posts = [
        {"kind": "title", "text": "'tray' undeclared in tray.c"},
        {"kind": "body", "text": "```\ntray.c:3:5: error: 'tray' undeclared (first use in this function)\n```"},
        {"kind": "comment", "text": REVISION.format("Fixed")},
    ]
    made = replace(document({"kind": "issue", "number": 5, "posts": posts}), state="closed")
    read = distil.read(made, *events(made))
    assert [one for one in read.claims if one.kind == "fix"] == []
    assert [(one.reason, one.detail) for one in read.skipped] == [("bare_line", "fix.closed_by_revision")]


def test_a_change_that_github_names_goes_before_a_revision() -> None:
    assert [one.rule for one in fixes(replace(thread(REVISION.format("Fixed")), links=(CLOSING,)))] == [
        "fix.closed_by_api"
    ]
