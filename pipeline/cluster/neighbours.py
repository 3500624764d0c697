"""Clusters that look alike and are not one, with the reason: people ask "why are these two not together?"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pipeline.cluster import candidates, leaders
from pipeline.cluster.words import conflict
from pipeline.records import Neighbour

if TYPE_CHECKING:
    from pipeline.cluster.partition import Work

#: Neighbours kept for one cluster, the most alike first.
KEPT = 5
#: Least ratio of look-alikes across gates: "out of resource: shared memory" and "threads" score 76.5.
ALIKE = 75.0
#: Owners of a band key among representatives; they are few, so more of them cost little.
OWNERS = 6


def neighbours(work: Work, id_of: Mapping[int, str], medoid_of: Mapping[int, int]) -> tuple[Neighbour, ...]:
    """The neighbours of every cluster, both ways, at most KEPT each, sorted by cluster and score."""
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for later, leader, score, words in work.refused:
        _note(found, (id_of[work.group[later]], id_of[work.group[leader]]), score, leaders.why_not(score, words))
    order = sorted(id_of, key=lambda leader: (medoid_of[leader], leader))
    shapes = [work.shapes[medoid_of[leader]] for leader in order]
    one_block = np.zeros(len(order), np.int64)
    pairs = candidates.pairs([shape.tokens for shape in shapes], one_block, owners=OWNERS)
    similar = leaders.scores([shape.text for shape in shapes], pairs, cutoff=ALIKE)
    for place in np.flatnonzero(similar).tolist():
        one, other = order[pairs[0][place]], order[pairs[1][place]]
        score = round(float(similar[place]), 1)
        reason = _reason(work, medoid_of[one], medoid_of[other], score)
        _note(found, (id_of[one], id_of[other]), score, reason)
    return _kept(found)


def _note(found: dict[tuple[str, str], tuple[float, str]], pair: tuple[str, str], score: float, reason: str) -> None:
    if pair[0] == pair[1]:
        return
    key = (min(pair), max(pair))
    better = (round(float(score), 1), reason)
    if key not in found or better > found[key]:
        found[key] = better


def _reason(work: Work, one: int, other: int, score: float) -> str:
    """Why two representatives are not one cluster; a gate that differs comes first."""
    left, right = dict(work.templates[one].gate), dict(work.templates[other].gate)
    keys = [key for key in sorted(left.keys() | right.keys()) if left.get(key) != right.get(key)]
    if keys:
        return "gate " + "; ".join(
            f"{key}: {' / '.join(sorted((left.get(key, '-'), right.get(key, '-'))))}" for key in keys[:2]
        )
    if score < leaders.CUTOFF:
        return leaders.why_not(score, "")
    words = conflict(work.shapes[min(one, other)], work.shapes[max(one, other)])
    return leaders.why_not(score, words) if words else leaders.FAR


def _kept(found: Mapping[tuple[str, str], tuple[float, str]]) -> tuple[Neighbour, ...]:
    rows: dict[str, list[Neighbour]] = {}
    for (one, other), (score, reason) in found.items():
        rows.setdefault(one, []).append(Neighbour(one, other, score, reason))
        rows.setdefault(other, []).append(Neighbour(other, one, score, reason))
    return tuple(
        neighbour
        for cluster_id in sorted(rows)
        for neighbour in sorted(rows[cluster_id], key=lambda one: (-one.score, one.other_id))[:KEPT]
    )
