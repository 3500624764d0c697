"""Distil: which statements say something by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline import distil
from pipeline.distil import actions, tables
from pipeline.distil.claims import replies, rules
from pipeline.records import Claim, ClaimKind
from pipeline.records.entry import LEAST_LEAD_SHARE
from tests.distil_factory import claims, document, events
from tests.each import each

TABLE = tables.table("standing.toml")
FOUND = [(row, text) for row in TABLE["row"] for text in row["examples"]]
LEFT = [(row, text) for row in TABLE["row"] for text in row["lookalikes"]]


def _faulted(row: dict[str, Any], text: str) -> str | None:
    return replies.fault(text, row["of"][0] if len(row["of"]) == 1 else "act", is_rendered=False)


@each("row,text", FOUND)
def test_every_row_finds_its_examples(row: dict[str, Any], text: str) -> None:
    assert tables.expanded(row["pattern"]).search(text) or row["in"] == "said"
    assert _faulted(row, text) == row["reason"]


@each("row,text", LEFT)
def test_no_row_finds_its_look_alikes(row: dict[str, Any], text: str) -> None:
    assert _faulted(row, text) is None


OTHER = TABLE["other_block"]


@each("text,is_act", [(text, False) for text in OTHER["examples"]] + [(text, True) for text in OTHER["lookalikes"]])
def test_a_block_is_the_act_unless_its_words_lead_to_something_else(text: str, is_act: bool) -> None:
    assert replies.announces(text) is is_act


@each("row,text", [(row, text) for row, text in FOUND if row.get("met_by_block")])
def test_words_that_announce_a_block_stand_with_it(row: dict[str, Any], text: str) -> None:
    assert replies.fault(text, "act", is_rendered=False, has_block=True) is None


ON = TABLE["goes_on"]


@each("text,goes_on", [(one, True) for one in ON["examples"]] + [(one, False) for one in ON["lookalikes"]])
def test_some_sentences_go_on_with_the_cause_before_them(text: str, goes_on: bool) -> None:
    assert bool(tables.goes_on().match(text)) is goes_on


THREAD = """It ends with

```
Traceback (most recent call last):
  File "a.py", line 3, in main
ValueError: the tray 7 is empty
```
"""
CAUSES = [
    # "this" is the error, whatever stands before it
    ("The tray is empty at the start. This is because the loader drops the first page of every file.", 1),
    ("This is because the loader drops the first page of every file.", 1),
    ("Thanks for the report! This is because the loader drops the first page of every file.", 1),
    ("The reader fails on the second file. This is because the loader drops the first page of it.", 1),
    # "this" is what the sentence before says, and that is no trouble
    ("We store names in the index file. This is because that file goes into the public repository of the team.", 0),
    ("Small files load well, but this is due to the size of the page buffer of the second loader.", 0),
    ("The tray is read by the old loader (this is because the new one has no reader for it) and then sorted.", 0),
    ("Small files fail as well, but this is due to the size of the page buffer of the second loader.", 1),
]


@each("text,count", CAUSES)
def test_a_cause_of_this_is_one_where_this_is_a_trouble(text: str, count: int) -> None:
    assert len(_causes(text)) == count


def test_a_cause_is_quoted_with_the_sentence_that_goes_on_with_it() -> None:
    said = "The problem is that the server first checks whether the counter of a call is registered."
    more = "However, the check is not locked."
    assert _causes(f"{said} {more} I will send a patch.") == [f"{said} {more}"]
    assert _causes(f"{said} I will send a patch. {more}") == [said]
    assert _causes(f"{said}\n\n{more}") == [said]
    assert _causes(f"{said} However, the check is {'not ' * 60}locked.") == [said]


def test_a_version_that_another_tracker_s_report_names_is_none_of_the_project() -> None:
    own = _said("It is fixed in 6.1.25 version.")
    other = _said("As per the defect [KLN-7|https://kiln.example/browse/KLN-7], it is fixed in 6.1.25 version.")
    assert "fix.in_version" in own
    assert "fix.in_version" not in other
    # a change or a release that is named behind a link is the project's all the same
    assert "fix.in_ref" in _said("See https://kiln.example/docs for more, it was fixed in #5.")
    assert "fix.in_latest" in _said("See https://kiln.example/docs for more, it is fixed in the latest release.")


def _causes(text: str) -> list[str]:
    return [claim.quote.text for claim in _claims(text) if claim.kind == ClaimKind.CAUSE]


def _said(text: str) -> set[str]:
    return {claim.rule for claim in _claims(text)}


def _claims(text: str) -> list[Claim]:
    posts: list[dict[str, Any]] = [
        {"kind": "title", "text": "ValueError: the tray is empty"},
        {"kind": "body", "text": THREAD, "author": "a", "at": "2026-01-01T10:00:00Z"},
        {"kind": "comment", "text": text, "author": "b", "at": "2026-01-02T10:00:00Z"},
    ]
    return claims(document({"number": 1, "kind": "issue", "posts": posts}))


#: Tables of one expression each, with what it finds and what it leaves.
EXPRESSIONS = {
    "wants_words": tables.wants_words,
    "no_cure": tables.no_cure,
    "of_words": tables.of_words,
    "no_fix": tables.no_fix,
    "similar": tables.similar,
    "met": tables.met,
}


@each(
    "name,text,is_found",
    [
        (name, text, part == "examples")
        for name in EXPRESSIONS
        for part in ("examples", "lookalikes")
        for text in TABLE[name][part]
    ],
)
def test_an_expression_finds_its_examples_and_no_look_alike(name: str, text: str, is_found: bool) -> None:
    assert bool(EXPRESSIONS[name]().search(text)) is is_found


def test_a_number_behind_the_name_of_another_repository_is_no_change_of_this_one() -> None:
    """`kiln#5` in a report of `fixtures/oven` names a repository whose owner is not said."""
    assert "fix.in_ref" not in _said("It was reported as kiln#4 and fixed just now in kiln#5.")
    assert "fix.in_ref" in _said("It was reported as #4 and fixed just now in PR#5.")
    assert "fix.in_ref" in _said("It was fixed just now in fixtures/kiln#5.")


@each(
    "words,is_change",
    [
        ("Integrated in Kiln-trunk #427 (See [http://hudson.fixture.dev/job/Kiln-trunk/427/])", False),
        ("SUCCESS: fixed, see Jenkins build #427", False),
        ("Fixed with build #427", False),
        ("The build is fixed by #427", True),
        ("Integrated by #427, so that trays no longer jam", True),
        ("Fixed in #427, builds pass again", True),
        ("Fixed, https://github.com/fixtures/oven/blob/main/CHANGES.md#140 tells of it", False),  # a place in a page
        ("Fixed, see https://oven.fixture.dev/news.html#12", False),
        ("修复于#427", True),
        ("修复见fixtures/kiln#427", True),
    ],
)
def test_a_number_of_a_build_or_a_page_is_no_change(words: str, is_change: bool) -> None:
    thread = document({"number": 1, "kind": "issue", "posts": [{"kind": "body", "text": words}]})
    assert (rules.change(words, thread) is not None) is is_change


@pytest.mark.parametrize(
    ("repo", "words", "is_own"),
    [
        ("fixture-labs/kiln", "It is fixed in Kiln 7.1.0.", True),
        ("fixture-labs/kiln-timer", "It is fixed in Kiln 7.1.0.", True),
        ("fixture-labs/kiln-timer", "It is fixed in fixture-labs 7.1.0.", True),
        ("fixture-labs/kiln-timer", "It is fixed in new releases of kiln-timer against Kiln 7.1.0.", False),
        ("fixture-labs/kilnrl", "It is fixed from Kiln 7.1.0.", False),
    ],
)
def test_a_version_is_the_project_s_own_where_its_name_or_none_stands_before(
    repo: str, words: str, is_own: bool
) -> None:
    thread = replace(document({"number": 1, "kind": "issue", "posts": [{"kind": "body", "text": words}]}), repo=repo)
    assert (rules.change(words, thread) is not None) is is_own


def _told(posts: list[tuple[str, str]], **more: Any) -> list[str]:
    """(kind and outcome) of the statements of a report: title, then (who, what) of each post."""
    made: list[dict[str, Any]] = [{"kind": "title", "text": more.pop("title", "ValueError: the tray is empty")}]
    for at, (who, text) in enumerate(posts):
        kind = "body" if at == 0 else "comment"
        made.append({"kind": kind, "text": text, "author": who, "at": f"2026-01-0{at + 1}T10:00:00Z"})
    found = claims(document({"number": 1, "kind": "issue", "posts": made}))
    return [f"{claim.kind} {claim.outcome or ''}".strip() for claim in found if claim.kind.is_statement]


REMOVED = "If you remove the option `--fast-tray` from the call, the code works fine."
NO_EFFECT = "Setting `fast_tray=True` has no effect."


@each("said,found", [(REMOVED, "remedy worked"), (NO_EFFECT, "remedy failed")])
def test_what_a_report_opens_with_is_the_error_and_no_try(said: str, found: str) -> None:
    kind = found.partition(" ")[0]
    assert None not in _doubts([("a", f"{THREAD}\n{said}")], kind)
    assert _told([("a", f"{THREAD}\nUPDATE: {said}")]) == [found]
    assert _told([("a", THREAD), ("b", said)]) == [found]


BARE = "It ends with\n\n```\nerror: the tray of the second kiln is empty\n```\n"


@each(
    "title,body,found",
    [
        ("The loader reads an empty tray", THREAD, ["fix"]),
        ("Improve the error message when the tray is empty", THREAD, []),
        ("ValueError on loader 2.1: the tray is empty", THREAD, []),
    ],
)
def test_a_fix_of_a_report_is_one_of_its_error_where_that_is_what_it_is_about(
    title: str, body: str, found: list[str]
) -> None:
    assert _told([("a", body), ("b", "This is fixed in version 2.1.")], title=title) == found


def _doubts(posts: list[tuple[str, str]], kind: str) -> list[int | None]:
    """How sure each claim of a kind is, of a thread with one error."""
    made: list[dict[str, Any]] = [{"kind": "title", "text": "The loader reads an empty tray"}]
    made += [
        {"kind": "comment" if n else "body", "text": said, "author": who, "at": f"2024-01-01T{n:02}:00:00Z"}
        for n, (who, said) in enumerate(posts)
    ]
    thread = document({"number": 1, "kind": "issue", "posts": made})
    return [claim.doubt for claim in distil.read(thread, *events(thread)).claims if claim.kind == kind]


IDLE = [("c", "Which loader is it, and what does the log of the kiln say?")] * 10


def test_a_fix_of_a_bare_line_and_what_stands_far_on_are_leads() -> None:
    fix, act = ("b", "This is fixed in version 2.1."), ("b", "Setting `tray=2` fixed it for me.")
    assert _doubts([("a", THREAD), fix], "fix") == [None]
    assert _doubts([("a", BARE), fix], "fix") == [60]
    assert [
        one is not None and LEAST_LEAD_SHARE <= one <= 70 for one in _doubts([("a", THREAD), *IDLE, fix], "fix")
    ] == [True]
    assert _doubts([("a", THREAD), act], "remedy") == [None]
    assert _doubts([("a", THREAD), *IDLE, act], "remedy") == [60]


TESTS = TABLE["of_a_test"]


@each("title,is_test", [(one, True) for one in TESTS["examples"]] + [(one, False) for one in TESTS["lookalikes"]])
def test_a_title_says_whether_a_test_is_what_fails(title: str, is_test: bool) -> None:
    assert bool(tables.of_a_test()[0].search(title)) is is_test


HOLES = [
    ("I had overlooked converting from  to .", True),
    ("use  instead of the old name", True),
    ("The parameter in ops like  has an invalid shape.", True),
    ("Fixture 2 does not know the operator ().", True),
    ("The old wheel calls the  that was removed.", True),
    ("call f() before the loop", False),
    ("Increase the pool to 4 , then it runs.", False),
    ("It runs again.  The cache was stale.", False),
    ("Upgrade `fixture` to 2.1 , it has the kernel", False),
]


@each("text,hole", HOLES)
def test_a_hole_is_seen_where_inline_code_was(text: str, hole: bool) -> None:
    assert replies.has_hole(text) is hole


ADDRESSES = [
    "It was introduced by #12.",
    "The cause is in https://example.org/a/b.py#L7",
    "It is because of this commit: 0c1f2a3",
    "The bug was caused by [this change](https://example.org/c).",
    "这是因为 https://example.org/page",
]


@each("text", ADDRESSES)
def test_a_cause_that_is_an_address_says_nothing(text: str) -> None:
    assert replies.fault(text, "cause", is_rendered=False) == "points_elsewhere"


STANDING = [
    "It broke in #12, which drops the lock before the queue is empty.",
    "The image is larger than the card's memory.",
    "It is because the batch is empty.",
    "It occurs when with_adapter=True is added.",
    "原因是批大小改变之后显存不够用了",
]


@each("text", STANDING)
def test_a_cause_with_words_of_its_own_stands(text: str) -> None:
    assert replies.fault(text, "cause", is_rendered=False) is None


def test_a_typed_act_needs_no_words() -> None:
    text = "After setting it, `FIXTURE_MODE=1`, the crash went away."
    assert replies.fault(text, "act", is_rendered=False) == "points_elsewhere"
    assert replies.fault(text, "fact", is_rendered=False) is None


BOUNDS = [
    ("Downgrading to tensorflow <= 1.8.0 resolves it.", None),
    ("I downgraded pip 19 and it works.", None),
    ("Downgrading tensorflow resolves it.", "remedy.downgrade"),
    ("Downgrading tensorflow to 1.8.0 resolves it.", "remedy.downgrade_to"),
]


@each("text,template", BOUNDS)
def test_an_act_is_not_typed_without_the_version_that_it_names(text: str, template: str | None) -> None:
    act = actions.action(text)
    assert (act.fact.template if act else None) == template


@each(
    "template,outcome,is_little",
    [
        ("remedy.use_nightly", "failed", True),
        ("remedy.upgrade", "failed", True),
        ("remedy.upgrade_to", "failed", False),
        ("remedy.use_nightly", "worked", False),
    ],
)
def test_what_was_newest_once_says_nothing_by_having_failed(template: str, outcome: str, is_little: bool) -> None:
    assert replies.says_too_little(template, outcome) is is_little


def test_a_condition_that_the_error_stays_is_no_word_that_an_act_failed() -> None:
    table = tables.table("cues.toml")["no_help"]
    assert all(not tables.no_help().search(tables.if_it_stays().sub(" ", one)) for one in table["conditions"])
    assert all(tables.no_help().search(tables.if_it_stays().sub(" ", one)) for one in table["no_conditions"])


def test_behind_a_link_two_blanks_are_no_hole() -> None:
    assert not replies.has_hole("see https://fixture.org/notes  for the sizes of the tray")
    assert not replies.has_hole("[here](https://fixture.org/notes)  is the change of the tray")
    assert replies.has_hole("use the wheel  for the tray")
    assert replies.has_hole("use the wheel (of the tray)  for the pool")
