"""The questions that the commands ask of the file, each with its SQL in one place."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.records import Cluster, Template
from pipeline.store.contents import JournalRow
from pipeline.store.opening import meta
from pipeline.store.querying import query

_ENTRY = """
SELECT json FROM entries
WHERE entry_id = $1 OR cluster_id = $1 OR entry_id IN (SELECT entry_id FROM aliases WHERE alias = $1)
ORDER BY entry_id
"""
_CLUSTER = """
SELECT cluster_id, entry_id, text, gate, regex, lowest_score, event_count, document_count FROM clusters
WHERE cluster_id = $1 OR entry_id = $1
   OR cluster_id IN (SELECT cluster_id FROM assignments WHERE signature_id = $1)
   OR cluster_id IN (SELECT cluster_id FROM cluster_events WHERE event_id = $1)
   OR entry_id IN (SELECT entry_id FROM aliases WHERE alias = $1)
ORDER BY cluster_id
"""
_TEMPLATES = """
SELECT a.signature_id, s.text, s.event_count, a.rule, a.score, a.explanation
FROM assignments a JOIN signatures s USING (signature_id) WHERE a.cluster_id = $1
ORDER BY s.event_count DESC, a.signature_id
"""
_APART = """
SELECT c.cluster_id, c.entry_id, c.text, n.score, n.reason FROM (
    SELECT other_id AS cluster_id, score, reason FROM neighbours WHERE cluster_id = $1
    UNION SELECT cluster_id, score, reason FROM neighbours WHERE other_id = $1
) n JOIN clusters c USING (cluster_id) ORDER BY n.score DESC, c.cluster_id
"""
_EVENTS = """
SELECT e.event_id, e.url, e.posted_at, e.quote, s.notes FROM cluster_events e JOIN events s USING (event_id)
WHERE e.cluster_id = $1 ORDER BY e.posted_at, e.event_id LIMIT $2
"""
_RUNS = "SELECT run_id, flow, status, started_at, ended_at, detail FROM runs ORDER BY started_at DESC, run_id LIMIT $1"
_DRIFT = """
SELECT detail->'drift' FROM runs WHERE flow = 'reconcile' AND status = 'completed'
ORDER BY started_at DESC, run_id LIMIT 1
"""
_STAGES = "SELECT stage, item_kind, in_count, out_count, skipped_count FROM stage_counts ORDER BY rowid"
_SKIPPED = "SELECT stage, reason, count(*) AS items FROM skipped GROUP BY ALL ORDER BY items DESC, stage, reason"
_ENTRIES = "SELECT json FROM entries ORDER BY entry_id"
_JOURNAL = "SELECT action, subject_id, other_id, detail FROM journal ORDER BY ordinal"
_CLUSTERS = """
SELECT c.cluster_id, c.signature_id, c.exception_type, c.text, c.gate, coalesce(c.regex, ''), c.lowest_score,
    (SELECT list(a.signature_id ORDER BY a.signature_id) FROM assignments a WHERE a.cluster_id = c.cluster_id)
FROM clusters c ORDER BY c.cluster_id
"""
_MEMBERSHIPS = """
SELECT c.cluster_id, c.event_count,
    (SELECT list(a.signature_id ORDER BY a.signature_id) FROM assignments a WHERE a.cluster_id = c.cluster_id)
FROM clusters c ORDER BY c.cluster_id
"""
_SIGNATURES = """
SELECT signature_id, exception_type, text, gate, is_gate_complete, is_truncated, event_count, first_seen
FROM signatures ORDER BY signature_id
"""
_SOURCES = "SELECT source, count(*) FROM documents GROUP BY source ORDER BY source"

#: Events that an explanation shows; the view cluster_events has them all.
_MOST_EVENTS = 20


def entry(path: Path, wanted: str) -> dict[str, Any] | None:
    """The entry of an id, a former id or a cluster's id, as published; None if there is none."""
    rows = query(path, _ENTRY, parameters=[wanted]).rows
    return json.loads(rows[0][0]) if rows else None


def explanation(path: Path, wanted: str) -> dict[str, Any] | None:
    """Why a cluster holds what it holds, and what it nearly held; `wanted` is an entry, cluster, template or event."""
    found = _dicts(path, _CLUSTER, wanted)
    if not found:
        return None
    cluster_id = found[0]["cluster_id"]
    return {
        **found[0],
        "gate": dict(json.loads(found[0]["gate"])),
        "templates": _dicts(path, _TEMPLATES, cluster_id),
        "apart": _dicts(path, _APART, cluster_id),
        "events": _dicts(path, _EVENTS, cluster_id, _MOST_EVENTS),
    }


def status(path: Path, *, runs: int = 10) -> dict[str, Any]:
    """What ran when, what each stage took and gave, what was skipped, and what the last reconcile found to differ."""
    told = query(path, _DRIFT).rows
    return {
        "runs": _dicts(path, _RUNS, runs),
        "stages": _dicts(path, _STAGES),
        "skipped": _dicts(path, _SKIPPED),
        "drift": json.loads(told[0][0]) if told and told[0][0] else [],
    }


def entries(path: Path) -> list[dict[str, Any]]:
    """All entries as published, sorted by id."""
    return [json.loads(row[0]) for row in query(path, _ENTRIES).rows]


@dataclass(frozen=True, slots=True)
class Membership:
    """Who stands in a cluster."""

    cluster_id: str
    event_count: int
    members: tuple[str, ...]  # signature ids


def memberships(path: Path) -> tuple[Membership, ...]:
    """Every cluster of the file with its members, by its id."""
    rows = query(path, _MEMBERSHIPS).rows
    return tuple(Membership(name, count, tuple(members or ())) for name, count, members in rows)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a bundle needs of the file besides the entries."""

    meta: dict[str, str]
    clusters: tuple[Cluster, ...]
    templates: tuple[Template, ...]
    sources: dict[str, int]  # source -> documents


def facts(path: Path) -> Facts:
    """The clusters and templates of the file as records, its own facts, and its sources."""
    return Facts(
        meta=meta(path),
        clusters=tuple(
            Cluster(name, medoid, kind, text, gate=_gate(gate), members=tuple(members), regex=regex, lowest_score=score)
            for name, medoid, kind, text, gate, regex, score, members in query(path, _CLUSTERS).rows
        ),
        templates=tuple(
            Template(name, kind, text, _gate(gate), whole, cut, count=count, first_seen=str(day or ""))
            for name, kind, text, gate, whole, cut, count, day in query(path, _SIGNATURES).rows
        ),
        sources=dict(query(path, _SOURCES).rows),
    )


def journal(path: Path) -> tuple[JournalRow, ...]:
    """The journal so far, oldest first."""
    return tuple(JournalRow(*row) for row in query(path, _JOURNAL).rows)


def _gate(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in json.loads(text))


def _dicts(path: Path, sql: str, *parameters: object) -> list[dict[str, Any]]:
    result = query(path, sql, parameters=parameters)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]
