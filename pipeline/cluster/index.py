"""Known clusters, ready to place new signatures one by one: same, new, or close enough for people to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rapidfuzz import fuzz

from pipeline.cluster import candidates
from pipeline.cluster.candidates import Gate, Untyped
from pipeline.cluster.leaders import ALIGNED, CUTOFF, REVIEW, Beginnings, raised, refusal, rule, why_not
from pipeline.cluster.neighbours import gate_words, shown
from pipeline.cluster.partition import Partition
from pipeline.cluster.shapes import Shape, merged, shape
from pipeline.records import Cluster, Signature, Template


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster that was considered, with its score."""

    cluster_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """The cluster of a signature, and why; `runner_up` is the best other one, None if nothing else came near."""

    cluster_id: str
    score: float
    rule: str  # equal, gate, ratio, slot, prefix, untyped or quote
    explanation: str
    runner_up: Candidate | None


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why a signature has no cluster. `is_review`: the nearest is close enough for people to look at it."""

    reason: str
    nearest: Candidate | None
    is_review: bool = False


class _Postings:
    """Band keys of texts as one sorted array: 500,000 keys are sorted in 50 ms, a dict takes a second."""

    def __init__(self, tokens: Sequence[tuple[str, ...]], labels: Sequence[int], entries: Sequence[int]) -> None:
        keys = candidates.band_keys(tokens, np.array(labels, np.uint64)).ravel()
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._entries = np.tile(np.array(entries, np.int64), candidates.BANDS)[order]

    def find(self, tokens: tuple[str, ...], label: int) -> list[int]:
        """The entries that share a band key, each once, sorted; at most OWNERS a band."""
        keys = candidates.keys_of_one(tokens, label)
        first = np.searchsorted(self._keys, keys)
        last = np.searchsorted(self._keys, keys, side="right")
        found: set[int] = set()
        for low, high in zip(first.tolist(), last.tolist(), strict=True):
            found.update(self._entries[low : min(high, low + candidates.OWNERS)].tolist())
        return sorted(found)


class Index:
    """The clusters of a partition with all that is needed to assign new signatures to them."""

    def __init__(self, partition: Partition, templates: Sequence[Template]) -> None:
        known = {template.signature_id: template for template in merged(templates)}
        self._cluster_of = {one.signature_id: one.cluster_id for one in partition.assignments}
        self._gates: dict[Gate, int] = {}
        self._complete: set[int] = set()
        self._entries: list[tuple[str, list[int]]] = []  # cluster id, positions of its shapes, representative first
        self._of_gate: dict[int, list[int]] = {}
        self._shapes: list[Shape] = []
        self._texts: list[str] = []
        for cluster in partition.clusters:
            self._add(cluster, [known[member] for member in cluster.members if member in known])
        self._beginnings = self._made_beginnings()
        self._quotations = self._made_quotations()
        self._untyped = self._made_untyped()
        self._postings = self._made_postings()

    def _add(self, cluster: Cluster, members: Sequence[Template]) -> None:
        """One entry for each gate among the members: more than one only where people merged clusters."""
        ranked = sorted(members, key=lambda one: (one.signature_id != cluster.medoid, one.is_truncated, -one.count))
        entries: dict[int, int] = {}
        full = [one for one in ranked if not one.is_truncated]
        for template in full or ranked:
            block = self._gates.setdefault(template.gate, len(self._gates))
            if template.is_gate_complete:
                self._complete.add(block)
            if block not in entries:
                entries[block] = len(self._entries)
                self._of_gate.setdefault(block, []).append(len(self._entries))
                self._entries.append((cluster.cluster_id, []))
            self._entries[entries[block]][1].append(len(self._shapes))
            self._shapes.append(shape(template))
            self._texts.append(template.text)

    def _made_beginnings(self) -> Beginnings:
        beginnings = Beginnings()
        for row in self._compared(but=self._complete):
            beginnings.add(*row)
        return beginnings

    def _made_quotations(self) -> candidates.Quotations:
        quotations = candidates.Quotations()
        for row in self._compared(but=self._complete):
            quotations.add(*row)
        return quotations

    def _made_untyped(self) -> Untyped:
        words = Untyped()
        for row in self._compared(but=self._complete):
            words.add(*row)
        return words

    def _compared(self, *, but: Set[int]) -> Iterator[tuple[Gate, int, Shape]]:
        """The gate, entry and shape of every text of the gates that are not in `but`."""
        for gate, block in self._gates.items():
            for entry in self._of_gate[block] if block not in but else ():
                for position in self._entries[entry][1]:
                    yield gate, entry, self._shapes[position]

    def _made_postings(self) -> _Postings:
        """The index of the gates that are too large to compare with every cluster of them."""
        rows = [
            (self._shapes[position].tokens, candidates.gate_label(gate), entry)
            for gate, block in self._gates.items()
            if len(entries := self._of_gate[block]) > candidates.DIRECT_TEXTS
            for entry in entries
            for position in self._entries[entry][1]
        ]
        return _Postings([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])

    @cached_property
    def _across(self) -> _Postings:
        """The representatives without regard to gates: what an abstention names as nearest."""
        shapes = [self._shapes[positions[0]] for _, positions in self._entries]
        return _Postings([one.tokens for one in shapes], [0] * len(shapes), range(len(shapes)))

    def assign(self, signature: Signature) -> Match | Abstention:
        """The cluster of a signature, or the reason why it has none."""
        known = self._cluster_of.get(signature.signature_id)
        if known is not None:
            return Match(known, 100.0, "equal", "The same signature was grouped before.", None)
        template = _template(signature)
        own = shape(template)
        block = self._gates.get(template.gate)
        if block is not None and (template.is_gate_complete or block in self._complete):
            return self._by_gate(own, block, template.gate)
        found = self._by_words(own, block, template)
        if isinstance(found, Match):
            return found
        return self._by_type(own, template.gate) or self._by_quotation(own, template.gate) or found

    def _by_words(self, own: Shape, block: int | None, template: Template) -> Match | Abstention:
        if template.is_truncated:
            return self._by_prefix(own, template.gate)
        if block is None:
            named = f"no known error names {gate_words(template.gate)}"
            reason = named if template.gate else "no known error without a code or a name is worded like it"
            return Abstention(reason, self._nearest_anywhere(own))
        return self._by_text(own, block, template.gate)

    def _by_type(self, own: Shape, gate: Gate) -> Match | None:
        entry = self._untyped.only(gate, own)
        if entry is None:
            return None
        score = fuzz.ratio(own.text, self._head(entry).text)
        sentence = f"The words of {shown(self._texts[self._entries[entry][1][0]])} without their exception type."
        return Match(self._entries[entry][0], round(score, 1), "untyped", sentence, None)

    def _by_quotation(self, own: Shape, gate: Gate) -> Match | None:
        entry = self._quotations.longest(gate, own)
        if entry is None:
            return None
        text = self._texts[self._entries[entry][1][0]]
        score = fuzz.ratio(own.text, self._head(entry).text)
        return Match(self._entries[entry][0], round(score, 1), "quote", f"It quotes {shown(text)} whole.", None)

    def _scored(self, own: Shape, entries: Sequence[int]) -> list[tuple[int, float]]:
        scores = [(entry, fuzz.ratio(own.text, self._head(entry).text)) for entry in entries]
        return sorted(scores, key=lambda pair: (-pair[1], self._entries[pair[0]][0]))

    def _head(self, entry: int) -> Shape:
        return self._shapes[self._entries[entry][1][0]]

    def _candidate(self, ranked: Sequence[tuple[int, float]], place: int = 0) -> Candidate | None:
        if place >= len(ranked) or not ranked[place][1]:
            return None
        return Candidate(self._entries[ranked[place][0]][0], round(ranked[place][1], 1))

    def _nearest_anywhere(self, own: Shape) -> Candidate | None:
        return self._candidate(self._scored(own, self._across.find(own.tokens, 0)))

    def _by_gate(self, own: Shape, block: int, gate: Gate) -> Match:
        ranked = self._scored(own, self._of_gate[block])
        entry, score = ranked[0]
        sentence = f"The gate alone identifies the error: {gate_words(gate)}."
        return Match(self._entries[entry][0], round(score, 1), "gate", sentence, self._candidate(ranked, 1))

    def _by_prefix(self, own: Shape, gate: Gate) -> Match | Abstention:
        best = self._beginnings.best(gate, own)
        if best is None:
            return Abstention("a cut text that no known text alone continues", self._nearest_anywhere(own))
        entry, score = best
        sentence = f"A cut text that {shown(self._texts[self._entries[entry][1][0]])} continues."
        return Match(self._entries[entry][0], round(score, 1), "prefix", sentence, None)

    def _by_text(self, own: Shape, block: int, gate: Gate) -> Match | Abstention:
        entries = self._of_gate[block]
        if len(entries) > candidates.DIRECT_TEXTS:
            entries = self._postings.find(own.tokens, candidates.gate_label(gate))
        ranked = self._scored(own, entries)
        refused = ""
        for place, (entry, score) in enumerate(ranked):
            if score < ALIGNED:
                break
            if raised(score, own, self._head(entry)) < CUTOFF:
                continue
            why = refusal(own, self._entries[entry][1], self._shapes)
            if not why:
                return self._match(own, ranked, place, gate)
            refused = refused or why
        return self._abstention(own, ranked, refused)

    def _match(self, own: Shape, ranked: Sequence[tuple[int, float]], place: int, gate: Gate) -> Match:
        entry, score = ranked[place]
        text = shown(self._texts[self._entries[entry][1][0]])
        by = "slot" if rule(own, self._head(entry)) == "slot" else "ratio"
        how = "word for word but for values" if by == "slot" else f"{score:.1f} >= {CUTOFF:.0f} against"
        sentence = f"Same gate ({gate_words(gate)}) and {how} {text}."
        runner_up = self._candidate(ranked, 0 if place else 1)
        return Match(self._entries[entry][0], round(score, 1), by, sentence, runner_up)

    def _abstention(self, own: Shape, ranked: Sequence[tuple[int, float]], refused: str) -> Abstention:
        nearest = self._candidate(ranked)
        if nearest is None:
            return Abstention("no known error of the same code or names is worded like it", self._nearest_anywhere(own))
        is_review = bool(refused) or nearest.score >= REVIEW
        return Abstention(why_not(nearest.score, refused), nearest, is_review=is_review)


def _template(signature: Signature) -> Template:
    return Template(
        signature_id=signature.signature_id,
        exception_type=signature.exception_type,
        text=signature.text,
        gate=signature.gate,
        is_gate_complete=signature.is_gate_complete,
        is_truncated=signature.is_truncated,
        count=1,
        first_seen="",
    )
