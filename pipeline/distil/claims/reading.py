"""The claims of a document: every rule asked of every post, each claim tied to the error that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.distil.claims import candidates, doubts, passages, prose, replies, rules, subjects
from pipeline.distil.claims.claiming import claim_at
from pipeline.distil.claims.closing import BY_TRACKER, closed, closings
from pipeline.distil.claims.passing import passed_on, refused
from pipeline.distil.claims.prose import Prose
from pipeline.distil.claims.stating import fault, fault_of_unit, stated
from pipeline.distil.claims.subjects import Pair, errors_of, opening
from pipeline.distil.material import Reading
from pipeline.distil.tables import CueKind
from pipeline.records import PROGRAM, Claim, ClaimKind, Document, Event, Outcome, Quote, Signature, Skipped

#: An announced error stands this close behind its announcement.
_FOLLOWS = 300


def read(document: Document, events: Sequence[Event], signatures: Sequence[Signature]) -> Reading:
    """Claims and refusals of one document; official pages claim nothing, and documents without errors only
    what they closed.
    """
    errors = errors_of(events, signatures)
    made: list[Claim | Skipped]
    if not errors:
        made = [passed_on(document, claim) for claim in closings(document, events)]
    else:
        made = list(_statements(document, events, errors)) if document.kind.is_thread else []
    unique = {c.claim_id: c for c in made if isinstance(c, Claim)}
    skipped = sorted({s for s in made if isinstance(s, Skipped)}, key=lambda s: (s.item_id, s.reason, s.detail))
    ordered = list(unique.values())
    if errors:  # what was closed stands in the order of its keywords, of which one quote may have several
        ordered.sort(key=lambda c: (c.quote.start, c.quote.end, c.kind, c.claim_id))
    return Reading(tuple(ordered), tuple(skipped))


def _statements(document: Document, events: Sequence[Event], errors: list[Pair]) -> Iterator[Claim | Skipped]:
    """The claims that the document makes, and what it says that no claim may be made of."""
    text = Prose(document, events)
    found = list(rules.findings(text))
    reader = candidates.Reader(document, text.units, errors, found)
    quoted: list[Quote] = []
    told = [
        made if isinstance(made, Skipped) else passed_on(document, made)
        for made in _claims(text, found, events, errors)
    ]
    failed = [one for one in told if isinstance(one, Claim) and one.outcome == Outcome.FAILED]
    failures = [one for one in failed if _weighed(text, errors, one, reader).doubt is None]
    fixes = [one.quote for one in told if isinstance(one, Claim) and one.kind == ClaimKind.FIX]
    beside = doubts.Beside(failures, frozenset(one.author_hash for one in fixes if one.author_hash))
    for claim in told:
        if isinstance(claim, Claim) and claim.kind.is_statement:
            quoted.append(claim.quote)
            yield _weighed(text, errors, claim, reader, beside)
        else:
            yield claim
    for claim in _candidates(text, errors, reader):
        if not any(said.start < claim.quote.end and claim.quote.start < said.end for said in quoted):
            yield passed_on(document, claim)


def _weighed(
    text: Prose,
    errors: Sequence[Pair],
    claim: Claim,
    reader: candidates.Reader,
    beside: doubts.Beside = doubts.NOTHING,
) -> Claim:
    """The statement, marked where a person makes it and it is not sure enough to be counted."""
    if claim.quote.author_role == PROGRAM or claim.rule.startswith(BY_TRACKER):
        return claim
    return replace(claim, doubt=doubts.doubt(text, errors, claim, reader, beside))


def _candidates(text: Prose, errors: Sequence[Pair], reader: candidates.Reader) -> Iterator[Claim]:
    """What a trained reader takes for a statement, and what passes as one by its words alone, as candidates."""
    for one in reader.candidates():
        if fault_of_unit(text, one.unit, one.kind) is not None:
            continue
        span, rule = (one.unit.start, one.unit.end), candidates.RULE + one.kind
        claim = claim_at(text.document, ClaimKind.CANDIDATE, rule, fact=None, span=span, about=one.about)
        yield replace(claim, key=str(doubts.found_share(text, errors, one)))


def _claims(
    text: Prose, found: Sequence[rules.Finding], events: Sequence[Event], errors: list[Pair]
) -> Iterator[Claim | Skipped]:
    document = text.document
    yield from _hints(document, events, errors)
    everything = tuple(sorted({s.signature_id for _, s in errors}))
    for item in subjects.seen(document):
        for kind, fact in subjects.facts(item):
            yield claim_at(document, kind, item.rule, fact=fact, span=(item.start, item.end), about=everything)
    taken_back = replies.refuted(text, found)
    sound: list[rules.Finding] = []
    for finding in found:
        reason = fault(text, finding) or ("refuted" if finding.start in taken_back else None)
        if reason is not None:
            yield refused(document, finding.start, reason, finding.cue.rule)
            continue
        sound.append(finding)
        if finding.cue.kind == CueKind.LINK:
            yield from _succession(document, errors, finding)
        elif finding.cue.kind not in (CueKind.ASK, CueKind.REPLY):
            span = replies.told(text, finding, found) if finding.cue.kind == CueKind.CAUSE else None
            yield passages.with_block(text, finding, stated(document, errors, finding, span=span))
    for suggestion, reply in replies.pairs(text, sound):
        yield passages.with_block(text, suggestion, stated(document, errors, suggestion, reply))
    yield from closed(document, errors)
    about = tuple(sorted(opening(document, errors)))
    for closing in closings(document, events):
        span = (closing.quote.start, closing.quote.end)
        yield closing
        yield claim_at(document, ClaimKind.FIX, closing.rule, fact=closing.fact, span=span, about=about)


def _succession(document: Document, errors: list[Pair], finding: rules.Finding) -> Iterator[Claim]:
    """An announced "new error" with an event behind it: the report's last error before leads to that one.

    `signature_ids` of the claim are in that order, the one place where their order means something.
    """
    end = finding.end + _FOLLOWS
    after = next((s for e, s in errors if finding.end <= e.start < end), None)
    before = [s for e, s in errors if e.end <= finding.start]
    if after is None or not before or document.post_at(finding.start) != document.post_at(finding.end):
        return
    first, second = before[-1].signature_id, after.signature_id
    if first != second:
        yield claim_at(
            document,
            ClaimKind.LINK,
            finding.cue.rule,
            fact=None,
            span=(finding.start, finding.end),
            about=(first, second),
        )


def _hints(document: Document, events: Sequence[Event], errors: list[Pair]) -> Iterator[Claim]:
    """What programs themselves advise behind their errors: said by the program, whoever pasted it."""
    starts = sorted(e.start for e in events)
    for event, signature in errors:
        post = document.post_at(event.start)
        until = document.posts[post].end if post >= 0 else len(document.text)
        until = min([until, *(s for s in starts if s >= event.end)])
        for hint in prose.hinted(document.text, event, until=until):
            claim = claim_at(
                document,
                ClaimKind.REMEDY,
                hint.rule,
                fact=hint.fact,
                span=(hint.start, hint.end),
                about=(signature.signature_id,),
            )
            quote = replace(claim.quote, author_role=PROGRAM)
            yield replace(claim, quote=quote, doubt=doubts.GUESSED if hint.is_guess else None)
