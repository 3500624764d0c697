"""Statements that are not sure enough to be said: they are leads, and nothing is lost from the page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline import distil
from pipeline.distil.claims import reading
from pipeline.distil.claims.candidates import Reader
from pipeline.records import Claim, Document
from pipeline.run import shards
from pipeline.run.build import reduce
from tests.distil_factory import document, events

FIRST = 'Traceback (most recent call last):\n  File "a.py", line 3, in run\nValueError: the second wheel does not fit'
OTHER = 'Traceback (most recent call last):\n  File "b.py", line 9, in go\nKeyError: the pool of the fixture is empty'
BARE = "FATAL: spinner gave up on the third wheel"
WORKED = "Setting `FIXTURE_POOL=2` fixed it for me."
WHY = "The root cause is that the loader reads the name of the wheel before it is set."


def _thread(*comments: str, title: str = "The fixture stops", body: str = FIRST, role: str = "NONE") -> Document:
    rows: list[dict[str, Any]] = [
        {"kind": "title", "text": title, "author": "asks"},
        {"kind": "body", "text": f"```\n{body}\n```", "author": "asks"},
    ]
    rows += [{"kind": "comment", "text": said, "author": f"u{n}", "role": role} for n, said in enumerate(comments)]
    return document({"number": 7, "kind": "issue", "posts": rows})


def _stated(made: Document) -> list[Claim]:
    return [claim for claim in distil.read(made, *events(made)).claims if claim.kind.is_statement]


class _Says(Reader):
    """A reader with one share for everything: what the network thinks of made-up words is not tested here."""

    given = 0

    def share(self, kind: str, start: int, end: int) -> int:
        return self.given


def _read(made: Document, share: int, monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    monkeypatch.setattr(_Says, "given", share)
    monkeypatch.setattr(reading.candidates, "Reader", _Says)
    return [claim.doubt for claim in _stated(made)]


@pytest.mark.parametrize(
    ("said", "role", "is_asked"),
    [
        (WHY, "NONE", True),
        (WHY, "OWNER", False),  # who maintains the project knows what the reader learned from nobody
        ("Set `FIXTURE_POOL=2` before the wheel is made.", "NONE", True),
        ("Set `FIXTURE_POOL=2` before the wheel is made.", "OWNER", False),
        (WORKED, "NONE", False),
        ("Setting `FIXTURE_POOL=2` did not help.", "NONE", False),
        ("根本原因是加载器在轮子的名字设置好之前就读取了它的名字。", "NONE", False),
    ],
    ids=["cause", "maintainer's cause", "advice", "maintainer's advice", "worked", "failed", "Chinese"],
)
def test_a_cause_or_advice_that_the_trained_reader_does_not_share_is_in_doubt(
    said: str, role: str, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _thread(said, role=role)
    assert _read(made, 60, monkeypatch) == [None]
    assert _read(made, 35, monkeypatch) == [50 if is_asked else None]


@pytest.mark.parametrize(
    ("comments", "title", "body", "doubt"),
    [
        ((WORKED,), "The fixture stops", FIRST, None),
        ((WORKED, f"```\n{OTHER}\n```"), "The fixture stops", FIRST, 60),
        ((WORKED, f"```\n{OTHER}\n```"), "The second wheel does not fit", FIRST, None),
        ((WORKED,), "ValueError: the second wheel", f"{FIRST}\n\n{OTHER}", 60),
    ],
    ids=["one", "another later", "another later, the title names the first", "one of a log"],
)
def test_which_of_several_errors_is_meant_is_in_doubt(
    comments: tuple[str, ...], title: str, body: str, doubt: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _read(_thread(*comments, title=title, body=body), 60, monkeypatch) == [doubt]


@pytest.mark.parametrize(
    ("title", "said", "doubt"),
    [
        ("Nothing starts", WORKED, 70),
        ("The spinner gave up on a wheel", WORKED, None),
        ("Nothing starts", "Setting `FIXTURE_POOL=2` fixed it for me, no third wheel gave up again.", None),
    ],
    ids=["named nowhere", "named by the title", "named by the words"],
)
def test_a_line_of_no_known_form_that_nobody_names_is_in_doubt(
    title: str, said: str, doubt: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _thread(said, title=title, body=BARE)
    [(event, signature)] = zip(*events(made), strict=True)
    assert (event.exception_type, event.codes, dict(signature.gate).get("kind")) == (None, (), None)
    assert _read(made, 60, monkeypatch) == [doubt]


def test_what_a_later_post_confirms_is_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _thread("Set `FIXTURE_POOL=2` before the wheel is made.", "Which wheel is it?", "That worked, thanks!")
    assert {(claim.rule, claim.doubt) for claim in _stated(made)} >= {("reply.worked", 70)}
    assert sorted(map(str, _read(made, 60, monkeypatch))) == ["70", "None"]


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        ("That worked, thanks!", None),
        ("That worked, thanks! But now I get another error in the second wheel.", 50),
        (f"That worked, thanks!\n\nNext I see this:\n\n```\n{OTHER}\n```", 50),
    ],
)
def test_what_the_next_post_plainly_confirms_stands_unless_it_fails_still(said: str, doubt: int | None) -> None:
    made = _thread("Set `FIXTURE_POOL=2` before the wheel is made.", said)
    assert [claim.doubt for claim in _stated(made) if claim.rule == "reply.confirmed"] == [doubt]


@pytest.mark.parametrize(
    ("later", "doubt"),
    [("#12 works here.", None), ("That fixed it, thanks!", None), ("#13 works here.", 80), ("Does #12 work here?", 80)],
)
def test_a_fix_behind_other_words_is_in_doubt_unless_the_next_post_seconds_it(later: str, doubt: int | None) -> None:
    made = _thread("The pool of the fixture is made twice, and the second one is empty. Fixed in #12.", later)
    assert [claim.doubt for claim in _stated(made) if claim.kind == "fix"] == [doubt]


def test_a_confirmed_newest_release_is_in_doubt() -> None:
    made = _thread("Please try `fixture` with the latest release.", "That worked, thanks!")
    assert [claim.doubt for claim in _stated(made) if claim.rule == "reply.confirmed"] == [77]


def test_what_did_not_help_against_another_thing_is_in_doubt() -> None:
    said = "Setting `FIXTURE_POOL=2` did not help."
    for before, doubt in (("", None), ("I'm now able to make the wheel, but it is slow. ", 50)):
        made = _thread("Which wheel is it?", before + said)
        assert [claim.doubt for claim in _stated(made)] == [doubt]


@pytest.mark.parametrize(
    ("said", "later", "doubt"),
    [
        (WORKED, ("Same error here on the new wheel.",), 45),
        (WORKED, ("Thanks for the hint!", "Unfortunately the wheel still stops for me."), 45),
        (WORKED, ("Thanks!", "I will look.", "I still see it with the new wheel."), None),
        (WORKED, ("Thanks, that did it for me as well.",), None),
        (WORKED, ("Do you still see it?", "Let me know if the same error comes again."), None),
        (WORKED, ("```\nit is the same error still\n```",), None),
        ("This is fixed in #12.", ("I still see it with the new wheel.",), 45),
        ("This is fixed in #12.", ("Great, closing.",), None),
        ("This is fixed in #12.\n\nOf course, I still see it with the old wheel.", ("Great, closing.",), 50),
        ("Hi! This is fixed in #12.", ("Great, closing.",), None),
        ("The spinner has a flaw of its own, but yes: this is fixed in #12.", ("Great, closing.",), None),
        ("The spinner has a flaw of its own. But yes, this is fixed in #12.", ("Great, closing.",), 80),
        (f"{WORKED}\n\nOf course, I still see it with the old wheel.", ("Great, closing.",), None),
        ("Setting `FIXTURE_POOL=2` did not help.", ("I still see it with the new wheel.",), None),
    ],
    ids=[
        "next",
        "second",
        "third",
        "agrees",
        "asks",
        "in a block",
        "a fix",
        "a fix that stays",
        "half a fix",
        "greets first",
        "one sentence",
        "behind other words",
        "half an act",
        "a dead end",
    ],
)
def test_what_the_next_posts_contest_is_in_doubt(
    said: str, later: tuple[str, ...], doubt: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _read(_thread(said, *later), 60, monkeypatch) == [doubt]


def test_a_failure_that_is_counted_of_the_very_act_or_of_another_casts_no_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    same = _thread(WORKED, "I set `FIXTURE_POOL=2` but it did not help.")
    other = _thread(WORKED, "I set `FIXTURE_POOL=3` but it did not help.")
    also = _thread(WORKED, "I set `FIXTURE_POOL=2` but it did not help.", "Same error here.")
    unlike = _thread(WORKED, "I set `FIXTURE_STEPS=3` but it did not help.")
    nothing = _thread(WORKED, "I set `FIXTURE_STEPS=3` but it did not help. Nothing does, I still see it.")

    assert _read(same, 60, monkeypatch) == [None, None]
    assert _read(other, 60, monkeypatch) == [45, None]
    assert _read(also, 60, monkeypatch) == [45, None]
    assert _read(unlike, 60, monkeypatch) == [None, None]
    assert _read(nothing, 60, monkeypatch) == [45, None]


def test_who_takes_their_own_praise_back_in_a_later_post_leaves_it_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _thread(WORKED, "I set `FIXTURE_POOL=2` but it did not help.")
    posts = tuple(post._replace(author_hash="one") if n > 1 else post for n, post in enumerate(made.posts))
    assert _read(replace(made, posts=posts), 60, monkeypatch) == [45, None]


def test_a_doubted_statement_is_a_lead_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _thread(WORKED, title="Nothing starts", body=BARE)
    assert _read(made, 60, monkeypatch) == [70]
    [claim] = _stated(made)
    known = reduce.knowledge(shards.MapResult(claims=(claim, replace(claim, claim_id="claim:sure", doubt=None))))
    [signature] = claim.signature_ids
    assert [one.claim_id for one in known.claims[signature]] == ["claim:sure"]
    assert [(one.claim_id, one.share) for one in known.candidates[signature]] == [(claim.claim_id, 70)]


@pytest.mark.parametrize(
    ("printed", "doubt"),
    [
        (
            "RuntimeError: Trying to backward twice. Specify retain_graph=True when calling backward the first time.",
            None,
        ),
        ("RuntimeError: the wheel is too big, try setting max_split_size_mb to avoid fragmentation", 40),
    ],
    ids=["what it asks for", "what it guesses"],
)
def test_what_a_program_advises_is_doubted_where_it_guesses_and_by_no_reader_of_people(
    printed: str, doubt: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = f'Traceback (most recent call last):\n  File "a.py", line 3, in run\n{printed}'
    assert _read(_thread(body=trace, title="Nothing starts"), 0, monkeypatch) == [doubt]


@pytest.mark.parametrize(
    ("said", "later", "doubt"),
    [
        ("The problem is that the work of yesterday breaks whatever comes after it.", "I will look.", 50),
        ("The problem is that the work of yesterday breaks whatever comes after it.", "I still see it.", 45),
        ("The problem is that the work of yesterday breaks `Pool.refill` after it.", "I will look.", None),
        ("The problem is that the work of yesterday breaks the wheel that comes after it.", "I will look.", None),
    ],
    ids=["names nothing", "names nothing and is contested", "names a part of the program", "names the error"],
)
def test_a_cause_in_an_answer_that_names_nothing_is_in_doubt(
    said: str, later: str, doubt: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _read(_thread(said, later), 60, monkeypatch) == [doubt]


def test_who_reports_an_error_may_say_why_without_naming_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "The problem is that the work of yesterday breaks whatever comes after it."
    made = _thread("I will look.", body=f"{FIRST}\n```\n\n{said}\n\n```\nrun")
    assert _read(made, 60, monkeypatch) == [None]


def test_what_helped_against_a_similar_error_is_a_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    similar = _thread(f"I had a similar issue. {WORKED}")
    same = _thread(f"I had the same issue. {WORKED}")

    assert _read(similar, 99, monkeypatch) == [50]
    assert _read(same, 99, monkeypatch) == [None]


def test_what_is_fixed_where_a_better_message_is_asked_for_is_a_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _thread("You have to name the wheel. Let's get a better error message here.", "Fixed in #8.")
    plain = _thread("You have to name the wheel.", "Fixed in #8.")

    assert _read(asked, 99, monkeypatch) == [50]
    assert _read(plain, 99, monkeypatch) == [None]


def test_a_fix_in_a_long_thread_or_in_no_named_release_is_a_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    said, talk = "Fixed in #8.", ("I look into it.", "Which wheel is it?", "The second.", "Thank you.", "So it is.")
    assert _read(_thread(*talk[:4], said), 99, monkeypatch) == [None]
    assert _read(_thread(*talk, said), 99, monkeypatch) == [50]
    assert _read(_thread("Fixed in the latest release."), 99, monkeypatch) == [77]


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        ("The round case below is fixed by #12.", 50),
        ("Fixed by #12\n, but other wheels that use the pool have this issue.", 50),
        ("That case is fixed by #12.", None),
        ("Fixed by #12, but please use another wheel.", None),
        ("Fixed by #12. The spinner is as in other wheels that have a pool.", None),
    ],
)
def test_a_fix_of_one_part_is_a_lead(said: str, doubt: int | None) -> None:
    assert [claim.doubt for claim in _stated(_thread(said)) if claim.kind == "fix"] == [doubt]


@pytest.mark.parametrize(
    ("later", "doubt"),
    [
        ("Downgraded to 1.5.0 again and now it works.", 45),
        ("After I reinstalled spinner 1.5.0 the issue is gone.", 45),
        ("Downgraded to 1.5.1 and now it works.", None),
        ("It should be gone in 1.5, I see it there too.", None),
        ("Which one is it, 1.4 or 1.5?", None),
    ],
)
def test_a_version_that_did_not_help_is_in_doubt_where_it_helps_later(later: str, doubt: int | None) -> None:
    made = _thread("I've tried 1.4 and 1.5 but not working at all.", "Which wheel is it?", later)
    assert [claim.doubt for claim in _stated(made) if "1.4" in claim.quote.text] == [doubt]


def test_a_version_that_helped_before_it_failed_somebody_casts_no_doubt_on_that() -> None:
    helped = "After I reinstalled spinner 1.5.0 the issue is gone."
    made = _thread(helped, "I've tried 1.4 and 1.5 but not working at all.")
    assert [claim.doubt for claim in _stated(made) if "1.4" in claim.quote.text] == [None]


@pytest.mark.parametrize(
    ("title", "printed", "said", "doubt"),
    [
        ("PyTorch 1.6 stops the wheel", "", "Fixed in 1.7.", 50),
        ("PyTorch 1.6 stops the wheel", "", "Fixed in PyTorch 1.7.", None),
        ("PyTorch 1.6 stops the wheel", "", "Fixed in 1.7 of kernels.", None),
        ("The wheel stops", "", "Fixed in 1.7.", None),
        ("The wheel stops", "TensorFlow version: 2.0.0", "This is fixed in TensorFlow 1.14.", 50),
        ("The wheel stops", "TensorFlow version: 1.13.1", "This is fixed in TensorFlow 1.14.", None),
        ("The wheel stops", "TensorFlow version: 1.14.1", "This is fixed in TensorFlow 1.14.", None),
        ("The wheel stops", "Python version: 3.7.3", "This is fixed in TensorFlow 1.14.", None),
    ],
)
def test_a_release_of_another_program_or_of_an_earlier_line_is_a_lead(
    title: str, printed: str, said: str, doubt: int | None
) -> None:
    made = _thread(said, title=title, body=f"{FIRST}\n```\n\n{printed}\n\n```\nrun")
    assert [claim.doubt for claim in _stated(made) if claim.kind == "fix"] == [doubt]
