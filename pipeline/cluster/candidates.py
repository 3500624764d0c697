"""Which templates may be one error: near each other, one within the other, one without its type."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.cluster.shapes import SLOT_CHARACTER, TOKEN, Shape, tokens
from pipeline.cluster.words import without_system
from pipeline.text.frames import parted

Gate = tuple[tuple[str, str], ...]

# Words that are known with one exception type only: who quotes them without the type means that error.
#
# "list index out of range" says too little without its type, so `IndexError: ...` keeps it as a gate. A report that
# leaves the type out has no such gate; it joins if all others who print these words print them with one type.

#: Telling words of a text that may join: "required" and "parse error" are anybody's.
LEAST_WORDS = 2
_TELLING = re.compile(r"\b(?!(?:errors?|exception|panic|runtime|fatal|warning|the|and)\b)[a-z][a-z']{2,}")


def _own_words(text: str) -> int:
    """How many telling words of a folded text are no system's."""
    return len(_TELLING.findall(without_system(text)))


def bare(gate: Gate, shape: Shape) -> Shape:
    """The shape of a text's words alone, without the exception type that stands before few of them."""
    kind = dict(gate).get("exception")
    text = shape.text.removeprefix(f"{kind.lower()}: ") if kind is not None else shape.text
    if text == shape.text:
        return shape
    return Shape(text, tokens(text))


def typed(gate: Gate, shape: Shape) -> tuple[Gate, str] | None:
    """How who leaves the exception type out prints a text: the gate and the words; None for a text without a type."""
    if "exception" not in dict(gate):
        return None
    return tuple(pair for pair in gate if pair[0] != "exception"), bare(gate, shape).text


class Untyped:
    """Texts of exception types by their words alone."""

    def __init__(self) -> None:
        self._owners: dict[tuple[Gate, str], set[int]] = {}

    def add(self, gate: Gate, owner: int, shape: Shape) -> None:
        """Make a text findable for those who leave its exception type out."""
        if (words := typed(gate, shape)) is not None:
            self._owners.setdefault(words, set()).add(owner)

    def only(self, gate: Gate, shape: Shape) -> int | None:
        """The only owner of these words, None if nobody has them with a type, or several do."""
        owners = self.owners(gate, shape)
        return owners[0] if len(owners) == 1 else None

    def owners(self, gate: Gate, shape: Shape) -> tuple[int, ...]:
        """All that have these words with a type, in order; nobody where the words say too little."""
        owners = self._owners.get((gate, shape.text), set())
        return tuple(sorted(owners)) if owners and _own_words(shape.text) >= LEAST_WORDS else ()


# Words of a run time whose place is known in one report of a project and not in another.
#
# What a run time says of a program's own values is an error of its own in each place. A report that shows no stack has
# the project alone for its place; where all others of that project who show one arise in one function, it is theirs.

PLACE = "place"
#: How macOS, Windows and Go name the signals that they raise.
_SIGNALS = ("EXC_", "EXCEPTION_", "SIG")


def placed(gate: Gate, text: str) -> tuple[Gate, str, str] | None:
    """How a text with a function for its place is asked for by who has its owner alone; None for any other text.

    The level of a script is no function: whose script it is says nothing of the project's.
    """
    owner, function = parted(dict(gate).get(PLACE, ""))
    return (placeless(gate), owner, text) if owner and function and not function.endswith(":<module>") else None


def unplaced(gate: Gate, text: str) -> tuple[Gate, str, str] | None:
    """What a text looks for whose place is a project or a package; None for any other text.

    What the system says of a file or a connection is of another one in each report, and a signal is met anywhere:
    nothing but the place tells it.
    """
    known = dict(gate)
    owner, function = parted(known.get(PLACE, ""))
    is_signal = "signal" in known or known.get("exception", "").startswith(_SIGNALS)
    is_asked = owner and not function and ("symbol" in known or not (is_signal or "errno" in known))
    return (placeless(gate), owner, text) if is_asked else None


def placeless(gate: Gate) -> Gate:
    """The gate but for the place."""
    return tuple(pair for pair in gate if pair[0] != PLACE)


class Placed:
    """Texts whose place is a function, by their words and whose it is."""

    def __init__(self) -> None:
        self._owners: dict[tuple[Gate, str, str], set[int]] = {}

    def add(self, gate: Gate, position: int, text: str) -> None:
        """Make a text findable for those who show no stack; `text` is "" where the gate alone is the error."""
        if (words := placed(gate, text)) is not None:
            self._owners.setdefault(words, set()).add(position)

    def owners(self, gate: Gate, text: str) -> tuple[int, ...]:
        """All that have these words in a function of the same owner, in order."""
        words = unplaced(gate, text)
        return tuple(sorted(self._owners.get(words, ()))) if words is not None else ()


# Texts that quote another error whole, behind the words of whoever passes it on: they are that error.
#
# "worker 3 failed: cannot reshape array of size <n> into shape <shape>" is no error of its own where "cannot reshape
# array of size <n> into shape <shape>" is one. The shorter text must occur word for word; the ratio decides nothing.

#: Gates that come from the words of a text: the longer text has more words, so they may differ.
WORD_GATES = frozenset({"polarity", "exception"})
#: Telling words that a quoted text needs where punctuation sets it off, and where nothing does. Read on the corpus:
#: with three, "no such file or directory" swallows every error that ends so; a phrase of four or five stands in prose.
SET_OFF_WORDS, INSIDE_WORDS = 4, 6
#: Telling words of it that are no system's. Read on 160 pairs: with two, "cannot open <path>: no such file or
#: directory" joins whatever program ends so.
OWN_WORDS = 3
#: Words by which quoted texts are found.
KEY_TOKENS = 3
#: Texts of one key that are tried on one place.
TRIED_TEXTS = 64

_SET_OFF_BEFORE = re.compile(r"(?:\A|[:\])>»|]\s|[-–—=]>?\s|[\"'`(“])[\"'`(]{0,2}\Z")
_SET_OFF_AFTER = re.compile(r"[\"'`)\].,;!”]{0,3}(?:\Z|[,.;!)”\"'`]|\s-)")
#: Behind a message that somebody tells of: when and where it came.
_TOLD = re.compile(r"[\"'`)]{0,2}\s(?:when|while|in|with|during|after|at|using|error|issue)\b")
#: Behind a text that only announces another, or whose reason differs: what follows is the error.
_ANNOUNCES = re.compile(
    rf"[\"'`)]{{0,2}}\s?(?::(?!\s?[\"'`(]{{0,2}}{SLOT_CHARACTER})"
    r"|,?\s?(?:because|since|due to|caused by|as|unless)\b)"
)
#: A longer text that begins with a shorter one and goes on to a message behind a colon: the shorter one is a headline.
_GOES_ON = re.compile(r"[:=]\s(?P<message>.*)", re.DOTALL)
#: Telling words of that message.
MESSAGE_WORDS = 4
#: What follows are values with their names: `: requested <n>, available: <n>`.
_VALUES = re.compile(
    rf"\s?[:,;(\[]\s?(?:(?:[a-z_]{{1,30}}[\s:=]{{1,3}}){{0,3}}{SLOT_CHARACTER}[\s,;:)(\]./=]{{0,6}}){{1,20}}"
    r"(?:[a-z_]{1,30}[\s:=)]{0,3})?"
)


_MARKS = " \"'`([<"


class Quoted(NamedTuple):
    """A text that others may quote: the position that owns it and its words."""

    position: int
    tokens: tuple[str, ...]
    words: int


def hard(gate: Gate) -> Gate:
    """The gates of a template that a text must share with what it quotes."""
    return tuple(pair for pair in gate if pair[0] not in WORD_GATES)


class Quotations:
    """Full texts by hard gate and first words: where a longer text finds what it quotes."""

    def __init__(self) -> None:
        self._texts: dict[tuple[Gate, tuple[str, ...]], list[Quoted]] = {}

    def add(self, gate: Gate, position: int, shape: Shape) -> None:
        """Make a text findable; texts of higher rank must come first."""
        if words := quotable(shape):
            row = Quoted(position, shape.tokens, words)
            self._texts.setdefault((hard(gate), shape.tokens[:KEY_TOKENS]), []).append(row)

    def longest(self, gate: Gate, shape: Shape, *, but: Iterable[int] = ()) -> int | None:
        """The position of the longest text that `shape` quotes, the first in rank of those; None if there is none."""
        return longest(shape, self.held(gate, shape), but=but)

    def held(self, gate: Gate, shape: Shape) -> list[tuple[int, Quoted]]:
        """The texts whose words stand in `shape` in a row, quoted or not, and the place where each begins."""
        tokens, own = shape.tokens, hard(gate)
        return [
            (place, row)
            for place in range(len(tokens) - KEY_TOKENS + 1)
            for row in self._texts.get((own, tokens[place : place + KEY_TOKENS]), ())[:TRIED_TEXTS]
            if len(row.tokens) < len(tokens) and tokens[place : place + len(row.tokens)] == row.tokens
        ]


def longest(shape: Shape, held: Iterable[tuple[int, Quoted]], *, but: Iterable[int] = ()) -> int | None:
    """The position of the longest text of `held` that `shape` quotes, the first of those; None if there is none."""
    refused = frozenset(but)
    best: Quoted | None = None
    spans: list[tuple[int, int]] = []
    for place, row in held:
        spans = spans or [found.span() for found in TOKEN.finditer(shape.text)]
        span = spans[place][0], spans[place + len(row.tokens) - 1][1]
        is_longer = best is None or len(row.tokens) > len(best.tokens)
        if is_longer and row.position not in refused and _is_quoted(shape.text, span, row.words):
            best = row
    return best.position if best is not None else None


def quotable(shape: Shape) -> int:
    """How many telling words a text has that others may quote; 0 for one that says too little."""
    words = len(_TELLING.findall(shape.text))
    is_enough = words >= SET_OFF_WORDS and len(shape.tokens) >= KEY_TOKENS and _own_words(shape.text) >= OWN_WORDS
    return words if is_enough else 0


def _is_quoted(text: str, span: tuple[int, int], words: int) -> bool:
    """Whether the words at `span` are passed on as a message, not the beginning of one or a phrase by chance."""
    before, after = text[: span[0]].replace(SLOT_CHARACTER, "'"), text[span[1] :]
    has_values = _VALUES.fullmatch(after) is not None
    if not has_values and (_ANNOUNCES.match(after) or (not before.strip(_MARKS) and _has_message(after))):
        return False
    if words >= INSIDE_WORDS:
        return True
    is_closed = has_values or _SET_OFF_AFTER.match(after) or _TOLD.match(after)
    return bool(is_closed and _SET_OFF_BEFORE.search(before))


def _has_message(rest: str) -> bool:
    found = _GOES_ON.search(rest)
    return found is not None and len(_TELLING.findall(found["message"])) >= MESSAGE_WORDS


# Which pairs of texts are worth a comparison: a star of MinHash bands, so that cost grows with texts, not pairs.
#
# Texts come in order of rank, most frequent first. Every band key belongs to the first few texts that have it, its
# owners; a later text is paired with owners only. At 1e6 messages a clique of all texts with one key was measured to
# be a hundred times as many pairs, for one more point of recall.

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

NO_BLOCKS: Keys = np.empty(0, np.uint64)
_STATE = np.random.Generator(np.random.PCG64(20250808))
_MULTIPLIERS: Hashes = (_STATE.integers(0, 2**31, BANDS * ROWS, dtype=np.int64) * 2 + 1).astype(np.uint32)
_ADDENDS: Hashes = _STATE.integers(0, 2**32, BANDS * ROWS, dtype=np.int64).astype(np.uint32)
_FIRST, _SECOND, _SINGLE = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77), np.uint32(0xC2B2AE3D)


def gate_label(gate: Gate) -> int:
    """64 bits that stand for a gate in every band key of its texts, whatever other gates there are."""
    words = "\x1e".join(f"{key}\x1f{value}" for key, value in gate)
    return int.from_bytes(hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).digest(), "big")


def pairs(
    tokens: Sequence[Sequence[str]],
    blocks: Keys,
    *,
    owners: int = OWNERS,
    direct: int = DIRECT_TEXTS,
    large: Keys = NO_BLOCKS,
) -> tuple[Ints, Ints]:
    """Pairs (later, earlier) of positions worth comparing, sorted; never across blocks, of which each is one run.

    A block of more than `direct` texts is not compared pair by pair, nor is one that is `large` by what is not here.
    """
    starts = np.flatnonzero(np.r_[True, blocks[1:] != blocks[:-1]]) if len(blocks) else np.empty(0, np.int64)
    sizes = np.diff(np.r_[starts, len(blocks)])
    is_large = (sizes > direct) | np.isin(blocks[starts], large)
    small = [
        _every_pair(start, size)
        for start, size in zip(starts[~is_large].tolist(), sizes[~is_large].tolist(), strict=True)
        if size > 1
    ]
    rest = np.repeat(is_large, sizes).nonzero()[0]
    codes = list(small)
    if len(rest):
        keys = band_keys([tokens[position] for position in rest.tolist()], blocks[rest])
        later, earlier = star(keys, owners=owners)
        codes.append(_coded(rest[later], rest[earlier]))
    found = np.unique(np.concatenate(codes)) if codes else np.empty(0, np.int64)
    return found >> 32, found & 0xFFFFFFFF


def _coded(later: Ints, earlier: Ints) -> Ints:
    return (later << 32) | earlier


def _every_pair(start: int, size: int) -> Ints:
    later, earlier = np.tril_indices(size, -1)
    return _coded(later.astype(np.int64) + start, earlier.astype(np.int64) + start)


def band_keys(tokens: Sequence[Sequence[str]], blocks: Keys) -> Keys:
    """The band keys of each text, one row a band; texts of different blocks never share one."""
    rows = [
        _keys_of(tokens[start : start + _HASHED_TEXTS], blocks[start : start + _HASHED_TEXTS])
        for start in range(0, len(tokens), _HASHED_TEXTS)
    ]
    return np.concatenate(rows, axis=1) if rows else np.empty((BANDS, 0), np.uint64)


def _keys_of(tokens: Sequence[Sequence[str]], blocks: Keys) -> Keys:
    lengths = np.fromiter((max(1, len(words)) for words in tokens), np.int64, len(tokens))
    words = word_hashes(list(chain.from_iterable(words or ("",) for words in tokens)))
    return keys_of_words(words, lengths, blocks)


def word_hashes(words: Sequence[str]) -> Hashes:
    """A 32-bit hash for every word: the same on every machine, any day."""
    return np.fromiter(map(_WordHashes().__getitem__, words), np.uint32, len(words))


class _WordHashes(dict[str, int]):
    """The hash of each word that is asked for, made once."""

    def __missing__(self, word: str) -> int:
        found = self[word] = zlib.crc32(word.encode("utf-8", "replace"))
        return found


def keys_of_words(words: Hashes, lengths: Ints, blocks: Keys) -> Keys:
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
        keys[band] = _band_key(minima, np.uint64(band), blocks)
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
    times as fast. Where the bits that are left confuse two keys, an index is sorted after all: whose owner a text is
    must not depend on how many others there are.
    """
    order = _by_key(keys)
    ranked = keys[order]
    places = np.arange(len(order))
    is_start = np.r_[True, ranked[1:] != ranked[:-1]]
    behind = np.flatnonzero(~is_start)
    first = np.maximum.accumulate(np.where(is_start, places, 0))[behind]
    found = []
    for offset in range(owners):
        is_owned = behind > first + offset
        found.append(_coded(order[behind[is_owned]], order[first[is_owned] + offset]))
    return np.concatenate(found)


def _by_key(keys: Keys) -> Ints:
    """The positions with those of one key together, in order."""
    bits = np.uint64(max(1, len(keys) - 1).bit_length())
    mixed = keys * np.uint64(0x9E3779B97F4A7C15)  # the last row of a band is in the last bits only
    ranked = ((mixed >> bits) << bits) | np.arange(len(keys), dtype=np.uint64)
    ranked.sort()
    order = (ranked & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    ranked >>= bits
    found = keys[order]
    is_confused = (ranked[1:] == ranked[:-1]) & (found[1:] != found[:-1])
    return np.argsort(keys, kind="stable") if is_confused.any() else order
