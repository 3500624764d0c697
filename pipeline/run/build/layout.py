"""In which partition each document lies, by a hash of its key.

Documents that the first plan of a home finds fall into partitions by the bits of their hashes. Those that come later
lie together in late partitions, in the order in which they come: fifty new documents are rows of one shard or two. By
their hashes they were rows of as many shards, each of which was written anew. A document stays where it is, also where
it changes, and where the plan is made anew by the same code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.records import kept
from pipeline.records.kept import Damaged

#: In the place of the number of a late partition: by its bits, and nowhere yet.
FIRST, NEW = -1, -2
_LATE = "n"
#: Partitions of a first plan are to be no more than this, as long as none has more than so many documents: a small
#: build opens each in which an error is shown that came again, and a frequent one is shown in all.
_MOST_FIRST, _LARGEST = 256, 4_000
#: Bytes of the digests that a file begins with: of all behind them, and of who made it.
_SUM = 32


def late(number: int) -> str:
    """What stands in the place of bits in the name of a late partition."""
    return f"{_LATE}{number:08d}"


def is_late(bits: str) -> bool:
    """Whether this is the name of a late partition, and no bits."""
    return bits.startswith(_LATE)


@dataclass(frozen=True)
class Layout:
    """The documents of a plan."""

    made: str = ""  # by what; nothing is known where this is ""
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))  # in order
    numbers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))  # of their late partitions

    @classmethod
    def read(cls, path: Path, made: str) -> Layout:
        """What the file at `path` says; nothing where it is not what was written, or somebody else wrote it."""
        try:
            body = kept.read(path)
        except Damaged:
            return cls()
        told, rest = body[:_SUM], body[_SUM:]
        if hashlib.sha256(rest).digest() != told or rest[:_SUM] != _digest(made):
            return cls()
        count = (len(rest) - _SUM) // 12
        return cls(made, np.frombuffer(rest, "<u8", count, _SUM), np.frombuffer(rest, "<i4", count, _SUM + 8 * count))

    def body(self) -> bytes:
        """The bytes of a file that says it."""
        rest = _digest(self.made) + self.hashes.astype("<u8").tobytes() + self.numbers.astype("<i4").tobytes()
        return hashlib.sha256(rest).digest() + rest

    def of(self, hashed: Sequence[int]) -> list[int]:
        """The number of the late partition of each hash, `FIRST` or `NEW`."""
        asked = np.array(hashed, np.uint64)
        if not len(self.hashes):
            return [NEW] * len(asked)
        places = np.minimum(np.searchsorted(self.hashes, asked), len(self.hashes) - 1)
        found: list[int] = np.where(self.hashes[places] == asked, self.numbers[places], NEW).tolist()
        return found

    def only(self, hashed: Iterable[int]) -> Layout:
        """The same of these documents alone."""
        is_there = np.isin(self.hashes, np.fromiter(hashed, np.uint64))
        return Layout(self.made, self.hashes[is_there], self.numbers[is_there])

    def most_first(self, most: int) -> int:
        """How many documents a partition of the first plan has at most, where late ones have `most`.

        It doubles, so that who goes, or is forgotten, hardly ever moves the others.
        """
        count = int(np.count_nonzero(self.numbers == FIRST))
        while 2 * most <= _LARGEST and count > most * _MOST_FIRST:
            most *= 2
        return most

    def with_those(self, came: Sequence[int], made: str, most: int) -> Layout:
        """With documents that came, in this order: late ones, of which `most` lie together, if there are others."""
        if len(self.hashes):
            last = int(self.numbers.max())
            before = last * most + int(np.count_nonzero(self.numbers == last)) if last >= 0 else 0
            numbers = (before + np.arange(len(came), dtype=np.int64)) // most
        else:
            numbers = np.full(len(came), FIRST, np.int64)
        hashes = np.concatenate([self.hashes, np.array(came, np.uint64)])
        order = np.argsort(hashes, kind="stable")
        return Layout(made, hashes[order], np.concatenate([self.numbers, numbers.astype(np.int32)])[order])


def _digest(made: str) -> bytes:
    return hashlib.sha256(made.encode()).digest()
