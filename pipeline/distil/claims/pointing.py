"""Words that a language model pointed at, judged as anybody's words are: may they be a claim?

What a model alone picked counts nothing: it has no outcome, and the tier ai_generated (`remedies`, `reduce`). Where a
second question agreed that people's words say that an act worked or failed, they count as theirs. What is safe, and no
statement by its form alone, is a lead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipeline.distil import actions, tables
from pipeline.distil.claims import passages, replies, rules
from pipeline.distil.claims.claiming import claim_at, owners, refusal_of
from pipeline.distil.claims.prose import MAX_QUOTE, quote
from pipeline.distil.project import Project, project
from pipeline.lexicon import advice
from pipeline.records import (
    CHECKED_RULES,
    MODEL_RULES,
    Claim,
    ClaimKind,
    Document,
    Doubt,
    Event,
    Fact,
    Outcome,
    Pointed,
    Signature,
    Skipped,
)
from pipeline.text import language_of
from pipeline.text.sentences import sentences
from pipeline.text.units import UnitKind, units

STAGE = "enrich-claims"

#: What a model names is seldom wrong, and often no statement by its form: a guess or a plan, words that lost their
#: inline code or point elsewhere, a pull request of which the second question says that it is no fix yet. Of 28 such
#: finds in 64 threads that two readers labelled 25 were right by both, one by neither: 73 of a hundred at least (95 %).
_LEAD_SHARE = 73
#: What a model itself calls a guess or a plan of the project is a candidate and no lead: of 62 guessed causes in 112
#: threads that two readers labelled 13 were said as known, by others 53 as a guess; of 49 remedies in plans 12 stand.
_UNSURE_SHARE = 20
#: Verdicts of the judge on what it saw with its thread, of 155 threads that two readers labelled, and what was right of
#: them (lower end of the interval): fragments 115 of 167, what a later post overtakes 22 of 34; failures 2 of 13.
_SHARES: Mapping[Doubt, int] = {"fragment": 62, "overtaken": 48}

#: Forms of which that holds where the words name something; a fix has to say where it is.
_FORMS = frozenset({"hole", "points_elsewhere", "announces", "cut_short"})
_LEADS = {
    ClaimKind.CAUSE: _FORMS,
    ClaimKind.REMEDY: _FORMS | {"says_too_little"},
    ClaimKind.FIX: _FORMS,
}

#: Acts that have no direction: a model's sentence cannot turn them round. "Decrease" for "increase" would pass.
_WITHOUT_DIRECTION = frozenset({"remedy.set_env", "remedy.set_flag", "remedy.set_parameter", "remedy.pin"})
#: Of seven statements of a model that two readers called wrong three were the first assignment of a block of code
#: ("Set dataIndex to 0").
_MOST_TYPED_LINES = 3
#: A line that repeats what another post said: its words are not its post's.
_REPLIED = re.compile(r"[ \t]{0,3}>")
#: A word of a sentence: an abbreviation before an address ("CL:", "PR") is none.
_WORD = re.compile(r"[a-z]{3}|[\u4e00-\u9fff]{2}", re.IGNORECASE)
_ASKS = re.compile(r"\?(?=[\s)\"'*_]|\Z)|？")
#: Words that mean the block which follows them at once, where they have no mark that leads to it.
_AT_BLOCK = re.compile(
    r"\b(add(?:ed|ing)?|put(?:ting)?|us(?:e|ed|ing)|ran|run(?:ning)?|past(?:e|ed|ing)|insert(?:ed|ing)?|append(?:ed|ing)?"
    r"|includ(?:e|ed|ing)|execut(?:e|ed|ing)) (?:this|these)\b",
    re.IGNORECASE,
)
#: A fix that somebody made, and one that is to come.
_DONE = re.compile(
    r"\b(?:fixed|resolved|corrected|committed|pushed|landed|merged|checked in)\b|已修复|修复了|已解决", re.I
)
_PLANNED = re.compile(r"\b(?:will|'ll|going to|soon|next|once|when|if|not|plan|would|wo)\b|n't\b|将|即将|如果", re.I)
_NEGATED = re.compile(
    r"\bnot\b|n't\b|\bno\b|\bnever\b|\bwithout\b|\bunset|\bremov|\bavoid|不|没|无|别|取消|去掉", re.IGNORECASE
)


def pointed(document: Document, events: Sequence[Event], signature: Signature, found: Pointed) -> Claim | Skipped:
    """The claim that the words make about the error at `found.event`, or the reason for which they make none.

    `events` are all of the document's, `signature` is that of the error. Words whose outcome was asked about a second
    time need not name an object or be free of a hedge: that they say so was the question.
    """
    is_act = found.kind == ClaimKind.REMEDY  # a cause or a fix has no place for a block beside it
    passage = passages.pointed_at(document, units(document, events), found.start, found.end) if is_act else None
    words = document.text[found.start : found.end]
    refused = _unfit(document, events, found)
    if refused is not None:
        return refused
    fact, reason = _stated(document, words, found, passage)
    # what the words point at stands behind them at once, or in the sentence before: both are shown
    block = _block(document, events, found) if reason == "points_elsewhere" and is_act else None
    if block is not None:
        passage, reason = block, None
    led = passages.led(document, events, found.start, found.end) if reason == "points_elsewhere" and is_act else None
    if led is not None:
        passage, reason = None, _fault(document, words, "act", has_lead=True)
    doubt = _doubted(words, found)
    lead = _lead(words, found, reason) if reason or doubt else found
    if lead is None:
        return _refused(document, found, doubt or str(reason))
    fact, found = (fact, found) if lead is found else (None, lead)
    made = claim_at(
        document,
        found.kind,
        found.rule,
        fact=fact,
        span=(passage.start, passage.end) if passage else (found.start, found.end),
        about=(signature.signature_id,),
        outcome=found.outcome,
        answer=quote(document, *found.answer, post=document.post_at(found.answer[0])) if found.answer else None,
    )
    made = passages.with_passage(made, passage) if passage else replace(made, passage=led) if led else made
    refusal = refusal_of(document, made)
    if refusal is not None:
        return _refused(document, found, *refusal)
    return replace(made, doubt=_share_of(found)) if reason or doubt else made


def _unfit(document: Document, events: Sequence[Event], found: Pointed) -> Skipped | None:
    """Why the words are nothing to show, whatever they say: they are not safe, or not their writer's."""
    words = document.text[found.start : found.end]
    ended = document.text[slice(*found.answer)] if found.answer else ""
    for told in (words + "\n" + ended, found.statement):
        refusal = advice.refusal(told, owners=owners(document))
        if refusal is not None:
            return _refused(document, found, *refusal)
    for start, end in ((found.start, found.end), *([found.answer] if found.answer else [])):
        if _REPLIED.match(document.text, document.text.rfind("\n", 0, start) + 1):
            return _refused(document, found, "quoted_reply")
        if any(e.start < end and start < e.end for e in events):
            return _refused(document, found, "quotes_the_error")
    return None


def _block(document: Document, events: Sequence[Event], found: Pointed) -> passages.Passage | None:
    """The words of an act with the block behind them, which they name with "this"; None where they point elsewhere."""
    pieces = units(document, list(events))
    unit = next((piece for piece in pieces if piece.start <= found.start < piece.end), None)
    if unit is None or unit.number + 1 == len(pieces) or pieces[unit.number + 1].kind != UnitKind.CODE:
        return None
    words = document.text[found.start : unit.end]
    named = _AT_BLOCK.sub(r"\1 one", words)
    is_named = named != words and (replies.announces(words) or actions.has_object(words))
    if not is_named or _fault(document, named, "act", has_block=True) is not None:
        return None
    return passages.behind(document, pieces, found.start, unit.end)


def _doubted(words: str, found: Pointed) -> str | None:
    """Why words that stand by themselves are no statement: a guess, a plan, or another reading did not agree."""
    if found.doubt is not None:
        return found.doubt
    is_checked = found.rule.startswith(CHECKED_RULES)
    refuses = tables.refusals("zh" if language_of(words) == "zh" else "en")
    return "no_statement" if not is_checked and refuses.search(words) else None


def _share_of(found: Pointed) -> int:
    """Of a hundred like it so many were right."""
    if found.doubt is None or (found.kind == ClaimKind.FIX and found.doubt == "not_confirmed"):
        return _LEAD_SHARE  # nobody says yet that a change helps: to look at
    return _UNSURE_SHARE if found.outcome == Outcome.FAILED else _SHARES.get(found.doubt, _UNSURE_SHARE)


def _lead(words: str, found: Pointed, fault: str | None) -> Pointed | None:
    """What a lead says of words that are no statement: no outcome but in the same words; None for none."""
    is_read = found.rule.startswith((CHECKED_RULES, MODEL_RULES))
    if not is_read or _ASKS.search(words):
        return None
    if fault is not None and (fault not in _LEADS[found.kind] or not actions.has_object(words)):
        return None  # what they lost or point at is all that they say
    if found.outcome == Outcome.FAILED:
        return found if found.answer is None else None
    return replace(found, outcome=None, answer=None)


def _stated(
    document: Document, words: str, found: Pointed, passage: passages.Passage | None
) -> tuple[Fact | None, str | None]:
    """(the typed fact of the words, why they are no statement); neither where they are one in prose."""
    is_checked = found.rule.startswith(CHECKED_RULES)
    # who read the whole thread knows what the words are about, though they name nothing that a table knows
    is_read = is_checked or found.rule.startswith(MODEL_RULES)
    if found.kind == ClaimKind.FIX:
        return _fix(document, words, found.start if is_checked else None)
    fact = None
    if found.kind == ClaimKind.REMEDY:
        if found.outcome is None and tables.no_help().search(tables.if_it_stays().sub(" ", words)):
            return None, "says_no_help"
        fact = _typed(words, found.statement, project(document))
        if fact is None and not is_read and not actions.has_object(words):
            return None, "names_nothing"
    what = "cause" if found.kind == ClaimKind.CAUSE else "act" if fact is None else "fact"
    said = document.text[passage.start : passage.end] if passage is not None else words
    fault = _fault(document, said, what, has_block=passage is not None)
    if fault is None and fact is not None and replies.says_too_little(fact.template, found.outcome):
        fault = "says_too_little"
    return fact, fault


def _fault(document: Document, words: str, what: str, *, has_block: bool = False, has_lead: bool = False) -> str | None:
    return replies.fault(words[:MAX_QUOTE], what, is_rendered=document.is_lossy, has_block=has_block, has_lead=has_lead)


def _fix(document: Document, words: str, at: int | None) -> tuple[Fact | None, str | None]:
    """The same of a fix: it says where it is to be had, and by more than an address.

    Where it only says that there is one, its day tells which versions have it; `at` is its place if a second reading
    agreed that it does.
    """
    fact = rules.change(words, document)
    if fact is not None or rules.tells_where(words):
        is_told = fact is not None or _WORD.search(actions.without_addresses(words))
        return fact, None if is_told else "points_elsewhere"
    day = document.posts[document.post_at(at)].posted_at if at is not None else None
    told = (words[start:end] for start, end in sentences(words))
    done = next((one for one in told if _DONE.search(one)), None)
    if day is None or document.repo is None or done is None or _PLANNED.search(done):
        return None, "says_too_little"
    return Fact("fix.dated", (("date", day.date().isoformat()), ("repo", document.repo))), None


def _typed(words: str, statement: str, about: Project | None) -> Fact | None:
    """The act that the quote describes; else that of the model's sentence, if every part of it stands in the quote.

    A longer block of code is shown as it stands: its first assignment is seldom the one that helped.
    """
    if words.strip().count("\n") >= _MOST_TYPED_LINES:
        return None
    act = actions.action(words, about)
    if act is not None:
        return act.fact
    act = actions.action(statement, about)
    if act is None or act.fact.template not in _WITHOUT_DIRECTION or _NEGATED.search(words):
        return None
    folded = words.lower()
    return act.fact if all(value.lower() in folded for _, value in act.fact.slots) else None


def _refused(document: Document, found: Pointed, reason: str, detail: str = "") -> Skipped:
    return Skipped(STAGE, f"{document.document_id}@{found.start}", reason, detail)
