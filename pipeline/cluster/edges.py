"""Edges: whatever makes one template depend on another when groups are elected, found once among all templates.

What is rank-limited (the owners of a band key, the texts of one beginning) is decided here, over all templates, and
given to the election. It never looks for anything itself, so a few templates alone come out as they do among all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.cluster import candidates, leaders
from pipeline.cluster.candidates import Ints
from pipeline.cluster.leaders import Floats
from pipeline.cluster.work import Work


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges between positions; what is near is sorted by the later text, then by the earlier one."""

    later: Ints
    earlier: Ints
    similar: Floats  # score of each such pair of full texts of one gate: REVIEW at least
    untyped: Mapping[int, tuple[int, ...]] = field(
        default_factory=dict
    )  # to the texts that print its words with a type
    quoted: Mapping[int, int] = field(default_factory=dict)  # to the longest text that it quotes whole
    begun: Mapping[int, tuple[tuple[int, float], ...]] = field(default_factory=dict)  # of a cut text, to what goes on

    def of(self, positions: Sequence[int]) -> Edges:
        """The edges among `positions`, which are in order, by their places there."""
        place = {position: number for number, position in enumerate(positions)}
        known = np.array(positions, np.int64)
        kept = np.isin(self.later, known) & np.isin(self.earlier, known)
        return Edges(
            np.searchsorted(known, self.later[kept]),
            np.searchsorted(known, self.earlier[kept]),
            self.similar[kept],
            {
                place[one]: tuple(place[other] for other in others)
                for one, others in self.untyped.items()
                if one in place
            },
            {place[one]: place[other] for one, other in self.quoted.items() if one in place},
            {
                place[one]: tuple((place[other], score) for other, score in others)
                for one, others in self.begun.items()
                if one in place
            },
        )


def edges(work: Work) -> Edges:
    """The edges among the templates of `work`. A complete gate needs none: its templates are one group."""
    opened = [position for position, is_complete in enumerate(work.is_complete) if not is_complete]
    full = [position for position in opened if not work.templates[position].is_truncated]
    return Edges(
        *_near(work, full),
        untyped=_untyped(work, opened, full),
        quoted=_quoted(work, opened, full),
        begun=_begun(work, opened, full),
    )


def _near(work: Work, full: Sequence[int]) -> tuple[Ints, Ints, Floats]:
    """The pairs of full texts of one gate that are near, and how near."""
    shapes = [work.shapes[position] for position in full]
    gates = {work.templates[position].gate for position in full}
    label = {gate: candidates.gate_label(gate) for gate in gates}
    labels = np.array([label[work.templates[position].gate] for position in full], np.uint64)
    pairs = candidates.pairs([shape.tokens for shape in shapes], labels)
    similar = leaders.similarities(shapes, pairs)
    kept = np.flatnonzero(similar)
    places = np.array(full, np.int64)
    return places[pairs[0][kept]], places[pairs[1][kept]], similar[kept]


def _untyped(work: Work, opened: Sequence[int], full: Sequence[int]) -> dict[int, tuple[int, ...]]:
    typed = candidates.Untyped()
    for position in full:
        typed.add(work.templates[position].gate, position, work.shapes[position])
    found = {position: typed.owners(work.templates[position].gate, work.shapes[position]) for position in opened}
    return {position: owners for position, owners in found.items() if owners}


def _quoted(work: Work, opened: Sequence[int], full: Sequence[int]) -> dict[int, int]:
    quotations = candidates.Quotations()
    for position in full:
        quotations.add(work.templates[position].gate, position, work.shapes[position])
    found = {position: quotations.longest(work.templates[position].gate, work.shapes[position]) for position in opened}
    return {position: inner for position, inner in found.items() if inner is not None}


def _begun(work: Work, opened: Sequence[int], full: Sequence[int]) -> dict[int, tuple[tuple[int, float], ...]]:
    """Of each cut text the full texts that go on from it, and the longer cut texts that do."""
    whole, cut = leaders.Beginnings(), leaders.Beginnings()
    for position in full:
        whole.add(work.templates[position].gate, position, work.shapes[position])
    found = {}
    for position in work.longest_first(one for one in opened if work.templates[one].is_truncated):
        gate, own = work.templates[position].gate, work.shapes[position]
        if there := (*whole.continuing(gate, own), *cut.continuing(gate, own)):
            found[position] = there
        cut.add(gate, position, own)
    return found
