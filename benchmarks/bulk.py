"""Millions of messages in one pass: masked by DuckDB in one alternation, grouped exactly, then by the same leaders.

For text that needs no gates (one program's log, a benchmark). Threads go through `normalise` and `partition`, which
see each distinct text once; this module shows how far the shared core (candidates, leaders, words) carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz import fuzz
from rapidfuzz.distance import Postfix, Prefix

from pipeline.cluster import candidates
from pipeline.cluster.candidates import Hashes, Ints, Keys
from pipeline.cluster.leaders import CUTOFF, Floats, Groups, elected, scores
from pipeline.cluster.words import FREE_NAMES, conflict_of, weight
from pipeline.records import content_id

#: What stands for a masked value while texts are compared: one byte, so that slots weigh little; no text has it.
SLOT = "\x1a"
#: The same for people.
SHOWN_SLOT = "<*>"
#: Before the message: rank, time stamp, level, separators; any number of them, from the start only.
PREFIX = (
    r"^(?:\[rank ?\d+\]: ?|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\d,.]*Z? |\d\d:\d\d:\d\d(?:[.,]\d+)? |\| "
    r"|(?:ERROR|WARNING|CRITICAL|FATAL|error|E|W|F) )+"
)
#: One alternation for all values: a second pass over the column would cost as much again.
MASK = (
    r"(?:/[\w.@+-]+){2,}|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}\b|\b0x[0-9a-fA-F]+"
    r"|\[\d+(?:, ?\d+)*\]|-?\b\d[\d.,]*(?:e[+-]?\d+)?(?: ?[KMGT]i?B)?\b|\b(?:b?float|u?int)\d+\b"
)
#: A word that is a name. Texts that differ by no more than FREE_NAMES of them are looked at as one.
NAME = "[^ ]*_[^ ]*"
#: Texts that lost their end close so; they are compared as prefixes.
CUT_MARK = "..."
#: Owners of a band key: without gates and few vetoes the second owner is seldom the one to join.
OWNERS = 2
#: Texts hashed at a time: their shingles stay in the processor's cache.
_HASHED_TEXTS = 8192


@dataclass(frozen=True, slots=True)
class Grouped:
    """What one pass found."""

    messages: int
    texts: int  # distinct after masking
    pairs: int  # compared
    clusters: int


def group(source: Path, target: Path, *, threads: int = 2, memory: str = "") -> Grouped:
    """Group a Parquet file with columns `id` and `text`; write one with `id` and `cluster_id`, in no order."""
    with duckdb.connect(config={"threads": threads, **({"memory_limit": memory} if memory else {})}) as connection:
        connection.execute("SET enable_progress_bar = false")
        column, frames = _masked(connection, source)
        texts: list[str] = column.to_pylist()
        heads = _heads(texts, frames, threads=threads)
        chosen, ranks = np.unique(heads, return_inverse=True)
        looked_at = [texts[position] for position in chosen.tolist()]
        pairs = _pairs(looked_at, threads=threads)
        groups = leaders_of(looked_at, pairs, threads=threads)
        ids = _ids(groups, looked_at)
        counted = _write(connection, column, pa.array(ids).take(pa.array(ranks)), target)
    return Grouped(counted, len(texts), len(pairs[0]), len(groups.members))


def _masked(connection: duckdb.DuckDBPyConnection, source: Path) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """The distinct masked texts, most frequent first, and each without its names; `messages` keeps that of each id."""
    masked = f"regexp_replace(regexp_replace(text, '{PREFIX}', ''), '{MASK}', '{SLOT}', 'g')"  # constants only
    connection.execute(
        f"CREATE TEMP TABLE messages AS SELECT id, {masked} AS text FROM read_parquet(?)",
        [str(source)],
    )
    counted = "SELECT text, count(*) AS n FROM messages GROUP BY text"
    found = connection.sql(
        f"SELECT text, regexp_replace(text, '{NAME}', '_', 'g') AS frame FROM ({counted}) ORDER BY n DESC, text"
    ).to_arrow_table()
    return found["text"], found["frame"]


def _heads(texts: Sequence[str], frames: pa.ChunkedArray, *, threads: int) -> Ints:
    """For each text the position of the one that stands for it: of those that differ by free names only the first."""
    encoded = frames.dictionary_encode().chunks  # one numbering for all chunks
    codes = np.concatenate([np.empty(0, np.int32), *(chunk.indices.to_numpy() for chunk in encoded)])
    places = np.arange(len(texts))
    first = np.empty(codes.max(initial=-1) + 1, np.int64)
    first[codes[::-1]] = places[::-1]
    names = pc.count_substring(frames, "_").to_numpy()
    later = np.flatnonzero((first[codes] < places) & (names <= FREE_NAMES))
    similar = scores(texts, (later, first[codes[later]]), cutoff=CUTOFF, workers=threads)
    later = later[similar > 0]
    places[later] = first[codes[later]]
    return places


def _pairs(texts: Sequence[str], *, threads: int) -> tuple[Ints, Ints]:
    if not texts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    parts = [texts[start : start + _HASHED_TEXTS] for start in range(0, len(texts), _HASHED_TEXTS)]
    with ThreadPoolExecutor(threads) as pool:  # numpy lets go of the interpreter while it counts
        keys = list(pool.map(_keys, parts))
    return candidates.star(np.concatenate(keys, axis=1), owners=OWNERS)


def _keys(texts: Sequence[str]) -> Keys:
    words, lengths = words_of_bytes([text.encode("utf-8", "replace") for text in texts])
    return candidates.keys_of_words(words, lengths, np.zeros(len(texts), np.uint64))


def words_of_bytes(texts: Sequence[bytes]) -> tuple[Hashes, Ints]:
    """A hash for each space-separated word and the number of words of each text, without making the words.

    A word's hash is made from its length and its first and last eight bytes, read from the joined buffer in place.
    """
    joined = b" " * 8 + b" ".join(texts) + b" " * 8
    buffer = np.frombuffer(joined, np.uint8)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    spaces = np.flatnonzero(buffer[7 : len(joined) - 7] == 32) + 7
    starts, lengths = spaces[:-1] + 1, np.diff(spaces) - 1
    eights = np.ndarray(len(joined) - 7, "<u8", joined, strides=(1,))
    kept = np.minimum(lengths, 8).astype(np.uint64) * np.uint64(8)
    mask = np.where(kept == 64, np.uint64(2**64 - 1), (np.uint64(1) << (kept % np.uint64(64))) - np.uint64(1))
    head = eights[starts] & mask
    tail = np.where(lengths > 8, eights[starts + lengths - 8], np.uint64(0))
    mixed = (head ^ (tail * np.uint64(0x9E3779B97F4A7C15)) ^ lengths.astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
    bounds = np.searchsorted(spaces, np.cumsum(sizes + 1) + 7)  # the space after each text
    counts = np.diff(np.r_[0, bounds])
    return (mixed >> np.uint64(32)).astype(np.uint32), counts


def leaders_of(texts: Sequence[str], pairs: tuple[Ints, Ints], *, threads: int) -> Groups:
    """The groups of distinct texts in order of frequency."""
    similar = _with_prefixes(texts, pairs, scores(texts, pairs, cutoff=CUTOFF, workers=threads))

    words = _Words(texts)

    def rescored(position: int, leader: int) -> float:
        return _score(texts[position], texts[leader])

    def refused(position: int, members: Sequence[int]) -> str:
        return words.conflict(position, members[0])

    return elected(len(texts), (*pairs, similar), rescored=rescored, refused=refused)


class _Words:
    """The words of texts, and what those of leaders weigh: each leader is compared many times."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._weights: dict[int, int] = {}

    def conflict(self, position: int, leader: int) -> str:
        """The words that forbid joining a leader; "" if nothing does."""
        one, other = self._texts[position], self._texts[leader]
        is_cut = one.endswith(CUT_MARK) or other.endswith(CUT_MARK)
        if is_cut:
            one, other = (text.rpartition(" ")[0] for text in _aligned(one, other))
        left, right = _differing(one, other)
        if not left and not right:
            return ""
        if is_cut:
            return conflict_of(left, right, _weight(other))
        if leader not in self._weights:
            self._weights[leader] = _weight(other)
        return conflict_of(left, right, self._weights[leader])


def _weight(text: str) -> int:
    return weight(frozenset(text.split()))


def _differing(one: str, other: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words that only one of two texts has; only what stands between their common ends is split into words."""
    start = one.rfind(" ", 0, Prefix.similarity(one, other)) + 1
    common = Postfix.similarity(one[start:], other[start:])
    end = one.find(" ", len(one) - common)  # of the first word that both ends share, if there is one
    tail = len(one) - end if end >= 0 else 0
    padded, padded_other = f" {one} ", f" {other} "
    left = frozenset(w for w in one[start : len(one) - tail].split() if f" {w} " not in padded_other)
    right = frozenset(w for w in other[start : len(other) - tail].split() if f" {w} " not in padded)
    return left, right


def _with_prefixes(texts: Sequence[str], pairs: tuple[Ints, Ints], similar: Floats) -> Floats:
    """The scores, with those of cut texts against the same length of the other."""
    is_cut = np.fromiter((text.endswith(CUT_MARK) for text in texts), bool, len(texts))
    places = np.flatnonzero((similar == 0) & (is_cut[pairs[0]] | is_cut[pairs[1]]))
    for place in places.tolist():
        similar[place] = _score(texts[pairs[0][place]], texts[pairs[1][place]])
    return similar


def _score(one: str, other: str) -> float:
    return fuzz.ratio(*_aligned(one, other), score_cutoff=CUTOFF)


def _aligned(one: str, other: str) -> tuple[str, str]:
    """Both texts without the mark of a cut, and as long as the shorter one that was cut."""
    if one.endswith(CUT_MARK):
        other = other[: len(one) - len(CUT_MARK)]
        one = one[: -len(CUT_MARK)]
    if other.endswith(CUT_MARK):
        one = one[: len(other) - len(CUT_MARK)]
        other = other[: -len(CUT_MARK)]
    return one, other


def _ids(groups: Groups, texts: Sequence[str]) -> list[str]:
    """The id of the cluster of each text."""
    ids = {leader: content_id("cluster", texts[leader].replace(SLOT, SHOWN_SLOT)) for leader in groups.members}
    return [ids[leader] for leader in groups.leader]


def _write(connection: duckdb.DuckDBPyConnection, texts: pa.ChunkedArray, ids: pa.Array, target: Path) -> int:
    """Write the cluster of each message; give back how many there were."""
    connection.register("found", pa.table({"text": texts, "cluster_id": ids}))
    found = connection.sql("SELECT id, cluster_id FROM messages JOIN found USING (text)")
    found.write_parquet(str(target), compression="zstd")
    row = connection.execute("SELECT count(*) FROM messages").fetchone()
    return int(row[0]) if row else 0
