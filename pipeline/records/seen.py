"""Files that were read whole and found to be what was written, by what the file system says of them since.

A file is known by size, inode and the times of its last change, as `git` knows those of its index: who only wants to
hear once more that it is whole need not read it again. A file that was changed a moment before it was looked at is not
noted: a second change might fall into the same tick of the clock.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.records import kept

#: Nanoseconds after its last change from which a file is noted. File systems have ticks of 10 ms, and some of 2 s.
_SETTLED = 3 * 10**9

#: Size, inode, time of the last change of its bytes, and of anything of it.
Sign = tuple[int, int, int, int]


@dataclass(slots=True)
class Seen:
    """What was whole when it was last read; what nobody asks for any more is not written again."""

    before: dict[str, tuple[str, Sign]] = field(default_factory=dict)  # path: what was expected of it, its sign
    now: dict[str, tuple[str, Sign]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Seen:
        """What the file at `path` says; nothing where it is not what was written."""
        try:
            rows = kept.unsealed_json(path)["files"]
            return cls({name: (told, (size, node, at, ctime)) for name, told, size, node, at, ctime in rows})
        except (kept.Damaged, KeyError, TypeError, ValueError):
            return cls()

    def write(self, path: Path) -> None:
        """Nothing; the next one knows what this one knows. Where the disk refuses, it reads again."""
        if self.now != self.before:
            rows = [[name, told, *sign] for name, (told, sign) in sorted(self.now.items())]
            with suppress(OSError):
                kept.write(path, kept.sealed_json({"files": rows}))

    def is_whole(self, path: Path, told: str = "") -> bool:
        """True if the file was found to be what `told` says, and nothing has touched it since."""
        name, known = str(path), self.before.get(str(path)) or self.now.get(str(path))
        if known is None or known[0] != told or known[1] != sign_of(path):
            return False
        self.now[name] = known
        return True

    def note(self, path: Path, told: str = "") -> None:
        """Nothing; the file is what `told` says, which was found by reading it just now."""
        sign = sign_of(path)
        if sign is not None and time.time_ns() - max(sign[2:]) > _SETTLED:
            self.now[str(path)] = (told, sign)


def sign_of(path: Path) -> Sign | None:
    """What the file system says of the file at `path`; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns
