"""Releases: fetched a list at a time, read with their notes, and a fix of what they name and of nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import distil, run, store
from pipeline.distil import tables
from pipeline.distil.claims.released import MOST_NAMED
from pipeline.providers import documents
from pipeline.records import Claim, DocLink, Document, LinkKind
from pipeline.run import Places, shards
from pipeline.run.build import mapping, reduce
from tests import linear
from tests.each import each
from tests.fake_github import FakeGithub, Fault
from tests.github_home import REPO, Place
from tests.rings import one_in
from tests.test_closings import pull, thread
from tests.test_documents_live import page as live_page
from tests.test_sources_github import OLD

KEY = f"github.com/{REPO}/releases/"
CLOSED = "2026-03-04T10:00:00Z"
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 3, in main\nTrayError: tray 7 jams at 3 mm'


def releases(place: Place) -> dict[str, Any]:
    """The current bodies of the releases in raw, by tag."""
    found = {}
    for refs in place.layer.documents():
        if refs.document_key.startswith(KEY):
            (page,) = place.layer.read(refs.refs)
            value = json.loads(page.body)
            found[value["tag_name"]] = value
    return found


def requests(fake: FakeGithub, since: int) -> int:
    return sum(path.endswith("/releases") for path in fake.paths(since))


# ---------------------------------------------------------------- fetched


def test_releases_are_kept_without_what_changes_by_itself_and_drafts_are_none(place: Place, fake: FakeGithub) -> None:
    fake.add(REPO, 1)
    first = fake.release(REPO, "v1.0", "Fixes #1", at=OLD)
    fake.release(REPO, "v2.0", None, at=OLD + 60, published_at=None, draft=True)
    place.ingest()
    assert releases(place).keys() == {"v1.0"}
    assert not {"assets", "author"} & releases(place)["v1.0"].keys()
    first["assets"][0]["download_count"] = 7
    before = len(fake.asked)
    done = place.ingest()
    assert (done.summary.figures["new_pages"], requests(fake, before)) == (0, 1)


def test_a_long_list_is_read_whole_once_and_then_as_far_as_it_brings_something(place: Place, fake: FakeGithub) -> None:
    fake.add(REPO, 1)
    for number in range(250):
        fake.release(REPO, f"v{number}", None, at=OLD + number)
    place.ingest()
    assert (len(releases(place)), requests(fake, 0)) == (250, 3)
    fake.release(REPO, "v250", "Fixes #1", at=OLD + 250)
    before = len(fake.asked)
    place.ingest()
    assert (len(releases(place)), requests(fake, before)) == (251, 2)
    before = len(fake.asked)
    place.ingest()
    assert requests(fake, before) == 1


def test_notes_that_were_edited_replace_those_of_before(place: Place, fake: FakeGithub) -> None:
    fake.add(REPO, 1)
    made = fake.release(REPO, "v1", "Nothing", at=OLD)
    place.ingest()
    made["body"] = "Fixes #1"
    fake.sleep(1)
    place.ingest()
    assert releases(place)["v1"]["body"] == "Fixes #1"


def test_a_run_that_ended_in_the_middle_is_followed_by_one_that_reads_the_rest(place: Place, fake: FakeGithub) -> None:
    fake.add(REPO, 1)
    for number in range(250):
        fake.release(REPO, f"v{number}", None, at=OLD + number)
    fake.fault = lambda _count, asked: (
        Fault("status", 500) if "releases?" in asked.path and "page=2" in asked.path else None
    )
    done = place.ingest()
    assert len(releases(place)) == 100
    assert [item.reason for item in done.summary.examples] == ["unreachable"]
    assert done.outcomes[0].is_complete, "threads are not kept waiting for releases"
    fake.fault = lambda _count, _asked: None
    place.ingest()
    assert len(releases(place)) == 250


def test_one_bad_release_costs_itself_and_a_refused_list_costs_the_list(place: Place, fake: FakeGithub) -> None:
    fake.add(REPO, 1)
    fake.release(REPO, "v1", "Fixes #1", at=OLD)
    fake.release(REPO, "v2", "Fixes #1", at=OLD, id="none")
    done = place.ingest()
    assert releases(place).keys() == {"v1"}
    assert [item.reason for item in done.summary.examples] == ["bad_answer"]
    fake.fault = lambda _count, asked: Fault("status", 403) if "/releases" in asked.path else None
    assert [item.reason for item in place.ingest().summary.examples] == ["refused"]


# ---------------------------------------------------------------- read


def released(notes: str | None, *, tag: str = "v2.3.1", at: str = "2026-03-09T10:00:00Z", **more: Any) -> Document:
    """A release of the project, as its page is read."""
    number = sum(map(ord, tag))
    value = {
        "id": number,
        "html_url": f"https://github.com/{REPO}/releases/tag/{tag}",
        "tag_name": tag,
        "name": None,
        "body": notes,
        "prerelease": False,
        "published_at": at,
        **more,
    }
    page = page_of(value)
    found = documents.document([page])
    assert isinstance(found, Document)
    return found


def page_of(value: Any) -> Any:
    made = live_page("main", "github-release", json.dumps(value).encode())
    return replace(made, document_key=f"{KEY}{value['id']}")


def test_a_release_is_a_document_of_its_project() -> None:
    made = released("* Refill the tray by @mallard in #12", name="The tray", prerelease=True)
    assert (made.kind, made.repo, made.title, made.state) == ("release", REPO, "v2.3.1", "prerelease")
    assert made.url == f"https://github.com/{REPO}/releases/tag/v2.3.1"
    assert [post.kind for post in made.posts] == ["title", "section", "body"]
    assert "mallard" not in made.text
    assert [(link.kind, link.target) for link in made.links] == [("text_mention", f"github.com/{REPO}#12")]


@pytest.mark.parametrize("url", ["https://evil.invalid/a/b/releases/tag/v1", "javascript:alert(1)", None, 5])
def test_the_address_of_a_release_is_of_its_project(url: object) -> None:
    assert released("Fixes #1", html_url=url).url == f"https://github.com/{REPO}/releases"


def test_a_page_that_is_no_release_is_named() -> None:
    broken = replace(page_of({"id": 1}), body=b"[" * 50_000)
    assert [getattr(documents.document([one]), "reason", "") for one in (broken, page_of({"id": 1}))] == [
        "unreadable_page",
        "no_text",
    ]


# ---------------------------------------------------------------- what it names


def claims(made: Document) -> list[tuple[str, str]]:
    return [(claim.key.rpartition("#")[2], claim.quote.text) for claim in distil.read_release(made).claims]


@pytest.mark.parametrize(
    ("notes", "told"),
    [
        ("## What's Changed\n* Refill the tray in #12", [("12", "Refill the tray in #12")]),
        (f"- Jams (https://github.com/{REPO}/pull/12)", [("12", f"Jams (https://github.com/{REPO}/pull/12)")]),
        ("1. Jams and leaks (#12, #13)", [("12", "Jams and leaks (#12, #13)"), ("13", "Jams and leaks (#12, #13)")]),
        ("修复卡纸问题 (#12)", [("12", "修复卡纸问题 (#12)")]),
        ("* Jams, see errmine-fixtures/lake#12", []),
        ("It is as good as version 12.", []),
        ('* Revert "Refill the tray" (#12)', []),
        ("## Known issues\n\n* The tray jams (#12)\n\n## Fixed\n* It leaks (#13)", [("13", "It leaks (#13)")]),
        ("* This may be fixed by #12", []),
        (None, []),
    ],
)
def test_notes_name_what_stands_in_them_by_number_or_address(notes: str | None, told: list[tuple[str, str]]) -> None:
    assert claims(released(notes)) == told


def test_a_tag_that_is_none_and_a_long_line_are_not_quoted() -> None:
    assert claims(released("Fixes #12", tag="v1 `rm -rf /`", html_url=None)) == []
    ((_, quote),) = claims(released("word " * 100 + "#12"))
    assert quote == "#12"


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    one_in(
        4,
        [
            "#{n}\n",
            "#{n} ",
            "like [",
            "part of a",
            "**",
            "## ",
            "> " * 9,
            "fixed in #{n} by ",
            "revert ",
        ],
    ),
    ids=repr,
)
def test_hostile_notes_of_40_kB_are_read_quickly(piece: str) -> None:
    notes = "".join(piece.format(n=number + 1) for number in range(40_000 // len(piece)))[:40_000]
    made = released(notes)
    linear.within(10, lambda _: distil.read_release(made), notes)
    found = distil.read_release(made).claims
    assert len(found) <= MOST_NAMED
    assert len({claim.claim_id for claim in found}) == len(found)


def _rows(column: str) -> list[tuple[str, str]]:
    rows = [*tables.table("releases.toml")["refuse"], tables.table("releases.toml")["headings"]]
    return [(row["pattern"], text) for row in rows for text in row[column]]


@each("pattern, text", _rows("examples"))
def test_a_line_that_names_no_fix_is_told_by_its_row(pattern: str, text: str) -> None:
    assert re.search(pattern, text, re.IGNORECASE)


@each("pattern, text", _rows("lookalikes"))
def test_a_look_alike_of_such_a_line_is_not(pattern: str, text: str) -> None:
    assert not re.search(pattern, text, re.IGNORECASE)


# ---------------------------------------------------------------- whose fix it is


def report(*, number: int = 2, **more: Any) -> Document:
    made = replace(thread(number=number), document_id=f"github.com/{REPO}#{number}", repo=REPO)
    closed = released("", at=CLOSED).opened_at
    return replace(made, **{"closed_at": closed, **more})


def fixes(*made: Document) -> list[Claim]:
    rows = [mapping.map_text(one) for one in made]
    known = reduce.knowledge(sum(rows, shards.MapResult()))
    found = {claim.claim_id: claim for told in known.claims.values() for claim in told if claim.kind == "fix"}
    return [claim for claim in found.values() if claim.rule == "fix.release_notes"]


def versions(*made: Document) -> list[str]:
    return [dict(claim.fact.slots)["version"] for claim in fixes(*made) if claim.fact]


CLOSED_BY = DocLink(LinkKind.CLOSED_BY, f"github.com/{REPO}#78", None, None)


def test_the_earliest_release_that_names_the_report_or_what_closed_it_has_the_fix() -> None:
    later = released("Jams (#2)", tag="v3", at="2026-05-01T00:00:00Z")
    first = released("Refill the tray (#78)", tag="v2.3.1", at="2026-04-01T00:00:00Z")
    before = released("Jams, as before (#2)", tag="v2.2", at="2026-03-01T00:00:00Z")
    assert versions(report(links=(CLOSED_BY,)), later, first, before) == ["v2.3.1"]
    assert versions(report(), first, before) == []
    assert versions(report(), later, first) == ["v3"]


def test_a_pull_request_that_says_what_it_closes_leads_to_its_release() -> None:
    made = released("* Refill the tray in #1", at="2026-04-01T00:00:00Z")
    assert versions(report(), pull("Fixes #2"), made) == ["v2.3.1"]
    assert versions(report(), pull("Fixes #2", merged_at=None), made) == []


@pytest.mark.parametrize("change", [{"state": "open"}, {"state_reason": "not_planned"}, {"closed_at": None}], ids=str)
def test_no_release_has_a_fix_of_what_was_not_fixed(change: dict[str, Any]) -> None:
    assert versions(report(**change), released("Jams (#2)")) == []


# ---------------------------------------------------------------- in an entry


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home into which a report, the pull request that closed it and two releases were imported."""
    home = tmp_path_factory.mktemp("home")
    issue = {
        "number": 2,
        "html_url": f"https://github.com/{REPO}/issues/2",
        "title": "It stops",
        "body": f"```\n{TRACE}\n```",
        "state": "closed",
        "created_at": "2026-03-01T10:00:00Z",
        "closed_at": CLOSED,
        "labels": [],
    }
    change = {
        "number": 12,
        "html_url": f"https://github.com/{REPO}/pull/12",
        "title": "Refill the tray",
        "body": "Fixes #2",
        "state": "closed",
        "created_at": "2026-03-02T10:00:00Z",
        "merged_at": CLOSED,
        "labels": [],
        "head": {},
        "base": {},
    }
    notes = [
        {
            "id": 9 - number,
            "html_url": f"https://github.com/{REPO}/releases/tag/{tag}",
            "tag_name": tag,
            "body": "## What's Changed\n* Refill the tray in #12",
            "prerelease": number == 0,
            "published_at": f"2026-04-0{number + 1}T10:00:00Z",
        }
        for number, tag in enumerate(("v2.3.1rc1", "v2.3.1"))
    ]
    (home / "pages.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in (issue, change, *notes)))
    places = Places.of(home)
    run.import_files(places.raw, [home / "pages.jsonl"])
    run.build(places, workers=1, partition_documents=500)
    return places.database


def test_an_entry_says_in_which_release_it_is_fixed_with_the_line_and_the_address(database: Path) -> None:
    sql = """
        SELECT r.action, r.action_zh, r.tier, r.worked, v.quote, v.url, v.posted_at::DATE::VARCHAR AS day
        FROM remedies r JOIN remedy_evidence v USING (entry_id, kind, ordinal) WHERE v.url LIKE '%/releases/%'"""
    action = f"Use the pre-release v2.3.1rc1 of {REPO} or a later one: its release notes name {REPO}#12."
    chinese = f"使用 {REPO} 的预发布版本 v2.3.1rc1 或更高版本，其发行说明提到了 {REPO}#12。"
    url = f"https://github.com/{REPO}/releases/tag/v2.3.1rc1"
    assert store.query(database, sql).rows == [
        (action, chinese, "documented", 0, "Refill the tray in #12", url, "2026-04-01")
    ]


def test_the_version_is_a_row_of_versions_and_the_entry_has_an_answer(database: Path) -> None:
    found = store.query(database, "SELECT version, status FROM versions").rows
    assert found == [(f"{REPO} v2.3.1rc1", "fixed")]
    assert store.query(database, "SELECT DISTINCT is_answered FROM entries").rows == [(True,)]
    kinds = store.query(database, "SELECT kind, count(*) FROM documents GROUP BY kind ORDER BY kind").rows
    assert kinds == [("issue", 1), ("pull", 1), ("release", 2)]
