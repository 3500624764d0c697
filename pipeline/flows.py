"""The flow under Prefect: order, retries, concurrency, artifacts. No rule, no pattern and no SQL lives here.

::

    run = import -> plan -> extract (a task a partition, side by side) -> publish -> export

Every task calls one plain function of `build` and hands on names and paths, never records: the rows travel as files.
Retries are in one place for each kind of failure: a lost worker process in `pool`, the network in `sources`, and here
only what remains: a database or disk that was busy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import as_completed
from prefect.task_runners import ThreadPoolTaskRunner

from pipeline import build
from pipeline.build import Partition, Places, Summary
from pipeline.errors import StoreError

#: Told of (stage, items done, items in all).
Progress = Callable[[str, int, int], None]

_progress: ContextVar[Progress] = ContextVar("progress", default=lambda _stage, _done, _total: None)

#: A busy database or disk: three more tries, half a minute in all.
_BUSY_DELAYS_SECONDS: list[float] = [2, 8, 20]


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


@task(name="import", cache_policy=NO_CACHE)
def import_files(home: str, paths: list[str]) -> Summary:
    """Put files into raw."""
    return build.import_files(Places.of(Path(home)).raw, [Path(path) for path in paths])


@task(name="plan", cache_policy=NO_CACHE)
def plan(home: str, partition_documents: int) -> list[Partition]:
    """Cut what is in raw into partitions."""
    return build.plan(Places.of(Path(home)).raw, partition_documents=partition_documents)


@task(name="extract", task_run_name="extract-{partition.name}", cache_policy=NO_CACHE)
def extract(home: str, partition: Partition) -> str:
    """Make the shard of one partition, in a guarded process of its own."""
    places = Places.of(Path(home))
    finished = build.map_partitions([partition], raw_path=places.raw, shard_folder=places.shards, workers=1)
    return list(finished)[-1]


@task(
    name="publish",
    cache_policy=NO_CACHE,
    retry_condition_fn=_was_busy,
    retries=3,
    retry_delay_seconds=_BUSY_DELAYS_SECONDS,
)
def publish(home: str, partitions: list[Partition], min_documents: int) -> Summary:
    """Cluster, distil, put into words, check, and write the database."""
    return build.publish(Places.of(Path(home)), partitions, min_documents=min_documents)


@task(
    name="export",
    cache_policy=NO_CACHE,
    retry_condition_fn=_was_busy,
    retries=3,
    retry_delay_seconds=_BUSY_DELAYS_SECONDS,
)
def export(home: str) -> Summary:
    """Write the bundle."""
    return build.export(Places.of(Path(home)))


@flow(name="run", persist_result=False, validate_parameters=False)
def run(home: str, paths: list[str], partition_documents: int, min_documents: int) -> Summary:
    """The whole job: import, extract, publish, export."""
    progress = _progress.get()
    imported = import_files(home, paths)
    progress("import", 1, 1)
    partitions = plan(home, partition_documents)
    waiting = [extract.submit(home, partition) for partition in partitions]
    for done, future in enumerate(as_completed(waiting), 1):
        future.result()
        progress("extract", done, len(waiting))
    published = publish(home, partitions, min_documents)
    progress("publish", 1, 1)
    exported = export(home)
    progress("export", 1, 1)
    summary = build.joined_summary(imported, published, exported)
    _leave_artifacts(summary)
    return summary


def run_with(workers: int, **arguments: Any) -> Summary:
    """`run` with that many partitions side by side."""
    runner: ThreadPoolTaskRunner[Any] = ThreadPoolTaskRunner(max_workers=workers)
    summary: Summary = run.with_options(task_runner=runner)(**arguments)
    return summary


def _leave_artifacts(summary: Summary) -> None:
    create_markdown_artifact(build.as_markdown(summary), key="run-summary", description="What the run did")
    create_table_artifact(
        [{"stage": s.stage, "in": s.taken, "out": s.given, "skipped": s.skipped} for s in summary.stages],
        key="run-stages",
        description="What went into and came out of each stage",
    )
