"""The evidence of one entry while it is being made: every quote once, with an id that others refer to."""

from __future__ import annotations

from collections import Counter
from typing import Literal, cast

from pipeline.distil.material import DocumentFacts
from pipeline.records import DocumentKind, Quote, Role, content_id
from pipeline.records.entry import Evidence

Kind = Literal["issue", "pull", "doc"]


class Ledger:
    """Collects evidence; equal (document, span, role) is one piece, whoever found it first."""

    def __init__(self, documents: dict[str, DocumentFacts]) -> None:
        self._documents = documents
        self._kept: dict[str, Evidence] = {}
        self.rules: Counter[str] = Counter()

    def add(self, role: Role, quote: Quote, rule: str) -> str:
        """The id of the evidence for `quote` in `role`."""
        evidence_id = content_id("evidence", quote.document_id, str(quote.start), str(quote.end), role)
        if evidence_id not in self._kept:
            self._kept[evidence_id] = self._evidence(evidence_id, role, quote, rule)
            self.rules[rule] += 1
        return evidence_id

    def __getitem__(self, evidence_id: str) -> Evidence:
        return self._kept[evidence_id]

    def all(self) -> tuple[Evidence, ...]:
        """Every piece, by document, place and role."""
        return tuple(sorted(self._kept.values(), key=lambda e: (e.document_id, e.start, e.end, e.role)))

    def documents(self, evidence_ids: tuple[str, ...]) -> int:
        """How many distinct documents the pieces named are from."""
        return len({self._kept[i].document_id for i in evidence_ids})

    def urls(self, evidence_ids: tuple[str, ...]) -> tuple[str, ...]:
        """The distinct addresses of the pieces named, sorted."""
        return tuple(sorted({self._kept[i].url for i in evidence_ids}))

    def _evidence(self, evidence_id: str, role: Role, quote: Quote, rule: str) -> Evidence:
        document = self._documents.get(quote.document_id)
        kind = DocumentKind.DOC if document is None or document.kind == DocumentKind.ENTRY else document.kind
        return Evidence(
            evidence_id=evidence_id,
            role=role,
            url=quote.url,
            kind=cast("Kind", kind.value),
            document_id=quote.document_id,
            repo=document.repo if document else None,
            number=document.number if document else None,
            state=document.state if document else None,
            posted_at=quote.posted_at or (document.opened_at if document and role == "occurrence" else None),
            author_role=quote.author_role,
            quote=quote.text,
            quote_lang=quote.lang,
            start=quote.start,
            end=quote.end,
            raw_sha256=quote.raw_sha256,
            rule=rule,
        )
