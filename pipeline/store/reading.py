"""The questions that the commands ask of the file, each with its SQL in one place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.records import Cluster, Template
from pipeline.records.errors import StoreError
from pipeline.records.exported import OF_NAMES, registered
from pipeline.store.contents import JournalRow, OverrideRow
from pipeline.store.opening import OF_THE_FILE, held, meta, read_only
from pipeline.store.querying import query

_ENTRY = """
SELECT json FROM entries
WHERE entry_id = $1 OR cluster_id = $1 OR entry_id IN (SELECT entry_id FROM aliases WHERE alias = $1)
   OR cluster_id IN (SELECT cluster_id FROM cluster_aliases WHERE alias = $1)
ORDER BY entry_id
"""
_CLUSTER = """
SELECT cluster_id, entry_id, signature AS text, gate, regex, lowest_score, event_count, document_count FROM clusters
WHERE cluster_id = $1 OR entry_id = $1
   OR cluster_id IN (SELECT cluster_id FROM assignments WHERE signature_id = $1)
   OR cluster_id IN (SELECT cluster_id FROM cluster_events WHERE event_id = $1)
   OR entry_id IN (SELECT entry_id FROM aliases WHERE alias = $1)
   OR cluster_id IN (SELECT cluster_id FROM cluster_aliases WHERE alias = $1)
ORDER BY cluster_id
"""
_TEMPLATES = """
SELECT a.signature_id, s.signature AS text, s.event_count, a.rule, a.score, a.explanation
FROM assignments a JOIN signatures s USING (signature_id) WHERE a.cluster_id = $1
ORDER BY s.event_count DESC, a.signature_id
"""
_APART = """
SELECT c.cluster_id, c.entry_id, c.signature AS text, n.score, n.reason FROM (
    SELECT other_id AS cluster_id, score, reason FROM neighbours WHERE cluster_id = $1
    UNION SELECT cluster_id, score, reason FROM neighbours WHERE other_id = $1
) n JOIN clusters c USING (cluster_id) ORDER BY n.score DESC, c.cluster_id
"""
_EVENTS = """
SELECT e.event_id, e.url, e.posted_at, e.quote, s.notes FROM cluster_events e JOIN events s USING (event_id)
WHERE e.cluster_id = $1 ORDER BY e.posted_at, e.event_id LIMIT $2
"""
_HAS_SEARCH = "FROM duckdb_tables() WHERE table_name = 'search_terms' AND NOT temporary"
#: Few words fit many entries about as well: then that of more documents is asked for more often. Many words tell
#: entries apart, and less is added. On 8,734 entries "cuda out of memory" and "KeyError" then give the most reported
#: one first; of 60 whole signatures 57 find their own entry first (58 without), all 60 among the first three.
_SEARCH = """
SELECT * REPLACE (round(
    score * (1 + least(0.15, 2.4 / greatest(len(terms_of($1)), 1) ** 2) * ln(greatest(evidence_count, 1))), 3) AS score)
FROM search($1) ORDER BY 2 DESC, evidence_count DESC, entry_id LIMIT $2
"""
#: Where a file of before 2.4 has its registry, as JSON.
_REGISTRY_OF_BEFORE = "registry"
_REGISTRY = "SELECT entry_id, state, leads_to, cluster_id, signature_id, former_ids, own_id FROM registry"
_RUNS = "SELECT run_id, flow, status, started_at, ended_at, detail FROM runs ORDER BY started_at DESC, run_id LIMIT $1"
_DRIFT = """
SELECT detail->'drift' FROM runs WHERE flow = 'reconcile' AND status IN ('completed', 'damaged')
ORDER BY started_at DESC, run_id LIMIT 1
"""
_STAGES = "SELECT stage, item_kind, in_count, out_count, skipped_count FROM stage_counts ORDER BY rowid"
_SKIPPED = "SELECT stage, reason, count(*) AS items FROM skipped GROUP BY ALL ORDER BY items DESC, stage, reason"
_CHINESE = """
SELECT field, status, items, round(items / sum(items) OVER (PARTITION BY field), 4) AS share
FROM (SELECT split_part(field, '[', 1) AS field, status, count(*) AS items FROM translations GROUP BY ALL)
ORDER BY field, items DESC, status
"""
_ANSWERS = "FROM answer_shares"
_ENTRIES = "SELECT json FROM entries ORDER BY entry_id"
_JOURNAL = "SELECT * EXCLUDE (ordinal) FROM journal ORDER BY ordinal"
_OVERRIDES = """
SELECT kind, place, name, reason, texts, signature_ids, problem FROM overrides ORDER BY ordinal
"""
_SHOWN_IN = """
SELECT signature_id AS name, list(DISTINCT document_id) FROM events
WHERE signature_id IS NOT NULL GROUP BY ALL
UNION ALL
SELECT a.cluster_id, list(DISTINCT e.document_id) FROM events e JOIN assignments a USING (signature_id) GROUP BY ALL
"""
_STANDING = """
SELECT signature_id, coalesce(s.exception_type, c.exception_type), coalesce(s.signature, c.signature),
    coalesce(s.gate, c.gate),
    coalesce(s.is_gate_complete, false), coalesce(s.is_truncated, false), coalesce(s.event_count, 0) AS events,
    s.first_seen, a.cluster_id, c.entry_id, a.rule, a.explanation
FROM signatures s FULL JOIN assignments a USING (signature_id) LEFT JOIN clusters c ON c.cluster_id = a.cluster_id
WHERE signature_id = $1
   OR signature_id IN (SELECT e.signature_id FROM events e WHERE e.event_id = $1)
   OR c.cluster_id IN (SELECT $1 UNION ALL SELECT cluster_id FROM cluster_aliases WHERE alias = $1)
   OR c.entry_id IN (SELECT $1 UNION ALL SELECT entry_id FROM aliases WHERE alias = $1)
ORDER BY events DESC, signature_id
"""
_CLASSES = """
SELECT e.exception_type AS name, count(DISTINCT e.document_id) AS documents
FROM events e JOIN assignments a USING (signature_id)
WHERE a.cluster_id = $1 AND e.exception_type IS NOT NULL GROUP BY ALL ORDER BY documents DESC, name
"""
_APART_REASON = """
SELECT score, reason FROM neighbours
WHERE (cluster_id = $1 AND other_id = $2) OR (cluster_id = $2 AND other_id = $1) ORDER BY score DESC LIMIT 1
"""
_ENTRY_OF = "SELECT cluster_id, entry_id FROM clusters WHERE entry_id IS NOT NULL"
_TEXTS = "SELECT signature_id, signature FROM signatures"
_CLUSTER_ALIASES = "SELECT alias, cluster_id FROM cluster_aliases ORDER BY alias"
_EVENT_SIGNATURES = """
SELECT document_id, signature_id, message FROM events WHERE signature_id IN (SELECT unnest($1::VARCHAR[]))
"""
_CLUSTERS = """
SELECT c.cluster_id, c.signature_id, c.exception_type, c.signature, c.gate, coalesce(c.regex, ''), c.lowest_score,
    (SELECT list(a.signature_id ORDER BY a.signature_id) FROM assignments a WHERE a.cluster_id = c.cluster_id)
FROM clusters c ORDER BY c.cluster_id
"""
_ASSIGNED = "SELECT signature_id, cluster_id FROM assignments"
_EVENT_COUNTS = "SELECT cluster_id, event_count FROM clusters"
_SIGNATURES = """
SELECT signature_id, exception_type, signature, gate, is_gate_complete, is_truncated, event_count, first_seen
FROM signatures ORDER BY signature_id
"""
_DOCUMENT_PAGES = "SELECT document_id, raw_sha256 FROM documents"
_SOURCES = "SELECT source, count(*) FROM documents GROUP BY source ORDER BY source"

#: Events that an explanation shows; the view cluster_events has them all.
_MOST_EVENTS = 20


def entry(path: Path, wanted: str) -> dict[str, Any] | None:
    """The entry of an id, a former id or a cluster's id, as published; None if there is none."""
    rows = query(path, _ENTRY, parameters=[wanted]).rows
    return json.loads(rows[0][0]) if rows else None


def explanation(path: Path, wanted: str) -> dict[str, Any] | None:
    """Why a cluster holds what it holds, and what it nearly held; `wanted` is an entry, cluster, signature or event."""
    with held(path):
        found = _dicts(path, _CLUSTER, wanted)
        if not found:
            return None
        cluster_id = found[0]["cluster_id"]
        return {
            **found[0],
            "gate": dict(json.loads(found[0]["gate"])),
            "classes": _dicts(path, _CLASSES, cluster_id),
            "templates": _dicts(path, _TEMPLATES, cluster_id),
            "apart": _dicts(path, _APART, cluster_id),
            "events": _dicts(path, _EVENTS, cluster_id, _MOST_EVENTS),
        }


def status(path: Path, *, runs: int = 10) -> dict[str, Any]:
    """What ran when, what each stage gave, what was skipped, how much is answered and in Chinese, and what differs."""
    with held(path):
        told = query(path, _DRIFT).rows
        return {
            "runs": _dicts(path, _RUNS, runs),
            "stages": _dicts(path, _STAGES),
            "skipped": _dicts(path, _SKIPPED),
            "answers": _dicts(path, _ANSWERS) if _has_answers(path) else [],
            "chinese": _dicts(path, _CHINESE),
            "drift": json.loads(told[0][0]) if told and told[0][0] else [],
        }


def entries(path: Path) -> list[dict[str, Any]]:
    """All entries as published, sorted by id."""
    return [json.loads(row[0]) for row in query(path, _ENTRIES).rows]


def source_counts(path: Path) -> dict[str, int]:
    """How many documents there are of each source."""
    return dict(query(path, _SOURCES).rows)


def document_pages(path: Path) -> dict[str, str]:
    """The sha256 of the raw page of every document."""
    return dict(query(path, _DOCUMENT_PAGES).rows)


#: The cluster of each signature, and how many errors each cluster has.
ASSIGNED = pa.schema([("signature_id", pa.string()), ("cluster_id", pa.string())])
EVENT_COUNTS = pa.schema([("cluster_id", pa.string()), ("event_count", pa.int64())])


def assigned(path: Path) -> pa.Table:
    """The cluster of each signature of the file, as `ASSIGNED` has them, in any order."""
    return query(path, _ASSIGNED).table.cast(ASSIGNED).combine_chunks()


def event_counts(path: Path) -> pa.Table:
    """How many errors each cluster of the file has, as `EVENT_COUNTS` has them, in any order."""
    return query(path, _EVENT_COUNTS).table.cast(EVENT_COUNTS).combine_chunks()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a bundle needs of the file besides the entries."""

    meta: dict[str, str]
    clusters: tuple[Cluster, ...]
    templates: tuple[Template, ...]
    sources: dict[str, int]  # source -> documents
    ignored: dict[str, str]  # signature that people ignore -> their reason


def facts(path: Path) -> Facts:
    """The clusters and templates of the file as records, its own facts, and its sources."""
    with held(path):
        return Facts(
            meta=meta(path),
            clusters=tuple(
                Cluster(
                    name, medoid, kind, text, gate=_gate(gate), members=tuple(members), regex=regex, lowest_score=score
                )
                for name, medoid, kind, text, gate, regex, score, members in query(path, _CLUSTERS).rows
            ),
            templates=tuple(_template(row) for row in query(path, _SIGNATURES).rows),
            sources=source_counts(path),
            ignored={
                one: row.reason
                for row in reversed(overrides(path))
                if row.kind == "ignore"
                for side in row.signature_ids
                for one in side
            },
        )


def journal(path: Path) -> tuple[JournalRow, ...]:
    """The journal so far, oldest first."""
    return tuple(JournalRow(*row) for row in query(path, _JOURNAL).rows)


def overrides(path: Path) -> tuple[OverrideRow, ...]:
    """What people had decided when the file was made."""
    if not _has_table(path, "overrides"):
        return ()
    return tuple(
        OverrideRow(kind, place, name, reason, tuple(texts), tuple(tuple(side) for side in sides), problem)
        for kind, place, name, reason, texts, sides, problem in query(path, _OVERRIDES).rows
    )


def cluster_aliases(path: Path) -> tuple[tuple[str, str], ...]:
    """Every former cluster id with the cluster that it means now."""
    return tuple(query(path, _CLUSTER_ALIASES).rows) if _has_table(path, "cluster_aliases") else ()


def registry(path: Path) -> pa.Table:
    """`OF_NAMES` of every id that was ever published, and of those that led to one.

    Raises:
        ValueError: a file of before, which has them as JSON, holds what is no registry.
    """
    if (told := meta(path).get(_REGISTRY_OF_BEFORE)) is None:
        rows = query(path, _REGISTRY).table
        return rows.rename_columns(OF_NAMES.names).cast(OF_NAMES)
    from pipeline.records.bundle import Registry, parsed  # noqa: PLC0415  (pydantic, for files of before alone)

    every = registered(parsed(told, Registry)).select(OF_NAMES.names)
    return every.filter(pc.not_equal(every["state"], "cluster"))


def registry_version(path: Path) -> str:
    """The version of the registry of a bundle that the file is, or was, made into."""
    told = meta(path)
    before = told.get(_REGISTRY_OF_BEFORE)
    return str(json.loads(before)["schema_version"] if before else told["registry_version"])


def event_signatures(path: Path, signature_ids: Sequence[str]) -> list[tuple[str, str, str]]:
    """(document id, signature id, message) of the events that have one of these signatures, in their order."""
    return [
        (document, signature, text)
        for document, signature, text in query(path, _EVENT_SIGNATURES, parameters=[list(signature_ids)]).rows
    ]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a template stands, and why; in no cluster where people set it aside."""

    template: Template
    cluster_id: str | None
    entry_id: str | None
    rule: str | None
    explanation: str | None


def standings(path: Path, wanted: str) -> tuple[Standing, ...]:
    """The templates of an entry, cluster, template or event (or of a former id), the most frequent first."""
    return tuple(Standing(_template(row[:8]), *row[8:]) for row in query(path, _STANDING, parameters=[wanted]).rows)


def apart_reason(path: Path, one: str, other: str) -> tuple[float, str] | None:
    """What was written down about two clusters that look alike: score and reason; None if nothing was."""
    rows = query(path, _APART_REASON, parameters=[one, other]).rows
    return (rows[0][0], rows[0][1]) if rows else None


def entry_of(path: Path) -> dict[str, str]:
    """The entry of each cluster that has one."""
    return dict(query(path, _ENTRY_OF).rows)


def signature_texts(path: Path) -> dict[str, str]:
    """The text of each template."""
    return dict(query(path, _TEXTS).rows)


def _has_table(path: Path, name: str) -> bool:
    """Whether a file, which may be of an older schema, has a table."""
    with read_only(path) as connection:
        asked = f"SELECT 1 FROM duckdb_tables() WHERE table_name = ? AND {OF_THE_FILE}"  # noqa: S608  (from `opening`)
        found = connection.execute(asked, [name]).fetchall()
    return bool(found)


def _template(row: Sequence[Any]) -> Template:
    name, kind, text, gate, whole, cut, count, day = row
    return Template(name, kind, text, _gate(gate), whole, cut, count=count, first_seen=str(day or ""))


def _gate(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in json.loads(text))


def _dicts(path: Path, sql: str, *parameters: object) -> list[dict[str, Any]]:
    result = query(path, sql, parameters=parameters)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def search(path: Path, words: str, *, limit: int) -> list[dict[str, Any]]:
    """Entries that have words of `words`, best first: entry_id, score, signature, signature_zh, ..., found."""
    if not query(path, _HAS_SEARCH).rows:
        raise StoreError(f"{path} has no words to search", path=path, hint="An older errmine made it: `errmine build`.")
    found = query(path, _SEARCH, parameters=(words, limit))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def _has_answers(path: Path) -> bool:
    return bool(query(path, f"FROM duckdb_views() WHERE view_name = 'answer_shares' AND {OF_THE_FILE}").rows)


def documents_of_names(path: Path) -> dict[str, frozenset[str]]:
    """The documents that show each template and each cluster, by their ids."""
    with read_only(path) as connection:
        rows = connection.execute(_SHOWN_IN).fetchall()
    return {str(name): frozenset(documents) for name, documents in rows}
