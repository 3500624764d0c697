"""What each row of overrides.toml means for the templates at hand, and which rows do nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.cluster.partition import partition
from pipeline.cluster.people import Meaning, Override, Overrides
from pipeline.cluster.shapes import merged
from pipeline.records import Template


@dataclass(frozen=True, slots=True)
class Ruling:
    """A row of overrides.toml, applied."""

    override: Override
    sides: tuple[tuple[str, ...], ...]  # signature ids that each of its texts means
    problem: str  # why the row, or a part of it, does nothing now; "" if all of it acts


def rulings(overrides: Overrides, templates: Sequence[Template]) -> tuple[Ruling, ...]:
    """Every row with what it means, in the order of the rows."""
    known = merged(templates)
    meaning = Meaning(known, overrides.read)
    sides = [meaning.sides(row) for row in overrides.rows]
    # clusters never cross a gate, so the gates that are spoken of are enough
    gates = {known[position].gate for row in sides for side in row for position in side}
    without = partition([template for template in known if template.gate in gates]).cluster_of()
    made = []
    for row, places in zip(overrides.rows, sides, strict=True):
        names = tuple(tuple(known[position].signature_id for position in side) for side in places)
        made.append(Ruling(row, names, _problem(row, names, without)))
    return tuple(made)


def _problem(row: Override, sides: Sequence[Sequence[str]], cluster_of: Mapping[str, str]) -> str:
    missing = [text for text, side in zip(row.texts, sides, strict=True) if not side]
    if missing:
        more = f", nor {len(missing) - 1} other of its texts" if len(missing) > 1 else ""
        return f"nothing in raw reads as {missing[0][:80]!r}{more}"
    if row.kind == "split" and len({one for side in sides for one in side}) < sum(map(len, sides)):
        return "two of its texts are one template: only values differ between them"
    clusters = [{cluster_of[signature_id] for signature_id in side} for side in sides]
    every = set().union(*clusters)
    if row.kind == "merge" and len(every) == 1:
        return "its texts are one cluster without it"
    if row.kind == "split" and sum(map(len, clusters)) == len(every):
        return "its texts are different clusters without it"
    if row.kind == "rename" and len(every) > 1:
        return f"its texts are {len(every)} clusters, and a name is one cluster's"
    return ""
