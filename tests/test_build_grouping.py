"""What is grouped from what the last build kept is what is grouped from nothing, whatever came, changed or went."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import generator
from pipeline import cluster
from pipeline.cluster import candidates, leaders, neighbours, proofs, units
from pipeline.cluster.work import work
from pipeline.records import Template
from pipeline.run.build import grouping, keyed
from pipeline.run.build.grouping import NOTHING, Kept, KeptProofs
from pipeline.run.build.rows import TEMPLATES
from tests.rings import one_in, quick_alone
from tests.test_cluster import template
from tests.test_cluster_families import CONNECTED

NO_PROOFS = KeptProofs.of()
WORDS = ("anvil", "belt", "tray", "shelf", "press", "goose", "clock")
#: Texts that have nothing to do with each other, so many that their gate is not compared text by text.
MANY = tuple(
    template(" ".join(f"{word}{number}{word[::-1]}" for word in WORDS)) for number in range(candidates.DIRECT_TEXTS + 4)
)


def in_order(templates: Sequence[Template]) -> list[Template]:
    return sorted(templates, key=lambda one: one.signature_id)


def from_kept(templates: Sequence[Template], last: Kept, proofs: KeptProofs = NO_PROOFS) -> tuple[Any, Kept]:
    found, kept, _ = grouping.grouped(TEMPLATES.write(in_order(templates)), last, proofs)
    return found, kept


def told_apart(before: Sequence[Template], after: Sequence[Template], last: Kept, found: Any) -> tuple[Any, Kept]:
    """`after` grouped where it is told which templates are others than `before`."""
    there, now = ({one.signature_id: one for one in some} for some in (before, after))
    shown = {name for name in there.keys() | now.keys() if there.get(name) != now.get(name)}
    made, kept, _ = grouping.grouped(TEMPLATES.write(in_order(after)), last, found.proofs, shown=shown)
    return made, kept


def differs(before: Sequence[Template], after: Sequence[Template]) -> list[str]:
    """In what `after` is otherwise when it is grouped from what was kept of `before`."""
    first, kept = from_kept(before, NOTHING)
    found, left = from_kept(after, kept, first.proofs)
    anew, fresh = from_kept(after, NOTHING)
    tables = [name for name, table in fresh.tables().items() if not left.tables()[name].equals(table)]
    return [*tables, *(["partition"] if found != anew else []), *(["all"] if anew != cluster.partition(after) else [])]


# ---------------------------------------------------------------- any history


def made_up(seed: int) -> list[Template]:
    """Texts of small gates and of one large, that are alike, quote, begin, and say all by their gate."""
    rng = random.Random(seed)
    found = {one.signature_id: one for one in CONNECTED}
    for text in [text for _, text in generator.Messages(seed, 90).take(90)]:
        kind = rng.randrange(9)
        words = {
            0: " ".join(text.split()[: max(3, len(text.split()) * 2 // 3)]),
            1: f'worker <n> gave up and told the foreman: "{text}"',
            2: f"{text} {rng.choice(WORDS)}",
        }.get(kind, text)
        gate = {3: {"code": rng.choice("AB")}, 4: {"exception": "BeltError"}}.get(kind)
        is_complete = kind == 3 and rng.random() < 0.2
        one = template(words, gate=gate, cut=kind == 0, complete=is_complete, count=rng.randrange(1, 9))
        found[one.signature_id] = one
    return list(found.values())


def steps(seed: int, count: int) -> Iterator[list[Template]]:
    """Some templates, then more, fewer and others."""
    rng = random.Random(seed)
    every = made_up(seed)
    rng.shuffle(every)
    there = every[: len(every) // 2]
    for _ in range(count):
        yield there
        few, names = rng.choice((1, 3, 12)), {one.signature_id for one in there}
        there = rng.sample(there, len(there) - rng.choice((0, 1, few)))
        there = [changed(rng, one) if rng.random() < few / len(there) else one for one in there]
        some = [one for one in every if one.signature_id not in names]
        there += rng.sample(some, min(len(some), rng.choice((0, 1, few))))


def changed(rng: random.Random, one: Template) -> Template:
    return replace(one, count=one.count + rng.randrange(9), first_seen=f"202{rng.randrange(9)}-01-01")


@pytest.mark.parametrize("seed", quick_alone([1, 2], [1]))
def test_who_comes_changes_and_goes_is_grouped_as_if_all_were_new(seed: int) -> None:
    (found, kept), before = from_kept((), NOTHING), list[Template]()
    for there in steps(seed, 5):
        assert told_apart(before, there, kept, found) == from_kept(there, kept, found.proofs)
        (found, kept), before = from_kept(there, kept, found.proofs), there
        anew, fresh = from_kept(there, NOTHING)
        assert found == anew == cluster.partition(there)
        assert kept == fresh


def test_what_nobody_touched_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    first, kept = from_kept((*MANY, *CONNECTED), NOTHING)
    asked: list[int] = []

    def counted(templates: Sequence[Template], **given: Any) -> units.Alone:
        asked.append(len(templates))
        return real(templates, **given)

    real = units.alone
    monkeypatch.setattr(units, "alone", counted)
    from_kept((*MANY, *CONNECTED), kept, first.proofs)
    from_kept((*MANY, *CONNECTED, template("nobody winds the clock of the western tower")), kept, first.proofs)
    assert asked[0] == 0
    assert 0 < asked[1] < 6


# ---------------------------------------------------------------- each rule by itself

#: Texts of one sentence with four words in it, in gates of two each: few are one error, many look alike.
NEAR = tuple(
    template(
        "cannot place the {} on {} <n> of the northern {} while the {} was open".format(*drawn),
        gate={"op": str(number % 45)},
        count=1 + number % 8,
    )
    for number, drawn in enumerate(random.Random(1).sample(tuple(product(WORDS, repeat=4)), 90))
)
WES = "goose <n> of the wes"
BELT = "the feeder lost its seventh belt today"


@dataclass(frozen=True)
class Case:
    """What was there, and what came; ranks decide behind `most` texts of a key, neighbours behind `owners`."""

    before: Sequence[Template]
    came: Sequence[Template]
    most: int = 256
    owners: int = neighbours.OWNERS


CASES: Mapping[str, Case] = {
    "band": Case(
        [*MANY, template("cannot place the anvil on shelf <n> of the northern store")],
        [template("could not place the anvil on shelf <n> of the northern store")],
    ),
    "quoted": Case(
        [*MANY, template(BELT)], [template(f'worker <n> of hall <n> gave up and told the foreman: "{BELT}"')]
    ),
    "quoting": Case(
        [*MANY, template(f'worker <n> of hall <n> gave up and told the foreman: "{BELT}"')], [template(BELT)]
    ),
    "begun": Case([*MANY, template(WES, cut=True)], [template("goose <n> of the west")]),
    "untyped": Case(
        [*MANY, template("LampError: bulb of the lamp is burnt", gate={"exception": "LampError"})],
        [template("bulb of the lamp is burnt")],
    ),
    "placed": Case(
        [*MANY, template("bulb of the lamp is burnt", gate={"place": "shop"})],
        [template("bulb of the lamp is burnt", gate={"place": "shop/lamp:light"})],
    ),
    "placed elsewhere": Case(
        [
            *MANY,
            template("E7", gate={"kind": "burnt", "place": "shop"}, complete=True),
            template("E7", gate={"kind": "burnt", "place": "shop/lamp:light"}, complete=True),
        ],
        [template("E7", gate={"kind": "burnt", "place": "shop/lamp:dim"}, complete=True)],
    ),
    "small gate": Case(
        [template("cannot place the anvil on shelf <n> of the northern store", gate={"op": "put"})],
        [template("could not place the anvil on shelf <n> of the northern store", gate={"op": "put"})],
    ),
    "complete gate": Case(
        [template("code E7: the press", gate={"code": "E7"}, complete=True)],
        [template("in other words", gate={"code": "E7"})],
    ),
    "gate that grows": Case(MANY[: candidates.DIRECT_TEXTS], MANY[candidates.DIRECT_TEXTS :]),
    "ranks of what begins alike": Case(
        [
            *MANY,
            template("goose <n> flew over farms and looked for corn where no corn grew", count=9),
            template("goose <n> of the west", count=3),
            template(WES, cut=True),
        ],
        [
            template("goose <n> is behind seven blue hills without any shoes", count=5),
            template("goose <n> was told by nobody how far it had been to market", count=4),
        ],
        most=3,
    ),
    "units of what begins alike": Case(
        [
            *MANY,
            template("goose <n> flew over farms", count=9),
            template("goose <n> is gone", count=5),
            template(f"goose <n> said: {BELT} in the west", count=3),
            template(f"goose <n> said: {BELT} in the wes", cut=True),
        ],
        [template(BELT)],
        most=2,
    ),
    "witness": Case([*MANY, template("the lamp is burnt")], [template("the lamp is burnt out since yesterday")]),
    "found elsewhere": Case(
        [*MANY, template("the lamp is burnt out", gate={"op": "put"})],
        [template("since yesterday the lamp is burnt out again", gate={"op": "lay"})],
    ),
    "finds elsewhere": Case(
        [*MANY, template("since yesterday the lamp is burnt out again", gate={"op": "lay"})],
        [template("the lamp is burnt out", gate={"op": "put"})],
    ),
    "owners of neighbours": Case(NEAR[:-2], NEAR[-2:], owners=1),
    "neighbours": Case(
        [*MANY, template("cannot place the anvil on shelf <n> of the northern store", gate={"op": "put"})],
        [template("cannot place the anvil on shelf <n> of the southern stone", gate={"op": "lay"})],
    ),
}


def shown(case: Case) -> list[str]:
    """In what a case is otherwise when what it brings comes, or when it goes."""
    both = [*case.before, *case.came]
    return [*differs(case.before, both), *differs(both, case.before)]


@pytest.fixture
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    found = CASES[request.param]
    monkeypatch.setattr(leaders, "COMPARED_TEXTS", found.most)
    monkeypatch.setitem(units.CROWDED, units.BEGINNING, found.most)
    monkeypatch.setattr(neighbours, "OWNERS", found.owners)
    return found


@pytest.mark.parametrize("case", one_in(4, CASES), indirect=True)
def test_each_way_in_which_texts_matter_to_each_other_is_followed(case: Case) -> None:
    assert shown(case) == []


def without(kind: int) -> Callable[..., Any]:
    """Keys of the templates that came, without those of a kind."""

    def keys(templates: Sequence[Template], *, large: Any) -> units.Keys:
        sides = units.keys_of(work(templates), large)
        left = [
            units.Ragged(one.rows[one.keys % units.KINDS != kind], one.keys[one.keys % units.KINDS != kind])
            for one in (sides.own, sides.asked)
        ]
        return units.Keys(*left)

    return keys


def asked(how: Callable[[Any, pa.Table, pa.Table, pa.Array, bool], Any]) -> Callable[..., Any]:
    """Another `_asked`, made of the real one and what it is given."""
    real = grouping._asked
    return lambda clusters, gone, new, *, is_small: how(
        lambda gone: real(clusters, gone, new, is_small=is_small), clusters, gone, new, is_small
    )


def only_new(real: Any, clusters: pa.Table, gone: pa.Table, new: pa.Array, _: bool) -> Any:
    return keyed.is_in(clusters["cluster_id"], new), real(gone)[1]


#: Each rule that says whom a change concerns, left out; the case that shows it.
MUTANTS: Mapping[str, tuple[str, object, str, object]] = {
    "bands": ("band", units, "keys", without(units.BAND)),
    "what is quoted": ("quoted", units, "keys", without(units.QUOTE)),
    "what quotes": ("quoting", units, "keys", without(units.QUOTE)),
    "beginnings": ("begun", units, "keys", without(units.BEGINNING)),
    "types": ("untyped", units, "keys", without(units.UNTYPED)),
    "places": ("placed", units, "keys", without(units.PLACED)),
    "places that are several": ("placed elsewhere", units, "keys", without(units.PLACED)),
    "small gates": ("small gate", grouping, "_whole_gates", lambda *_: pa.array([], pa.string())),
    "complete gates": ("complete gate", grouping, "_whole_gates", lambda *_: pa.array([], pa.string())),
    "gates that grow": ("gate that grows", grouping, "_whole_gates", lambda *_: pa.array([], pa.string())),
    "crowds": ("ranks of what begins alike", grouping, "_crowded", lambda *_: np.empty(0, np.uint32)),
    "units of crowds": ("units of what begins alike", units, "_crowd", lambda *_: ()),
    "who may be a neighbour": ("neighbours", grouping, "_asked", asked(only_new)),
    "who owns the keys of neighbours": (
        "owners of neighbours",
        grouping,
        "_asked",
        asked(lambda real, _clusters, gone, _new, _: (real(gone)[0], real(gone)[0])),
    ),
    "neighbours of who went": (
        "owners of neighbours",
        grouping,
        "_asked",
        asked(lambda real, _clusters, gone, _new, _: real(gone.slice(0, 0))),
    ),
    "who refuted an expression": ("witness", proofs, "_is_there", lambda *_: True),
    "who refutes an expression": ("witness", proofs.Came, "found_by", lambda *_: set()),
    "expressions that may find": ("found elsewhere", KeptProofs, "that_may_find", lambda *_: []),
    "texts that may be found": ("finds elsewhere", grouping.Masked, "holding", lambda *_: iter(())),
    "texts that came": ("witness", grouping, "_came", lambda *_: []),
}


@pytest.mark.long
@pytest.mark.parametrize(("case", "mutant"), [(one[0], name) for name, one in MUTANTS.items()], indirect=["case"])
def test_no_rule_of_whom_a_change_concerns_can_be_left_out(
    case: Case, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, where, rule, instead = MUTANTS[mutant]
    monkeypatch.setattr(where, rule, instead)
    assert shown(case)
