"""The flows under Prefect: order, retries, schedules. No rule, no pattern and no SQL lives here.

::

    ingest-files, ingest-github, ingest-docs   one source of the settings into raw; one flow an ingest of PROVIDERS
    build                                      extract (side by side) -> publish: clusters, entries, database
    export                                     the bundle in curated/
    reconcile                                  damage and drift: looks only
    run                                        every source, build, export in one

An ingest that ends well says `errmine.ingested`, a build `errmine.built` (`announce`): prefect.yaml and `serve` start
build and export by these two events; `run` does all itself and announces nothing. A *partition* is some hundred
documents whose events make one *shard*, a *batch* the partitions that a task reads, and to *publish* is to make
clusters, entries and database of all shards. The flow of an ingest is made of its provider's row.

A task calls one plain function and hands on names, never records: rows travel as files, and secrets are no parameters.
Tasks are coarse, because each costs the server more than a document costs us.

Retries have one place for each kind of failure: a lost worker process in `run.pool`, the network and its limits in
`providers`, another run in the same home in `recorded` (it waits), a database that somebody else
holds open in `publish` and `export` here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from prefect import Flow, flow, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import as_completed
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Completed

from pipeline import packs
from pipeline import run as joined
from pipeline.config import Settings, read_settings
from pipeline.providers.provider import Told
from pipeline.records.errors import ConfigError, DamageFound, StoreError
from pipeline.run import Fetched, Places, Record, Summary, configured
from pipeline.run.build.building import Planned
from pipeline.run.ingest import sourcing
from pipeline.run.prefect import runners
from pipeline.run.prefect.reporting import announce, leave, leave_report, report, reporting, tell

#: A busy database or disk: three more tries, half a minute in all.
_BUSY_DELAYS_SECONDS: list[float] = [2, 8, 20]
#: Batches of partitions that each worker gets on average: enough to even out, few enough not to feel their cost.
_BATCHES_A_WORKER = 4
#: Between two lines in the log of a long ingest.
_LOG_SECONDS = 60.0


def _was_busy(_task: Any, _run: Any, state: Any) -> bool:
    return isinstance(state.result(raise_on_failure=False), StoreError)


def _say_what_is_undone(failed: Any, _run: Any, _state: Any) -> None:
    get_run_logger().error("%s failed. %s", failed.name, failed.description)


def _tell(failed: Any, run: Any, state: Any) -> None:
    try:
        command = _settings(run.parameters.get("home", ""), run.parameters.get("config", "")).notify.command
    except ConfigError:  # why the run failed; the webhook, which is no setting, hears of it
        command = []
    tell(command, failed, run, state)


_TASK: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False, "on_failure": [_say_what_is_undone]}
_BUSY: dict[str, Any] = {
    **_TASK,
    "retry_condition_fn": _was_busy,
    "retries": len(_BUSY_DELAYS_SECONDS),
    "retry_delay_seconds": _BUSY_DELAYS_SECONDS,
}
_FLOW: dict[str, Any] = {
    "persist_result": False,
    "result_serializer": "json",
    "on_failure": [_tell],
    "on_crashed": [_tell],
}


@task(name="fetch", description="What was fetched is in raw; the next run goes on from there.", **_TASK)
def fetch_task(home: str, config: str, source: str) -> Fetched:
    """Bring one source of the settings into raw."""
    return sourcing.bring(_settings(home, config), source, told=_telling())


@task(name="import", description="Pages of the last unfinished segment are not kept; the next run adds them.", **_TASK)
def import_task(home: str, config: str, paths: list[str]) -> Fetched:
    """Put files into raw."""
    return Fetched(joined.import_files(_settings(home, config).raw_path, [Path(path) for path in paths]))


@task(name="extract", description="Finished shards are kept; the next build makes the others.", **_TASK)
def extract_task(home: str, config: str, names: list[str]) -> int:
    """Make the shards of the partitions in `names`, in a guarded process."""
    settings = _settings(home, config)
    return joined.extract(
        Places.of(settings.home),
        names,
        partition_documents=settings.build.partition_documents,
        limits=joined.limits(settings.build.seconds, settings.build.memory_mib),
    )


@task(name="publish", description="The database of the last build stands; shards are kept.", **_BUSY)
def publish_task(home: str, config: str, run_id: str = "") -> Summary:
    """Cluster, distil, put into words, check, and write the database."""
    settings = _settings(home, config)
    return joined.build(  # it extracts what came into raw meanwhile, and what a lost worker left
        Places.of(settings.home),
        workers=settings.build.workers,
        partition_documents=settings.build.partition_documents,
        min_documents=settings.publish.min_documents,
        limits=joined.limits(settings.build.seconds, settings.build.memory_mib),
        engines=configured.engines(settings),
        overrides=settings.overrides_path,
        run_id=run_id,
        progress=report,
    )


@task(name="export", description="The bundle of the last export stands.", **_BUSY)
def export_task(home: str, config: str) -> Summary:
    """Write the bundle."""
    settings = _settings(home, config)
    return joined.export(Places.of(settings.home), to=settings.publish.to, pages=settings.publish.pages)


@task(name="reconcile", description="Nothing was changed: it only looks.", **_TASK)
def reconcile_task(home: str, config: str) -> Summary:
    """Look for damage and drift."""
    settings = _settings(home, config)
    return joined.reconcile(Places.of(settings.home), partition_documents=settings.build.partition_documents)


def _ingest_flow(source: str) -> Flow[[str, str], dict[str, Any]]:
    def ingest(home: str = "", config: str = "") -> dict[str, Any]:
        return _ingest(source, home, config)

    ingest.__name__ = ingest.__qualname__ = f"ingest_{source}"  # the name under which a deployment finds it
    ingest.__doc__ = f"Bring the {source} of the settings into raw; a run that may wait no longer ends as Partial."
    return flow(name=f"ingest-{source}", **_FLOW)(ingest)


#: `ingest_files`, `ingest_github`, `ingest_docs`, and one for every provider that is fetched by an ingest of its own.
INGESTS = {source: _ingest_flow(source) for source in sourcing.SOURCES}
globals().update({each.fn.__name__: each for each in INGESTS.values()})


@flow(name="build", **_FLOW)
def build(home: str = "", config: str = "", runner: str = "process", address: str = "") -> dict[str, Any]:
    """Make the database from raw."""
    with _recorded("build", home, config) as record:
        record.summary = _built(home, config, runner, address, run_id=record.run_id)
        announce("errmine.built", _settings(home, config))
        return leave(record)


@flow(name="export", **_FLOW)
def export(home: str = "", config: str = "") -> dict[str, Any]:
    """Write the bundle from the database."""
    with _recorded("export", home, config) as record:
        record.summary = _exported(home, config)
        return leave(record)


@flow(name="reconcile", **_FLOW)
def reconcile(home: str = "", config: str = "") -> dict[str, Any]:
    """Look for damage and drift between raw, shards, database and bundle; damage fails the run, and is named."""
    with _recorded("reconcile", home, config) as record:
        record.summary = reconcile_task(home, config)
        wrong = record.summary.figures["wrong"]
        record.status = joined.DAMAGED if wrong else record.status
        told = leave(record)
    if wrong:
        raise DamageFound.of(wrong)
    return told


@flow(name="run", **_FLOW)
def run(
    home: str = "",
    config: str = "",
    sources: list[str] | None = None,
    paths: list[str] | None = None,
    runner: str = "process",
    address: str = "",
) -> dict[str, Any]:
    """The whole job: ingest (`paths`, or `sources` of the settings, or all of them), build, export."""
    settings = _settings(home, config)
    chosen = [] if paths else sourcing.chosen(settings, sources or ())
    if not paths:
        sourcing.check_home(settings)
    with _recorded("run", home, config) as record:
        fetched = [import_task(home, config, paths)] if paths else []
        fetched += [fetch_task(home, config, source) for source in chosen]
        report("import", 1, 1)
        published = _built(home, config, runner, address, run_id=record.run_id)
        exported = _exported(home, config)
        report("export", 1, 1)
        record.summary = joined.joined_summary(*(each.summary for each in fetched), published, exported)
        return _ended(record, fetched)


@flow(name="extract", persist_result=False)
def _spread(home: str, config: str, batches: list[list[str]]) -> None:
    """A task a batch of partitions, on whichever runner the flow was given."""
    waiting = [extract_task.submit(home, config, names) for names in batches]
    for done, future in enumerate(as_completed(waiting), 1):
        future.result()
        report("extract", done, len(waiting))


def _built(home: str, config: str, runner: str, address: str, *, run_id: str) -> Summary:
    """What a build did; there is none where it would change nothing."""
    settings = _settings(home, config)
    places, now = Places.of(settings.home), configured.seen(settings)
    if joined.is_built(places, now):
        return _unchanged("build", "nothing came since the last one: the database stands")
    planned = _extract(home, config, runner, address)
    summary = joined.with_notes(publish_task(home, config, run_id), planned)
    joined.note_built(places, now)
    return summary


def _exported(home: str, config: str) -> Summary:
    """What an export did; there is none where the bundle is that of the database."""
    places = Places.of(_settings(home, config).home)
    if joined.is_exported(places):
        return _unchanged("export", "the bundle is that of the database")
    summary = export_task(home, config)
    leave_report(places.home)
    joined.note_exported(places)  # last: an export whose report failed is made once more
    return summary


def _unchanged(step: str, why: str) -> Summary:
    get_run_logger().info("%s: %s", step, why)
    return joined.unchanged(step, why)


def _extract(home: str, config: str, runner: str, address: str) -> Planned:
    """What was planned and is made."""
    settings = _settings(home, config)
    places = Places.of(settings.home.resolve())  # whole paths: a task may run on another machine, in another folder
    origin = str(settings.origin.resolve()) if settings.origin else ""
    planned = joined.planned(places, partition_documents=settings.build.partition_documents)
    with runners.chosen(runner, address, workers=settings.build.workers, raw_path=places.raw) as chosen:
        batches = joined.lay_out(places, planned, count=_BATCHES_A_WORKER * chosen.slots)
        try:
            _spread.with_options(task_runner=chosen.task_runner)(str(places.home), origin, batches)
        finally:
            joined.clear(places)
    return planned


def _ingest(source: str, home: str, config: str) -> dict[str, Any]:
    settings = _settings(home, config)
    with _recorded(f"ingest-{source}", home, config, is_ingest=True) as record:
        fetched = fetch_task(home, config, source)
        record.summary = fetched.summary
        announce("errmine.ingested", settings)  # also after a failure: what came before it is in raw
        return _ended(record, [fetched])


def _ended(record: Record, fetched: Sequence[Fetched]) -> dict[str, Any]:
    """The summary of a run with its artifacts left; of one that stopped at a limit, in a state that says so.

    Raises:
        SourceError: a source failed; all else was done.
    """
    told = leave(record)
    for each in fetched:
        if each.failure is not None:
            raise each.failure
    record.status = joined.status_of(fetched)
    if record.status == "partial":
        message = next((str(each.error) for each in fetched if each.error), "some threads have to be asked for again")
        state: Any = Completed(name="Partial", message=message, data={**told, "is_partial": True})
        return cast("dict[str, Any]", state)  # what a flow returns as a state, its caller gets as the state's data
    return told


def _telling() -> Told:
    """What tells of a long ingest: the progress at every change, a line in the log now and then."""
    logger = get_run_logger()
    last = [time.monotonic()]

    def told(name: str, done: int, line: str) -> None:
        report(name, done, 0)
        if time.monotonic() - last[0] >= _LOG_SECONDS:
            last[0] = time.monotonic()
            logger.info(line)

    return told


def _settings(home: str, config: str) -> Settings:
    """The settings of the run; the packs that they name are active in this process."""
    found = read_settings(Path(config) if config else None, home=Path(home) if home else None)
    packs.activate((*found.pack_folders, *packs.installed()))
    return found


@contextmanager
def _recorded(name: str, home: str, config: str, *, is_ingest: bool = False) -> Iterator[Record]:
    """The record of this run, which waits for its turn; what it reports reaches whoever wants it."""
    settings = _settings(home, config)
    wait, run_id = settings.schedule.wait_seconds, str(flow_run.id or "")
    with (
        joined.recorded(settings.home, name, run_id=run_id, wait_seconds=wait, is_ingest=is_ingest) as record,
        reporting(name),
    ):
        yield record
