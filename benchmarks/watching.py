"""What the processes that a program starts cost, seen from outside: a pool's workers are nobody's children who asks."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

#: Seconds between two looks. What a process does after the last one is not seen.
_EVERY = 0.2
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Watched:
    """Peak memory and CPU of all processes below one, by their ids, as they were when they were last looked at."""

    pid: int
    peaks: dict[int, int] = field(default_factory=dict)  # bytes
    seconds: dict[int, float] = field(default_factory=dict)
    _ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Watched:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def worker_peak(self) -> int:
        """Bytes of the largest of them; 0 where there was none."""
        return max(self.peaks.values(), default=0)

    @property
    def worker_seconds(self) -> float:
        """CPU seconds of all of them."""
        return sum(self.seconds.values())

    def _watch(self) -> None:
        while not self._ended.is_set():
            for pid in _below(self.pid):
                peak = _peak(pid)
                if peak:
                    self.peaks[pid] = max(peak, self.peaks.get(pid, 0))
                    self.seconds[pid] = max(_seconds(pid), self.seconds.get(pid, 0.0))
            time.sleep(_EVERY)


def _below(root: int) -> list[int]:
    """The ids of the processes that `root` started, and that these started."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        if cells := _stat(int(path.name)):
            parents.setdefault(int(cells[1]), []).append(int(path.name))
    found = list(parents.get(root, ()))
    for pid in found:  # it grows meanwhile
        found += parents.get(pid, ())
    return found


def _stat(pid: int) -> list[str]:
    """State, parent and what follows in the line that the kernel tells of a process; nothing of one that ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _seconds(pid: int) -> float:
    cells = _stat(pid)
    return (int(cells[11]) + int(cells[12])) / _TICKS if cells else 0.0


def _peak(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
