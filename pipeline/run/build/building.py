"""The whole build without Prefect: map, reduce, database; and the export of the bundle from that database."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb

from pipeline import cluster, distil, normalise, packs, raw, store
from pipeline.records import ClaimKind, Skipped, disk, warm
from pipeline.records.bundle import BUNDLE_VERSION
from pipeline.records.kept import KeptFile, Seen, Verdict
from pipeline.records.summary import MOST_EXAMPLES, StageCount, Summary, count
from pipeline.run import pool, shards
from pipeline.run.build import (
    changes,
    concerned,
    entries,
    exporting,
    history,
    holding,
    itself,
    making,
    planning,
    reduce,
    results,
    rows,
    waking,
)
from pipeline.run.build.engines import NO_ENGINES, NOTHING_ADDED, Added, Engines, drop_answers
from pipeline.run.build.lean import lean, uncollected
from pipeline.run.build.mapping import (
    PRELOAD,
    UNREAD,
    Partition,
    crew,
    drop_damaged,
    drop_shards,
    finished,
    map_partitions,
    partition_of,
    shards_of,
)
from pipeline.run.build.places import Places
from pipeline.run.build.planning import batches, plan
from pipeline.run.build.registry import Registered
from pipeline.run.home import forgetting, recording, translations
from pipeline.store import noted
from pipeline.translate.remembered import Accepted

#: Told of (stage, items done, items in all).
Progress = Callable[[str, int, int], None]
#: Of so many documents workers copy the rows of several hundred beside each that is new: as long as tables take.
_WORTH_WAKING = 3_000


@lean()
def build(  # noqa: PLR0913  (all that a build may be told, one keyword each)
    places: Places,
    *,
    workers: int,
    partition_documents: int,
    min_documents: int = 1,
    limits: pool.Limits = pool.Limits(),
    engines: Engines = NO_ENGINES,
    overrides: Path | None = None,
    run_id: str = "",
    is_loss_accepted: bool = False,
    is_alone: bool = False,
    progress: Progress = lambda _stage, _done, _total: None,
) -> Summary:
    """Make the database from raw; give back what every stage took and gave.

    `overrides` is the file in which people overrule the grouping; `run_id` names the run in the journal. Who
    `is_alone` runs nothing but this in its process: workers may be forked from it.

    Raises:
        RawError: raw holds less than it did, and nobody accepted the loss.
    """
    coming = planning.coming(places.planned, places.raw, partition_documents=partition_documents)
    with store.lasting(), _workers_ahead(crew(workers, coming) if coming else 0, is_alone=is_alone):
        store.check_replaceable(places.database)  # before an hour of work, not after it
        reduce.read(overrides)  # likewise
        planned_now = planned(places, partition_documents=partition_documents, is_loss_accepted=is_loss_accepted)
        partitions = planned_now.partitions
        names = map_partitions(
            partitions,
            raw_path=places.raw,
            shard_folder=places.shards,
            workers=workers,
            limits=limits,
            seen=Seen.read(places.seen),
            coming=coming,
        )
        progress("extract", 0, len(partitions))
        is_worth = coming > 0 and sum(len(one.documents) for one in partitions) >= _WORTH_WAKING
        with waking.meanwhile(is_worth=is_worth):
            for done, _ in enumerate(names, 1):
                progress("extract", done, len(partitions))
    summary = publish(
        places,
        partitions,
        workers=workers,
        min_documents=min_documents,
        engines=engines,
        overrides=overrides,
        run_id=run_id,
        progress=progress,
    )
    warm.keep()  # a flow's run is a process as a command is, and nobody else keeps what it compiled
    return with_notes(summary, planned_now)


@contextmanager
def _workers_ahead(workers: int, *, is_alone: bool) -> Iterator[None]:
    """Inside the context so many workers get ready, and nobody waits for them; of none there is nothing."""
    if workers and is_alone and pool.can_fork():
        import_module(PRELOAD)
        with pool.ahead(workers):
            yield
        return
    if workers:
        pool.begin(PRELOAD)
    yield


@dataclass(frozen=True, slots=True)
class Planned:
    """What a build is to be made of."""

    partitions: list[Partition]
    damaged: list[KeptFile]  # shards that were not what was written, and are made anew
    warnings: list[str]  # what there is to say of raw


@uncollected()
def planned(places: Places, *, partition_documents: int, is_loss_accepted: bool = False) -> Planned:
    """Everything in raw, whose index names what lies there then; damaged shards are gone.

    Raises:
        RawError: a segment is missing or damaged, or documents of the last database are gone, and nobody accepted it.
    """
    layer, seen = raw.RawLayer(places.raw), Seen.read(places.seen)
    warnings = holding.settle(layer, is_loss_accepted=is_loss_accepted, seen=seen)
    partitions = plan(places.raw, partition_documents=partition_documents, folder=places.planned)
    gone = [] if _is_held(places, layer) else _gone(places, layer, partitions)
    if gone and not is_loss_accepted:
        raise holding.shrunk(layer.folder, f"{len(gone):,} documents of the last build are not there any more", gone)
    told = [*warnings, *holding.named("document lost:", gone)]
    damaged = drop_damaged(places.shards, partitions, seen)
    places.registry.look(seen)
    list(results.kept_files(places.state, seen))  # who publishes says what is damaged; here what is whole is noted
    seen.write(places.seen)
    return Planned(partitions, damaged, told)


def _is_held(places: Places, layer: raw.RawLayer) -> bool:
    held = holding.Held.read(places.held)
    return held is not None and held.is_in(layer, places.database)


def _gone(places: Places, layer: raw.RawLayer, partitions: Sequence[Partition]) -> list[str]:
    def pages() -> set[str]:
        return {page.sha256 for partition in partitions for refs in partition.documents for page in refs.refs}

    return holding.gone(places.database, layer, pages, home=places.home)


def with_notes(summary: Summary, plan_made: Planned) -> Summary:
    """`summary` with what the plan noticed: kept files that were damaged and are made anew, and what raw has lost."""
    made_anew(summary, plan_made.damaged)
    if plan_made.warnings:
        summary.figures["warnings"] = list(dict.fromkeys([*plan_made.warnings, *summary.figures.get("warnings", ())]))
    return summary


def made_anew(summary: Summary, damaged: Sequence[KeptFile]) -> Summary:
    """`summary`, which names the kept files that were damaged and are made anew."""
    if damaged:
        named = [{"path": str(file.path), "verdict": str(file.verdict)} for file in damaged]
        summary.figures["made_anew"] = [*summary.figures.get("made_anew", ()), *named]
    return summary


def lay_out(places: Places, plan_made: Planned, *, count: int) -> list[list[str]]:
    """The partitions that have no shards yet, by name, in at most `count` batches; `extract` finds each laid out."""
    done = finished(plan_made.partitions, places.shards, Seen.read(places.seen))
    found = batches([partition for partition in plan_made.partitions if partition.name not in done], count=count)
    for batch in found:
        planning.lay_out(places.plan, plan_made.partitions, batch)
    return found


def clear(places: Places) -> None:
    """Nothing; nothing is laid out any more."""
    shutil.rmtree(places.plan, ignore_errors=True)


def extract(places: Places, names: Sequence[str], *, partition_documents: int, limits: pool.Limits) -> int:
    """How many of the partitions in `names` have their shards now; made one after the other in a guarded process.

    They are as they were laid out, or as raw has them now: partitions into which something came meanwhile have other
    names then, and are left to the build.
    """
    chosen = planning.laid_out(places.plan, names)
    if chosen is None:
        wanted = set(names)
        every = plan(places.raw, partition_documents=partition_documents, like=places.planned)
        chosen = [one for one in every if one.name in wanted]
    done = map_partitions(chosen, raw_path=places.raw, shard_folder=places.shards, workers=1, limits=limits)
    return sum(1 for _ in done)


def limits(seconds: float, memory_mib: int | None) -> pool.Limits:
    """What one document may cost."""
    return pool.Limits(seconds, None if memory_mib is None else memory_mib << 20)


@lean()
@uncollected()
def publish(
    places: Places,
    partitions: Sequence[Partition],
    *,
    workers: int = 1,
    min_documents: int = 1,
    engines: Engines = NO_ENGINES,
    overrides: Path | None = None,
    run_id: str = "",
    progress: Progress = lambda _stage, _done, _total: None,
) -> Summary:
    """The reduce step: read the shards of `partitions`, make the entries, write the database, drop stale shards.

    Where many entries are to be made, so many `workers` make them.
    """
    disk.clear(places.current)  # whoever is killed from here on leaves a build that nobody knows of
    wanted = {partition.name for partition in partitions}
    used = [paths for name, paths in sorted(shards_of(places.shards).items()) if partition_of(name) in wanted]
    decided = reduce.read(overrides)
    seen = Seen.read(places.seen)
    published, restored = places.registry.published(seen)
    damaged = [file for file in _remembered(places, seen) if file.verdict != Verdict.OK]
    if is_gone := places.is_gone:
        changed, gone = forgetting.without(published.every(), is_gone)
        published = published.with_those_of(changed, gone=gone)
    progress("cluster", 0, 1)
    added = _enriched(used, partitions, places, engines, progress)
    for paths in (*used, *added.files):  # DuckDB reads the files itself
        shards.check(paths, seen)
    code = _code() if engines == NO_ENGINES else ""  # a model may say otherwise today
    standing = results.read(places.state, code, seen)
    spill, last = places.work / "spill", standing.narrow.for_home(_forgotten(places))
    with _workplace(places), rows.opened(used, added.files, spill=spill, threads=workers, last=last) as found:
        work = _Build(places, found, added, engines, workers, progress, code, standing)
        is_changed = found.touched is not None and bool(found.touched.documents)
        with store.copied_meanwhile(places.database, is_worth=is_changed):
            summary = work.published(used, partitions, decided, published, min_documents=min_documents, run_id=run_id)
    drop_shards(places.shards, {partition_of(name) for name in shards.names(places.shards)} - wanted)
    shards.discard_leftovers(places.shards)
    progress("publish", 1, 1)
    return made_anew(summary, [*restored, *damaged])


@dataclass(frozen=True, slots=True)
class _Build:
    """What one reduce step works with."""

    places: Places
    rows: rows.Rows
    added: Added
    engines: Engines
    workers: int
    progress: Progress
    code: str  # see `_code`; "" where nothing is remembered
    standing: results.State  # what the last build left

    def published(
        self,
        used: Sequence[shards.ShardPaths],
        partitions: Sequence[Partition],
        decided: cluster.Overrides,
        published: Registered,
        *,
        min_documents: int,
        run_id: str,
    ) -> Summary:
        """The database is in its place then, with what the next build remembers."""
        places, found = self.places, self.rows
        code, standing = self.code, self.standing
        grouped = entries.group(found, decided, standing=standing)
        self.progress("cluster", 1, 1)
        forgotten = _forgotten(places)
        last = history.last_build(places.database, home=places.home, is_gone=places.is_gone, forgotten=forgotten)
        version = packs.marked(normalise.NORMALISER_VERSION)
        past = changes.against(places.database, last, published, found, grouped, normaliser=version)
        means = self._means(code, standing)
        made = entries.make(found, grouped, means, registry=past.registry, min_documents=min_documents)
        stages = _stages(partitions, found, grouped, made, self.added)
        figures = self._figures(grouped, made, past)
        self.progress("publish", 0, 1)
        told = _told(places, code, found, made)
        found.let_go()  # writing needs the room
        files = _Files(used, self.added, found.holding_shards)
        lines = _write(places, files, grouped, made, past, stages=stages, run_id=run_id, told=told)
        with store.lasting():
            holding.Held.note(places.held, places.database, places.planned)
            exporting.note_passed(places.passed, lines)  # each was asked, as `entries` made it
        left = results.State(
            made.results,
            *grouped.proofs,
            made.texts,
            grouped.kept,
            found.kept,
            concerned.placed_rows(found.placed),
            means.memory.fingerprint,
        )
        results.write(places.state, code, left, standing=standing)
        drop_answers(places.home / ".errmine" / "answers" / "enrich", found.document_ids)
        lost = found.lost(but=distil.STAGE, most=MOST_EXAMPLES)
        return Summary(stages, _examples(*lost, *self.added.skipped, *made.skipped), figures)

    def _means(self, code: str, standing: results.State) -> entries.Means:
        texts = translations.texts(self.places.home)
        return entries.Means(
            folder=self.places.work / "entries",
            workers=self.workers if self.engines == NO_ENGINES else 1,  # what a model is asked is counted here
            translators=[Accepted(texts), *(one.engine for one in self.engines.translators)],
            memory=_memory(self.places, code, standing),
            progress=self.progress,
        )

    def _figures(self, grouped: entries.Grouped, made: entries.Made, past: changes.Past) -> dict[str, Any]:
        figures = entries.figures(grouped, made) | {
            **reduce.figures(made.rulings),
            **past.figures(self.rows.error_counts(), most=MOST_EXAMPLES),
            "sources": self.rows.counts.sources,
        }
        if hidden := self.rows.counts.hidden:
            figures["hidden_characters"] = hidden
        if calls := dict(self.engines.told()):
            figures["engines"] = calls
        if warnings := [*past.last.warnings, *recording.put_aside(self.places.home)]:
            figures["warnings"] = warnings
        return figures


@contextmanager
def _workplace(places: Places) -> Iterator[None]:
    """Inside the context there is room for what is too much for memory; afterwards nothing of it is left."""
    making.clear(places.work)  # of a build that was killed
    try:
        yield
    finally:
        making.clear(places.work)


def _memory(places: Places, code: str, standing: results.State) -> results.Memory:
    """What the last build made, by the code `code`."""
    if not code:
        return results.NONE
    told = repr(sorted(translations.texts(places.home).items())).encode("utf-8", "surrogatepass")
    fingerprint = f"{code} {hashlib.blake2b(told, digest_size=16).hexdigest()}"
    return results.Memory(fingerprint, standing.results, standing.texts, standing)


def _code() -> str:
    """What tells all that makes entries from any other: this errmine, packs, libraries, who proves expressions."""
    return f"{itself.made_by()} {duckdb.__version__} {packs.marked(normalise.NORMALISER_VERSION)}"


def _remembered(places: Places, seen: Seen) -> Iterator[KeptFile]:
    """The files in which the last build left what it made."""
    yield from results.kept_files(places.state, seen)
    yield from noted.kept_files(places.state)


def _told(places: Places, code: str, found: rows.Rows, made: entries.Made) -> store.Told:
    """What tells the rows of the database. What was forgotten is part of who makes them: of a file in which it stood
    nothing stays then, nor what is deleted in it.
    """
    if not code:
        return store.Told()
    maker = f"{code} {_forgotten(places)}"
    return store.Told(maker, store.Digests(found.document_digests()), store.Digests(made.entries.digests))


def _forgotten(places: Places) -> str:
    """A digest of what was forgotten."""
    return results.digest(sorted(path.name for path in (places.raw / "forgotten").glob("*")))


@dataclass(frozen=True, slots=True)
class _Files:
    """The shards of a build, what was added to them, and which of them hold what."""

    used: Sequence[shards.ShardPaths]
    added: Added
    holding: store.Holding


def _write(
    places: Places,
    files: _Files,
    grouped: entries.Grouped,
    made: entries.Made,
    past: changes.Past,
    *,
    stages: Sequence[StageCount],
    run_id: str,
    told: store.Told,
) -> store.Digests:
    """By entry id the sha256 of its row in the database, which is in the place of the one before."""
    used, added = files.used, files.added
    rulings = reduce.rows(made.rulings)
    registry = made.registry.with_cluster_aliases(past.compared.aliases)
    journal = past.journal(made.journal, rulings, run_id=run_id)
    past.last.file.note(journal)
    if past.last.is_foreign:
        history.put_aside(places.database, places.home / ".errmine" / "set-aside")
    lines = store.bring(
        places.database,
        store.Contents(
            documents=tuple(paths.documents for paths in used),
            events=tuple(paths.events for paths in used),
            claims=tuple(paths.claims for paths in (*used, *added.files)),
            skipped_files=tuple(paths.skipped for paths in (*used, *added.files)),
            holding=files.holding,
            clusters=made.clusters,
            assignments=grouped.partition.assignments,
            neighbours=grouped.partition.neighbours,
            entries=made.entries,
            withheld=made.withheld,
            skipped=(*made.skipped, *made.unsaid, *grouped.ignored),
            aliases=registry.aliases,
            cluster_aliases=past.compared.aliases,
            registry=registry,
            journal=journal.rows,
            overrides=rulings,
            runs=recording.rows(places.home),
            stage_counts=tuple(store.StageCount(s.stage, s.stage, s.taken, s.given, s.skipped) for s in stages),
            meta={
                "normaliser": packs.marked(normalise.NORMALISER_VERSION),
                "packs": json.dumps(packs.active().told()),
                "registry_version": BUNDLE_VERSION,
                "registry_digest": registry.digest,
                **journal.meta(),
            },
        ),
        told,
        note=places.state,
    )
    past.last.file.settle(journal)
    past.last.file.keep(journal, forgotten=_forgotten(places), is_gone=places.is_gone)
    return lines


def _enriched(
    used: Sequence[shards.ShardPaths],
    partitions: Sequence[Partition],
    places: Places,
    engines: Engines,
    progress: Progress,
) -> Added:
    """What a language model adds to the rows of the shards, if one is switched on."""
    folder = places.shards.parent / "enriched"
    if engines.reader is None:
        shutil.rmtree(folder, ignore_errors=True)  # of a build that had one: nothing would ever make it anew
        return NOTHING_ADDED
    from pipeline.run.build import enriching  # noqa: PLC0415  (nothing of it is loaded while it is off)

    result = shards.read(used)
    return enriching.enrich(result, partitions, engines, raw_path=places.raw, shard_folder=folder, progress=progress)


def _examples(*skipped: Skipped) -> tuple[Skipped, ...]:
    """The first few for people. Statements that make no claim are many: they are counted, the table has them."""
    return tuple([item for item in skipped if item.stage != distil.STAGE][:MOST_EXAMPLES])


def _stages(
    partitions: Sequence[Partition],
    found: rows.Rows,
    grouped: entries.Grouped,
    made: entries.Made,
    added: Added,
) -> list[StageCount]:
    documents = sum(len(partition.documents) for partition in partitions)
    counts = found.counts
    unread = counts.lost_in(*UNREAD)
    ignored = [item.reason for item in grouped.ignored]
    rests = counts.lost_in("events")  # of documents with too many: one item each
    set_aside = list(counts.set_aside.elements())
    given = counts.events - len(set_aside) - len(ignored)
    stated = sum(many for kind, many in counts.claims.items() if ClaimKind(kind).is_statement)
    refused = [*counts.lost_in(distil.STAGE), *(item.reason for item in made.unsaid if item.stage == distil.STAGE)]
    return [
        count("documents", taken=documents, given=counts.documents, lost=unread),
        count(
            "events",
            taken=counts.events + len(rests),
            given=given,
            lost=[*counts.set_aside.elements(), *ignored, *rests],
        ),
        count("statements", taken=stated + len(refused), given=stated, lost=refused),
        *added.stages,
        count("entries", taken=len(made.clusters) + counts.foreign, given=len(made.entries), lost=made.skipped),
    ]
