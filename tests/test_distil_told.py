"""What people plainly say to have helped, or why it comes, is a statement; what only sounds like it is none."""

from __future__ import annotations

from pipeline import distil
from pipeline.distil import tables
from pipeline.distil.claims import doubts, replies
from pipeline.records import Claim, ClaimKind
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
        ("`cmake --build out` did it. Thanks!", "worked.code_fixes"),
        ("That was the reason, it works again with `listen=0.0.0.0:9000`.", "worked.works_again"),
        ("`max_wheels=1` did not help, still the same every second run.", "failed.code_did_not"),
        ("I raised `rack.memory` to 16g and it still dies with the same error.", "failed.did_but"),
        ("I had the same issue and setting `rack.wheels=2` fixed it.", "worked.doing_fixes"),
        ("`sudo apt install librack-dev` 解决。", "worked.zh_code"),
        ("加了 rackbouncer 之后问题解决了。", "worked.zh"),
        ("装了 `rack-net` 就编译通过了。", "worked.zh"),
        ("安装 `librack-dev` 后配置成功。", "worked.zh"),
        ("把 RackTrimmed 设为 false 后可以启动了。", "worked.zh"),
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
        "Please try using rack 2.0 or 2.1 as this bug has been fixed.",
        "I also tried to set `rack.wheels=1` explicitly, but it still failed:\n\n```\nno wheel\n```",
        "`cmake --build out` did it on 2.0 only.",
        "If `max_wheels=1` did not help, tell me.",
        "It works again with `listen=0.0.0.0:9000`, but the rack is slow.",
        "`sudo apt install librack-dev` 解决不了。",
        "把 max_wheels 改成 5000 就行了。",
        "把 `idle_timeout` 调小就可以了。",
        "把 `rack.memory` 改成 4g 即可。",
        "I raised `rack.memory` to 16g and the rack is full.",
    ],
)
def test_what_only_sounds_like_it_is_none(said: str) -> None:
    assert all(one.outcome is None and one.kind != ClaimKind.CAUSE for one in claims(said))


CONFIRMED = tables.table("cues.toml")["confirmed"]


@each(
    "row, number, is_found",
    [
        ("examples", 0, True),
        ("named_examples", 1, True),
        ("lookalikes", 0, False),
        ("named_lookalikes", 1, False),
    ],
)
def test_words_that_confirm_find_their_examples_and_no_look_alike(row: str, number: int, is_found: bool) -> None:
    *patterns, refuse = tables.confirmed()
    for text in CONFIRMED[row]:
        assert bool(patterns[number].search(text) and not refuse.search(text)) == is_found, text


def confirmed(advice: str, said: str, *, who: str = "asks") -> dict[str, int]:
    """What the trained reader alone finds in advice that somebody else gives, with the share of it."""
    posts = [
        {"kind": "title", "text": "The rack", "author": "asks"},
        {"kind": "body", "text": SHOWN, "author": "asks", "at": "2026-03-01T10:00:00Z"},
        {"kind": "comment", "text": advice, "author": "u1", "role": "MEMBER", "at": "2026-03-02T10:00:00Z"},
        {"kind": "comment", "text": said, "author": who, "role": "NONE", "at": "2026-03-03T10:00:00Z"},
    ]
    made = document({"number": 7, "kind": "issue", "posts": posts})
    claims = distil.read(made, *events(made)).claims
    found = [one for one in claims if one.kind == ClaimKind.CANDIDATE and made.post_at(one.quote.start) == 2]
    return {one.quote.text: one.share or 0 for one in found}


ADVICE = "`src/wheel.cpp` is missing from `rack_sources`. Add it to the list of `rack_sources` there."


@each(
    "said, who, is_sure",
    [
        ("That solved it, thanks.", "asks", True),
        ("With `rack_sources` right it builds.", "asks", True),
        ("That did not help.", "asks", False),
        ("`rack_sources` is in my file already.", "asks", False),
        ("That solved it, thanks.", "u2", False),
    ],
)
def test_what_who_asked_confirms_is_sure_enough_for_a_lead(said: str, who: str, is_sure: bool) -> None:
    found = confirmed(ADVICE, said, who=who)
    assert found
    assert (max(found.values()) >= doubts.CONFIRMED) == is_sure, found


def test_an_order_is_no_question() -> None:
    assert replies.is_order("Add it to the list.")
    assert not replies.is_order("Can you run it from a shell?")
