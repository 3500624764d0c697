"""What a finding states and of which error, or why it states nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.distil import tables
from pipeline.distil.claims import passages, replies, rules
from pipeline.distil.claims.claiming import claim_at, quoted
from pipeline.distil.claims.closing import fixable, unfixed
from pipeline.distil.claims.passing import refused
from pipeline.distil.claims.prose import Prose, Sentence
from pipeline.distil.claims.subjects import Pair, is_beside, names_one, reported, subject
from pipeline.distil.tables import CueKind
from pipeline.records import Claim, ClaimKind, Document, DocumentKind, Outcome, PostKind, Skipped
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
#: Posts that open a thread: what stands there asks, it does not answer.
_OPENING = frozenset({PostKind.TITLE, PostKind.BODY})


def fault(text: Prose, finding: rules.Finding) -> str | None:
    """The reason for which the words at a finding are no statement of a person that stands by itself."""
    kind, document = finding.cue.kind, text.document
    post = document.posts[finding.sentence.post] if finding.sentence.post >= 0 else None
    is_title = post is not None and post.kind == PostKind.TITLE
    if kind == CueKind.FIX:  # who reports an error says nothing of its fix
        if post is not None and post.kind in _OPENING and document.kind == DocumentKind.ISSUE:
            return "wish"
        return "hole" if document.is_lossy and replies.has_hole(finding.sentence.text) else None
    if kind not in (CueKind.CAUSE, CueKind.REMEDY, CueKind.ASK):
        return None
    if _is_printed(text, finding.sentence):
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


def fault_of_unit(text: Prose, unit: Unit, kind: str) -> str | None:
    """The same for what the trained reader alone takes for a cause, remedy, fix or failure: the gates of statements."""
    document = text.document
    sentence = Sentence(unit.start, unit.end, document.text[unit.start : unit.end].replace("\n", " "), unit.post)
    post = document.posts[unit.post] if unit.post >= 0 else None
    if _is_printed(text, sentence):
        return "printed"
    if post is not None and (post.kind == PostKind.TITLE or (kind == "fix" and post.kind in _OPENING)):
        return "wish"
    lang = language_of(sentence.text)
    if lang not in _READ or rules.is_unsure(sentence.text, lang, kind if kind in _GUESSED else ""):
        return "no_statement"
    return replies.fault(sentence.text, "cause" if kind == "cause" else "act", is_rendered=document.is_lossy)


#: Languages in which the gates can tell anything, and what a hedge makes a guess.
_READ = frozenset({"en", "zh"})
_GUESSED = frozenset({"cause", "fix"})


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
    if cue.kind == CueKind.FIX:  # said of a report as a whole
        about = reported(document, errors, finding.start, finding.end)
        if about and (fault := unfixed(document, errors, about, finding.fact)):
            return refused(document, finding.start, fault, cue.rule)
        about = fixable(document, errors, about)
    else:
        meant = subject(document, errors, finding.start, finding.end)
        about = (meant,) if meant else ()
    if cue.outcome == Outcome.WORKED and reply is None and is_beside(document, errors, finding.start):
        about = ()  # who prints an error says beside it what helped against the one before
    if not about:
        return refused(document, finding.start, "unclear_subject", cue.rule)
    if _is_far_on(document, errors, finding, cue):
        return refused(document, finding.start, "far_on", cue.rule)
    if finding.fact is not None and replies.says_too_little(finding.fact.template, cue.outcome):
        return refused(document, finding.start, "says_too_little", cue.rule)
    return claim_at(
        document,
        ClaimKind.REMEDY if reply else ClaimKind(cue.kind),
        cue.rule,
        fact=finding.fact,
        span=span or (finding.start, finding.end),
        about=about,
        outcome=cue.outcome,
        answer=quoted(document, reply.start, reply.end) if reply else None,
    )
