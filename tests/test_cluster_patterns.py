"""A cluster's regular expression: proven on members and foreigners, bounded, linear."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import cluster
from pipeline.cluster import partition, patterns, proofs
from tests import linear
from tests.test_cluster import template


def regexes_for(*given: Any) -> dict[str, str]:
    return {owner: proof.regex for owner, proof in cluster.regexes_for(*given).items()}


def regexes(*templates):
    return {one.text: one.regex for one in partition(templates).clusters}


def test_the_expression_matches_messages_with_values_and_no_other_cluster() -> None:
    threads = "out of resource: threads, Required: <n>, Hardware limit: <n>"
    memory = "out of resource: shared memory, Required: <n>, Hardware limit: <n>"
    made = regexes(template(threads, gate={"resource": "threads"}), template(memory, gate={"resource": "memory"}))
    assert re.search(made[threads], "OutOfResources: out of resource: threads, Required: 384, Hardware limit: 256.")
    assert not re.search(made[threads], "out of resource: shared memory, Required: 384, Hardware limit: 256")
    assert re.search(made[memory], memory)


def test_two_clusters_with_equal_text_have_no_expression() -> None:
    text = "the oven overheated while baking <n> loaves"
    made = partition([template(text, gate={"op": "a"}), template(text, gate={"op": "b"})])
    assert [one.regex for one in made.clusters] == ["", ""]


def test_a_text_inside_another_clusters_text_has_no_expression() -> None:
    made = regexes(template("the feeder jammed"), template("the feeder jammed twice: drum <n> is broken beyond repair"))
    assert made["the feeder jammed"] == ""
    assert made["the feeder jammed twice: drum <n> is broken beyond repair"] != ""


def test_wordings_that_share_nothing_become_alternatives() -> None:
    texts = ["fuse <n> of the main board is blown", "short circuit found behind panel <n>"]
    cluster = partition([template(text, gate={"code": "f"}, complete=True) for text in texts]).clusters[0]
    assert cluster.regex.count("|") == 1
    assert all(re.search(cluster.regex, text.replace("<n>", "12")) for text in texts)


def test_nothing_to_name_gives_no_expression() -> None:
    assert set(regexes(template("<n>"), template("a <n>"), template("!!! ???")).values()) == {""}


def test_a_value_glued_to_a_word_is_matched() -> None:
    text = "target sm_<n> is unknown to the assembler"
    assert re.search(regexes(template(text))[text], "target sm_90 is unknown to the assembler")


def test_raw_messages_prove_or_refuse_the_expression() -> None:
    made = partition([template("tray <n> is stuck in slot <n> of the feeder"), template("lamp <n> is dark")]).clusters
    cluster, other = sorted(made, key=lambda one: not one.text.startswith("tray"))

    def expression(messages: list[str], foreign: str) -> str:
        return regexes_for(made, {cluster.cluster_id: messages, other.cluster_id: [foreign]})[cluster.cluster_id]

    good = ["E: tray 7 is stuck in slot 12 of the feeder (again)", "tray 1 is stuck in slot 2 of the feeder"]
    assert expression(good, "tray 7 is lost in slot 12") == cluster.regex
    moved = [*good, "tray 9 is now stuck in slot 4 of the feeder"]
    wider = expression(moved, "tray 7 is lost in slot 12")
    assert wider not in ("", cluster.regex)
    assert all(re.search(wider, message) for message in moved)
    assert expression(good, "tray 8 is stuck in slot 3 of the feeder") == ""


def test_the_expressions_of_many_clusters_are_proven_against_one_another() -> None:
    texts = ["tray <n> is stuck in slot <n> of the feeder", "lamp <n> is dark in the hall", "door <n> is open"]
    made = partition([template(text) for text in texts]).clusters
    messages = {one.cluster_id: [one.text.replace("<n>", "17"), one.text.replace("<n>", "4")] for one in made}
    assert regexes_for(made, messages) == {one.cluster_id: one.regex for one in made}
    thief = next(one for one in made if one.text == texts[2])
    messages[thief.cluster_id] = ["lamp 3 is dark in the hall", "door 7 is open"]
    found = regexes_for(made, messages)
    assert found[next(one.cluster_id for one in made if one.text == texts[1])] == ""


def test_the_words_of_a_known_expression_are_those_that_it_was_made_with() -> None:
    for text in ("target sm_<n> is unknown (a.b|c) to <path> assembler", "tray <n> is stuck | really [x]"):
        made = patterns.alternatives([text])
        assert made is not None
        read = patterns.known(made.regex)
        assert read.regex == made.regex
        assert made.words >= read.words >= made.words - {"a", "b", "c", "x"}
        assert read.words


PARTS = ["tray", "<n>", "stuck", "feeder", "(", "a.b", "[x]", "中", "sm_<n>", "\n", "é", "\\"]
LINES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=14).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6, unique=True))
def test_alternatives_match_all_their_texts_in_both_engines(texts) -> None:
    made = patterns.alternatives(texts)
    if made is not None:
        assert all(re.search(made.regex, text) for text in texts)
        assert proofs.proven_on({"one": (made.regex, texts)}) == {"one"}
        assert not re.search(r"\.\*|\.\+|\]\*|\]\+", made.regex)


def test_an_expression_that_does_not_compile_fails_alone() -> None:
    tried = {"bad": ("(", ["("]), "good": ("tray", ["tray 7"]), "wrong": ("tray", ["drum"])}
    assert proofs.proven_on(tried) == {"good"}


@pytest.mark.parametrize("length", [100_000])
def test_hostile_text_takes_linear_time(length: int) -> None:
    text = "the feeder: <n> then <path> then <shape> then <n> or <name> and <size> jammed at last"
    regex = regexes(template(text))[text]
    piece = "the feeder: 1 then a then b then c or d and e "
    hostile = [piece * (length // len(piece)), " " * length, "the feeder: " * (length // 12)]
    with duckdb.connect(config={"threads": 1}) as connection:
        ask = "SELECT regexp_matches(?, ?)"
        linear.within(5, lambda text: connection.execute(ask, [text, regex]).fetchall(), *hostile)


def test_a_number_is_demanded_where_every_member_has_one_and_others_have_none() -> None:
    one, other = template("the tray refused key <n>"), template("the tray refused key '<quoted>'", gate={"op": "a"})
    made = {found.text: found for found in partition([one, other]).clusters}
    messages = {
        made[one.text].cluster_id: ["the tray refused key 17", "the tray refused key -3"],
        made[other.text].cluster_id: ["the tray refused key 'optimizer' (again)"],
    }
    regex = regexes_for(made.values(), messages)[made[one.text].cluster_id]
    assert re.search(regex, "KeyError: the tray refused key 4,096")
    assert not re.search(regex, "the tray refused key 'optimizer'")


def test_the_end_of_a_line_tells_a_message_from_one_that_goes_on() -> None:
    one, other = template("the feeder jammed twice"), template("the feeder jammed twice since drum <n> broke")
    made = {found.text: found for found in partition([one, other]).clusters}
    messages = {made[one.text].cluster_id: [one.text], made[other.text].cluster_id: [other.text.replace("<n>", "7")]}
    regex = regexes_for(made.values(), messages)[made[one.text].cluster_id]
    assert re.search(regex, "log:\n  the feeder jammed twice \nbye")
    assert not re.search(regex, messages[made[other.text].cluster_id][0])


def test_the_words_of_an_exact_expression_are_read_without_its_edges_and_numbers() -> None:
    made = patterns.alternatives(["key 0 of tray", "key 17 of tray"], is_exact=True)
    assert made is not None
    assert patterns.known(made.regex).words == {"key", "of", "tray"}
    assert made.regex.startswith("(?m:^)")
    assert made.regex.endswith("(?m:$)")


def test_hostile_lines_cost_an_exact_expression_little_in_python_too() -> None:
    made = patterns.alternatives(["the tray refused key 0", "the tray refused key 17"], is_exact=True)
    assert made is not None
    search = re.compile(made.regex, re.ASCII).search
    hostile = (
        "\n" * 100_000,
        " \t" * 50_000,
        "the tray refused key " * 5_000,
        "the tray refused key 1" + "1" * 100_000,
    )
    linear.within(5, search, *hostile)


@pytest.mark.parametrize(("exception", "has_expression"), [(None, True), ("FeederError", False)])
def test_what_only_begins_a_line_without_its_exceptions_name_is_no_expression(
    exception: str | None, has_expression: bool
) -> None:
    one = replace(template("the feeder jammed twice"), exception_type=exception)
    other = template("why the feeder jammed twice", gate={"op": "a"})
    made = {found.text: found for found in partition([one, other]).clusters}
    messages = {made[text.text].cluster_id: [text.text] for text in (one, other)}
    regex = regexes_for(made.values(), messages)[made[one.text].cluster_id]
    assert bool(regex) == has_expression
