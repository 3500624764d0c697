"""What a build would change about the clusters, seen before it is made: original, new, same for every template."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline import cluster, normalise, packs, store
from pipeline.records import Template
from pipeline.run import pool, shards
from pipeline.run.build import changes, history, reduce, rows
from pipeline.run.build.lean import uncollected
from pipeline.run.build.mapping import Partition, finished, map_partitions, partition_of, shards_of
from pipeline.run.build.places import Places
from pipeline.run.build.planning import plan
from pipeline.store import reading


@dataclass(frozen=True, slots=True)
class Row:
    """One template of a cluster that changes."""

    signature_id: str
    text: str
    events: int
    original: str  # cluster id; "" for a template that is new
    original_entry: str | None
    new: str  # cluster id; "" for a template that is gone or set aside
    new_entry: str | None  # of a cluster that has an entry already
    is_same: bool


@dataclass(frozen=True, slots=True)
class Renaming:
    """An entry that a row of overrides.toml gives another id."""

    entry_id: str
    new_id: str


@dataclass(frozen=True, slots=True)
class Regrouping:
    """What would become of the clusters of the last build."""

    rows: tuple[Row, ...]  # every template of every cluster that changes
    changes: tuple[store.JournalRow, ...]  # what the journal would say of clusters
    renamed: tuple[Renaming, ...]  # where overrides.toml names a cluster and its entry has another name yet
    figures: Mapping[str, Any]  # "changes" by kind, "moved" events, "overrides" and those that do nothing

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        changes = [
            {"action": one.action, "subject_id": one.subject_id, "other_id": one.other_id, "why": one.detail}
            for one in self.changes
        ]
        rows = [
            {
                "signature_id": row.signature_id,
                "text": row.text,
                "events": row.events,
                "original": row.original or None,
                "original_entry": row.original_entry,
                "new": row.new or None,
                "new_entry": row.new_entry,
                "same": row.is_same,
            }
            for row in self.rows
        ]
        renamed = [asdict(one) for one in self.renamed]
        return {**self.figures, "renamed": renamed, "journal": changes, "rows": rows}


def foreseen(
    places: Places,
    *,
    workers: int,
    partition_documents: int,
    limits: pool.Limits = pool.Limits(),
    overrides: Path | None = None,
    is_kept: bool = False,
) -> Regrouping:
    """What a build would change, against the database; nothing in the home is touched.

    Pages that were not read yet by this version are read into a folder that is thrown away; with `is_kept`, for who
    has the home for itself and builds next, into the home's own.

    Raises:
        StoreError: there is no database to compare with.
        ConfigError: the overrides cannot be used.
    """
    decided = reduce.read(overrides)
    store.meta(places.database)
    partitions = plan(places.raw, partition_documents=partition_documents, like=places.planned)
    last = history.last_build(places.database, home=places.home, is_gone=places.is_gone)
    with _shard_folder(places, is_kept=is_kept) as folder, uncollected():
        used = _mapped(places, partitions, folder, workers=workers, limits=limits)
        with rows.opened(used, spill=folder / "spill") as there:
            templates = there.templates()
            rulings = cluster.rulings(decided, templates)
            made = cluster.partition(templates, overrides=decided)
            now = changes.columns(made.cluster_of())
            names = [template.signature_id for template in templates]
            version = packs.marked(normalise.NORMALISER_VERSION)
            moved = history.moved(places.database, last, there, names, normaliser=version)
    found = changes.compared(last, now, moved, known={})
    said = reduce.rows(rulings)
    kinds = Counter(change.kind for change in found.changes)
    return Regrouping(
        rows=_rows(found, places.database, {template.signature_id: template for template in templates}),
        renamed=_renamed(made.names, found, places.database),
        changes=tuple(changes.journal_rows(found, last, moved, rulings=said)),
        figures={
            "changes": dict(sorted(kinds.items())),
            **changes.moved_figures(found, moved),
            **reduce.figures(rulings),
        },
    )


@contextmanager
def _shard_folder(places: Places, *, is_kept: bool) -> Iterator[Path]:
    """Where shards that are missing are written."""
    if is_kept:
        yield places.shards
    else:
        with tempfile.TemporaryDirectory(prefix="errmine-") as scratch:
            yield Path(scratch)


def _mapped(
    places: Places, partitions: Sequence[Partition], folder: Path, *, workers: int, limits: pool.Limits
) -> list[shards.ShardPaths]:
    """The shards of everything in raw."""
    done = finished(partitions, places.shards)
    missing = [one for one in partitions if one.name not in done]
    names = map_partitions(
        missing, raw_path=places.raw, shard_folder=folder, kept_folder=places.shards, workers=workers, limits=limits
    )
    for _ in names:
        pass
    new = {one.name for one in missing}
    found = {name: paths for name, paths in shards_of(places.shards).items() if partition_of(name) in done}
    found |= {name: paths for name, paths in shards_of(folder).items() if partition_of(name) in new}
    return [paths for _, paths in sorted(found.items())]


def _renamed(names: Sequence[tuple[str, str]], found: changes.Comparison, database: Path) -> tuple[Renaming, ...]:
    """The entries that a build names as overrides.toml says, if nothing else has that id; `names` are of clusters."""
    if not names:
        return ()
    entry_of = reading.entry_of(database)
    held: dict[str, set[str]] = {}
    for key, cluster_id in found.after.items():
        if key in found.before:
            held.setdefault(cluster_id, set()).add(found.before[key])
    touched, made = set(found.after.values()), []
    for cluster_id, name in names:
        olds = held.get(cluster_id, ()) if cluster_id in touched else (cluster_id,)
        for entry_id in sorted({entry_of[old] for old in olds if old in entry_of}):
            new_id = f"{entry_id.partition('/')[0]}/{name}"
            if new_id != entry_id:
                made.append(Renaming(entry_id, new_id))
    return tuple(made)


def _rows(found: changes.Comparison, database: Path, templates: Mapping[str, Template]) -> tuple[Row, ...]:
    entry_of, texts = reading.entry_of(database), reading.signature_texts(database)
    made = []
    for key, original, new, is_same in cluster.dry_run(found.before, found.after):
        signature_id = key.rpartition(" ")[2]
        template = templates.get(signature_id)
        made.append(
            Row(
                signature_id=signature_id,
                text=template.text if template else texts.get(signature_id, ""),
                events=template.count if template else 0,
                original=original,
                original_entry=entry_of.get(original),
                new=new,
                new_entry=entry_of.get(new),
                is_same=is_same,
            )
        )
    return tuple(sorted(made, key=lambda row: (row.original or "~", row.new, -row.events, row.signature_id)))
