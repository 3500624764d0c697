"""What makes a home's files: this errmine, packs, libraries. Who only asks whether anything changed imports no more."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable

from pipeline import packs

#: Of the package no part in anything that is made: what Python makes of it, and the pages of the sample.
_NO_PART = frozenset({"__pycache__", "sample"})
#: Libraries that have a part in what is read of a document, in what passes the gate, and in the bytes of files.
LIBRARIES = (
    "ahocorasick-rs", "beautifulsoup4", "numpy", "pyarrow", "pydantic", "pydantic-core", "rapidfuzz", "tree-sitter",
    "tree-sitter-bash",
)  # fmt: skip


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


@cache
def releases() -> str:
    """Name and release of each library that has a part in what a build makes."""
    return "\x1e".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)


@cache
def own_files() -> list[tuple[str, bytes]]:
    """(path in the package, digest of the content) of each of its files, sorted; those that this process runs.

    They are read once: a build asked four times, which took it a tenth of its time on a home without news. A process
    that runs on while another release is installed goes on with what it has loaded.
    """
    return files_of(resources.files("pipeline"))


def files_of(package: Traversable) -> list[tuple[str, bytes]]:
    """(path, digest of the content) of each file of `package`; no list of those that matter stays true for long."""
    return sorted((path, hashlib.blake2b(content).digest()) for path, content in _files(package))


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for child in folder.iterdir():
        if child.is_dir():
            if child.name not in _NO_PART:
                yield from _files(child, f"{prefix}{child.name}/")
        else:
            yield f"{prefix}{child.name}", child.read_bytes()
