"""What a part of the templates gives alone it gives among all: by gates, by families, whatever else there is."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import generator
from pipeline import cluster
from pipeline.cluster import candidates, election, people, proofs, units, work
from pipeline.cluster.people import Override, Overrides
from pipeline.records import Template
from pipeline.records.errors import ConfigError
from tests.test_cluster import TEMPLATES, template

MERGE = Override("merge", "one lamp", ("the northern lamp is dark", "nobody winds the clock of the tower"))
SPLIT = Override("split", "two keys", ("lost the key of drawer <n>", "a goose sits upon the roof"))
#: Templates of which each kind of link connects two that are not themselves without each other.
CONNECTED = (
    template("cannot place the anvil on shelf <n> of the northern store", count=9),
    template("cannot place the anvil on shelf <n> of the northern  store.", count=2),
    template("LampError: bulb of the lamp is burnt", gate={"exception": "LampError"}),
    template("bulb of the lamp is burnt"),
    template("the feeder lost its seventh belt today", count=3),
    template('worker <n> of hall <n> gave up and told the foreman: "the feeder lost its seventh belt today"'),
    template("out of paper in tray <n> of the western printing press", gate={"op": "print"}, count=4),
    template("out of paper in tray <n> of the wes", gate={"op": "print"}, cut=True),
    template("code E7: the press", gate={"code": "E7"}, complete=True, count=2),
    template("E7 again, in other words", gate={"code": "E7"}, complete=True),
    template("bulb of the lamp is burnt", gate={"place": "shop"}),
    template("bulb of the lamp is burnt", gate={"place": "shop/lamp:light"}, count=2),
    *(template(text, count=count) for count, text in enumerate(SPLIT.texts, 2)),
    *(template(text) for text in MERGE.texts),
)
SAID = Overrides((MERGE, SPLIT))
#: Heap of grouping for each more of these texts: 5.1 kB, 4 more while each had a set of its words and its own words.
MOST_BYTES_A_TEXT = 6_500
KINDS = ("near", "untyped", "placed", "quoted", "begun", "complete", "split", "merge")


def said_of(started: work.Work, overrides: Overrides) -> election.Said:
    meaning = people.Meaning(started.templates, overrides.read)
    apart = people.apart_pairs(overrides, meaning)
    return election.Said(apart, people.bonds(overrides, meaning, apart))


def outcome(done: work.Work) -> tuple[object, ...]:
    return done.group, done.rule, sorted(done.refused), done.why


def whole(templates: Sequence[Template], overrides: Overrides = cluster.NONE) -> tuple[object, ...]:
    started = work.work(templates)
    election.elect(started, election.edges(started), said_of(started, overrides))
    return outcome(started)


def by_family(
    templates: Sequence[Template], overrides: Overrides = cluster.NONE, *, parts: int = 1 << 30
) -> tuple[object, ...]:
    """The same from elections of families, or of `parts` lots of families, each with its edges given."""
    started = work.work(templates)
    found, said = election.edges(started), said_of(started, overrides)
    lots: dict[int, list[int]] = {}
    for number, family in enumerate(units.families(started, found, said)):
        lots.setdefault(number % parts, []).extend(family)
    for lot in map(sorted, lots.values()):
        alone = started.of(lot)
        election.elect(alone, found.of(lot), said.of(lot))
        started.take(lot, alone)
    return outcome(started)


@pytest.fixture(scope="module")
def generated() -> list[Template]:
    """Gates of hundreds of texts, whose pairs come from band keys."""
    words = [text for _, text in generator.Messages(11, 300).take(1500)]
    rng = random.Random(5)
    made = {
        one.signature_id: one
        for text in words
        for one in [
            template(text, gate={"op": rng.choice("abc")}, count=rng.randint(1, 9), cut=rng.random() < 0.1)
            if rng.random() < 0.8
            else template(text, gate={"code": rng.choice("EFG")}, complete=True)
        ]
    }
    return list(made.values())


@settings(max_examples=60, deadline=None)
@given(TEMPLATES, st.integers(1, 4))
def test_families_elect_alone_what_they_elect_among_all(templates: list[Template], parts: int) -> None:
    assert by_family(templates) == whole(templates)
    assert by_family(templates, parts=parts) == whole(templates)


@settings(max_examples=40, deadline=None)
@given(TEMPLATES, st.data())
def test_they_do_where_people_merge_and_split(templates: list[Template], data: st.DataObject) -> None:
    texts = sorted({one.text for one in templates})
    if len(texts) < 4:
        return
    some = data.draw(st.permutations(texts))
    rows = (Override("merge", "one", tuple(some[:2])), Override("split", "two", tuple(some[1:4])))
    try:
        expected = whole(templates, Overrides(rows))
    except ConfigError:  # they contradict each other
        return
    assert by_family(templates, Overrides(rows)) == expected


def test_large_gates_elect_by_families(generated: list[Template]) -> None:
    started = work.work(generated)
    found = units.families(started, election.edges(started), election.Said({}, []))
    assert max(map(len, found)) < len(generated) / 3
    assert by_family(generated) == whole(generated)


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_link_can_be_left_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_family(CONNECTED, SAID) == whole(CONNECTED, SAID)
    real = units.links

    def without(*given: object) -> Mapping[str, Iterable[tuple[int, int]]]:
        every = real(*given)  # type: ignore[arg-type]
        assert set(every) == set(KINDS)
        return {name: pairs for name, pairs in every.items() if name != kind}

    monkeypatch.setattr(units, "links", without)
    try:
        found = by_family(CONNECTED, SAID)
    except KeyError:  # an edge leads out of the family
        return
    assert found != whole(CONNECTED, SAID)


@pytest.mark.long
def test_a_hard_gate_is_grouped_alone_as_among_all(generated: list[Template]) -> None:
    templates = [*generated, *CONNECTED]
    expected = cluster.partition(templates)
    gates: dict[object, list[Template]] = {}
    for one in templates:
        gates.setdefault(candidates.placeless(cluster.hard(one.gate)), []).append(one)
    parts = [cluster.partition(own) for own in gates.values()]
    found = sorted((one for part in parts for one in part.assignments), key=lambda one: one.signature_id)
    assert tuple(found) == expected.assignments


@pytest.mark.long
def test_grouping_holds_little_of_each_text(generated: list[Template]) -> None:
    some, more = generated[:200], generated[:700]
    cluster.partition(more)  # tables are read, expressions compiled, and what is kept of each text is there

    def peak(templates: list[Template]) -> int:
        proofs._compiled.cache_clear()
        tracemalloc.start()
        found = cluster.partition(templates)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.clusters
        return held

    # twice: the process's own table of shared texts may grow by half while one of them is measured
    least = [min(peak(templates), peak(templates)) for templates in (some, more)]
    assert (least[1] - least[0]) / (len(more) - len(some)) < MOST_BYTES_A_TEXT


# ---------------------------------------------------------------- band keys


def test_which_texts_of_a_gate_are_compared_no_other_gate_decides(generated: list[Template]) -> None:
    started = work.work([one for one in generated if not one.is_gate_complete])

    def near(templates: Sequence[Template]) -> set[tuple[str, str]]:
        begun = work.work(templates)
        found = election.edges(begun)
        names = [one.signature_id for one in begun.templates]
        return {(names[a], names[b]) for a, b in zip(found.later.tolist(), found.earlier.tolist(), strict=True)}

    gates = {one.gate for one in started.templates}
    parts = [near([one for one in started.templates if one.gate == gate]) for gate in sorted(gates)]
    assert all(parts)
    assert near(started.templates) == set().union(*parts)


def test_keys_that_differ_in_any_bit_have_owners_of_their_own() -> None:
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    # as sorted, these keys differ in bits only that make room for positions
    keys = np.array([(inverse * (7 << 20 | low)) % (1 << 64) for low in (0, 1, 0, 1, 2, 1)], np.uint64)
    later, owner = candidates.star(keys[None, :], owners=2)
    assert list(zip(later.tolist(), owner.tolist(), strict=True)) == [(2, 0), (3, 1), (5, 1), (5, 3)]


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_every_text_meets_the_first_owners_of_its_key(values: list[int], owners: int) -> None:
    keys = np.array([value * 0x0101010101010101 for value in values], np.uint64)
    found = candidates.star(keys[None, :], owners=owners)
    first = {value: [place for place, one in enumerate(values) if one == value][:owners] for value in set(values)}
    expected = [(n, owner) for n, value in enumerate(values) for owner in first[value] if owner < n]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
