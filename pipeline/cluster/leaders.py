"""Who leads a cluster: cut texts join what they begin, and the medoid speaks for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from pipeline.cluster.aligned import is_same
from pipeline.cluster.candidates import Gate, Ints, bare, hard
from pipeline.cluster.shapes import Shape, tokens
from pipeline.cluster.words import conflict

# Cut texts: they join the one cluster that continues them, and found a group only where nothing does.

#: A cut text of fewer words continues into anything. Chosen: "CUDA error: an" says nothing yet.
LEAST_WORDS = 3
#: Words that the beginnings must share before a comparison is made.
KEY_TOKENS = 2
#: Full texts compared with one cut text: bounds the cost where thousands begin alike.
COMPARED_TEXTS = 256


class Beginnings:
    """Full texts by hard gate and first words: where a cut text finds what continues it.

    Gates that come from words may have been cut off with the words, an exception type stands before few of them.
    """

    def __init__(self) -> None:
        self._texts: dict[tuple[Gate, tuple[str, ...]], list[tuple[int, Shape]]] = {}

    def add(self, gate: Gate, group: int, shape: Shape) -> None:
        """Make a text of a group findable; texts of higher rank must come first."""
        own = bare(gate, shape)
        self._texts.setdefault((hard(gate), own.tokens[:KEY_TOKENS]), []).append((group, own))

    def best(self, gate: Gate, shape: Shape) -> tuple[int, float] | None:
        """The group that alone continues a cut text, with the score of the shared part; None if none or several do."""
        near = self.continuing(gate, shape)
        group = only_best(near)
        return None if group is None else (group, max(score for _, score in near))

    def continuing(self, gate: Gate, shape: Shape) -> list[tuple[int, float]]:
        """What continues a cut text, each with the score of the shared part."""
        cut = bare(gate, shape)
        if len(cut.words) < LEAST_WORDS:
            return []
        there = self._texts.get((hard(gate), cut.tokens[:KEY_TOKENS]), [])[:COMPARED_TEXTS]
        return [(group, score) for group, full in there if (score := prefix_score(cut, full))]


def only_best(near: Iterable[tuple[int, float]]) -> int | None:
    """The group with the greatest score; None if there is none, or two share it."""
    found: dict[int, float] = {}
    for group, score in near:
        found[group] = max(score, found.get(group, 0.0))
    ranked = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    if not ranked or (len(ranked) > 1 and ranked[1][1] == ranked[0][1]):
        return None
    return ranked[0][0]


def prefix_score(cut: Shape, full: Shape) -> float:
    """How much a cut text is the beginning of a full one, 0 where it is not: under the cutoff or by a word."""
    if len(full.text) < len(cut.text):
        return 0.0
    head = full.text[: len(cut.text)]
    score = fuzz.ratio(cut.text, head, score_cutoff=CUTOFF)
    return score if score and not conflict(_without_last(cut.tokens), _without_last(tokens(head))) else 0.0


def _without_last(parts: tuple[str, ...]) -> Shape:
    """The shape of the words but the last, which may be half a word."""
    return Shape("", parts[:-1])


# The representative of a group: the text that is nearest to all, weighted by how often each was seen.

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


# Grouping by leaders: in order of frequency each text joins its best leader, or becomes one. Never single link.
#
# Components over the same pairs chain: their precision falls with size (0.97 at 1e4 texts, 0.91 at 1e5), that of
# leader grouping stays at 0.997.

Floats = NDArray[np.float32]

#: Least ratio at which two texts of one gate are one error. Measured: benchmarks/README.md, "Cutoff".
CUTOFF = 85.0
#: A pair from here to CUTOFF is neither one error nor two: it is written down for people to review.
REVIEW = 80.0
#: Least ratio of two texts that may be the same words but for values: one long name is many letters.
ALIGNED = 50.0
#: Two members of one cluster, each close to the leader, may be no further apart than this (complete link).
MEMBER_CUTOFF = 78.0
#: Members that a newcomer is checked against, the most frequent first: bounds the cost of complete link.
CHECKED_MEMBERS = 12
#: Reasons for refusing a text that are no words; the first is followed by what people said.
APART, FAR = "kept apart by overrides.toml", "too far from another member"


Refuse = Callable[[int, Sequence[int]], str]
Score = Callable[[int, int], float]


@dataclass(slots=True)
class Groups:
    """Which leader each text has, and the pairs that were looked at and not joined."""

    leader: list[int]
    members: dict[int, list[int]] = field(default_factory=dict)  # leader -> members in order of rank, leader first
    refused: list[tuple[int, int, float, str]] = field(default_factory=list)  # later, leader, score, words


def scores(texts: Sequence[str], pairs: tuple[Ints, Ints], *, cutoff: float, workers: int = 1) -> Floats:
    """The ratio of each pair of texts, 0 where it is under the cutoff."""
    later, earlier = pairs
    if not len(later):
        return np.empty(0, np.float32)
    return process.cpdist(
        [texts[position] for position in later.tolist()],
        [texts[position] for position in earlier.tolist()],
        scorer=fuzz.ratio,
        score_cutoff=cutoff,
        workers=workers,
        dtype=np.float32,
    )


def similarities(shapes: Sequence[Shape], pairs: tuple[Ints, Ints]) -> Floats:
    """The score of each pair: REVIEW at least, or 0; CUTOFF at least if the texts differ in values only."""
    similar = scores([shape.text for shape in shapes], pairs, cutoff=ALIGNED)
    for place in np.flatnonzero((similar > 0) & (similar < CUTOFF)).tolist():
        one, other = shapes[int(pairs[0][place])], shapes[int(pairs[1][place])]
        similar[place] = raised(float(similar[place]), one, other)
    return similar


def grouped(
    shapes: Sequence[Shape], scored: tuple[Ints, Ints, Floats], *, apart: Mapping[tuple[int, int], str]
) -> Groups:
    """The groups of texts in order of rank, from scored pairs (later, earlier, score).

    `apart`: pairs that people said are two errors, with their reason.
    """

    def rescored(position: int, leader: int) -> float:
        score = fuzz.ratio(shapes[position].text, shapes[leader].text, score_cutoff=ALIGNED)
        return raised(score, shapes[position], shapes[leader])

    def refused(position: int, members: Sequence[int]) -> str:
        parted = next((apart[position, member] for member in members if (position, member) in apart), None)
        if parted is not None:
            return apart_words(parted)
        return refusal(shapes[position], members, shapes)

    return elected(len(shapes), scored, rescored=rescored, refused=refused)


def raised(score: float, one: Shape, other: Shape) -> float:
    """The score of a pair, CUTOFF at least if the texts differ in values only, 0 if it is under REVIEW else."""
    if 0 < score < CUTOFF and is_same(one, other):
        return CUTOFF
    return score if score >= REVIEW else 0.0


def elected(count: int, scored: tuple[Ints, Ints, Floats], *, rescored: Score, refused: Refuse) -> Groups:
    """The groups of `count` texts in order of rank, from scored pairs (later, earlier, score; 0 is no pair).

    A text whose near ones are members of a group is scored against their leader. `refused` says why a text that
    scores high enough may still not join certain members, "" if it may.
    """
    kept = np.flatnonzero(scored[2])
    later, earlier, similar = (column[kept].tolist() for column in scored)
    groups = Groups(leader=list(range(count)))
    place, end = 0, len(later)
    while place < end:
        position = later[place]
        known: dict[int, float] = {}
        while place < end and later[place] == position:
            leader = groups.leader[earlier[place]]
            if leader == earlier[place]:
                known[leader] = similar[place]
            elif leader not in known:
                known[leader] = rescored(position, leader)
            place += 1
        leader = _best(position, known, groups, refused)
        if leader != position:
            groups.leader[position] = leader
            groups.members.setdefault(leader, [leader]).append(position)
    # most texts lead nobody and follow nobody: they are told at the end, all in order of rank
    joined = groups.members
    groups.members = {
        leader: joined.get(leader) or [leader] for leader, own in enumerate(groups.leader) if own == leader
    }
    return groups


def _best(position: int, known: dict[int, float], groups: Groups, refused: Refuse) -> int:
    ranked = known.items() if len(known) == 1 else sorted(known.items(), key=lambda pair: (-pair[1], pair[0]))
    for leader, score in ranked:
        reason = refused(position, groups.members.get(leader) or [leader]) if score >= CUTOFF else ""
        if score >= CUTOFF and not reason:
            return leader
        if score:
            groups.refused.append((position, leader, score, reason))
    return position


def refusal(shape: Shape, members: Sequence[int], shapes: Sequence[Shape]) -> str:
    """Why a text may not join these members although it is near the first; "" if it may."""
    for number, member in enumerate(members[:CHECKED_MEMBERS]):
        words = conflict(shapes[member], shape)
        is_near = number == 0 or bool(fuzz.ratio(shape.text, shapes[member].text, score_cutoff=MEMBER_CUTOFF))
        if (words or not is_near) and not is_same(shapes[member], shape):
            return words if is_near else FAR
    return ""


def rule(shape: Shape, leader: Shape) -> str:
    """By which rule a text joined its leader: "equal", "ratio" or "slot"."""
    if shape.text == leader.text:
        return "equal"
    is_near = bool(fuzz.ratio(shape.text, leader.text, score_cutoff=CUTOFF))
    return "ratio" if is_near and not conflict(leader, shape) else "slot"


def apart_words(reason: str) -> str:
    """Why two texts are kept apart by people."""
    return f"{APART}: {reason}"


def why_not(score: float, words: str) -> str:
    """Why a pair with this score was not joined, for people: "score 84.0 < 85" or "words row / column"."""
    if words == FAR or words.startswith(APART):
        return words
    return f"words {words}" if words else f"score {score:.1f} < {CUTOFF:.0f}"
