"""Words that a language model pointed at, judged as anybody's words are: may they be a claim?

A model's judgement counts nothing: its claims have no outcome, so nothing "worked" or "failed" by its word, and what
only a model claims has the tier ai_generated (`remedies`, `reduce`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.distil import actions, tables
from pipeline.distil.claims import replies
from pipeline.distil.claims.reading import claim_at
from pipeline.distil.claims.subjects import errors_of, subject
from pipeline.records import Claim, ClaimKind, Document, Event, Fact, Pointed, Signature, Skipped
from pipeline.text import language_of, unsafe

STAGE = "enrich-claims"

#: Acts that have no direction: a model's sentence cannot turn them round. "Decrease" for "increase" would pass.
_WITHOUT_DIRECTION = frozenset({"remedy.set_env", "remedy.set_flag", "remedy.set_parameter", "remedy.pin"})
#: A line that repeats what another post said: its words are not its post's.
_REPLIED = re.compile(r"[ \t]{0,3}>")
_NEGATED = re.compile(
    r"\bnot\b|n't\b|\bno\b|\bnever\b|\bwithout\b|\bunset|\bremov|\bavoid|不|没|无|别|取消|去掉", re.IGNORECASE
)


def pointed(
    document: Document, events: Sequence[Event], signatures: Sequence[Signature], found: Pointed
) -> Claim | Skipped:
    """The claim that the words make about the document's errors, or the reason for which they make none.

    `signatures[i]` belongs to `events[i]`; the document has at least one error.
    """
    quote = document.text[found.start : found.end]
    danger = unsafe(quote) or unsafe(found.statement)
    if danger is not None:
        return _refused(document, found, "unsafe_action", danger)
    if _REPLIED.match(document.text, document.text.rfind("\n", 0, found.start) + 1):
        return _refused(document, found, "quoted_reply")
    if any(e.start < found.end and found.start < e.end for e in events):
        return _refused(document, found, "quotes_the_error")
    refusals = tables.refusals("zh" if language_of(quote) == "zh" else "en")
    if refusals.search(quote):
        return _refused(document, found, "no_statement")
    fact = None
    if found.kind == ClaimKind.REMEDY:
        if tables.no_help().search(quote):
            return _refused(document, found, "says_no_help")
        fact = _typed(quote, found.statement)
        if fact is None and not actions.has_object(quote):
            return _refused(document, found, "names_nothing")
    what = "cause" if found.kind == ClaimKind.CAUSE else "act" if fact is None else "fact"
    fault = replies.fault(quote, what, is_rendered=document.is_lossy)
    if fault is None and fact is not None and replies.says_too_little(fact.template, None):
        fault = "says_too_little"
    if fault is not None:
        return _refused(document, found, fault)
    about = subject(document, errors_of(events, signatures), found.start, found.end)
    if about is None:
        return _refused(document, found, "unclear_subject")
    return claim_at(document, found.kind, found.rule, fact=fact, span=(found.start, found.end), about=(about,))


def _typed(quote: str, statement: str) -> Fact | None:
    """The act that the quote describes; else that of the model's sentence, if every part of it stands in the quote."""
    act = actions.action(quote)
    if act is not None:
        return act.fact
    act = actions.action(statement)
    if act is None or act.fact.template not in _WITHOUT_DIRECTION or _NEGATED.search(quote):
        return None
    folded = quote.lower()
    return act.fact if all(value.lower() in folded for _, value in act.fact.slots) else None


def _refused(document: Document, found: Pointed, reason: str, detail: str = "") -> Skipped:
    return Skipped(STAGE, f"{document.document_id}@{found.start}", reason, detail)
