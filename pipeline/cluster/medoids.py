"""The representative of a group: the text that is nearest to all, weighted by how often each was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from pipeline.cluster.leaders import CUTOFF
from pipeline.cluster.shapes import Shape
from pipeline.cluster.words import conflict

#: Texts that may become the representative, the most frequent first: bounds the cost of large groups.
MEDOID_CANDIDATES = 12


@dataclass(frozen=True, slots=True)
class Medoid:
    """A group's representative and the score (0-100) of each member against it, in the order of the members."""

    position: int
    scores: tuple[float, ...]


def medoid(
    members: Sequence[int], shapes: Sequence[Shape], counts: Sequence[int], *, able: int, strict: bool
) -> Medoid:
    """The member with the greatest weighted mean score against all.

    `members` are in order of rank, the leader first; only the first `able` may represent (cut texts come last).
    `strict`: it must be one that every member would have joined, which is certain of the leader only.
    """
    if len(members) == 1:
        return Medoid(members[0], (100.0,))
    texts = [shapes[position].text for position in members]
    heads = texts[: min(able, MEDOID_CANDIDATES)]
    matrix = process.cdist(heads, texts, scorer=fuzz.ratio, dtype=np.float64)
    means = (matrix @ np.array(counts, np.float64) / sum(counts)).round(6).tolist()
    floor = min(CUTOFF, float(matrix[0].min()))
    for row in sorted(range(len(heads)), key=lambda row: (-means[row], row)):
        is_joined = float(matrix[row].min()) >= floor and not any(
            conflict(shapes[members[row]], shapes[position]) for position in members
        )
        if row == 0 or is_joined or not strict:
            return Medoid(members[row], tuple(matrix[row].round(1).tolist()))
    raise AssertionError("the leader is always able")
