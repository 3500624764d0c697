"""Which entries the gate of advice was asked about, and by what: a build asks all, so that an export need not."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pipeline import store
from pipeline.export import Passed
from pipeline.run.build import itself


def known(path: Path) -> Passed:
    """What the file at `path` says of lines that passed as they would now."""
    return Passed.read(path, made_by=itself.made_by())


def keep(path: Path, passed: Passed) -> None:
    """Nothing; the next export knows what passed. Where the disk refuses, it asks again."""
    with suppress(OSError):
        passed.write(path)


def note(path: Path, lines: store.Digests) -> None:
    """Nothing; the file at `path` says then that the entries whose rows have these digests have passed."""
    keep(path, known(path).only(lines.table["digest"].to_pylist()))
