"""What people plainly say to have helped, or why it comes, is a statement; what only sounds like it is none."""

from __future__ import annotations

from typing import Any

from pipeline import distil
from pipeline.distil import tables
from pipeline.distil.claims import replies
from pipeline.distil.material import Reading
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


def answered(advice: str, *said: str, who: str | None = "asks", helper: str | None = "u1") -> Reading:
    """What is read of a report, of what somebody advises, and of the next posts; None: nobody knows who they are."""
    opener = None if who is None else "asks"
    posts: list[dict[str, Any]] = [
        {"kind": "title", "text": "The rack", "author": opener},
        {"kind": "body", "text": SHOWN, "author": opener, "at": "2026-03-01T10:00:00Z"},
        {"kind": "comment", "text": advice, "author": helper if opener else None, "at": "2026-03-02T10:00:00Z"},
    ]
    posts += [{"kind": "comment", "text": one, "author": who, "at": "2026-03-03T10:00:00Z"} for one in said]
    made = document({"number": 7, "kind": "issue", "posts": posts})
    return distil.read(made, *events(made))


def confirmed(read: Reading) -> list[tuple[str, str]]:
    """(rule, quote) of what next posts confirm."""
    rules = {"reply.confirmed", "cause.confirmed"}
    return [(one.rule, one.quote.text) for one in read.claims if one.rule in rules]


ADVICE = "Add `src/wheel.cpp` to the list of `rack_sources`."


@each(
    "said, who, is_confirmed",
    [
        ("That solved it, thanks.", "asks", True),
        ("That solved it, thanks.", "u2", True),
        ("That solved it, thanks.", None, True),
        ("With `rack_sources` right it builds.", "asks", True),
        ("With `rack_sources` right it builds.", None, True),
        ("With the list it builds.", None, False),
        ("That did not help.", "asks", False),
        ("`rack_sources` is in my file already.", "asks", False),
        ("Great, glad that solved it!", None, False),
        ("That solved it, thanks.", "u1", False),
        ("谢谢，这样就好了", "asks", True),
        ("还是不行", "asks", False),
        ("把 `rack_sources` 补上之后没有再出现，谢谢！", "asks", True),
        ("设置 `rack_sources` 后正常了。", "asks", True),
        ("设置 `rack_sources` 后还是没有成功。", "asks", False),
    ],
)
def test_advice_that_the_next_post_plainly_confirms_has_helped(said: str, who: str | None, is_confirmed: bool) -> None:
    found = confirmed(answered(ADVICE, said, who=who))
    assert found == ([("reply.confirmed", ADVICE)] if is_confirmed else [])


def test_of_two_things_that_are_advised_the_named_one_has_helped() -> None:
    both = f"{ADVICE} Set `rack_mode=2` in the second file."
    assert confirmed(answered(both, "That solved it, thanks.")) == []
    assert confirmed(answered(both, "With `rack_mode=2` it builds.")) == [
        ("reply.confirmed", "Set `rack_mode=2` in the second file.")
    ]


def test_what_advice_points_at_is_shown_with_it() -> None:
    read = answered("`src/wheel.cpp` is missing from `rack_sources`. Add it there.", "That solved it, thanks.")
    (act,) = (one for one in read.claims if one.rule == "reply.confirmed")
    assert act.passage is not None
    assert act.passage.text == "`src/wheel.cpp` is missing from `rack_sources`."
    read = answered("You could use something like:\n\n```\nrack.build(mode=2)\n```", "That solved it, thanks.")
    (act,) = (one for one in read.claims if one.rule == "reply.confirmed")
    assert act.passage is not None
    assert act.passage.text == "rack.build(mode=2)"
    assert confirmed(answered("You could use something like", "That solved it, thanks.")) == []


def test_an_act_that_both_tell_is_told_once() -> None:
    read = answered("Add the wheel to `rack_sources` and build it again.", "Works after adding it to `rack_sources`.")
    assert [one.rule for one in read.claims if one.kind == ClaimKind.REMEDY] == ["reply.confirmed"]
    read = answered("Put two of them into `rack_wheels`.", "Setting `rack_wheels=2` fixed it.")
    assert [one.rule for one in read.claims if one.kind == ClaimKind.REMEDY] == ["worked.doing_fixes"]


def test_of_two_ways_none_is_typed() -> None:
    (act,) = (one for one in answered("Run it there or pass `--rack DIR`.", "`--rack DIR` works.").claims)
    assert (act.rule, act.fact) == ("reply.confirmed", None)


@each(
    "said, who, is_stated",
    [
        ("That was the reason, it builds now.", "asks", True),
        ("That was it!", "asks", True),
        ("Thanks, I will look.", "asks", False),
        ("That was it!", "u2", False),
        ("That was not it.", "asks", False),
    ],
)
def test_why_it_came_is_stated_where_who_asked_says_so(said: str, who: str, is_stated: bool) -> None:
    why = "The list of `rack_sources` has no wheel in the second file."
    assert (("cause.confirmed", why) in confirmed(answered(f"{why} {ADVICE}", said, who=who))) == is_stated


@each(
    "said", ["Sorry, that was our rack.", "I fixed the wheel of `rack_sources` today.", "Which `rack_sources` is it?"]
)
def test_what_says_nothing_of_why_is_no_cause_though_confirmed(said: str) -> None:
    assert all(rule != "cause.confirmed" for rule, _ in confirmed(answered(said, "That was it!")))


ADVISES, MOVED_ON = tables.table("cues.toml")["advises"], tables.table("cues.toml")["moved_on"]


def test_advice_and_what_has_moved_on_find_their_examples_and_no_look_alike() -> None:
    pattern, refuse = tables.advises()
    for row in ("examples", "lookalikes"):
        for text in ADVISES[row]:
            is_found = bool(pattern.search(text) and not refuse.search(text))
            assert is_found == (row == "examples"), text
        for text in MOVED_ON[row]:
            assert bool(tables.moved_on().search(text)) == (row == "examples"), text


def test_what_an_earlier_post_says_already_is_a_quotation() -> None:
    said = "I tried adding the second wheel to `rack_sources`, but no change."
    read = answered("Which rack is it?", said, f"{said} Any advice? What did you do then?", who=None)
    assert [one.outcome for one in read.claims if one.kind == ClaimKind.REMEDY] == ["failed"]
    assert [one.reason for one in read.skipped] == ["quoted_reply"]


def test_an_order_is_no_question() -> None:
    assert replies.is_order("Add it to the list.")
    assert not replies.is_order("Can you run it from a shell?")
