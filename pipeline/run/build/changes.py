"""What a build changed against the one before: in the journal, in the summary, and for those who hold old ids.

Clusters are compared with those of the database that this build replaces, entries with the last bundle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline import cluster, store
from pipeline.records.bundle import Registry
from pipeline.run.build import grouping, history, keyed
from pipeline.store import reading

if TYPE_CHECKING:
    from pipeline.run.build.entries import Grouped
    from pipeline.run.build.registry import Registered
    from pipeline.run.build.rows import Rows

#: Rows of the map of moved events that a summary holds; the database has all of it in its journal.
_MOST_MOVED = 50


@dataclass(frozen=True, slots=True)
class Comparison:
    """The clusters of the last build against those of this one."""

    changes: tuple[cluster.Change, ...]
    aliases: Mapping[str, str]  # every cluster id that there ever was and is no more -> what it means now
    moved: Mapping[tuple[str, str], int]  # events read anew: (old cluster id, new cluster id) -> how many
    before: Mapping[str, str]  # what was compared: "signature", or "old new" of one read anew -> cluster id
    after: Mapping[str, str]
    was: Mapping[str, str]  # signature id -> cluster id; of clusters that are as they were neither tells
    now: Mapping[str, str]


def compared(
    last: history.LastBuild, assigned: pa.Table, read_anew: history.Moved, *, known: Mapping[str, str]
) -> Comparison:
    """What became of the clusters; `assigned` is the cluster of each signature now, as `reading.ASSIGNED` has them,
    `known` are aliases published before.
    """
    # of events read anew any cluster may be asked for
    both = (last.assigned, assigned) if read_anew.counts else _touched(last.assigned, assigned)
    was, now = (dict(zip(*(column.to_pylist() for column in one.columns), strict=True)) for one in both)
    before, after = _paired(was, now, read_anew.counts)
    flows: Counter[tuple[str, str]] = Counter()
    for (old, new), count in read_anew.counts.items():
        if new in now:
            flows[was[old], now[new]] += count
    known = {**known, **dict(last.cluster_aliases)}
    aliases = cluster.aliases(known, before, after, _named(assigned["cluster_id"], {*known, *known.values()}))
    return Comparison(tuple(cluster.changes(before, after)), aliases, flows, before, after, was, now)


def columns(cluster_of: Mapping[str, str]) -> pa.Table:
    """The cluster of each signature, as `reading.ASSIGNED` has them."""
    return pa.table([list(cluster_of), list(cluster_of.values())], schema=reading.ASSIGNED)


def _touched(was: pa.Table, now: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Of both the rows of clusters in which not the same signatures are."""
    place = pc.index_in(now["signature_id"], value_set=keyed.whole(was["signature_id"]))
    own, before = keyed.whole(now["cluster_id"]), keyed.whole(was["cluster_id"]).take(keyed.whole(place))
    is_same = keyed.numbers(pc.fill_null(pc.equal(own, before), False))
    is_gone = np.ones(len(was), bool)
    is_gone[keyed.numbers(keyed.whole(place).filter(pa.array(is_same)))] = False
    came, went = own.filter(pa.array(~is_same)), keyed.whole(was["cluster_id"]).filter(pa.array(is_gone))
    ids = pc.unique(pa.concat_arrays([came, went]))
    first, second = (one.filter(pa.array(keyed.is_in(one["cluster_id"], ids))) for one in (was, now))
    return first, second


def _named(clusters: pa.ChunkedArray, names: Iterable[str]) -> frozenset[str]:
    """Those of some names that clusters have."""
    return frozenset(clusters.filter(pa.array(keyed.is_in(clusters, names))).to_pylist())


def _paired(
    was: Mapping[str, str], now: Mapping[str, str], moved_counts: Iterable[tuple[str, str]]
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Both maps with a key of its own for each pair of signatures that share events, so that they can be compared."""
    pairs = [(old, new) for old, new in moved_counts if new in now]
    if not pairs:
        return was, now
    before, after = dict(was), dict(now)
    for old, new in pairs:
        before[f"{old} {new}"] = was[old]
        after[f"{old} {new}"] = now[new]
    for old, new in pairs:
        before.pop(old, None)
        if new not in was:
            after.pop(new, None)
    return before, after


def journal_rows(
    found: Comparison,
    last: history.LastBuild,
    read_anew: history.Moved,
    *,
    rulings: Sequence[store.OverrideRow],
) -> list[store.JournalRow]:
    """The changes as rows of the journal, with what people said where they decided them; growth is no row."""
    says = {_key(row) for row in rulings}
    reasons = _Reasons(
        found=found,
        said=rulings,
        unsaid=[row for row in last.overrides if _key(row) not in says],
        versions=f"normaliser {read_anew.before} -> {read_anew.now}",
    )
    rows = []
    for change in found.changes:
        why = reasons.of(change)
        for subject, other in _pairs(change):
            rows.append(store.JournalRow(change.kind, subject, other, why))
    return rows


def _pairs(change: cluster.Change) -> list[tuple[str, str | None]]:
    if change.kind == "merged":
        return [(old, change.new_ids[0]) for old in change.old_ids if old != change.new_ids[0]]
    if change.kind == "split":
        return [(new, change.old_ids[0]) for new in change.new_ids if new != change.old_ids[0]]
    if change.kind == "renamed":
        return [(change.old_ids[0], change.new_ids[0])]
    if change.kind in ("new", "withdrawn"):
        return [((change.new_ids or change.old_ids)[0], None)]
    return []


#: What people may have said, by what happened: rows that are there, and rows that are there no more.
_SAID = {"merged": "merge", "split": "split", "withdrawn": "ignore"}
_UNSAID = {"split": "merge", "merged": "split", "new": "ignore"}


@dataclass(frozen=True, slots=True)
class _Reasons:
    """Why clusters changed, as far as people or another normaliser did it."""

    found: Comparison
    said: Sequence[store.OverrideRow]
    unsaid: Sequence[store.OverrideRow]  # what people took back
    versions: str

    def of(self, change: cluster.Change) -> str:
        """The sentence of a change."""
        parts = [change.reason]
        events = sum(self.found.moved.get((old, new), 0) for old in change.old_ids for new in change.new_ids)
        if events:
            parts = [f"{events} events read anew ({self.versions})", *(parts if change.kind != "renamed" else ())]
        for kinds, rows, words in ((_SAID, self.said, ""), (_UNSAID, self.unsaid, "no longer in ")):
            parts += [
                f'{words}overrides.toml: "{row.reason}"'
                for row in rows
                if row.kind == kinds.get(change.kind) and self._did(row, change)
            ]
        return "; ".join(parts)

    def _did(self, row: store.OverrideRow, change: cluster.Change) -> bool:
        """Whether the texts of a row stood on both sides of what was joined or parted."""
        is_past = change.kind in ("merged", "withdrawn")
        cluster_of, ids = (self.found.was, change.old_ids) if is_past else (self.found.now, change.new_ids)
        touched = {cluster_of.get(one) for side in row.signature_ids for one in side}.intersection(ids)
        return len(touched) >= (2 if change.kind in ("merged", "split") else 1)


def _key(row: store.OverrideRow) -> tuple[str, tuple[str, ...]]:
    return (row.kind, row.texts)


# ---------------------------------------------------------------- both, for a build


@dataclass(frozen=True, slots=True)
class Past:
    """What a build replaces, and what its clusters are against it."""

    published: Registered  # as the last bundle has it
    last: history.LastBuild
    moved: history.Moved
    compared: Comparison
    assigned: pa.Table  # the cluster of each signature, as `reading.ASSIGNED` has them

    @property
    def registry(self) -> Registered:
        """The ids published so far, with their errors as they are called now."""
        return self.moved.followed(self.last.followed(self.published))

    def journal(
        self, notes: Sequence[store.JournalRow], rulings: Sequence[store.OverrideRow], *, run_id: str
    ) -> history.Journal:
        """The journal with what this build did to entries (`notes`) and to clusters."""
        about = self.last.news(journal_rows(self.compared, self.last, self.moved, rulings=rulings))
        return self.last.journal.continued(notes, self.published, about_clusters=about, run_id=run_id)

    def figures(self, event_counts: pa.Table, *, most: int) -> dict[str, Any]:
        """For the summary: what changed, the first `most` ids of each kind, and what was read anew.

        `event_counts` are by signature.
        """
        changed = changes(self.compared, _grown(self.last.counted, self.assigned, event_counts))
        return {
            **moved_figures(self.compared, self.moved),
            "changes": changed.counts(),
            "changed": changed.named(most),
        }


def against(
    database: Path,
    last: history.LastBuild,
    published: Registered,
    rows: Rows,
    grouped: Grouped,
    *,
    normaliser: str,
) -> Past:
    """What is replaced by a build with the clusters `grouped`; `published` is the registry of the last bundle."""
    now = grouping.lying(grouped.partition).table.select(reading.ASSIGNED.names)
    read_anew = history.moved(database, last, rows, grouped.table["signature_id"], normaliser=normaliser)
    return Past(published, last, read_anew, compared(last, now, read_anew, known=published.cluster_aliases), now)


# ---------------------------------------------------------------- the summary


@dataclass(frozen=True, slots=True)
class Changes:
    """Cluster ids by what became of them; those of all but `new` are the former ones."""

    new: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many of each."""
        return {each.name: len(getattr(self, each.name)) for each in fields(self)}

    def named(self, most: int) -> dict[str, list[str]]:
        """The first ids of each."""
        return {each.name: list(getattr(self, each.name)[:most]) for each in fields(self)}


def _grown(before: pa.Table, assigned: pa.Table, event_counts: pa.Table) -> list[str]:
    """The clusters that have more errors now than they had; `event_counts` are by signature."""
    place = pc.index_in(event_counts["signature_id"], value_set=keyed.whole(assigned["signature_id"]))
    clusters = keyed.whole(assigned["cluster_id"]).take(keyed.whole(place))
    counts = pa.table([clusters, event_counts["event_count"]], ["cluster_id", "event_count"])
    now = counts.group_by("cluster_id").aggregate([("event_count", "sum")])
    at = pc.index_in(before["cluster_id"], value_set=keyed.whole(now["cluster_id"]))
    have = pc.fill_null(keyed.whole(now["event_count_sum"]).take(keyed.whole(at)), 0)
    found: list[str] = before["cluster_id"].filter(pc.greater(have, keyed.whole(before["event_count"]))).to_pylist()
    return found


def changes(found: Comparison, grown: Iterable[str]) -> Changes:
    """What became of the clusters, of which those that are `grown` have more events."""

    def ids(kind: str) -> tuple[str, ...]:
        return tuple(sorted({one for each in found.changes if each.kind == kind for one in each.old_ids}))

    return Changes(
        new=tuple(sorted(one for each in found.changes if each.kind == "new" for one in each.new_ids)),
        grown=tuple(sorted(grown)),
        merged=ids("merged"),
        split=ids("split"),
        renamed=ids("renamed"),
        withdrawn=ids("withdrawn"),
    )


def moved_figures(found: Comparison, read_anew: history.Moved) -> dict[str, Any]:
    """For the summary: how many events were read anew, and which old cluster is which new one; nothing if none was."""
    if not read_anew.counts:
        return {}
    rows = sorted(found.moved.items(), key=lambda row: (-row[1], row[0]))
    return {
        "moved": {
            "normaliser": [read_anew.before, read_anew.now],
            "events": sum(read_anew.counts.values()),
            "clusters": len({old for old, _ in found.moved}),
            "map": [{"old": old, "new": new, "events": count} for (old, new), count in rows[:_MOST_MOVED]],
        }
    }


# ---------------------------------------------------------------- ids of entries


@dataclass(frozen=True, slots=True)
class JournalNote:
    """Something that happened to an id."""

    action: str  # new, renamed, merged, split, withdrawn
    entry_id: str
    other_id: str | None
    detail: str


def id_notes(
    before: Registry,
    after: Registry,
    *,
    merged: Mapping[str, str],
    renamed: Mapping[str, str],
    reasons: Mapping[str, str],
) -> Iterable[JournalNote]:
    """What became of ids between two registries; `reasons` are by new id."""
    returned = sorted(set(after.ids) & set(before.merged))
    for entry_id in sorted(set(after.ids) - set(before.ids) - set(returned) - set(renamed.values())):
        yield JournalNote("new", entry_id, None, "published for the first time")
    for entry_id in returned:
        old = before.aliases.get(entry_id)
        yield JournalNote("split", entry_id, old, "its error is a cluster of its own again, and has its id back")
    for old, new in sorted(renamed.items()):
        yield JournalNote("renamed", old, new, reasons[new])
    for old, new in sorted(merged.items()):
        if old in before.ids:
            yield JournalNote("merged", old, new, "its error is now part of the other entry's cluster")
    for entry_id in sorted(set(after.withdrawn) - set(before.withdrawn)):
        yield JournalNote("withdrawn", entry_id, None, "no report of the error is grouped any more")
