"""Entries, clusters and shards for tests: a small invented world under the owner errmine-fixtures."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.records import (
    Assignment,
    Claim,
    ClaimKind,
    Cluster,
    DocRecord,
    DocRemedy,
    Document,
    DocumentKind,
    Event,
    Fact,
    Neighbour,
    Outcome,
    Post,
    PostKind,
    Quote,
    Severity,
    Signature,
    Skipped,
    Slot,
    content_id,
)
from pipeline.records.entry import KnowledgeEntry
from pipeline.run import shards

OWNER = "errmine-fixtures"
SHARED = "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: {n}, Hardware limit: 101376."
SIGNATURE = "OutOfResources: out of resource: shared memory, Required: <n>, Hardware limit: <n>"
REGEX = r"out of resource: shared memory, Required: \d+, Hardware limit: \d+"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def evidence(number: int, *, role: str = "occurrence", quote: str = "", **changes: Any) -> dict[str, Any]:
    words = quote or SHARED.format(n=147456 + number)
    piece = {
        "evidence_id": content_id("evidence", str(number), role, words),
        "role": role,
        "url": f"https://github.com/{OWNER}/kernels/issues/{number}",
        "kind": "issue",
        "document_id": f"github.com/{OWNER}/kernels#{number}",
        "repo": f"{OWNER}/kernels",
        "number": number,
        "state": "closed",
        "posted_at": f"2026-03-{number:02d}T10:00:00Z",
        "author_role": "NONE",
        "quote": words,
        "quote_lang": "en",
        "start": 10,
        "end": 10 + len(words),
        "raw_sha256": sha256(str(number)),
        "rule": "occurrence.culprit",
    }
    return {**piece, **changes}


def translation(source: str, *, status: str = "template", **changes: Any) -> dict[str, Any]:
    made = {
        "status": status,
        "engine": "template/remedy.set_env@1" if status == "template" else None,
        "gates": {"script": True} if status == "template" else {},
        "source_lang": "en",
        "source_sha256": sha256(source),
        "reason": None if status == "template" else "no engine has a translation",
    }
    return {**made, **changes}


def raw_entry(**changes: Any) -> dict[str, Any]:
    """A whole entry as JSON, sound in every respect, with `changes`."""
    fix = evidence(2, role="worked", quote="Setting TRITON_STAGES=2 made it pass on my card.", author_role="MEMBER")
    tried = evidence(3, role="failed", quote="I tried a bigger num_warps and the limit stayed.")
    action, dead = "Set TRITON_STAGES=2.", "Raise num_warps."
    entry = {
        "schema_version": "1.0",
        "id": "triton/out-of-resources-shared-memory",
        "cluster_id": "cluster:0000000000000001",
        "signature": SIGNATURE,
        "signature_zh": None,
        "regex": REGEX,
        "domain": "triton",
        "category": "resource_limit",
        "subcategory": None,
        "exception_type": "OutOfResources",
        "root_cause": None,
        "root_cause_type": None,
        "root_cause_zh": None,
        "root_cause_evidence": [],
        "versions": [],
        "environment": [{"name": "gpu", "value": "RTX 4090", "count": 1, "evidence": [evidence(1)["evidence_id"]]}],
        "parameters": [
            {
                "name": "required",
                "unit": "byte",
                "least": 147457,
                "greatest": 147457,
                "values": ["147457"],
                "count": 1,
            }
        ],
        "os_specific": {},
        "dead_ends": [
            {
                "action": dead,
                "action_lang": "en",
                "why_fails": None,
                "condition": None,
                "fail_rate": 1.0,
                "worked": 0,
                "failed": 1,
                "sources": [tried["url"]],
                "evidence": [tried["evidence_id"]],
            }
        ],
        "dead_ends_zh": [None],
        "workarounds": [
            {
                "action": action,
                "action_lang": "en",
                "how": "export TRITON_STAGES=2",
                "condition": None,
                "success_rate": 1.0,
                "worked": 1,
                "failed": 0,
                "tier": "maintainer_confirmed",
                "sources": [fix["url"]],
                "evidence": [fix["evidence_id"]],
            }
        ],
        "workarounds_zh": ["设置环境变量 TRITON_STAGES=2。"],
        "transition_graph": {"leads_to": [], "preceded_by": [], "frequently_confused_with": []},
        "official_doc_url": None,
        "official_doc_section": None,
        "error_code": None,
        "codes": [],
        "verification_tier": "maintainer_confirmed",
        "confidence": 0.301,
        "fix_success_rate": 0.5,
        "resolvable": "true",
        "first_seen": "2026-03-01",
        "last_confirmed": "2026-03-03",
        "last_updated": "2026-03-03",
        "evidence_count": 3,
        "occurrence_count": 3,
        "evidence": [evidence(1), fix, tried],
        "tags": [],
        "locale": "en",
        "aliases": [],
        "translations": {
            "signature_zh": translation(SIGNATURE, status="untranslated"),
            "workarounds_zh[0]": translation(action),
            "dead_ends_zh[0]": translation(dead, status="untranslated"),
        },
        "provenance": {
            "rules": {"occurrence.culprit": 3},
            "rule_precision": {},
            "normaliser": "1",
            "origin": "mined",
            "imported_from": None,
        },
    }
    return {**entry, **changes}


def raw_entry_with_case(**changes: Any) -> dict[str, Any]:
    """The sound entry, with what one project says of it in one place."""
    raw = raw_entry(**changes)
    worked, said = raw["evidence"][1], "Keep two stages."
    statement = {
        "kind": "workaround",
        "text": said,
        "text_lang": "en",
        "text_zh": None,
        "how": worked["quote"],
        "condition": "on my card",
        "why_fails": None,
        "worked": 1,
        "failed": 0,
        "tier": "maintainer_confirmed",
        "sources": [worked["url"]],
        "evidence": [worked["evidence_id"]],
    }
    place = {"repo": f"{OWNER}/kernels", "frame": "attention:forward", "library": "fixture_torch"}
    raw["cases"] = [{**place, "documents": [worked["document_id"]], "statements": [statement]}]
    raw["translations"]["cases_zh[0]"] = translation(said, status="untranslated")
    return raw


def _shown(piece: dict[str, Any]) -> dict[str, Any]:
    """The words of a piece of evidence as an entry shows what it counts nowhere."""
    names = ("quote", "quote_lang", "url", "document_id", "repo", "number", "posted_at", "author_role", "start", "end")
    return {"claim_id": "claim:1", "raw_sha256": piece["raw_sha256"]} | {name: piece[name] for name in names}


def lead(piece: dict[str, Any]) -> dict[str, Any]:
    """A lead in the words of a piece of evidence."""
    return {"kind": "remedy", "share": 50, **_shown(piece)}


def reply(piece: dict[str, Any], outcome: str) -> dict[str, Any]:
    """A reply in the words of a piece of evidence."""
    return {"outcome": outcome, **_shown(piece)}


def entry(**changes: Any) -> KnowledgeEntry:
    """The sound entry as a record."""
    return KnowledgeEntry.model_validate(raw_entry(**changes))


def document(number: int) -> Document:
    text = f"Kernel fails\n\n{SHARED.format(n=147456 + number)}\n\nSetting TRITON_STAGES=2 made it pass on my card."
    opened = datetime(2026, 3, number, 10, tzinfo=UTC)
    url = f"https://github.com/{OWNER}/kernels/issues/{number}"
    record = None
    if number == 3:
        remedy = DocRemedy("Debugging", "Lower the limit", "Use --fixture_limit.", ("--fixture_limit",), 0, 4)
        record = DocRecord(
            "xla:E1001", "CompileTimeScopedVmemOom", "Scoped Vmem", "Compile Time", "OOM", ("TPU",), None, "", ("s",),
            ("t",), (), (remedy,), (), "2026-01-01", None, False,
        )  # fmt: skip
    return Document(
        document_id=f"github.com/{OWNER}/kernels#{number}",
        kind=DocumentKind.DOC if record else DocumentKind.ISSUE,
        url=url,
        repo=f"{OWNER}/kernels",
        number=number,
        title="Kernel fails",
        text=text,
        posts=(Post(PostKind.BODY, 0, len(text), url, opened, "NONE", None, False, 0),),
        state="closed",
        state_reason="completed",
        is_draft=None,
        is_merged=None,
        labels=("bug",),
        opened_at=opened,
        updated_at=opened,
        closed_at=opened + timedelta(days=4) if number == 2 else None,
        links=(),
        record=record,
        payload=None,
        raw_sha256=sha256(str(number)),
        source="import",
        form="github-rest",
        is_lossy=False,
        fixed_in=(),
        hidden_count=0,
    )


def map_result(numbers: range = range(1, 4)) -> shards.MapResult:
    """Documents 1 to 3 with one event each, a claim and a lost item."""
    documents = [document(number) for number in numbers]
    rows = [_event_row(doc) for doc in documents]
    return shards.MapResult(
        tuple(map(shards.document_row, documents)),
        tuple(rows),
        (claim(documents[0]),),
        (Skipped("extract", "github.com/errmine-fixtures/kernels#9", "too_long"),),
    )


def _event_row(doc: Document) -> shards.EventRow:
    start = doc.text.index("triton.runtime")
    end = doc.text.index("\n\nSetting")
    message = doc.text[start:end]
    event = Event(
        "python",
        "OutOfResources",
        message,
        message,
        (),
        (),
        ("cuda:cudaErrorFixture",),
        start,
        end,
        False,
        Severity.ERROR,
    )
    required = Slot("required", str(147456 + (doc.number or 0)), float(147456 + (doc.number or 0)), "byte")
    limit = Slot("limit", "101376", 101376.0, "byte")
    signature = Signature(
        "signature:0000000000000001",
        "OutOfResources",
        SIGNATURE,
        (("resource", "shared memory"),),
        True,
        "",
        (required, limit),
        "last",
        start,
        end,
        False,
        ("mask: numbers",),
    )
    return shards.event_row(doc, event, ordinal=0, signature=signature)


def claim(doc: Document) -> Claim:
    words = "Setting TRITON_STAGES=2 made it pass on my card."
    start = doc.text.index(words)
    quote = Quote(doc.document_id, doc.url, doc.raw_sha256, start, start + len(words), words, "en", None, "NONE", None)
    fact = Fact("remedy.set_env", (("name", "TRITON_STAGES"), ("value", "2")))
    return Claim(
        "claim:1",
        ClaimKind.REMEDY,
        "remedy.env",
        fact,
        Outcome.WORKED,
        "env:TRITON_STAGES=2",
        quote,
        None,
        ("signature:1",),
    )


CLUSTER = Cluster(
    "cluster:0000000000000001",
    "signature:0000000000000001",
    "OutOfResources",
    SIGNATURE,
    (("resource", "shared memory"),),
    ("signature:0000000000000001",),
    REGEX,
    100.0,
)
ASSIGNMENT = Assignment(
    "signature:0000000000000001", "cluster:0000000000000001", "founder", 100.0, "It founded the cluster."
)
NEIGHBOUR = Neighbour("cluster:0000000000000001", "cluster:0000000000000002", 95.2, "gate resource")


def written_shard(folder: Path) -> shards.ShardPaths:
    return shards.write(folder, "part-1", map_result())
