"""Edges: whatever makes one template depend on another when groups are elected, found once among all templates.

What is rank-limited (the owners of a band key, the texts of one beginning) is decided here, over all templates, and
given to the election. It never looks for anything itself, so a few templates alone come out as they do among all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from pipeline.cluster import candidates, leaders
from pipeline.cluster.candidates import Gate, Ints
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
    held: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # to the texts whose words stand in it
    quoted: Mapping[int, int] = field(default_factory=dict)  # to the longest of them that it quotes
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
            quoted={place[one]: place[other] for one, other in self.quoted.items() if one in place},
            begun={
                place[one]: tuple((place[other], score) for other, score in others)
                for one, others in self.begun.items()
                if one in place
            },
        )


def edges(work: Work, *, large: Set[Gate] = frozenset()) -> Edges:
    """The edges among the templates of `work`. A complete gate needs none: its templates are one group.

    `large` are gates of which there are so many texts elsewhere that not each is compared with each.
    """
    opened = [position for position, is_complete in enumerate(work.is_complete) if not is_complete]
    full = [position for position in opened if not work.templates[position].is_truncated]
    held = _held(work, opened, full)
    return Edges(
        *_near(work, full, large),
        untyped=_untyped(work, opened, full),
        held={position: tuple(row.position for _, row in found) for position, found in held.items()},
        quoted=_quoted(work, held),
        begun=_begun(work, opened, full),
    )


def _near(work: Work, full: Sequence[int], large: Set[Gate]) -> tuple[Ints, Ints, Floats]:
    """The pairs of full texts of one gate that are near, and how near."""
    shapes = [work.shapes[position] for position in full]
    gates = {work.templates[position].gate for position in full}
    label = {gate: candidates.gate_label(gate) for gate in gates}
    labels = np.array([label[work.templates[position].gate] for position in full], np.uint64)
    others = np.array([label[gate] for gate in gates & large], np.uint64)
    pairs = candidates.pairs([shape.tokens for shape in shapes], labels, large=others)
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


def _held(work: Work, opened: Sequence[int], full: Sequence[int]) -> dict[int, list[tuple[int, candidates.Quoted]]]:
    quotations = candidates.Quotations()
    for position in full:
        quotations.add(work.templates[position].gate, position, work.shapes[position])
    found = {position: quotations.held(work.templates[position].gate, work.shapes[position]) for position in opened}
    return {position: held for position, held in found.items() if held}


def _quoted(work: Work, held: Mapping[int, list[tuple[int, candidates.Quoted]]]) -> dict[int, int]:
    found = {position: candidates.longest(work.shapes[position], every) for position, every in held.items()}
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
