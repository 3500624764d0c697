"""Texts that differ in values only, and words without their exception type: who joins, and who does not."""

from __future__ import annotations

import pytest

from pipeline import cluster
from pipeline.cluster.aligned import is_same
from pipeline.cluster.shapes import shape
from pipeline.records import Signature, Template, content_id


def template(text: str, *gate: tuple[str, str], count: int = 1) -> Template:
    return Template(content_id("signature", repr(gate), text), None, text, tuple(sorted(gate)), False, False, count, "")


def together(*templates: Template) -> bool:
    assert cluster.partition(templates) == cluster.partition(templates[::-1])
    return len(cluster.partition(templates).clusters) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Variable <path> already exists, disallowed", "Variable mixer_of_third_drum_w7 already exists, disallowed"),
        ("paint tensor contains either '<quoted>' or drops", "paint tensor contains either inf, nan or drops"),
        ("Tensor wants hue <dtype> for hue <dtype>", "Tensor wants hue string for hue <dtype>"),
        ("<n> of drum <path> fell off its axle", "<n> of drum big outer wheel fell off its axle"),
    ],
)
def test_a_slot_stands_for_words_that_no_mask_knew(one: str, other: str) -> None:
    assert is_same(shape(template(one)), shape(template(other)))
    assert is_same(shape(template(other)), shape(template(one)))
    assert together(template(one, count=3), template(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("drum <n> of the press fell off", "drum <n> of the mixer fell off"),  # no slot stands against the word
        ("drum <path> is ready to turn", "drum not is ready to turn"),  # a word that turns the meaning round
        ("press wants the <path> side of sheet", "press wants the lower side of sheet"),  # one of two that exclude
        ("drum <path> fell", "drum axle fell"),  # too few words
        ("drum <path> fell off its axle", "drum one two three four fell off its axle"),  # too many for one slot
    ],
)
def test_other_words_are_no_values(one: str, other: str) -> None:
    assert not is_same(shape(template(one)), shape(template(other)))
    assert not together(template(one, count=3), template(other))


def test_words_without_their_type_join_the_only_type_that_prints_them() -> None:
    typed = template("DrumError: axle is bent", ("exception", "DrumError"), count=3)
    bare = template("axle is bent")
    assert together(typed, bare)
    other = template("PressError: axle is bent", ("exception", "PressError"))
    assert len(cluster.partition([typed, other, bare]).clusters) == 3  # two types print them: nobody knows which
    assert not together(template("DrumError: bent", ("exception", "DrumError")), template("bent"))  # one word


def test_a_new_message_joins_by_the_same_rules() -> None:
    known = [
        template("DrumError: axle is bent", ("exception", "DrumError")),
        template("Variable <path> already exists, disallowed"),
    ]
    index = cluster.Index(cluster.partition(known), known)

    def rule(text: str) -> str:
        found = index.assign(Signature("signature:x", None, text, (), False, "", (), "own-message", 0, 0, False, ()))
        return found.rule if isinstance(found, cluster.Match) else ""

    assert rule("axle is bent") == "untyped"
    assert rule("Variable mixer_of_third_drum_w7 already exists, disallowed") == "slot"
    assert rule("Variable mixer_of_third_drum_w7 already left, disallowed") == ""


def test_the_rule_is_stored_with_the_decision() -> None:
    rows = [
        template("Variable <path> already exists, disallowed", count=3),
        template("Variable mixer_of_third_drum_w7 already exists, disallowed"),
        template("DrumError: axle is bent", ("exception", "DrumError"), count=3),
        template("axle is bent"),
    ]
    found = cluster.partition(rows)
    told = {one.signature_id: (one.rule, one.explanation) for one in found.assignments}
    assert told[rows[1].signature_id][0] == "slot"
    assert "word for word" in told[rows[1].signature_id][1]
    assert told[rows[3].signature_id][0] == "untyped"
    assert '"DrumError: axle is bent" without their exception type' in told[rows[3].signature_id][1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dial unix <path>: no such file or directory", "<n> <path>: No such file or directory"),
        ("exec <n>c: no such file or directory", "exec <path>: no such file or directory"),
        ("KilnError: <path>", "KilnError: '<quoted>'"),
    ],
)
def test_what_the_system_says_of_any_call_and_a_lone_value_join_nobody(one: str, other: str) -> None:
    assert not together(template(one, count=3), template(other))


def test_equal_texts_of_a_lone_value_are_one() -> None:
    assert together(template("KilnError: <path>", count=3), template("KilnError:  <path>"))


def test_a_parse_error_is_no_type_s_own() -> None:
    known = template("ClayError: parse error", ("exception", "ClayError"), count=3)
    assert not together(known, template("parse error"))
    telling = template("ClayError: cold clay", ("exception", "ClayError"), count=3)
    assert together(telling, template("cold clay"))
