"""What a report tells: what the database says now, held against an earlier run of the home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from pipeline import store
from pipeline.export.report import Report
from pipeline.records.errors import ConfigError
from pipeline.run.home import recording
from pipeline.store import RunRow
from pipeline.store.overview import overview

#: Rows of a list, and days of the data that are compared with as many before.
MOST_ROWS, DAYS = 20, 90


def report(home: Path, *, since: str = "", days: int = DAYS, database: Path | None = None) -> Report:
    """The report of `home`; new is what was not there after the run that begins with `since`, all of it where none is.

    `since` may be a day, 2026-03-01, too: then it is the last run that was begun before it, UTC.

    `database`: another one than the home's, such as a bundle's, which knows of no runs.

    Raises:
        ConfigError: there is no such run, or several begin so.
        StoreError: there is no database, or it cannot be read.
    """
    runs = recording.rows(home)
    found = _held_against(home, runs, since) if since else None
    known = runs[: 1 + next(n for n, row in enumerate(runs) if row.run_id == found.run_id)] if found else ()
    path = database or home / "curated" / "errmine.duckdb"
    with store.of_ours(path, note=home / ".errmine" / "state"):
        told = overview(path, known_runs=_ids(known), days=days, limit=MOST_ROWS)
    return Report(
        since=f"{found.flow} {found.run_id[: recording.SHORTEST_ID]}" if found else "",
        since_day=f"{found.started_at:%Y-%m-%d}" if found and found.started_at else "",
        days=days,
        answered_before=_answered(known),
        **told,
    )


def _held_against(home: Path, runs: Sequence[RunRow], since: str) -> RunRow | None:
    """The run that is meant by its id or by a day; None where none was begun before that day."""
    try:
        day = date.fromisoformat(since)
    except ValueError:
        found = recording.run_called(home, since)
        if found is None:
            hint = "`errmine status` lists them; a beginning of the id is enough, or a day: 2026-03-01."
            raise ConfigError(f"no run {since}", hint=hint) from None
        return found
    return next((row for row in reversed(runs) if row.started_at and row.started_at.date() < day), None)


def _ids(runs: tuple[RunRow, ...]) -> list[str]:
    """The ids under which the journal has what was there; "" for what runs did that nobody recorded."""
    return [*(row.run_id for row in runs), ""] if runs else []


def last_export(home: Path) -> str:
    """The id of the newest run that left a bundle, "" where there is none."""
    ended = (row for row in reversed(recording.rows(home)) if row.flow in _EXPORTING and row.status in _WHOLE)
    return next((row.run_id for row in ended), "")


_EXPORTING, _WHOLE = ("run", "export"), ("completed", "partial")


def _answered(runs: tuple[RunRow, ...]) -> Mapping[str, int]:
    """Domain -> entries with an answer, as the newest of the runs that told it did."""
    for row in reversed(runs):
        told: Any = row.detail.get("answers") if isinstance(row.detail, dict) else None
        if isinstance(told, dict):
            return {name: int(each["answered"]) for name, each in told.items() if isinstance(each, dict)}
    return {}
