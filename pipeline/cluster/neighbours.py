"""Clusters that look alike and are not one, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import fuzz

from pipeline.cluster import candidates, leaders
from pipeline.cluster.candidates import Ints
from pipeline.cluster.leaders import CUTOFF
from pipeline.cluster.shapes import Shape, shape
from pipeline.cluster.words import conflict
from pipeline.records import Cluster, Neighbour, Template, short_class

if TYPE_CHECKING:
    from pipeline.cluster.work import Work


# One sentence for people: why a template is in its cluster. Stored when decided, never computed again.

#: Characters of a text that a sentence shows.
SHOWN_CHARACTERS = 80


def gate_words(gate: tuple[tuple[str, str], ...]) -> str:
    """The gate for people: "resource shared memory, backend cuda"."""
    return ", ".join(f"{key} {value}" for key, value in gate) or "none"


def shown(text: str) -> str:
    """The beginning of a text on one line, in quotation marks."""
    line = " ".join(text[: 4 * SHOWN_CHARACTERS].split())
    return f'"{line}"' if len(line) <= SHOWN_CHARACTERS else f'"{line[:SHOWN_CHARACTERS]}…"'


def sentence(rule: str, score: float, *, template: Template, cluster: Cluster) -> str:
    """The explanation of one assignment."""
    gate = gate_words(template.gate)
    text = shown(cluster.text)
    if rule == "founder":
        return f"Names the cluster as its earliest template; gate: {gate}; {score:.1f} against {text}."
    if rule == "leader":
        return f"The most frequent text, which others were compared with; gate: {gate}; {score:.1f} against {text}."
    if rule == "gate":
        return f"The gate alone identifies the error: {gate}; the text, {score:.1f} against {text}, decides nothing."
    if rule == "equal":
        return f"Same gate ({gate}) and the same text as {text} but for case, spaces or kinds of slots."
    if rule == "slot":
        return f"Same gate ({gate}) and word for word {text}, but for values where one of the two has a slot."
    if rule == "prefix":
        return f"A cut text with the same gate ({gate}) that {text} or a member of its cluster continues."
    if rule == "quote":
        return f"Its words quote {text} or another text of its cluster whole; own gate: {gate}."
    if rule == "untyped":
        return f"The words of {text} without their exception type, which no other type prints; own gate: {gate}."
    if rule == "place":
        return (
            f"No stack shows where its words arise; all others of its project that have them arise in one function, "
            f"and it is theirs until one arises elsewhere; own gate: {gate}."
        )
    if rule == "review":
        return f"A cut text that no text of its gate ({gate}) alone continues: a group of its own until reviewed."
    if rule == "override":
        return f"People put it here; own gate: {gate}; {score:.1f} against {text}."
    return f"Same gate ({gate}) and {score:.1f} >= {CUTOFF:.0f} against {text}, no telling word differs."


# Clusters that look alike and are not one, with the reason: people ask "why are these two not together?".

#: Neighbours kept for one cluster, the most alike first.
KEPT = 5
#: Least ratio of look-alikes across gates: "out of resource: shared memory" and "threads" score 76.5.
ALIKE = 75.0
#: Owners of a band key among representatives; they are few, so more of them cost little.
OWNERS = 6


#: By pairs of clusters, the lesser id first, how alike they are and why they are two.
Pairs = dict[tuple[str, str], tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Medoid:
    """The representative of a cluster."""

    cluster_id: str
    template: Template
    shape: Shape


def neighbours(work: Work, id_of: Mapping[int, str], medoid_of: Mapping[int, int]) -> tuple[Neighbour, ...]:
    """The neighbours of every cluster, both ways, at most KEPT each, sorted by cluster and score."""
    found = refused(work, id_of)
    order = sorted(id_of, key=medoid_of.__getitem__)
    medoids = [Medoid(id_of[one], work.templates[medoid_of[one]], work.shapes[medoid_of[one]]) for one in order]
    one_block = np.zeros(len(order), np.uint64)
    pairs = candidates.pairs([one.shape.tokens for one in medoids], one_block, owners=OWNERS)
    join(found, alike(medoids, pairs))
    return kept(found)


def refused(work: Work, id_of: Mapping[int, str]) -> Pairs:
    """What was near when `work` was grouped and did not join; `id_of` are the clusters by leader."""
    found: Pairs = {}
    for later, leader, score, words in work.refused:
        if {work.group[later], work.group[leader]} <= id_of.keys():  # people may have set a whole group aside
            _note(found, (id_of[work.group[later]], id_of[work.group[leader]]), score, leaders.why_not(score, words))
    return found


def alike(medoids: Sequence[Medoid], pairs: tuple[Ints, Ints]) -> Pairs:
    """Of pairs (later, earlier) of representatives in order of rank those that look alike."""
    found: Pairs = {}
    similar = leaders.scores([one.shape.text for one in medoids], pairs, cutoff=ALIKE)
    for place in np.flatnonzero(similar).tolist():
        later, earlier = medoids[pairs[0][place]], medoids[pairs[1][place]]
        score = round(float(similar[place]), 1)
        reason = _reason([(one.template, one.shape) for one in (earlier, later)], score)
        _note(found, (later.cluster_id, earlier.cluster_id), score, reason)
    return found


def join(found: Pairs, others: Pairs) -> None:
    """Nothing; `found` has the better of both for each pair."""
    for pair, (score, reason) in others.items():
        _note(found, pair, score, reason)


def _note(found: Pairs, pair: tuple[str, str], score: float, reason: str) -> None:
    if pair[0] == pair[1]:
        return
    key = (min(pair), max(pair))
    better = (round(float(score), 1), reason)
    if key not in found or _weight(better) > _weight(found[key]):
        found[key] = better


def _weight(row: tuple[float, str]) -> tuple[bool, float, str]:
    """What people said comes first, then the most alike."""
    return (row[1].startswith(leaders.APART), *row)


def why_two(one: Template, other: Template) -> tuple[float, str]:
    """The likeness of two templates (0-100), and why they are not one cluster if nobody overruled it."""
    shapes = shape(one), shape(other)
    score = round(fuzz.ratio(shapes[0].text, shapes[1].text), 1)
    return score, _reason([(one, shapes[0]), (other, shapes[1])], score)


def _reason(pair: Sequence[tuple[Template, Shape]], score: float) -> str:
    """Why two templates are not one cluster; a gate that differs comes first."""
    left, right = (dict(template.gate) for template, _ in pair)
    keys = [key for key in sorted(left.keys() | right.keys()) if left.get(key) != right.get(key)]
    if keys:
        told = [" / ".join(sorted(_gate_value(template, key) for template, _ in pair)) for key in keys[:2]]
        return "gate " + "; ".join(f"{key}: {values}" for key, values in zip(keys, told, strict=False))
    if score < leaders.CUTOFF:
        return leaders.why_not(score, "")
    words = conflict(pair[0][1], pair[1][1])
    return leaders.why_not(score, words) if words else leaders.FAR


def _gate_value(template: Template, key: str) -> str:
    """What the gate of a template has for a key; where words say enough, the class that was left away."""
    value = dict(template.gate).get(key)
    if value is None and key == "exception" and template.exception_type:
        return f"{short_class(template.exception_type)} (left away: the words say enough)"
    return value or "-"


def kept(found: Pairs) -> tuple[Neighbour, ...]:
    """Of each cluster those of its pairs that are shown, sorted by cluster and score."""
    rows: dict[str, list[Neighbour]] = {}
    for (one, other), (score, reason) in found.items():
        rows.setdefault(one, []).append(Neighbour(one, other, score, reason))
        rows.setdefault(other, []).append(Neighbour(other, one, score, reason))
    return tuple(
        neighbour for cluster_id in sorted(rows) for neighbour in sorted(rows[cluster_id], key=_kept_first)[:KEPT]
    )


def _kept_first(row: Neighbour) -> tuple[bool, float, str]:
    return (not row.reason.startswith(leaders.APART), -row.score, row.other_id)
