"""Proofs that are kept: whatever comes and goes, expressions are those that are proven on all texts anew."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import cluster
from pipeline.cluster import Proof, proofs
from pipeline.cluster.proofs import Came, Foreigners, Proofs
from pipeline.records import Cluster, Template
from pipeline.run.build.grouping import KeptProofs
from tests.rings import first_alone
from tests.test_cluster import template

NOUNS = ("tray", "lamp", "feeder", "belt")
STATES = ("is stuck", "is dark", "is lost", "is stuck in slot <n>")
TAILS = ("", " of the press", " of the press in hall <n>", " of the press <n> since <n>")


class Shop:
    """Errors of a shop that come and go, in words that others use too."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.texts: dict[str, list[str]] = {}

    def step(self) -> None:
        """Something comes, something goes, something is said otherwise."""
        for _ in range(self.rng.randrange(1, 4)):
            text = " ".join(self.rng.choice(each) for each in (NOUNS, STATES)) + self.rng.choice(TAILS)
            self.texts[text] = [self._said(text) for _ in range(self.rng.randrange(1, 4))]
        if len(self.texts) > 5:
            for text in self.rng.sample(sorted(self.texts), self.rng.randrange(3)):
                del self.texts[text]

    def _said(self, text: str) -> str:
        words = text.replace("<n>", str(self.rng.randrange(90)))
        if self.rng.random() < 0.2:  # it tells of another one as well
            words += "; " + self.rng.choice(sorted(self.texts or [text])).replace("<n>", "7")
        return self.rng.choice(("{}", "E: {}", "{} (again)")).format(words)

    @property
    def templates(self) -> list[Template]:
        """What is grouped: each text is an error of its own."""
        return [template(text, gate={"op": text}, complete=True) for text in sorted(self.texts)]

    def messages(self, clusters: Sequence[Cluster]) -> dict[str, list[str]]:
        """What documents say."""
        return {one.cluster_id: self.texts[one.text] for one in clusters}


def first_difference(seed: int, steps: int = 9) -> int | None:
    """The step at which a proof that is kept differs from one that is made anew."""
    shop = Shop(seed)
    on_templates, on_messages = Proofs(), Proofs()
    for number in range(steps):
        shop.step()
        kept = cluster.partition(shop.templates, kept=on_templates)
        anew = cluster.partition(shop.templates)
        told = shop.messages(anew.clusters)
        found = cluster.regexes_for(kept.clusters, told, on_messages)
        fresh = cluster.regexes_for(anew.clusters, told)
        if kept.clusters != anew.clusters:
            return number
        if {one: proof.regex for one, proof in found.items()} != {one: proof.regex for one, proof in fresh.items()}:
            return number
        on_templates, on_messages = Proofs(kept.proofs), Proofs(found)
    return None


SEEDS = range(5)


def test_a_proof_that_is_kept_is_the_one_that_would_be_found() -> None:
    assert [first_difference(seed) for seed in SEEDS] == [None] * len(SEEDS)


MUTANTS: dict[str, tuple[str, Callable[..., object]]] = {
    "a witness that went": ("_is_there", lambda *_: True),
    "a text that came": ("Came", lambda _: Came(())),
    "the cluster's own texts": ("digest", lambda *parts: "" if len(parts) > 1 else real_digest(*parts)),
}
real_digest = proofs.digest


@pytest.mark.parametrize("mutant", first_alone(sorted(MUTANTS)))
def test_what_a_proof_rests_on_cannot_be_left_out(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, mutated = MUTANTS[mutant]
    monkeypatch.setattr(proofs, name, mutated)
    assert any(first_difference(seed) is not None for seed in SEEDS)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.text("xy é", max_size=9)), max_size=9),
    st.lists(st.frozensets(st.text("xyé", min_size=1, max_size=2), max_size=4), max_size=5),
)
def test_who_is_found_by_an_expression_is_asked_of_columns_as_of_each(
    texts: list[tuple[str, str]], sides: list[frozenset[str]]
) -> None:
    regexes = [" ".join(sorted(words)) for words in sides]
    anchors, masks = (
        [proofs.longest(words) if words else "" for words in sides],
        [proofs.mask(words) for words in sides],
    )
    every = [
        Proof(f"{number}", "", "", regex, (), (anchor,), (bits,))
        for number, (regex, anchor, bits) in enumerate(zip(regexes, anchors, masks, strict=True))
    ]
    came = Came(texts)
    some = KeptProofs.of({one.cluster_id: one for one in every}).that_may_find(came)
    found = {f"{n}" for n, words in enumerate(sides) if any(words <= proofs.words_of(text) for _, text in texts)}
    assert found <= {one.cluster_id for one in some} <= {one.cluster_id for one in Proofs.of(every).that_may_find(came)}
    assert came.found_by(some) == came.found_by(every)


def test_what_is_proven_still_is_not_proven_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop(3)
    shop.step()
    shop.step()
    before = cluster.partition(shop.templates)
    told = shop.messages(before.clusters)
    proven = cluster.regexes_for(before.clusters, told)
    monkeypatch.setattr(proofs, "proven_on", None)
    monkeypatch.setattr(proofs, "Foreigners", None)
    assert cluster.partition(shop.templates, kept=Proofs(before.proofs)) == before
    assert cluster.regexes_for(before.clusters, told, Proofs(proven)) == proven


#: Owners that are asked about: so many that an index is made, and so few that texts are read.
MANY, FEW = 100, 0


@pytest.mark.parametrize("asked", [MANY, FEW])
def test_of_a_text_all_words_of_an_expression_are_asked(asked: int) -> None:
    words = ("alpha", "bravo", "charlie", "delta", "echo")
    pattern = proofs.patterns.known(r"\balpha bravo charlie delta echo\b")
    texts = [("other", " ".join(words)), ("other", " ".join(words[:4])), ("own", " ".join(words))]
    made = Foreigners(texts, asked=asked)
    assert made.could_match(pattern, "own") == [("other", " ".join(words))]
    assert made.could_match(replace(pattern, words=frozenset()), "own") == texts[:2]
    assert Foreigners([], asked=asked).could_match(pattern, "own") == []


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.text("xyz \0\ud800é", max_size=9)), max_size=20),
    st.frozensets(st.text("xyzé", min_size=1, max_size=3), min_size=1, max_size=6),
)
def test_texts_that_are_read_are_those_that_an_index_knows(texts: list[tuple[str, str]], words: frozenset[str]) -> None:
    pattern = replace(proofs.patterns.known("x"), words=words)
    expected = [(owner, text) for owner, text in texts if owner != "a" and words <= set(re.findall(r"\w+", text))]
    assert [Foreigners(texts, asked=asked).could_match(pattern, "a") for asked in (MANY, FEW)] == [expected] * 2


def test_few_are_asked_by_reading_and_many_by_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [("other", f"text {number}") for number in range(proofs._TEXTS_A_READING + 1)]
    monkeypatch.setattr(proofs, "_Index", None)
    Foreigners(texts, asked=1)
    with pytest.raises(TypeError):
        Foreigners(texts, asked=2)


def test_so_many_clusters_are_proven_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop(4)
    for _ in range(4):
        shop.step()
    whole = cluster.partition(shop.templates)
    told = shop.messages(whole.clusters)
    proven = cluster.regexes_for(whole.clusters, told)
    assert len(whole.clusters) > 2
    monkeypatch.setattr(proofs, "_TRIED_AT_ONCE", 2)
    parted = cluster.partition(shop.templates)
    assert (parted, parted.proofs) == (whole, whole.proofs)
    assert cluster.regexes_for(whole.clusters, told) == proven
