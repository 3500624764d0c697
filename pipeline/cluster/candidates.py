"""Which pairs of texts are worth a comparison: a star of MinHash bands, so that cost grows with texts, not pairs.

Texts come in order of rank, most frequent first. Every band key belongs to the first few texts that have it, its
owners; a later text is paired with owners only. At 1e6 messages a clique of all texts with one key was measured to be a
hundred times as many pairs, for one more point of recall.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

#: Bands of rows. Two texts that share 0.6 of their word pairs meet with p = 0.91, those that share 0.2 with p = 0.08.
BANDS, ROWS = 10, 3
#: Owners a band key has where words may forbid a pair (then the second owner is the one to join).
OWNERS = 4
#: Blocks (gates) of at most this many texts are compared pair by pair: 64 * 63 / 2 ratios cost 3 ms.
DIRECT_TEXTS = 64
#: Texts hashed at a time: bounds the memory of the hash matrix.
_HASHED_TEXTS = 16_384

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint32]
Keys = NDArray[np.uint64]

_STATE = np.random.Generator(np.random.PCG64(20250808))
_MULTIPLIERS: Hashes = (_STATE.integers(0, 2**31, BANDS * ROWS, dtype=np.int64) * 2 + 1).astype(np.uint32)
_ADDENDS: Hashes = _STATE.integers(0, 2**32, BANDS * ROWS, dtype=np.int64).astype(np.uint32)
_FIRST, _SECOND, _SINGLE = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77), np.uint32(0xC2B2AE3D)


def pairs(
    tokens: Sequence[Sequence[str]], blocks: Ints, *, owners: int = OWNERS, direct: int = DIRECT_TEXTS
) -> tuple[Ints, Ints]:
    """Pairs (later, earlier) of positions worth comparing, sorted; never across blocks. `blocks` must be sorted."""
    starts = np.flatnonzero(np.r_[True, blocks[1:] != blocks[:-1]]) if len(blocks) else np.empty(0, np.int64)
    sizes = np.diff(np.r_[starts, len(blocks)])
    small = [
        _every_pair(start, size)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        if 1 < size <= direct
    ]
    large = np.repeat(sizes > direct, sizes).nonzero()[0]
    codes = list(small)
    if len(large):
        keys = band_keys([tokens[position] for position in large.tolist()], blocks[large])
        later, earlier = star(keys, owners=owners)
        codes.append(_coded(large[later], large[earlier]))
    found = np.unique(np.concatenate(codes)) if codes else np.empty(0, np.int64)
    return found >> 32, found & 0xFFFFFFFF


def _coded(later: Ints, earlier: Ints) -> Ints:
    return (later << 32) | earlier


def _every_pair(start: int, size: int) -> Ints:
    later, earlier = np.tril_indices(size, -1)
    return _coded(later.astype(np.int64) + start, earlier.astype(np.int64) + start)


def band_keys(tokens: Sequence[Sequence[str]], blocks: Ints) -> Keys:
    """The band keys of each text, one row a band; texts of different blocks never share one."""
    rows = [
        _keys_of(tokens[start : start + _HASHED_TEXTS], blocks[start : start + _HASHED_TEXTS])
        for start in range(0, len(tokens), _HASHED_TEXTS)
    ]
    return np.concatenate(rows, axis=1) if rows else np.empty((BANDS, 0), np.uint64)


def _keys_of(tokens: Sequence[Sequence[str]], blocks: Ints) -> Keys:
    lengths = np.fromiter((max(1, len(words)) for words in tokens), np.int64, len(tokens))
    words = word_hashes(list(chain.from_iterable(words or ("",) for words in tokens)))
    return keys_of_words(words, lengths, blocks)


def word_hashes(words: Sequence[str]) -> Hashes:
    """A 32-bit hash for every word: the same on every machine, any day."""
    numbers: dict[str, int] = {}
    codes = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), np.int64, len(words))
    table = np.fromiter((zlib.crc32(word.encode("utf-8", "replace")) for word in numbers), np.uint32, len(numbers))
    return table[codes]


def keys_of_words(words: Hashes, lengths: Ints, blocks: Ints) -> Keys:
    """The band keys of texts whose word hashes lie one after the other, `lengths` words (at least 1) each."""
    starts = np.r_[0, np.cumsum(lengths)[:-1]]
    shingles = _shingles(words, starts, lengths)
    keys = np.empty((BANDS, len(lengths)), np.uint64)
    for band in range(BANDS):
        rows = slice(band * ROWS, band * ROWS + ROWS)
        minima = [
            np.minimum.reduceat(shingles * multiplier + addend, starts)
            for multiplier, addend in zip(_MULTIPLIERS[rows], _ADDENDS[rows], strict=True)
        ]
        keys[band] = _band_key(minima, np.uint64(band), blocks.astype(np.uint64))
    return keys


def keys_of_one(tokens: Sequence[str], block: int) -> Keys:
    """The band keys of a single text: what `band_keys` gives for it, at a tenth of the cost."""
    words = np.array([zlib.crc32(word.encode("utf-8", "replace")) for word in tokens or ("",)], np.uint32)
    shingles = _shingles(words, np.zeros(1, np.int64), np.array([len(words)]))
    minima = (shingles * _MULTIPLIERS[:, None] + _ADDENDS[:, None]).min(axis=1).reshape(BANDS, ROWS)
    return _band_key(list(minima.T), np.arange(BANDS, dtype=np.uint64), np.full(BANDS, block, np.uint64))


def _shingles(words: Hashes, starts: Ints, lengths: Ints) -> Hashes:
    """A hash for each word and its successor; a lone word stands for itself."""
    shingles = words * _FIRST
    shingles[:-1] += words[1:] * _SECOND
    ends = starts + lengths - 1  # the last word has no successor: its pair would reach into the next text
    single = lengths == 1
    shingles[ends[single]] = words[ends[single]] * _SINGLE
    shingles[ends[~single]] = shingles[ends[~single] - 1]
    shingles ^= shingles >> np.uint32(15)
    return shingles


def _band_key(minima: Sequence[Hashes], band: Keys | np.uint64, blocks: Keys) -> Keys:
    key = blocks * np.uint64(0x9E3779B97F4A7C15) + band
    for least in minima:
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + least
    return key


def star(keys: Keys, *, owners: int) -> tuple[Ints, Ints]:
    """Pairs (later, owner) of positions that share a band key, each pair once, sorted."""
    codes = [_star_of(band, owners) for band in keys]
    found = _distinct(np.concatenate(codes)) if codes else np.empty(0, np.int64)
    return found >> 32, found & 0xFFFFFFFF


def _distinct(codes: Ints) -> Ints:
    codes.sort()  # three times as fast as np.unique, which hashes first
    return codes[np.r_[True, codes[1:] != codes[:-1]]] if len(codes) else codes


def _star_of(keys: Keys, owners: int) -> Ints:
    """Each position behind another of its key, with the first `owners` of those.

    A position takes the place of its key's last bits, so that plain numbers are sorted, not an index of them: eight
    times as fast. With 2^20 texts 44 bits tell keys apart; what they confuse is one more pair to compare.
    """
    bits = np.uint64(max(1, len(keys) - 1).bit_length())
    mixed = keys * np.uint64(0x9E3779B97F4A7C15)  # the last row of a band is in the last bits only
    ranked = ((mixed >> bits) << bits) | np.arange(len(keys), dtype=np.uint64)
    ranked.sort()
    order = (ranked & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    ranked >>= bits
    places = np.arange(len(order))
    is_start = np.r_[True, ranked[1:] != ranked[:-1]]
    behind = np.flatnonzero(~is_start)
    first = np.maximum.accumulate(np.where(is_start, places, 0))[behind]
    found = []
    for offset in range(owners):
        is_owned = behind > first + offset
        found.append(_coded(order[behind[is_owned]], order[first[is_owned] + offset]))
    return np.concatenate(found)
