"""Is what a model says there? The quote must stand in the post that it names, and nothing may be made up."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Literal

from pipeline.engines.enrich.answer import Proposal
from pipeline.engines.enrich.prompt import Question
from pipeline.lexicon import gates
from pipeline.records import ClaimKind, Document, Pointed, Skipped
from pipeline.text import clean

#: Characters of a quote: "用 0.4.2 就好" says something, "works" does not; the longest is the contract's.
LEAST_QUOTE, MOST_QUOTE = 8, 300
#: A longer "short sentence" is not read: each name in it is looked for in the post.
MOST_STATEMENT = 600

_KINDS: dict[str, Literal[ClaimKind.CAUSE, ClaimKind.REMEDY]] = {
    "cause": ClaimKind.CAUSE,
    "workaround": ClaimKind.REMEDY,
}


@cache
def _addresses_models() -> re.Pattern[str]:
    path = resources.files("pipeline").joinpath("data", "enrich.toml")
    return re.compile("|".join(tomllib.loads(path.read_text("utf-8"))["addresses_models"]), re.IGNORECASE)


def located(proposal: Proposal, asked: Question, document: Document, *, rule: str) -> Pointed | Skipped:
    """The place of the proposal's quote in `document`, or why it is refused."""
    quote = proposal.quote.strip()
    post = next((shown for shown in asked.posts if shown.number == proposal.post), None)
    if post is None:
        return refused(document, "quote_not_found", f"there is no post {proposal.post}")
    place = f"post {proposal.post}"
    if not LEAST_QUOTE <= len(quote) <= MOST_QUOTE:
        return refused(document, "quote_length", f"{place}: {len(quote)} characters")
    if len(proposal.statement) > MOST_STATEMENT:
        return refused(document, "answer_unusable", f"{place}: the statement has {len(proposal.statement)} characters")
    start = document.text.find(quote, post.start, post.end)
    if start < 0:
        return refused(document, "quote_not_found", place)
    source = document.text[post.start : post.end]
    if _addresses_models().search(source):
        return refused(document, "addresses_models", place)
    made_up = gates.invented(source, proposal.statement)
    if made_up:
        return refused(document, "made_up", f"{place}: {', '.join(made_up)[:200]}")
    kind = _KINDS.get(proposal.kind)
    if kind is None:
        return refused(document, "not_counted", place)
    return Pointed(kind, start, start + len(quote), proposal.statement, rule)


def refused(document: Document, reason: str, detail: str = "") -> Skipped:
    """A claim of a model that was not taken; the detail may hold the model's words, so it is made safe to show."""
    return Skipped("enrich-claims", document.document_id, reason, clean(detail))
