"""A claim made of the words at a place."""

from __future__ import annotations

from pipeline.distil import actions
from pipeline.distil.claims.prose import quote
from pipeline.records import Claim, ClaimKind, Document, Fact, Outcome, Quote, content_id


def claim_at(
    document: Document,
    kind: ClaimKind,
    rule: str,
    *,
    fact: Fact | None,
    span: tuple[int, int],
    about: tuple[str, ...],
    outcome: Outcome | None = None,
    answer: Quote | None = None,
) -> Claim:
    """The claim that the words at `span` make about the errors `about`."""
    said = quoted(document, *span)
    stated = fact.template + repr(fact.slots) if fact else ""
    place = f"{said.start}-{said.end}" + (f"-{answer.start}" if answer else "")
    return Claim(
        claim_id=content_id("claim", document.document_id, rule, kind, place, stated),
        kind=kind,
        rule=rule,
        fact=fact,
        outcome=outcome,
        quote=said,
        key=actions.key(fact) if fact and kind.is_act else "",
        outcome_quote=answer,
        signature_ids=about,
    )


def quoted(document: Document, start: int, end: int) -> Quote:
    """The words at a span as a quote of the post that they stand in."""
    return quote(document, start, end, post=document.post_at(start))
