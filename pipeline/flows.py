"""The flows under Prefect: order, retries, schedules, artifacts. No rule, no pattern and no SQL lives here.

::

    ingest-files   files into raw
    build          extract (side by side) -> publish: clusters, entries, database
    export         the bundle in curated/
    reconcile      damage and drift: looks only
    run            ingest-files, build, export in one

A task calls one plain function of `build` and hands on names, never records: rows travel as files, and secrets are no
parameters. Tasks are coarse, because each costs the server more than a document costs us.

Retries have one place for each kind of failure: a lost worker process in `pool`, the network in `sources`, another run
in the same home in `recorded` (it waits), a database that a reader of old held open in `publish` and `export` here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect import flow, task
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.cache_policies import NO_CACHE
from prefect.events import emit_event
from prefect.futures import as_completed
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from pipeline import build as joined
from pipeline.build import Places, Record, Summary
from pipeline.config import Settings, read_settings
from pipeline.errors import ConfigError, StoreError

#: Told of (stage, items done, items in all).
Progress = Callable[[str, int, int], None]

_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)

#: A busy database or disk: three more tries, half a minute in all.
_BUSY_DELAYS_SECONDS: list[float] = [2, 8, 20]
#: Between two updates of the progress artifact: each is a request to the server.
_PROGRESS_SECONDS = 2.0
#: Batches of partitions that each worker gets on average: enough to even out, few enough not to feel their cost.
_BATCHES_A_WORKER = 4


@contextmanager
def reporting_to(progress: Progress) -> Iterator[None]:
    """Flows started inside the context report to `progress`."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def _was_busy(_task: Any, _run: Any, state: Any) -> bool:
    return isinstance(state.result(raise_on_failure=False), StoreError)


def _say_what_is_undone(failed: Any, _run: Any, _state: Any) -> None:
    get_run_logger().error("%s failed. %s", failed.name, failed.description)


def _tell(failed: Any, run: Any, state: Any) -> None:
    """Tell who wants to know that a flow run failed or crashed."""
    settings = _settings(run.parameters.get("home", ""), run.parameters.get("config", ""))
    event = {"flow": failed.name, "run": run.name, "run_id": str(run.id), "state": state.name, "message": state.message}
    webhook = os.environ.get("ERRMINE_NOTIFY_WEBHOOK", "")
    for problem in joined.notify(event, command=settings.notify.command, webhook=webhook):
        get_run_logger().warning(problem)


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


@task(name="import", description="Pages of the last unfinished segment are not kept; the next run adds them.", **_TASK)
def import_task(home: str, config: str, paths: list[str]) -> Summary:
    """Put files into raw."""
    settings = _settings(home, config)
    chosen = [Path(path) for path in paths] or settings.source_paths()
    return joined.import_files(settings.raw_path, chosen)


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
def publish_task(home: str, config: str) -> Summary:
    """Cluster, distil, put into words, check, and write the database."""
    settings = _settings(home, config)
    places = Places.of(settings.home)
    partitions = joined.plan(places.raw, partition_documents=settings.build.partition_documents)
    return joined.publish(places, partitions, min_documents=settings.publish.min_documents, progress=_report)


@task(name="export", description="The bundle of the last export stands.", **_BUSY)
def export_task(home: str, config: str) -> Summary:
    """Write the bundle."""
    return joined.export(Places.of(_settings(home, config).home))


@task(name="reconcile", description="Nothing was changed: it only looks.", **_TASK)
def reconcile_task(home: str, config: str) -> Summary:
    """Look for damage and drift."""
    settings = _settings(home, config)
    return joined.reconcile(Places.of(settings.home), partition_documents=settings.build.partition_documents)


@flow(name="ingest-files", **_FLOW)
def ingest_files(home: str = "", config: str = "", paths: list[str] | None = None) -> dict[str, Any]:
    """Put `paths`, else the files of the settings, into raw."""
    with _recorded("ingest-files", home, config) as record:
        record.summary = import_task(home, config, paths or [])
    return _left(record, announce="errmine.ingested", home=home, config=config)


@flow(name="build", **_FLOW)
def build(home: str = "", config: str = "", runner: str = "process", address: str = "") -> dict[str, Any]:
    """Make the database from raw."""
    with _recorded("build", home, config) as record:
        _extract(home, config, runner, address)
        record.summary = publish_task(home, config)
    return _left(record, announce="errmine.built", home=home, config=config)


@flow(name="export", **_FLOW)
def export(home: str = "", config: str = "") -> dict[str, Any]:
    """Write the bundle from the database."""
    with _recorded("export", home, config) as record:
        record.summary = export_task(home, config)
    return _left(record)


@flow(name="reconcile", **_FLOW)
def reconcile(home: str = "", config: str = "") -> dict[str, Any]:
    """Look for damage and drift between raw, shards, database and bundle."""
    with _recorded("reconcile", home, config) as record:
        record.summary = reconcile_task(home, config)
    return _left(record)


@flow(name="run", **_FLOW)
def run(
    home: str = "", config: str = "", paths: list[str] | None = None, runner: str = "process", address: str = ""
) -> dict[str, Any]:
    """The whole job: ingest, build, export."""
    with _recorded("run", home, config) as record:
        imported = import_task(home, config, paths or [])
        _report("import", 1, 1)
        _extract(home, config, runner, address)
        published = publish_task(home, config)
        exported = export_task(home, config)
        _report("export", 1, 1)
        record.summary = joined.joined_summary(imported, published, exported)
    return _left(record)


@flow(name="extract", persist_result=False)
def _spread(home: str, config: str, batches: list[list[str]]) -> None:
    """A task a batch of partitions, on whichever runner the flow was given."""
    waiting = [extract_task.submit(home, config, names) for names in batches]
    for done, future in enumerate(as_completed(waiting), 1):
        future.result()
        _report("extract", done, len(waiting))


def _extract(home: str, config: str, runner: str, address: str) -> None:
    settings = _settings(home, config)
    places = Places.of(settings.home)
    partitions = joined.plan(places.raw, partition_documents=settings.build.partition_documents)
    batches = joined.batches(partitions, count=_BATCHES_A_WORKER * settings.build.workers)
    chosen = _task_runner(runner, address, workers=settings.build.workers)
    _spread.with_options(task_runner=chosen)(home, config, batches)


def _task_runner(name: str, address: str, *, workers: int) -> Any:
    if name == "process":  # a thread waits for each guarded process
        return ThreadPoolTaskRunner(max_workers=workers)
    if name != "dask":
        raise ConfigError(f"no runner called {name}", hint="There are: process, dask.")
    if not address:
        raise ConfigError("the runner dask needs an address", hint="For example --address tcp://127.0.0.1:8786.")
    try:
        from prefect_dask import DaskTaskRunner  # noqa: PLC0415  (the extra may not be installed)
    except ImportError as error:
        raise ConfigError("the runner dask is not installed", hint="pip install 'errmine[dask]'") from error
    made: TaskRunner[Any] = DaskTaskRunner(address=address)
    return made


def _settings(home: str, config: str) -> Settings:
    return read_settings(Path(config) if config else None, home=Path(home) if home else None)


@contextmanager
def _recorded(name: str, home: str, config: str) -> Iterator[Record]:
    """The record of this run, which waits for its turn; progress goes to the artifact, or to whoever asked for it."""
    settings = _settings(home, config)
    wait = settings.schedule.wait_seconds
    with joined.recorded(settings.home, name, run_id=str(flow_run.id or ""), wait_seconds=wait) as record:
        if _progress.get() is not None:
            yield record
        else:
            with reporting_to(_progress_artifact(name)):
                yield record


def _report(stage: str, done: int, total: int) -> None:
    progress = _progress.get()
    if progress is not None:
        progress(stage, done, total)


def _progress_artifact(name: str) -> Progress:
    artifact = cast("UUID", create_progress_artifact(0.0, key=f"{name}-progress", description="starting"))
    last = [time.monotonic()]

    def show(stage: str, done: int, total: int) -> None:
        if done < total and time.monotonic() - last[0] < _PROGRESS_SECONDS:
            return
        last[0] = time.monotonic()
        share = 100.0 * done / total if total else 100.0
        update_progress_artifact(artifact, share, description=f"{stage}: {done:,} of {total:,}")

    return show


def _left(record: Record, *, announce: str = "", home: str = "", config: str = "") -> dict[str, Any]:
    """The summary of a run for programs, after its artifacts were left for people and its end was announced.

    The next flow is started by the event `announce` and not by Prefect's own "Completed": of a run that a schedule
    started the server holds that event back for 15 minutes, waiting for a "Scheduled" that is never sent.
    """
    summary = record.summary or Summary()
    create_markdown_artifact(
        joined.as_markdown(summary), key=f"{record.flow}-summary", description="What the run did and what changed"
    )
    rows = joined.source_rows(summary)
    if rows:
        create_table_artifact(rows, key=f"{record.flow}-sources", description="What came from each source")
    if announce:
        emit_event(announce, {"prefect.resource.id": "errmine.home", "errmine.home": str(_settings(home, config).home)})
    return summary.as_dict()
