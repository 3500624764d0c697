"""Entries in the JSON form of ErrorCanon 1.0.0, for programs that read that. Unknown stays null; nothing is made up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.records.entry import DeadEnd, Edge, KnowledgeEntry, Workaround
from pipeline.text import is_web_address

#: The version of the foreign form that is written.
CANON_VERSION = "1.0.0"
#: ErrorCanon names an environment in the last part of an id; our entries hold for all that their evidence names.
ANYWHERE = "any"


def files(entries: Sequence[KnowledgeEntry]) -> Iterator[tuple[str, str]]:
    """(path, text) of one file an entry, `<domain>/<slug>/any.json`."""
    for entry in sorted(entries, key=lambda one: one.id):
        text = json.dumps(canon(entry), ensure_ascii=False, sort_keys=True, indent=2)
        yield f"{entry.id}/{ANYWHERE}.json", text + "\n"


def canon(entry: KnowledgeEntry) -> dict[str, Any]:
    """One entry in the foreign form."""
    return {
        "schema_version": CANON_VERSION,
        "id": f"{entry.id}/{ANYWHERE}",
        "url": _address(entry),
        "error": {
            "signature": entry.signature,
            "regex": entry.regex,
            "domain": entry.domain,
            "category": entry.category,
            "first_seen": entry.first_seen,
            "last_confirmed": entry.last_confirmed,
        },
        "environment": _environment(entry),
        "verdict": {
            "resolvable": entry.resolvable,
            "fix_success_rate": entry.fix_success_rate,
            "confidence": entry.confidence,
            "last_updated": entry.last_updated,
            "summary": entry.root_cause,
        },
        "dead_ends": [_dead_end(one) for one in entry.dead_ends],
        "workarounds": [_workaround(one) for one in entry.workarounds],
        "transition_graph": {
            "leads_to": [_followed(edge) for edge in entry.transition_graph.leads_to],
            "preceded_by": [_followed(edge) for edge in entry.transition_graph.preceded_by],
            "frequently_confused_with": [_confused(edge) for edge in entry.transition_graph.frequently_confused_with],
        },
        "metadata": {
            "generated_by": "errmine",
            "generation_date": entry.last_updated,
            "review_status": entry.verification_tier,
            "evidence_count": entry.evidence_count,
            "last_verification": entry.last_confirmed,
        },
    }


def _address(entry: KnowledgeEntry) -> str | None:
    """The first address that a browser opens; a bundle made elsewhere may have others."""
    given = (entry.official_doc_url, *(piece.url for piece in entry.evidence[:1]))
    return next((url for url in given if url and is_web_address(url)), None)


def _sources(remedy: Workaround | DeadEnd) -> list[str]:
    return [url for url in remedy.sources if is_web_address(url) or url.startswith("urn:sha256:")]


def _environment(entry: KnowledgeEntry) -> dict[str, Any]:
    systems = sorted({fact.value for fact in entry.environment if fact.name == "os"})
    return {
        "runtime": {"name": entry.domain, "version_range": None},
        "os": systems[0] if len(systems) == 1 else None,
        "additional": {fact.name: fact.value for fact in reversed(entry.environment) if fact.name != "os"},
    }


def _workaround(remedy: Workaround) -> dict[str, Any]:
    return {
        "action": remedy.action,
        "how": remedy.how,
        "success_rate": remedy.success_rate,
        "condition": remedy.condition or "",
        "sources": _sources(remedy),
    }


def _dead_end(remedy: DeadEnd) -> dict[str, Any]:
    return {
        "action": remedy.action,
        "why_fails": remedy.why_fails,
        "fail_rate": remedy.fail_rate,
        "condition": remedy.condition or "",
        "sources": _sources(remedy),
    }


def _followed(edge: Edge) -> dict[str, Any]:
    return {"error_id": f"{edge.entry_id}/{ANYWHERE}", "probability": None, "condition": edge.reason}


def _confused(edge: Edge) -> dict[str, Any]:
    return {"error_id": f"{edge.entry_id}/{ANYWHERE}", "distinction": edge.reason}
