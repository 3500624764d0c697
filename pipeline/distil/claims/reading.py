"""The claims of a document: every rule asked of every post, each claim tied to the error that it is about.

What a finding states and of which error, or why it states nothing, is decided first.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pipeline.distil import actions, tables
from pipeline.distil.claims import candidates, doubts, passages, prose, replies, rules, shadows, subjects
from pipeline.distil.claims.claiming import OPENING, claim_at, passed_on, quoted, refused
from pipeline.distil.claims.closing import BY_TRACKER, closed, closings, fixable, unfixed
from pipeline.distil.claims.prose import Prose, Sentence
from pipeline.distil.claims.subjects import Pair, errors_of, is_beside, names_one, opening, reported, subject
from pipeline.distil.material import Reading
from pipeline.distil.tables import CueKind
from pipeline.records import (
    PROGRAM,
    Claim,
    ClaimKind,
    Document,
    DocumentKind,
    Event,
    Outcome,
    PostKind,
    Quote,
    Signature,
    Skipped,
)
from pipeline.text import language_of
from pipeline.text.units import Unit

#: So much of a sentence in an error's own text says that the program wrote it and somebody pasted it again.
_PRINTED = 40
#: Long threads drift to other problems. Of 54 causes and 82 fixes that were read against their threads 3 % and 4 % were
#: wrong in threads of at most so many posts (title and body are two), 42 % and 29 % in longer ones. Who says
#: what helped them tells more of it: there it counts how far down it stands. Of 2,317 labelled causes, acts and
#: failures of threads with one error 7 % were about another one in the first ten posts behind the title, 32 % later.
_SHORT_THREAD = 8
_LAST_REMEDY = 10
#: So, of a hundred such statements far on so many were right: leads, no statements. As leads 7 of 9 fixes were right, 5
#: of 11 causes and 2 more in part.
_FAR_ON = {CueKind.CAUSE: 50, CueKind.FIX: 70}
_FAR_ON_ACT = 60
#: What is said to fix a report whose error is a line without a class or a stack did so in four of seven; as a lead
#: 8 of 12 were right.
_BARE_LINE = 60
#: What is no statement because of its form or its place, and so often right as a lead, read against its thread: who
#: opens a report and says what helped 7 of 12 (4 more in part), what points at something else too 8 of 12 (2 more).
#: Tried and left: what is cut off (2 of 12), was tried to reproduce (7, 4 wrong), acts without a value (7, 5 wrong).
_LEADS = {"no_answer": 55, "points_elsewhere": 60}


#: What the trained reader found is a lead, though its words lack something, where that stands with them or they still
#: name something. Of ten of each kind that gates refuse readers wanted nine that announce what stands below, eight that
#: point at something else and seven with a hole. Labelled so, in 1,138 threads that the network has seen, are of finds
#: with a share from 50 on: what announces a block, list or lines .89 (of 88), what points at a reference or at the
#: sentence before .94 (of 47), what has a hole .96 (of 70), fixes "that should be fixed in" 1.00 (of 33); of those
#: without a fault .95. The last three have the share of what points elsewhere.
_POINTING = 60
#: What is a guess or question by its form, or has a hole and names nothing, is a candidate all the same and no lead, if
#: its share is not the lowest: of such finds in 155 threads that two readers labelled .77 of 46 were agreed, of those
#: with the lowest share a quarter of 27.
_UNTOLD, _UNTOLD_FOR, _LEAST_UNTOLD = 45, frozenset({"no_statement", "hole"}), 30
#: What words point at that they name themselves.
_REFERENCE = re.compile(r"https?://\S|(?<!\w)#\d|\b[0-9a-f]{7,40}\b")
#: Languages in which the gates can tell anything, and what a hedge makes a guess.
_READ = frozenset({"en", "zh"})
_GUESSED = frozenset({"cause", "fix"})
#: Rules that in a report describe what does not work, as often as what was tried against it.
_DESCRIBING = frozenset({"failed.doing_did_not"})
#: The share from which a sentence of a confirmed answer is the cause that was meant.
_READ_AS_CAUSE = 35
#: How an opening post says that it was written on later.
_UPDATE = re.compile(r"\W{0,4}(?:update|edit(?:ed)?|solution|solved|fix(?:ed)?|workaround|resolved)\b", re.IGNORECASE)
#: An announced error stands this close behind its announcement.
_FOLLOWS = 300


def fault(text: Prose, finding: rules.Finding) -> str | None:
    """The reason for which the words at a finding are no statement of a person that stands by itself."""
    kind, document = finding.cue.kind, text.document
    post = document.posts[finding.sentence.post] if finding.sentence.post >= 0 else None
    is_title = post is not None and post.kind == PostKind.TITLE
    if kind == CueKind.FIX:  # who reports an error says nothing of its fix
        if post is not None and post.kind in OPENING and document.kind == DocumentKind.ISSUE:
            return "wish"
        return "hole" if document.is_lossy and replies.has_hole(finding.sentence.text) else None
    if kind not in (CueKind.CAUSE, CueKind.REMEDY, CueKind.ASK):
        return None
    if _is_printed(text, finding.sentence):
        return "printed"
    if kind == CueKind.REMEDY and finding.cue.outcome is None and is_title:
        return "wish"
    if post is not None and post.kind in OPENING and _tells_of_the_error(finding):
        return "no_answer"
    if kind == CueKind.ASK:
        return None
    if kind == CueKind.CAUSE and replies.is_of_something_else(text, finding):
        return "other_subject"
    what = "cause" if kind == CueKind.CAUSE else "act" if finding.fact is None else "fact"
    found = replies.fault(finding.sentence.text, what, is_rendered=document.is_lossy)
    is_act = kind == CueKind.REMEDY and finding.cue.outcome != Outcome.FAILED  # behind a failure stands what it printed
    if found is None or not is_act or passages.announced(text, finding) is None:
        return found
    return replies.fault(finding.sentence.text, what, is_rendered=document.is_lossy, has_block=True)


def fault_of_unit(text: Prose, unit: Unit, kind: str, *, has_block: bool = False, has_lead: bool = False) -> str | None:
    """The same for what the trained reader alone takes for a cause, remedy, fix or failure: the gates of statements.

    `has_block`: what its words announce is shown with them; `has_lead`: so is the sentence before.
    """
    document = text.document
    sentence = Sentence(unit.start, unit.end, document.text[unit.start : unit.end].replace("\n", " "), unit.post)
    post = document.posts[unit.post] if unit.post >= 0 else None
    if _is_printed(text, sentence):
        return "printed"
    if post is not None and (post.kind == PostKind.TITLE or (kind == "fix" and post.kind in OPENING)):
        return "wish"
    lang = language_of(sentence.text)
    if lang not in _READ or rules.is_unsure(sentence.text, lang, kind if kind in _GUESSED else ""):
        return "no_statement"
    what = "cause" if kind == "cause" else "act"
    return replies.fault(sentence.text, what, is_rendered=document.is_lossy, has_block=has_block, has_lead=has_lead)


def _is_printed(text: Prose, sentence: Sentence) -> bool:
    """True for words that a program wrote: in the place of a log's, or printed by one of the thread's events."""
    return text.is_printed(sentence) or sentence.text[:_PRINTED] in text.printed


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


def _is_far_on(document: Document, errors: Sequence[Pair], finding: rules.Finding, cue: tables.Cue) -> bool:
    """True for words that may be about another problem than the error that they seem to be about."""
    if cue.kind not in (CueKind.CAUSE, CueKind.FIX):
        return document.post_at(finding.start) > _LAST_REMEDY
    if names_one(document, errors, finding.start, finding.end):
        return False
    return len(document.posts) > _SHORT_THREAD


def stated(
    document: Document,
    errors: list[Pair],
    finding: rules.Finding,
    reply: rules.Finding | None = None,
    *,
    span: tuple[int, int] | None = None,
) -> Claim | Skipped:
    """The claim of a finding, or of the reply that answers it, about the error that it speaks of."""
    cue = reply.cue if reply else finding.cue
    against: list[int] = []
    if cue.kind == CueKind.FIX:  # said of a report as a whole
        about = reported(document, errors, finding.start, finding.end)
        fault = unfixed(document, errors, about, finding.fact) if about else None
        if fault == "bare_line":
            against.append(_BARE_LINE)
        elif fault:
            return refused(document, finding.start, fault, cue.rule)
        about = fixable(document, errors, about)
    else:
        meant = subject(document, errors, finding.start, finding.end)
        about = (meant,) if meant else ()
        if not about and reply is not None and reply.cue.rule == replies.CONFIRMED:  # of several, a lead
            told = opening(document, errors)
            about = tuple(told) if len(told) == 1 else ()
    if cue.outcome == Outcome.WORKED and reply is None and is_beside(document, errors, finding.start):
        about = ()  # who prints an error says beside it what helped against the one before
    if not about:
        return refused(document, finding.start, "unclear_subject", cue.rule)
    if _is_far_on(document, errors, finding, cue):
        against.append(_FAR_ON.get(cue.kind, _FAR_ON_ACT))
    if finding.fact is not None and replies.says_too_little(finding.fact.template, cue.outcome):
        return refused(document, finding.start, "says_too_little", cue.rule)
    claim = claim_at(
        document,
        ClaimKind.REMEDY if reply else ClaimKind(cue.kind),
        cue.rule,
        fact=finding.fact,
        span=span or (finding.start, finding.end),
        about=about,
        outcome=cue.outcome,
        answer=quoted(document, reply.start, reply.end) if reply else None,
    )
    return replace(claim, doubt=min(against, default=None))


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
    made = shadows.lifted(document, made)
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
    known = {one.quote.start for one in told if isinstance(one, Claim) and one.kind == ClaimKind.CAUSE}
    told += [
        made if isinstance(made, Skipped) else passed_on(document, made)
        for made in _causes(text, errors, reader, known)
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
    found = doubts.doubt(text, errors, claim, reader, beside)
    return replace(claim, doubt=min((one for one in (claim.doubt, found) if one is not None), default=None))


#: What a row of refutations calls what the trained reader finds.
_REFUTED = {kind: "failed" if kind == "failure" else kind for kind in candidates.KINDS}


def _candidates(text: Prose, errors: Sequence[Pair], reader: candidates.Reader) -> Iterator[Claim]:
    """What a trained reader takes for a statement, and what passes as one by its words alone, as candidates."""
    told = {one: found for one in reader.candidates() if (found := standing(text, one)) is not None}
    gone = replies.taken_back_of(text, [(one.unit.start, one.unit.end, _REFUTED[one.kind]) for one in told])
    for one, found in told.items():
        if (one.unit.start, _REFUTED[one.kind]) in gone:
            continue
        span, rule = (one.unit.start, one.unit.end), candidates.RULE + one.kind
        claim = claim_at(text.document, ClaimKind.CANDIDATE, rule, fact=None, span=span, about=one.about)
        claim = replace(claim, key=str(min(doubts.found_share(text, errors, one), found.most)))
        if found.block is not None:
            claim = passages.with_passage(claim, found.block)
        yield claim if found.lead is None else replace(claim, passage=found.lead)


class Standing(NamedTuple):
    """How the words of a find of the trained reader stand: alone, or with what belongs to them."""

    block: passages.Passage | None = None  # that they announce
    lead: Quote | None = None  # the sentence before, which names what they point at
    most: int = 100  # of a hundred that stand so no more were right


def standing(text: Prose, one: candidates.Candidate) -> Standing | None:
    """How the words of a find stand, None where they say nothing."""
    unit, kind = one.unit, one.kind
    words = " ".join(text.document.text[unit.start : unit.end].split("\n"))
    found = fault_of_unit(text, unit, kind)
    if found is None:
        # an order says what to do: none of 495 causes that it finds in labelled threads begins as one
        is_advice = kind == candidates.CandidateKind.CAUSE and replies.is_order(words)
        return None if is_advice else Standing()
    if kind == candidates.CandidateKind.FAILURE:  # behind it stands what it printed
        return None
    if replies.announces(words) and fault_of_unit(text, unit, kind, has_block=True) is None:
        block = passages.below(text.document, text.units, text.events, unit.start, unit.end)
        return None if block is None or _prints_an_error(text, block) else Standing(block=block)
    if kind == candidates.CandidateKind.REMEDY and fault_of_unit(text, unit, kind, has_lead=True) is None:
        lead = passages.led(text.document, text.events, unit.start, unit.end)
        return None if lead is None else Standing(lead=lead, most=_POINTING)
    is_whole = found == "points_elsewhere" and _REFERENCE.search(words) is not None
    is_whole = is_whole or (found == "hole" and actions.has_object(words))
    is_fix = kind == candidates.CandidateKind.FIX
    is_whole = is_whole or (found == "no_statement" and is_fix and is_expected(words))
    if is_whole:
        return Standing(most=_POINTING)
    return Standing(most=_UNTOLD) if found in _UNTOLD_FOR and _is_candidate(one, words) else None


def _is_candidate(one: candidates.Candidate, words: str) -> bool:
    """True for words that a statement could not be, and that somebody who looks for more may read all the same."""
    if one.share < _LEAST_UNTOLD or (one.kind == candidates.CandidateKind.CAUSE and replies.is_order(words)):
        return False
    return one.kind != candidates.CandidateKind.FIX or rules.tells_where(words)


def _prints_an_error(text: Prose, block: passages.Passage) -> bool:
    """True for a block that has the words of one of the thread's errors: it is what happened, not what to do."""
    return any(one.message and one.message[:_PRINTED] in block.beside.text for one in text.events)


def is_expected(words: str) -> bool:
    """True for a fix that is told of with politeness, "should be fixed in 2.1", and with the place where it is."""
    lang = language_of(words)
    plain, count = tables.expected().subn("", words)
    return bool(count) and lang in _READ and not rules.is_unsure(plain, lang, "fix") and rules.tells_where(words)


def _claims(
    text: Prose, found: Sequence[rules.Finding], events: Sequence[Event], errors: list[Pair]
) -> Iterator[Claim | Skipped]:
    document = text.document
    yield from _hints(document, events, errors)
    everything = tuple(sorted({s.signature_id for _, s in errors}))
    for item in subjects.seen(document):
        for kind, fact in subjects.facts(item):
            yield claim_at(document, kind, item.rule, fact=fact, span=(item.start, item.end), about=everything)
    stating = {finding.sentence.start for finding in found if finding.cue.kind == CueKind.REMEDY}
    noted = [(act, words) for act, words in passages.acts(text) if words.beside.start not in stating]
    taken_back = replies.refuted(text, [*found, *(act for act, _ in noted)])
    confirmed = _confirmed(text, errors)
    sound: list[rules.Finding] = []
    beside: dict[int, passages.Passage] = {}
    yield from _single(text, errors, found, _Told(taken_back, confirmed, sound))
    for act, words in noted:
        if act.start in taken_back:
            yield refused(document, act.start, "refuted", act.cue.rule)
            continue
        sound.append(act)
        beside[act.start] = words
        claim = stated(document, errors, act)
        yield passages.with_passage(claim, words) if isinstance(claim, Claim) else claim
    answering = {(one.act.sentence.post, one.reply.sentence.post) for one in confirmed if isinstance(one.claim, Claim)}
    for suggestion, reply in replies.pairs(text, sound):
        if (suggestion.sentence.post, reply.sentence.post) in answering:
            continue
        claim = stated(document, errors, suggestion, reply)
        found_beside = beside.get(suggestion.start)
        if found_beside is not None and isinstance(claim, Claim):
            yield passages.with_passage(claim, found_beside)
        else:
            yield passages.with_block(text, suggestion, claim)
    yield from closed(document, errors)
    about = tuple(sorted(opening(document, errors)))
    for closing in closings(document, events):
        span = (closing.quote.start, closing.quote.end)
        yield closing
        yield claim_at(document, ClaimKind.FIX, closing.rule, fact=closing.fact, span=span, about=about)


class _Confirmed(NamedTuple):
    """Advice that the next post plainly confirms, with its claim."""

    act: rules.Finding
    reply: rules.Finding
    claim: Claim | Skipped


class _Told(NamedTuple):
    """What is known beside the findings: which are taken back, which confirm; `sound` takes those that stand."""

    taken_back: frozenset[int]
    confirmed: Sequence[_Confirmed]
    sound: list[rules.Finding]


def _single(text: Prose, errors: list[Pair], found: Sequence[rules.Finding], told: _Told) -> Iterator[Claim | Skipped]:
    """What single sentences claim, and what next posts confirm: an act that both tell is told once."""
    confirming = {one.reply.sentence.start: one.claim for one in told.confirmed if isinstance(one.claim, Claim)}
    untold = list(told.confirmed)
    said: dict[str, int] = {}  # sentence -> the post that says it first: mails quote what they answer without a mark
    for finding in found:
        sentence = finding.sentence
        reason = fault(text, finding) or ("refuted" if finding.start in told.taken_back else None)
        if reason is None and said.setdefault(sentence.text, sentence.post) != sentence.post:
            reason = "quoted_reply" if len(sentence.text) >= _PRINTED else None
        if reason is not None:
            is_told = finding.start in told.taken_back or sentence.start in confirming
            yield _unsound(text.document, errors, finding, reason, is_told=is_told)
            continue
        told.sound.append(finding)
        if finding.cue.kind == CueKind.LINK:
            yield from _succession(text.document, errors, finding)
        elif finding.cue.kind not in (CueKind.ASK, CueKind.REPLY):
            known = confirming.get(sentence.start) if finding.cue.outcome == Outcome.WORKED else None
            if known is not None and not _says_more(finding, known):
                continue
            if known is not None and known.key != finding.key:
                untold = [one for one in untold if one.claim is not known]
            span = replies.told(text, finding, found) if finding.cue.kind == CueKind.CAUSE else None
            yield passages.with_block(text, finding, stated(text.document, errors, finding, span=span))
    yield from (one.claim for one in untold)


def _says_more(finding: rules.Finding, known: Claim) -> bool:
    """True if words that confirm advice type an act, and the advice is the same act or none that is typed."""
    if finding.fact is None:
        return False
    is_telling = not replies.says_too_little(finding.fact.template, None) or replies.has_two_ways(known.quote.text)
    return known.key == finding.key or (known.fact is None and is_telling)


def _confirmed(text: Prose, errors: list[Pair]) -> list[_Confirmed]:
    """The advice that next posts plainly confirm with their words, and the claim of each."""
    found = list(replies.confirmed(text))
    gone = replies.taken_back_of(text, [(act.start, act.end, "remedy") for act, _ in found]) if found else frozenset()
    return [
        _Confirmed(
            act,
            reply,
            refused(text.document, act.start, "refuted", replies.CONFIRMED)
            if (act.start, "remedy") in gone
            else _of_two_posts(text, errors, act, reply),
        )
        for act, reply in found
    ]


def _of_two_posts(text: Prose, errors: list[Pair], act: rules.Finding, reply: rules.Finding) -> Claim | Skipped:
    """The claim of advice that the next post plainly confirms, with what its words point at."""
    document = text.document
    what = "act" if act.fact is None else "fact"
    fault_of = partial(replies.fault, act.sentence.text, what, is_rendered=document.is_lossy)
    block = passages.announced(text, act)
    is_dangling = tables.is_dangling().search(act.sentence.text) is not None
    if block is None and (is_dangling or fault_of() is not None):
        block = passages.behind(document, text.units, act.start, act.end)
    if is_dangling and block is None:
        return refused(document, act.start, "announces", reply.cue.rule)
    lead = passages.led(document, text.events, act.start, act.end) if fault_of() is not None else None
    reason = "printed" if _is_printed(text, act.sentence) else fault_of(has_block=bool(block), has_lead=bool(lead))
    if reason is not None:
        return refused(document, act.start, reason, reply.cue.rule)
    claim = stated(document, errors, act, reply)
    if isinstance(claim, Skipped) or (block is None and lead is None):
        return claim
    return passages.with_passage(claim, block) if block is not None else replace(claim, passage=lead)


def _causes(
    text: Prose, errors: list[Pair], reader: candidates.Reader, known: Container[int]
) -> Iterator[Claim | Skipped]:
    """The cause that an answer gives and the next post confirms: the one sentence that the trained reader takes for it.

    Where the post says that this was the reason, the one sentence besides advice is it.
    """
    document = text.document
    for said, is_told in replies.diagnosed(text):
        sound = [one for one in said if _states_a_cause(text, one)]
        read = [
            one for one in sound if reader.share(candidates.CandidateKind.CAUSE, one.start, one.end) >= _READ_AS_CAUSE
        ]
        meant = read or (sound if is_told else [])
        if len(meant) != 1 or meant[0].start in known:
            continue
        about = subject(document, errors, meant[0].start, meant[0].end)
        if about is None:
            yield refused(document, meant[0].start, "unclear_subject", replies.DIAGNOSED)
            continue
        span = (meant[0].start, meant[0].end)
        yield claim_at(document, ClaimKind.CAUSE, replies.DIAGNOSED, fact=None, span=span, about=(about,))


def _states_a_cause(text: Prose, sentence: Sentence) -> bool:
    """True for a sentence that may say why: it names something, asks and guesses nothing, and no program wrote it."""
    lang = language_of(sentence.text)
    is_sure = lang in _READ and not rules.is_unsure(sentence.text, lang, "cause")
    is_sure = is_sure and not tables.no_cause().search(sentence.text)
    is_cut = sentence.text[:1].islower() or sentence.text[:1] in ")]"
    is_whole = not is_cut and len(sentence.text) <= prose.MAX_QUOTE and not _is_printed(text, sentence)
    return is_sure and is_whole and replies.fault(sentence.text, "cause", is_rendered=text.document.is_lossy) is None


def _unsound(
    document: Document, errors: list[Pair], finding: rules.Finding, reason: str, *, is_told: bool
) -> Claim | Skipped:
    """What is no statement for a reason: a lead, where so many of its kind are right, or nothing."""
    cue = finding.cue
    is_lead = reason in _LEADS and cue.kind in (CueKind.CAUSE, CueKind.REMEDY) and not is_told
    if not is_lead or (reason == "no_answer" and cue.outcome != Outcome.WORKED):
        return refused(document, finding.start, reason, cue.rule)
    made = stated(document, errors, finding)
    return replace(made, doubt=min(made.doubt or 100, _LEADS[reason])) if isinstance(made, Claim) else made


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
