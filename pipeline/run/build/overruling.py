"""What people decided about grouping: read once a build, told of in its summary, kept in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline import cluster, store
from pipeline.ask import read_overrides
from pipeline.records import Skipped
from pipeline.run.build import reduce


def read(path: Path | None) -> cluster.Overrides:
    """The rows of the file at `path`, their texts read as errors are read; none where there is no path.

    Raises:
        ConfigError: the file cannot be used; the message names the row.
    """
    if path is None:
        return cluster.NONE
    return read_overrides(path)


def ignored(known: reduce.Knowledge, partition: cluster.Partition) -> tuple[Skipped, ...]:
    """The events that people set aside, each with their reason."""
    return tuple(
        Skipped("events", row.event_id, "ignored", one.reason)
        for one in partition.ignored
        for row in known.events[one.signature_id]
    )


def name_of(rulings: Iterable[cluster.Ruling]) -> dict[str, tuple[str, str]]:
    """Name and reason by signature id, of the renames; of two for one signature the first."""
    found: dict[str, tuple[str, str]] = {}
    for ruling in rulings:
        if ruling.override.kind == "rename":
            for signature_id in (one for side in ruling.sides for one in side):
                found.setdefault(signature_id, (ruling.override.name, ruling.override.reason))
    return found


def rows(rulings: Iterable[cluster.Ruling]) -> tuple[store.OverrideRow, ...]:
    """The rulings for the database."""
    return tuple(
        store.OverrideRow(
            kind=one.override.kind,
            place=one.override.place,
            name=one.override.name or None,
            reason=one.override.reason,
            texts=one.override.texts,
            signature_ids=one.sides,
            problem=one.problem or None,
        )
        for one in rulings
    )


def figures(rulings: Sequence[cluster.Ruling]) -> Mapping[str, Any]:
    """For the summary: how many rows there are of each kind, and those that do nothing."""
    if not rulings:
        return {}
    counts = Counter(one.override.kind for one in rulings)
    idle = [{"rule": one.override.label(), "problem": one.problem} for one in rulings if one.problem]
    return {"overrides": dict(sorted(counts.items())), "idle_overrides": idle}
