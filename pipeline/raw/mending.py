"""What becomes of damaged segments: written anew where all pages are whole, put aside where a person says so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipeline.raw.layer import RawLayer
from pipeline.raw.segment import Stock, writing_to
from pipeline.records import RawPage, Skipped, disk
from pipeline.records.errors import RawError


def mend(layer: RawLayer) -> tuple[str, ...]:
    """The names of the damaged segments that are whole again: all of their pages were, so they are written anew.

    Raises:
        RawError: another process is at work on raw, or raw cannot be written to.
    """
    changed = layer.stock().changed
    if not changed:
        return ()
    with layer.locked(exclusive=True):
        return tuple(name for name in changed if _mended(layer, layer.segments / name))


def go_on_without(layer: RawLayer, stock: Stock) -> tuple[Skipped, ...]:
    """The pages that are lost with the damaged segments of `stock`, as far as their names can still be read.

    Their other pages are kept, in a new segment; the damaged file goes to `set-aside`. The index expects neither it nor
    what is missing any more. A file that comes back whole is taken in again.

    Raises:
        RawError: another process is at work on raw, or raw cannot be written to.
    """
    if not stock.losses:
        return ()
    with layer.locked(exclusive=True):
        with writing_to(layer.folder):
            layer.index.add(*({"change": "lost", "segment": one.name} for one in stock.missing))
        return tuple(page for name in stock.changed for page in _salvaged(layer, layer.segments / name))


def remake_index(layer: RawLayer) -> None:
    """Nothing; an index with damaged lines lies beside another, of its other lines and all whole segments.

    Raises:
        RawError: another process is at work on raw, or raw cannot be written to.
    """
    stock = layer.stock()
    if stock.broken or stock.is_cut:
        with layer.locked(exclusive=True), writing_to(layer.folder):
            layer.index.remake()


def purge(layer: RawLayer) -> int:
    """How many segments that lie aside were erased: those with a page of a forgotten thread, and those that are so
    damaged that nobody can say whose pages they hold.

    Raises:
        RawError: raw cannot be written to.
    """
    erased = [path for path in sorted((layer.folder / "set-aside").glob("*.zip")) if _may_hold_forgotten(layer, path)]
    with writing_to(layer.folder):
        for path in erased:
            path.unlink(missing_ok=True)
    return len(erased)


def _may_hold_forgotten(layer: RawLayer, path: Path) -> bool:
    try:
        return any(layer.is_forgotten(ref.document_key) for ref in layer.refs_of(path))
    except RawError:
        return True


def _mended(layer: RawLayer, path: Path) -> bool:
    try:
        pages = [layer.read([ref])[0] for ref in layer.refs_of(path)]
    except RawError:
        return False
    name = layer.written(pages)
    if name != path.name:  # packed by another zlib: the same pages under another name
        _put_aside(layer, path, {"change": "replaced", "segment": path.name, "by": name})
    return True


def _salvaged(layer: RawLayer, path: Path) -> list[Skipped]:
    whole: list[RawPage] = []
    lost: list[Skipped] = []
    try:
        refs = layer.refs_of(path)
    except RawError as error:
        refs, lost = [], [Skipped("raw", path.name, "damaged_page", str(error))]
    for ref in refs:
        try:
            whole += layer.read([ref])
        except RawError as error:
            lost.append(Skipped("raw", ref.document_key, "damaged_page", str(error)))
    if layer.written(whole) != path.name:
        _put_aside(layer, path, {"change": "lost", "segment": path.name})
    return lost


def _put_aside(layer: RawLayer, path: Path, change: Mapping[str, str]) -> None:
    folder = layer.folder / "set-aside"
    with writing_to(layer.folder):
        layer.index.add(change)
        folder.mkdir(mode=0o700, exist_ok=True)
        path.replace(folder / path.name)
        disk.sync(layer.segments)
