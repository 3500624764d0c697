"""What is wrong in a home, by name: in raw, in what was made of it, in the home's own memory; and what of it is mended.

Each part checks itself: raw by its index, kept files by their hashes, the journal and the file of runs by their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline import raw
from pipeline.records.errors import RawError, StoreError
from pipeline.records.kept import Verdict
from pipeline.run.build import history, holding
from pipeline.run.build.places import Places
from pipeline.run.check import integrity
from pipeline.run.home import recording

_RESTORE = "Restore it from a backup, or bring its source in again; `errmine build --accept-loss` goes on without."
_REPAIR = "`errmine reconcile --repair` makes it anew."
_BUILD = "`errmine build` makes it anew from raw."
_EXPORT = "`errmine export` makes it anew."
#: Runs that leave a database, and those that leave a bundle.
_BUILDS, _EXPORTS = frozenset({"build", "run"}), frozenset({"export", "run"})


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that is not as it was written."""

    place: str  # a file of the home, or a document
    problem: str
    cure: str  # what to do, in one sentence


def found(places: Places) -> list[Wrong]:
    """Everything that is wrong in a home; nothing is changed. What only waits for a build or an export is not wrong."""
    seen: dict[tuple[str, str], Wrong] = {}
    for one in (*_in_raw(places), *_kept(places), *_absent(places), *_memory(places)):
        seen.setdefault((one.place, one.problem), one)
    return list(seen.values())


def repair(places: Places, *, build: Callable[[], object], export: Callable[[], object]) -> list[Wrong]:
    """What is still wrong after all was made anew that can be: from raw, and raw itself where nothing of it is lost.

    Raises:
        PipelineError: the disk does not take it, or another process is at work on raw.
    """
    layer = raw.RawLayer(places.raw)
    raw.mend(layer)
    raw.remake_index(layer)
    integrity.drop_damaged(places)
    recording.put_aside(places.home)
    if all(one.cure != _RESTORE for one in _in_raw(places)):
        build()
    # the database of the last build may be whole where raw is not; an export of another home's would be wrong
    if places.database.exists() and all(one.place != _relative(places.database, places) for one in found(places)):
        export()
    return found(places)


def _in_raw(places: Places) -> Iterator[Wrong]:
    layer = raw.RawLayer(places.raw)
    index = "raw/index.jsonl"
    try:
        stock = layer.stock()
        for loss in stock.losses:
            name, _, problem = loss.partition(" ")
            yield Wrong(f"raw/{name}", problem, _RESTORE)
        for line in stock.broken:
            yield Wrong(index, line, _REPAIR)
        if stock.is_cut:
            yield Wrong(index, "its last line has no end", _REPAIR)
        pages = {ref.sha256 for ref in layer.refs()}
    except RawError as error:
        yield Wrong(_relative(error.path, places), str(error), _RESTORE)
        return
    for name in holding.gone(places.database, layer, lambda: pages, home=places.home):
        yield Wrong(name, "the last build had the document, and raw has it no more", _RESTORE)


def _kept(places: Places) -> Iterator[Wrong]:
    for file in integrity.kept_files(places):
        if file.verdict != Verdict.OK:
            yield Wrong(_relative(file.path, places), f"is {file.verdict}", file.cure)


def _absent(places: Places) -> Iterator[Wrong]:
    """What a run on record has made and is not there."""
    done = {row.flow for row in recording.rows(places.home) if row.status in {"completed", "partial"}}
    if done & _BUILDS and not places.database.exists():
        yield Wrong(_relative(places.database, places), "is missing", _BUILD)
    if done & _EXPORTS and not (places.curated / "manifest.json").exists():
        yield Wrong("curated/manifest.json", "is missing", _EXPORT)


def _memory(places: Places) -> Iterator[Wrong]:
    """The file of runs and the journal."""
    for line in recording.damaged(places.home):
        path, _, problem = line.partition(" line ")
        yield Wrong(_relative(Path(path), places), f"line {problem}", _REPAIR)
    try:
        file = history.JournalFile.read(places.home)
        for line in file.broken:
            yield Wrong(_relative(file.path, places), line, _BUILD)
        last = history.last_build(places.database, home=places.home, is_gone=places.is_gone)
    except StoreError as error:
        yield Wrong(_relative(error.path, places), str(error), _REPAIR)
        return
    if not last.is_in_step:
        for warning in last.warnings:
            yield Wrong(_relative(places.database, places), warning, _BUILD)


def _relative(path: Path, places: Places) -> str:
    return str(path.relative_to(places.home)) if path.is_relative_to(places.home) else str(path)
