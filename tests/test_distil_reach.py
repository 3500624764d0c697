"""Distil: an error that any program prints shows only what is tied to it; the rest is said of one project and place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline import distil
from pipeline.records import Cluster
from pipeline.records.draft import Draft
from tests.distil_factory import document, events, facts, occurrences

INDEX = "IndexError: list index out of range"
SHAPE = "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
OWN = "ValueError: the decoder of this kernel needs an even head size, got 7"
MODULE = "ModuleNotFoundError: No module named 'packaging'"


def _traceback(error: str, function: str) -> str:
    if not function:
        return f"It fails:\n\n```\n{error}\n```\n"
    return (
        "It fails:\n\n```\nTraceback (most recent call last):\n"
        f'  File "/opt/app/{function}.py", line 3, in {function}\n    call()\n{error}\n```\n'
    )


def _drafted(threads: list[tuple[str, str, str, str]], *, role: str = "NONE") -> Draft:
    return distil.draft(*_material(threads, role=role))


def _material(threads: list[tuple[str, str, str, str]], *, role: str = "NONE") -> tuple[Cluster, distil.Material]:
    """The one error of `threads`: (repository, function that raises, error, what a comment says)."""
    shown, claims, counted, signatures = [], [], [], {}
    for number, (repo, function, error, said) in enumerate(threads, 1):
        posts: list[dict[str, Any]] = [
            {"kind": "title", "text": "It fails"},
            {"kind": "body", "text": _traceback(error, function), "author": "a", "at": "2026-01-01T10:00:00Z"},
            {"kind": "comment", "text": said, "author": "b", "role": role, "at": "2026-01-02T10:00:00Z"},
        ]
        made = replace(
            document({"number": number, "kind": "issue", "posts": posts}),
            document_id=f"github.com/{repo}#{number}",
            repo=repo or None,
        )
        found, signed = events(made)
        signatures |= {one.signature_id: one for one in signed}
        shown += occurrences(made)
        claims += distil.read(made, found, signed).claims
        counted.append(facts(made))
    first = next(iter(signatures.values()))
    cluster = Cluster(
        "cluster:1", first.signature_id, first.exception_type, first.text, first.gate, tuple(signatures), "", 100.0
    )
    return cluster, distil.Material(tuple(shown), tuple(claims), tuple(counted))


WORKED = "Setting `num_stages=1` fixed it."
FIXED = "This was fixed in #77."
CAUSE = "The problem is that the reader drops the last column of every table it reads."


def _told(draft: Draft) -> list[tuple[str, str | None, list[str]]]:
    """(project, frame, kinds of the statements) of each case."""
    return [(case.repo, case.frame, [said.kind for said in case.statements]) for case in draft.cases]


@pytest.mark.parametrize(("said", "kind"), [(WORKED, "workaround"), (FIXED, "workaround"), (CAUSE, "cause")])
def test_words_that_any_program_prints_are_answered_in_a_case(said: str, kind: str) -> None:
    draft = _drafted([("one/app", "load", INDEX, said)])
    assert not draft.workarounds
    assert draft.cause is None
    assert draft.confidence is None
    assert not draft.withheld
    assert _told(draft) == [("one/app", "load:load", [kind])]
    (case,) = draft.cases
    assert case.documents == ("github.com/one/app#1",)
    (statement,) = case.statements
    pieces = {piece.evidence_id: piece for piece in draft.evidence}
    assert [pieces[one].quote for one in statement.remedy.action.evidence] == [said]


def test_a_case_is_of_one_place_of_one_project() -> None:
    threads = [
        ("one/app", "load", INDEX, WORKED),
        ("one/app", "load", INDEX, WORKED),
        ("one/app", "read", INDEX, CAUSE),
    ]
    threads.append(("two/tool", "load", INDEX, "I tried setting `num_stages=1` but I still get the same error."))
    draft = _drafted(threads)
    assert _told(draft) == [
        ("one/app", "load:load", ["workaround"]),
        ("one/app", "read:read", ["cause"]),
        ("two/tool", "load:load", ["dead_end"]),
    ]
    assert [len(case.documents) for case in draft.cases] == [2, 1, 1]
    assert [(one.remedy.worked, one.remedy.failed) for case in draft.cases for one in case.statements] == [
        (2, 0), (0, 0), (0, 1)
    ]  # fmt: skip


def test_where_no_project_is_known_there_is_no_case() -> None:
    draft = _drafted([("", "load", INDEX, WORKED)])
    assert not draft.cases
    assert [(w.repo, w.frame, w.reason) for w in draft.withheld] == [(None, "load:load", "names_nothing")]


@pytest.mark.parametrize("said", [WORKED, FIXED])
def test_words_of_one_project_show_what_helped(said: str) -> None:
    draft = _drafted([("one/app", "load", OWN, said)])
    assert len(draft.workarounds) == 1
    assert not draft.withheld


STRANGERS = [("one/app", "load", INDEX, WORKED), ("two/tool", "read", INDEX, WORKED), ("six/kit", "mix", INDEX, WORKED)]


def test_what_three_strangers_did_alike_is_tied_to_the_error() -> None:
    draft = _drafted(STRANGERS)
    assert [(r.key, r.worked) for r in draft.workarounds] == [("set|num_stages|1", 3)]
    assert not draft.cases


def test_two_strangers_and_repositories_of_one_owner_or_name_stay_cases() -> None:
    assert len(_drafted(STRANGERS[:2]).cases) == 2
    for other in ("one/tool", "two/app"):
        draft = _drafted([*STRANGERS[:2], (other, "mix", INDEX, WORKED)])
        assert not draft.workarounds
        assert len(draft.cases) == 3


def test_many_projects_that_raise_it_in_different_places_share_nothing() -> None:
    threads = [("one/a", "load", SHAPE, WORKED), ("two/b", "read", SHAPE, "Same."), ("six/c", "mix", SHAPE, "Same.")]
    assert _told(_drafted(threads)) == [("one/a", "load:load", ["workaround"])]
    one_place = [(repo, "match", error, said) for repo, _, error, said in threads]
    assert _drafted(one_place).workarounds


def test_a_fix_of_one_project_is_no_remedy_for_three() -> None:
    threads = [("one/a", "match", SHAPE, FIXED), ("two/b", "match", SHAPE, "Same."), ("six/c", "match", SHAPE, "Same.")]
    draft = _drafted(threads)
    assert not draft.workarounds
    assert _told(draft) == [("one/a", "match:match", ["workaround"])]


def test_a_fix_of_one_of_two_projects_is_a_remedy_where_that_project_raises_the_error() -> None:
    stranger = [("one/app", "match", SHAPE, FIXED), ("two/tool", "match", SHAPE, "Same.")]
    draft = _drafted(stranger)
    assert not draft.workarounds
    assert _told(draft) == [("one/app", "match:match", ["workaround"])]
    own = [("pytorch/pytorch", "match", SHAPE, FIXED), ("two/tool", "match", SHAPE, "Same.")]
    assert len(_drafted(own).workarounds) == 1
    assert not _drafted(own).cases


def test_who_names_what_the_error_names_speaks_of_it() -> None:
    said = "`pip install packaging` solved it."
    threads = [("one/a", "load", MODULE, said), ("two/b", "read", MODULE, WORKED), ("six/c", "mix", MODULE, "Same.")]
    draft = _drafted(threads)
    assert [case.repo for case in draft.cases] == ["two/b"]
    assert len(draft.workarounds) == 1


def test_a_fix_of_one_report_of_three_is_no_remedy_for_the_others() -> None:
    threads = [("one/a", name, OWN, FIXED if name == "load" else "Same.") for name in ("load", "read", "mix")]
    draft = _drafted(threads)
    assert not draft.workarounds
    assert _told(draft) == [("one/a", "load:load", ["workaround"])]
    no_frames = [("one/a", "", OWN, said) for _, _, _, said in threads]
    assert [(case.frame, case.documents) for case in _drafted(no_frames).cases] == [(None, ("github.com/one/a#1",))]
    same_place = [("one/a", "load", OWN, said) for _, _, _, said in threads]
    assert not _drafted(same_place).cases
    assert {w.reason for w in _drafted(same_place).withheld} == {"fix_of_one_report"}


def test_a_cause_in_one_program_is_not_why_others_print_what_one_library_raises() -> None:
    threads = [(repo, "load", OWN, CAUSE if repo == "one/a" else "Same.") for repo in ("one/a", "two/b", "six/c")]
    draft = _drafted(threads)
    assert draft.cause is None
    assert _told(draft) == [("one/a", "load:load", ["cause"])]
    alone = _drafted(threads[:1])
    assert alone.cause is not None
    of_one_project = _drafted([("one/a", "load", OWN, said) for _, _, _, said in threads])
    assert of_one_project.cause is not None


def test_that_errors_end_in_the_same_plumbing_says_nothing() -> None:
    short = "EOFError: Compressed file ended before the end-of-stream marker was reached"
    threads = [(repo, "gzip", short, WORKED) for repo in ("one/a", "two/b", "six/c")]
    threads = [(repo, place, error, said if repo == "one/a" else "Same.") for repo, place, error, said in threads]
    draft = _drafted(threads)
    assert not draft.workarounds
    assert _told(draft) == [("one/a", None, ["workaround"])]


def test_a_hint_to_install_something_is_one_projects_unless_the_error_names_it() -> None:
    for error, is_kept in ((INDEX, False), (MODULE, True)):
        draft = _drafted([("one/app", "load", error + "\nPlease run `pip install packaging`.", "Same.")])
        assert bool(draft.workarounds) is is_kept
        assert bool(draft.withheld) is not is_kept
        assert not draft.cases  # the line may belong to another message of the program


ADVICE = "You can set `num_stages=1` to work around this."


FAILED = "I set `num_stages=1` but it did not help."


@pytest.mark.parametrize(
    ("doubt", "writer", "shown"),
    [(70, "c", ([], [])), (None, "c", ([(1, 1)], [])), (70, "b", ([], [(0, 1)]))],
    ids=["in doubt", "sure", "taken back"],
)
def test_a_failure_is_not_counted_alone_where_others_say_in_doubt_that_it_helped(
    doubt: int | None, writer: str, shown: tuple[list[tuple[int, int]], list[tuple[int, int]]]
) -> None:
    cluster, material = _material([("one/app", "load", OWN, WORKED), ("one/app", "load", OWN, FAILED)])
    failed = next(one for one in material.claims if one.outcome == "failed")
    worked = next(one for one in material.claims if one.outcome == "worked")
    if writer == "b":  # the same person, in the same thread, before
        who = failed.quote
        worked = replace(worked, quote=replace(who, start=0, end=len(WORKED)))
    rest = tuple(one for one in material.claims if one.outcome is None)
    sure = (worked,) if doubt is None else ()
    unsure = () if doubt is None else (replace(worked, doubt=doubt),)
    draft = distil.draft(cluster, replace(material, claims=(*rest, failed, *sure), candidates=unsure))

    counts = [[(one.worked, one.failed) for one in part] for part in (draft.workarounds, draft.dead_ends)]
    assert tuple(counts) == shown
    assert [one.reason for one in draft.withheld] == ([] if any(counts) else ["contested"])


def test_advice_that_nobody_tried_is_kept_aside() -> None:
    draft = _drafted([("one/app", "load", OWN, ADVICE)])
    assert not draft.workarounds
    assert [w.reason for w in draft.withheld] == ["unconfirmed"]


@pytest.mark.parametrize("more", [ADVICE, WORKED])
def test_advice_that_another_thread_gives_or_follows_is_shown(more: str) -> None:
    draft = _drafted([("one/app", "load", OWN, ADVICE), ("one/app", "load", OWN, more)])
    assert [len(remedy.sources) for remedy in draft.workarounds] == [2]


def test_advice_of_who_maintains_the_project_is_shown() -> None:
    draft = _drafted([("one/app", "load", OWN, ADVICE)], role="MEMBER")
    assert [remedy.tier for remedy in draft.workarounds] == ["maintainer_confirmed"]


OTHER = "The root cause is that the writer rounds every size of the table down to a page."


def test_what_else_is_given_as_a_cause_is_told_where_it_was_met() -> None:
    draft = _drafted([("a/one", "pack", OWN, CAUSE), ("b/two", "unpack", OWN, OTHER)], role="MEMBER")
    assert draft.cause is not None
    told = {draft.cause.text} | {said.remedy.action.text for case in draft.cases for said in case.statements}
    assert told == {CAUSE, OTHER}
    assert [kinds for *_, kinds in _told(draft)] == [["cause"]]


def test_the_same_cause_from_two_projects_is_told_once() -> None:
    draft = _drafted([("a/one", "pack", OWN, CAUSE), ("b/two", "unpack", OWN, CAUSE)], role="MEMBER")
    assert (draft.cause and draft.cause.text, draft.cases) == (CAUSE, ())
