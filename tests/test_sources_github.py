"""The live ingest against a stand-in: complete, incremental, resumable; nothing lost where other ingesters lose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.providers import documents
from pipeline.providers import files as archive
from pipeline.providers.github import fetch as github
from pipeline.records import Document, Skipped
from pipeline.records.errors import RateLimited, SourceChanged, SourceUnreachable
from tests.fake_github import OTHER_TOKEN, TOKEN, Asked, FakeGithub, Fault, small_world, stamp
from tests.github_home import REPO, Place
from tests.rings import first_alone, quick_alone

OLD = 1_700_000_000


def links(document: Document | Skipped) -> set[tuple[str, str]]:
    assert isinstance(document, Document)
    return {(link.kind, link.target) for link in document.links}


# ---------------------------------------------------------------- a full run


def test_a_full_run_brings_everything_that_belongs_to_a_thread(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=12)
    done = place.ingest()
    assert done.error is None
    assert done.outcomes[0].is_complete
    assert set(place.pages(8)) == {"main", "pull", "timeline", "comments", "reviews", "review-comments", "references"}
    assert {"main", "timeline", "references"} <= set(place.pages(7))
    document = place.document(8)
    assert isinstance(document, Document)
    assert document.kind == "pull"
    assert [post.kind for post in document.posts] == ["title", "body", "comment", "comment", "review", "review"]
    assert ("closes", f"github.com/{REPO}#7") in links(document)
    assert ("cross_reference", f"github.com/{REPO}#8") in links(place.document(7))


def test_more_than_a_page_of_comments_is_brought_whole(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=2)
    place.ingest()
    document = place.document(1)
    assert isinstance(document, Document)
    assert sum(post.kind == "comment" for post in document.posts) == 231
    assert {"comments", "comments:2", "comments:3"} <= set(place.pages(1))


def test_a_live_thread_and_the_same_thread_imported_give_one_document(place: Place, fake: FakeGithub) -> None:
    thread = fake.add(REPO, 5)
    file = place.folder / "listing.json"
    file.write_text(json.dumps([thread.issue]))
    place.layer.append(archive.pages([file]))
    place.ingest()
    assert len(place.layer.documents()) == 1
    assert list(place.pages(5)) == ["main"] or "timeline" in place.pages(5)


@pytest.mark.long
def test_a_merged_pull_request_closes_an_issue_and_an_open_one_only_speaks_of_it(
    place: Place, fake: FakeGithub
) -> None:
    small_world(fake, threads=8)
    fake.repo(REPO).threads[3].closing[0]["merged"] = True
    place.ingest()
    assert ("closed_by", f"github.com/{REPO}#4") in links(place.document(3))
    assert ("cross_reference", f"github.com/{REPO}#8") in links(place.document(7))
    assert ("closed_by", f"github.com/{REPO}#8") not in links(place.document(7))


def test_a_commit_that_closed_an_issue_is_an_edge(place: Place, fake: FakeGithub) -> None:
    thread = fake.add(REPO, 1, state="closed")
    thread.timeline.append({"event": "closed", "commit_id": "c" * 40, "created_at": stamp(OLD)})
    thread.timeline.append({"event": "referenced", "commit_id": "d" * 40, "created_at": stamp(OLD)})
    place.ingest()
    assert {("closed_by", f"github.com/{REPO}@{'c' * 40}"), ("commit_ref", f"github.com/{REPO}@{'d' * 40}")} <= links(
        place.document(1)
    )


def test_state_labels_and_since_narrow_what_is_listed(place: Place, fake: FakeGithub) -> None:
    fake.add(REPO, 1, state="closed", labels=[{"name": "bug"}])
    fake.add(REPO, 2, labels=[{"name": "bug"}])
    fake.add(REPO, 3)
    place.ingest(state="open", labels=("bug",))
    assert [refs.document_key[-1] for refs in place.layer.documents()] == ["2"]
    place.ingest(since=stamp(OLD + 3 * 60))
    assert [refs.document_key[-1] for refs in place.layer.documents()] == ["2", "3"]
    place.ingest()
    assert [refs.document_key[-1] for refs in place.layer.documents()] == ["1", "2", "3"]


# ---------------------------------------------------------------- incremental


def test_an_unchanged_repository_costs_304s_and_one_point_a_hundred_threads(place: Place, fake: FakeGithub) -> None:
    small_world(fake)
    place.ingest()
    place.ingest()
    before = len(fake.asked)
    done = place.ingest()
    assert fake.paths(before) == [
        f"/repos/{REPO}",
        f"/repos/{REPO}/issues",
        "/graphql",
        "/graphql",
        f"/repos/{REPO}/releases",
    ]
    assert fake.statuses(before) == {304: 3, 200: 2}
    assert done.summary.figures["new_pages"] == 0


def test_a_new_comment_costs_its_own_thread_only(place: Place, fake: FakeGithub) -> None:
    small_world(fake)
    place.ingest()
    fake.comment(REPO, 2, "And on the second card as well")
    before = len(fake.asked)
    done = place.ingest()
    assert done.outcomes[0].threads == 1
    assert {path for path in fake.paths(before) if "/issues/" in path} == {
        f"/repos/{REPO}/issues/2/timeline",
        f"/repos/{REPO}/issues/2/comments",
    }
    document = place.document(2)
    assert isinstance(document, Document)
    assert "second card" in document.text


def test_a_change_in_the_second_of_the_watermark_is_not_lost(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=4)
    place.ingest()
    started = fake.now()
    place.ingest()
    fake.comment(REPO, 3, "Within the very second", at=started)
    place.ingest()
    document = place.document(3)
    assert isinstance(document, Document)
    assert "very second" in document.text


def test_a_second_change_within_one_second_replaces_the_first(place: Place, fake: FakeGithub) -> None:
    thread = fake.add(REPO, 1, updated_at=stamp(fake.now() + 1))
    for body in ("zzz first wording", "aaa second wording", "mmm third wording", "zzz first wording"):
        thread.issue["body"] = body
        place.ingest()
        assert json.loads(place.pages(1)["main"].body)["body"] == body


@pytest.mark.long
def test_a_deleted_comment_leaves_the_document(place: Place, fake: FakeGithub) -> None:
    fake.add(REPO, 1)
    place.ingest()
    fake.comment(REPO, 1, "I posted my password")
    place.ingest()
    assert "password" in place.document(1).text  # type: ignore[union-attr]
    thread = fake.repo(REPO).threads[1]
    thread.comments.clear()
    thread.timeline.clear()
    thread.issue["comments"] = 0
    fake.sleep(5)
    fake.touch(REPO, 1)
    place.ingest()
    assert "password" not in place.document(1).text  # type: ignore[union-attr]


def test_a_list_that_loses_its_second_page_loses_it_in_raw(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=1)
    place.ingest()
    thread = fake.repo(REPO).threads[1]
    del thread.comments[50:]
    thread.timeline.clear()
    thread.issue["comments"] = 50
    fake.touch(REPO, 1)
    place.ingest()
    document = place.document(1)
    assert isinstance(document, Document)
    assert sum(post.kind == "comment" for post in document.posts) == 50


def test_an_edited_old_comment_is_seen_because_lists_are_read_whole(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=3)
    place.ingest()
    thread = fake.repo(REPO).threads[2]
    thread.comments[0]["body"] = "Edited: it was the driver"
    thread.timeline[0]["body"] = "Edited: it was the driver"
    fake.touch(REPO, 2)
    place.ingest()
    document = place.document(2)
    assert isinstance(document, Document)
    assert sum("Edited" in document.text[post.start : post.end] for post in document.posts) == 1
    assert len([post for post in document.posts if post.kind == "comment"]) == 2


@pytest.mark.long
def test_raw_that_was_thrown_away_is_filled_again(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=6)
    place.ingest()
    whole = place.content()
    for path in (place.folder / "raw" / "segments").iterdir():
        path.unlink()
    place.ingest()
    assert place.content() == whole


@pytest.mark.long
def test_memory_that_was_thrown_away_or_damaged_costs_requests_only(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=6)
    place.ingest()
    whole = place.content()
    path = next((place.folder / ".errmine").rglob("*.sqlite"))
    path.write_bytes(b"not a database at all" * 200)
    assert place.ingest().outcomes[0].is_complete
    path.unlink()
    done = place.ingest()
    assert place.content() == whole
    assert done.summary.figures["new_pages"] == 0


# ---------------------------------------------------------------- references


def test_a_new_cross_reference_is_seen_though_no_date_changed(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=10)
    place.ingest()
    elsewhere = fake.add("errmine-fixtures/elsewhere", 3, pull=True)
    fake.cross_reference(REPO, 5, elsewhere)
    before = len(fake.asked)
    place.ingest()
    assert ("cross_reference", "github.com/errmine-fixtures/elsewhere#3") in links(place.document(5))
    assert [path for path in fake.paths(before) if "timeline" in path] == [f"/repos/{REPO}/issues/5/timeline"]


@pytest.mark.long
def test_a_reference_that_only_graphql_knows_is_asked_for_once(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=6)
    place.ingest()
    hidden = {"event": "cross-referenced", "created_at": stamp(OLD + 9999), "source": {}}
    timeline = fake.repo(REPO).threads[2].timeline
    fake.after = lambda _n, asked: timeline.remove(hidden) if "graphql" in asked.path and hidden in timeline else None
    for expected in (1, 0, 0):
        timeline.append(hidden)
        before = len(fake.asked)
        place.ingest()
        assert sum("timeline" in path for path in fake.paths(before)) == expected


@pytest.mark.long
@pytest.mark.parametrize("token", [TOKEN, None])
def test_without_graphql_a_new_pull_request_leads_to_what_it_names(
    place: Place, fake: FakeGithub, token: str | None
) -> None:
    small_world(fake, threads=70)
    fake.has_graphql = False
    fake.anonymous_limit = 1000
    assert place.ingest(token=token).outcomes[0].references_by.startswith("rest")
    pull = fake.add(REPO, 71, pull=True, body="Fixes #66, by hand", updated_at=stamp(fake.now()))
    fake.cross_reference(REPO, 66, pull)
    place.ingest(token=token)
    assert ("cross_reference", f"github.com/{REPO}#71") in links(place.document(66))


@pytest.mark.long
def test_without_graphql_every_timeline_gets_its_turn(place: Place, fake: FakeGithub) -> None:
    for number in range(1, 131):
        fake.add(REPO, number)
    fake.has_graphql = False
    place.ingest()
    before = len(fake.asked)
    for _ in range(3):
        place.ingest()
    asked = {path for path in fake.paths(before) if path.endswith("timeline")}
    assert len(asked) == 130
    assert fake.statuses(before)[304] >= 130


def test_graphql_that_answers_with_an_error_is_replaced_by_rest_and_said(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=4)
    fake.graphql_error = {"type": "FORBIDDEN", "message": "Resource not accessible"}
    done = place.ingest()
    assert done.outcomes[0].is_complete
    assert "Resource not accessible" in done.summary.figures[REPO]


# ---------------------------------------------------------------- pages under way


def world_of(fake: FakeGithub, count: int) -> None:
    for number in range(1, count + 1):
        fake.add(REPO, number)


def test_next_is_followed_as_written_and_no_page_is_ever_numbered(place: Place, fake: FakeGithub) -> None:
    world_of(fake, 250)
    assert place.ingest().outcomes[0].is_complete
    listings = [asked.path for asked in fake.asked if asked.path.partition("?")[0].endswith("/issues")]
    assert len([path for path in listings if "after=" in path]) >= 2
    assert not any("page=" in path.replace("per_page=", "") for path in listings)
    assert len(place.layer.documents()) == 250


@pytest.mark.long
def test_a_server_that_refuses_large_page_numbers_is_read_to_its_end(tmp_path: Path) -> None:
    with FakeGithub(paging="offset", page_cap=3) as fake:
        world_of(fake, 520)
        place = Place(tmp_path, fake)
        assert place.ingest().outcomes[0].is_complete
        assert 422 in fake.statuses()
        assert len(place.layer.documents()) == 520


@pytest.mark.long
@pytest.mark.parametrize("paging", quick_alone(["cursor", "offset"], ["cursor"]))
def test_what_moves_while_we_read_is_seen_and_hides_nothing(tmp_path: Path, paging: str) -> None:
    with FakeGithub(paging=paging) as fake:
        world_of(fake, 330)
        moved = iter(range(1, 60, 4))

        def move(_count: int, asked: Asked) -> None:
            if asked.path.partition("?")[0].endswith("/issues") and (number := next(moved, None)):
                fake.comment(REPO, number, "Moves while you read")

        fake.after = move
        fake.has_graphql = False  # the sweep alone must do it
        place = Place(tmp_path, fake)
        done = place.ingest()
        assert len(place.layer.documents()) == 330
        if not done.outcomes[0].is_complete:
            assert "moved" in done.outcomes[0].reason
            assert place.ingest().outcomes[0].is_complete
        fake.after = lambda _n, _a: None
        place.ingest()
        assert sum("Moves while" in place.document(n).text for n in range(1, 60, 4)) > 3  # type: ignore[union-attr]


def test_a_thread_that_the_listing_hides_is_found_by_graphql(place: Place, fake: FakeGithub) -> None:
    world_of(fake, 5)
    real = fake._selected
    fake._selected = lambda repo, query: [item for item in real(repo, query) if item["number"] != 4]  # type: ignore[method-assign]
    assert place.ingest().outcomes[0].is_complete
    assert set(place.pages(4)) == {"main"}


# ---------------------------------------------------------------- absence


def test_a_transferred_thread_says_where_it_went(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=5)
    fake.add("errmine-fixtures/lake", 77)
    place.ingest()
    fake.repo(REPO).threads[2].fate = ("transferred", (fake.repo("errmine-fixtures/lake").id, 77))
    done = place.ingest()
    assert done.outcomes[0].tombstones == 1
    gone = place.document(2)
    assert isinstance(gone, Skipped)
    assert (gone.reason, gone.detail) == ("transferred", "to github.com/errmine-fixtures/lake#77")
    assert "comments" in place.pages(2)  # kept: it is withdrawn, not forgotten


@pytest.mark.parametrize(("fate", "detail"), first_alone([("deleted", "deleted"), ("private", "gone_or_private")]))
def test_a_thread_that_is_away_is_withdrawn_once_and_never_asked_for_again(
    place: Place, fake: FakeGithub, fate: str, detail: str
) -> None:
    small_world(fake, threads=5)
    place.ingest()
    fake.repo(REPO).threads[2].fate = (fate, None)
    place.ingest()
    gone = place.document(2)
    assert isinstance(gone, Skipped)
    assert (gone.reason, gone.detail) == ("withdrawn", detail)
    before = len(fake.asked)
    done = place.ingest()
    assert not any("/issues/2" in path for path in fake.paths(before))
    assert done.outcomes[0].tombstones == 0


@pytest.mark.long
def test_a_thread_that_comes_back_is_a_document_again(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=5)
    place.ingest()
    fake.repo(REPO).threads[2].fate = ("private", None)
    place.ingest()
    fake.repo(REPO).threads[2].fate = None
    place.ingest()
    assert isinstance(place.document(2), Document)


@pytest.mark.long
def test_a_thread_deleted_between_listing_and_reading_is_a_tombstone(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=5)

    def delete(_count: int, asked: Asked) -> None:
        if asked.path.partition("?")[0].endswith("/issues"):
            fake.repo(REPO).threads[3].fate = ("deleted", None)

    fake.after = delete
    done = place.ingest()
    assert done.outcomes[0].is_complete
    assert [page.part for page in place.pages(3).values()] == ["tombstone"]


def test_a_renamed_repository_is_followed_and_its_old_threads_say_where(place: Place, fake: FakeGithub) -> None:
    world_of(fake, 3)
    place.ingest()
    repo = fake.repos.pop(REPO)
    fake.renamed[REPO] = repo.id
    repo.name = "errmine-fixtures/sea"
    fake.repos["errmine-fixtures/sea"] = repo
    for number, thread in repo.threads.items():
        thread.issue["html_url"] = f"{fake.web}/errmine-fixtures/sea/issues/{number}"
    assert place.ingest().outcomes[0].is_complete
    assert isinstance(place.document(1, "errmine-fixtures/sea"), Document)
    old = place.document(1)
    assert isinstance(old, Skipped)
    assert old.detail == "to github.com/errmine-fixtures/sea#1"


def test_a_thread_that_an_archive_has_under_the_name_asked_for_is_one_with_the_live_one(
    place: Place, fake: FakeGithub
) -> None:
    world_of(fake, 2)
    file = place.folder / "archive.json"
    old = [{**thread.issue, "body": "As an archive has it."} for thread in fake.repo(REPO).threads.values()]
    old.append({**old[0], "number": 9, "html_url": f"{fake.web}/{REPO}/issues/9"})
    file.write_text(json.dumps(old))
    place.layer.append(archive.pages([file]))
    repo = fake.repos.pop(REPO)
    fake.renamed[REPO] = repo.id
    repo.name = "errmine-fixtures/sea"
    fake.repos["errmine-fixtures/sea"] = repo
    for number, thread in repo.threads.items():
        thread.issue["html_url"] = f"{fake.web}/errmine-fixtures/sea/issues/{number}"
    place.ingest()
    place.ingest()
    found = [documents.document(place.layer.read(refs.refs)) for refs in place.layer.documents()]
    assert [made.document_id for made in found if isinstance(made, Document)] == [
        f"github.com/{REPO}#9",  # nobody brought it under the new name: it is not lost
        "github.com/errmine-fixtures/sea#1",
        "github.com/errmine-fixtures/sea#2",
    ]
    assert list(place.pages(1)) == ["main", "tombstone"]


# ---------------------------------------------------------------- tokens


@pytest.mark.long
def test_a_validator_is_never_used_under_another_token(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=5)
    place.ingest(token=TOKEN)
    before = len(fake.asked)
    fake.touch(REPO, 2)
    place.ingest(token=OTHER_TOKEN)
    assert not any("if-none-match" in asked.headers for asked in fake.asked[before:])
    place.ingest(token=OTHER_TOKEN)
    assert any(asked.status == 304 for asked in fake.asked[before:])


@pytest.mark.parametrize("token", first_alone([TOKEN, None]))
def test_the_token_is_in_no_file_and_in_no_message(
    place: Place, fake: FakeGithub, token: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    small_world(fake, threads=3)
    fake.fault = lambda n, _a: Fault("secondary", status=403) if n == 5 else Fault("html") if n == 9 else None
    done = place.ingest(token=token)
    text = caplog.text + repr(done) + str(done.error)
    for path in (p for p in place.folder.rglob("*") if p.is_file()):
        assert TOKEN.encode() not in path.read_bytes(), path
    assert TOKEN not in text


def test_anonymous_requests_carry_no_identity(place: Place, fake: FakeGithub, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = place.folder / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password fixture\n")
    monkeypatch.setenv("NETRC", str(netrc))
    small_world(fake, threads=2)
    place.ingest(token=None)
    assert all("authorization" not in asked.headers for asked in fake.asked)
    assert all(asked.headers["user-agent"].startswith("errmine/") for asked in fake.asked)


# ---------------------------------------------------------------- limits


@pytest.mark.long
def test_an_exhausted_quota_is_waited_for_without_a_refused_request(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=20)
    fake.limit = 15
    done = place.ingest(governor={"max_wait_seconds": 1e6})
    assert done.outcomes[0].is_complete
    assert 403 not in fake.statuses()
    assert done.summary.figures["waited_seconds"] >= 3600


@pytest.mark.long
def test_a_limit_beyond_what_may_be_waited_ends_the_run_and_the_next_goes_on(place: Place, fake: FakeGithub) -> None:
    world_of(fake, 250)
    fake.limit = 120
    done = place.ingest(governor={"max_wait_seconds": 60})
    assert isinstance(done.error, RateLimited)
    assert done.error.wait_seconds > 3000
    assert done.error.exit_code == 3
    kept = len(place.layer.documents())
    assert kept >= 100
    fake.sleep(4000)
    before = len(fake.asked)
    fake.limit = 5000
    assert place.ingest().outcomes[0].is_complete
    again = sum("/timeline" in path for path in fake.paths(before))
    assert again <= 250 - kept + 1
    assert len(place.layer.documents()) == 250


@pytest.mark.parametrize("status", first_alone([403, 429]))
@pytest.mark.parametrize(("retry_after", "waited"), first_alone([("7", 7), (None, 60)]))
def test_a_secondary_limit_is_waited_for_as_asked(
    place: Place, fake: FakeGithub, status: int, retry_after: str | None, waited: int
) -> None:
    small_world(fake, threads=4)
    fake.fault = lambda n, _a: Fault("secondary", status=status, retry_after=retry_after) if n == 4 else None
    done = place.ingest()
    assert done.outcomes[0].is_complete
    assert done.summary.figures["waited_seconds"] == waited


def test_a_storm_of_secondary_limits_ends_after_few_requests(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=4)
    fake.fault = lambda n, _a: Fault("secondary", status=403) if n > 3 else None
    done = place.ingest(governor={"max_wait_seconds": 3900})
    assert isinstance(done.error, RateLimited)
    assert len(fake.asked) < 12  # 60 + 120 + ... + 1920 = 3780


@pytest.mark.parametrize("status", first_alone([401, 403, 404, 410, 451]))
def test_a_refusal_is_asked_once_and_told(place: Place, fake: FakeGithub, status: int) -> None:
    small_world(fake, threads=2)
    fake.fault = lambda _n, _a: Fault("status", status=status)
    done = place.ingest()
    assert isinstance(done.error, github.Refused)
    assert done.error.status == status
    assert len(fake.asked) == 1


@pytest.mark.long
def test_a_part_that_is_denied_is_named_and_does_not_stop_the_run(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=6)
    fake.fault = lambda _n, a: Fault("status", status=403) if "issues/3/timeline" in a.path else None
    done = place.ingest()
    assert done.outcomes[0].is_complete
    assert dict(done.summary.stages[0].reasons) == {"refused": 1}
    assert sum("issues/3/timeline" in path for path in fake.paths()) == 1


# ---------------------------------------------------------------- answers that are not what they should be


@pytest.mark.parametrize("kind", first_alone(["drop", "status", "cut"]))
def test_what_breaks_once_is_tried_again(place: Place, fake: FakeGithub, kind: str) -> None:
    small_world(fake, threads=6)
    fake.fault = lambda n, _a: Fault(kind) if n % 4 == 3 else None
    done = place.ingest()
    assert done.outcomes[0].is_complete
    assert len(place.layer.documents()) == 6


@pytest.mark.parametrize("kind", first_alone(["html", "garbage", "status", "slow"]))
def test_a_page_of_the_listing_that_cannot_be_had_costs_itself_and_makes_the_run_partial(
    place: Place, fake: FakeGithub, kind: str
) -> None:
    small_world(fake, threads=3)
    fake.fault = lambda _n, a: Fault(kind, seconds=1.2) if "/issues?" in a.path else None
    done = place.ingest()
    assert done.error is None
    assert done.is_partial
    assert f"/repos/{REPO}/issues" in done.summary.figures[REPO]
    assert len(place.layer.documents()) == 3  # GraphQL names them
    fake.fault = lambda _n, _a: None
    assert place.ingest().outcomes[0].is_complete
    assert len(place.layer.documents()) == 3


def test_a_listing_that_leads_to_another_host_is_an_error_with_its_address(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=3)
    fake.fault = lambda _n, a: Fault("abroad") if "/issues?" in a.path else None
    done = place.ingest()
    assert isinstance(done.error, SourceChanged)
    assert f"/repos/{REPO}/issues" in done.error.url
    assert sum("/issues?" in asked.path for asked in fake.asked) == 1  # nobody's mistake: not asked again


@pytest.mark.parametrize("kind", first_alone(["html", "garbage", "abroad", "cut", "status"]))
def test_a_thread_with_a_wrong_answer_is_named_and_brought_by_the_next_run(
    place: Place, fake: FakeGithub, kind: str
) -> None:
    small_world(fake, threads=6)
    fake.fault = lambda _n, a: Fault(kind) if "issues/3/timeline" in a.path else None
    done = place.ingest()
    assert not done.outcomes[0].is_complete
    assert "issues/3/timeline" in done.summary.examples[0].item_id
    assert place.pages(3) == {}
    assert len(place.layer.documents()) == 5
    fake.fault = lambda _n, _a: None
    before = len(fake.asked)
    assert place.ingest().outcomes[0].is_complete
    assert set(place.pages(3)) >= {"main", "timeline"}
    assert not any("issues/5/" in path for path in fake.paths(before))


def test_a_field_that_every_thread_lacks_is_an_error_with_address_and_field(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=7)

    def without_date(value: list[dict[str, object]]) -> list[dict[str, object]]:
        return [{key: item[key] for key in item if key != "updated_at"} for item in value]

    fake.fault = lambda _n, a: Fault("reshape", reshape=without_date) if "/issues?" in a.path else None
    done = place.ingest()
    assert isinstance(done.error, SourceChanged)
    assert "updated_at" in str(done.error)
    assert "/issues" in str(done.error)


def test_a_source_that_is_down_ends_the_run_soon(place: Place, fake: FakeGithub) -> None:
    world_of(fake, 100)
    fake.fault = lambda _n, a: Fault("status") if "/timeline" in a.path else None
    done = place.ingest()
    assert isinstance(done.error, SourceUnreachable)
    assert len(fake.asked) < 40


def test_two_ingests_of_one_home_do_not_talk_at_once(place: Place, fake: FakeGithub) -> None:
    with (
        github.alone(place.folder / ".errmine" / "github", fake.url),
        pytest.raises(Exception, match="another ingest of this home"),
    ):
        place.ingest()


# ---------------------------------------------------------------- gaps between two runs


@pytest.mark.long
def test_a_timeline_that_failed_in_the_comparison_is_brought_by_the_next_run(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=6)
    place.ingest()
    fake.cross_reference(REPO, 5, fake.add("errmine-fixtures/elsewhere", 3, pull=True))
    fake.fault = lambda _n, a: Fault("html") if "issues/5/timeline" in a.path else None
    assert not place.ingest().outcomes[0].is_complete
    fake.fault = lambda _n, _a: None
    assert place.ingest().outcomes[0].is_complete
    assert ("cross_reference", "github.com/errmine-fixtures/elsewhere#3") in links(place.document(5))


@pytest.mark.long
def test_a_mention_outlives_a_run_that_broke_off_before_it_was_followed(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=70)
    fake.has_graphql = False
    place.ingest()
    pull = fake.add(REPO, 71, pull=True, body="Fixes #69, by hand", updated_at=stamp(fake.now()))
    fake.cross_reference(REPO, 69, pull)
    fake.fault = lambda _n, a: Fault("status") if "graphql" in a.path else None
    assert place.ingest().error is not None  # #71 is in raw, #69 was not looked at
    assert ("cross_reference", f"github.com/{REPO}#71") not in links(place.document(69))
    fake.fault = lambda _n, _a: None
    place.ingest()
    assert ("cross_reference", f"github.com/{REPO}#71") in links(place.document(69))


@pytest.mark.long
def test_a_thread_that_failed_once_comes_within_the_same_run_with_its_references(
    place: Place, fake: FakeGithub
) -> None:
    small_world(fake, threads=4)
    failed: list[str] = []

    def once(_count: int, asked: Asked) -> Fault | None:
        if "issues/4/timeline" in asked.path and not failed:
            failed.append(asked.path)
            return Fault("garbage")
        return None

    fake.fault = once
    done = place.ingest()
    assert done.outcomes[0].is_complete
    assert ("closes", f"github.com/{REPO}#3") in links(place.document(4))


@pytest.mark.long
def test_what_was_imported_before_is_completed_not_doubled(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=4)
    file = place.folder / "dump.jsonl"
    rows = [thread.issue for _, thread in sorted(fake.repo(REPO).threads.items())]
    file.write_text("\n".join(json.dumps(row) for row in rows))
    place.layer.append(archive.pages([file]))
    place.ingest()
    assert len(place.layer.documents()) == 4
    document = place.document(1)
    assert isinstance(document, Document)
    assert sum(post.kind == "comment" for post in document.posts) == 231
