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
from operator import attrgetter
from pathlib import Path
from typing import Any

from pipeline.export import content
from pipeline.export.content import Facts
from pipeline.export.passed import Fields, MadeLeaf, Passed, Tally, digest
from pipeline.export.placing import publish
from pipeline.lexicon import advice
from pipeline.records import Skipped, kept, leaves
from pipeline.records.bundle import Answers, FileRecord, bundle_id
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError
from pipeline.records.exported import Row, Rows, Sign

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
    refused: tuple[Skipped, ...] = ()  # entries that are not passed on
    passed: Passed = _NONE_PASSED  # what the next export need not ask or make
    kept_count: int = 0  # entries in leaves that are the files of the bundle before
    leaf_count: int = 1
    made_count: int = 1  # of these, leaves that were made now


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry that may be published, before its line is made."""

    entry_id: str
    place: str
    size: int  # bytes of its line
    digest: str  # of its line
    indexed: str  # as in `Sign`
    is_row: bool  # its row is its line


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
            row = Row(entry.id, line, medoid, score, own)
            self._rows.append((Sign(entry.id, len(row.json.encode()), digest(row.json), ""), row))

    def signs(self) -> Sequence[Sign]:
        return [sign for sign, _ in self._rows]

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        wanted = set(ids)
        return (row for _, row in self._rows if row.entry_id in wanted)


def write(folder: Path, entries: Iterable[KnowledgeEntry], *, facts: Facts | None = None) -> Written:
    """What was written: the bundle of `entries` in `folder`, in place of the one there was, whole or not at all."""
    told = facts or Facts()
    return write_rows(folder, _Given(entries, told), facts=told, passed=_NONE_PASSED)


def write_rows(folder: Path, rows: Rows, *, facts: Facts, passed: Passed) -> Written:
    """`write` of entries as a database has them.

    Of one that stands in `passed` nothing is asked: its row is its line. A leaf of which nothing changed is that of the
    bundle in `folder`, if nothing has touched that.
    """
    signs = rows.signs()
    _check_ids(folder, signs)
    known = [_known(sign) for sign in signs if sign.digest in passed.lines]
    entries, refused = _asked(rows, [sign for sign in signs if sign.digest not in passed.lines])
    filling = _Filling(folder.resolve(), rows, facts, passed)
    publish(folder, lambda staged: filling.fill(staged, [*known, *entries]))
    return replace(filling.written(folder), refused=refused)


def _check_ids(folder: Path, ordered: Sequence[Sign]) -> None:
    for one, other in pairwise(ordered):
        if one.entry_id == other.entry_id:
            hint = "Give ids through run.build.ids."
            raise ExportError(f"two entries are called {one.entry_id}", path=folder, hint=hint)


def _known(sign: Sign) -> _Entry:
    place = leaves.place_of(sign.entry_id)
    return _Entry(sign.entry_id, place, sign.size + 1, sign.digest, sign.indexed, is_row=True)


def _asked(rows: Rows, signs: Sequence[Sign]) -> tuple[list[_Entry], tuple[Skipped, ...]]:
    """(those that pass the gate, the others)."""
    by_id = {sign.entry_id: sign for sign in signs}
    entries: list[_Entry] = []
    refused: list[Skipped] = []
    for batch in _batches([(sign.size, [sign.entry_id]) for sign in signs]):
        for row in rows.rows([name for own in batch for name in own]):
            fields = _fields(row.json)
            lost = _refused(fields)
            if lost is not None:
                refused.append(lost)
                continue
            line = content.line(fields)
            made = replace(by_id[row.entry_id], size=len(line.encode()) - 1, digest=digest(line[:-1]))
            entries.append(replace(_known(made), is_row=line[:-1] == row.json))
    return entries, tuple(refused)


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


class _Filling:
    """The folder that is being made, beside the bundle of before."""

    def __init__(self, before: Path, rows: Rows, facts: Facts, passed: Passed) -> None:
        self._before, self._rows, self._facts, self._passed = before, rows, facts, passed
        self._ignored = content.ignored(facts)
        self._leaves: dict[str, list[_Entry]] = {}
        self._registries: dict[str, dict[str, Any]] = {}  # of each leaf the fields
        self._made: dict[str, MadeLeaf] = {}
        self._made_count = 0
        self._kept_count = 0
        self._lines: frozenset[str] = frozenset()
        self._records: list[FileRecord] = []  # of all files, the manifest's last

    def fill(self, staged: Path, entries: Sequence[_Entry]) -> None:
        """Nothing; the files of the bundle stand in `staged`."""
        self._lines = frozenset(entry.digest for entry in entries)
        self._lay_out(entries)
        told = {prefix: self._told(prefix) for prefix in self._leaves}
        stale = [prefix for prefix in self._leaves if not self._taken(staged, prefix, told[prefix])]
        self._made_count = len(stale)
        self._kept_count = sum(leaf.count for leaf in self._made.values())
        self._make(staged, stale, told)
        tally = Tally()
        for leaf in self._made.values():
            tally.add(leaf.tally)
        if self._is_split:
            head = content.index((), normaliser=self._facts.normaliser, ignored=self._ignored)
            self._put(staged, leaves.HEAD, head.encode())
        for name, body in told_beside(tally.answers(), self._leaves).items():
            self._put(staged, name, body)
        counts = {prefix: leaf.count for prefix, leaf in self._made.items()}
        self._put(staged, kept.MANIFEST, content.manifest(tally, self._facts, self._records, counts))

    def written(self, folder: Path) -> Written:
        """What stands in `folder`, which was filled."""
        return Written(
            folder,
            bundle_id(self._records[:-1]),
            len(self._lines),
            len(self._records),
            sum(record.bytes for record in self._records),
            passed=Passed(self._passed.made_by, self._lines, self._made),
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

    def _lay_out(self, entries: Sequence[_Entry]) -> None:
        """Nothing; it is known which entries and which rows of the registry each leaf has."""
        places = {name: leaves.place_of(name) for name in content.names_of(self._facts.registry)}
        sized = [*((entry.place, entry.size) for entry in entries), *((place, 0) for place in places.values())]
        self._leaves = {prefix: [] for prefix in leaves.split(sized)}
        held = leaves.holders(self._leaves)
        for entry in sorted(entries, key=attrgetter("entry_id")):
            self._leaves[str(held(entry.place))].append(entry)
        self._registries = content.registry_rows(self._facts.registry, self._leaves, places)

    def _told(self, prefix: str) -> str:
        """A digest of all that a leaf is made of."""
        facts = self._facts
        found = hashlib.blake2b(digest_size=16)
        ignored = [] if self._is_split else [one.model_dump() for one in self._ignored]
        head = [self._passed.made_by, facts.normaliser, self._has_pages, prefix, ignored]
        found.update(content.compact_json(head).encode())
        for entry in self._leaves[prefix]:
            found.update(f"\x1e{entry.entry_id}\x1f{entry.digest}\x1f{entry.indexed}".encode())
        found.update(b"\x1d" + content.compact_json(self._registries[prefix]).encode())
        return found.hexdigest()

    def _taken(self, staged: Path, prefix: str, told: str) -> bool:
        """Whether the leaf stands in `staged` now: second names of the files of before, which are whole."""
        last = self._passed.leaves.get(prefix)
        if not self._passed.made_by or last is None or last.told != told:
            return False
        if not last.is_whole(self._before):
            return False
        try:
            for file in last.files:
                self._link(staged, file)
        except OSError:  # it went a moment ago
            return False
        self._made[prefix] = last
        self._records += last.files
        return True

    def _link(self, staged: Path, file: FileRecord) -> None:
        old, new = self._before / file.path, staged / file.path
        new.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # a leaf that could not be linked to its end
            try:
                os.link(old, new)
            except FileNotFoundError:
                raise
            except OSError:  # this file system gives a file one name alone
                shutil.copyfile(old, new)

    def _make(self, staged: Path, prefixes: Sequence[str], told: Mapping[str, str]) -> None:
        """Nothing; these leaves stand in `staged`, made of rows that are read now."""
        sized = [(sum(entry.size for entry in self._leaves[one]), [one]) for one in prefixes]
        for batch in _batches(sized):
            own = [prefix for group in batch for prefix in group]
            ids = [entry.entry_id for prefix in own for entry in self._leaves[prefix]]
            rows = {row.entry_id: row for row in self._rows.rows(ids)}
            for prefix in own:
                self._made[prefix] = self._leaf(staged, prefix, rows, told[prefix])

    def _leaf(self, staged: Path, prefix: str, rows: Mapping[str, Row], told: str) -> MadeLeaf:
        own = [(entry, rows[entry.entry_id]) for entry in self._leaves[prefix]]
        entries = [json.loads(row.json) if entry.is_row else _fields(row.json) for entry, row in own]
        made = [f"{row.json}\n" if e.is_row else content.line(f) for (e, row), f in zip(own, entries, strict=True)]
        index = [content.index_line(f, row) for (_, row), f in zip(own, entries, strict=True)]
        aside = () if self._is_split else self._ignored
        bodies = {
            leaves.LINES: "".join(made).encode(),
            leaves.TABLE: content.parquet(entries, made),
            leaves.INDEX: content.index(index, normaliser=self._facts.normaliser, ignored=aside).encode(),
            leaves.REGISTRY: content.registry_page(prefix, self._registries[prefix]).encode(),
        }
        files = {leaves.path(prefix, name): body for name, body in bodies.items()}
        if self._has_pages:
            files |= {content.page_path(fields["id"]): content.page(fields).encode() for fields in entries}
        records = tuple(self._put(staged, path, body) for path, body in files.items())
        return MadeLeaf(told, len(own), records, Tally.of(entries))

    def _put(self, staged: Path, path: str, body: bytes) -> FileRecord:
        place = staged / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)  # a second name of a leaf that could not be linked to its end
        place.write_bytes(body)
        self._records.append(content.record_of(path, body))
        return self._records[-1]
