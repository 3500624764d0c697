"""What a file holds, noted beside the home's state: a digest by key, for who brings only what differs into it.

The note tells which file it is of by the checksum of all its bytes, and by size, inode and times as `kept.Seen` does:
one that nothing has touched since is not read for it (an export, which gives it another name, says so). Of any other
file, of one that is damaged, that people wrote into or that was put in its place, it says nothing, and that file is
made anew whole.

A block that lost a bit while nobody touched the file would go into its next version with those that stay. When that one
is read, each block is the one of before, or as DuckDB writes its own, with a sum in it; or the file is made anew whole.

Digests by key stand as Arrow holds them: as Python's own texts two such lists took 250 bytes a document.
"""

from __future__ import annotations

import io
import os
import zlib
from array import array
from base64 import b64decode, b64encode
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.records import chained, disk, kept
from pipeline.records.errors import StoreError
from pipeline.records.exported import SIGNS
from pipeline.records.kept import Damaged, KeptFile, Sign

_KEYED = pa.schema([("key", pa.string()), ("digest", pa.string())])


_LIST = "database.json"
#: A batch each of digests of documents, entries, clusters, lines and signs, as they lie in memory: as Parquet they took
#: twelve times as long to write and five to be read.
_ROWS = "database.arrow"
_BATCHES = 5
_CURE = "`errmine build` makes it anew."
#: What stands at the beginning of DuckDB's file, and how large its blocks are behind that; how many of them are read at
#: a time, and by how many threads: zlib lets go of the interpreter.
_HEADER, _BLOCK = 3 * 4096, 1 << 18
_BLOCKS_AT_ONCE, _THREADS = 64, 4
#: Of a block, and of each third of the header, the first eight bytes are DuckDB's sum of the other words of as many.
_FACTOR, _START = np.uint64(0xBF58476D1CE4E5B9), np.uint64(5381)
#: So many rows of two tables together are compared in Python.
_FEW = 32


class Digests:
    """Digests by key, which are in order."""

    def __init__(self, table: pa.Table) -> None:
        """Of a table of keys, in order, and their digests."""
        self.table = table.rename_columns(_KEYED.names).cast(_KEYED).combine_chunks()

    @classmethod
    def of(cls, digests: Mapping[str, str]) -> Digests:
        """The digests that Python has by key."""
        keys = sorted(digests)
        return cls(pa.Table.from_arrays([pa.array(keys, pa.string()), pa.array(map(digests.get, keys))], _KEYED.names))

    def changed(self, now: Digests) -> list[str]:
        """The keys that came, went, or have another digest now, in order."""
        return list(_differing(self.table, now.table))

    def places(self, keys: Sequence[str]) -> list[int]:
        """The place of each of these keys in the order, of those that are there."""
        own = self.table["key"]
        found = ((key, _place(own, key)) for key in keys)
        return [place for key, place in found if place < len(own) and own[place].as_py() == key]

    def with_those_of(self, keys: Sequence[str], now: Digests) -> Digests:
        """The same, of these keys alone as they are in `now`, or without them where that has none.

        What lies between two of them is taken as it lies: nothing is sorted again.
        """
        parts, start, own = [], 0, self.table["key"]
        fresh = dict(zip(now.table["key"].to_pylist(), range(len(now.table)), strict=True))
        for key in sorted({*keys, *fresh}):
            place = _place(own, key)
            parts.append(self.table.slice(start, place - start))
            start = place + (place < len(own) and own[place].as_py() == key)
            if key in fresh:
                parts.append(now.table.slice(fresh[key], 1))
        return Digests(pa.concat_tables([*parts, self.table.slice(start)]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digests) and bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]


def _differing(before: pa.Table, now: pa.Table) -> Iterator[str]:
    """The keys of rows of which one of two tables has no equal, in order.

    Halves that are equal are compared as they lie: a table of a million keys by which to look up takes twenty times as
    long to make.
    """
    if before.equals(now):
        return
    if len(before) + len(now) <= _FEW:
        one, other = (
            dict(zip(*(column.to_pylist() for column in rows.columns), strict=True)) for rows in (before, now)
        )
        yield from sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
        return
    longer = max(before, now, key=len)["key"]
    middle = longer[len(longer) // 2].as_py()
    ends = [_place(rows["key"], middle) for rows in (before, now)]
    yield from _differing(before.slice(0, ends[0]), now.slice(0, ends[1]))
    yield from _differing(before.slice(ends[0]), now.slice(ends[1]))


def _place(keys: pa.ChunkedArray, key: str) -> int:
    """Before how many of these keys, which are in order, it does not stand."""
    return bisect_left(range(len(keys)), key, key=lambda at: str(keys[at].as_py()))


@dataclass(frozen=True, slots=True)
class Journaled:
    """How many rows the journal has, and a digest of them, as `chained.Rows.told` gives it."""

    count: int = 0
    digest: str = ""
    kept: tuple[int, str] = field(default=(0, ""), compare=False)  # the same of the first rows, which it had before

    def going_on(self, rows: chained.Rows[Any]) -> Journaled:
        """What is told of rows that come after these: most are these, and more."""
        known = ((self.count, self.digest), self.kept)
        there = ((count, digest) for count, digest in known if count <= len(rows) and rows.told(count) == digest)
        return Journaled(len(rows), rows.told(len(rows)), next(there, (0, "")))


@dataclass(frozen=True, slots=True)
class Told:
    """What decides the rows of a file: equal digests, equal rows."""

    made_by: str = ""  # all that makes rows of what is told; "" where the same may be made otherwise tomorrow
    documents: Digests = field(default_factory=partial(Digests.of, {}))  # by document id
    entries: Digests = field(default_factory=partial(Digests.of, {}))  # by entry id
    clusters: Digests = field(default_factory=partial(Digests.of, {}))  # by cluster id
    journal: Journaled = Journaled()
    others: Mapping[str, str] = field(default_factory=dict)  # by table, of what belongs to none of these


@dataclass(frozen=True, slots=True)
class Size:
    """How large a file is, and of how many rows."""

    byte_count: int
    row_count: int


@dataclass(frozen=True, slots=True)
class Held:
    """What the file with this checksum holds."""

    told: Told
    checksum: str
    whole: Size  # when it was last written whole: nothing in it was dead
    lines: Digests  # by entry id the sha256 of its row
    signs: Digests  # by entry id what else an export asks of it: see `sign_told`
    sign: Sign | None = None  # of the file when it was found to have the checksum

    def fits(self, path: Path) -> bool:
        """Whether the file at `path` is that file, and no log beside it says more; one that nothing touched is."""
        return _fits(self.sign, self.checksum, path)


def log_of(path: Path) -> Path:
    """Where DuckDB leaves what a writer who was killed had not yet put into the file at `path`; readers see it too."""
    return path.with_name(f"{path.name}.wal")


def is_of(folder: Path, path: Path) -> bool:
    """Whether the note in `folder` is of the file at `path` as it is now, to the bit."""
    try:
        told = kept.unsealed_json(folder / _LIST).get("checksum")
    except Damaged:
        return False
    return told == checksum(path) and not log_of(path).exists()


def made_by(folder: Path) -> str:
    """All that makes rows of what the note in `folder` tells; "" where there is none."""
    try:
        return str(kept.unsealed_json(folder / _LIST).get("made_by", ""))
    except Damaged:
        return ""


def checksum(path: Path) -> str:
    """Length and CRC-32 of each block of a file, "" where there is none: it tells damage, and where."""
    try:
        with disk.opened(path) as file:
            length = os.fstat(file.fileno()).st_size
            places = [0, *range(_HEADER, length, _BLOCKS_AT_ONCE * _BLOCK)]
            with ThreadPoolExecutor(_THREADS) as pool:
                sums = [one for some in pool.map(partial(_sums, file.fileno()), places) for one in some]
    except OSError:
        return ""
    return f"{length} {b64encode(array('I', sums)).decode()}"


def seen(path: Path) -> tuple[str, Sign | None]:
    """The checksum of a file, and what tells it as long as nothing touches it; see `kept.sign_to_note`."""
    sign = kept.sign_to_note(path)
    return checksum(path), sign


def checksum_known(folder: Path, path: Path) -> str:
    """The checksum of a file, which is not read for it if nothing touched it since the note in `folder` was made."""
    with suppress(Damaged, KeyError, TypeError, ValueError):
        told = kept.unsealed_json(folder / _LIST)
        if _is_known(_sign(told), path):
            return str(told["checksum"])
    return checksum(path)


def _fits(sign: Sign | None, told: str, path: Path) -> bool:
    """See `Held.fits`."""
    return not log_of(path).exists() and (_is_known(sign, path) or told == checksum(path))


def _is_known(sign: Sign | None, path: Path) -> bool:
    return sign is not None and sign == kept.sign_of(path)


def _sums(descriptor: int, place: int) -> list[int]:
    """CRC-32 of what lies before the blocks, or of those from a place on that are read at a time."""
    size, end = (_BLOCK, place + _BLOCKS_AT_ONCE * _BLOCK) if place else (_HEADER, _HEADER)
    room, found = memoryview(bytearray(size)), []
    while place < end and (count := os.preadv(descriptor, [room], place)):
        found.append(zlib.crc32(room[:count]))
        place += count
    return found


def is_sound(path: Path, now: str, before: str) -> bool:
    """Whether each block of the file with the checksum `now` stood in the one with the checksum `before`, or is as
    DuckDB writes it: what lies behind the blocks of before may be one that it never wrote.
    """
    sums, known = (np.frombuffer(b64decode(told.partition(" ")[2]), np.uint32) for told in (now, before))
    shared = min(len(sums), len(known))
    others = [*(np.flatnonzero(sums[1:shared] != known[1:shared]) + 1).tolist(), *range(shared, len(sums))]
    pieces = [(place, _HEADER // 3) for place in range(0, _HEADER, _HEADER // 3)]
    pieces += [(_HEADER + (number - 1) * _BLOCK, _BLOCK) for number in others]
    end = _HEADER + (shared - 1) * _BLOCK
    try:
        with disk.opened(path) as file:
            for place, size in pieces:
                words = np.frombuffer(os.pread(file.fileno(), size, place), np.uint64)
                is_written = place < end or words.any()
                if is_written and np.bitwise_xor.reduce(words[1:] * _FACTOR, initial=_START) != words[0]:
                    return False
    except (OSError, ValueError, IndexError):  # a file that ends within a block is none of DuckDB's
        return False
    return bool(now)


def _sign(told: Mapping[str, Any]) -> Sign | None:
    """What a note says of the file besides its checksum; of before none did."""
    size, node, at, changed = told.get("sign") or (0, 0, 0, 0)
    return (size, node, at, changed) if node else None


def read(folder: Path) -> Held | None:
    """What the note in `folder` says; None where there is none, or it is not what was written."""
    try:
        told = kept.unsealed_json(folder / _LIST)
        file = pa.ipc.open_file(kept.Listing.of(folder, _LIST).read(_ROWS))
        if not file.schema.equals(_KEYED) or file.num_record_batches != _BATCHES:
            return None
        batches = (pa.Table.from_batches([file.get_batch(number)]) for number in range(_BATCHES))
        documents, entries, clusters, lines, signs = map(Digests, batches)
        whole, journal = Size(*told["whole"]), _journaled(told["journal"])
        told_of = Told(str(told["made_by"]), documents, entries, clusters, journal, dict(told["others"]))
        return Held(told_of, str(told["checksum"]), whole, lines, signs, _sign(told))
    except (Damaged, OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None


def _journaled(told: Sequence[Any]) -> Journaled:
    count, digest, *kept = told
    return Journaled(int(count), str(digest), (int(kept[0]), str(kept[1])) if kept else (0, ""))


def journaled(folder: Path, path: Path) -> Journaled:
    """What the note in `folder` says of the journal in the file at `path`; nothing where it is not of that file."""
    try:
        told = kept.unsealed_json(folder / _LIST)
        return _journaled(told["journal"]) if _fits(_sign(told), told["checksum"], path) else Journaled()
    except (Damaged, KeyError, TypeError, ValueError):
        return Journaled()


def write(folder: Path, held: Held) -> None:
    """Nothing; the note in `folder` says what `held` says.

    Raises:
        StoreError: the disk refuses.
    """
    out = io.BytesIO()
    with pa.ipc.new_file(out, _KEYED) as file:
        for found in (held.told.documents, held.told.entries, held.told.clusters, held.lines, held.signs):
            columns = [pa.concat_arrays([*column.chunks, pa.array([], pa.string())]) for column in found.table.columns]
            file.write_batch(pa.RecordBatch.from_arrays(columns, schema=_KEYED))
    body = out.getvalue()
    told = {
        "files": kept.listed([(_ROWS, body)]),
        "made_by": held.told.made_by,
        "journal": [held.told.journal.count, held.told.journal.digest, *held.told.journal.kept],
        "others": dict(held.told.others),
        "checksum": held.checksum,
        "sign": held.sign,
        "whole": [held.whole.byte_count, held.whole.row_count],
    }
    try:
        kept.write(folder / _ROWS, body)
        kept.write(folder / _LIST, kept.sealed_json(told))
    except OSError as error:
        hint = "Check free space and rights of the folder, then run `errmine build` again."
        raise StoreError(f"cannot write {folder}: {error.strerror or error}", path=folder, hint=hint) from error


def sign_told(size: int, indexed: str) -> str:
    """What the note says of the sign of an entry besides its digest, which is that of its line."""
    return f"{size} {indexed}"


def size_told(told: str) -> int:
    """The size that `sign_told` was given."""
    return int(told.partition(" ")[0])


def signs(folder: Path, path: Path) -> pa.Table | None:
    """`SIGNS` of every entry of the file at `path`, by id; None where the note in `folder` does not say them of it."""
    held = read(folder)
    if held is None or not held.fits(path):
        return None
    (ids, digests), (signed, told) = (found.table.columns for found in (held.lines, held.signs))
    if not ids.equals(signed):  # an errmine of before noted none
        return None
    words = pc.split_pattern(told, " ", max_splits=1)
    size, indexed = (pc.list_element(words, place) for place in range(2))
    return pa.Table.from_arrays([ids, size.cast(pa.int64()), digests, indexed], schema=SIGNS)


def renew(folder: Path, before: str, path: Path) -> None:
    """Nothing; a note in `folder` of the file with the checksum `before` is of the one at `path`, if that is sound."""
    try:
        told = kept.unsealed_json(folder / _LIST)
        now, sign = seen(path)
        if told.get("checksum") == before and is_sound(path, now, before):
            kept.write(folder / _LIST, kept.sealed_json({**told, "checksum": now, "sign": sign}))
    except (Damaged, OSError):  # a note that does not fit costs a whole file
        return


@contextmanager
def named_again(folder: Path, path: Path) -> Iterator[None]:
    """Meanwhile the file may get names and lose them: that changes its times, and is no change to the note in `folder`.

    A bundle that takes the place of another takes along what else lies beside it.
    """
    before = kept.sign_of(path)
    yield
    now = kept.sign_to_note(path)
    if before is None or now is None or now == before or now[:3] != before[:3]:
        return
    with suppress(Damaged, OSError, KeyError, TypeError, ValueError):
        told = kept.unsealed_json(folder / _LIST)
        if _sign(told) == before:
            kept.write(folder / _LIST, kept.sealed_json({**told, "sign": now}))


def forget(folder: Path) -> None:
    """Nothing; nothing is known of any file."""
    for name in (_LIST, _ROWS):
        (folder / name).unlink(missing_ok=True)


def kept_files(folder: Path) -> Iterator[KeptFile]:
    """The files of the note, with what a look at their bytes says."""
    yield from kept.looked_at(folder, _LIST, kept.KeptKind.RESULTS, _CURE)
