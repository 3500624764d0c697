"""Families: templates that edges, complete gates and people connect. The groups of one say nothing of another's."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from pipeline.cluster.edges import Edges
from pipeline.cluster.election import Said
from pipeline.cluster.work import Work


def families(work: Work, edges: Edges, said: Said) -> list[list[int]]:
    """The positions of each family in order of rank; families in the order of their first."""
    return joined(len(work.templates), chain.from_iterable(links(work, edges, said).values()))


def joined(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The positions, of `count`, that pairs connect, in order; those of the first position first."""
    parent = list(range(count))

    def root(position: int) -> int:
        while parent[position] != position:
            parent[position] = parent[parent[position]]
            position = parent[position]
        return position

    for one, other in pairs:
        first, second = sorted((root(one), root(other)))
        parent[second] = first
    found: dict[int, list[int]] = {}
    for position in range(len(parent)):
        found.setdefault(root(position), []).append(position)
    return list(found.values())


def links(work: Work, edges: Edges, said: Said) -> dict[str, Iterable[tuple[int, int]]]:
    """The pairs of positions of which one may matter to the other, by what connects them."""
    first: dict[tuple[tuple[str, str], ...], int] = {}
    return {
        "near": zip(edges.later.tolist(), edges.earlier.tolist(), strict=True),
        "untyped": ((one, other) for one, others in edges.untyped.items() for other in others),
        "quoted": edges.quoted.items(),
        "begun": ((one, other) for one, near in edges.begun.items() for other, _ in near),
        "complete": (
            (position, first.setdefault(template.gate, position))
            for position, template in enumerate(work.templates)
            if work.is_complete[position]
        ),
        "split": said.apart.keys(),
        "merge": ((bond.positions[0], position) for bond in said.bonds for position in bond.positions),
    }
