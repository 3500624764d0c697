"""Does raw still hold what the home was made of? A build that would make the home smaller is refused before it begins.

Two things are asked: the index of raw, whether all of its segments are there as they were written; and what was built
last, whether raw still has the page of each of its documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from pipeline import export as bundle
from pipeline import raw
from pipeline.records.entry import Evidence, Lead
from pipeline.records.errors import ConfigError, ExportError, RawError, StoreError
from pipeline.run.build import history
from pipeline.store import reading

#: Segments and documents that a message names one by one; `errmine reconcile` names more.
_MOST_NAMED = 20
_HINT = (
    "Put the files back into raw/segments, from a backup or another copy of the home, or bring the source in again; "
    "`errmine reconcile` names what is wrong. To go on without them: `errmine build --accept-loss`."
)


def settle(layer: raw.RawLayer, *, is_loss_accepted: bool) -> list[str]:
    """What there is to say of raw, whose index names what lies there then; lost segments are expected no more.

    Raises:
        RawError: a segment is missing or damaged, and nobody accepted it.
    """
    stock = layer.settled()
    if stock.losses and not is_loss_accepted:
        raise shrunk(layer.folder, f"{len(stock.losses):,} of its segments are lost or damaged", stock.losses)
    pages = [f"{page.item_id}: {page.detail}" for page in raw.go_on_without(layer, stock)]
    return [*_told(layer.folder, stock), *named("gone on without:", stock.losses), *named("page lost:", pages)]


def gone(database: Path, layer: raw.RawLayer, pages: Collection[str], *, home: Path) -> list[str]:
    """Ids of the documents in the database whose page raw has lost, sorted; `pages` are those that it calls current.

    Raw keeps every version of a page, so one that was there once is there, unless its document was forgotten. Where the
    database cannot be read, or is another home's, the entries mined for the bundle say what there was.
    """
    try:
        found = reading.document_pages(database) if database.exists() else None
    except (StoreError, ConfigError):  # it cannot be opened, or breaks when it is asked
        found = None
    lost = _lost(found or {}, pages, layer)
    if found is None or (lost and history.last_build(database, home=home, is_gone=layer.has_forgotten).is_foreign):
        lost = _lost(_quoted(database.parent), pages, layer)
    return lost


def _lost(there: Mapping[str, str], pages: Collection[str], layer: raw.RawLayer) -> list[str]:
    doubtful = {name: page for name, page in there.items() if page not in pages}
    held = {ref.sha256 for ref in layer.refs()} if doubtful else set()
    return sorted(name for name, page in doubtful.items() if page not in held and not layer.is_forgotten(name))


def _quoted(curated: Path) -> dict[str, str]:
    """The page of each document that the bundle's own entries quote."""
    if not (curated / "entries.jsonl").exists():
        return {}
    try:
        entries = bundle.read_entries(curated)
    except ExportError:  # it is damaged as well
        return {}
    quoted: list[Evidence | Lead] = []
    for entry in entries:
        if entry.provenance.origin == "mined":
            quoted += [*entry.evidence, *entry.leads]
    return {piece.document_id: piece.raw_sha256 for piece in quoted}


def shrunk(folder: Path, what: str, examples: Sequence[str]) -> RawError:
    """The error of a build that would make the home smaller."""
    some = "; ".join(examples[:_MOST_NAMED]) + (" …" if len(examples) > _MOST_NAMED else "")
    return RawError(f"{folder}: {what}: {some}", path=folder, hint=_HINT)


def named(what: str, names: Sequence[str]) -> Iterator[str]:
    """A sentence for each of the first names, and one for the rest."""
    yield from (f"{what} {name}" for name in names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        yield f"{what} {len(names) - _MOST_NAMED:,} more"


def _told(folder: Path, stock: raw.Stock) -> Iterator[str]:
    """What was noticed about raw and put right."""
    if not stock.is_indexed:
        yield f"{folder}/index.jsonl: there was none; it names the {len(stock.unnamed):,} segments that lie there now"
    else:
        yield from named(f"{folder}/segments: lay there unnamed, taken in:", [one.name for one in stock.unnamed])
    yield from (f"{folder}/index.jsonl: {line}" for line in stock.broken)
