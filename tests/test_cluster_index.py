"""Placing new signatures: same, new, or close enough to look at."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.cluster import Abstention, Index, Match, candidates, partition, people
from pipeline.records import Signature, Template
from tests.test_cluster import template

TEMPLATES = [
    template("the press ran dry after <n> sheets of <size> in tray <n>", count=5),
    template("the press ran dry after <n> sheets of <size> in tray <n>!"),
    template("the oven overheated while baking <n> loaves", gate={"module": "oven"}),
    template("fuse <n> is blown", gate={"code": "fuse:7"}, complete=True),
    template("VM Started"),
]


def new(text: str, *, gate: dict[str, str] | None = None, complete: bool = False, cut: bool = False) -> Signature:
    pairs = tuple(sorted((gate or {}).items()))
    return Signature("signature:new", None, text, pairs, complete, "", (), "", 0, 0, cut, ())


@pytest.fixture(scope="module")
def index() -> Index:
    return Index(partition(TEMPLATES), TEMPLATES)


def cluster_of(one: Template) -> str:
    return partition(TEMPLATES).cluster_of()[one.signature_id]


def test_a_known_signature_is_found_by_its_id(index: Index) -> None:
    known = new("anything")
    known = Signature(TEMPLATES[2].signature_id, *(getattr(known, name) for name in Signature.__slots__[1:]))
    found = index.assign(known)
    assert isinstance(found, Match)
    assert (found.cluster_id, found.rule) == (cluster_of(TEMPLATES[2]), "equal")


def test_a_reworded_text_joins_by_its_ratio(index: Index) -> None:
    found = index.assign(new("a press ran dry after <n> sheets of <size> in tray <n>"))
    assert isinstance(found, Match)
    assert (found.cluster_id, found.rule) == (cluster_of(TEMPLATES[0]), "ratio")
    assert found.score >= 90


def test_a_complete_gate_needs_no_text(index: Index) -> None:
    found = index.assign(new("nothing alike", gate={"code": "fuse:7"}, complete=True))
    assert isinstance(found, Match)
    assert (found.cluster_id, found.rule) == (cluster_of(TEMPLATES[3]), "gate")


def test_a_cut_text_joins_what_continues_it(index: Index) -> None:
    found = index.assign(new("the press ran dry after <n> shee...", cut=True))
    assert isinstance(found, Match)
    assert (found.cluster_id, found.rule) == (cluster_of(TEMPLATES[0]), "prefix")


def test_the_same_text_under_another_gate_is_new_and_names_the_look_alike(index: Index) -> None:
    found = index.assign(new("the oven overheated while baking <n> loaves", gate={"module": "kiln"}))
    assert isinstance(found, Abstention)
    assert found.reason == "no known error names module kiln"
    assert found.nearest is not None
    assert found.nearest.cluster_id == cluster_of(TEMPLATES[2])


def test_a_telling_word_is_given_as_the_reason_for_review(index: Index) -> None:
    found = index.assign(new("the press ran dry after <n> sheets of <size> in drum <n>"))
    assert isinstance(found, Abstention)
    assert found.is_review
    assert "drum" in found.reason


def test_something_else_is_new(index: Index) -> None:
    found = index.assign(new("quite another failure of an unrelated machine"))
    assert isinstance(found, Abstention)
    assert not found.is_review


def test_an_empty_index_abstains() -> None:
    found = Index(partition([]), []).assign(new("anything at all"))
    assert found == Abstention("no known error without a code or a name is worded like it", None)


def test_members_of_a_merged_cluster_are_found_under_each_of_their_gates() -> None:
    row = people.Override("merge", "one error", (TEMPLATES[0].text, TEMPLATES[2].text))
    merged = partition(TEMPLATES, overrides=people.Overrides((row,)))
    index = Index(merged, TEMPLATES)
    found = index.assign(new("an oven overheated while baking <n> loaves", gate={"module": "oven"}))
    assert isinstance(found, Match)
    assert found.cluster_id == merged.cluster_of()[TEMPLATES[0].signature_id]


def test_large_gates_are_searched_by_index_and_give_the_cluster_that_a_full_search_gives() -> None:
    many = [
        template(f"unit{place}x of line{place * 7}y stopped at post{place * 13}z after <n> turns of {place}w today")
        for place in range(300)
    ]
    found = partition(many)
    index = Index(found, many)
    for one in many[::17]:
        match = index.assign(new(one.text.replace("today", "to-day")))
        assert isinstance(match, Match | Abstention)
        near = match.cluster_id if isinstance(match, Match) else match.nearest and match.nearest.cluster_id
        assert near == found.cluster_of()[one.signature_id]


def test_one_text_has_the_band_keys_that_it_has_among_many() -> None:
    tokens = [("a",), ("a", "b", "c"), (), ("中", "文"), tuple("abcdefghij")]
    together = candidates.band_keys(tokens, np.array([3, 3, 4, 4, 9], np.uint64))
    for place, block in enumerate([3, 3, 4, 4, 9]):
        assert (candidates.keys_of_one(tokens[place], block) == together[:, place]).all()


def test_texts_of_different_blocks_never_meet() -> None:
    tokens = [("same", "words", "here")] * 200
    blocks = np.repeat(np.array([0, 1], np.uint64), 100)
    later, earlier = candidates.pairs(tokens, blocks)
    assert len(later)
    assert (blocks[later] == blocks[earlier]).all()
    assert (later > earlier).all()
