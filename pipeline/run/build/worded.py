"""The entries of a build, and what is asked of all of them at once: an entry that nothing changed is not even read.

Their words lie on the disk, each found by its cluster: a build holds those of one entry at a time. A file of them is
one record after the other: how long it is, and the packed text. Nothing but the file itself is needed to find them
again; who keeps it knows their order.
"""

from __future__ import annotations

import hashlib
import os
import struct
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, overload

import pyarrow as pa

from pipeline import translate
from pipeline.records import disk, kept
from pipeline.records.entry import KnowledgeEntry, is_answered, is_documented
from pipeline.records.errors import StoreError
from pipeline.translate.official import CHANGED

_LENGTH = struct.Struct("<I")
_LENGTH_BITS = 32
_CODEC = "zstd"
#: Bytes of records that are read at once: one after the other they were two calls to the system each.
_AT_ONCE = 1 << 20
_ADVICE = "Check free space and rights of the folder, then run `errmine build` again."


#: Forms of an entry: as it was put into words, or without an explanation that would fit other messages as well.
WHOLE, GENERAL = "whole", "general"
_UNEXPLAINED = "signature_zh untranslated"


def packed(text: str) -> bytes:
    """`text` as a record holds it."""
    body = text.encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(body)) + bytes(pa.compress(body, codec=_CODEC, asbytes=True))


def unpacked(body: bytes) -> str:
    """The text of a record."""
    (length,) = _LENGTH.unpack_from(body)
    found = pa.decompress(body[_LENGTH.size :], decompressed_size=length, codec=_CODEC, asbytes=True)
    return str(found, "utf-8", "surrogatepass")


def _packed_place(start: int, length: int) -> int:
    return start << _LENGTH_BITS | length


class Place(NamedTuple):
    """Where a record is."""

    path: Path
    start: int
    length: int

    def read(self) -> bytes:
        """The record."""
        with self.path.open("rb") as file:
            return os.pread(file.fileno(), self.length, self.start)


class Texts(Mapping[str, bytes]):
    """Records of texts by key, in a file; of those that it lacks, the ones of `older`."""

    def __init__(self, path: Path, older: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self._path = path
        self._older = older
        self._places: dict[str, int] = {}  # where the record begins, and in the last bits its length: one number each
        self._end = 0
        self._descriptor: int | None = None
        self._has_lengths = False  # whether the length of each record stands before it

    @classmethod
    def of(cls, path: Path, keys: Sequence[str]) -> Texts:
        """Those of a file that holds the records of `keys` in this order.

        Raises:
            ValueError: it holds others.
        """
        made = cls(path)
        made._has_lengths = True
        size = path.stat().st_size
        with os.fdopen(disk.descriptor(path, os.O_RDONLY), "rb", _AT_ONCE) as file:
            for key in keys:
                (length,) = _LENGTH.unpack(file.read(_LENGTH.size).ljust(_LENGTH.size, b"\0"))
                made._places[key] = _packed_place(made._end + _LENGTH.size, length)
                made._end += _LENGTH.size + length
                file.seek(made._end)
        if made._end != size:
            raise ValueError(f"{path} does not hold {len(keys)} texts")
        return made

    def add(self, key: str, body: bytes) -> None:
        """Nothing; there is the record `body` of `key`, in the place of any that there was.

        Raises:
            StoreError: the disk refuses.
        """
        try:
            if self._descriptor is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._open(os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            assert self._descriptor is not None
            left = memoryview(body)
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}", path=self._path, hint=_ADVICE) from error
        self._places[key] = _packed_place(self._end, len(body))
        self._end += len(body)

    def _open(self, flags: int) -> None:
        """Nothing; the file is open, as long as somebody asks for its texts."""
        self._descriptor = os.open(self._path, flags, 0o666)
        weakref.finalize(self, os.close, self._descriptor)

    def __getitem__(self, key: str) -> bytes:
        return self._bytes(*self._place(key)) if key in self._places else self._older[key]

    def _bytes(self, start: int, length: int) -> bytes:
        if self._descriptor is None:
            self._open(os.O_RDONLY)
        assert self._descriptor is not None
        return os.pread(self._descriptor, length, start)

    def _place(self, key: str) -> tuple[int, int]:
        return self._places[key] >> _LENGTH_BITS, self._places[key] & (1 << _LENGTH_BITS) - 1

    def records(self, keys: Iterable[str]) -> Iterator[bytes]:
        """The records of `keys` as a file holds them; those that stand one behind the other in `older` at once."""
        older = self._older if isinstance(self._older, Texts) and self._older._has_lengths else None
        begun = end = 0
        for key in keys:
            start, stop = older._span(key) if older is not None and key not in self._places else (0, 0)
            if begun < end == start and stop - begun <= _AT_ONCE:
                end = stop
                continue
            if older is not None and begun < end:
                yield older._bytes(begun, end - begun)
            begun, end = start, stop
            if start == stop:
                body = self[key]
                yield _LENGTH.pack(len(body)) + body
        if older is not None and begun < end:
            yield older._bytes(begun, end - begun)

    def _span(self, key: str) -> tuple[int, int]:
        """From where to where the record of `key` stands in the file, with its length before it."""
        start, length = self._place(key)
        return start - _LENGTH.size, start + length

    def place(self, key: str) -> Place | None:
        """Where the record of `key` is, for other processes; None if it is not in the file."""
        return Place(self._path, *self._place(key)) if key in self._places else None

    def __iter__(self) -> Iterator[str]:
        yield from {**dict.fromkeys(self._older), **self._places}

    def __len__(self) -> int:
        return sum(1 for _ in self)


def write(path: Path, keys: Sequence[str], texts: Mapping[str, bytes]) -> dict[str, object]:
    """What a list says of the file at `path`, which holds the records of `keys` then; after a kill, what it held.

    Raises:
        OSError: the disk refuses.
    """
    digest, length = hashlib.sha256(), 0
    with kept.replaced(path) as file:
        for piece in (texts if isinstance(texts, Texts) else Texts(path, texts)).records(keys):
            digest.update(piece)
            length += file.write(piece)
    return {"bytes": length, "path": path.name, "sha256": digest.hexdigest()}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is asked of all entries of a build."""

    domain: str = ""
    tier: str = ""
    is_answered: bool = False
    is_documented: bool = False
    statuses: tuple[str, ...] = ()  # of each `*_zh` value: its field and how it came to be
    changed: tuple[str, ...] = ()  # fields whose sentence an official page says otherwise now, with that sentence
    shape: tuple[str, ...] = ()  # see `translate.shape_of`

    @classmethod
    def of(cls, entry: KnowledgeEntry) -> Facts:
        """Those of an entry."""
        told = entry.translations.items()
        return cls(
            domain=entry.domain,
            tier=entry.verification_tier,
            is_answered=is_answered(entry),
            is_documented=is_documented(entry),
            statuses=tuple(f"{field.partition('[')[0]} {made.status}" for field, made in told),
            changed=tuple(
                f"{field} {made.reason.removeprefix(f'{CHANGED}: ')}"
                for field, made in told
                if made.reason and made.reason.startswith(f"{CHANGED}: ")
            ),
            shape=translate.shape_of(entry),
        )

    def of_form(self, form: str) -> Facts:
        """Those of the same entry in one of its forms."""
        if form == WHOLE:
            return self
        statuses = (_UNEXPLAINED if one.startswith("signature_zh ") else one for one in self.statuses)
        return replace(self, statuses=tuple(statuses))


#: Of no entry.
NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class One:
    """An entry that may be published."""

    entry_id: str
    facts: Facts
    digest: str
    read: Callable[[], KnowledgeEntry]

    @classmethod
    def of(cls, entry: KnowledgeEntry, told: str) -> One:
        """An entry that is there, with its digest."""
        return cls(entry.id, Facts.of(entry), told, lambda: entry)


class Worded(Sequence[KnowledgeEntry]):
    """Entries in the order of their ids, each read when somebody asks for it."""

    def __init__(self, found: Iterable[One]) -> None:
        self._found = sorted(found, key=lambda one: one.entry_id)

    @property
    def facts(self) -> list[Facts]:
        """Of each entry."""
        return [one.facts for one in self._found]

    @property
    def digests(self) -> dict[str, str]:
        """Of each entry by its id: equal digests, equal entries."""
        return {one.entry_id: one.digest for one in self._found}

    def named(self) -> Iterable[tuple[str, Facts]]:
        """The id of each entry, with its facts."""
        return ((one.entry_id, one.facts) for one in self._found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> KnowledgeEntry: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[KnowledgeEntry]: ...
    def __getitem__(self, place: int | slice) -> KnowledgeEntry | Sequence[KnowledgeEntry]:
        if isinstance(place, slice):
            return [one.read() for one in self._found[place]]
        return self._found[place].read()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Worded) and self.digests == other.digests and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class FieldCoverage:
    """One `*_zh` field over a list of entries: how many values have which status."""

    field: str
    total: int
    by_status: tuple[tuple[str, int], ...]  # most frequent first

    def share(self, status: str) -> float:
        """The share of that status, 0 where the field has no values."""
        return dict(self.by_status).get(status, 0) / self.total if self.total else 0.0


def coverage(facts: Iterable[Facts]) -> list[FieldCoverage]:
    """One row for each `*_zh` field, sorted by name; a list field counts each of its items."""
    counts: dict[str, Counter[str]] = {}
    for one in facts:
        for told in one.statuses:
            field, _, status = told.partition(" ")
            counts.setdefault(field, Counter())[status] += 1
    return [_row(field, counts[field]) for field in sorted(counts)]


def _row(field: str, statuses: Counter[str]) -> FieldCoverage:
    ordered = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return FieldCoverage(field, statuses.total(), tuple(ordered))


def changed_sources(entries: Worded) -> list[dict[str, str]]:
    """The sentences of official pages that were translated and now say something else: entry_id, field, sentence."""
    return [
        {"entry_id": entry_id, "field": field, "sentence": sentence}
        for entry_id, facts in entries.named()
        for field, _, sentence in (told.partition(" ") for told in facts.changed)
    ]
