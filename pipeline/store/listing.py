"""Lists of entries: what is reported most, what fits some conditions, ids and titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.records.errors import StoreError
from pipeline.store.querying import query

# How many documents an entry has is what its own page and `match` say. Conditions that are not asked for hold for every
# row. A code is named with its family or without; a repository by its last part too.
# A code of no catalogue (E1042, a status of HTTP) is a gate of its cluster.
_GATES = """(
    SELECT cluster_id, unnest(string_split(pair[2], ',')) AS code
    FROM (SELECT cluster_id, unnest(from_json(gate, '[["VARCHAR"]]')) AS pair FROM clusters)
    WHERE pair[1] IN ('errno', 'status'))"""
_LISTED = """
SELECT s.entry_id, s.cluster_id, s.signature, s.signature_zh, s.domain,
    coalesce(e.evidence_count, s.document_count) AS document_count, s.event_count,
    s.first_seen::VARCHAR AS first_seen, s.last_seen::VARCHAR AS last_seen, s.is_answered,
    {documented} AS is_documented
FROM cluster_summary s LEFT JOIN entries e USING (entry_id)
WHERE s.document_count > 0
  AND ($domain = '' OR s.domain = $domain)
  AND NOT ($unanswered AND (s.is_answered OR s.entry_id IS NULL))
  AND ($since = '' OR s.last_seen >= try_cast($since AS DATE))
  AND ($code = '' OR s.entry_id IN (
        SELECT entry_id FROM (SELECT entry_id, unnest(codes) AS code FROM entries)
        WHERE lower(code) = lower($code) OR ends_with(lower(code), ':' || lower($code)))
    OR s.cluster_id IN (SELECT cluster_id FROM {gates} WHERE lower(code) = lower($code)))
  AND ($repository = '' OR s.entry_id IN (
        SELECT entry_id FROM evidence
        WHERE lower(repo) = lower($repository) OR ends_with(lower(repo), '/' || lower($repository))))
ORDER BY document_count DESC, coalesce(e.occurrence_count, s.event_count) DESC, s.entry_id, s.cluster_id
LIMIT $limit
"""
_HAS_DOCUMENTATION = """
FROM duckdb_columns() WHERE table_name = 'cluster_summary' AND column_name = 'is_documented' AND NOT internal
"""
_IDS = """
SELECT entry_id FROM entries WHERE starts_with(entry_id, $1)
UNION SELECT alias FROM aliases WHERE $1 <> '' AND starts_with(alias, $1)
ORDER BY 1 LIMIT $2
"""
_NAMES = {
    "domain": "SELECT DISTINCT domain FROM entries WHERE domain IS NOT NULL ORDER BY domain",
    "repository": "SELECT DISTINCT repo FROM evidence WHERE repo IS NOT NULL ORDER BY repo",
    "code": "SELECT unnest(codes) AS code FROM entries UNION SELECT code FROM {gates} ORDER BY code",
}
_TITLES = "SELECT document_id, title FROM documents WHERE title <> '' AND document_id IN (SELECT unnest($1::VARCHAR[]))"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries are listed; what is "" or False is not asked for."""

    domain: str = ""
    code: str = ""  # "cuda:cudaErrorIllegalAddress", or without its family; "E1042", "503"
    repository: str = ""  # owner/repo, or its last part
    since: str = ""  # ISO day: reported then or later
    is_unanswered: bool = False


def listed(path: Path, wanted: Wanted, *, limit: int) -> list[dict[str, Any]]:
    """The errors that are asked for, those that most documents report first.

    Raises:
        StoreError: an older errmine made the file.
    """
    if not query(path, "FROM duckdb_views() WHERE view_name = 'answer_shares'").rows:
        raise StoreError(
            f"{path} does not say what is answered", path=path, hint="An older errmine made it: `errmine build`."
        )
    parameters = {
        "domain": wanted.domain,
        "code": wanted.code,
        "repository": wanted.repository,
        "since": wanted.since,
        "unanswered": wanted.is_unanswered,
        "limit": limit,
    }
    has_documentation = query(path, _HAS_DOCUMENTATION).rows
    shown = "s.is_documented" if has_documentation else "false"
    listed_as = _LISTED.replace("{documented}", shown).replace("{gates}", _GATES)
    found = query(path, listed_as, parameters=parameters)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def entry_ids(path: Path, *, beginning: str = "", limit: int = 1_000_000) -> list[str]:
    """The ids of entries that begin so, sorted; former ones too where a beginning is given."""
    return [str(row[0]) for row in query(path, _IDS, parameters=(beginning, limit)).rows]


def names(path: Path, kind: str) -> list[str]:
    """Every domain, repository or code that entries name, sorted; `kind` is one of these three words."""
    return [str(row[0]) for row in query(path, _NAMES[kind].replace("{gates}", _GATES)).rows]


def titles(path: Path, document_ids: Sequence[str]) -> dict[str, str]:
    """The titles of these documents, by their ids, as their authors wrote them; those without one are left out."""
    return dict(query(path, _TITLES, parameters=(list(document_ids),)).rows)
