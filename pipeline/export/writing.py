"""The bundle made of entries: leaf by leaf, and of those only the ones in which something changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.export import content
from pipeline.export.content import Facts
from pipeline.export.passed import Counted, Fields, MadeLeaf, Passed, Tally, digest
from pipeline.export.placing import Spare, publish
from pipeline.lexicon import advice
from pipeline.records import Skipped, kept, leaves
from pipeline.records.bundle import Answers, FileRecord, bundle_id
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError
from pipeline.records.exported import SIGNS, RegistryColumns, Row, Rows
from pipeline.records.kept import Seen

_NONE_PASSED = Passed()
#: Bytes of rows that are read at a time: some leaves at once, because every question to a database looks at all ids.
_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in the folder now."""

    folder: Path
    bundle_id: str
    entry_count: int
    file_count: int  # with the manifest
    byte_count: int
    records: tuple[FileRecord, ...] = ()  # of these files
    refused: tuple[Skipped, ...] = ()  # entries that are not passed on
    passed: Passed = _NONE_PASSED  # what the next export need not ask or make
    kept_count: int = 0  # entries in leaves that are the files of the bundle before
    leaf_count: int = 1
    made_count: int = 1  # of these, leaves that were made now


#: What is known of entries that may be published before their lines are made: `SIGNS` of the lines, and whether the
#: row of each is its line.
_PUBLISHED = SIGNS.append(pa.field("is_row", pa.bool_()))


def passed_on(entries: Iterable[KnowledgeEntry]) -> tuple[list[KnowledgeEntry], tuple[Skipped, ...]]:
    """(the entries that may be published, by id, the others): a database or a bundle may be older than the gate."""
    passed: list[KnowledgeEntry] = []
    lost: list[Skipped] = []
    for entry in sorted(entries, key=lambda entry: entry.id):
        refused = _refused(entry.model_dump())
        if refused is None:
            passed.append(entry)
        else:
            lost.append(refused)
    return passed, tuple(lost)


def _refused(fields: Fields) -> Skipped | None:
    place, refusal = next(advice.refused(fields), ("", None))
    if refusal is None:
        return None
    detail = f"{place}: {refusal.detail}" if refusal.detail else place
    return Skipped("export", fields["id"], refusal.reason, detail)


class _Given:
    """Entries that are there as records."""

    def __init__(self, entries: Iterable[KnowledgeEntry], facts: Facts) -> None:
        clusters = {cluster.cluster_id: cluster for cluster in facts.clusters}
        templates = {template.signature_id: template for template in facts.templates}
        self._rows = []
        for entry in sorted(entries, key=lambda entry: entry.id):
            cluster = clusters.get(entry.cluster_id or "")
            members = cluster.members if cluster else ()
            own = tuple(templates[member] for member in members if member in templates)
            line = content.line(content.fields_of(entry))[:-1]
            medoid, score = (cluster.medoid, cluster.lowest_score) if cluster else (None, None)
            self._rows.append(Row(entry.id, line, medoid, score, own))

    def signs(self) -> pa.Table:
        told = [(row.entry_id, len(row.json.encode()), digest(row.json), "") for row in self._rows]
        return _table(told, SIGNS)

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        wanted = set(ids)
        return (row for row in self._rows if row.entry_id in wanted)


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def write(folder: Path, entries: Iterable[KnowledgeEntry], *, facts: Facts | None = None) -> Written:
    """What was written: the bundle of `entries` in `folder`, in place of the one there was, whole or not at all."""
    told = facts or Facts()
    return write_rows(folder, _Given(entries, told), facts=told, passed=_NONE_PASSED)


def write_rows(
    folder: Path, rows: Rows, *, facts: Facts, passed: Passed, spare: Spare | None = None, seen: Seen | None = None
) -> Written:
    """`write` of entries as a database has them.

    Of one that stands in `passed` nothing is asked: its row is its line. A leaf of which nothing changed is that of the
    bundle in `folder`, or of the one before that in the `spare`, if nothing has touched it; what `seen` knows as whole
    is not read for it.
    """
    signs = rows.signs()
    _check_ids(folder, signs["entry_id"].combine_chunks())
    is_known = pc.is_in(signs["digest"], value_set=passed.lines)
    asked, refused = _asked(rows, signs.filter(pc.invert(is_known)))
    known = signs.filter(is_known)
    lines = [*known.columns, pa.repeat(pa.scalar(True), len(known))]
    lines[1] = pc.add(lines[1], 1)
    entries = pa.concat_tables([pa.Table.from_arrays(lines, schema=_PUBLISHED), asked])
    filling = _Filling(rows, facts, passed, _Before(folder.resolve(), _files_of(spare), seen or Seen()))
    publish(folder, lambda staged: filling.fill(staged, entries), spare=spare)
    return replace(filling.written(folder), refused=refused)


def _check_ids(folder: Path, ordered: pa.Array) -> None:
    again = ordered[1:].filter(pc.equal(ordered[1:], ordered[:-1]))
    if len(again):
        raise ExportError(f"two entries are called {again[0]}", path=folder, hint="Give ids through run.build.ids.")


def _asked(rows: Rows, signs: pa.Table) -> tuple[pa.Table, tuple[Skipped, ...]]:
    """(those that pass the gate, the others)."""
    ids, sizes, _, indexed = (column.to_pylist() for column in signs.columns)
    of_entry = dict(zip(ids, indexed, strict=True))
    entries: list[tuple[object, ...]] = []
    refused: list[Skipped] = []
    for batch in _batches((size, [name]) for name, size in zip(ids, sizes, strict=True)):
        for row in rows.rows([name for own in batch for name in own]):
            fields = _fields(row.json)
            lost = _refused(fields)
            if lost is not None:
                refused.append(lost)
                continue
            line = content.line(fields)
            told = (len(line.encode()), digest(line[:-1]), of_entry[row.entry_id])
            entries.append((row.entry_id, *told, line[:-1] == row.json))
    return _table(entries, _PUBLISHED), tuple(refused)


def _fields(row: str) -> Fields:
    """What a row says: what the file holds may be older than the gate, and than a field that is added."""
    return content.fields_of(KnowledgeEntry.model_validate(json.loads(row)))


def _batches(sized: Iterable[tuple[int, list[str]]]) -> Iterator[list[list[str]]]:
    """The lists of ids in groups of `_BATCH_BYTES`, one at least."""
    batch: list[list[str]] = []
    total = 0
    for size, names in sized:
        if batch and total + size > _BATCH_BYTES:
            yield batch
            batch, total = [], 0
        batch.append(names)
        total += size
    if batch:
        yield batch


def told_beside(told: Sequence[Answers], prefixes: Collection[str]) -> dict[str, bytes]:
    """Path -> bytes of what a bundle of these leaves says of itself: the schemas of its files, and llms.txt."""
    beside, count = (content.LLMS_FILES, 0) if "" in prefixes else (content.LLMS_FILES_OF_LEAVES, len(prefixes))
    text = content.llms(told, beside=beside, leaf_count=count)
    return {**content.schemas(), content.LLMS: text.encode()}


def _files_of(spare: Spare | None) -> Mapping[str, str]:
    """Path -> sha256 of the files of the spare; one that does not say which they are is gone."""
    if spare is None:
        return {}
    try:
        return kept.Listing.of_bundle(spare.path).sums
    except kept.Damaged:
        shutil.rmtree(spare.path, ignore_errors=True)
        return {}


@dataclass(frozen=True, slots=True)
class _Before:
    """What there is of files that were made before."""

    folder: Path  # with the bundle that is to be replaced
    spare: Mapping[str, str]  # path -> sha256 of files that stood in the staged folder when it was begun
    seen: Seen

    def puts(self, staged: Path, files: Sequence[FileRecord]) -> bool:
        """Whether all of these files stand in `staged` now, and are whole."""
        try:
            for file in files:
                if not self._is_there(staged, file):
                    self._link(staged, file)
        except (kept.Damaged, OSError):  # it went a moment ago
            return False
        return True

    def _is_there(self, staged: Path, file: FileRecord) -> bool:
        """Whether a file of the spare is the one that is wanted, and the bundle has it too; a link is none."""
        place, name = staged / file.path, self.folder / file.path
        if self.spare.get(file.path) != file.sha256:
            return False
        if self.seen.is_whole(name, file.sha256, at=place):
            return True
        try:
            if place.is_symlink() or not place.samefile(name):  # in a copy of a home they are two files
                return False
            kept.checked(place, file.sha256)
        except (kept.Damaged, OSError):
            return False
        self.seen.note(name, file.sha256, at=place)
        return True

    def _link(self, staged: Path, file: FileRecord) -> None:
        """Nothing; `staged` has a second name of a file of the bundle that is to be replaced.

        Raises:
            Damaged: it is not what was made.
            OSError: it went a moment ago.
        """
        old, new = self.folder / file.path, staged / file.path
        if old.is_symlink():
            raise kept.Damaged(old, "it is a link")
        if not self.seen.is_whole(old, file.sha256):
            kept.checked(old, file.sha256)
        _make_room(new)
        try:
            os.link(old, new)
        except FileNotFoundError:
            raise
        except OSError:  # this file system gives a file one name alone
            shutil.copyfile(old, new)

    def clear(self, staged: Path, *, but: Collection[str]) -> None:
        """Nothing; of the spare's files nothing is left in `staged` beside these."""
        for path in self.spare.keys() - but:
            (staged / path).unlink(missing_ok=True)
            with suppress(OSError):  # others are in the folder
                for folder in list((staged / path).relative_to(staged).parents)[:-1]:
                    (staged / folder).rmdir()


class _Filling:
    """The folder that is being made, beside the bundle of before."""

    def __init__(self, rows: Rows, facts: Facts, passed: Passed, before: _Before) -> None:
        self._rows, self._facts, self._passed, self._before = rows, facts, passed, before
        self._ignored = content.ignored(facts)
        self._entries = _table([], _PUBLISHED)  # in the order of their places
        self._leaves: dict[str, tuple[int, int]] = {}  # of each the first of its entries, and the one behind the last
        told = facts.registry
        self._registry = told if isinstance(told, RegistryColumns) else RegistryColumns.of(told)
        self._made: dict[str, MadeLeaf] = {}
        self._made_count = 0
        self._kept_count = 0
        self._records: list[FileRecord] = []  # of all files, the manifest's last

    def fill(self, staged: Path, entries: pa.Table) -> None:
        """Nothing; the files of the bundle stand in `staged`."""
        self._lay_out(entries)
        told = self._told()
        stale = [prefix for prefix in self._leaves if not self._taken(staged, prefix, told[prefix])]
        self._made_count = len(stale)
        self._kept_count = sum(leaf.count for leaf in self._made.values())
        self._make(staged, stale, told)
        tally = Tally.of([leaf.counted for leaf in self._made.values()])
        if self._is_split:
            head = content.index((), normaliser=self._facts.normaliser, ignored=self._ignored)
            self._put(staged, leaves.HEAD, head.encode())
        for name, body in told_beside(tally.answers(), self._leaves).items():
            self._put(staged, name, body)
        counts = {prefix: leaf.count for prefix, leaf in self._made.items()}
        self._before.clear(staged, but={record.path for record in self._records})
        self._put(staged, kept.MANIFEST, content.manifest(tally, self._facts, self._records, counts))

    def written(self, folder: Path) -> Written:
        """What stands in `folder`, which was filled."""
        lines = self._entries["digest"].combine_chunks()
        return Written(
            folder,
            bundle_id(self._records[:-1]),
            len(lines),
            len(self._records),
            sum(record.bytes for record in self._records),
            tuple(self._records),
            passed=Passed(self._passed.made_by, lines, self._made),
            kept_count=self._kept_count,
            leaf_count=len(self._made),
            made_count=self._made_count,
        )

    @property
    def _is_split(self) -> bool:
        return "" not in self._leaves

    @property
    def _has_pages(self) -> bool:
        return self._facts.has_pages or not self._is_split

    def _lay_out(self, entries: pa.Table) -> None:
        """Nothing; it is known which entries and which rows of the registry each leaf has."""
        named = self._registry.table.select(["name", "place"]).combine_chunks()
        more = entries["entry_id"].filter(pc.invert(pc.is_in(entries["entry_id"], value_set=named["name"])))
        names = pa.chunked_array([*named["name"].chunks, *more.chunks], pa.string())
        known = named["place"].to_numpy().view(np.uint64)
        places = np.concatenate([known, leaves.places_of(more.to_pylist())])
        there = pc.index_in(entries["entry_id"], value_set=names).to_numpy()
        sizes = np.zeros(len(names), np.int64)
        sizes[there] = entries["size"].to_numpy()
        prefixes = leaves.split(places, sizes)
        order = np.lexsort((there, places[there]))
        self._entries = entries.take(pa.array(order)).combine_chunks()
        ends = [*leaves.starts(places[there][order], prefixes), len(order)]
        self._leaves = dict(zip(prefixes, pairwise(ends), strict=True))
        self._parted = content.Parted(self._registry, self._leaves)

    def _told(self) -> dict[str, str]:
        """By leaf a digest of all that it is made of."""
        facts = self._facts
        ignored = [] if self._is_split else [one.model_dump() for one in self._ignored]
        head = content.compact_json([self._passed.made_by, facts.normaliser, self._has_pages, ignored]).encode()
        columns = (
            [_Bytes.of(self._entries[name].chunk(0)) for name in ("entry_id", "digest", "indexed")]
            if len(self._entries)
            else []
        )
        told = {}
        for prefix, (start, end) in self._leaves.items():
            found = hashlib.blake2b(head, digest_size=16)
            for column in columns:
                column.add(found, start, end)
            found.update(f"{prefix} {self._parted.told(prefix)}".encode())
            told[prefix] = found.hexdigest()
        return told

    def _taken(self, staged: Path, prefix: str, told: str) -> bool:
        """Whether the leaf stands in `staged` now, as it was made before."""
        last = self._passed.leaves.get(prefix)
        if not self._passed.made_by or last is None or last.told != told or not self._before.puts(staged, last.files):
            return False
        self._made[prefix] = last
        self._records += last.files
        return True

    def _make(self, staged: Path, prefixes: Sequence[str], told: Mapping[str, str]) -> None:
        """Nothing; these leaves stand in `staged`, made of rows that are read now."""
        entries = {prefix: self._entries.slice(start, end - start) for prefix, (start, end) in self._leaves.items()}
        for batch in _batches((pc.sum(entries[one]["size"]).as_py() or 0, [one]) for one in prefixes):
            own = [prefix for group in batch for prefix in group]
            ids = [name for prefix in own for name in entries[prefix]["entry_id"].to_pylist()]
            rows = {row.entry_id: row for row in self._rows.rows(ids)}
            for prefix in own:
                is_row = dict(zip(*(entries[prefix][name].to_pylist() for name in ("entry_id", "is_row")), strict=True))
                lines = [(rows[name], is_row[name]) for name in sorted(is_row)]
                self._made[prefix] = self._leaf(staged, prefix, lines, told[prefix])

    def _leaf(self, staged: Path, prefix: str, own: Sequence[tuple[Row, bool]], told: str) -> MadeLeaf:
        """The leaf of these rows, each of which is its line or not."""
        entries = [json.loads(row.json) if is_line else _fields(row.json) for row, is_line in own]
        made = [f"{row.json}\n" if is_line else content.line(f) for (row, is_line), f in zip(own, entries, strict=True)]
        index = [content.index_line(f, row) for (row, _), f in zip(own, entries, strict=True)]
        aside = () if self._is_split else self._ignored
        bodies = {
            leaves.LINES: "".join(made).encode(),
            leaves.TABLE: content.parquet(entries, made),
            leaves.INDEX: content.index(index, normaliser=self._facts.normaliser, ignored=aside).encode(),
            leaves.REGISTRY: self._parted.page(prefix).encode(),
        }
        files = {leaves.path(prefix, name): body for name, body in bodies.items()}
        if self._has_pages:
            files |= {content.page_path(fields["id"]): content.page(fields).encode() for fields in entries}
        records = tuple(self._put(staged, path, body) for path, body in files.items())
        return MadeLeaf(told, len(own), records, Counted.of(entries))

    def _put(self, staged: Path, path: str, body: bytes) -> FileRecord:
        place = staged / path
        _make_room(place)
        place.write_bytes(body)
        self._records.append(content.record_of(path, body))
        return self._records[-1]


def _make_room(path: Path) -> None:
    """Nothing; `path` can be made: what stood there is a file of another bundle too, and is not to be written into."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """A column of texts as the bytes that it is held as, of which a few rows are hashed without being read."""

    ends: np.ndarray
    body: memoryview

    @classmethod
    def of(cls, column: pa.StringArray) -> _Bytes:
        _, ends, body = column.buffers()
        return cls(np.frombuffer(ends, np.int32)[column.offset :], memoryview(body or b""))

    def add(self, digest: hashlib.blake2b, start: int, end: int) -> None:
        """Nothing; `digest` is of the rows from `start` to before `end` as well."""
        ends = self.ends[start : end + 1]
        digest.update((ends - ends[0]).tobytes())
        digest.update(self.body[ends[0] : ends[-1]])
