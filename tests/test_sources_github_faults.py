"""Every fault of the table, alone and all at once: the documents are those of a clean run, within few runs.

Nobody waits here: slow answers turn on the clock that the client is given. `python -m benchmarks.faults` is the large
form.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.providers.github.fetch import paging, work
from pipeline.providers.github.fetch.governor import Governor
from pipeline.records import Document
from pipeline.records.errors import RateLimited, SourceUnreachable
from tests.fake_faults import FAULTS, Altered, at_rate, of_all, small_bodies
from tests.fake_github import Asked, FakeGithub, Fault, small_world, stamp
from tests.github_home import REPO, Place
from tests.rings import first_alone, one_in, quick_alone

# Faults on two answers of five, four tries of each answer: no seed that was tried took more than five runs.
MOST_RUNS = 8
LISTING = "/issues?"


@pytest.fixture(scope="module")
def world() -> Iterator[FakeGithub]:
    with FakeGithub() as made, small_bodies():
        small_world(made, threads=6)
        made.limit = 10**9
        yield made


@pytest.fixture(scope="module")
def clean(world: FakeGithub, tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("clean"), world)
    assert place.ingest().outcomes[0].is_complete
    return place


@pytest.fixture
def fake() -> Iterator[FakeGithub]:
    with FakeGithub() as made, small_bodies():
        yield made


def runs_needed(place: Place, fault: Callable[[int, Asked], Fault | None]) -> int:
    """Runs until one is complete; then nothing goes wrong any more."""
    place.fake.fault = fault
    try:
        for count in range(1, MOST_RUNS + 1):
            if place.ingest(governor={"max_wait_seconds": 1e9}).outcomes[0].is_complete:
                return count
    finally:
        place.fake.fault = lambda _count, _asked: None
    raise AssertionError(f"not complete after {MOST_RUNS} runs")


def progress(place: Place) -> dict[str, Any]:
    with ledger(place) as found:
        return json.loads(found.execute("SELECT value FROM progress ORDER BY version DESC").fetchone()[0])


def ledger(place: Place) -> sqlite3.Connection:
    return sqlite3.connect(next((place.folder / ".errmine").rglob("*.sqlite")))


# ---------------------------------------------------------------- the table


@pytest.mark.parametrize("name", one_in(12, sorted(FAULTS)))
def test_two_answers_of_five_with_one_fault_end_in_what_a_clean_run_has(
    world: FakeGithub, clean: Place, tmp_path: Path, name: str
) -> None:
    place = Place(tmp_path, world)
    assert runs_needed(place, at_rate(name, 0.4, seed=1)) <= MOST_RUNS
    assert place.documents() == clean.documents()
    if name != "items twice":
        assert place.content() == clean.content()


@pytest.mark.long
@pytest.mark.parametrize(("rate", "seed"), [(0.15, 1), (0.4, 2)])
def test_all_faults_at_once_end_in_what_a_clean_run_has(
    world: FakeGithub, clean: Place, tmp_path: Path, rate: float, seed: int
) -> None:
    place = Place(tmp_path, world)
    assert runs_needed(place, of_all(rate, seed)) <= MOST_RUNS
    assert place.documents() == clean.documents()


# ---------------------------------------------------------------- marks


@pytest.mark.parametrize("name", first_alone(["Date a year ahead", "Date an hour ahead"]))
def test_a_date_in_the_future_hides_nothing_that_changes_later(place: Place, fake: FakeGithub, name: str) -> None:
    small_world(fake, threads=5)
    fake.fault = at_rate(name, 1.0, seed=1)
    assert place.ingest().outcomes[0].is_complete
    assert progress(place)["watermark"] < stamp(fake.now())
    fake.fault = lambda _count, _asked: None
    fake.has_graphql = False  # the listing alone must tell
    fake.sleep(60)
    fake.comment(REPO, 2, "Later than the answer, earlier than its date")
    fake.add(REPO, 9, updated_at=stamp(fake.now()))
    assert place.ingest().outcomes[0].is_complete
    assert "earlier than its date" in place.document(2).text  # type: ignore[union-attr]
    assert isinstance(place.document(9), Document)


def test_a_mark_is_not_later_than_what_was_seen_though_this_machines_clock_is_ahead(
    place: Place, fake: FakeGithub
) -> None:
    small_world(fake, threads=5)
    ahead = {"clock": lambda: fake.now() + 3 * 86_400}
    assert place.ingest(governor=ahead).outcomes[0].is_complete
    newest = max(thread.issue["updated_at"] for thread in fake.repo(REPO).threads.values())
    assert progress(place)["watermark"] <= newest


@pytest.mark.parametrize("hours", [1, 72])
def test_a_clock_that_was_set_back_hides_nothing_for_good(place: Place, fake: FakeGithub, hours: int) -> None:
    """By an hour, as many are at times, nothing is missed; by days, what changed since is refused until it is right."""
    small_world(fake, threads=5)
    assert place.ingest().outcomes[0].is_complete
    fake.comment(REPO, 2, "Said while the clock was wrong", at=fake.now() - 60)
    (outcome,) = place.ingest(governor={"clock": lambda: fake.now() - hours * 3_600}).outcomes
    assert outcome.is_complete == (hours == 1)
    assert ("Said while" in place.document(2).text) == (hours == 1)  # type: ignore[union-attr]
    assert place.ingest().outcomes[0].is_complete
    assert "Said while" in place.document(2).text  # type: ignore[union-attr]
    newest = max(thread.issue["updated_at"] for thread in fake.repo(REPO).threads.values())
    assert progress(place)["watermark"] <= newest


@pytest.mark.parametrize("version", first_alone([1, 2]))
@pytest.mark.parametrize("ahead_seconds", first_alone([3 * 86_400, -60]))
def test_a_poisoned_mark_of_a_kept_ledger_heals_at_the_next_run(
    place: Place, fake: FakeGithub, version: int, ahead_seconds: int
) -> None:
    """What an answer with a wrong date left behind; that of version 1 may look right by now."""
    small_world(fake, threads=5)
    fake.has_graphql = False
    place.ingest()
    poisoned = progress(place) | {"watermark": stamp(fake.now() + ahead_seconds)}
    if version == 2 and ahead_seconds < 0:
        return  # this version leaves none that looks right
    with ledger(place) as found:
        found.execute("DELETE FROM progress")
        found.execute("INSERT INTO progress VALUES (?, ?)", (version, json.dumps(poisoned)))
    fake.comment(REPO, 2, "Hidden by the mark", at=fake.now() - 3_600)
    assert place.ingest().outcomes[0].is_complete
    assert "Hidden by the mark" in place.document(2).text  # type: ignore[union-attr]
    assert progress(place)["watermark"] < stamp(fake.now())


@pytest.mark.long
def test_marks_that_are_no_times_cost_a_reading_of_the_listing(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=3)
    place.ingest()
    for wrong in ("zzzz", 7, "2024-01-01", "9999-99-99T99:99:99Z", "2024-19-39T29:59:59Z"):
        with ledger(place) as found:
            value = json.dumps(progress(place) | {"watermark": wrong})
            found.execute("INSERT OR REPLACE INTO progress VALUES (2, ?)", (value,))
        assert place.ingest().outcomes[0].is_complete
        assert (progress(place)["watermark"] or "") < stamp(fake.now())  # "": all was 304, nothing was seen


@pytest.mark.long
def test_a_thread_that_changed_in_the_future_neither_moves_the_mark_nor_hides_the_true_one(
    place: Place, fake: FakeGithub
) -> None:
    small_world(fake, threads=4)
    thread = fake.repo(REPO).threads[2].issue
    true = thread["updated_at"]
    for wrong in ("2199-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "2024-01-01T00:00:00", 12, None):
        thread["updated_at"] = wrong if isinstance(wrong, str) else stamp(fake.now())
        bad = lambda value, wrong=wrong: [{**x, "updated_at": wrong} if x["number"] == 2 else x for x in value]  # noqa: E731
        only = lambda value, wrong=wrong: {**value, "updated_at": wrong} if isinstance(value, dict) else value  # noqa: E731
        fake.fault = lambda _n, a: (
            Altered(value=bad) if LISTING in a.path else Altered(value=only) if a.path.endswith("issues/2") else None  # noqa: B023
        )
        done = place.ingest()
        assert done.error is None
        assert place.pages(2) == {}
        assert {refs.document_key[-1] for refs in place.layer.documents()} == {"1", "3", "4"}
    thread["updated_at"] = true
    fake.fault = lambda _count, _asked: None
    assert place.ingest().outcomes[0].is_complete
    assert isinstance(place.document(2), Document)


# ---------------------------------------------------------------- lists without an end


def endless(kind: str) -> Callable[[FakeGithub, Asked], dict[str, str]]:
    """A next page for every page: itself, the other of two, or one that never was."""

    def following(fake: FakeGithub, asked: Asked) -> dict[str, str]:
        plain, _, turn = asked.path.partition("&turn=")
        number = {"itself": turn, "ring": "2" if turn == "1" else "1"}.get(kind, str(int(turn or 0) + 1))
        return {"Link": f'<http://{fake.host}{plain}{f"&turn={number}" if number else ""}>; rel="next"'}

    return following


@pytest.mark.parametrize("kind", quick_alone(["itself", "ring", "the same again", "empty"], ["ring"]))
@pytest.mark.parametrize(
    "where", first_alone([LISTING, "/issues/1/timeline", "/issues/1/comments", "/pulls/4/reviews"])
)
def test_a_list_that_leads_on_for_ever_ends_and_costs_itself_only(
    place: Place, fake: FakeGithub, where: str, kind: str
) -> None:
    small_world(fake, threads=5)
    change = (lambda _value: []) if kind == "empty" else (lambda value: value[:50])
    wrong = lambda: Altered(headers=endless(kind), value=change)  # noqa: E731
    fake.fault = lambda _n, a: wrong() if where in a.path else None
    done = place.ingest()
    assert done.error is None
    assert done.is_partial
    assert sum(where in asked.path for asked in fake.asked) <= 4 * paging.MOST_BARREN
    assert len(place.layer.documents()) >= 4
    fake.fault = lambda _count, _asked: None
    assert place.ingest().outcomes[0].is_complete
    assert len(place.layer.documents()) == 5


def test_a_list_with_ever_new_items_ends_at_a_cap(
    place: Place, fake: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.providers.github.fetch import conditional_pages

    monkeypatch.setattr(conditional_pages, "MOST_PART_PAGES", 20)
    small_world(fake, threads=3)
    new = iter(range(10**6, 10**7))
    wrong = lambda value: [{**value[0], "id": next(new)}] if value else value  # noqa: E731
    fake.fault = lambda _n, a: Altered(headers=endless("new"), value=wrong) if "1/timeline" in a.path else None
    assert place.ingest().is_partial
    assert sum("1/timeline" in asked.path for asked in fake.asked) == 2 * 20  # and once more by itself
    assert len(place.layer.documents()) == 2


def test_cursors_of_graphql_that_lead_round_end(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=4)

    def again(value: Any) -> Any:
        value["data"]["repository"]["threads"]["pageInfo"] = {"hasNextPage": True, "endCursor": "100"}
        return value

    fake.fault = lambda _n, a: Altered(value=again) if "graphql" in a.path else None
    done = place.ingest()
    assert done.is_partial
    assert len(fake.asked) < 40
    fake.fault = lambda _count, _asked: None
    assert place.ingest().outcomes[0].is_complete


# ---------------------------------------------------------------- one bad item


def untitled(value: Any) -> Any:
    """Thread 2 without a title, wherever it is."""
    if isinstance(value, list):
        return [untitled(item) for item in value]
    return {**value, "title": None} if isinstance(value, dict) and value.get("number") == 2 else value


def of_thread_two(asked: Asked) -> bool:
    return LISTING in asked.path or asked.path.endswith("/issues/2")


def test_one_bad_item_is_skipped_with_its_address_and_later_runs_come_to_an_end(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=6)
    fake.fault = lambda _n, a: Altered(value=untitled) if of_thread_two(a) else None
    for _ in range(work.MOST_RUNS - 1):
        done = place.ingest()
        assert done.is_partial
        assert [item.item_id.rpartition("/repos/")[2] for item in done.summary.examples] == [f"{REPO}/issues/2"]
        assert len(place.layer.documents()) == 5
    for _ in range(2):
        done = place.ingest()
        assert done.outcomes[0].is_complete
        assert "issues/2" in done.summary.examples[0].item_id  # named in every run
    fake.fault = lambda _count, _asked: None  # mended, without a change of date
    assert place.ingest().outcomes[0].is_complete
    assert isinstance(place.document(2), Document)
    assert place.ingest().summary.examples == ()


def test_a_bad_item_does_not_hold_the_watermark_back(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=6)
    fake.fault = lambda _n, a: Altered(value=untitled) if of_thread_two(a) else None
    assert place.ingest().is_partial
    assert progress(place)["watermark"] is not None


@pytest.mark.parametrize(
    "nameless",
    first_alone([7, None, "text", [], {}, {"number": "2"}, {"number": True}, {"number": 2, "html_url": "http://["}]),
)
def test_an_item_that_does_not_say_which_thread_it_is_keeps_the_listing_to_be_read(
    place: Place, fake: FakeGithub, nameless: Any
) -> None:
    small_world(fake, threads=6)
    fake.has_graphql = False
    change = lambda value: [nameless if item["number"] == 2 else item for item in value]  # noqa: E731
    fake.fault = lambda _n, a: Altered(value=change) if LISTING in a.path else None
    done = place.ingest()
    assert done.error is None
    assert done.is_partial
    assert LISTING in done.summary.examples[0].item_id
    assert progress(place)["watermark"] is None
    assert len(place.layer.documents()) == 5
    fake.fault = lambda _count, _asked: None
    assert place.ingest().outcomes[0].is_complete
    assert len(place.layer.documents()) == 6


def test_a_bad_comment_costs_its_thread_until_it_is_given_up_and_then_itself(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=5)
    wrong = lambda value: [{**value[0], "id": None}, *value[1:]]  # noqa: E731
    fake.fault = lambda _n, a: Altered(value=wrong) if "issues/2/comments" in a.path else None
    for _ in range(work.MOST_RUNS - 1):
        assert place.ingest().is_partial
        assert place.pages(2) == {}
    done = place.ingest()
    assert done.outcomes[0].is_complete
    assert "issues/2/comments" in done.summary.examples[0].item_id
    assert "Also seen here" in place.document(2).text  # type: ignore[union-attr]


def test_a_repository_whose_own_page_is_wrong_is_read_by_the_name_that_is_known(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=3)
    for wrong in ("../secret", "a/b/c", 7, None):
        change = lambda value, wrong=wrong: {**value, "full_name": wrong}  # noqa: E731
        fake.fault = lambda _n, a: Altered(value=change) if a.path.endswith(REPO) else None  # noqa: B023
        done = place.ingest()
        assert isinstance(done.error, Exception)
        assert done.error.exit_code == 3
    fake.fault = lambda _count, _asked: None
    place.ingest()
    fake.comment(REPO, 2, "Still read")
    fake.fault = lambda _n, a: Altered(value=lambda _value: []) if a.path.endswith(REPO) else None
    assert place.ingest().outcomes[0].is_complete
    assert "Still read" in place.document(2).text  # type: ignore[union-attr]


def test_an_answer_about_another_thread_buries_nothing(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=5)
    place.ingest()
    other = fake.repo(REPO).threads[3].issue
    fake.repo(REPO).threads[2].fate = ("deleted", None)
    fake.fault = lambda _n, a: Altered(status=200, value=lambda _v: other) if a.path.endswith("/issues/2") else None
    assert place.ingest().is_partial
    assert "tombstone" not in place.pages(2)
    fake.fault = lambda _count, _asked: None
    assert place.ingest().outcomes[0].tombstones == 1


# ---------------------------------------------------------------- budgets


def test_a_server_that_drips_is_left_after_the_time_for_all_tries(place: Place, fake: FakeGithub) -> None:
    small_world(fake, threads=20)
    fake.fault = lambda _n, a: Altered(pause_after=40) if "/timeline" in a.path else None
    done = place.ingest()
    assert isinstance(done.error, SourceUnreachable)
    assert "takes longer" in str(done.error)
    assert sum("/timeline" in asked.path for asked in fake.asked) == 5 * 3  # 3.1 s of 7.5 s, five threads in a row


def test_a_server_that_says_a_second_for_ever_is_believed_three_times() -> None:
    waits: list[float] = []
    governor = Governor(max_wait_seconds=3_900, clock=lambda: 1.8e9, sleep=waits.append, jitter=lambda: 0.0)
    for _ in range(9):
        governor.back_off({"Retry-After": "0"}, "url")
    with pytest.raises(RateLimited):
        governor.back_off({"Retry-After": "0"}, "url")
    assert waits == [1, 1, 1, 60, 120, 240, 480, 960, 1920]
