"""Leaves: the parts of a large bundle, each with the entries whose ids hash to its prefix.

::

    entries.jsonl               all entries of a bundle whose lines fit `LEAF_BYTES`: one leaf, of the prefix ""
    leaves/3f/entries.jsonl     of a larger one the entries for whose id blake2b begins with 3f
    leaves/index.json           of a larger one, what the index says of no entry

A leaf has the files that a small bundle has. A prefix is the shortest whose lines fit, so which leaves there are is
told by what is in the bundle alone, and what changes in one entry changes the files of one leaf.
"""

from __future__ import annotations

import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.records import kept

if TYPE_CHECKING:
    import numpy as np

FOLDER = "leaves"
#: Bytes of the lines of a leaf: what is read of a bundle to show one entry, and what an entry that changed costs. A
#: split has sixteen parts, so that a leaf of many has 64 KiB at least, and 300 KiB mostly.
LEAF_BYTES = 1 << 20
#: Of the index of a bundle, what it says of no entry.
HEAD = f"{FOLDER}/index.json"
#: What a leaf has; the first is in every leaf of any bundle.
LINES, TABLE, INDEX, REGISTRY = NAMES = ("entries.jsonl", "entries.parquet", "index.json", "registry.json")
#: Names in curated/ that belong to the bundle; anything else there (errmine.duckdb) is carried over.
BUNDLE_NAMES = ("entries", FOLDER, *NAMES, "schemas", "llms.txt", kept.MANIFEST)
_PLACE_BYTES = 8


def is_remote(place: str | os.PathLike[str]) -> bool:
    """Whether a bundle at `place` is in a store: an address, not a path."""
    return "://" in os.fspath(place)


def place_of(name: str) -> str:
    """The digits by which a name finds its leaf: blake2b of 8 bytes."""
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_PLACE_BYTES).hexdigest()


def path(prefix: str, name: str) -> str:
    """Where the file `name` of a leaf stands in its bundle."""
    return f"{FOLDER}/{prefix}/{name}" if prefix else name


def prefix_of(path: str) -> str | None:
    """The prefix of the leaf that a path of a bundle is in; None of a path that is in none."""
    if path in NAMES:
        return ""
    parts = path.split("/")
    return parts[1] if len(parts) == 3 and parts[0] == FOLDER and parts[2] in NAMES else None


def prefixes(paths: Iterable[str]) -> list[str]:
    """The prefixes of the leaves of a bundle that has these files, sorted."""
    return sorted({prefix for path in paths if (prefix := prefix_of(path)) is not None})


def holding(prefixes: Container[str], place: str) -> str | None:
    """The prefix of the leaf that holds a place; None where none does."""
    return next((place[:length] for length in range(len(place) + 1) if place[:length] in prefixes), None)


def places_of(names: Sequence[str]) -> np.ndarray:
    """`place_of` of each of the names, as a number of 64 bits."""
    import numpy as np  # noqa: PLC0415  (as pydantic below)

    found = (hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_PLACE_BYTES) for name in names)
    return np.frombuffer(b"".join(one.digest() for one in found), ">u8").astype(np.uint64)


def starts(places: np.ndarray, prefixes: Sequence[str]) -> list[int]:
    """Where among places in order those of each leaf begin, of leaves in order."""
    import numpy as np  # noqa: PLC0415  (as above)

    found: list[int] = np.searchsorted(places, np.array(list(map(_first, prefixes)), np.uint64)).tolist()
    return found


def holders(places: np.ndarray, prefixes: Sequence[str]) -> np.ndarray:
    """The number of the leaf that holds each of the places; of prefixes in order, of which one holds it."""
    import numpy as np  # noqa: PLC0415  (as above)

    found: np.ndarray = np.searchsorted(np.array(list(map(_first, prefixes)), np.uint64), places, side="right") - 1
    return found


def _first(prefix: str) -> int:
    """The first of the places that a leaf may hold, as a number."""
    return int(prefix.ljust(2 * _PLACE_BYTES, "0"), 16)


def split(places: np.ndarray, sizes: np.ndarray, *, most: int | None = None) -> list[str]:
    """The prefixes of the leaves of names at these places (`places_of`), whose lines have so many bytes, sorted.

    Of nothing there is the one leaf of a small bundle.
    """
    import numpy as np  # noqa: PLC0415  (as above)

    order = np.argsort(places)
    before = np.concatenate([[0], np.cumsum(sizes[order])])
    return list(_split(places[order], before, "", LEAF_BYTES if most is None else most))


def _split(places: np.ndarray, before: np.ndarray, prefix: str, most: int) -> Iterator[str]:
    """Of places in order, before each of which and behind the last there are so many bytes.

    A line alone is a leaf, however long it is.
    """
    if before[-1] - before[0] <= most or places[0] == places[-1]:
        yield prefix
        return
    parts = [f"{prefix}{digit:x}" for digit in range(16)]
    ends = [*starts(places, parts), len(places)]
    for part, (start, end) in zip(parts, pairwise(ends), strict=True):
        if start < end:
            yield from _split(places[start:end], before[start : end + 1], part, most)


# A bundle whose list of files was read: its leaves, each read when it is first asked for, and checked by its sha256.
# pydantic is not imported: `errmine match` reads a bundle through here, and has to be quick.

#: Leaves whose lines are held: who shows the entries of one log asks for a few, each perhaps twice.
_HELD_LEAVES = 8


def page_path(entry_id: str) -> str:
    """Where the entry's own file stands in a bundle that has one for each."""
    return f"entries/{entry_id}.json"


class Opened:
    """The entries and the index of a bundle, as far as they are asked for."""

    def __init__(self, listing: kept.Listing) -> None:
        self.listing = listing
        self.prefixes = frozenset(prefixes(listing.sums)) or frozenset({""})
        self._has_pages = any(name.startswith("entries/") for name in listing.sums)
        self._lines = lru_cache(maxsize=_HELD_LEAVES)(self._read_lines)

    @classmethod
    def of(cls, folder: Path) -> Opened:
        """The bundle in `folder`.

        Raises:
            Damaged: its manifest is missing or not what was written.
        """
        return cls(kept.Listing.of_bundle(folder))

    @property
    def is_split(self) -> bool:
        """Whether it has several leaves."""
        return "" not in self.prefixes

    def paths(self, name: str) -> list[str]:
        """The file `name` of every leaf, by their prefixes."""
        return [path(prefix, name) for prefix in sorted(self.prefixes)]

    def path_of(self, entry_id: str) -> str:
        """The file that has an entry of this id, if there is one: its page, or the lines of its leaf."""
        page = page_path(entry_id)
        if page in self.listing.sums:
            return page
        prefix = holding(self.prefixes, place_of(entry_id))
        return path(prefix or "", LINES)

    def entry(self, entry_id: str) -> bytes | None:
        """The JSON of an entry; None if there is none of this id.

        Raises:
            Damaged: its file is not what was written.
        """
        path = self.path_of(entry_id)
        if path == page_path(entry_id):
            return self.listing.read(path)
        if path not in self.listing.sums or self._has_pages:
            return None
        lines = self._lines(path)
        place = bisect_left(lines, entry_id, key=_id_of)
        return lines[place] if place < len(lines) and _id_of(lines[place]) == entry_id else None

    def published(self) -> set[str]:
        """The ids of all entries, and in a bundle without pages those that were withdrawn as well.

        Raises:
            Damaged: a file is not what was written.
            ValueError: it holds what is no registry.
        """
        if self._has_pages:
            pages = (name for name in self.listing.sums if name.startswith("entries/"))
            return {name[len("entries/") : -len(".json")] for name in pages}
        paths = (path for path in self.paths(REGISTRY) if path in self.listing.sums)
        return {name for path in paths for name in json.loads(self.listing.read(path))["ids"]}

    def index(self) -> dict[str, Any]:
        """All of the index, as one.

        Raises:
            Damaged: a file is not what was written.
            ValueError: it holds what is no index.
        """
        if not self.is_split:
            whole: dict[str, Any] = json.loads(self.listing.read(INDEX))
            return whole
        told: dict[str, Any] = json.loads(self.listing.read(HEAD))
        rows = [row for path in self.paths(INDEX) for row in json.loads(self.listing.read(path))["entries"]]
        return {**told, "entries": sorted(rows, key=lambda row: str(row["id"]))}

    def _read_lines(self, path: str) -> list[bytes]:
        return self.listing.read(path).splitlines()


def _id_of(line: bytes) -> str:
    return str(json.loads(line)["id"])


def entry_of(folder: Path, entry_id: str) -> bytes | None:
    """The JSON of an entry of the bundle in `folder`; None if there is none of this id.

    Raises:
        Damaged: the manifest or its file is missing, or not what was written.
    """
    opened = Opened.of(folder)
    try:
        return opened.entry(entry_id)
    except kept.Damaged:
        again = Opened.of(folder)
        if again.listing.sums == opened.listing.sums:
            raise
        return again.entry(entry_id)  # another bundle took the place of the first between the two looks
