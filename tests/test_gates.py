"""The benchmark of the gates: labels stand in for a model's answers, and what is refused is named with its gate."""

from __future__ import annotations

from benchmarks import gates
from benchmarks.knowledge import Label, Thread, error_digest
from pipeline import ask
from pipeline.text.units import units
from tests.distil_factory import document

ERROR = 'Traceback (most recent call last):\n  File "a.py", line 3, in run\nValueError: the second wheel does not fit'
SHOWN = f"```\n{ERROR}\n```"
CAUSE = "The loader reads the name of the wheel before it is set."
ASKED = "Can you try `FIXTURE_POOL=2`?"
WORKED = "Setting `FIXTURE_POOL=3` made it go away."


def _labelled() -> tuple[Thread, gates.Signed]:
    said = [("title", "It stops"), ("body", SHOWN), *(("comment", words) for words in (CAUSE, ASKED, WORKED))]
    made = document(
        {"number": 7, "kind": "issue", "posts": [{"kind": kind, "text": text, "author": text} for kind, text in said]}
    )
    signed = ask.read(made.text).signed()
    events = [event for event, _ in signed]
    pieces = units(made, events)
    (error,) = {error_digest(event) for event, signature in signed if signature is not None}
    number = {
        words: next(u.number for u in pieces if made.text[u.start : u.end] == words) for words in (CAUSE, ASKED, WORKED)
    }
    labels = [
        Label(number[CAUSE], "cause", error, None, "b"),
        Label(number[ASKED], "remedy", error, None, "b"),
        Label(number[WORKED], "remedy", error, None, "b"),
        Label(number[WORKED], "confirmation", error, number[WORKED], ""),
        Label(number[CAUSE], "fix", "other", None, "b"),
    ]
    return Thread(made, events, pieces, "tune", labels, None), signed


def test_labels_become_claims_and_what_is_refused_is_named() -> None:
    thread, signed = _labelled()
    one = gates.judged(thread, signed)
    assert {(claim.quote.text, str(claim.outcome)) for claim in one.claims} == {(CAUSE, "None"), (WORKED, "worked")}
    lost = {(piece.kind, reason) for piece, reason in gates.lost(one)}
    assert lost == {("remedy", "no_statement"), ("fix", "of no event")}


def test_a_thread_without_an_error_is_not_asked_about() -> None:
    thread, _ = _labelled()
    one = gates.judged(thread, [])
    assert (one.claims, one.refused) == ([], [])
