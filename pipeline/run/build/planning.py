"""The plan of a build: everything current in raw, in partitions; kept, so that the next one reads what came since.

Documents of a first plan fall into partitions by a hash of their key: a partition holds all keys whose hashes begin
with its bits, and parts in two where they are too many. Documents that come later lie in late partitions (`layout`).

A segment of raw never changes: to a plan that is kept only those pages are added whose segments it does not know, each
to the partition that its document lies in. Wherever anything else differs it is made from nothing but the layout.
"""

from __future__ import annotations

import hashlib
import io
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, overload

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import packs, raw
from pipeline.lexicon import repositories
from pipeline.records import disk, kept
from pipeline.records.errors import StoreError
from pipeline.records.kept import Damaged, KeptFile, KeptKind, Verdict
from pipeline.run.build import mapping
from pipeline.run.build.layout import FIRST, NEW, Layout, is_late, late
from pipeline.run.build.mapping import Partition
from pipeline.run.shards.columns import Table

#: In the folder of a kept plan, what says of it all but the pages, and in which partition each document lies.
_LIST, _LAYOUT = "plan.json", "layout"
#: What is done where it is damaged.
CURE = "`errmine build` plans anew from raw."
_PAGES = Table(raw.PageRef)


def plan(
    raw_path: Path, *, partition_documents: int, folder: Path | None = None, like: Path | None = None
) -> list[Partition]:
    """The partitions of everything current in raw, of at most so many documents each, sorted by their bits; of a large
    first plan of several times as many (`Layout.most_first`).

    What is kept in `folder` is not read from raw again; the plan is kept there then, where the disk takes it. Documents
    lie as the plan in the folder `like` has them, which is only read.
    """
    brought = packs.active().digest(*mapping.READING)
    made = _made(partition_documents)
    layer = raw.RawLayer(raw_path)
    files, hidden = {path.name: path for path in layer.index.files()}, told_of(layer.hidden())
    before = _Kept() if folder is None else _Kept.read(folder)
    lying = folder or like
    layout = Layout() if lying is None else Layout.read(lying / _LAYOUT, made)
    is_told = kept.sha256(layout.body()) == before.layout
    if not (is_told and all(stands_by(before, _Kept(made, hidden, frozenset(files))).values())):
        before = _Kept()
    new = [ref for name in sorted(files.keys() - before.segments) for ref in layer.shown(files[name])]
    try:
        changed = _grown(before.leaves, new, layout, _Way(folder, made, partition_documents))
    except Damaged:
        before = _Kept()
        new = [ref for path in files.values() for ref in layer.shown(path)]
        changed = _grown({}, new, layout, _Way(None, made, partition_documents))
    leaves = {bits: leaf for bits, leaf in before.leaves.items() if bits not in changed.gone}
    leaves |= {bits: _leaf(bits, pages, brought) for bits, pages in changed.pages.items()}
    after = _Kept(made, hidden, frozenset(files), leaves)
    if folder is not None and (before.segments, before.made) != (after.segments, made):
        after = _written(folder, after, changed)
    return [
        Partition(
            leaf.name,
            _Documents(_Place(raw_path, folder, bits, made), leaf)
            if folder is not None and leaf.sha256
            else tuple(raw.current(changed.pages[bits])),
            brought,
        )
        for bits, leaf in sorted(after.leaves.items())
    ]


def _made(partition_documents: int) -> str:
    """What tells who makes a plan."""
    return f"{mapping.code_digest()} {packs.active().digest(*packs.Stage)} {partition_documents}"


def extent(folder: Path) -> tuple[frozenset[str], str]:
    """The segments that the plan in `folder` was made of, and a digest of what was forgotten then."""
    found = _Kept.read(folder)
    return found.segments, found.hidden


def coming(folder: Path, raw_path: Path, *, partition_documents: int) -> int:
    """How many pages of raw a plan would add to the one that is kept in `folder`: all where it begins anew."""
    layer = raw.RawLayer(raw_path)
    counts = layer.index.page_counts()
    now = _Kept(_made(partition_documents), told_of(layer.hidden()), frozenset(counts))
    before = _Kept.read(folder)
    known = before.segments if all(stands_by(before, now).values()) else frozenset[str]()
    return sum(count for name, count in counts.items() if name not in known)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A partition as a plan keeps it."""

    name: str
    count: int  # of documents
    sha256: str = ""  # of the file with its pages


@dataclass(frozen=True, slots=True)
class _Kept:
    """A plan as it is kept."""

    made: str = ""  # by what
    hidden: str = ""  # a digest of what is forgotten
    segments: frozenset[str] = frozenset()
    leaves: Mapping[str, _Leaf] = field(default_factory=dict)  # by bits, or as `layout.late` has it
    layout: str = ""  # sha256 of where the documents lie

    @classmethod
    def read(cls, folder: Path) -> _Kept:
        """The plan in `folder`; an empty one where there is none, or not the one that was written."""
        try:
            found = kept.unsealed_json(folder / _LIST)
            leaves = {bits: _Leaf(name, count, told) for bits, name, count, told in found["leaves"]}
            return cls(found["made"], found["hidden"], frozenset(found["segments"]), leaves, found["layout"])
        except (Damaged, KeyError, TypeError, ValueError):
            return cls()


def stands_by(before: _Kept, now: _Kept) -> dict[str, bool]:
    """Whether a plan may go on from the one that was kept, by the rule that says so; of `now` no partition is known."""
    return {
        "code": before.made == now.made,
        "forgotten": before.hidden == now.hidden,
        "segments": before.segments <= now.segments,
    }


def in_order(there: Sequence[raw.PageRef], came: Sequence[raw.PageRef]) -> list[raw.PageRef]:
    """Pages as raw lists them: its segments by name, the pages of each in their order."""
    return sorted([*there, *came], key=lambda ref: ref.segment)


@dataclass(frozen=True, slots=True)
class _Changed:
    """What new pages do to a plan."""

    pages: Mapping[str, list[raw.PageRef]]  # of every partition that got some, by bits, in the order of raw
    gone: frozenset[str]  # bits of the partitions in whose place these stand
    layout: Layout


@dataclass(frozen=True, slots=True)
class _Way:
    """How a plan is made."""

    folder: Path | None  # where the pages of its partitions lie
    made: str  # by what
    most: int  # documents of a partition, see `Layout.most_first`


def _grown(leaves: Mapping[str, _Leaf], new: Sequence[raw.PageRef], layout: Layout, way: _Way) -> _Changed:
    """What `new` pages do to the partitions `leaves`, whose documents lie as `layout` says.

    Raises:
        Damaged: the pages of one of them are not what was written.
    """
    keys = [repositories.current_key(ref.document_key) for ref in new]
    hashes = {key: mapping.hashed(key) for key in sorted(set(keys))}
    if not leaves:  # all of raw is new: some that were there may be forgotten
        layout = layout.only(hashes.values())
    numbers = layout.of(list(hashes.values()))
    came = [hashed for hashed, number in zip(hashes.values(), numbers, strict=True) if number == NEW]
    layout = layout.with_those(came, way.made, way.most)
    number_of = dict(zip(hashes, layout.of(list(hashes.values())), strict=True))
    falling: dict[str, list[raw.PageRef]] = {}
    ordered = sorted(bits for bits in leaves if not is_late(bits))
    for ref, key in zip(new, keys, strict=True):
        number = number_of[key]
        bits = _falls_into(mapping.bits_of(key), ordered) if number == FIRST else late(number)
        falling.setdefault(bits, []).append(ref)
    pages: dict[str, list[raw.PageRef]] = {}
    most = layout.most_first(way.most)
    for bits, refs in sorted(falling.items()):
        there = _read(way.folder, bits, leaves[bits]) if way.folder is not None and bits in leaves else []
        pages |= _parted(bits, in_order(there, refs), most)
    return _Changed(pages, frozenset(falling) & leaves.keys(), layout)


def _parted(bits: str, refs: Sequence[raw.PageRef], most: int) -> dict[str, list[raw.PageRef]]:
    """The pages of a partition, or of those in which it parts where its documents are too many."""
    if is_late(bits):
        return {bits: list(refs)}
    of_key: dict[str, list[tuple[int, raw.PageRef]]] = {}
    for place, ref in enumerate(refs):
        of_key.setdefault(repositories.current_key(ref.document_key), []).append((place, ref))
    parts = mapping.leaves([(mapping.hashed(key), key) for key in sorted(of_key)], bits, most)
    return {
        part: [ref for _, ref in sorted((one for key in keys for one in of_key[key]), key=itemgetter(0))]
        for part, keys in parts
    }


def _falls_into(bits: str, ordered: Sequence[str]) -> str:
    """The bits of the partition that holds a hash, or of the one that has to be made: no other begins with them."""
    for length in range(len(bits)):
        own = bits[:length]
        place = bisect_left(ordered, own)
        if place == len(ordered) or ordered[place] == own or not ordered[place].startswith(own):
            return own
    return bits


def _leaf(bits: str, pages: Sequence[raw.PageRef], brought: str) -> _Leaf:
    found = mapping.partition(bits, raw.current(pages), brought)
    return _Leaf(found.name, len(found.documents))


# ---------------------------------------------------------------- on disk


def _written(folder: Path, made: _Kept, changed: _Changed) -> _Kept:
    """The plan `made` as `folder` holds it then, of whose partitions those that changed are written.

    Where the disk refuses, these have no file, and the next one plans anew.
    """
    leaves = dict(made.leaves)
    try:
        for bits, pages in changed.pages.items():
            out = io.BytesIO()
            pq.write_table(_PAGES.write(pages), out, compression="zstd", compression_level=1)
            kept.write(_path(folder, bits), out.getvalue())
            leaves[bits] = replace(leaves[bits], sha256=kept.sha256(out.getvalue()))
        kept.write(folder / _LAYOUT, body := changed.layout.body())
        rows = [[bits, leaf.name, leaf.count, leaf.sha256] for bits, leaf in sorted(leaves.items())]
        told = {"made": made.made, "hidden": made.hidden, "segments": sorted(made.segments), "leaves": rows}
        told["layout"] = kept.sha256(body)
        kept.write(folder / _LIST, kept.sealed_json(told))
        wanted = {_LIST, _LAYOUT, *(_path(folder, bits).name for bits in leaves)}
        for path in folder.iterdir():
            if path.name not in wanted:
                path.unlink(missing_ok=True)
    except OSError:
        return made
    return replace(made, leaves=leaves)


def _path(folder: Path, bits: str) -> Path:
    return folder / f"p{bits}.parquet"


def _read(folder: Path, bits: str, leaf: _Leaf) -> list[raw.PageRef]:
    path = _path(folder, bits)
    try:
        return _PAGES.read(pq.read_table(io.BytesIO(kept.checked(path, leaf.sha256))))
    except (pa.ArrowException, ValueError) as error:
        raise Damaged(path, f"it is no table of pages: {error}") from error


def kept_files(folder: Path) -> Iterator[KeptFile]:
    """The files of the plan that is kept in `folder`, with what a look at their bytes says."""
    path = folder / _LIST
    if not path.exists():
        return
    found = _Kept.read(folder)
    yield KeptFile(path, KeptKind.PLAN, Verdict.OK if found.made else Verdict.DAMAGED, CURE)
    files = {_path(folder, bits): leaf.sha256 for bits, leaf in sorted(found.leaves.items())}
    for place, told in {folder / _LAYOUT: found.layout, **files}.items() if found.made else ():
        try:
            kept.checked(place, told)
        except Damaged as error:
            yield KeptFile(error.path, KeptKind.PLAN, error.verdict, CURE)
        else:
            yield KeptFile(place, KeptKind.PLAN, Verdict.OK, CURE)


def told_of(hidden: Iterable[str]) -> str:
    """A digest of what is forgotten."""
    return hashlib.blake2b("\x1e".join(sorted(hidden)).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the documents of a partition are read from."""

    raw: Path
    folder: Path
    bits: str
    made: str  # by what the plan was made


class _Documents(Sequence[raw.DocumentRefs]):
    """The documents of a partition of a kept plan: how many they are is known, they are read whenever it is asked."""

    def __init__(self, place: _Place, leaf: _Leaf) -> None:
        self._place, self._leaf = place, leaf

    def __len__(self) -> int:
        return self._leaf.count

    def __iter__(self) -> Iterator[raw.DocumentRefs]:
        return iter(self._read())

    @overload
    def __getitem__(self, place: int) -> raw.DocumentRefs: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[raw.DocumentRefs]: ...

    def __getitem__(self, place: int | slice) -> raw.DocumentRefs | Sequence[raw.DocumentRefs]:
        return self._read()[place]

    def _read(self) -> list[raw.DocumentRefs]:
        place = self._place
        try:
            return raw.current(_read(place.folder, place.bits, self._leaf))
        except Damaged:  # since it was planned
            return self._of_raw()

    def _of_raw(self) -> list[raw.DocumentRefs]:
        place = self._place
        layout = Layout.read(place.folder / _LAYOUT, place.made)
        if not layout.made:  # nobody knows what the plan was
            disk.clear(place.folder / _LIST)
            raise StoreError(f"{place.folder}: the plan is damaged", path=place.folder, hint=CURE)
        every = raw.RawLayer(place.raw).documents()
        numbers = layout.of([mapping.hashed(refs.document_key) for refs in every])
        return [refs for refs, number in zip(every, numbers, strict=True) if _lies_in(place.bits, refs, number)]


def _lies_in(bits: str, refs: raw.DocumentRefs, number: int) -> bool:
    """Whether a document, of whose late partition this is the number, lies in the partition of these bits."""
    if is_late(bits) or number >= 0:
        return bits == late(number)
    return mapping.bits_of(refs.document_key).startswith(bits)


# ---------------------------------------------------------------- laid out for other machines


def batches(partitions: Sequence[Partition], *, count: int) -> list[list[str]]:
    """The names of the partitions in at most `count` batches of nearly equal size."""
    names = [partition.name for partition in partitions]
    return [batch for number in range(min(count, len(names))) if (batch := names[number::count])]


def lay_out(folder: Path, partitions: Sequence[Partition], batch: Sequence[str]) -> None:
    """Nothing; a task that is given the names of `batch` finds the partitions in `folder` and need not plan again.

    Raises:
        StoreError: the disk refuses.
    """
    named = {partition.name: partition for partition in partitions}
    rows = [
        {
            "name": name,
            "packs": named[name].packs,
            "documents": [list(map(_cells, refs.refs)) for refs in named[name].documents],
        }
        for name in batch
    ]
    path = _layout(folder, batch)
    try:
        kept.write(path, kept.sealed_json({"partitions": rows}))
    except OSError as error:
        raise StoreError(f"cannot write the plan {path}: {error.strerror or error}", path=path) from error


def laid_out(folder: Path, batch: Sequence[str]) -> list[Partition] | None:
    """The partitions of `batch` as they were laid out; None where they were not, or are not what was written."""
    try:
        rows = kept.unsealed_json(_layout(folder, batch))["partitions"]
    except (Damaged, KeyError):
        return None
    return [Partition(row["name"], tuple(map(_documents_of, row["documents"])), row["packs"]) for row in rows]


def _layout(folder: Path, batch: Sequence[str]) -> Path:
    return folder / f"{hashlib.blake2b(repr(sorted(batch)).encode(), digest_size=12).hexdigest()}.json"


def _cells(page: raw.PageRef) -> list[Any]:
    return [cell.isoformat() if isinstance(cell, datetime) else cell for cell in astuple(page)]


def _documents_of(pages: Sequence[Sequence[Any]]) -> raw.DocumentRefs:
    refs = [raw.PageRef(*page) for page in pages]
    return raw.DocumentRefs(
        refs[0].document_key,
        tuple(
            replace(ref, fetched_at=datetime.fromisoformat(str(ref.fetched_at)) if ref.fetched_at else None)
            for ref in refs
        ),
    )
