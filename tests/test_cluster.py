"""Grouping: case folders first, then what must hold for any templates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import cluster
from pipeline.cluster.leaders import CUTOFF
from pipeline.records import Template, content_id

CASES = sorted((Path(__file__).parent / "cases" / "cluster").iterdir())


def template(
    text: str,
    *,
    gate: dict[str, str] | None = None,
    count: int = 1,
    first_seen: str = "",
    complete: bool = False,
    cut: bool = False,
) -> Template:
    pairs = tuple(sorted((gate or {}).items()))
    return Template(
        content_id("signature", "1", repr(pairs), text), None, text, pairs, complete, cut, count, first_seen
    )


def groups_of(templates: Sequence[Template], partition: cluster.Partition) -> set[frozenset[str]]:
    texts = {one.signature_id: one.text for one in templates}
    return {frozenset(texts[member] for member in one.members) for one in partition.clusters}


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_case_gives_the_expected_groups(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "input.jsonl").read_text(encoding="utf-8").splitlines()]
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    path = folder / "overrides.toml"
    overrides = cluster.read_overrides(path) if path.exists() else cluster.NONE
    templates = [template(**row) for row in rows]
    found = cluster.partition(templates, overrides=overrides)
    assert groups_of(templates, found) == {frozenset(group) for group in expected["groups"]}
    reasons = {neighbour.reason for neighbour in found.neighbours}
    assert set(expected["reasons"]) <= reasons


WORDS = ["gadget", "widget", "row", "column", "not", "failed", "queue", "<n>", "<path>", "the", "started", "paused"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
TEMPLATES = st.lists(
    st.builds(
        template,
        TEXTS,
        gate=st.sampled_from([{}, {"code": "a"}, {"code": "b"}]),
        count=st.integers(1, 4),
        first_seen=st.sampled_from(["", "2024-01-01", "2025-01-01"]),
        complete=st.just(False),
        cut=st.booleans(),
    ),
    max_size=24,
    unique_by=lambda one: one.signature_id,
)


@settings(max_examples=60, deadline=None)
@given(TEMPLATES, st.randoms(use_true_random=False))
def test_any_order_gives_the_same_partition(templates, rng) -> None:
    expected = cluster.partition(templates)
    rng.shuffle(templates)
    assert cluster.partition(templates) == expected


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(TEMPLATES, st.randoms(use_true_random=False))
def test_templates_counted_by_several_workers_give_the_same_partition(templates, rng) -> None:
    expected = cluster.partition(templates)
    parts = []
    for one in templates:
        fields = {name: getattr(one, name) for name in one.__slots__}
        parts.extend(Template(**{**fields, "count": 1}) for _ in range(one.count))
    rng.shuffle(parts)
    assert cluster.partition(parts) == expected


@settings(max_examples=60, deadline=None)
@given(TEMPLATES)
def test_every_template_is_in_one_cluster_and_no_cluster_crosses_a_gate(templates) -> None:
    found = cluster.partition(templates)
    gates = {one.signature_id: one.gate for one in templates}
    members = [member for one in found.clusters for member in one.members]
    assert sorted(members) == sorted(gates)
    assert found.cluster_of().keys() == gates.keys()
    assert all({gates[member] for member in one.members} == {one.gate} for one in found.clusters)
    assert len({one.cluster_id for one in found.clusters}) == len(found.clusters)


@settings(max_examples=60, deadline=None)
@given(TEMPLATES)
def test_fuzzy_members_are_never_below_the_cutoff_against_their_medoid(templates) -> None:
    found = cluster.partition(templates)
    assert all(one.score >= CUTOFF for one in found.assignments if one.rule in ("ratio", "equal"))


def test_later_members_do_not_rename_a_cluster() -> None:
    early = template("the press ran dry after <n> sheets of <size>", first_seen="2023-05-01")
    before = cluster.partition([early]).clusters[0]
    late = template("the press ran dry after <n> sheets of <size>!", first_seen="2024-05-01", count=900)
    undated = template("a press ran dry after <n> sheets of <size>")
    after = cluster.partition([late, early, undated]).clusters[0]
    assert after.cluster_id == before.cluster_id
    assert after.medoid == late.signature_id
    assert len(after.members) == 3


def test_a_cut_text_never_names_a_cluster_that_has_a_full_text() -> None:
    cut = template("the press ran dry after <n> she...", cut=True, first_seen="2020-01-01", count=99)
    full = template("the press ran dry after <n> sheets of <size>", first_seen="2024-01-01")
    found = cluster.partition([cut, full]).clusters[0]
    assert found.cluster_id == cluster.partition([full]).clusters[0].cluster_id
    assert found.medoid == full.signature_id


def test_a_cut_text_joins_although_the_words_that_make_a_gate_were_cut_off() -> None:
    full = template("the press ran dry after <n> sheets and could not stop", gate={"polarity": "negative"})
    cut = template("the press ran dry after <n> she...", cut=True)
    typed = template("ValueError: the press ran...", gate={"exception": "ValueError"}, cut=True)
    other = template("the press ran dry after <n> sheets of cuda", gate={"backend": "cuda"})
    assert len(cluster.partition([full, cut, typed]).clusters) == 1
    assert len(cluster.partition([other, cut]).clusters) == 2


def test_a_cut_text_joins_what_quoting_texts_have_joined() -> None:
    full = template("the press ran dry after <n> sheets and the roll stood still")
    longer = template("the press ran dry after <n> sheets and the roll stood still when we came back")
    cut = template("the press ran dry after <n> sheets and...", cut=True)
    assert len(cluster.partition([full, longer, cut]).clusters) == 1


def test_a_chain_of_small_steps_is_not_one_cluster() -> None:
    texts = [" ".join([*(f"old{place}" for place in range(step, 30)), "the", "the"]) for step in range(12)]
    found = cluster.partition([template(text) for text in texts])
    together = found.cluster_of()
    assert together[template(texts[0]).signature_id] != together[template(texts[-1]).signature_id]


def test_explanations_name_the_gate_the_rule_and_the_score() -> None:
    one = template("tray <n> is stuck in slot <n> of the feeder", gate={"module": "feeder"}, count=3)
    two = template("tray <n> is stuck in slot <n> of the feeder!!", gate={"module": "feeder"})
    found = {row.signature_id: row for row in cluster.partition([one, two]).assignments}
    sentence = found[two.signature_id].explanation
    assert found[two.signature_id].rule == "ratio"
    assert "module feeder" in sentence
    assert f"{found[two.signature_id].score:.1f} >= {CUTOFF:.0f}" in sentence


def test_a_large_gate_gives_what_pair_by_pair_comparison_gives(monkeypatch) -> None:
    from pipeline.cluster import candidates

    nouns = [f"part{place}x" for place in range(40)]
    templates = [
        template(f"{noun} of the {noun} press came loose at station <n> {tail}", count=40 - place)
        for place, noun in enumerate(nouns)
        for tail in ("and stopped everything", "and stopped everything!", "And  stopped everything")
    ]
    expected = cluster.partition(templates)
    defaults = {"owners": candidates.OWNERS, "direct": 2, "large": candidates.NO_BLOCKS}
    monkeypatch.setattr(candidates.pairs, "__kwdefaults__", defaults)
    found = cluster.partition(templates)
    assert found.cluster_of() == expected.cluster_of()
    assert len(found.clusters) == len(nouns)


def test_neighbours_are_few_and_go_both_ways() -> None:
    names = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay"]
    templates = [
        template(f"cannot place the {name} in pen <n> of the northern stable", gate={"op": name}) for name in names
    ]
    found = cluster.partition(templates).neighbours
    per_cluster = [one.cluster_id for one in found]
    assert max(map(per_cluster.count, set(per_cluster))) <= 5
    assert all(one.reason.startswith("gate op: ") for one in found)
    assert len(set(per_cluster)) == len(names)


def test_no_templates_give_an_empty_partition() -> None:
    assert cluster.partition([]) == cluster.Partition((), (), ())


def test_hostile_text_is_compared_in_bounded_time() -> None:
    hostile = [template(character * 100_000) for character in "ab>é中 "]
    hostile += [template("<n>" * 40_000), template("a b " * 30_000), template("<" * 100_000)]
    found = cluster.partition(hostile)
    assert sum(len(one.members) for one in found.clusters) == len(hostile)
