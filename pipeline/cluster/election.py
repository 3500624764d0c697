"""Edges among templates, found once, and the election of groups among them.

An edge is whatever makes one template depend on another. What is rank-limited (the owners of a band key, the texts of
one beginning) is decided over all templates, and given to the election, which never looks for anything itself: so a few
templates alone come out as they do among all.

Complete gates first: each is one group. Then leaders decide among full texts, texts without their type and texts that
quote join whose words they are, cut texts join what continues them, and people overrule last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from rapidfuzz import fuzz

from pipeline.cluster import candidates, leaders, people
from pipeline.cluster.candidates import Gate, Ints
from pipeline.cluster.leaders import Floats
from pipeline.cluster.people import Bond, Override
from pipeline.cluster.work import Work


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges between positions; what is near is sorted by the later text, then by the earlier one."""

    later: Ints
    earlier: Ints
    similar: Floats  # score of each such pair of full texts of one gate: REVIEW at least
    untyped: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # to who prints its words with a type
    placed: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # to who shows where its words arise
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
            placed={
                place[one]: tuple(place[other] for other in others)
                for one, others in self.placed.items()
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
    """The edges among the templates of `work`. A complete gate needs none but for its place: it is one group.

    `large` are gates of which there are so many texts elsewhere that not each is compared with each.
    """
    opened = [position for position, is_complete in enumerate(work.is_complete) if not is_complete]
    full = [position for position in opened if not work.templates[position].is_truncated]
    held = _held(work, opened, full)
    return Edges(
        *_near(work, full, large),
        untyped=_untyped(work, opened, full),
        placed=_placed(work),
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


def _placed(work: Work) -> dict[int, tuple[int, ...]]:
    """Of each text without a function for its place those that have one; cut texts tell no words whole."""
    known = candidates.Placed()
    whole = [place for place, one in enumerate(work.templates) if work.is_complete[place] or not one.is_truncated]
    for position in whole:
        known.add(work.templates[position].gate, position, work.words(position))
    found = {position: known.owners(work.templates[position].gate, work.words(position)) for position in whole}
    return {position: others for position, others in found.items() if others}


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


@dataclass(frozen=True, slots=True)
class Said:
    """What people said of some positions."""

    apart: Mapping[tuple[int, int], Override]  # in both orders
    bonds: Sequence[Bond]

    def of(self, positions: Sequence[int]) -> Said:
        """What they said of `positions`, which are in order, by their places there."""
        place = {position: number for number, position in enumerate(positions)}
        return Said(
            {(place[a], place[b]): row for (a, b), row in self.apart.items() if a in place and b in place},
            [
                Bond(tuple(place[position] for position in bond.positions), bond.rows)
                for bond in self.bonds
                if bond.positions[0] in place
            ],
        )


def elect(work: Work, edges: Edges, said: Said) -> None:
    """Nothing; every template of `work` has its group and its rule then."""
    _group_complete(work, said.apart)
    _group_open(work, edges, said.apart)
    _join_untyped(work, edges, said.apart)
    _join_placed(work, edges, said.apart)
    _join_quoting(work, edges, said.apart)
    _join_cut(work, edges, said.apart)
    people.bind(work, said.bonds, said.apart)
    _note_apart(work, said.apart)


def _group_complete(work: Work, apart: people.Apart) -> None:
    """Put every template of a complete gate into one group, or into those that people split it into."""
    members: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for position, template in enumerate(work.templates):
        if work.is_complete[position]:
            found = members.setdefault(template.gate, [])
            found.append(position)
            work.rule[position] = "gate"
            work.group[position] = found[0]
    gates = {work.templates[one].gate for one, other in apart if work.templates[one].gate == work.templates[other].gate}
    for gate in sorted(gates & members.keys()):
        people.split_gate(work, members[gate], apart)


def _group_open(work: Work, edges: Edges, apart: people.Apart) -> None:
    """Group the full texts of the other gates by leaders."""
    reasons = {pair: row.reason for pair, row in apart.items()}
    groups = leaders.grouped(work.shapes, (edges.later, edges.earlier, edges.similar), apart=reasons)
    for position, leader in enumerate(groups.leader):
        if leader != position:
            work.group[position] = leader
            work.rule[position] = leaders.rule(work.shapes[position], work.shapes[leader])
    work.refused += groups.refused


def _join_untyped(work: Work, edges: Edges, apart: people.Apart) -> None:
    """Let the groups whose leading text lacks an exception type join the only type that prints its words."""
    owners = {position: {work.group[other] for other in typed} for position, typed in edges.untyped.items()}
    members = work.members()
    for position in list(members):
        if len(owners.get(position, ())) == 1:
            _join(work, members, (position, min(owners[position])), "untyped", apart)


def _join_placed(work: Work, edges: Edges, apart: people.Apart) -> None:
    """Let the groups whose leading text shows no stack join the only one of their project that has their words."""
    members = work.members()
    for position in list(members):
        found = {work.group[other] for other in edges.placed.get(position, ())}
        if len(found) == 1:
            _join(work, members, (position, min(found)), "place", apart)


def _join(work: Work, members: dict[int, list[int]], sides: tuple[int, int], rule: str, apart: people.Apart) -> None:
    """Put the group that the first side leads into that of the second, unless people keep any of them apart."""
    here, there = sides
    if here == there or any(people.part_cut(work, place, there, apart) for place in members[here]):
        return
    for place in members[here]:
        work.group[place], work.rule[place] = there, rule
    members[there].extend(members.pop(here))


def _join_quoting(work: Work, edges: Edges, apart: people.Apart) -> None:
    """Let the groups whose leading text quotes another error whole join that error."""
    members = work.members()
    leading = [position for position in members if position in edges.quoted]
    for position in sorted(leading, key=lambda place: (len(work.shapes[place].tokens), place)):
        _join(work, members, (work.group[position], work.group[edges.quoted[position]]), "quote", apart)


def _join_cut(work: Work, edges: Edges, apart: people.Apart) -> None:
    """Let cut texts join what continues them, and found a group only where nothing does."""
    cut = [place for place, one in enumerate(work.templates) if one.is_truncated and not work.is_complete[place]]
    groups = list(work.group)
    for position in cut:  # it leads its own until it joins
        groups[position] = position
    joined: set[int] = set()
    for position in work.longest_first(cut):
        near = [(groups[other], score) for other, score in edges.begun.get(position, ()) if other not in joined]
        leader = leaders.only_best(near)
        if leader is not None:
            joined.add(position)
        is_alone = leader is None or people.part_cut(work, position, leader, apart)
        work.group[position] = position if leader is None or is_alone else leader
        work.rule[position] = "review" if is_alone else "prefix"


def _note_apart(work: Work, apart: people.Apart) -> None:
    """Write down what people keep apart, for those who ask why."""
    for (one, other), row in sorted(apart.items()):
        if one > other and work.group[one] != work.group[other]:
            score = fuzz.ratio(work.shapes[one].text, work.shapes[other].text)
            work.refused.append((one, other, score, leaders.apart_words(row.reason)))
