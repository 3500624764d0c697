"""A claim made of the words at a place, and whether its words may be passed on: each form in which an entry may show
them is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.distil import actions, tables
from pipeline.distil.claims.prose import quote
from pipeline.lexicon import advice
from pipeline.records import Claim, ClaimKind, Document, Fact, Outcome, PostKind, Quote, Skipped, content_id

STAGE = "distil"
#: Posts that open a thread: what stands there asks, it does not answer.
OPENING = frozenset({PostKind.TITLE, PostKind.BODY})
#: Why nothing of a post is passed on that orders models to do something.
HOSTILE = advice.Refusal("addresses_models", "post")
#: Marks around a value, which hide from a shell that it is a command.
_QUOTATION = "'\"` "


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


def passed_on(document: Document, claim: Claim) -> Claim | Skipped:
    """The claim, whose words will be published, or why they are not."""
    refusal = refusal_of(document, claim)
    return claim if refusal is None else refused(document, claim.quote.start, *refusal)


def refusal_of(document: Document, claim: Claim) -> advice.Refusal | None:
    """Why the claim's words are not passed on, None if they may be: each form in which an entry may show them."""
    known = owners(document)
    return next(filter(None, (advice.refusal(words, owners=known) for words in _shown(claim))), None)


def _shown(claim: Claim) -> Iterator[str]:
    """The claim's words together, each quote alone, its clauses, and what the typed act names, as a command."""
    quotes = [quote.text for quote in (claim.quote, claim.outcome_quote) if quote is not None]
    if len(quotes) > 1:
        yield "\n".join(quotes)
    for words in quotes:
        yield words
        yield tables.condition(words) or ""
        yield tables.reason(words) or ""
    if claim.passage is not None:
        yield claim.passage.text
        yield f"{claim.quote.text}\n```\n{claim.passage.text}\n```"
    slots = [value for _, value in claim.fact.slots] if claim.fact else []
    for value in slots:
        yield f"`{value.strip(_QUOTATION)}`"
    if len(slots) > 1:
        yield f"`{'='.join(slots)}`"


def untitled(document: Document) -> tuple[Skipped, ...]:
    """Why the document's title is not passed on; empty if it is. What opens a hostile report has none."""
    refusal = advice.refusal(document.title or "", owners=owners(document))
    if refusal is None and any(
        is_hostile(document, n) for n, post in enumerate(document.posts) if post.kind in OPENING
    ):
        refusal = HOSTILE
    return () if refusal is None else (Skipped(STAGE, f"{document.document_id}@title", *refusal),)


def is_hostile(document: Document, number: int) -> bool:
    """True if nothing of a post is advice, because it orders models to do something."""
    post = document.posts[number]
    return advice.is_hostile(document.text[post.start : post.end], is_opening=post.kind in OPENING)


def owners(document: Document) -> tuple[str, ...]:
    """The account of the document's repository, in lower case; empty where it has none."""
    return (document.repo.partition("/")[0].lower(),) if document.repo else ()


def refused(document: Document, start: int, reason: str, detail: str = "") -> Skipped:
    """What stands where a claim would: the words at `start` are none, with the reason."""
    return Skipped(STAGE, f"{document.document_id}@{start}", reason, detail)
