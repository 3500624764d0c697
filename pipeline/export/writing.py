"""The bundle on disk: written beside the old one, then exchanged with it."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from pipeline.export import content, llms, schemas
from pipeline.export.content import Facts
from pipeline.export.passed import Passed, digest
from pipeline.lexicon import advice
from pipeline.records import Skipped, kept
from pipeline.records.bundle import Answers, FileRecord, answers, bundle_id
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ExportError

# A finished folder takes the place of another: in one system call where the system can, manifest last where not.

#: Names in curated/ that belong to the bundle; anything else there (errmine.duckdb) is carried over.
BUNDLE_NAMES = (
    "entries", "entries.jsonl", "entries.parquet", "index.json", "registry.json", "schemas", "llms.txt",
    "manifest.json",
)  # fmt: skip
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Layout:
    """Names in a folder that belong to what is published there; anything else in it is carried over."""

    names: tuple[str, ...]
    manifest: str  # the one that is written last, and moved last: what has it is whole


BUNDLE = Layout(BUNDLE_NAMES, MANIFEST)
_NONE_PASSED = Passed()

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
#: What a kernel or file system says that cannot exchange two folders (or has one mounted).
_CANNOT_EXCHANGE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.EBUSY, errno.EPERM, errno.ENOTSUP})


def publish(folder: Path, fill: Callable[[Path], None], layout: Layout = BUNDLE) -> None:
    """Nothing; `folder` then holds what `fill` wrote into an empty folder; if anything failed, what it held before."""
    target = folder.resolve()
    staged = target.with_name(f".{target.name}.new-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_leftovers(target, layout)
        staged.mkdir()
        fill(staged)
        _flush(staged)
        _swap(staged, target, layout)
    except OSError as error:
        _retire(staged, target, layout)
        raise ExportError(f"cannot write {folder}: {error.strerror or error}", path=folder) from error
    except BaseException:
        _retire(staged, target, layout)
        raise
    _retire(staged, target, layout)


def _swap(staged: Path, target: Path, layout: Layout) -> None:
    if not target.exists():
        staged.rename(target)
    elif _link_strangers(staged, target, layout) and _exchange(staged, target):
        _move_strangers(staged, target, layout)
    else:
        _replace_one_by_one(staged, target, layout)
    _flush_folder(target.parent)


def _strangers(folder: Path, layout: Layout) -> Iterable[Path]:
    return sorted(path for path in folder.iterdir() if path.name not in layout.names)


def _link_strangers(staged: Path, target: Path, layout: Layout) -> bool:
    """True if every plain file of `target` that is not published has a second name in `staged` now."""
    try:
        for path in _strangers(target, layout):
            if path.is_file() and not path.is_symlink():
                os.link(path, staged / path.name)
    except OSError:
        return False
    return True


def _move_strangers(old: Path, target: Path, layout: Layout) -> None:
    for path in _strangers(old, layout):
        if not os.path.lexists(target / path.name):
            path.rename(target / path.name)


def _exchange(one: Path, other: Path) -> bool:
    """True if the two folders changed places; False if this system cannot."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code))


def finish(folder: Path) -> None:
    """Nothing; what a killed run was doing to the bundle in `folder` is done to its end, or undone.

    Raises:
        ExportError: the folder cannot be written.
    """
    target = folder.resolve()
    try:
        _clear_leftovers(target, BUNDLE)
    except OSError as error:
        raise ExportError(f"cannot write the bundle {folder}: {error.strerror or error}", path=folder) from error


def _replace_one_by_one(staged: Path, target: Path, layout: Layout) -> None:
    """A bundle without manifest is not whole: readers refuse it during the moment this takes."""
    manifest = layout.manifest
    source = staged
    if staged.stat().st_dev != target.stat().st_dev:  # the folder is a mount point
        source = target / f".new-{os.getpid()}"
        shutil.copytree(staged, source)
    gone = [name for name in layout.names if (target / manifest).exists() and not (source / name).exists()]
    (target / manifest).unlink(missing_ok=True)
    for name in gone:  # of a bundle without entries; where a killed run is taken up, they were moved before
        if (target / name).is_dir():
            shutil.rmtree(target / name, ignore_errors=True)
        else:
            (target / name).unlink(missing_ok=True)
    for name in layout.names:
        if not (source / name).exists():
            continue
        if (target / name).is_dir():
            shutil.rmtree(target / name)
        (source / name).replace(target / name)
    if source is not staged:
        shutil.rmtree(source)
    _flush_folder(target)


def _clear_leftovers(target: Path, layout: Layout) -> None:
    """Nothing; what a killed run left beside `target` is gone, and what it had not carried over yet is back."""
    for leftover in sorted(target.parent.glob(f".{target.name}.new-*")):
        pid = leftover.name.rpartition("-")[2]
        if pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists():
            continue
        # the manifest is written last and moved last: what has one was whole, and its names were being moved
        if target.exists() and (leftover / layout.manifest).exists() and not (target / layout.manifest).exists():
            _replace_one_by_one(leftover, target, layout)
        _retire(leftover, target, layout)
    for leftover in target.glob(".new-*") if target.exists() else ():  # copies for a mounted folder
        shutil.rmtree(leftover)


def _retire(old: Path, target: Path, layout: Layout) -> None:
    if not old.exists():
        return
    with suppress(OSError):
        if target.exists():
            _move_strangers(old, target, layout)
        shutil.rmtree(old)


def _flush(folder: Path) -> None:
    """Nothing; everything in `folder` is on the disk: one call for thousands of files instead of one each."""
    call = getattr(ctypes.CDLL(None), "syncfs", None)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if call is None or call(descriptor) != 0:
            os.sync()
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Entries into a folder of files.


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in the folder now."""

    folder: Path
    bundle_id: str
    entry_count: int
    file_count: int  # with the manifest
    byte_count: int
    refused: tuple[Skipped, ...] = ()  # entries that are not passed on
    passed: Passed = _NONE_PASSED  # what the next export need not ask
    known_count: int = 0  # entries that were not asked now


@dataclass(frozen=True, slots=True)
class _Ready:
    """An entry that may be published."""

    fields: content.Fields
    line: str
    key: str = ""  # by which it is kept, "" if it is not
    page: FileRecord | None = None  # of the bundle before, made of the same line

    @property
    def entry_id(self) -> str:
        found: str = self.fields["id"]
        return found


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


def _refused(fields: content.Fields) -> Skipped | None:
    place, refusal = next(advice.refused(fields), ("", None))
    if refusal is None:
        return None
    detail = f"{place}: {refusal.detail}" if refusal.detail else place
    return Skipped("export", fields["id"], refusal.reason, detail)


def write(folder: Path, entries: Iterable[KnowledgeEntry], *, facts: Facts | None = None) -> Written:
    """What was written: the bundle of `entries` in `folder`, in place of the one there was, whole or not at all."""
    ordered, refused = passed_on(entries)
    ready = [_Ready(fields, content.line(fields)) for fields in map(content.fields_of, ordered)]
    return _write(folder, ready, refused, facts or Facts())


def write_rows(folder: Path, rows: Iterable[str], *, facts: Facts, passed: Passed) -> Written:
    """`write` of entries that are given as JSON, as a database has them.

    Of one that stands in `passed` nothing is asked: its row is its line, and its page is that of the bundle in `folder`
    if that is whole.
    """
    ready: list[_Ready] = []
    refused: list[Skipped] = []
    known = 0
    for row in rows:
        key = digest(row)
        if key in passed.pages:
            known += 1
            ready.append(_Ready(json.loads(row), f"{row}\n", key, passed.pages[key]))
            continue
        # what the file holds may be older than the gate, and than a field that is added
        fields = content.fields_of(KnowledgeEntry.model_validate(json.loads(row)))
        if (lost := _refused(fields)) is not None:
            refused.append(lost)
            continue
        line = content.line(fields)
        ready.append(_Ready(fields, line, digest(line[:-1])))
    ready.sort(key=lambda one: one.entry_id)
    return replace(_write(folder, ready, tuple(refused), facts, passed), known_count=known)


def _write(
    folder: Path, ready: Sequence[_Ready], refused: tuple[Skipped, ...], facts: Facts, passed: Passed = _NONE_PASSED
) -> Written:
    _check_ids(folder, ready)
    filled = _Filling(folder.resolve(), passed)
    publish(folder, lambda staged: filled.fill(staged, ready, facts))
    records = filled.records
    return Written(
        folder,
        bundle_id(records[:-1]),
        len(ready),
        len(records),
        sum(record.bytes for record in records),
        refused,
        Passed(passed.made_by, filled.pages, filled.tables),
    )


def _check_ids(folder: Path, ordered: Sequence[_Ready]) -> None:
    for one, other in pairwise(ordered):
        if one.entry_id == other.entry_id:
            hint = "Give ids through run.build.ids."
            raise ExportError(f"two entries are called {one.entry_id}", path=folder, hint=hint)


def told_beside(told: Sequence[Answers]) -> dict[str, bytes]:
    """Path -> bytes of what a bundle says of itself: the schemas of its files, and llms.txt."""
    return {**schemas.of_bundle(), llms.NAME: llms.text(told).encode()}


class _Filling:
    """The folder that is being made, beside the bundle of before."""

    def __init__(self, before: Path, passed: Passed) -> None:
        self._before, self._passed = before, passed
        self.records: list[FileRecord] = []  # of all files, the manifest's last
        self.pages: dict[str, FileRecord | None] = {}  # as in `Passed`
        self.tables: dict[str, FileRecord] = {}

    def fill(self, staged: Path, ready: Sequence[_Ready], facts: Facts) -> None:
        """Nothing; the files of the bundle stand in `staged`."""
        for domain in sorted({one.entry_id.partition("/")[0] for one in ready}):
            (staged / "entries" / domain).mkdir(parents=True)
        (staged / "schemas").mkdir()
        entries = [one.fields for one in ready]
        for one in ready:
            page = self._taken(staged, one.page) or self._put(staged, content.page_path(one.entry_id), _page(one))
            if one.key:
                self.pages[one.key] = page
        lines = [one.line for one in ready]
        self._put(staged, "entries.jsonl", "".join(lines).encode())
        self._put_table(staged, entries, lines)
        self._put(staged, "index.json", content.index(entries, facts).encode())
        self._put(staged, "registry.json", content.registry(facts.registry).encode())
        for name, body in told_beside(answers(entries)).items():
            self._put(staged, name, body)
        self._put(staged, MANIFEST, content.manifest(entries, facts, self.records))

    def _put_table(self, staged: Path, entries: Sequence[content.Fields], lines: Sequence[str]) -> None:
        """Nothing; the table of all lines stands there: that of before, if it was made of the same ones."""
        of_lines = self.records[-1].sha256
        table = self._taken(staged, self._passed.tables.get(of_lines))
        self.tables[of_lines] = table or self._put(staged, "entries.parquet", content.parquet(entries, lines))

    def _put(self, staged: Path, path: str, body: bytes) -> FileRecord:
        (staged / path).write_bytes(body)
        self.records.append(content.record_of(path, body))
        return self.records[-1]

    def _taken(self, staged: Path, record: FileRecord | None) -> FileRecord | None:
        """The record, if its file stands in `staged` now: a second name of the old one, which is what was written."""
        if record is None:
            return None
        old = self._before / record.path
        try:
            if old.is_symlink() or kept.sha256(old.read_bytes()) != record.sha256:
                return None
            os.link(old, staged / record.path)
        except OSError:  # it is gone, or this file system gives a file one name alone
            return None
        self.records.append(record)
        return record


def _page(one: _Ready) -> bytes:
    return content.page(one.fields).encode()
