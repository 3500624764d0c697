"""Ids that stand as they were, and of which nobody is asked: what comes of it is what comes of asking all."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipeline.records.bundle import Published, Registry
from pipeline.run.build import ids, keyed
from pipeline.run.build.registry import NAMES, Registered

#: Of so few that they come again.
POOL = [f"cluster:{number:08x}" for number in range(60)]


class World:
    """Errors that are grouped otherwise at each step, by signature the cluster; drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.wanted: dict[str, ids.Wanted] = {}
        self.number = 0

    def step(self) -> None:
        """Nothing; some clusters came, went, joined, parted, or are represented, or called, otherwise."""
        for _ in range(self.draw.randint(1, 3)):
            change = self.draw.choice(
                (self._come, self._come, self._go, self._join, self._part, self._turn, self._page)
            )
            if change == self._come or self.wanted:
                change()

    def split(self) -> tuple[list[ids.Wanted], ids.Unchanged]:
        """Some of all clusters, and the others as unchanged."""
        told = [one for one in self.wanted.values() if one.name or self.draw.random() < 0.3]
        rest = {one.cluster_id: one for one in self.wanted.values() if one not in told}
        return told, unchanged(rest)

    def _put(self, *some: ids.Wanted) -> None:
        self.wanted |= {one.cluster_id: one for one in some}

    def _any(self) -> ids.Wanted:
        return self.draw.choice(sorted(self.wanted.values(), key=lambda one: one.cluster_id))

    def _come(self) -> None:
        names = [self.number, self.number + 1]
        self.number += 2
        members = tuple(f"signature:{name}" for name in names)
        self._put(ids.Wanted(self._free(), "press", self._slug(), members[0], members, self._weight()))

    def _go(self) -> None:
        del self.wanted[self._any().cluster_id]

    def _lose(self) -> None:
        one = self._any()
        lost = self.draw.choice(one.members)
        if left := tuple(name for name in one.members if name != lost):
            self._put(replace(one, members=left, medoid=one.medoid if one.medoid != lost else left[0]))

    def _join(self) -> None:
        one, other = self._any(), self._any()
        if one is not other:
            del self.wanted[other.cluster_id]
            medoid = self.draw.choice((one.medoid, other.medoid))
            self._put(replace(one, members=(*one.members, *other.members), medoid=medoid, weight=self._weight()))

    def _part(self) -> None:
        one = self._any()
        at = self.draw.randrange(len(one.members))
        own, other = one.members[:at], one.members[at:]
        if own:
            medoid = one.medoid if one.medoid in own else own[0]
            new = replace(one, cluster_id=self._free(), members=other, medoid=other[0], name="", page_id="")
            self._put(new, replace(one, members=own, medoid=medoid))

    def _turn(self) -> None:
        one = self._any()
        self._put(replace(one, medoid=self.draw.choice(one.members)))

    def _page(self) -> None:
        one = self._any()
        page, name = self.draw.choice((("", ""), ("", f"n{self.draw.randrange(3)}"), (f"press/e{self.number}", "")))
        self._put(replace(one, name=name, page_id=page))

    def _free(self) -> str:
        """An id of a cluster that none has now; others may have had it."""
        return self.draw.choice([one for one in POOL if one not in self.wanted])

    def _slug(self) -> str:
        return f"s{self.draw.randrange(4)}"

    def _weight(self) -> int:
        return self.draw.randrange(1, 4)


def unchanged(rest: Mapping[str, ids.Wanted]) -> ids.Unchanged:
    """Clusters of which nobody is to be asked."""

    def wanted(but: pa.ChunkedArray) -> Iterable[ids.Wanted]:
        return [one for one in rest.values() if one.cluster_id not in but.to_pylist()]

    return ids.Unchanged(
        medoids=pa.table([list(rest), [one.medoid for one in rest.values()]], schema=ids.MEDOIDS),
        page_ids={one.cluster_id: one.page_id for one in rest.values() if one.page_id},
        holders=lambda names: [one.cluster_id for one in rest.values() if {*one.members} & {*names}],
        wanted=wanted,
    )


def differences(seed: int, steps: int = 12) -> Iterator[int]:
    """The steps, from 1, at which asking of some gives other ids, registries or notes than asking of all."""
    world, registry = World(seed), Registered.of()
    for step in range(1, steps + 1):
        world.step()
        whole = ids.assign(world.wanted.values(), registry)
        told, rest = world.split()
        some = ids.assign(told, registry, rest)
        if (some.ids, some.journal) != (whole.ids, whole.journal) or (
            some.registry.record().model_dump_json() != whole.registry.record().model_dump_json()
            or some.registry.digest != whole.registry.digest
        ):
            yield step
        if world.draw.random() < 0.8:  # a build that was not exported leaves no trace
            record = whole.registry.record()
            registry = lying(without_own(record) if world.draw.random() < 0.05 else record)


def lying(registry: Registry) -> Registered:
    """As a home keeps it."""
    return Registered(NAMES, [keyed.Segment("1", Registered.of(registry)._changed_rows())])


def without_own(registry: Registry) -> Registry:
    """As a registry of before has it."""
    older = {name: one.model_copy(update={"own_id": None}) for name, one in registry.ids.items()}
    return registry.model_copy(update={"ids": older})


def test_whoever_stands_need_not_be_asked() -> None:
    assert [seed for seed in range(80) if any(differences(seed))] == []


def test_one_that_stands_is_neither_asked_nor_made_again() -> None:
    world = World(1)
    for _ in range(6):
        world._come()
    registry = ids.assign(world.wanted.values(), Registered.of()).registry
    asked: list[str] = []
    rest = unchanged(world.wanted)

    def wanted(but: pa.ChunkedArray) -> Iterable[ids.Wanted]:
        found = list(rest.wanted(but))
        asked.extend(one.cluster_id for one in found)
        return found

    after = ids.assign([], registry, replace(rest, wanted=wanted)).registry
    assert after == registry
    assert asked == []
    assert lying(registry.record()).digest == registry.digest == after.digest


def test_two_ids_of_one_error_are_asked() -> None:
    one = Published(cluster_id="cluster:1", medoid="signature:1", own_id="press/a")
    other = one.model_copy(update={"own_id": "press/b"})
    registry = Registered.of(Registry(ids={"press/a": one, "press/b": other}))
    want = ids.Wanted("cluster:1", "press", "c", "signature:1", ("signature:1",), 1)
    assert ids.assign([], registry, unchanged({"cluster:1": want})).registry == ids.assign([want], registry).registry


def test_a_former_id_that_leads_nowhere_leads_to_its_error_again() -> None:
    one = Published(cluster_id="cluster:1", medoid="signature:1", own_id="press/a", renamed_from=["press/b"])
    want = ids.Wanted("cluster:1", "press", "c", "signature:1", ("signature:1",), 1)
    registry = Registered.of(Registry(ids={"press/a": one}))
    after = ids.assign([], registry, unchanged({"cluster:1": want})).registry
    assert after.aliases == {"press/b": "press/a"}


def test_one_that_was_withdrawn_and_comes_back_is_asked() -> None:
    one = Published(cluster_id="cluster:1", medoid="signature:1", own_id="press/a")
    want = ids.Wanted("cluster:1", "press", "a", "signature:1", ("signature:1",), 1)
    registry = Registered.of(Registry(ids={"press/a": one}, withdrawn=["press/a"]))
    after = ids.assign([], registry, unchanged({"cluster:1": want})).registry
    assert after.record() == Registry(ids={"press/a": one})


def _but(rules: Any, *given: Any, rule: str) -> dict[str, Any]:
    """What the rules of `ids` say, of which one says nothing."""
    found = rules(*given)
    return {**found, rule: np.ones_like(found[rule])}


MUTANTS: Mapping[str, tuple[str, Any]] = {
    **{rule: ("_rules", partial(_but, ids._rules, rule=rule)) for rule in ("representative", "own id", "page")},
    "cluster claimed": ("_claimed", lambda others, rest: {*rest.holders({*others["medoid"].drop_null().to_pylist()})}),
    "holder claimed": ("_claimed", lambda others, rest: {*others["cluster_id"].drop_null().to_pylist()}),
}


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_no_rule_of_who_stands_can_be_left_out(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, *MUTANTS[mutant])
    assert any(any(differences(seed)) for seed in range(300))
