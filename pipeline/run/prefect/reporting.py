"""What a flow run tells while it goes on and when it has ended: progress, artifacts, events, news of a failure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.events import emit_event
from prefect.logging import get_run_logger

from pipeline.config import Settings
from pipeline.export import report as export_report
from pipeline.records.summary import Summary
from pipeline.run.home import overview
from pipeline.run.home.recording import Record
from pipeline.run.home.report import as_markdown, source_rows
from pipeline.run.prefect.notifying import notify

#: Told of (stage, items done, items in all or 0 where nobody knows).
Progress = Callable[[str, int, int], None]

#: Between two updates of the progress artifact: each is a request to the server.
_PROGRESS_SECONDS = 2.0

_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def reporting_to(progress: Progress) -> Iterator[None]:
    """Flows started inside the context report to `progress`."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


@contextmanager
def reporting(flow_name: str) -> Iterator[None]:
    """A flow that was started by nobody who wants its progress reports it to an artifact of its own."""
    if _progress.get() is not None:
        yield
    else:
        with reporting_to(_progress_artifact(flow_name)):
            yield


def report(stage: str, done: int, total: int) -> None:
    """`stage` has done so much."""
    progress = _progress.get()
    if progress is not None:
        progress(stage, done, total)


def leave(record: Record) -> dict[str, Any]:
    """The summary of a run for programs, after its artifacts were left for people."""
    summary = record.summary or Summary()
    create_markdown_artifact(
        as_markdown(summary), key=f"{record.flow}-summary", description="What the run did and what changed"
    )
    rows = source_rows(summary)
    if rows:
        create_table_artifact(rows, key=f"{record.flow}-sources", description="What came from each source")
    return summary.as_dict()


def leave_report(home: Path) -> None:
    """What is new since the last bundle, growing, fixed and unanswered: as an artifact, and as a page in the home."""
    told = overview.report(home, since=overview.last_export(home))
    page, _ = export_report.write(home / ".errmine", told)
    about = f"What is new, trending, fixed and unanswered; as a page that prints well: {page}"
    create_markdown_artifact(export_report.markdown(told), key="report", description=about)


def announce(event: str, settings: Settings) -> None:
    """Start the flow that waits for `event` in this home.

    It is not started by Prefect's own "Completed": of a run that a schedule started the server holds that event back
    for 15 minutes, waiting for a "Scheduled" that is never sent.
    """
    emit_event(event, {"prefect.resource.id": "errmine.home", "errmine.home": str(settings.home)})


def tell(command: Sequence[str], failed: Any, run: Any, state: Any) -> None:
    """Tell who wants to know that a flow run failed or crashed: `command`, and the webhook of the environment."""
    event = {"flow": failed.name, "run": run.name, "run_id": str(run.id), "state": state.name, "message": state.message}
    webhook = os.environ.get("ERRMINE_NOTIFY_WEBHOOK", "")
    for problem in notify(event, command=command, webhook=webhook):
        get_run_logger().warning(problem)


def _progress_artifact(name: str) -> Progress:
    artifact = cast("UUID", create_progress_artifact(0.0, key=f"{name}-progress", description="starting"))
    last = [time.monotonic()]

    def show(stage: str, done: int, total: int) -> None:
        if done != total and time.monotonic() - last[0] < _PROGRESS_SECONDS:
            return
        last[0] = time.monotonic()
        of = f" of {total:,}" if total else ""
        update_progress_artifact(artifact, 100.0 * done / total if total else 0.0, description=f"{stage}: {done:,}{of}")

    return show
