"""The record of every run: when it ran, how it ended, what it did. Runs that were killed are recorded by the next one.

`.errmine/runs.jsonl` has one line a run, in the order in which they ended, each with its sha256; the table `runs` of
the database is a copy of its last lines, because the database is made anew by every build and may not exist yet. A line
that is not what was written is no run: it is named, and the next build puts it aside, into `runs.jsonl.damaged`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from pipeline import store  # whose libraries are imported only where a database is asked
from pipeline.records import disk, kept
from pipeline.records.errors import ConfigError, PipelineError, StoreError
from pipeline.records.summary import Summary
from pipeline.run.home import locking
from pipeline.store.contents import RunRow

#: Least number of characters by which a run is called.
SHORTEST_ID = 8
_ROOM = "Check free space and rights of the home folder, then run the command again."
#: Runs that the database tells of: a month of hourly ingest, build and export.
MOST_RUNS = 2_000


@dataclass(slots=True)
class Record:
    """The run at work; what it did is put in here."""

    run_id: str
    flow: str
    started_at: datetime
    summary: Summary | None = None
    status: str = "completed"  # of a run that raises nothing; "partial" of one that has to go on later
    detail: dict[str, Any] = field(default_factory=dict)


@contextmanager
def recorded(
    home: Path,
    flow: str,
    *,
    run_id: str = "",
    wait_seconds: float = 0.0,
    is_ingest: bool = False,
    told: locking.Told = lambda _holder, _seconds: None,
) -> Iterator[Record]:
    """The record of this run, which has the home for itself as long as the context lasts.

    An ingest only keeps others of its own name away: it may wait hours for a quota, and raw takes pages while a build
    reads it.

    Raises:
        HomeBusy: another run is in the way, and still is after `wait_seconds`.
    """
    record = Record(run_id or str(uuid.uuid4()), flow, datetime.now(UTC))
    begun = time.monotonic()  # the wall clock may be set back meanwhile
    holder = locking.here(record.run_id, flow, now=record.started_at)
    name = f"lock.{flow}" if is_ingest else "lock"
    with locking.sole(home, holder, name=name, wait_seconds=wait_seconds, told=told) as killed:
        if killed is not None:
            _keep(home, _killed(killed))
        status = "failed"
        try:
            yield record
            status = record.status
        except BaseException as error:
            record.detail["error"] = str(error) if isinstance(error, PipelineError) else type(error).__name__
            raise
        finally:
            _keep(home, _row(record, status, seconds=time.monotonic() - begun), is_ingest=is_ingest)


def rows(home: Path) -> tuple[RunRow, ...]:
    """The runs recorded in `home`, oldest first; the newest `MOST_RUNS` of them."""
    found = (_parsed(line) for line in _lines(_ledger(home)))
    return tuple(row for row in found if row is not None)[-MOST_RUNS:]


def damaged(home: Path) -> tuple[str, ...]:
    """The lines of the file of runs that are not what was written, by file and number."""
    path = _ledger(home)
    numbers = (number for number, line in enumerate(_lines(path), 1) if _parsed(line) is None)
    return tuple(f"{path} line {number}: is no record of a run, and passed over" for number in numbers)


def put_aside(home: Path) -> tuple[str, ...]:
    """What `damaged` told of; these lines stand in a file of their own then.

    Raises:
        StoreError: the disk does not take it.
    """
    told = damaged(home)
    path = _ledger(home)
    if not told:
        return ()
    try:
        with _locked(path):
            lines = _lines(path)
            bad = [line for line in lines if _parsed(line) is None]
            with path.with_name(f"{path.name}.damaged").open("ab") as file:
                file.writelines(line + b"\n" for line in bad)
            kept.write(path, b"".join(line + b"\n" for line in lines if line not in bad))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}", path=path, hint=_ROOM) from error
    return told


def status(home: Path, *, runs: int = 10) -> dict[str, Any]:
    """What ran when, newest first, and what the last build took, gave and skipped.

    A home in which nothing was built yet has runs all the same: its ingests and imports.

    Raises:
        StoreError: there is no database and nothing ran, or the database cannot be read.
    """
    kept = rows(home)
    if kept and not _database(home).exists():
        nothing: dict[str, Any] = {"stages": [], "skipped": [], "answers": [], "chinese": [], "drift": []}
        return {"runs": [asdict(row) for row in reversed(kept[-runs:])], **nothing}
    found = told(_database(home), runs=runs)
    shown = {row["run_id"] for row in found["runs"]}
    late = [asdict(row) for row in kept if row.run_id not in shown]  # ingests since, which no build has told it yet
    found["runs"] = sorted([*found["runs"], *late], key=_begun, reverse=True)[:runs]
    return found


def _begun(row: Mapping[str, Any]) -> float:
    return row["started_at"].timestamp() if row["started_at"] else 0.0


def told(database: Path, *, runs: int = 10) -> dict[str, Any]:
    """What a database says of the runs that made it, newest first, of its last build, its answers and its Chinese."""
    from pipeline.store import reading  # noqa: PLC0415  (its libraries: most commands ask nothing here)

    found = reading.status(database, runs=runs)
    return {**found, "runs": [{**row, "detail": json.loads(row["detail"] or "{}")} for row in found["runs"]]}


def short_ids(run_ids: Iterable[str]) -> dict[str, str]:
    """Each id with as much of its beginning as no other one has: the ids of one hour begin alike."""
    ids = sorted(set(run_ids))
    shared = [0, *(len(os.path.commonprefix(pair)) for pair in pairwise(ids)), 0]  # noqa: RUF071 - of characters
    return {run_id: run_id[: max(SHORTEST_ID, 1 + max(shared[n : n + 2]))] for n, run_id in enumerate(ids)}


def run_called(home: Path, beginning: str) -> RunRow | None:
    """The one run whose id begins so; None if there is none.

    Raises:
        ConfigError: there are several.
    """
    named = {row.run_id: row for row in rows(home) if row.run_id.startswith(beginning)}
    if len(named) > 1:
        raise ConfigError(f"{len(named)} runs begin with {beginning}", hint=f"Such as {', '.join(sorted(named)[:3])}.")
    return next(iter(named.values()), None)


def _row(record: Record, status: str, *, seconds: float) -> RunRow:
    told: Mapping[str, Any] = record.summary.as_dict() if record.summary else {}
    ended = record.started_at + timedelta(seconds=seconds)
    # the name of a file may hold what is no UTF-8, and a message names it
    detail = json.loads(json.dumps({**told, **record.detail}, ensure_ascii=False).encode("utf-8", "replace"))
    return RunRow(record.run_id, record.flow, status, record.started_at, ended, detail)


def _killed(holder: locking.Holder) -> RunRow:
    error = "the process was killed; what it had finished is kept"
    return RunRow(holder.run_id, holder.flow, "killed", _moment(holder.started_at), None, {"error": error})


def _keep(home: Path, row: RunRow, *, is_ingest: bool = False) -> None:
    """Nothing; the file of runs tells of it, and the database.

    Not of an ingest at once: the database would be copied for it, and the build that follows makes another one.
    """
    line = asdict(row)
    for name in ("started_at", "ended_at"):
        line[name] = line[name].isoformat() if line[name] else None
    # a disk that is full or read-only has failed the run already, with a message of its own: this must not hide it
    with suppress(OSError):
        _append(_ledger(home), sealed(line) + "\n")
    if is_ingest:
        return
    database = _database(home)
    # a database that cannot take the row now gets it with the next build, from the file of runs
    with suppress(StoreError):
        if database.exists():
            store.add_runs(database, [*rows(home), row], note=home / ".errmine" / "state")


def _append(path: Path, line: str) -> None:
    """One write: after a kill the line is there or it is not, or its rest is no record of a run."""
    with _locked(path) as descriptor:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, ("\n" * torn + line).encode())
        os.fsync(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file of runs, open; nobody else adds to it or puts another in its place meanwhile."""
    while True:
        descriptor = disk.descriptor(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, mode=0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _lines(path: Path) -> list[bytes]:
    """The lines of the file of runs that are not empty; none where there is no file.

    Raises:
        StoreError: the file is there and cannot be read.
    """
    try:
        return [line for line in disk.body(path).split(b"\n") if line.strip()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}", path=path, hint=_ROOM) from error


def sealed(cells: Mapping[str, Any]) -> str:
    """A line of the file of runs, without its end, with the sha256 of its cells."""
    return json.dumps({**cells, "sha256": _digest(cells)}, sort_keys=True)


def _digest(cells: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(cells, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _parsed(line: bytes) -> RunRow | None:
    """The run that a line records; lines of before have no sha256, and must have the form of one."""
    try:
        cells = json.loads(line)
        said = cells.pop("sha256", None)
        if said is not None and said != _digest(cells):
            return None
        return _row_of(cells)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _row_of(cells: dict[str, Any]) -> RunRow:
    """The cells of a line as a run; ValueError, TypeError or KeyError where they are none."""
    cells["started_at"], cells["ended_at"] = _moment(cells["started_at"]), _moment(cells["ended_at"])
    row = RunRow(**cells)
    for stage in row.detail.get("stages", ()):  # type: ignore[attr-defined]
        if not all(isinstance(stage[name], int) for name in ("taken", "given", "skipped")):
            raise ValueError("a stage without its counts")
        dict(stage["reasons"])
    # half a surrogate, which no database takes
    json.dumps([row.run_id, row.flow, row.status, row.detail], ensure_ascii=False, allow_nan=False).encode()
    if not all(isinstance(name, str) for name in (row.run_id, row.flow, row.status)):
        raise TypeError("names that are no text")
    return row


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without its zone")
    return moment.astimezone(UTC)


def _database(home: Path) -> Path:
    return home / "curated" / "errmine.duckdb"


def _ledger(home: Path) -> Path:
    return home / ".errmine" / "runs.jsonl"
