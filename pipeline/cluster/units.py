"""Units: templates that two by two may have to do with each other, whatever their ranks. Each is grouped as if alone.

A family is connected by what was decided (edges, complete gates, people), a unit by what might be: texts that share a
band key, of which one stands in the other, that begin alike. No count and no rank has a part in that, so who comes or
goes can change the units of those alone that share a key with it; all others group as they did (`alone`, for who knows
the rest).

Keys are hashes of 32 bits: two that are confused bring together what is looked at, never what is decided.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pipeline.cluster import candidates, leaders, neighbours
from pipeline.cluster.candidates import Gate, Ints, bare, hard
from pipeline.cluster.election import Edges, Said, edges, elect
from pipeline.cluster.neighbours import Medoid, Pairs
from pipeline.cluster.partition import drawn
from pipeline.cluster.shapes import shape
from pipeline.cluster.work import Work, rank, work
from pipeline.records import Assignment, Cluster, Template

#: The last bits of a key say of what it is.
BAND, QUOTE, BEGINNING, UNTYPED, PLACED = range(5)
KINDS = 8
#: Of a key that more have than this, ranks decide whose texts are looked at: all of them are one unit.
CROWDED = {QUOTE: candidates.TRIED_TEXTS, BEGINNING: leaders.COMPARED_TEXTS}

Numbers = NDArray[np.uint32]
Mask = NDArray[np.bool_]
_NONE: Ints = np.empty(0, np.int64)
_FIRST, _SECOND, _THIRD = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77), np.uint32(0xC2B2AE3D)


#: A gate of more full texts than this is large: see `candidates.pairs`.
LARGE = candidates.DIRECT_TEXTS


@dataclass(frozen=True, slots=True)
class Ragged:
    """Some keys of each of some templates: which template it is, and a key of it; sorted, each once."""

    rows: Ints
    keys: Numbers

    @classmethod
    def of(cls, some: Iterable[tuple[Ints, Numbers]]) -> Ragged:
        """Of (rows, keys) in any order."""
        codes = np.unique(np.concatenate([_NONE, *((rows << 32) | keys for rows, keys in some)]))
        return cls(codes >> 32, (codes & 0xFFFFFFFF).astype(np.uint32))


@dataclass(frozen=True, slots=True)
class Keys:
    """By what others find a template, and by what it looks for others."""

    own: Ragged
    asked: Ragged


def keys_of(work: Work, large: Set[Gate]) -> Keys:
    """The keys of each template of `work`; of a gate that is not `large` all texts are compared: they need none."""
    own, asked = _places(work)
    opened = [position for position, is_complete in enumerate(work.is_complete) if not is_complete]
    quotable = []
    for position in opened:
        template, shape = work.templates[position], work.shapes[position]
        beginning = _key(BEGINNING, hard(template.gate), bare(template.gate, shape).tokens[: leaders.KEY_TOKENS])
        own.append((position, beginning))
        asked.append((position, _key(UNTYPED, template.gate, (shape.text,))))
        if template.is_truncated:
            asked.append((position, beginning))
            continue
        if candidates.quotable(shape):
            quotable.append(position)
        if typed := candidates.typed(template.gate, shape):
            own.append((position, _key(UNTYPED, typed[0], (typed[1],))))
    bands, (every, is_first) = _bands(work, opened, large), _heads(work, opened)
    heads = is_first & np.isin(every[0], np.array(quotable, np.int64))
    return Keys(
        Ragged.of([bands, _columns(own), (every[0][heads], every[1][heads])]),
        Ragged.of([bands, _columns(asked), every]),
    )


def _places(work: Work) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The keys by which words of a run time find where others say that they arise."""
    own: list[tuple[int, int]] = []
    asked: list[tuple[int, int]] = []
    for position, template in enumerate(work.templates):
        text = work.words(position)
        if found := candidates.placed(template.gate, text):
            own.append((position, _key(PLACED, found[0], found[1:])))
        if found := candidates.unplaced(template.gate, text):
            asked.append((position, _key(PLACED, found[0], found[1:])))
    return own, asked


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Numbers]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1].astype(np.uint32)


def units(work: Work, found: Edges, large: Set[Gate], every: Keys) -> list[list[int]]:
    """The positions of each unit of `work`, in order of rank; `found` and `every` are all its edges and keys."""
    return joined(len(work.templates), chain.from_iterable(_links(work, found, large, every)))


def _links(work: Work, found: Edges, large: Set[Gate], every: Keys) -> Iterator[Iterable[tuple[int, int]]]:
    first: dict[Gate, int] = {}
    templates = work.templates
    yield (
        (position, first.setdefault(templates[position].gate, position))
        for position in range(len(templates))
        if work.is_complete[position] or not (templates[position].is_truncated or templates[position].gate in large)
    )
    is_band = every.own.keys % KINDS == BAND
    yield _sharing(every.own.rows[is_band], every.own.keys[is_band])
    yield ((one, other) for one, others in found.untyped.items() for other in others)
    yield ((one, other) for one, others in found.placed.items() for other in others)
    yield ((one, other) for one, others in found.held.items() for other in others)
    yield ((one, other) for one, near in found.begun.items() for other, _ in near)
    yield _crowd(every)


def _sharing(rows: Ints, keys: Numbers) -> Iterator[tuple[int, int]]:
    """Of each key the first row that has it with each other."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    is_start = np.r_[True, ranked[1:] != ranked[:-1]][: len(ranked)]
    first = np.maximum.accumulate(np.where(is_start, np.arange(len(order)), 0))
    return zip(rows[order[~is_start]].tolist(), rows[order[first[~is_start]]].tolist(), strict=True)


def _crowd(every: Keys) -> Iterator[tuple[int, int]]:
    """Of each key that too many have all who have it and all who look for it."""
    found, counts = np.unique(every.own.keys, return_counts=True)
    crowded = np.array(
        [key for key, count in zip(found.tolist(), counts.tolist(), strict=True) if is_crowded(key, count)], np.uint32
    )
    crowded = np.intersect1d(crowded, every.asked.keys)
    some = [np.isin(one.keys, crowded) for one in (every.own, every.asked)]
    rows = np.concatenate([every.own.rows[some[0]], every.asked.rows[some[1]]])
    return _sharing(rows, np.concatenate([every.own.keys[some[0]], every.asked.keys[some[1]]]))


def is_crowded(key: int, count: int) -> bool:
    """Whether so many have a key that only the first of them are looked at."""
    return count > CROWDED.get(key % KINDS, count)


def _bands(work: Work, opened: Sequence[int], large: Set[Gate]) -> tuple[Ints, Numbers]:
    """The band keys of the full texts of large gates."""
    there = [
        position
        for position in opened
        if work.templates[position].gate in large and not work.templates[position].is_truncated
    ]
    label = {gate: candidates.gate_label(gate) for gate in large}
    labels = np.array([label[work.templates[position].gate] for position in there], np.uint64)
    found = candidates.band_keys([work.shapes[position].tokens for position in there], labels)
    mixed = (found * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)  # the last row of a band is in the last bits only
    return np.tile(np.array(there, np.int64), len(found)), _of_kind(BAND, mixed.ravel().astype(np.uint32))


def _heads(work: Work, positions: Sequence[int]) -> tuple[tuple[Ints, Numbers], Mask]:
    """The keys of all words of texts, three by three, and which of them begin one: by these it is found."""
    tokens = [work.shapes[position].tokens for position in positions]
    words = candidates.word_hashes(list(chain.from_iterable(tokens)))
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    gates = np.array([_hash(hard(work.templates[position].gate)) for position in positions], np.uint32)
    mixed = (words * _FIRST) ^ np.repeat(gates, lengths)
    mixed[:-2] += words[1:-1] * _SECOND + words[2:] * _THIRD
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = np.arange(len(words)) - starts
    is_whole = place + candidates.KEY_TOKENS <= np.repeat(lengths, lengths)
    rows = np.repeat(np.array(positions, np.int64), lengths)
    return (rows[is_whole], _of_kind(QUOTE, mixed[is_whole])), (place == 0)[is_whole]


def _of_kind(kind: int, hashes: Numbers) -> Numbers:
    return (hashes & ~np.uint32(KINDS - 1)) | np.uint32(kind)


def _key(kind: int, gate: Gate, words: Sequence[str]) -> int:
    found = zlib.crc32("\x1f".join(words).encode("utf-8", "replace"), _hash(gate))
    return (found & ~(KINDS - 1)) | kind


@lru_cache(1 << 14)
def _hash(gate: Gate) -> int:
    return zlib.crc32("\x1e".join(f"{key}\x1f{value}" for key, value in gate).encode("utf-8", "replace"))


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
        "placed": ((one, other) for one, others in edges.placed.items() for other in others),
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


@dataclass(frozen=True, slots=True)
class Alone:
    """The clusters of whole units, and what there is to know of them when others come or go."""

    templates: tuple[Template, ...]  # in order of rank; what follows is in the same order
    keys: Keys
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
    every = keys_of(begun, large)
    names = [template.signature_id for template in begun.templates]
    unit = [""] * len(names)
    for positions in units(begun, found, large, every):
        least = min(names[position] for position in positions)
        for position in positions:
            unit[position] = least
    elect(begun, found, Said({}, []))
    made = drawn(begun)
    refused = neighbours.refused(begun, made.id_of)
    return Alone(tuple(begun.templates), every, tuple(unit), tuple(made.clusters), tuple(made.assignments), refused)


def keys(templates: Sequence[Template], *, large: Set[Gate]) -> Keys:
    """By what templates find others and are found, in the order of their rank."""
    return keys_of(work(templates), large)


def medoid_keys(texts: Sequence[Template]) -> candidates.Keys:
    """The band keys of representatives, one row a band: who has none of another's is never its neighbour."""
    shapes = [shape(one) for one in texts]
    return candidates.band_keys([one.tokens for one in shapes], np.zeros(len(shapes), np.uint64))


def alike(medoids: Sequence[tuple[str, Template]], found: candidates.Keys, asked: Set[str], *, is_small: bool) -> Pairs:
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
