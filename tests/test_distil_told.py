"""What people plainly say to have helped, or why it comes, is a statement; what only sounds like it is none."""

from __future__ import annotations

from pipeline import distil
from pipeline.records import Claim
from tests.distil_factory import document, events
from tests.each import each

SHOWN = '```\nTraceback (most recent call last):\n  File "a.py", line 3, in run\nValueError: wheel 7 does not fit\n```'


def claims(said: str) -> list[Claim]:
    posts = [
        {"kind": "title", "text": "The rack", "author": "asks"},
        {"kind": "body", "text": SHOWN, "author": "asks", "at": "2026-03-01T10:00:00Z"},
        {"kind": "comment", "text": said, "author": "u1", "role": "MEMBER", "at": "2026-03-02T10:00:00Z"},
    ]
    made = document({"number": 7, "kind": "issue", "posts": posts})
    return [one for one in distil.read(made, *events(made)).claims if one.kind.is_statement]


@each(
    "said, rule",
    [
        ("`rack.wheel?.size` fixes the crash here.", "worked.code_fixes"),
        ("`--max-wheels=1` from #120 helped here as well.", "worked.code_fixes"),
        ("`waitForRack: true` helped with the refused wheel.", "worked.code_fixes"),
        ("With `--max-wheels=1` the deadlocks are gone, but it is slow of course.", "worked.with_works"),
        ("Solved: I had to add the secret to the rack: `rackSecrets: [{name: corp}]`.", "worked.solved_had_to"),
        ("As a workaround, removing the `cascade: rack` option works here.", "worked.changing_works"),
        ("Adding a firewall rule for the rack fixed it for us.", "worked.doing_fixes"),
        ("The refused wheel error at start is because the rack does not wait for the database.", "cause.because"),
    ],
)
def test_what_is_plainly_said_is_a_statement(said: str, rule: str) -> None:
    assert rule in {one.rule for one in claims(said)}


@each(
    "said",
    [
        "`rack.wheel?.size` would fix the crash here.",
        "`--max-wheels=1` from #120 is set here as well.",
        "With `--max-wheels=1` the wheels are gone.",
        "With `--max-wheels=1` the deadlocks are gone, but another error comes.",
        "Solved the first half, I had to debug `rack.wheel` for it.",
        "Removing the `cascade: rack` option works on 2.0 only.",
        "Whether removing the `cascade: rack` option works.",
        "The test failure was because the rack is slow there.",
    ],
)
def test_what_only_sounds_like_it_is_none(said: str) -> None:
    told = {"worked.code_fixes", "worked.with_works", "worked.solved_had_to", "worked.changing_works", "cause.because"}
    assert told.isdisjoint(one.rule for one in claims(said))
