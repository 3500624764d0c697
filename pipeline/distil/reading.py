"""The map step: one document with its events becomes claims. Pure and local: no other document is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.distil import actions, environment, hints, prose, replies, rules
from pipeline.distil.material import Occurrence, Reading
from pipeline.distil.prose import MAX_QUOTE, Prose, post_at, quote
from pipeline.records import Claim, DocLink, Document, Event, Fact, Post, Quote, Signature, Skipped, content_id

#: How many errors one sentence may speak about where a thread shows several.
_MOST_SUBJECTS = 3

#: An announced error stands this close behind its announcement.
_FOLLOWS = 300

#: So much of a message finds its line; the rest may be wrapped or cut.
_TELLING = 60
#: So much of a sentence in an error's own text says that the program wrote it and somebody pasted it again.
_PRINTED = 40
#: A title names one of several errors with its type, or with so many words of its message.
_NAMING = 3
_WORD = re.compile(r"[A-Za-z_][\w.]{3,}")

Pair = tuple[Event, Signature]


def claims(document: Document, events: Sequence[Event], signatures: Sequence[Signature]) -> list[Claim]:
    """What `document` says about its errors, sorted by place; `signatures[i]` belongs to `events[i]`."""
    return list(read(document, events, signatures).claims)


def occurrences(document: Document, events: Sequence[Event], signatures: Sequence[Signature]) -> list[Occurrence]:
    """The document's errors, one record an event, each with its culprit line."""
    found = []
    for event, signature in errors_of(events, signatures):
        found.append(
            Occurrence(
                document_id=document.document_id,
                signature_id=signature.signature_id,
                rule=f"occurrence.{signature.culprit}" if signature.culprit else "occurrence.message",
                quote=_culprit(document, event, signature),
                slots=signature.slots,
                codes=event.codes,
                frame=signature.frame_key.rpartition(" > ")[2],
            )
        )
    return found


def read(document: Document, events: Sequence[Event], signatures: Sequence[Signature]) -> Reading:
    """Claims, occurrences and refusals of one document; official pages claim nothing, and documents without errors only
    what they closed.
    """
    errors = errors_of(events, signatures)
    if not errors:
        return Reading(tuple(closings(document, events)), (), ())
    found: list[Claim] = []
    skipped: list[Skipped] = []
    if document.kind in {"issue", "pull"}:
        for claim in _claims(document, events, errors):
            words = claim.quote.text + "\n" + (claim.outcome_quote.text if claim.outcome_quote else "")
            reason = actions.unsafe(words) if claim.kind in {"remedy", "fix"} else None
            if reason is None:
                found.append(claim)
            else:
                place = f"{document.document_id}@{claim.quote.start}"
                skipped.append(Skipped("distil", place, "unsafe_action", reason))
    unique = {claim.claim_id: claim for claim in found}
    ordered = sorted(unique.values(), key=lambda c: (c.quote.start, c.quote.end, c.kind, c.claim_id))
    return Reading(tuple(ordered), tuple(occurrences(document, events, signatures)), tuple(skipped))


def errors_of(events: Sequence[Event], signatures: Sequence[Signature]) -> list[Pair]:
    """The events that are errors, each with its signature."""
    return [(e, s) for e, s in zip(events, signatures, strict=True) if e.severity == "error"]


def _claims(document: Document, events: Sequence[Event], errors: list[Pair]) -> Iterator[Claim]:
    yield from _hints(document, events, errors)
    everything = tuple(sorted({s.signature_id for _, s in errors}))
    for item in environment.seen(document):
        for kind, fact in environment.facts(item):
            yield claim_at(document, kind, item.rule, fact=fact, span=(item.start, item.end), about=everything)
    text = Prose(document, events)
    found = list(rules.findings(text))
    printed = "\n".join(event.detail for event in events)
    for finding in found:
        if finding.cue.kind in {"ask", "reply"} or _is_out_of_place(document, finding, printed):
            continue
        if finding.cue.kind == "link":
            yield from _succession(document, errors, finding)
            continue
        about = subjects(document, errors, finding.start)
        yield claim_at(
            document,
            finding.cue.kind,
            finding.cue.rule,
            fact=finding.fact,
            span=(finding.start, finding.end),
            about=about,
            outcome=finding.cue.outcome,
        )
    for suggestion, reply in replies.pairs(text, found):
        yield claim_at(
            document,
            "remedy",
            reply.cue.rule,
            fact=suggestion.fact,
            span=(suggestion.start, suggestion.end),
            about=subjects(document, errors, suggestion.start),
            outcome=reply.cue.outcome,
            answer=_quoted(document, reply.start, reply.end),
        )
    yield from _closed(document, errors)
    for closing in closings(document, events):
        about = subjects(document, errors, closing.quote.start)
        span = (closing.quote.start, closing.quote.end)
        yield closing
        yield claim_at(document, "fix", closing.rule, fact=closing.fact, span=span, about=about)


def _is_out_of_place(document: Document, finding: rules.Finding, printed: str) -> bool:
    """True for a fix that a title announces (it says what is wanted), and for a cause that a program printed."""
    if finding.cue.kind == "fix":
        post = finding.sentence.post
        return document.kind == "issue" and post >= 0 and document.posts[post].kind == "title"
    return finding.cue.kind == "cause" and finding.sentence.text[:_PRINTED] in printed


def _succession(document: Document, errors: list[Pair], finding: rules.Finding) -> Iterator[Claim]:
    """An announced "new error" with an event behind it: the report's last error before leads to that one.

    `signature_ids` of the claim are in that order, the one place where their order means something.
    """
    end = finding.end + _FOLLOWS
    after = next((s for e, s in errors if finding.end <= e.start < end), None)
    before = [s for e, s in errors if e.end <= finding.start]
    if after is None or not before or post_at(document, finding.start) != post_at(document, finding.end):
        return
    first, second = before[-1].signature_id, after.signature_id
    if first != second:
        yield claim_at(
            document, "link", finding.cue.rule, fact=None, span=(finding.start, finding.end), about=(first, second)
        )


def _hints(document: Document, events: Sequence[Event], errors: list[Pair]) -> Iterator[Claim]:
    starts = sorted(e.start for e in events)
    for event, signature in errors:
        post = post_at(document, event.start)
        until = document.posts[post].end if post >= 0 else len(document.text)
        until = min([until, *(s for s in starts if s >= event.end)])
        for hint in hints.hinted(document.text, event, until=until):
            yield claim_at(
                document,
                "remedy",
                hint.rule,
                fact=hint.fact,
                span=(hint.start, hint.end),
                about=(signature.signature_id,),
            )


def _closed(document: Document, errors: list[Pair]) -> Iterator[Claim]:
    """The change that closed the report by the API's word; the quote is the title, which names what was closed.

    It closed what the report opened with, not what others pasted below. The API says so, not who wrote the title: the
    claim has no author's role.
    """
    title = _title(document)
    if title is None or not is_fixed(document.state, document.state_reason):
        return
    for link in document.links:
        if link.kind == "closed_by":
            fact = Fact("fix.closed_by", (("pr", link.target.removeprefix("github.com/")),))
            about = subjects(document, errors, title.start)
            claim = claim_at(
                document, "fix", "fix.closed_by_api", fact=fact, span=(title.start, title.end), about=about
            )
            yield replace(claim, quote=replace(claim.quote, author_role=None))


def is_fixed(state: str | None, reason: str | None) -> bool:
    """True if what closed a thread may have fixed it: it was not reopened, nor closed for another reason."""
    return state != "open" and reason not in {"not_planned", "duplicate"}


def closings(document: Document, events: Sequence[Event]) -> Iterator[Claim]:
    """What a merged pull request closed, by GitHub's own rule: a keyword in its description, or the API's word.

    `reduce` puts each to the errors of the report closed, whose id is the claim's key.
    """
    links = [link for link in document.links if link.kind == "closes"]
    if not links or document.kind != "pull" or not document.is_merged or document.repo is None:
        return
    text = Prose(document, events)
    fact = Fact("fix.closed_by", (("pr", f"{document.repo}#{document.number}"),))
    for link in links:
        span = _keyword(text, link)
        if span is not None:
            claim = claim_at(document, "closing", "fix.closed_by_pull", fact=fact, span=span, about=())
            claim_id = content_id("claim", claim.claim_id, link.target)
            yield replace(claim, claim_id=claim_id, key=link.target)


def _keyword(text: Prose, link: DocLink) -> tuple[int, int] | None:
    """The words that close: the sentence around the reference, the title where the API says so; None in a comment."""
    if link.start is None or link.end is None:
        title = _title(text.document)
        return (title.start, title.end) if title else None
    sentence = text.sentence(link.start)
    if sentence is None:
        return None
    return (sentence.start, sentence.end) if sentence.end - sentence.start <= MAX_QUOTE else (link.start, link.end)


def _title(document: Document) -> Post | None:
    return next((post for post in document.posts if post.kind == "title" and post.end > post.start), None)


def claim_at(
    document: Document,
    kind: str,
    rule: str,
    *,
    fact: Fact | None,
    span: tuple[int, int],
    about: tuple[str, ...],
    outcome: str | None = None,
    answer: Quote | None = None,
) -> Claim:
    """The claim that the words at `span` make about the errors `about`."""
    said = _quoted(document, *span)
    stated = fact.template + repr(fact.slots) if fact else ""
    place = f"{said.start}-{said.end}" + (f"-{answer.start}" if answer else "")
    return Claim(
        claim_id=content_id("claim", document.document_id, rule, kind, place, stated),
        kind=kind,
        rule=rule,
        fact=fact,
        outcome=outcome,
        quote=said,
        key=actions.key(fact) if fact and kind in {"remedy", "fix"} else "",
        outcome_quote=answer,
        signature_ids=about,
    )


def subjects(document: Document, errors: list[Pair], place: int) -> tuple[str, ...]:
    """The errors that words at `place` speak about: the nearest before them in the same post, else the report's own."""
    everything = sorted({s.signature_id for _, s in errors})
    if len(everything) == 1:
        return tuple(everything)
    post = post_at(document, place)
    before = [s for e, s in errors if e.start < place and post_at(document, e.start) == post]
    if before:
        return (before[-1].signature_id,)
    opening = _named_in_title(document, [(e, s) for e, s in errors if _is_opening(document, e.start)])
    chosen = opening or [s.signature_id for e, s in errors if e.start < place][-1:] or [errors[0][1].signature_id]
    return tuple(sorted(set(chosen[:_MOST_SUBJECTS])))


def _named_in_title(document: Document, opening: list[Pair]) -> list[str]:
    """The errors that the report opens with; where its title names some of them, those."""
    title = set(_WORD.findall((document.title or "").lower()))
    scores = [_named(title, event) for event, _ in opening]
    most = max(scores, default=0)
    least = most if most >= _NAMING else 0
    return [signature.signature_id for (_, signature), score in zip(opening, scores, strict=True) if score >= least]


def _named(title: set[str], event: Event) -> int:
    """How well a title names an error: words of its message, its type as much as it takes."""
    words = title.intersection(_WORD.findall(event.message.lower()))
    kind = (event.exception_type or "").rpartition(".")[2].lower()
    return len(words) + (_NAMING if kind in title else 0)


def _is_opening(document: Document, place: int) -> bool:
    post = post_at(document, place)
    return post < 0 or document.posts[post].kind in {"title", "body"}


def _quoted(document: Document, start: int, end: int) -> Quote:
    return quote(document, start, end, post=post_at(document, start))


def _culprit(document: Document, event: Event, signature: Signature) -> Quote:
    """The line that names the error: a traceback's head says where, and this is to say what."""
    start, end = signature.start, signature.end
    if not event.start <= start < end <= len(document.text):
        start, end = event.start, event.end
    if "\n" in document.text[start:end]:
        start, end = _telling_line(document.text, start, end, event=event, wanted=signature.text)
    line = document.text[start:end]
    start += len(line) - len(line.lstrip())
    return prose.quote(document, start, max(start + 1, end), post=post_at(document, start))


def _telling_line(text: str, start: int, end: int, *, event: Event, wanted: str) -> tuple[int, int]:
    """The line that holds the message (of the event or of a link of its chain) that the signature was made from."""
    words = set(wanted.split())
    messages = [event.message, *(link.message for link in event.chain)]
    message = max(messages, key=lambda m: len(words.intersection(m.split())))
    at = text.rfind(message[:_TELLING], start, end) if message else -1
    if at < 0:
        stripped = text[start:end].rstrip()
        at = start + max(stripped.rfind("\n") + 1, 0)
    line_start = max(start, text.rfind("\n", start, at) + 1)
    line_end = text.find("\n", max(at, line_start), end)
    return line_start, line_end if line_end >= 0 else end
