"""Some templates grouped as if there were no others, for who knows the rest: see `units`."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from pipeline.cluster import candidates, neighbours, units
from pipeline.cluster.candidates import Gate, Ints, Keys
from pipeline.cluster.edges import edges
from pipeline.cluster.election import Said, elect
from pipeline.cluster.neighbours import Medoid, Pairs
from pipeline.cluster.partition import drawn
from pipeline.cluster.shapes import shape
from pipeline.cluster.work import rank, work
from pipeline.records import Assignment, Cluster, Template

#: A gate of more full texts than this is large: see `candidates.pairs`.
LARGE = candidates.DIRECT_TEXTS


@dataclass(frozen=True, slots=True)
class Alone:
    """The clusters of whole units, and what there is to know of them when others come or go."""

    templates: tuple[Template, ...]  # in order of rank; what follows is in the same order
    keys: units.Keys
    units: tuple[str, ...]  # of each template the least signature id of its unit
    clusters: tuple[Cluster, ...]  # without expressions
    assignments: tuple[Assignment, ...]
    refused: Pairs  # what was near and did not join


def alone(templates: Sequence[Template], *, large: Set[Gate]) -> Alone:
    """The clusters of `templates`, which are whole units: no other matters to any of them.

    `large` are the gates that have more full texts than LARGE, here and elsewhere.
    """
    begun = work(templates)
    found = edges(begun, large=large)
    every = units.keys(begun, large)
    names = [template.signature_id for template in begun.templates]
    unit = [""] * len(names)
    for positions in units.units(begun, found, large, every):
        least = min(names[position] for position in positions)
        for position in positions:
            unit[position] = least
    elect(begun, found, Said({}, []))
    made = drawn(begun)
    refused = neighbours.refused(begun, made.id_of)
    return Alone(tuple(begun.templates), every, tuple(unit), tuple(made.clusters), tuple(made.assignments), refused)


def keys(templates: Sequence[Template], *, large: Set[Gate]) -> units.Keys:
    """By what templates find others and are found, in the order of their rank."""
    return units.keys(work(templates), large)


def medoid_keys(texts: Sequence[Template]) -> Keys:
    """The band keys of representatives, one row a band: who has none of another's is never its neighbour."""
    shapes = [shape(one) for one in texts]
    return candidates.band_keys([one.tokens for one in shapes], np.zeros(len(shapes), np.uint64))


def alike(medoids: Sequence[tuple[str, Template]], found: Keys, asked: Set[str], *, is_small: bool) -> Pairs:
    """The pairs among the clusters `asked` whose representatives look alike.

    `medoids` (cluster id, representative) are all that have a key of theirs, `found` the band keys, a row a band.
    With `is_small` there are so few clusters in all that each is compared with each.
    """
    order = sorted(range(len(medoids)), key=lambda place: rank(medoids[place][1]))
    later, earlier = _every_pair(len(order)) if is_small else candidates.star(found[:, order], owners=neighbours.OWNERS)
    is_asked = np.array([medoids[place][0] in asked for place in order], bool)
    kept = is_asked[later] & is_asked[earlier]
    wanted, places = np.unique(np.concatenate([later[kept], earlier[kept]]), return_inverse=True)
    chosen = [medoids[order[place]] for place in wanted.tolist()]
    shown = [Medoid(cluster_id, template, shape(template)) for cluster_id, template in chosen]
    return neighbours.alike(shown, (places[: len(places) // 2], places[len(places) // 2 :]))


def _every_pair(count: int) -> tuple[Ints, Ints]:
    later, earlier = np.tril_indices(count, -1)
    return later.astype(np.int64), earlier.astype(np.int64)
