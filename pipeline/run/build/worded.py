"""The entries of a build, and what is asked of all of them at once: an entry that nothing changed is not even read.

Their words lie on the disk, each found by its cluster: a build holds those of one entry at a time.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import weakref
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline import translate, validate
from pipeline.records import kept
from pipeline.records.entry import KnowledgeEntry, is_answered, is_documented
from pipeline.records.errors import StoreError
from pipeline.run.build import keyed
from pipeline.run.shards.columns import Table
from pipeline.translate.official import CHANGED

_LENGTH = struct.Struct("<I")
_LENGTH_BITS = 32
_CODEC = "zstd"
#: The folder of files of records.
FOLDER = "texts"
_ADVICE = "Check free space and rights of the folder, then run `errmine build` again."


#: Forms of an entry: as it was put into words, or without an explanation that would fit other messages as well.
WHOLE, GENERAL = "whole", "general"
_UNEXPLAINED = "signature_zh untranslated"
#: No status holds it.
_BETWEEN = "\x1e"


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
        self.older = older
        self._places: dict[str, int] = {}  # where the record begins, and in the last bits its length: one number each
        self._end = 0
        self._descriptor: int | None = None

    def add(self, key: str, body: bytes) -> None:
        """Nothing; there is the record `body` of `key`, in the place of any that there was.

        Raises:
            StoreError: the disk refuses.
        """
        try:
            if self._descriptor is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
                weakref.finalize(self, os.close, self._descriptor)  # as long as somebody asks for its texts
            left = memoryview(body)
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}", path=self._path, hint=_ADVICE) from error
        self._places[key] = _packed_place(self._end, len(body))
        self._end += len(body)

    def __getitem__(self, key: str) -> bytes:
        if key not in self._places:
            return self.older[key]
        assert self._descriptor is not None
        start, length = self._place(key)
        return os.pread(self._descriptor, length, start)

    def _place(self, key: str) -> tuple[int, int]:
        return self._places[key] >> _LENGTH_BITS, self._places[key] & (1 << _LENGTH_BITS) - 1

    def place(self, key: str) -> Place | None:
        """Where the record of `key` is, for other processes; None if it is not in the file."""
        return Place(self._path, *self._place(key)) if key in self._places else None

    def own(self) -> set[str]:
        """The keys of those that are in the file."""
        return set(self._places)

    def __iter__(self) -> Iterator[str]:
        yield from {**dict.fromkeys(self.older), **self._places}

    def __len__(self) -> int:
        return sum(1 for _ in self)


#: Where the record of each key is, sorted by the keys: the number of its file among all, from where on, how long.
PLACES = pa.schema([("key", pa.string()), ("file", pa.int64()), ("start", pa.int64()), ("length", pa.int64())])


class Stored(Mapping[str, bytes]):
    """Records of texts that a build left: those that it made, in files of their own.

    A file never changes. Files are joined, and lose what nobody asks for any more, so that each has more than twice the
    bytes of the next one: to leave what was made of a few texts takes no copy of all.
    """

    def __init__(self, folder: Path, files: Sequence[str], places: pa.Table) -> None:
        self.folder = folder
        self.files = tuple(files)
        self.places = places.combine_chunks()
        self._open: dict[int, memoryview] = {}

    def __getitem__(self, key: str) -> bytes:
        keys = self.places["key"]
        place = bisect_left(range(len(keys)), key, key=lambda at: keys[at].as_py())
        if place == len(keys) or keys[place].as_py() != key:
            raise KeyError(key)
        file, start, length = (self.places[name][place].as_py() for name in ("file", "start", "length"))
        return bytes(self.bytes_of(file)[start : start + length])

    def bytes_of(self, file: int) -> memoryview:
        """All of a file, which is read where it lies."""
        if file not in self._open:
            with (self.folder / self.files[file]).open("rb") as opened:
                self._open[file] = memoryview(mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ))
        return self._open[file]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places["key"].to_pylist())

    def __len__(self) -> int:
        return len(self.places)


#: Told in a list of each file.
Listed = dict[str, Any]


def write(
    folder: Path, keys: Sequence[str], texts: Mapping[str, bytes], *, known: Mapping[str, Listed], is_purged: bool
) -> tuple[pa.Table, list[Listed]]:
    """The places of the records of `keys`, and what a list says of the files in `folder` that hold them then.

    `known` is what it said of files by name; with `is_purged` none of them stays that holds anything else. After a kill
    all of these files are what they were.

    Raises:
        OSError: the disk refuses.
    """
    older = texts.older if isinstance(texts, Texts) else texts
    own = texts.own() if isinstance(texts, Texts) else set[str]()
    stored = older if isinstance(older, Stored) else Stored(folder, (), PLACES.empty_table())
    asked = pa.array(sorted(keys), pa.string())
    there = stored.places.filter(pc.is_in(stored.places["key"], value_set=asked))
    there = there.filter(pc.invert(pc.is_in(there["key"], value_set=pa.array(sorted(own), pa.string()))))
    new = asked.filter(pc.invert(pc.is_in(asked, value_set=there["key"].combine_chunks()))).to_pylist()
    joined = _joined(stored, there, sum(len(texts[key]) for key in new), known, is_purged=is_purged)
    parts: list[pa.Table] = []
    listed: list[Listed] = []
    number = max((int(Path(name).stem) for name in stored.files), default=0)
    for files, has_new in joined:
        rows = there.filter(pc.is_in(there["file"], value_set=pa.array(files, pa.int64())))
        if len(files) == 1 and not has_new and not _is_due(stored, files[0], rows, known, is_purged=is_purged):
            told = known[stored.files[files[0]]]
        else:
            number += 1
            name = f"{FOLDER}/{number}.zst"
            rows, told = _written(
                folder,
                name,
                stored,
                rows.sort_by([("file", "ascending"), ("start", "ascending")]),
                [(key, texts[key]) for key in new] if has_new else [],
            )
        parts.append(rows.set_column(1, PLACES.field("file"), pa.repeat(pa.scalar(len(listed), pa.int64()), len(rows))))
        listed.append(told)
    places = pa.concat_tables([PLACES.empty_table(), *parts]).sort_by("key").combine_chunks()
    return places, listed


def _size(known: Mapping[str, Listed], name: str) -> int:
    return int(known[name]["bytes"])


def _is_due(stored: Stored, file: int, rows: pa.Table, known: Mapping[str, Listed], *, is_purged: bool) -> bool:
    """Whether a file has so much that nobody asks for that what is left of it goes into another one."""
    alive, size = pc.sum(rows["length"]).as_py() or 0, _size(known, stored.files[file])
    return alive < size if is_purged else 2 * alive < size


def _joined(
    stored: Stored, there: pa.Table, new: int, known: Mapping[str, Listed], *, is_purged: bool
) -> list[tuple[list[int], bool]]:
    """Which files become one, oldest first, and whether what is new goes into it."""
    sizes = np.bincount(
        there["file"].to_numpy(), weights=there["length"].to_numpy(), minlength=len(stored.files)
    ).astype(np.int64)
    found = [([file], False, int(size)) for file, size in enumerate(sizes.tolist()) if size]
    found += [([], True, new)] if new else []
    while len(found) > 1 and keyed.is_due(found[-2][2], found[-1][2]):
        (one, _, size), (other, has_new, more) = found[-2:]
        found[-2:] = [([*one, *other], has_new, size + more)]
    return [(files, has_new) for files, has_new, _ in found]


def _written(
    folder: Path, name: str, stored: Stored, rows: pa.Table, new: Sequence[tuple[str, bytes]]
) -> tuple[pa.Table, Listed]:
    """The places of records in a file that has them then, and what a list says of it."""
    digest, length = hashlib.sha256(), 0
    starts, lengths = [], []
    cells = zip(*(rows[one].to_pylist() for one in ("file", "start", "length")), strict=True)
    old: Iterator[bytes | memoryview] = (stored.bytes_of(file)[start : start + size] for file, start, size in cells)
    with kept.replaced(folder / name) as opened:
        for body in chain(old, (body for _, body in new)):
            digest.update(body)
            opened.write(body)
            starts.append(length)
            lengths.append(len(body))
            length += len(body)
    keys = [*rows["key"].to_pylist(), *(key for key, _ in new)]
    places = pa.table([keys, [0] * len(keys), starts, lengths], schema=PLACES)
    return places, {"bytes": length, "path": name, "sha256": digest.hexdigest()}


def discard(folder: Path, wanted: Collection[str]) -> None:
    """Nothing; of the files of texts in `folder` there are those that are wanted."""
    for path in (folder / FOLDER).glob("*"):
        if f"{FOLDER}/{path.name}" not in wanted:
            path.unlink(missing_ok=True)


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


#: Of no entry.
NO_FACTS = Facts()
FACTS = Table(Facts)
#: What is known of each entry that may be published: its form, and what tells it from any other.
ROWS = pa.schema(
    [(name, pa.string()) for name in ("entry_id", "cluster_id", "form", "digest")] + [("facts", FACTS.arrow)]
)


class Worded(Sequence[KnowledgeEntry]):
    """Entries in the order of their ids, each read when somebody asks for it."""

    def __init__(
        self,
        rows: pa.Table,
        read: Callable[[str, str], KnowledgeEntry],
        others: Mapping[str, KnowledgeEntry] = MappingProxyType({}),
    ) -> None:
        """Those of the clusters in `rows`, as ROWS has them, each of which `read` gives in a form; `others` by id."""
        there = [
            list(others),
            [""] * len(others),
            [WHOLE] * len(others),
            [hashlib.sha256(one.model_dump_json().encode()).hexdigest() for one in others.values()],
            FACTS.array([Facts.of(one) for one in others.values()]),
        ]
        self._rows = pa.concat_tables([rows, pa.table(there, schema=ROWS)]).sort_by("entry_id").combine_chunks()
        self._read, self._others = read, others

    @property
    def digests(self) -> pa.Table:
        """Of each entry its id and its digest: equal digests, equal entries."""
        return self._rows.select(["entry_id", "digest"])

    def kinds(self) -> Counter[tuple[str, str, bool, bool]]:
        """How many entries there are of each tier and domain, that are answered or not, documented or not."""
        names = ("tier", "domain", "is_answered", "is_documented")
        return _counted(pa.table([self._fact(name) for name in names], names=list(names)))

    def coverage(self) -> list[FieldCoverage]:
        """One row for each `*_zh` field, sorted by name; a list field counts each of its items."""
        told = pc.binary_join(self._fact("statuses"), _BETWEEN)
        counts: dict[str, Counter[str]] = {}
        for (form, said), many in _counted(pa.table([self._rows["form"], told], names=["form", "said"])).items():
            for one in said.split(_BETWEEN) if said else ():  # of thousands of entries some dozens differ
                is_refused = form == GENERAL and one.startswith("signature_zh ")
                field, _, status = (_UNEXPLAINED if is_refused else one).partition(" ")
                counts.setdefault(field, Counter())[status] += many
        return [_row(field, counts[field]) for field in sorted(counts)]

    def changed_sources(self) -> list[dict[str, str]]:
        """The sentences of official pages that were translated and now say something else: entry, field, sentence."""
        some = self._rows.filter(pc.greater(pc.list_value_length(self._fact("changed")), 0))
        return [
            {"entry_id": row["entry_id"], "field": field, "sentence": sentence}
            for row in some.select(["entry_id", "facts"]).to_pylist()
            for field, _, sentence in (told.partition(" ") for told in row["facts"]["changed"])
        ]

    def _fact(self, name: str) -> pa.Array:
        return pc.struct_field(keyed.whole(self._rows["facts"]), name)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> KnowledgeEntry: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[KnowledgeEntry]: ...
    def __getitem__(self, place: int | slice) -> KnowledgeEntry | Sequence[KnowledgeEntry]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        entry_id, cluster_id, form = (self._rows[name][place].as_py() for name in ("entry_id", "cluster_id", "form"))
        return self._read(cluster_id, form) if cluster_id else self._others[entry_id]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Worded) and self.digests == other.digests and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def too_general(shapes: pa.Array) -> pa.Array:
    """The explanations, made from words, that say too little; `shapes` has of each entry `translate.shape_of`."""
    told = shapes.filter(pc.greater(pc.list_value_length(shapes), 0))
    said, words = (pc.list_element(told, place) for place in (0, 1))
    messages = pa.table([said, words], names=["said", "words"]).group_by(["said", "words"]).aggregate([])
    counts = messages.group_by("said").aggregate([("words", "count")])
    is_general = [validate.is_too_general(count) for count in counts["words_count"].to_pylist()]
    return keyed.whole(counts["said"]).filter(pa.array(is_general, pa.bool_()))


def _counted(table: pa.Table) -> Counter[Any]:
    """How often the table has each row."""
    found = table.group_by(table.column_names).aggregate([([], "count_all")])
    *cells, counts = (found[name].to_pylist() for name in (*table.column_names, "count_all"))
    return Counter(dict(zip(zip(*cells, strict=True), counts, strict=True)))


@dataclass(frozen=True, slots=True)
class FieldCoverage:
    """One `*_zh` field over a list of entries: how many values have which status."""

    field: str
    total: int
    by_status: tuple[tuple[str, int], ...]  # most frequent first

    def share(self, status: str) -> float:
        """The share of that status, 0 where the field has no values."""
        return dict(self.by_status).get(status, 0) / self.total if self.total else 0.0


def _row(field: str, statuses: Counter[str]) -> FieldCoverage:
    ordered = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return FieldCoverage(field, statuses.total(), tuple(ordered))
