"""The claims of a document: every rule asked of every post, each claim tied to the error that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.distil import actions, tables
from pipeline.distil.claims import candidates, passages, prose, replies, rules, subjects
from pipeline.distil.claims.prose import MAX_QUOTE, Prose, quote
from pipeline.distil.claims.subjects import Pair, errors_of, is_beside, names_one, opening, reported, subject
from pipeline.distil.material import Official, Reading
from pipeline.distil.tables import CueKind
from pipeline.lexicon import advice
from pipeline.records import (
    PROGRAM,
    Claim,
    ClaimKind,
    DocLink,
    Document,
    DocumentKind,
    Event,
    Fact,
    LinkKind,
    Outcome,
    Post,
    PostKind,
    Quote,
    Signature,
    Skipped,
    content_id,
)
from pipeline.text.sentences import whole

# What the joining code needs of a document: an official page with the quotes of its remedies.


def official(document: Document) -> Official | None:
    """The document as an official page, None if it is none; its summary is quoted where the text holds it."""
    record = document.record
    if document.kind != DocumentKind.DOC or record is None:
        return None
    at = document.text.find(record.summary) if record.summary else -1
    summary = _page_quote(document, at, at + len(record.summary)) if at >= 0 else None
    return Official(record, summary, tuple(_page_quote(document, r.start, r.end) for r in record.remedies))


def dated(page: Official) -> Official:
    """The page with its quotes dated by the landing of what it says now, where the source knows it."""
    landed = page.record.last_updated or page.record.first_seen
    if landed is None:
        return page
    return replace(
        page,
        summary=replace(page.summary, posted_at=page.summary.posted_at or landed) if page.summary else None,
        remedies=tuple(replace(quote, posted_at=quote.posted_at or landed) for quote in page.remedies),
    )


def _page_quote(document: Document, start: int, end: int) -> Quote:
    """The words under the address of their section; too many of them are cut at the end of a sentence."""
    end = start + (whole(document.text[start:end], MAX_QUOTE) or end - start)
    return quote(document, start, end, post=document.post_at(start))


# The map step: one document with its events becomes claims. Pure and local: no other document is looked at.

STAGE = "distil"

#: Marks around a value, which hide from a shell that it is a command.
_QUOTATION = "'\"` "
#: An announced error stands this close behind its announcement.
_FOLLOWS = 300

#: So much of a sentence in an error's own text says that the program wrote it and somebody pasted it again.
_PRINTED = 40
#: Long threads drift to other problems. Of 54 causes and 82 fixes that were read against their threads 3 % and 4 % were
#: wrong in threads of at most so many posts (title and body are two), 42 % and 29 % in longer ones. Who says
#: what helped them tells more of it: there it counts how far down it stands. Of 2,317 labelled causes, acts and
#: failures of threads with one error 7 % were about another one in the first ten posts behind the title, 32 % later.
_SHORT_THREAD = 8
_LAST_REMEDY = 10
#: Posts that open a thread: what stands there asks, it does not answer.
_OPENING = frozenset({PostKind.TITLE, PostKind.BODY})


def read(document: Document, events: Sequence[Event], signatures: Sequence[Signature]) -> Reading:
    """Claims and refusals of one document; official pages claim nothing, and documents without errors only
    what they closed.
    """
    errors = errors_of(events, signatures)
    stated: list[Claim | Skipped]
    if not errors:
        stated = [passed_on(document, claim) for claim in closings(document, events)]
    else:
        stated = list(_statements(document, events, errors)) if document.kind.is_thread else []
    unique = {c.claim_id: c for c in stated if isinstance(c, Claim)}
    refused = sorted({s for s in stated if isinstance(s, Skipped)}, key=lambda s: (s.item_id, s.reason, s.detail))
    ordered = list(unique.values())
    if errors:  # what was closed stands in the order of its keywords, of which one quote may have several
        ordered.sort(key=lambda c: (c.quote.start, c.quote.end, c.kind, c.claim_id))
    return Reading(tuple(ordered), tuple(refused))


def _statements(document: Document, events: Sequence[Event], errors: list[Pair]) -> Iterator[Claim | Skipped]:
    """The claims that the document makes, and what it says that no claim may be made of."""
    text = Prose(document, events)
    found = list(rules.findings(text))
    quoted: list[Quote] = []
    for stated in _claims(text, found, events, errors):
        claim = stated if isinstance(stated, Skipped) else passed_on(document, stated)
        quoted += [claim.quote] if isinstance(claim, Claim) and claim.kind.is_statement else []
        yield claim
    for claim in _candidates(text, errors, found):
        if not any(said.start < claim.quote.end and claim.quote.start < said.end for said in quoted):
            yield passed_on(document, claim)


def _candidates(text: Prose, errors: Sequence[Pair], found: Sequence[rules.Finding]) -> Iterator[Claim]:
    """What a trained reader takes for a statement, as claims that no entry shows."""
    for one in candidates.candidates(text.document, text.units, errors, found):
        span, rule = (one.unit.start, one.unit.end), candidates.RULE + one.kind
        claim = claim_at(text.document, ClaimKind.CANDIDATE, rule, fact=None, span=span, about=one.about)
        yield replace(claim, key=str(one.share))


def passed_on(document: Document, claim: Claim) -> Claim | Skipped:
    """The claim, whose words will be published, or why they are not."""
    refusal = refusal_of(document, claim)
    return claim if refusal is None else _refused(document, claim.quote.start, *refusal)


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
    """Why the document's title is not passed on; empty if it is."""
    refusal = advice.refusal(document.title or "", owners=owners(document))
    return () if refusal is None else (Skipped(STAGE, f"{document.document_id}@title", *refusal),)


def owners(document: Document) -> tuple[str, ...]:
    """The account of the document's repository, in lower case; empty where it has none."""
    return (document.repo.partition("/")[0].lower(),) if document.repo else ()


def _refused(document: Document, start: int, reason: str, detail: str = "") -> Skipped:
    return Skipped(STAGE, f"{document.document_id}@{start}", reason, detail)


def _claims(
    text: Prose, found: Sequence[rules.Finding], events: Sequence[Event], errors: list[Pair]
) -> Iterator[Claim | Skipped]:
    document = text.document
    yield from _hints(document, events, errors)
    everything = tuple(sorted({s.signature_id for _, s in errors}))
    for item in subjects.seen(document):
        for kind, fact in subjects.facts(item):
            yield claim_at(document, kind, item.rule, fact=fact, span=(item.start, item.end), about=everything)
    printed = "\n".join(event.detail for event in events)
    taken_back = replies.refuted(text, found)
    sound: list[rules.Finding] = []
    for finding in found:
        reason = _fault(text, finding, printed) or ("refuted" if finding.start in taken_back else None)
        if reason is not None:
            yield _refused(document, finding.start, reason, finding.cue.rule)
            continue
        sound.append(finding)
        if finding.cue.kind == CueKind.LINK:
            yield from _succession(document, errors, finding)
        elif finding.cue.kind not in (CueKind.ASK, CueKind.REPLY):
            span = replies.told(text, finding, found) if finding.cue.kind == CueKind.CAUSE else None
            yield passages.with_block(text, finding, _stated(document, errors, finding, span=span))
    for suggestion, reply in replies.pairs(text, sound):
        yield passages.with_block(text, suggestion, _stated(document, errors, suggestion, reply))
    yield from _closed(document, errors)
    about = tuple(sorted(opening(document, errors)))
    for closing in closings(document, events):
        span = (closing.quote.start, closing.quote.end)
        yield closing
        yield claim_at(document, ClaimKind.FIX, closing.rule, fact=closing.fact, span=span, about=about)


def _fault(text: Prose, finding: rules.Finding, printed: str) -> str | None:
    """The reason for which the words at a finding are no statement of a person that stands by itself."""
    kind, document = finding.cue.kind, text.document
    post = document.posts[finding.sentence.post] if finding.sentence.post >= 0 else None
    is_title = post is not None and post.kind == PostKind.TITLE
    if kind == CueKind.FIX:  # who reports an error says nothing of its fix
        return "wish" if post is not None and post.kind in _OPENING and document.kind == DocumentKind.ISSUE else None
    if kind not in (CueKind.CAUSE, CueKind.REMEDY, CueKind.ASK):
        return None
    if text.is_printed(finding.sentence) or finding.sentence.text[:_PRINTED] in printed:
        return "printed"
    if kind == CueKind.REMEDY and finding.cue.outcome is None and is_title:
        return "wish"
    if post is not None and post.kind in _OPENING and _tells_of_the_error(finding):
        return "no_answer"
    if kind == CueKind.ASK:
        return None
    if kind == CueKind.CAUSE and replies.is_of_something_else(text, finding):
        return "points_elsewhere"
    what = "cause" if kind == CueKind.CAUSE else "act" if finding.fact is None else "fact"
    found = replies.fault(finding.sentence.text, what, is_rendered=document.is_lossy)
    if found is None or kind != CueKind.REMEDY or passages.announced(text, finding) is None:
        return found
    return replies.fault(finding.sentence.text, what, is_rendered=document.is_lossy, has_block=True)


def _tells_of_the_error(finding: rules.Finding) -> bool:
    """True for words that, in the post that opens a report, say how the error comes and goes, not what to do about it.

    Of 13 acts that opening posts told to have worked, read against their threads, four were wrong ("after upgrading I
    get errors in what worked") and six right; of 45 in answers four and 21. An update tells what was found later.
    """
    cue = finding.cue
    if cue.answers:
        return True
    is_told = cue.outcome == Outcome.WORKED or cue.rule in _DESCRIBING
    return is_told and not _UPDATE.match(finding.sentence.text)


#: Rules that in a report describe what does not work, as often as what was tried against it.
_DESCRIBING = frozenset({"failed.doing_did_not"})
#: How an opening post says that it was written on later.
_UPDATE = re.compile(r"\W{0,4}(?:update|edit(?:ed)?|solution|solved|fix(?:ed)?|workaround|resolved)\b", re.IGNORECASE)


def _is_far_on(document: Document, errors: Sequence[Pair], finding: rules.Finding, cue: tables.Cue) -> bool:
    """True for words that may be about another problem than the error that they seem to be about."""
    if cue.kind not in (CueKind.CAUSE, CueKind.FIX):
        return document.post_at(finding.start) > _LAST_REMEDY
    if names_one(document, errors, finding.start, finding.end):
        return False
    return len(document.posts) > _SHORT_THREAD


def _stated(
    document: Document,
    errors: list[Pair],
    finding: rules.Finding,
    reply: rules.Finding | None = None,
    *,
    span: tuple[int, int] | None = None,
) -> Claim | Skipped:
    """The claim of a finding, or of the reply that answers it, about the error that it speaks of."""
    cue = reply.cue if reply else finding.cue
    if cue.kind == CueKind.FIX:  # said of a report as a whole
        about = reported(document, errors, finding.start, finding.end)
        if about and (fault := _unfixed(document, errors, about, finding.fact)):
            return _refused(document, finding.start, fault, cue.rule)
        about = _fixable(document, errors, about)
    else:
        meant = subject(document, errors, finding.start, finding.end)
        about = (meant,) if meant else ()
    if cue.outcome == Outcome.WORKED and reply is None and is_beside(document, errors, finding.start):
        about = ()  # who prints an error says beside it what helped against the one before
    if not about:
        return _refused(document, finding.start, "unclear_subject", cue.rule)
    if _is_far_on(document, errors, finding, cue):
        return _refused(document, finding.start, "far_on", cue.rule)
    if finding.fact is not None and replies.says_too_little(finding.fact.template, cue.outcome):
        return _refused(document, finding.start, "says_too_little", cue.rule)
    return claim_at(
        document,
        ClaimKind.REMEDY if reply else ClaimKind(cue.kind),
        cue.rule,
        fact=finding.fact,
        span=span or (finding.start, finding.end),
        about=about,
        outcome=cue.outcome,
        answer=_quoted(document, reply.start, reply.end) if reply else None,
    )


def _unfixed(document: Document, errors: Sequence[Pair], about: tuple[str, ...], fact: Fact | None) -> str | None:
    """The reason for which what fixed the report is not said to fix its errors, None if it is."""
    if not _fixable(document, errors, about):
        return "of_a_test"
    if tables.no_cure().search(document.title or ""):
        return "no_cure"
    # of 7 fixes of bare lines that were read three had fixed something else, of 87 of errors with a class five
    shown = [e for e, s in errors if s.signature_id in about]
    if not any(e.exception_type or e.frames or e.codes for e in shown):
        return "bare_line"
    version = dict(fact.slots).get("version") if fact else None
    is_met = version is not None and re.search(rf"(?<![\w.]){re.escape(version)}(?![\w]|\.\d)", document.title or "")
    return "affected" if is_met else None


def _fixable(document: Document, errors: Sequence[Pair], about: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the errors that what fixed the report fixes; of a report of a failing test, what the test itself raises.

    Of 24 fix versions of a tracker that were read seven were of such reports: four had changed the test, and the error
    that it had met ("too many open files") came as before.
    """
    reports_test, own = tables.of_a_test()
    if not reports_test.search(document.title or ""):
        return about
    raised = {s.signature_id for e, s in errors if own.search(e.exception_type or "")}
    return tuple(one for one in about if one in raised)


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
            yield replace(claim, quote=replace(claim.quote, author_role=PROGRAM))


def _closed(document: Document, errors: list[Pair]) -> Iterator[Claim | Skipped]:
    """The change that closed the report by the API's word; the quote is the title, which names what was closed.

    It closed what the report opened with, not what others pasted below: where the report itself shows no error it says
    of none. The API says so, not who wrote the title: the claim has no author's role.
    """
    title = _title(document)
    about = reported(document, errors, title.start, title.end) if title else ()
    fixed = _fixable(document, errors, about)
    closers = [link for link in document.links if link.kind == LinkKind.CLOSED_BY]
    versions = _versions_with_fix(document)
    if title is None or not about or not is_fixed(document.state, document.state_reason):
        return
    fault = _unfixed(document, errors, about, None)
    if fault is not None:
        if closers or versions is not None:
            yield _refused(document, title.start, fault, "fix.closed_by")
        return
    span = (title.start, title.end)
    if versions is not None:
        claim = claim_at(document, ClaimKind.FIX, "fix.closed_by_tracker", fact=versions, span=span, about=fixed)
        yield replace(claim, quote=replace(claim.quote, author_role=None))
    for link in closers:
        fact = _closer(document, link.target.removeprefix("github.com/"), link.title)
        claim = claim_at(document, ClaimKind.FIX, "fix.closed_by_api", fact=fact, span=span, about=fixed)
        yield replace(claim, quote=replace(claim.quote, author_role=None))


def _versions_with_fix(document: Document) -> Fact | None:
    """What the tracker's field names: one statement, however many lines of releases have the fix; None for no field.

    A later version of another line may lack it ("2.8.2, 3.0.0-alpha4" says nothing of 3.0.0-alpha3), so that one of
    several is not said to be enough.
    """
    if not document.repo or document.state != "closed" or not document.fixed_in:
        return None
    versions = sorted(document.fixed_in, key=_release_order)
    template = "fix.released_in_repo" if len(versions) == 1 else "fix.released_in_lines"
    return Fact(template, (("repo", document.repo), ("version", ", ".join(versions))))


def _release_order(version: str) -> tuple[tuple[int, int, str], ...]:
    """Versions by their numbers, and what is no number before any: 2.9.0-alpha1, 2.9.0, 2.10.0."""
    parts = re.split(r"[.+_-]", version)
    return (*((1, int(part), "") if part.isdecimal() else (-1, 0, part) for part in parts), (0, 0, ""))


def _closer(document: Document, change: str, title: str | None) -> Fact:
    """The change that closed a report, with what it is called, if that is known and may be passed on."""
    slots = [("pr", change)]
    if title and advice.refusal(title, owners=owners(document)) is None:
        slots.append(("title", title))
    return Fact("fix.closed_by", tuple(slots))


def is_fixed(state: str | None, reason: str | None) -> bool:
    """True if what closed a thread may have fixed it: it was not reopened, nor closed for another reason."""
    return state != "open" and reason not in {"not_planned", "duplicate"}


def closings(document: Document, events: Sequence[Event]) -> Iterator[Claim]:
    """What a merged pull request closed, by GitHub's own rule: a keyword in its description, or the API's word.

    `reduce` puts each to the errors of the report closed, whose id is the claim's key.
    """
    links = [link for link in document.links if link.kind == LinkKind.CLOSES]
    if not links or document.kind != DocumentKind.PULL or not document.is_merged or document.repo is None:
        return
    text = Prose(document, events)
    fact = _closer(document, f"{document.repo}#{document.number}", document.title)
    for link in links:
        span = _keyword(text, link)
        if span is not None:
            claim = claim_at(document, ClaimKind.CLOSING, "fix.closed_by_pull", fact=fact, span=span, about=())
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
    return next((post for post in document.posts if post.kind == PostKind.TITLE and post.end > post.start), None)


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
        key=actions.key(fact) if fact and kind.is_act else "",
        outcome_quote=answer,
        signature_ids=about,
    )


def _quoted(document: Document, start: int, end: int) -> Quote:
    return quote(document, start, end, post=document.post_at(start))
