"""The Arrow columns of every shard table, and how a record becomes a row and back.

A column is only ever added, at the end: an older shard then reads as null there.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from pipeline.records import (
    Claim,
    DocLink,
    DocRecord,
    DocRemedy,
    Event,
    Fact,
    Frame,
    Link,
    Quote,
    Signature,
    Skipped,
    Slot,
)
from pipeline.run.shards.result import DocumentRow, EventRow

#: Raised when a column changes its meaning; kept in the metadata of every file and compared when it is read.
SHARD_VERSION = "1"

_TEXT, _INT, _FLAG = pa.string(), pa.int64(), pa.bool_()
_TIME = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(_TEXT)
_FRAMES = pa.list_(pa.struct([("file", _TEXT), ("line", _INT), ("function", _TEXT)]))
_SLOTS = pa.list_(pa.struct([("name", _TEXT), ("value", _TEXT), ("number", pa.float64()), ("unit", _TEXT)]))
_QUOTE = (
    ("document_id", _TEXT),
    ("url", _TEXT),
    ("raw_sha256", _TEXT),
    ("start", _INT),
    ("end", _INT),
    ("text", _TEXT),
    ("lang", _TEXT),
    ("posted_at", _TEXT),
    ("author_role", _TEXT),
    ("author_hash", _TEXT),
)


def _schema(*fields: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema(list(fields), metadata={"errmine_shard_version": SHARD_VERSION})


DOCUMENTS = _schema(
    ("document_id", _TEXT),
    ("kind", _TEXT),
    ("url", _TEXT),
    ("repo", _TEXT),
    ("number", _INT),
    ("title", _TEXT),
    ("state", _TEXT),
    ("state_reason", _TEXT),
    ("is_draft", _FLAG),
    ("is_merged", _FLAG),
    ("labels", _TEXTS),
    ("opened_at", _TIME),
    ("updated_at", _TIME),
    ("closed_at", _TIME),
    ("post_count", _INT),
    ("character_count", _INT),
    ("links", _TEXT),  # JSON
    ("record", _TEXT),  # JSON
    ("payload", _TEXT),
    ("raw_sha256", _TEXT),
    ("source", _TEXT),
    ("form", _TEXT),
    ("is_lossy", _FLAG),
)

EVENTS = _schema(
    ("event_id", _TEXT),
    ("document_id", _TEXT),
    ("ordinal", _INT),
    ("dialect", _TEXT),
    ("exception_type", _TEXT),
    ("message", _TEXT),
    ("detail", _TEXT),
    ("frames", _FRAMES),
    ("chain", _TEXT),  # JSON
    ("codes", _TEXTS),
    ("start", _INT),
    ("end", _INT),
    ("is_truncated", _FLAG),
    ("severity", _TEXT),
    ("signature_id", _TEXT),
    ("sig_exception_type", _TEXT),
    ("sig_text", _TEXT),
    ("gate", _TEXT),  # JSON
    ("is_gate_complete", _FLAG),
    ("frame_key", _TEXT),
    ("slots", _SLOTS),
    ("culprit", _TEXT),
    ("culprit_start", _INT),
    ("culprit_end", _INT),
    ("sig_is_truncated", _FLAG),
    ("notes", _TEXTS),
    ("quote", _TEXT),
    ("posted_at", _TIME),
    ("author_role", _TEXT),
    ("post_url", _TEXT),
)

CLAIMS = _schema(
    ("claim_id", _TEXT),
    ("kind", _TEXT),
    ("rule", _TEXT),
    ("fact_template", _TEXT),
    ("fact_slots", _TEXT),  # JSON
    ("outcome", _TEXT),
    ("key", _TEXT),
    *((f"quote_{name}", kind) for name, kind in _QUOTE),
    *((f"outcome_quote_{name}", kind) for name, kind in _QUOTE),
    ("signature_ids", _TEXTS),
)

SKIPPED = _schema(("stage", _TEXT), ("item_id", _TEXT), ("reason", _TEXT), ("detail", _TEXT))


def canonical(value: object) -> str:
    """`value` as JSON that is the same for equal values: sorted keys, no spaces, UTF-8 as it is."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def document_cells(row: DocumentRow) -> tuple[Any, ...]:
    """The cells of a document's row, in the order of `DOCUMENTS`."""
    return (
        row.document_id,
        row.kind,
        row.url,
        row.repo,
        row.number,
        row.title,
        row.state,
        row.state_reason,
        row.is_draft,
        row.is_merged,
        row.labels,
        row.opened_at,
        row.updated_at,
        row.closed_at,
        row.post_count,
        row.character_count,
        canonical([asdict(link) for link in row.links]),
        canonical(asdict(row.record)) if row.record else None,
        row.payload,
        row.raw_sha256,
        row.source,
        row.form,
        row.is_lossy,
    )


def event_cells(row: EventRow) -> tuple[Any, ...]:
    """The cells of an event's row, in the order of `EVENTS`."""
    event = row.event
    return (
        row.event_id,
        row.document_id,
        row.ordinal,
        event.dialect,
        event.exception_type,
        event.message,
        event.detail,
        [{"file": f.file, "line": f.line, "function": f.function} for f in event.frames],
        canonical([asdict(link) for link in event.chain]) if event.chain else "[]",
        event.codes,
        event.start,
        event.end,
        event.is_truncated,
        event.severity,
        *_signature_cells(row.signature),
        row.quote,
        row.posted_at,
        row.author_role,
        row.post_url,
    )


def _signature_cells(signature: Signature | None) -> tuple[Any, ...]:
    if signature is None:
        return (None,) * 12
    return (
        signature.signature_id,
        signature.exception_type,
        signature.text,
        canonical(signature.gate),
        signature.is_gate_complete,
        signature.frame_key,
        [{"name": s.name, "value": s.value, "number": s.number, "unit": s.unit} for s in signature.slots],
        signature.culprit,
        signature.start,
        signature.end,
        signature.is_truncated,
        signature.notes,
    )


def claim_cells(claim: Claim) -> tuple[Any, ...]:
    """The cells of a claim's row, in the order of `CLAIMS`."""
    return (
        claim.claim_id,
        claim.kind,
        claim.rule,
        claim.fact.template if claim.fact else None,
        canonical(claim.fact.slots) if claim.fact else None,
        claim.outcome,
        claim.key,
        *_quote_cells(claim.quote),
        *_quote_cells(claim.outcome_quote),
        claim.signature_ids,
    )


def _quote_cells(quote: Quote | None) -> tuple[Any, ...]:
    return tuple(getattr(quote, name) if quote else None for name, _ in _QUOTE)


def skipped_cells(skipped: Skipped) -> tuple[Any, ...]:
    """The cells of a lost item's row, in the order of `SKIPPED`."""
    return (skipped.stage, skipped.item_id, skipped.reason, skipped.detail)


def document_of(cells: dict[str, Any]) -> DocumentRow:
    """The document row that `cells` hold."""
    links = tuple(DocLink(**link) for link in json.loads(cells["links"]))
    record = _record_of(json.loads(cells["record"])) if cells["record"] else None
    times = {name: _utc(cells[name]) for name in ("opened_at", "updated_at", "closed_at")}
    return DocumentRow(**{**cells, **times, "labels": tuple(cells["labels"]), "links": links, "record": record})


def _utc(time: datetime | None) -> datetime | None:
    """The same time with Python's own UTC: Arrow gives a zone object of another library."""
    return time.replace(tzinfo=UTC) if time else None


def _record_of(fields: dict[str, Any]) -> DocRecord:
    remedies = tuple(DocRemedy(**{**r, "flags": tuple(r["flags"])}) for r in fields["remedies"])
    frozen: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in fields.items()}
    frozen["remedies"] = remedies
    return DocRecord(**frozen)


def event_of(cells: dict[str, Any]) -> EventRow:
    """The event row that `cells` hold."""
    event = Event(
        dialect=cells["dialect"],
        exception_type=cells["exception_type"],
        message=cells["message"],
        detail=cells["detail"],
        frames=tuple(Frame(*frame) for frame in cells["frames"]),
        chain=tuple(Link(**link) for link in json.loads(cells["chain"])),
        codes=tuple(cells["codes"]),
        start=cells["start"],
        end=cells["end"],
        is_truncated=cells["is_truncated"],
        severity=cells["severity"],
    )
    return EventRow(
        event_id=cells["event_id"],
        document_id=cells["document_id"],
        ordinal=cells["ordinal"],
        event=event,
        signature=_signature_of(cells) if cells["signature_id"] is not None else None,
        quote=cells["quote"],
        posted_at=_utc(cells["posted_at"]),
        author_role=cells["author_role"],
        post_url=cells["post_url"],
    )


def _signature_of(cells: dict[str, Any]) -> Signature:
    return Signature(
        signature_id=cells["signature_id"],
        exception_type=cells["sig_exception_type"],
        text=cells["sig_text"],
        gate=_pairs(cells["gate"]),
        is_gate_complete=cells["is_gate_complete"],
        frame_key=cells["frame_key"],
        slots=tuple(Slot(*slot) for slot in cells["slots"]),
        culprit=cells["culprit"],
        start=cells["culprit_start"],
        end=cells["culprit_end"],
        is_truncated=cells["sig_is_truncated"],
        notes=tuple(cells["notes"]),
    )


def claim_of(cells: dict[str, Any]) -> Claim:
    """The claim that `cells` hold."""
    template = cells["fact_template"]
    quote = _quote_of(cells, "quote_")
    assert quote is not None
    return Claim(
        claim_id=cells["claim_id"],
        kind=cells["kind"],
        rule=cells["rule"],
        fact=Fact(template, _pairs(cells["fact_slots"])) if template is not None else None,
        outcome=cells["outcome"],
        key=cells["key"],
        quote=quote,
        outcome_quote=_quote_of(cells, "outcome_quote_"),
        signature_ids=tuple(cells["signature_ids"]),
    )


def _quote_of(cells: dict[str, Any], prefix: str) -> Quote | None:
    if cells[prefix + "document_id"] is None:
        return None
    return Quote(**{name: cells[prefix + name] for name, _ in _QUOTE})


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in json.loads(text))
