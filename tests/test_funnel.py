"""The benchmark of what entries show: each labelled piece takes the last step that anything comes to which says it."""

from __future__ import annotations

from benchmarks import funnel
from benchmarks.knowledge import Label, Thread, error_digest
from pipeline import ask, distil
from pipeline.records import Skipped
from pipeline.text.units import units
from tests.distil_factory import document
from tests.distil_factory import events as grouped

SHOWN = '```\nTraceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: the wheel does not fit\n```'
WORKED = "Setting `FIXTURE_POOL=3` fixed it for me."
BLOCK = "```\nfixture --pool 3\n```"
OTHER = "The lamp of the second room is another story of the same house."


def _thread() -> Thread:
    said = [("title", "It stops"), ("body", SHOWN), *(("comment", words) for words in (WORKED, BLOCK, OTHER))]
    made = document(
        {"number": 7, "kind": "issue", "posts": [{"kind": kind, "text": text, "author": text} for kind, text in said]}
    )
    events = [event for event, _ in ask.read(made.text).signed()]
    pieces = units(made, events)
    error = error_digest(events[0])
    place = {
        words: next(one.number for one in pieces if made.text[one.start : one.end] == words)
        for words in (WORKED, BLOCK, OTHER)
    }
    labels = [
        Label(place[WORKED], "remedy", error, None, "b"),
        Label(place[BLOCK], "cause", error, None, "b"),
        Label(place[OTHER], "fix", "other", None, "b"),
    ]
    return Thread(made, events, pieces, "tune", labels, None)


def _steps(thread: Thread, fates: funnel.Fates, *stated: tuple[int, str]) -> dict[str, str]:
    return {piece.kind: step for _, piece, step in funnel.steps([(thread, set(stated))], fates)}


def test_a_piece_takes_the_last_step_that_anything_comes_to_which_says_it() -> None:
    thread = _thread()
    name = thread.document.document_id
    (act,) = (one for one in distil.read(thread.document, *grouped(thread.document)).claims if one.kind.is_act)
    nothing = {"cause": "no candidate:in a block", "fix": "no event of its error"}
    told = funnel.Fates({name: [(act, "lead:most"), (act, "share:35")]}, {})
    assert _steps(thread, told) == {"remedy": "lead:most", **nothing}
    shown = funnel.Fates({name: [(act, "lead:most"), (act, "shown")]}, {})
    assert _steps(thread, shown)["remedy"] == "shown"
    assert _steps(thread, shown, (thread.labels[0].unit, "remedy"))["remedy"] == "stated"
    refused = Skipped("distil", f"{name}@{act.quote.start}", "unclear_subject", "worked.fixed")
    assert _steps(thread, funnel.Fates({}, {name: [refused]}))["remedy"].startswith(("refused:", "share:", "gate:"))
