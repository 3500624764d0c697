"""Does raw still hold what the home was made of? A build that would make the home smaller is refused before it begins.

Two things are asked: the index of raw, whether all of its segments are there as they were written; and what was built
last, whether raw still has the page of each of its documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pipeline import export as bundle
from pipeline import raw, store
from pipeline.records import kept
from pipeline.records.entry import Evidence, Lead, Reply
from pipeline.records.errors import ConfigError, ExportError, RawError, StoreError
from pipeline.records.kept import Seen
from pipeline.run.build import history, planning
from pipeline.store import reading

#: Segments and documents that a message names one by one; `errmine reconcile` names more.
_MOST_NAMED = 20
_HINT = (
    "Put the files back into raw/segments, from a backup or another copy of the home, or bring the source in again; "
    "`errmine reconcile` names what is wrong. To go on without them: `errmine build --accept-loss`."
)


def settle(layer: raw.RawLayer, *, is_loss_accepted: bool, seen: Seen | None = None) -> list[str]:
    """What there is to say of raw, whose index names what lies there then; lost segments are expected no more.

    A segment that `seen` knows as whole is not read again.

    Raises:
        RawError: a segment is missing or damaged, and nobody accepted it.
    """
    stock = layer.settled(seen)
    if stock.losses and not is_loss_accepted:
        raise shrunk(layer.folder, f"{len(stock.losses):,} of its segments are lost or damaged", stock.losses)
    pages = [f"{page.item_id}: {page.detail}" for page in raw.go_on_without(layer, stock)]
    return [*_told(layer.folder, stock), *named("gone on without:", stock.losses), *named("page lost:", pages)]


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of the last build: its database, and segments of raw that hold every page of that database."""

    database: str  # what tells it from any other
    segments: frozenset[str]
    hidden: str  # a digest of what was forgotten

    @classmethod
    def read(cls, path: Path) -> Held | None:
        """What the file at `path` says; None where it is not what was written."""
        try:
            found = kept.unsealed_json(path)
            return cls(found["database"], frozenset(found["segments"]), found["hidden"])
        except (kept.Damaged, KeyError, TypeError):
            return None

    @classmethod
    def note(cls, path: Path, database: Path, plan: Path) -> None:
        """Nothing; the next build knows that `database` was made of what the plan in the folder `plan` names."""
        segments, hidden = planning.extent(plan)
        told = {"database": store.sign(database), "segments": sorted(segments), "hidden": hidden}
        with suppress(OSError):  # the next build compares page by page
            kept.write(path, kept.sealed_json(told))

    def is_in(self, layer: raw.RawLayer, database: Path) -> bool:
        """True if raw has all of these segments still, and the database is this one: then no page can be gone.

        Whether they are whole `settle` asks.
        """
        there = {path.name for path in layer.index.files()}
        return (
            bool(self.segments)
            and self.segments <= there
            and self.hidden == planning.told_of(layer.hidden())
            and self.database == (store.sign(database) or None)
        )


def gone(database: Path, layer: raw.RawLayer, pages: Callable[[], Collection[str]], *, home: Path) -> list[str]:
    """Ids of the documents in the database whose page raw has lost, sorted; `pages` are those that it calls current.

    They are asked for where there are documents that could be gone.

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


def _lost(there: Mapping[str, str], pages: Callable[[], Collection[str]], layer: raw.RawLayer) -> list[str]:
    current = pages() if there else ()
    doubtful = {name: page for name, page in there.items() if page not in current}
    held = {ref.sha256 for ref in layer.refs()} if doubtful else set()
    return sorted(name for name, page in doubtful.items() if page not in held and not layer.is_forgotten(name))


def _quoted(curated: Path) -> dict[str, str]:
    """The page of each document that the bundle's own entries quote."""
    quoted: dict[str, str] = {}
    try:
        for entry in (one for own in bundle.entries_by_leaf(curated) for one in own):
            if entry.provenance.origin == "mined":
                pieces: list[Evidence | Lead | Reply] = [*entry.evidence, *entry.leads, *entry.replies]
                quoted |= {piece.document_id: piece.raw_sha256 for piece in pieces}
    except ExportError:  # there is none, or it is damaged as well
        return {}
    return quoted


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
