"""The election of groups among templates whose edges are given.

Complete gates first: each is one group. Then leaders decide among full texts, texts without their type and texts that
quote join whose words they are, cut texts join what continues them, and people overrule last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from pipeline.cluster import leaders, people
from pipeline.cluster.edges import Edges
from pipeline.cluster.people import Bond, Override
from pipeline.cluster.work import Work


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
