"""What a report asks of the file: what is new, growing, fixed and unanswered, and how good the sources are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.store.opening import held
from pipeline.store.querying import query

_COLUMNS = """
    e.entry_id, e.signature, e.signature_zh, e.domain, e.evidence_count, CAST(e.first_seen AS VARCHAR) AS first_seen,
    CAST(e.last_confirmed AS VARCHAR) AS last_seen, e.is_answered
"""
_NEW = f"""
SELECT {_COLUMNS} FROM entries e
WHERE EXISTS (FROM journal j WHERE j.subject_id = e.entry_id AND j.action = 'new')
  AND NOT EXISTS (FROM journal j WHERE j.subject_id = e.entry_id AND j.action = 'new'
    AND list_contains($1, coalesce(j.run_id, '')))
ORDER BY e.evidence_count DESC, e.entry_id
"""  # noqa: S608  (its own columns)
_TRENDING = f"""
SELECT {_COLUMNS}, t.recent_documents AS recent, t.earlier_documents AS earlier
FROM trending($1) t JOIN entries e USING (entry_id)
WHERE t.recent_documents > t.earlier_documents AND t.recent_documents > 1 -- one document is no trend
ORDER BY t.recent_documents - t.earlier_documents DESC, t.recent_documents DESC, e.entry_id LIMIT $2
"""  # noqa: S608
_FIXED = f"""
WITH newest AS (SELECT max(posted_at) AS at FROM events WHERE severity = 'error'),
said AS (SELECT v.entry_id, max(v.posted_at) AS said_at, arg_max(v.url, v.posted_at) AS url FROM evidence v, newest
    WHERE v.role IN ('fix', 'worked') AND v.posted_at > newest.at - to_days($1::INTEGER) GROUP BY v.entry_id)
SELECT {_COLUMNS}, CAST(CAST(s.said_at AS DATE) AS VARCHAR) AS said_on, s.url
FROM said s JOIN entries e USING (entry_id)
ORDER BY s.said_at DESC, e.entry_id LIMIT $2
"""  # noqa: S608
_UNANSWERED = f"""
SELECT {_COLUMNS} FROM entries e WHERE NOT e.is_answered
ORDER BY e.evidence_count DESC, e.occurrence_count DESC, e.entry_id
LIMIT $1
"""  # noqa: S608
_VERSIONS = """
SELECT v.version, sum(v.document_count)::BIGINT AS documents FROM versions v WHERE v.status = 'affected'
GROUP BY v.version ORDER BY documents DESC, v.version LIMIT $1
"""
_MONTHS = """
SELECT strftime(min_at, '%Y-%m') AS month, count(*) AS documents FROM
    (SELECT document_id, min(posted_at) AS min_at FROM events WHERE severity = 'error' AND posted_at IS NOT NULL
     GROUP BY document_id) GROUP BY month ORDER BY month
"""
_SOURCES = """
SELECT source, form, count(*) AS documents, count(*) FILTER (is_lossy) AS lossy,
    count(*) FILTER (hidden_count > 0) AS hidden, count(*) FILTER (opened_at IS NULL) AS undated
FROM documents GROUP BY source, form ORDER BY documents DESC, source, form
"""
_SKIPPED = (
    "SELECT stage, reason, count(*) AS items FROM skipped GROUP BY ALL ORDER BY items DESC, stage, reason LIMIT $1"
)
_CHINESE = """
SELECT split_part(field, '[', 1) AS field, count(*) AS wanted,
    count(*) FILTER (status NOT IN ('untranslated', 'not_applicable')) AS present
FROM translations WHERE status <> 'not_applicable' GROUP BY ALL ORDER BY field
"""
_ANSWERS = "SELECT domain, entry_count AS entries, answered_count AS answered FROM answer_shares"
_NEWEST = "SELECT CAST(CAST(max(posted_at) AS DATE) AS VARCHAR) FROM events WHERE severity = 'error'"


def overview(path: Path, *, known_runs: Sequence[str], days: int, limit: int) -> dict[str, Any]:
    """What the file tells for a report, one list of rows a question; all but `new` have at most `limit` rows.

    New is what no run of `known_runs` had published; trending and fixed are of the last `days` days of the data.
    """
    with held(path):
        return {
            "new": _rows(path, _NEW, list(known_runs)),
            "trending": _rows(path, _TRENDING, days, limit),
            "fixed": _rows(path, _FIXED, days, limit),
            "unanswered": _rows(path, _UNANSWERED, limit),
            "versions": _rows(path, _VERSIONS, limit),
            "months": _rows(path, _MONTHS),
            "sources": _rows(path, _SOURCES),
            "skipped": _rows(path, _SKIPPED, limit),
            "chinese": _rows(path, _CHINESE),
            "answers": _rows(path, _ANSWERS),
            "newest": query(path, _NEWEST).rows[0][0] or "",
        }


def _rows(path: Path, sql: str, *parameters: object) -> list[dict[str, Any]]:
    found = query(path, sql, parameters=parameters)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]
