"""Why two things stand in one cluster, or do not: what people said, then what was written down, then the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline import cluster, store
from pipeline.store import reading


@dataclass(frozen=True, slots=True)
class Relation:
    """How two things stand to each other."""

    is_together: bool
    one: reading.Standing  # the most frequent template of each, or the two that a reason is about
    other: reading.Standing
    reasons: tuple[str, ...]  # the deciding one first


def relation(database: Path, one: str, other: str) -> Relation | str:
    """How two entries, clusters, templates or events stand to each other; the id that nothing has, if there is one."""
    with store.held(database):
        return _relation(database, one, other)


def _relation(database: Path, one: str, other: str) -> Relation | str:
    sides = [reading.standings(database, wanted) for wanted in (one, other)]
    for wanted, found in zip((one, other), sides, strict=True):
        if not found:
            return wanted
    said = reading.overrides(database)
    first, second = sides[0][0], sides[1][0]
    aside = [f"{side.template.text}: {reason}" for side in (first, second) for reason in _set_aside(said, side)]
    if aside:
        return Relation(False, first, second, tuple(aside))
    if first.cluster_id == second.cluster_id:
        reasons = (*_said(said, "merge", sides), *dict.fromkeys(str(side.explanation) for side in (first, second)))
        return Relation(True, first, second, reasons)
    return Relation(False, first, second, _apart(database, said, sides))


def _apart(
    database: Path, said: Sequence[store.OverrideRow], sides: Sequence[Sequence[reading.Standing]]
) -> tuple[str, ...]:
    first, second = sides[0][0], sides[1][0]
    by_people = _said(said, "split", sides)
    written = reading.apart_reason(database, str(first.cluster_id), str(second.cluster_id))
    if by_people:
        return by_people
    if written is not None:
        return (f"{written[1]} (likeness {written[0]:.1f})",)
    score, reason = cluster.why_two(first.template, second.template)
    return (f"{reason} (likeness {score:.1f})",)


def _said(said: Sequence[store.OverrideRow], kind: str, sides: Sequence[Sequence[reading.Standing]]) -> tuple[str, ...]:
    """The rows of a kind that speak of both sides: in different texts, or in clusters that hold both."""
    clusters = [{standing.cluster_id for standing in side} for side in sides]
    members = [{standing.template.signature_id for standing in side} for side in sides]
    found = []
    for row in said:
        texts = [set(side) for side in row.signature_ids]
        hits = [{place for place, text in enumerate(texts) if text & names} for names in members]
        is_meant = all(hits) and len(hits[0] | hits[1]) > 1
        if row.kind == kind and (is_meant or (kind == "merge" and clusters[0] == clusters[1] and any(hits))):
            found.append(f'overrides.toml, {row.place}: "{row.reason}"')
    return tuple(found)


def _set_aside(said: Sequence[store.OverrideRow], standing: reading.Standing) -> list[str]:
    named = standing.template.signature_id
    return [
        f'set aside by overrides.toml, {row.place}: "{row.reason}"'
        for row in said
        if row.kind == "ignore" and any(named in side for side in row.signature_ids)
    ]
