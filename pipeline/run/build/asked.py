"""Which entries the gate of advice was asked about, and by what: a build asks all, so that an export need not."""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path

from pipeline import packs, store
from pipeline.export import Passed
from pipeline.run.build.mapping import files_of, own_files, releases


def known(path: Path) -> Passed:
    """What the file at `path` says of lines that passed as they would now."""
    return Passed.read(path, made_by=made_by())


def keep(path: Path, passed: Passed) -> None:
    """Nothing; the next export knows what passed. Where the disk refuses, it asks again."""
    with suppress(OSError):
        passed.write(path)


def note(path: Path, lines: store.Digests) -> None:
    """Nothing; the file at `path` says then that the entries whose rows have these digests have passed."""
    keep(path, known(path).only(lines.table["digest"].to_pylist()))


def made_by(package: Traversable | None = None) -> str:
    """A digest of all that decides what is published of an entry besides its row: this errmine, packs, libraries.

    All of the package, because no list of what has a part in the gate stays true for long: another release of errmine
    asks all entries once more, as it reads all documents once more.
    """
    digest = hashlib.blake2b(sys.version.encode(), digest_size=16)
    digest.update(releases().encode())
    digest.update(packs.active().digest(*packs.Stage).encode())
    for path, content in files_of(package) if package else own_files():
        digest.update(path.encode() + b"\x1f" + content)
    return digest.hexdigest()
