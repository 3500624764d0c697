"""Entries as rows of flat tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pipeline.records.entry import DeadEnd, Edge, Environment, KnowledgeEntry, Version, Workaround

Row = tuple[Any, ...]
_Cited = Workaround | DeadEnd | Version | Environment | Edge


def canonical(value: object) -> str:
    """`value` as JSON with sorted keys: equal values, equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def tables_of(entries: Iterable[KnowledgeEntry]) -> dict[str, list[Row]]:
    """Rows of every table that entries fill, by the table's name, in the order of the entries."""
    tables: dict[str, list[Row]] = {name: [] for name in _MAKERS}
    for entry in entries:
        for name, make in _MAKERS.items():
            tables[name].extend(make(entry))
    return tables


def _entries(entry: KnowledgeEntry) -> Iterator[Row]:
    yield (
        entry.id,
        entry.cluster_id,
        entry.signature,
        entry.signature_zh,
        entry.regex,
        entry.domain,
        entry.category,
        entry.subcategory,
        entry.exception_type,
        entry.root_cause,
        entry.root_cause_zh,
        entry.root_cause_type,
        entry.error_code,
        entry.codes,
        entry.verification_tier,
        entry.confidence,
        entry.fix_success_rate,
        entry.resolvable,
        entry.first_seen,
        entry.last_confirmed,
        entry.last_updated,
        entry.evidence_count,
        entry.occurrence_count,
        len(entry.workarounds),
        len(entry.dead_ends),
        entry.official_doc_url,
        entry.official_doc_section,
        entry.tags,
        entry.provenance.origin,
        canonical(entry.model_dump(mode="json")),
    )


def _evidence(entry: KnowledgeEntry) -> Iterator[Row]:
    for piece in entry.evidence:
        yield (
            entry.id,
            piece.evidence_id,
            piece.role,
            piece.url,
            piece.kind,
            piece.document_id,
            piece.repo,
            piece.number,
            piece.state,
            piece.posted_at,
            piece.author_role,
            piece.quote,
            piece.quote_lang,
            piece.start,
            piece.end,
            piece.raw_sha256,
            piece.rule,
        )


def _cited_parts(entry: KnowledgeEntry) -> Iterator[tuple[str, int, list[str]]]:
    yield "root_cause", 0, entry.root_cause_evidence
    graph = entry.transition_graph
    lists: tuple[tuple[str, Sequence[_Cited]], ...] = (
        ("workaround", entry.workarounds),
        ("dead_end", entry.dead_ends),
        ("version", entry.versions),
        ("environment", entry.environment),
        ("leads_to", graph.leads_to),
        ("preceded_by", graph.preceded_by),
        ("frequently_confused_with", graph.frequently_confused_with),
    )
    for part, items in lists:
        for ordinal, item in enumerate(items):
            yield part, ordinal, item.evidence


def _citations(entry: KnowledgeEntry) -> Iterator[Row]:
    for part, ordinal, evidence in _cited_parts(entry):
        for evidence_id in evidence:
            yield entry.id, part, ordinal, evidence_id


def _remedies(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, (way, chinese) in enumerate(zip(entry.workarounds, entry.workarounds_zh, strict=True)):
        yield entry.id, "workaround", ordinal, *_workaround(way, chinese)
    for ordinal, (end, chinese) in enumerate(zip(entry.dead_ends, entry.dead_ends_zh, strict=True)):
        yield entry.id, "dead_end", ordinal, *_dead_end(end, chinese)


def _workaround(way: Workaround, chinese: str | None) -> Row:
    counts = (way.worked, way.failed, way.success_rate, way.tier, way.sources)
    return (way.action, chinese, way.action_lang, way.how, way.condition, None, *counts)


def _dead_end(end: DeadEnd, chinese: str | None) -> Row:
    counts = (end.worked, end.failed, end.fail_rate, None, end.sources)
    return (end.action, chinese, end.action_lang, None, end.condition, end.why_fails, *counts)


def _versions(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, item in enumerate(entry.versions):
        changes = (item.introduced, item.deprecated, item.removed, item.behavior_change)
        yield entry.id, ordinal, item.version, *changes, item.status, item.count


def _environment(entry: KnowledgeEntry) -> Iterator[Row]:
    for ordinal, item in enumerate(entry.environment):
        yield entry.id, ordinal, item.name, item.value, item.count


def _edges(entry: KnowledgeEntry) -> Iterator[Row]:
    for relation in ("leads_to", "preceded_by", "frequently_confused_with"):
        for ordinal, edge in enumerate(getattr(entry.transition_graph, relation)):
            yield entry.id, relation, ordinal, edge.entry_id, edge.count, edge.reason


def _translations(entry: KnowledgeEntry) -> Iterator[Row]:
    for field, made in sorted(entry.translations.items()):
        how = (made.status, made.engine, made.source_lang, made.source_sha256)
        yield entry.id, field, *how, canonical(made.gates), made.reason


_MAKERS = {
    "entries": _entries,
    "evidence": _evidence,
    "citations": _citations,
    "remedies": _remedies,
    "versions": _versions,
    "environment": _environment,
    "edges": _edges,
    "translations": _translations,
}
