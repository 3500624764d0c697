"""The whole build without Prefect: map, reduce, database; and the export of the bundle from that database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline import cluster, normalise, pool, shards, store, translate, validate
from pipeline import export as bundle
from pipeline.build import history, recording, reduce
from pipeline.build.mapping import (
    UNREAD,
    Partition,
    drop_shards,
    map_partitions,
    partition_of,
    plan,
    shards_of,
)
from pipeline.build.summary import MOST_EXAMPLES, StageCount, Summary, count
from pipeline.bundle import Registry
from pipeline.draft import Draft
from pipeline.entry import KnowledgeEntry
from pipeline.errors import StoreError
from pipeline.records import Cluster, Skipped, Template
from pipeline.store import reading

#: Told of (stage, items done, items in all).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Places:
    """Where a home keeps what."""

    home: Path
    raw: Path
    shards: Path
    curated: Path
    database: Path

    @classmethod
    def of(cls, home: Path) -> Places:
        """The places of `home`."""
        curated = home / "curated"
        return cls(home, home / "raw", home / ".errmine" / "shards", curated, curated / "errmine.duckdb")


@dataclass(frozen=True, slots=True)
class Made:
    """What the reduce step made of the shards."""

    partition: cluster.Partition
    clusters: tuple[Cluster, ...]  # those of the partition, with their regular expressions
    templates: tuple[Template, ...]
    entries: tuple[KnowledgeEntry, ...]
    skipped: tuple[Skipped, ...]
    registry: Registry
    journal: tuple[store.JournalRow, ...]


def build(
    places: Places,
    *,
    workers: int,
    partition_documents: int,
    min_documents: int = 1,
    limits: pool.Limits = pool.Limits(),
    progress: Progress = lambda _stage, _done, _total: None,
) -> Summary:
    """Make the database from raw; give back what every stage took and gave."""
    store.check_replaceable(places.database)  # before an hour of work, not after it
    partitions = plan(places.raw, partition_documents=partition_documents)
    names = map_partitions(partitions, raw_path=places.raw, shard_folder=places.shards, workers=workers, limits=limits)
    for done, _ in enumerate(names, 1):
        progress("extract", done, len(partitions))
    return publish(places, partitions, min_documents=min_documents, progress=progress)


def publish(
    places: Places,
    partitions: Sequence[Partition],
    *,
    min_documents: int = 1,
    progress: Progress = lambda _stage, _done, _total: None,
) -> Summary:
    """The reduce step: read the shards of `partitions`, make the entries, write the database, drop stale shards."""
    wanted = {partition.name for partition in partitions}
    found = shards_of(places.shards)
    used = [paths for name, paths in sorted(found.items()) if partition_of(name) in wanted]
    result = shards.read(used)
    made = _made(places, result, min_documents=min_documents, progress=progress)
    stages = _stages(partitions, result, made)
    before, memberships = _last_build(places.database)
    journal = before.continued(made.journal, bundle.read_registry(places.curated))
    store.write(
        places.database,
        store.Contents(
            documents=tuple(paths.documents for paths in used),
            events=tuple(paths.events for paths in used),
            claims=tuple(paths.claims for paths in used),
            skipped_files=tuple(paths.skipped for paths in used),
            clusters=made.clusters,
            assignments=made.partition.assignments,
            neighbours=made.partition.neighbours,
            entries=made.entries,
            skipped=made.skipped,
            aliases=made.registry.aliases,
            journal=journal.rows,
            runs=recording.rows(places.home),
            stage_counts=tuple(store.StageCount(s.stage, s.stage, s.taken, s.given, s.skipped) for s in stages),
            meta={
                "normaliser": normalise.NORMALISER_VERSION,
                "registry": made.registry.model_dump_json(),
                **journal.meta(),
            },
        ),
    )
    drop_shards(places.shards, {partition_of(name) for name in found} - wanted)
    shards.discard_leftovers(places.shards)
    progress("publish", 1, 1)
    changed = history.changes(memberships, made.partition, _error_counts(result))
    figures = _figures(made) | {
        "sources": dict(sorted(Counter(row.source for row in result.documents).items())),
        "changes": changed.counts(),
        "changed": changed.named(MOST_EXAMPLES),
    }
    return Summary(stages, (*result.skipped, *made.skipped)[:MOST_EXAMPLES], figures)


def export(places: Places) -> Summary:
    """Write the bundle from the database, whole or not at all."""
    entries = [KnowledgeEntry.model_validate(row) for row in reading.entries(places.database)]
    facts = reading.facts(places.database)
    written = bundle.write(
        places.curated,
        entries,
        facts=bundle.Facts(
            normaliser=facts.meta["normaliser"],
            clusters=facts.clusters,
            templates=facts.templates,
            registry=Registry.model_validate(json.loads(facts.meta["registry"])),
            sources=facts.sources,
        ),
    )
    stage = count("export", taken=len(entries), given=written.entry_count, lost=())
    return Summary([stage], (), {"bundle": written.bundle_id[:16], "files": written.file_count})


def joined_summary(*summaries: Summary) -> Summary:
    """One summary of a run's parts, in their order."""
    figures = {name: value for summary in summaries for name, value in summary.figures.items()}
    examples = tuple(item for summary in summaries for item in summary.examples)
    return Summary([stage for summary in summaries for stage in summary.stages], examples[:MOST_EXAMPLES], figures)


def _made(places: Places, result: shards.MapResult, *, min_documents: int, progress: Progress) -> Made:
    known = reduce.knowledge(result)
    templates = sorted(reduce.templates(known), key=lambda template: template.signature_id)
    partition = cluster.partition(templates)
    progress("cluster", 1, 1)
    drafts = reduce.drafts(known, partition)
    enough, few = _split(drafts, min_documents)
    registry = bundle.read_registry(places.curated)
    assigned = bundle.assign(map(_wanted, enough), registry)
    names = reduce.Naming(assigned.ids, assigned.registry.aliases)
    accepted: list[KnowledgeEntry] = []
    lost = list(few)
    for number, draft in enumerate(enough, 1):
        entry_id = assigned.ids[draft.cluster.cluster_id]
        entry = translate.entry(
            reduce.with_names(draft, names),
            entry_id=entry_id,
            aliases=assigned.aliases_of(entry_id),
            normaliser=normalise.NORMALISER_VERSION,
        )
        found = validate.verdict(entry)
        if isinstance(found, validate.Accepted):
            accepted.append(entry)
        else:
            lost.append(_broken(found))
        if number % 500 == 0 or number == len(enough):
            progress("entries", number, len(enough))
    foreign, refused = _imported(known, taken={*assigned.registry.ids, *assigned.registry.aliases})
    accepted += foreign
    lost += refused
    return Made(
        partition=partition,
        clusters=partition.clusters,
        templates=tuple(templates),
        entries=tuple(sorted(accepted, key=lambda entry: entry.id)),
        skipped=tuple(lost),
        registry=assigned.registry,
        journal=tuple(
            store.JournalRow(note.action, note.entry_id, note.other_id, note.detail) for note in assigned.journal
        ),
    )


def _imported(known: reduce.Knowledge, *, taken: set[str]) -> tuple[list[KnowledgeEntry], list[Skipped]]:
    """The entries that were made elsewhere, unproven, under a name that none of ours has."""
    made: list[KnowledgeEntry] = []
    lost: list[Skipped] = []
    for row in sorted(known.documents.values(), key=lambda row: row.document_id):
        if row.payload is None:
            continue
        try:
            entry = validate.imported(row.payload)
        except ValueError as error:
            lost.append(Skipped("entries", row.document_id, "foreign_entry_unusable", str(error)[:300]))
            continue
        if entry.id in taken:
            entry = entry.model_copy(update={"id": f"{entry.id}-{row.raw_sha256[:6]}"})
        taken.add(entry.id)
        found = validate.verdict(entry)
        if isinstance(found, validate.Accepted):
            made.append(entry)
        else:
            lost.append(_broken(found))
    return made, lost


def _broken(found: validate.Rejected) -> Skipped:
    return Skipped("entries", found.entry_id, "breaks_a_rule", "; ".join(map(str, found.reasons))[:1000])


def _split(drafts: Iterable[Draft], min_documents: int) -> tuple[list[Draft], list[Skipped]]:
    enough: list[Draft] = []
    few: list[Skipped] = []
    for draft in drafts:
        documents = reduce.document_count(draft)
        if documents >= min_documents:
            enough.append(draft)
        else:
            few.append(Skipped("entries", draft.cluster.cluster_id, "too_few_documents", f"{documents} documents"))
    return enough, few


def _wanted(draft: Draft) -> bundle.Wanted:
    return bundle.Wanted(
        cluster_id=draft.cluster.cluster_id,
        domain=draft.domain,
        slug=draft.slug,
        medoid=draft.cluster.medoid,
        members=draft.cluster.members,
        weight=reduce.document_count(draft),
    )


def _stages(partitions: Sequence[Partition], result: shards.MapResult, made: Made) -> list[StageCount]:
    documents = sum(len(partition.documents) for partition in partitions)
    unread = [item for item in result.skipped if item.stage in UNREAD]
    set_aside = [row.event.severity for row in result.events if row.signature is None]
    grouped = len(result.events) - len(set_aside)
    foreign = sum(row.payload is not None for row in result.documents)
    return [
        count("documents", taken=documents, given=len(result.documents), lost=unread),
        count("events", taken=len(result.events), given=grouped, lost=set_aside),
        count("entries", taken=len(made.clusters) + foreign, given=len(made.entries), lost=made.skipped),
    ]


def _last_build(database: Path) -> tuple[history.Journal, tuple[reading.Membership, ...]]:
    """The journal and the clusters of the build before this one; nothing if there was none or its file is broken."""
    if not database.exists():
        return history.Journal(), ()
    try:
        journal = history.journal_of(reading.journal(database), store.meta(database))
        return journal, reading.memberships(database)
    except StoreError:  # what can be broken is about to be replaced; one that is held or newer was refused before
        return history.Journal(), ()


def _error_counts(result: shards.MapResult) -> Counter[str]:
    """Errors by signature."""
    return Counter(
        row.signature.signature_id
        for row in result.events
        if row.signature is not None and row.event.severity == "error"
    )


def _figures(made: Made) -> dict[str, object]:
    tiers = Counter(entry.verification_tier for entry in made.entries)
    return {
        "signatures": len(made.templates),
        "clusters": len(made.clusters),
        "entries": len(made.entries),
        "tiers": dict(sorted(tiers.items())),
        "zh": translate.coverage(made.entries),
    }
