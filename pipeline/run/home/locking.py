"""One run at a time in a home: a lock that the system frees when its holder dies, with a note of who holds it."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline.records import disk
from pipeline.records.errors import HomeBusy

#: Between two looks at a lock that another run holds.
_LOOK_SECONDS = 0.2
#: Descriptors of the locks that this process holds.
_HELD: set[int] = set()


@dataclass(frozen=True, slots=True)
class Holder:
    """The run that holds a home, or held it when it was killed."""

    run_id: str
    flow: str
    pid: int
    started_at: str  # ISO 8601, UTC

    def __str__(self) -> str:
        return f"{self.flow} (process {self.pid}, since {self.started_at})"


#: Told of the run that is waited for, None where it left no note, and of the seconds that are waited at most.
Told = Callable[[Holder | None, float], None]


def _nobody(_holder: Holder | None, _seconds: float) -> None:
    pass


@contextmanager
def sole(
    home: Path, holder: Holder, *, name: str = "lock", wait_seconds: float = 0.0, told: Told = _nobody
) -> Iterator[Holder | None]:
    """While the context lasts nobody else works in `home`; gives the run that was killed before it could let go.

    Runs that may go on side by side hold locks of different names. Who has to wait is `told` once, and for whom.

    Raises:
        HomeBusy: another run holds the lock, and still does after `wait_seconds`.
    """
    path = home / ".errmine" / name
    descriptor = _opened(path)
    _HELD.add(descriptor)
    try:
        _wait(descriptor, path, wait_seconds, told)
        killed = _note(descriptor)
        _write(descriptor, json.dumps(asdict(holder)).encode())
        try:
            yield killed
        finally:
            _write(descriptor, b"")
    finally:
        _HELD.discard(descriptor)
        os.close(descriptor)


def _without_locks() -> None:
    """Nothing; a worker that was forked holds no lock of its parent, which may be killed and followed by another."""
    while _HELD:
        os.close(_HELD.pop())


os.register_at_fork(after_in_child=_without_locks)


def here(run_id: str, flow: str, *, now: datetime) -> Holder:
    """A holder: the process that asks."""
    return Holder(run_id, flow, os.getpid(), now.astimezone(UTC).isoformat(timespec="seconds"))


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return disk.descriptor(path, os.O_RDWR | os.O_CREAT, mode=0o644)
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise HomeBusy(message, path=path, hint="Check free space and rights of the home folder.") from error


def _wait(descriptor: int, path: Path, wait_seconds: float, told: Told) -> None:
    end = time.monotonic() + wait_seconds
    is_told = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= end:
                holder = _note(descriptor)
                raise HomeBusy(f"{path.parent.parent}: another run is at work: {holder or '?'}", path=path) from error
            if not is_told:
                told(_note(descriptor), wait_seconds)
                is_told = True
            time.sleep(_LOOK_SECONDS)
        else:
            return


def _note(descriptor: int) -> Holder | None:
    """What stands in the lock file: its holder's note, or that of a holder who was killed; None of what is no note."""
    try:
        holder = Holder(**json.loads(os.pread(descriptor, 4096, 0)))
        is_note = datetime.fromisoformat(holder.started_at).tzinfo is not None and isinstance(holder.pid, int)
        f"{holder.run_id}{holder.flow}".encode()
    except (ValueError, TypeError, RecursionError):
        return None
    return holder if is_note else None


def _write(descriptor: int, note: bytes) -> None:
    os.ftruncate(descriptor, 0)
    try:
        os.pwrite(descriptor, note, 0)
    except OSError:  # a full disk: the lock holds all the same, only its note is missing
        os.ftruncate(descriptor, 0)
