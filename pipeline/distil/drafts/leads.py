"""What an entry shows and does not count: leads, and what is replied to an act.

Leads: what people may have said of an error, by the trained reader or a language model alone, or by a doubted rule.

Of sixty of the reader's best finds, read against their threads, 15 % were wrong: too many for a statement, few enough
for somebody who has nothing else to read. So an entry shows a few of them, verbatim, under a name of their own, with
what they announce or point at. They count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pipeline.distil import actions, tables
from pipeline.distil.claims import rules
from pipeline.distil.claims.candidates import KINDS, RULE, kind_of
from pipeline.distil.drafts.reach import Reach
from pipeline.distil.material import DocumentFacts
from pipeline.records import MAINTAINER_ROLES, Claim, ClaimKind, Outcome, Quote
from pipeline.records.entry import (
    LEAST_LEAD_SHARE,
    MOST_LEADS,
    MOST_REPLIES,
    Evidence,
    Lead,
    Passage,
    Reply,
)

#: What is shorter says nothing by itself ("Fixed in master."), unless a rule found the change or version in it.
_LEAST_CHARACTERS = 25
#: Of eight finds that were right and of no use four only announced what stood below them.
_MARKS = " \t\r\n*_`"
#: So many leads of a kind one thread gives where no other speaks: of 1,138 labelled threads a second one finds 28 of
#: 3,102 pieces more, and as many of a hundred are right (94) and agreed (97) as with one.
_MOST_OF_A_THREAD = 2
#: "Closing, this is merged": true of one report, and nothing to do for who reads it elsewhere, unless it names a
#: version, a branch or a change, as what a rule found does.
_FOUND_FIX = f"{RULE}fix"
#: Where the error was seen, and on what: an entry that cites those words says nothing with them.
_SEEN = frozenset({"occurrence", "version", "environment"})


def leads(
    candidates: Iterable[Claim],
    documents: dict[str, DocumentFacts],
    *,
    reach: Reach,
    evidence: Sequence[Evidence],
    told: frozenset[str] = frozenset(),
) -> tuple[Lead, ...]:
    """At most `MOST_LEADS` of the candidates, best first, one for each thread and kind, none that is cited already.

    `told`: the keys of the acts that the entry tells; who says one of them again says nothing more.

    Those reach no further than a statement of their kind would: where any program prints the words, or other reports
    have other reasons, what is said in one thread is no lead to the next.
    """
    told_of = judged(candidates, reach=reach, evidence=evidence, told=told)
    return tuple(_lead(claim, documents.get(claim.quote.document_id)) for claim, reason in told_of if not reason)


def judged(
    candidates: Iterable[Claim], *, reach: Reach, evidence: Sequence[Evidence], told: frozenset[str] = frozenset()
) -> Iterator[tuple[Claim, str]]:
    """Each candidate with the words that a lead would quote, best first, and why it is no lead; "" for one that is."""
    cited = [(piece.document_id, piece.start, piece.end) for piece in evidence if piece.role not in _SEEN]
    shown = [(candidate, _shown(candidate)) for candidate in candidates]
    yield from ((candidate, "other_sign") for candidate, claim in shown if claim is None)
    claims = _ordered(claim for _, claim in shown if claim is not None)
    silent = [(claim, _silence(claim) or _unreached(claim, reach)) for claim in claims]
    yield from _chosen(silent, cited, told)


def _chosen(
    claims: Sequence[tuple[Claim, str]], cited: Sequence[tuple[str, int, int]], told: frozenset[str]
) -> list[tuple[Claim, str]]:
    """The claims, of which those without a reason against them are leads or have one now."""
    chosen: list[Claim] = []
    found = []
    is_of_one = len({claim.quote.document_id for claim, against in claims if not against}) == 1
    for claim, against in claims:
        most = _MOST_OF_A_THREAD if is_of_one else 1
        reason = against or _repeated(claim, chosen, cited, told)
        if not reason and sum(_is_of_same(one, claim) for one in chosen) >= most:
            reason = "same_thread"
        reason = reason or ("" if len(chosen) < MOST_LEADS else "most")
        chosen += [] if reason else [claim]
        found.append((claim, reason))
    return found


def _unreached(claim: Claim, reach: Reach) -> str:
    return "" if reach.has_lead(claim, kind_of(claim)) else "reach"


def _repeated(
    claim: Claim, chosen: Sequence[Claim], cited: Iterable[tuple[str, int, int]], told: frozenset[str]
) -> str:
    """Why a claim says nothing beside what the entry tells and the leads that it has, "" if it does."""
    quote, kind = claim.quote, kind_of(claim)
    if any(quote.document_id == name and quote.start < end and start < quote.end for name, start, end in cited):
        return "cited"
    if any(_is_same(one, claim) or _is_shown_with(one, claim) for one in chosen):
        return "same_words"
    return "told" if kind != "cause" and _key(quote.text) in told else ""


def _shown(claim: Claim) -> Claim | None:
    """The claim with the words that a lead quotes; None where those would say the other of what is meant.

    That an act failed a reply may say: "set it to 2" is no failure in its own words.
    """
    said = claim.outcome_quote
    if said is None or claim.outcome != Outcome.FAILED or tables.has_no_effect(claim.quote.text):
        return claim
    return replace(claim, quote=said, outcome_quote=None) if actions.has_object(said.text) else None


def _key(words: str) -> str:
    act = actions.action(words)
    return act.key if act else ""


def _silence(claim: Claim) -> str:
    """Why the words of a claim tell a reader nothing, "" if they do."""
    return "share" if (claim.share or 0) < LEAST_LEAD_SHARE else _words_fault(claim)


def _words_fault(claim: Claim) -> str:
    words = claim.quote.text.strip(_MARKS)
    if claim.rule == _FOUND_FIX and not rules.tells_where(words):
        return "untold"
    names_fix = claim.kind == ClaimKind.FIX and claim.fact is not None
    if not names_fix and len(words) < _LEAST_CHARACTERS:
        return "short"
    return "announces" if tables.ends_open(words) and claim.passage is None else ""


def _is_of_same(one: Claim, other: Claim) -> bool:
    """True for two claims of one thread and kind."""
    return (one.quote.document_id, kind_of(one)) == (other.quote.document_id, kind_of(other))


def _is_shown_with(one: Claim, other: Claim) -> bool:
    """True for words that stand in the passage of a claim, or the other way round."""
    pairs = ((one.passage, other.quote), (other.passage, one.quote))
    return one.quote.document_id == other.quote.document_id and any(
        passage is not None and passage.start < quote.end and quote.start < passage.end for passage, quote in pairs
    )


def _is_same(one: Claim, other: Claim) -> bool:
    """True for the same words, in whatever kind and thread."""
    return " ".join(one.quote.text.split()) == " ".join(other.quote.text.split())


def _ordered(candidates: Iterable[Claim]) -> list[Claim]:
    """The surest first; of equal ones those of who knows the project, then the newest: later words know more."""
    newest = sorted(candidates, key=lambda one: (one.quote.document_id, one.quote.start, KINDS.index(kind_of(one))))
    newest.sort(key=lambda one: one.quote.posted_at or "", reverse=True)
    return sorted(newest, key=lambda one: (-(one.share or 0), one.quote.author_role not in MAINTAINER_ROLES))


def _lead(claim: Claim, document: DocumentFacts | None) -> Lead:
    words = _words(claim, claim.quote, document)
    passage = claim.passage
    beside = None
    if passage is not None:
        beside = Passage(quote=passage.text, start=passage.start, end=passage.end, is_cut=claim.is_passage_cut)
    return Lead.model_validate({"kind": kind_of(claim), "share": claim.share, "passage": beside, **words})


def replies(
    act: Iterable[Claim], doubted: Iterable[Claim], documents: Mapping[str, DocumentFacts]
) -> tuple[Reply, ...]:
    """What the next posts answer to an act, oldest first: outcomes of the same words, too doubtful to count."""
    places = [(claim.quote.document_id, claim.quote.start, claim.quote.end) for claim in act]
    found: dict[tuple[str, int], Reply] = {}
    for claim in doubted:
        quote, said = claim.quote, claim.outcome_quote
        if said is None or claim.outcome is None or not claim.kind.is_act:
            continue
        if any(quote.document_id == name and quote.start < end and start < quote.end for name, start, end in places):
            words = _words(claim, said, documents.get(said.document_id))
            found.setdefault(
                (said.document_id, said.start), Reply.model_validate({"outcome": claim.outcome.value, **words})
            )
    ordered = sorted(found.values(), key=lambda one: (one.posted_at or "~", one.document_id, one.start))
    return tuple(ordered[:MOST_REPLIES])


def _words(claim: Claim, quote: Quote, document: DocumentFacts | None) -> dict[str, object]:
    return {
        "quote": quote.text,
        "quote_lang": quote.lang,
        "url": quote.url,
        "document_id": quote.document_id,
        "repo": document.repo if document else None,
        "number": document.number if document else None,
        "posted_at": quote.posted_at,
        "author_role": quote.author_role,
        "start": quote.start,
        "end": quote.end,
        "raw_sha256": quote.raw_sha256,
        "claim_id": claim.claim_id,
    }
