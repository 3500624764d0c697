"""Distil: who says a statement, about which error, and what later posts do to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline import distil
from pipeline.distil import tables
from pipeline.distil.claims import rules
from pipeline.records import Document
from tests.distil_factory import claims, document, events, occurrences
from tests.each import each

CRASH = "RuntimeError: the first pool of the fixture is empty"
OTHER = "ValueError: the second wheel does not fit the fixture"


def _thread(*posts: str, title: str = "The fixture crashes", is_lossy: bool = False) -> Document:
    rows: list[dict[str, Any]] = [
        {"kind": "title", "text": title},
        {"kind": "body", "text": posts[0], "author": "asks"},
    ]
    rows += [{"kind": "comment", "text": text, "author": f"helps {n}"} for n, text in enumerate(posts[1:])]
    return replace(document({"number": 7, "kind": "issue", "posts": rows}), is_lossy=is_lossy)


def _read(*posts: str, **more: Any) -> distil.Reading:
    made = _thread(*posts, **more)
    return distil.read(made, *events(made))


def _shown(*errors: str) -> str:
    return "\n\n".join(
        f'```\nTraceback (most recent call last):\n  File "a.py", line 3, in run\n{e}\n```' for e in errors
    )


def _made(read: distil.Reading) -> list[tuple[str, str | None, str]]:
    return [(c.kind, c.outcome, c.quote.text) for c in read.claims if c.kind in {"cause", "remedy", "fix"}]


def _reasons(read: distil.Reading) -> list[str]:
    return [skipped.reason for skipped in read.skipped]


# ---------------------------------------------------------------- whose words


PRINTED = [
    'It says "Failed to fill the pool. You can set `FIXTURE_POOL=2` to have more.", and I do not know why.',
    "DEPRECATION: Fixture 2.7 will reach its end. Please upgrade to numpy==1.21.0 before that date.",
    "2024-04-26 01:58:58,742 WARNING services.py:1996 -- Memory is low. You can set `FIXTURE_POOL=2` to have more.",
    "lib/auto.py:590: FutureWarning: The old argument goes. Please use `numpy==1.21.0` instead",
    "-- VTK is not found. Please set -DVTK_DIR=/opt/vtk in the build",
]


@each("line", PRINTED)
def test_advice_of_a_pasted_line_is_a_programs(line: str) -> None:
    read = _read(_shown(CRASH), f"This is what I get:\n{line}\nand then it stops.")
    assert _made(read) == []
    assert _reasons(read) == ["printed"]


def test_advice_of_a_list_is_a_persons() -> None:
    read = _read(_shown(CRASH), "- Please use numpy==1.21.0 instead.")
    assert [kind for kind, _, _ in _made(read)] == ["remedy"]


def test_who_opens_a_report_gives_no_advice_to_its_reader() -> None:
    advice = "You can set `FIXTURE_POOL=2` to have more memory."
    assert _reasons(_read(f"{_shown(CRASH)}\n\n{advice}")) == ["no_answer"]
    assert [text for _, _, text in _made(_read(_shown(CRASH), advice))] == [advice]


@pytest.mark.parametrize(
    "title", ["Please use `FIXTURE_POOL=2` by default", "The workaround is to set `FIXTURE_POOL=2`"]
)
def test_a_title_wishes(title: str) -> None:
    assert _made(_read(_shown(CRASH), title=title)) == []


# ---------------------------------------------------------------- about which error


CAUSE = "The reason is that the pool of the loader is smaller than its batch."


def _about(*posts: str, **more: Any) -> list[str]:
    made = _thread(*posts, **more)
    of = {o.signature_id: o.quote.text for o in occurrences(made)}
    return [of[signature] for c in claims(made) if c.kind == "cause" for signature in c.signature_ids]


def test_who_answers_with_an_error_of_his_own_tells_of_two() -> None:
    assert _about(_shown(CRASH), f"{_shown(OTHER)}\n\n{CAUSE}") == []
    assert _about(_shown(CRASH), f"{CAUSE}\n\n{_shown(OTHER)}") == []


def test_a_report_speaks_of_the_error_that_it_has_shown() -> None:
    assert _about(f"{_shown(OTHER)}\n\n{CAUSE}", _shown(CRASH)) == [OTHER]
    assert _about(f"{CAUSE}\n\n{_shown(OTHER)}", _shown(CRASH)) == []


def test_what_was_tried_before_another_error_is_announced_is_not_about_that_one() -> None:
    assert _about(f"{CAUSE}\n\nWith the second flag I get another error:\n\n{_shown(CRASH)}") == []
    assert _about(f"{CAUSE}\n\nWith the second flag I get this:\n\n{_shown(CRASH)}") == [CRASH]


def test_a_fix_is_of_the_report_whatever_its_own_post_prints() -> None:
    made = _thread(_shown(CRASH), f"{_shown(OTHER)}\n\nThe report is fixed in version 2.3.1.")
    of = {o.signature_id: o.quote.text for o in occurrences(made)}
    assert [of[one] for c in claims(made) if c.kind == "fix" for one in c.signature_ids] == [CRASH]


def test_once_somebody_else_has_shown_an_error_nothing_says_which_is_meant() -> None:
    for posts in ((_shown(CRASH), _shown(OTHER), CAUSE), (_shown(CRASH), _shown(OTHER), "I see it too.", CAUSE)):
        assert _reasons(_read(*posts)) == ["unclear_subject"]


def test_the_only_error_is_meant_where_the_report_shows_it_or_its_title_names_it() -> None:
    assert _about(_shown(CRASH), CAUSE) == [CRASH]
    assert _about("It stops here.", _shown(CRASH), CAUSE, title="It stops") == []
    assert _about("It stops here.", _shown(CRASH), CAUSE, title="The fixture crashes with an empty pool") == [CRASH]


def test_a_statement_is_about_the_report_where_nobody_else_shows_an_error() -> None:
    assert _about(_shown(CRASH), "I see it too.", CAUSE, _shown(OTHER)) == [CRASH]


def test_a_statement_that_may_answer_several_is_withheld() -> None:
    for posts in (
        (_shown(CRASH), _shown(OTHER), "I see it too.", CAUSE),
        (f"{_shown(CRASH)}\n\nAnd on the other card I get this one:\n\n{_shown(OTHER)}", CAUSE),
    ):
        read = _read(*posts)
        assert _made(read) == []
        assert _reasons(read) == ["unclear_subject"]


def test_before_anybody_shows_an_error_people_speak_of_something_else() -> None:
    read = _read("It is slow here.", CAUSE, _shown(CRASH))
    assert _made(read) == []
    assert _reasons(read) == ["unclear_subject"]


def test_the_original_error_is_that_of_the_report() -> None:
    named = "The original problem is caused by a wheel of the wrong second size."
    assert _about(_shown(CRASH), _shown(OTHER), named) == [CRASH]


def test_words_that_any_error_has_name_none() -> None:
    named = "The error is caused by a wheel of the wrong second size."
    assert _about(_shown(CRASH), _shown("Error: the disk is full"), named) == []


def test_a_statement_names_its_error() -> None:
    named = "The ValueError is caused by a wheel of the wrong second size in the fixture."
    assert _about(_shown(CRASH), _shown(OTHER), "I see it too.", named) == [OTHER]


def test_a_title_tells_in_short_what_the_body_shows() -> None:
    title = "RuntimeError: the first pool is empty in the second fixture"
    assert _about(_shown(CRASH), CAUSE, title=title) == [CRASH]


def test_a_report_is_fixed_as_a_whole() -> None:
    both = f"{_shown(CRASH)}\n\nAnd on the other card I get this one:\n\n{_shown(OTHER)}"
    fixes = [c for c in _read(both, "Fixed in #12.").claims if c.kind == "fix"]
    assert [len(c.signature_ids) for c in fixes] == [2]
    assert _reasons(_read(both, _shown("KeyError: 'third'"), "I see it.", "Fixed in #12.")) == ["unclear_subject"]


def test_of_the_errors_of_a_log_the_one_is_meant_that_the_title_names() -> None:
    between = "2024-04-26 01:58:58 INFO next.py:3 stopping"
    head = 'Traceback (most recent call last):\n  File "a.py", line 3, in run'
    log = f"```\n{CRASH}\n{between}\n{head}\n{OTHER}\n```"
    assert _about(log, CAUSE) == []
    assert _about(log, CAUSE, title=OTHER) == [OTHER]
    assert _about(log, CAUSE, title=CRASH) == [CRASH]


# ---------------------------------------------------------------- later posts


@each("row", list(tables.table("cues.toml")["refutation"]))
def test_a_refutation_finds_its_examples_and_no_look_alike(row: dict[str, Any]) -> None:
    rule = next(r for r in tables.refutations() if r.rule == row["id"])
    takes_back = {text: bool(rule.pattern.search(text) and not rule.refuse.search(text)) for text in row["examples"]}
    assert all(takes_back.values()), takes_back
    leaves = {text: bool(rule.pattern.search(text) and not rule.refuse.search(text)) for text in row["lookalikes"]}
    assert not any(leaves.values()), leaves


def test_what_helped_does_not_say_that_the_error_stays() -> None:
    table = tables.table("cues.toml")["no_help"]
    assert all(map(tables.persists().search, table["examples"]))
    assert not any(map(tables.persists().search, table["lookalikes"]))


def test_who_met_the_same_error_does_not_say_that_it_stays() -> None:
    table = tables.table("cues.toml")["no_help"]
    assert not any(map(rules.persists, table["own_cases"]))
    assert all(map(rules.persists, table["no_own_cases"]))


def test_what_narrows_a_fix_finds_its_examples_and_no_look_alike() -> None:
    table = tables.table("cues.toml")["narrowed"]
    pattern, refuse = tables.narrowed()
    for row in ("examples", "lookalikes"):
        for text in table[row]:
            assert bool(pattern.search(text) and not refuse.search(text)) == (row == "examples"), text


def test_what_contests_an_act_finds_its_examples_and_no_look_alike() -> None:
    table = tables.table("cues.toml")["contested"]
    pattern, refuse = tables.contested()
    contests = {one: bool(pattern.search(one) and not refuse.search(one)) for one in table["examples"]}
    assert all(contests.values()), contests
    leaves = {one: bool(pattern.search(one) and not refuse.search(one)) for one in table["lookalikes"]}
    assert not any(leaves.values()), leaves


def test_who_agrees_to_the_post_before_is_told_from_who_goes_on() -> None:
    table = tables.table("cues.toml")["agrees"]
    pattern, refuse = tables.agrees()
    agrees = {one: bool(pattern.search(one) and not refuse.search(one)) for one in table["examples"]}
    assert all(agrees.values()), agrees
    leaves = {one: bool(pattern.search(one) and not refuse.search(one)) for one in table["lookalikes"]}
    assert not any(leaves.values()), leaves


PLAIN_CAUSES = [
    ("The root cause is a race between two tills.", True),
    ("This happens because the counter is never reset.", True),
    ("This is caused by two processes writing the same file.", True),
    ("The root cause is a missing lock: two processes write the same file at once.", True),
    ("The problem is that the printer closes the socket after ten seconds.", True),
    ("这是因为计数器没有重置。", True),
    ("原因是连接池在关闭后仍被使用。", True),
    ("I think the root cause is a race between two tills.", False),
    ("Is the root cause a race between two tills?", False),
    ("The root cause is not known yet, we are still looking at the logs.", False),
    ("That other error is caused by an old driver of the printer.", False),
    ("This is because of this.", False),
    ("The reason is described in the ticket that I linked.", False),
    ("If this is caused by the lock file, please remove it.", False),
    ("可能是因为证书过期导致的。", False),
    ("另一个报错是因为打印机驱动太旧。", False),
]


@each("said,is_cause", PLAIN_CAUSES)
def test_a_maintainer_s_plain_cause_stands_and_what_only_looks_like_one_does_not(said: str, is_cause: bool) -> None:
    rows = [
        {"kind": "title", "text": "The fixture crashes"},
        {"kind": "body", "text": _shown(CRASH), "author": "asks"},
        {"kind": "comment", "text": said, "author": "helps", "role": "MEMBER"},
    ]
    causes = [one for one in claims(document({"number": 7, "kind": "issue", "posts": rows})) if one.kind == "cause"]
    assert [one.doubt for one in causes] == [None] * is_cause


@pytest.mark.parametrize(
    ("later", "doubt"),
    [("Indeed, thanks for finding it!", None), ("Which version is that?", 50), ("This is fixed by #12.", 50)],
)
def test_a_cause_that_the_next_post_agrees_to_is_not_in_doubt(later: str, doubt: int | None) -> None:
    told = "This happens because the counter of the page is never reset."
    assert [one.doubt for one in claims(_thread(_shown(CRASH), told, later)) if one.kind == "cause"] == [doubt]


TAKEN_BACK = [
    ("Sorry, that was not it.", ["refuted"]),
    ("I was wrong, the pool is large enough.", ["refuted"]),
    ("It still fails without the loader, whatever the pool.", ["refuted"]),
    # it speaks of something else, asks, or agrees
    ("It still fails with the old compiler on my second machine.", []),
    ("Does it still fail without the loader and its pool?", []),
    ("Yes, that was it.", []),
]


@each("later,reasons", TAKEN_BACK)
def test_a_later_post_takes_a_cause_back(later: str, reasons: list[str]) -> None:
    read = _read(_shown(CRASH), CAUSE, "Thanks, I will look.", later)
    assert _reasons(read) == reasons
    assert bool(_made(read)) is not bool(reasons)


@each("later", ["That (the size of my pool) was not the issue.", "Sorry, this isn't the problem."])
def test_a_later_post_takes_advice_back(later: str) -> None:
    assert _reasons(_read(_shown(CRASH), "You can set `FIXTURE_POOL=2` to have more memory.", later)) == ["refuted"]


def test_doubt_is_no_advice() -> None:
    assert _made(_read(_shown(CRASH), "You should also try Python 3.7, but I don't think this is the problem.")) == []


VAGUE = [
    "Please upgrade TensorFlow.",
    "You can use `fixture_pool` here.",
    "Just edit pool.py.",
]


@each("advice", VAGUE)
def test_advice_that_says_too_little_needs_somebody_whom_it_helped(advice: str) -> None:
    assert _made(_read(_shown(CRASH), advice)) == []


def test_an_upgrade_that_helped_is_published() -> None:
    assert [o for _, o, _ in _made(_read(_shown(CRASH), "Upgrading TensorFlow fixed it for me."))] == ["worked"]


def test_a_refutation_reaches_the_nearest_statement_only() -> None:
    nearer = "The cause was a stale lock file in the cache folder."
    read = _read(_shown(CRASH), CAUSE, nearer, "Sorry, that was not it.")
    assert [text for _, _, text in _made(read)] == [CAUSE]


def test_a_refutation_three_posts_on_answers_something_else() -> None:
    read = _read(_shown(CRASH), CAUSE, "a", "b", "c", "Sorry, that was not it.")
    assert [text for _, _, text in _made(read)] == [CAUSE]


HELPED = "Setting `FIXTURE_POOL=2` fixed it."


@each("said", [
    f"{HELPED} Edit: no, it came back after an hour.",
    f"{HELPED}\n\nEDIT: still happens.",
    f"{HELPED} Never mind, it still fails.",
    f"{HELPED} It came back after a day.",
    "Setting `FIXTURE_POOL=2` fixed it for a day, then it came back.",
    "设置 `FIXTURE_POOL=2` 后问题解决了。更新：又出现了。",
    "设置 `FIXTURE_POOL=2` 后问题解决了，过了一天又出现了。",
    f"~~{HELPED}~~",
    f"<del>{HELPED}</del> No.",
])  # fmt: skip
def test_who_takes_back_what_helped_in_the_same_post_says_nothing(said: str) -> None:
    assert _made(_read(_shown(CRASH), said)) == []


@each("said", [
    f"{HELPED} Edit: it works on the second machine as well.",
    f"{HELPED}\n\nEdit: without the flag it still fails.",
    f"{HELPED} But I still get a warning.",
    "设置 `FIXTURE_POOL=2` 后问题解决了。更新：没有再次出现。",
    f"~~Restarting it twice fixed it.~~ {HELPED}",
    f"<del>Restarting it twice fixed it.</del>\n{HELPED}",
    f"{HELPED} The files are ~/a~~ and ~/b~~ here.",
])  # fmt: skip
def test_what_helped_stands_where_its_post_only_adds_to_it(said: str) -> None:
    assert [outcome for _, outcome, _ in _made(_read(_shown(CRASH), said))] == ["worked"]


def test_a_later_post_that_edits_itself_takes_back_only_its_own_words() -> None:
    assert _made(_read(_shown(CRASH), HELPED, "Thanks, I will look. Edit: still happens.")) != []


FIXED = "This is fixed in 2.4.1."


@each("later,is_refuted", [
    ("I am still getting the same error in 2.4.1.", True),
    ("The issue persists with 2.4.1, see my log.", True),
    ("I am still getting the same error in 2.3.", False),
    ("Does it still fail in 2.4.1?", False),
    ("Thanks, 2.4.1 works.", False),
])  # fmt: skip
def test_a_version_in_which_somebody_still_meets_it_did_not_fix_it(later: str, is_refuted: bool) -> None:
    read = _read(_shown(CRASH), FIXED, later)
    assert ("fix" not in [kind for kind, _, _ in _made(read)]) is is_refuted
    assert ("refuted" in _reasons(read)) is is_refuted


def test_a_line_of_releases_is_no_version() -> None:
    assert not [c for c in _read(_shown(CRASH), "This is fixed in the 2.4.X branch.").claims if c.kind == "fix"]


SEVERAL = "As a hotfix you can try to:\n\nuse a larger table\nset FIXTURE_POOL=2\ncall it twice"


@each("advice,count", [(SEVERAL, 0), ("Please try this:\n\nset FIXTURE_POOL=2", 1), ("set FIXTURE_POOL=2", 1)])
def test_a_reply_to_one_of_several_announced_lines_may_mean_any(advice: str, count: int) -> None:
    made = _made(_read(_shown(CRASH), advice, "That worked, thanks!"))
    assert [outcome for _, outcome, _ in made] == ["worked"] * count


def test_what_helped_one_and_failed_the_next_counts_both() -> None:
    helped = "Setting `FIXTURE_POOL=2` fixed it for me."
    read = _read(_shown(CRASH), helped, "I am still getting the same error with that change.")
    assert [(outcome, text) for _, outcome, text in _made(read)] == [("worked", helped), ("failed", helped)]


# ---------------------------------------------------------------- what a page lost


def test_a_hole_counts_only_where_the_page_was_rendered() -> None:
    cause = "The problem is that the loader calls  before the pool is there."
    assert _reasons(_read(_shown(CRASH), cause, is_lossy=True)) == ["hole"]
    assert [text for _, _, text in _made(_read(_shown(CRASH), cause))] == [cause]


def test_a_sentence_begins_behind_the_mark_of_a_lost_name() -> None:
    read = _read(_shown(CRASH), ", " + CAUSE, is_lossy=True)
    assert [text for _, _, text in _made(read)] == [CAUSE]


@pytest.mark.parametrize(
    "said",
    [
        "I think the root cause is that the pool of the loader is too small.",
        "The root cause is probably that the pool of the loader is too small.",
        "This could be fixed by setting `POOL_SIZE=8` in the loader.",
    ],
)
def test_a_guess_is_no_cause_and_what_could_help_did_not(said: str) -> None:
    assert [c for c in claims(_thread(_shown(CRASH), said)) if c.kind == "cause" or c.outcome == "worked"] == []


def test_how_an_act_of_its_own_is_told_finds_its_examples_and_no_look_alike() -> None:
    row = tables.table("cues.toml")["own_act"]
    assert [one for one in row["examples"] if not tables.tells_an_act().match(one)] == []
    assert [one for one in row["lookalikes"] if tables.tells_an_act().match(one)] == []


def test_how_a_post_warns_of_advice_finds_its_examples_and_no_look_alike() -> None:
    row = tables.table("cues.toml")["warns"]
    warns, points = tables.warns_of_advice()
    assert [one for one in row["examples"] if not warns.match(one)] == []
    assert [one for one in row["lookalikes"] if warns.match(one)] == []
    assert [one for one in row["pointing"] if not points.search(one)] == []
    assert [one for one in row["no_pointing"] if points.search(one)] == []
