"""The whole build without Prefect: map, reduce, database; and the export of the bundle from that database."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from pipeline import distil, normalise, packs, raw, store
from pipeline.records import Skipped
from pipeline.records.kept import KeptFile, Verdict
from pipeline.records.seen import Seen
from pipeline.records.summary import MOST_EXAMPLES, StageCount, Summary, count
from pipeline.run import pool, shards
from pipeline.run.build import asked, changes, entries, history, holding, ids, planning, reduce, results
from pipeline.run.build.engines import NO_ENGINES, NOTHING_ADDED, Added, Engines, drop_answers
from pipeline.run.build.mapping import (
    UNREAD,
    Partition,
    drop_damaged,
    drop_shards,
    finished,
    map_partitions,
    partition_of,
    shards_of,
    uncollected,
)
from pipeline.run.build.planning import batches, plan
from pipeline.run.home import forgetting, recording, translations
from pipeline.store import noted
from pipeline.translate.remembered import Accepted

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

    @property
    def registry(self) -> ids.Kept:
        """Where the ids that were published are kept."""
        return ids.Kept(self.curated, self.shards.parent / "published.json", self.database, self.is_gone)

    @property
    def current(self) -> Path:
        """Tells of the last build that a command or a schedule made, and of a schedule's last export."""
        return self.shards.parent / "current.json"

    @property
    def passed(self) -> Path:
        """Tells of the lines that passed the gate of advice."""
        return self.shards.parent / "passed.json"

    @property
    def state(self) -> Path:
        """What the last build made of each cluster."""
        return self.shards.parent / "state"

    @property
    def planned(self) -> Path:
        """What the last build was to read."""
        return self.state / "plan"

    @property
    def seen(self) -> Path:
        """Tells of the files that were whole when they were last read."""
        return self.shards.parent / "seen.json"

    @property
    def held(self) -> Path:
        """Tells what of raw the last build was made of."""
        return self.state / "held.json"

    @property
    def plan(self) -> Path:
        """What tasks on other machines are to read, as long as they run."""
        return self.shards.parent / "plan"

    @property
    def is_gone(self) -> Callable[[str], bool] | None:
        """True of ids that went with a forgotten thread; None where nothing was ever forgotten."""
        return forgetting.gone(self.raw) if (self.raw / "forgotten").is_dir() else None


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
    progress: Progress = lambda _stage, _done, _total: None,
) -> Summary:
    """Make the database from raw; give back what every stage took and gave.

    `overrides` is the file in which people overrule the grouping; `run_id` names the run in the journal.

    Raises:
        RawError: raw holds less than it did, and nobody accepted the loss.
    """
    with store.lasting():
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
    )
    progress("extract", 0, len(partitions))
    for done, _ in enumerate(names, 1):
        progress("extract", done, len(partitions))
    summary = publish(
        places,
        partitions,
        min_documents=min_documents,
        engines=engines,
        overrides=overrides,
        run_id=run_id,
        progress=progress,
    )
    return with_notes(summary, planned_now)


@dataclass(frozen=True, slots=True)
class Planned:
    """What a build is to be made of."""

    partitions: list[Partition]
    damaged: list[KeptFile]  # shards that were not what was written, and are made anew
    warnings: list[str]  # what there is to say of raw


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
    seen.write(places.seen)
    return Planned(partitions, damaged, told)


def _is_held(places: Places, layer: raw.RawLayer) -> bool:
    held = holding.Held.read(places.held)
    return held is not None and held.is_in(layer, places.database)


def _gone(places: Places, layer: raw.RawLayer, partitions: Sequence[Partition]) -> list[str]:
    pages = {page.sha256 for partition in partitions for refs in partition.documents for page in refs.refs}
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
        chosen = [p for p in plan(places.raw, partition_documents=partition_documents) if p.name in wanted]
    done = map_partitions(chosen, raw_path=places.raw, shard_folder=places.shards, workers=1, limits=limits)
    return sum(1 for _ in done)


def limits(seconds: float, memory_mib: int | None) -> pool.Limits:
    """What one document may cost."""
    return pool.Limits(seconds, None if memory_mib is None else memory_mib << 20)


def publish(
    places: Places,
    partitions: Sequence[Partition],
    *,
    min_documents: int = 1,
    engines: Engines = NO_ENGINES,
    overrides: Path | None = None,
    run_id: str = "",
    progress: Progress = lambda _stage, _done, _total: None,
) -> Summary:
    """The reduce step: read the shards of `partitions`, make the entries, write the database, drop stale shards."""
    places.current.unlink(missing_ok=True)  # whoever is killed from here on leaves a build that nobody knows of
    wanted = {partition.name for partition in partitions}
    used = [paths for name, paths in sorted(shards_of(places.shards).items()) if partition_of(name) in wanted]
    decided = reduce.read(overrides)
    published, restored = places.registry.published()
    damaged = [file for file in _remembered(places) if file.verdict != Verdict.OK]
    if is_gone := places.is_gone:
        published = forgetting.without(published, is_gone)
    with uncollected():
        result, added = _read(used, partitions, places, engines, progress)
        code = _code() if engines == NO_ENGINES else ""  # a model may say otherwise today
        standing = results.read(places.state, code)
        grouped = entries.group(result, decided, proofs=(standing.on_templates, standing.on_messages))
        progress("cluster", 1, 1)
        last = history.last_build(places.database, home=places.home, is_gone=is_gone)
        past = changes.against(
            places.database,
            last,
            published,
            result,
            grouped.cluster_of,
            normaliser=packs.marked(normalise.NORMALISER_VERSION),
        )
        memory = _memory(places, used, code, standing)
        made = entries.make(
            grouped,
            registry=past.registry,
            min_documents=min_documents,
            translators=[Accepted(translations.texts(places.home)), *(one.engine for one in engines.translators)],
            progress=progress,
            memory=memory,
        )
    stages = _stages(partitions, result, grouped, made, added)
    figures = entries.figures(grouped, made) | {
        **reduce.figures(made.rulings),
        **past.figures(entries.error_counts(result), most=MOST_EXAMPLES),
        "sources": dict(sorted(Counter(row.source for row in result.documents).items())),
    }
    if hidden := sum(row.hidden_count for row in result.documents):
        figures["hidden_characters"] = hidden
    if calls := dict(engines.told()):
        figures["engines"] = calls
    if warnings := [*last.warnings, *recording.put_aside(places.home)]:
        figures["warnings"] = warnings
    progress("publish", 0, 1)
    rows = (used, added)
    _write(places, rows, grouped, made, past, stages=stages, run_id=run_id, told=_told(places, code, memory, made))
    with store.lasting():
        holding.Held.note(places.held, places.database, places.planned)
        asked.note(places.passed, places.database)  # each was asked, as `entries` made it
    results.write(places.state, code, results.State(made.results, *grouped.proofs), standing=standing)
    drop_shards(places.shards, {partition_of(name) for name in shards.names(places.shards)} - wanted)
    shards.discard_leftovers(places.shards)
    drop_answers(places.home / ".errmine" / "answers" / "enrich", (row.document_id for row in result.documents))
    progress("publish", 1, 1)
    summary = Summary(stages, _examples(*result.skipped, *added.skipped, *made.skipped), figures)
    return made_anew(summary, [*restored, *damaged])


def _read(
    used: Sequence[shards.ShardPaths],
    partitions: Sequence[Partition],
    places: Places,
    engines: Engines,
    progress: Progress,
) -> tuple[shards.MapResult, Added]:
    """The rows of the shards, with the claims that a language model added, and what it added."""
    progress("cluster", 0, 1)
    result = shards.read(used)
    added = _enriched(result, partitions, places, engines, progress)
    return result + shards.MapResult(claims=added.claims), added


def _memory(places: Places, used: Sequence[shards.ShardPaths], code: str, standing: results.State) -> results.Memory:
    """What the last build made, for one of the shards `used`."""
    if not code:
        return results.NONE
    told = repr(sorted(translations.texts(places.home).items())).encode("utf-8", "surrogatepass")
    fingerprint = f"{code} {hashlib.blake2b(told, digest_size=16).hexdigest()}"
    return results.Memory(fingerprint, shards.digests(used), {one.drafted: one for one in standing.results})


def _code() -> str:
    """What tells all that makes entries from any other: this errmine, packs, libraries, who proves expressions."""
    return f"{asked.made_by()} {duckdb.__version__} {packs.marked(normalise.NORMALISER_VERSION)}"


def _remembered(places: Places) -> Iterator[KeptFile]:
    """The files in which the last build left what it made."""
    yield from results.kept_files(places.state)
    yield from noted.kept_files(places.state)


def _told(places: Places, code: str, memory: results.Memory, made: entries.Made) -> store.Told:
    """What tells the rows of the database. What was forgotten is part of who makes them: of a file in which it stood
    nothing stays then, nor what is deleted in it.
    """
    if not code:
        return store.Told()
    forgotten = sorted(path.name for path in (places.raw / "forgotten").glob("*"))
    maker = f"{code} {results.digest(forgotten)}"
    return store.Told(maker, memory.digests, made.entries.digests)


@uncollected()
def _write(
    places: Places,
    rows: tuple[Sequence[shards.ShardPaths], Added],
    grouped: entries.Grouped,
    made: entries.Made,
    past: changes.Past,
    *,
    stages: Sequence[StageCount],
    run_id: str,
    told: store.Told,
) -> None:
    """The database, in the place of the one before."""
    used, added = rows
    seen = Seen.read(places.seen)
    for paths in (*used, *added.files):  # DuckDB reads the files itself
        shards.check(paths, seen)
    rulings = reduce.rows(made.rulings)
    registry = made.registry.model_copy(update={"cluster_aliases": dict(past.compared.aliases)})
    journal = past.journal(made.journal, rulings, run_id=run_id)
    past.last.file.note(journal)
    if past.last.is_foreign:
        history.put_aside(places.database, places.home / ".errmine" / "set-aside")
    store.bring(
        places.database,
        store.Contents(
            documents=tuple(paths.documents for paths in used),
            events=tuple(paths.events for paths in used),
            claims=tuple(paths.claims for paths in (*used, *added.files)),
            skipped_files=tuple(paths.skipped for paths in (*used, *added.files)),
            clusters=made.clusters,
            assignments=grouped.partition.assignments,
            neighbours=grouped.partition.neighbours,
            entries=made.entries,
            withheld=made.withheld,
            skipped=(*made.skipped, *made.unsaid, *grouped.ignored),
            aliases=registry.aliases,
            cluster_aliases=registry.cluster_aliases,
            journal=journal.rows,
            overrides=rulings,
            runs=recording.rows(places.home),
            stage_counts=tuple(store.StageCount(s.stage, s.stage, s.taken, s.given, s.skipped) for s in stages),
            meta={
                "normaliser": packs.marked(normalise.NORMALISER_VERSION),
                "packs": json.dumps([pack.told() for pack in packs.active().added]),
                "registry": registry.model_dump_json(),
                **journal.meta(),
            },
        ),
        told,
        note=places.state,
    )
    past.last.file.settle(journal)


def _enriched(
    result: shards.MapResult, partitions: Sequence[Partition], places: Places, engines: Engines, progress: Progress
) -> Added:
    """What a language model adds to the rows of the shards, if one is switched on."""
    folder = places.shards.parent / "enriched"
    if engines.reader is None:
        shutil.rmtree(folder, ignore_errors=True)  # of a build that had one: nothing would ever make it anew
        return NOTHING_ADDED
    from pipeline.run.build import enriching  # noqa: PLC0415  (nothing of it is loaded while it is off)

    return enriching.enrich(result, partitions, engines, raw_path=places.raw, shard_folder=folder, progress=progress)


def _examples(*skipped: Skipped) -> tuple[Skipped, ...]:
    """The first few for people. Statements that make no claim are many: they are counted, the table has them."""
    return tuple([item for item in skipped if item.stage != distil.STAGE][:MOST_EXAMPLES])


def _stages(
    partitions: Sequence[Partition],
    result: shards.MapResult,
    grouped: entries.Grouped,
    made: entries.Made,
    added: Added,
) -> list[StageCount]:
    documents = sum(len(partition.documents) for partition in partitions)
    unread = [item for item in result.skipped if item.stage in UNREAD]
    set_aside = [row.event.severity for row in result.events if row.signature is None]
    ignored = [item.reason for item in grouped.ignored]
    rests = [item for item in result.skipped if item.stage == "events"]  # of documents with too many: one item each
    given = len(result.events) - len(set_aside) - len(ignored)
    stated = sum(claim.kind.is_statement for claim in result.claims)
    refused = [item.reason for item in (*result.skipped, *made.unsaid) if item.stage == distil.STAGE]
    foreign = sum(row.payload is not None for row in result.documents)
    return [
        count("documents", taken=documents, given=len(result.documents), lost=unread),
        count("events", taken=len(result.events) + len(rests), given=given, lost=[*set_aside, *ignored, *rests]),
        count("statements", taken=stated + len(refused), given=stated, lost=refused),
        *added.stages,
        count("entries", taken=len(made.clusters) + foreign, given=len(made.entries), lost=made.skipped),
    ]
