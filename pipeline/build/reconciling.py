"""Is what is published still what raw says? Looks only: what it finds, the next build and export put right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline import export as bundle
from pipeline import raw
from pipeline.build.building import Places
from pipeline.build.mapping import finished, plan
from pipeline.build.quarantine import listed
from pipeline.build.summary import Summary, count
from pipeline.entry import KnowledgeEntry
from pipeline.errors import ExportError, RawError, StoreError
from pipeline.records import Skipped
from pipeline.store import reading


def reconcile(places: Places, *, partition_documents: int) -> Summary:
    """What drifted: damaged pages, documents not built yet, entries not exported, evidence that raw has no more."""
    layer = raw.RawLayer(places.raw)
    current = layer.documents()
    damaged = [found for refs in current if (found := _damage(layer, refs)) is not None]
    stages = [count("raw", taken=len(current), given=len(current) - len(damaged), lost=damaged)]
    partitions = plan(places.raw, partition_documents=partition_documents)
    done = finished(partitions, places.shards)
    figures = {
        "documents_not_built": sum(len(p.documents) for p in partitions if p.name not in done),
        "quarantined": len(listed(places)),
        **_published(places, {page.sha256 for refs in current for page in refs.refs}),
    }
    return Summary(stages, tuple(damaged), figures)


def _damage(layer: raw.RawLayer, refs: raw.DocumentRefs) -> Skipped | None:
    try:
        layer.read(refs.refs)
    except RawError as error:
        return Skipped("raw", refs.document_key, "damaged_page", str(error))
    return None


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
    except StoreError as error:
        return {"database": f"unreadable: {error}"}


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
