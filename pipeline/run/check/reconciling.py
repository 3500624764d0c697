"""Is everything as it was written, is what is published still what raw says, and do its sources agree? Looks only.

What is damaged `damage` says and repairs. What raw and the bundle differ in, the next build and export put right. What
official sources differ in, a person reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pipeline import export as bundle
from pipeline import raw
from pipeline.providers.openxla import drift
from pipeline.records import RawPage, Skipped
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.errors import ConfigError, ExportError, RawError, StoreError
from pipeline.records.summary import Summary, count
from pipeline.run.build.mapping import finished
from pipeline.run.build.places import Places
from pipeline.run.build.planning import plan
from pipeline.run.check import damage
from pipeline.run.check.quarantine import listed
from pipeline.store import reading

#: The status of a reconcile that found something wrong.
DAMAGED = "damaged"
#: Forms of pages that are compared with each other.
_OFFICIAL = frozenset({drift.MARKDOWN, drift.HTML, drift.HEADER})


def reconcile(places: Places, *, partition_documents: int) -> Summary:
    """What is wrong and what drifted: damage, documents not built, entries not exported, evidence that raw has lost.

    `figures["wrong"]` has a row (place, problem, cure) for everything that is not as it was written.
    `figures["drift"]` has a row for every place at which two forms of an official page, a page and the list of codes,
    or that list and the shipped catalogue say different things.
    """
    wrong = [asdict(each) for each in damage.found(places)]
    layer = raw.RawLayer(places.raw)
    try:
        current = layer.documents()
    except RawError as error:  # a segment of which not even the list of pages can be read: nothing can be compared
        return Summary(
            [], (Skipped("raw", error.path.name, "damaged_page", str(error)),), {"wrong": wrong, "drift": []}
        )
    damaged: list[Skipped] = []
    official: list[Sequence[RawPage]] = []
    for refs in current:
        pages = _pages(layer, refs)
        if isinstance(pages, Skipped):
            damaged.append(pages)
        elif any(page.form in _OFFICIAL for page in pages):
            official.append(pages)
    stages = [count("raw", taken=len(current), given=len(current) - len(damaged), lost=damaged)]
    partitions = plan(places.raw, partition_documents=partition_documents, like=places.planned)
    done = finished(partitions, places.shards)
    differing = [asdict(found) for found in _differing(official)]
    figures = {
        "wrong": wrong,
        "documents_not_built": sum(len(p.documents) for p in partitions if p.name not in done),
        "quarantined": len(listed(places)),
        **_published(places, {page.sha256 for refs in current for page in refs.refs}),
        **_harmed(places, wrong),
        "places_that_differ": len(differing),
        "drift": differing,
    }
    return Summary(stages, tuple(damaged), figures)


def _pages(layer: raw.RawLayer, refs: raw.DocumentRefs) -> list[RawPage] | Skipped:
    try:
        return layer.read(refs.refs)
    except RawError as error:
        return Skipped("raw", refs.document_key, "damaged_page", str(error))


def _differing(official: Sequence[Sequence[RawPage]]) -> Iterator[drift.Difference]:
    """What the official pages differ in, from each other, from the list of codes, and that from ours."""
    lists = [page for pages in official for page in pages if page.document_key.endswith(drift.HEADER_KEY_END)]
    codes = {code: row for page in lists for code, row in drift.listed_codes(page).items()}
    for page in lists:
        yield from drift.of_list(page)
    side = drift.HEADER if codes else drift.SHIPPED
    for pages in official:
        yield from drift.between_forms(pages)
        yield from drift.with_list(pages, codes or drift.shipped_codes(), side=side)


def _published(places: Places, pages: set[str]) -> dict[str, object]:
    """How the database and the bundle stand to each other and to raw."""
    if not places.database.exists():
        return {"database": "missing"}
    try:
        return {
            "database": "readable",
            **_against_bundle(places),
            "stale_entries": sum(_is_stale(entry, pages) for entry in reading.entries(places.database)),
        }
    except (StoreError, ConfigError) as error:
        return {"database": f"unreadable: {error}"}


def _harmed(places: Places, wrong: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Which of the two is not as it was written, though it could be read for the comparison."""
    harmed = {row["place"] for row in wrong}
    database, curated = (str(path.relative_to(places.home)) for path in (places.database, places.curated))
    told = {
        "database": database in harmed,
        "bundle": any(p.startswith(f"{curated}/") and p != database for p in harmed),
    }
    return {name: "damaged" for name, is_harmed in told.items() if is_harmed}


def _is_stale(entry: Mapping[str, Any], pages: set[str]) -> bool:
    """True if raw has no longer, or has a newer version of, a page that the entry quotes."""
    return any(piece["raw_sha256"] not in pages for piece in entry["evidence"])


def _against_bundle(places: Places) -> dict[str, object]:
    """Entries that the bundle lacks, has otherwise or has no longer to have, and ids that were withdrawn."""
    try:
        outside = {entry.id: entry for entry in bundle.read_entries(places.curated)}
        withdrawn = len(bundle.read_registry(places.curated).withdrawn)
    except ExportError as error:
        return {"bundle": f"missing or unreadable: {error}"}
    inside = {row["id"]: KnowledgeEntry.model_validate(row) for row in reading.entries(places.database)}
    drifted = sum(inside.get(name) != outside.get(name) for name in inside.keys() | outside.keys())
    return {"bundle": "readable", "entries_not_exported": drifted, "withdrawn_entries": withdrawn}
