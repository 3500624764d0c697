"""Ends what a killed process leaves behind. Run as a program of its own, which outlives whoever started it.

A temporary Prefect server ends when its parent tells it to, and a parent that is killed tells nobody. So the parent
marks the environment of what it starts, and holds a pipe to this program: the system closes the pipe however the parent
ends, and whoever has the mark then is ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "ERRMINE_STARTED_BY"
#: What its parent ended in good order is gone by then; a server that is told to stop needs a second.
PATIENCE_SECONDS = 3.0


@contextmanager
def ended_with_this_process() -> Iterator[None]:
    """Nothing; whatever is started in the context ends when this process does, killed or not."""
    value = f"{os.getpid()}-{time.time_ns()}"
    plain = {name: text for name, text in os.environ.items() if name != MARK}
    subprocess.Popen(  # noqa: S603  (never waited for: it ends after us)
        [sys.executable, "-I", __file__, f"{MARK}={value}"], stdin=_held(), env=plain, start_new_session=True
    )
    os.environ[MARK] = value
    try:
        yield
    finally:
        os.environ.pop(MARK, None)


def _held() -> int:
    """The end of a pipe whose other end this process holds until it is no more."""
    reading, _writing = os.pipe()  # children inherit neither
    return reading


def marked(mark: str) -> list[int]:
    """The processes of this user whose environment has the mark."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another user's, or gone meanwhile
            if mark.encode() in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
    return found


def end(mark: str) -> None:
    """Nothing; no process has the mark any more."""
    for kind, patience in ((None, PATIENCE_SECONDS), (signal.SIGTERM, PATIENCE_SECONDS), (signal.SIGKILL, 0.0)):
        for pid in marked(mark) if kind else ():
            with suppress(ProcessLookupError):
                os.kill(pid, kind or 0)
        last = time.monotonic() + patience
        while marked(mark) and time.monotonic() < last:
            time.sleep(0.1)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    end(sys.argv[1])
