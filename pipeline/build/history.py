"""What a build changed against the one before: in the journal, and cluster by cluster."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from pipeline import cluster, store
from pipeline.bundle import Registry
from pipeline.store.reading import Membership


@dataclass(frozen=True, slots=True)
class Journal:
    """The notes so far, and which of them are not published yet.

    Ids count as given when the bundle is exported. The notes of a build that never was exported are therefore dropped
    by the next build, which makes them again: a build that was killed or repeated leaves no trace.
    """

    rows: tuple[store.JournalRow, ...] = ()
    base: int = 0  # the notes before those of the last build that made any
    before: str = ""  # digest of the registry that this build started from

    def continued(self, notes: Sequence[store.JournalRow], registry: Registry) -> Journal:
        """The journal with the notes of a build that started from `registry`."""
        now = hashlib.sha256(registry.model_dump_json().encode()).hexdigest()
        rows = self.rows[: self.base] if self.before == now else self.rows
        if not notes:
            return Journal(rows, self.base, self.before)
        return Journal((*rows, *notes), len(rows), now)

    def meta(self) -> dict[str, str]:
        """For the table `meta`, from which `journal_of` reads it back."""
        return {"journal_base": str(self.base), "journal_registry": self.before}


def journal_of(rows: tuple[store.JournalRow, ...], meta: Mapping[str, str]) -> Journal:
    """The journal that a database holds."""
    return Journal(rows, int(meta.get("journal_base", len(rows))), meta.get("journal_registry", ""))


@dataclass(frozen=True, slots=True)
class Changes:
    """Cluster ids by what became of them; those of `merged`, `split` and `withdrawn` are the former ones."""

    new: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many of each."""
        return {each.name: len(getattr(self, each.name)) for each in fields(self)}

    def named(self, most: int) -> dict[str, list[str]]:
        """The first ids of each."""
        return {each.name: list(getattr(self, each.name)[:most]) for each in fields(self)}


def changes(before: Iterable[Membership], after: cluster.Partition, event_counts: Mapping[str, int]) -> Changes:
    """What became of the clusters of the last build in this one; `event_counts` are by signature."""
    now = {found.signature_id: found.cluster_id for found in after.assignments}
    counts: Counter[str] = Counter()
    for signature_id, count in event_counts.items():
        counts[now[signature_id]] += count
    before = list(before)
    heirs = {old.cluster_id: {now[member] for member in old.members if member in now} for old in before}
    parents: dict[str, list[str]] = {}
    for old, found in sorted(heirs.items()):
        for heir in found:
            parents.setdefault(heir, []).append(old)
    was = {old.cluster_id: old.event_count for old in before}
    return Changes(
        new=tuple(sorted(c.cluster_id for c in after.clusters if c.cluster_id not in parents)),
        grown=tuple(sorted(name for name, count in was.items() if counts[name] > count)),
        merged=tuple(sorted({old for found in parents.values() if len(found) > 1 for old in found})),
        split=tuple(sorted(old for old, found in heirs.items() if len(found) > 1)),
        withdrawn=tuple(sorted(old for old, found in heirs.items() if not found)),
    )
