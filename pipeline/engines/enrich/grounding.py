"""May a model's claim be looked at? Its units must be there, and nothing in its sentence may be made up."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from pipeline.engines.enrich.answer import Proposal, Sure
from pipeline.engines.enrich.prompt import Question
from pipeline.lexicon import advice, gates
from pipeline.records import Document, Skipped
from pipeline.text import clean
from pipeline.text.units import Unit, UnitKind

#: A longer "short sentence" is not read: each name in it is looked for in the post.
MOST_STATEMENT = 600
#: Units behind the first that a passage may have.
MOST_FURTHER = 3
#: Names of so many letters are seldom one slip apart from another name.
_LONG_WORD = 8
_WORD = re.compile(r"[a-z]+")
#: A version is the same with its letter and without: "v[2.1](...)" is told as "v2.1".
_LETTER = re.compile(r"v(?=\d{1,6}(?:\.\d{1,6}){1,4}\Z)", re.IGNORECASE)
#: Claims about what another unit describes.
RELATIONS = frozenset({"worked", "failed", "refuted"})
#: Claims that a second question must agree with, before they count.
CHECKED_KINDS = frozenset({"worked", "failed", "fix"})


@dataclass(frozen=True, slots=True)
class Found:
    """A claim whose units are there; `of` is the unit that it answers, itself where nobody else does."""

    kind: str
    unit: Unit
    until: Unit
    of: Unit
    error: int  # its number among the question's errors less 1
    sure: Sure
    statement: str


def grounded(proposal: Proposal, asked: Question, document: Document, units: list[Unit]) -> Found | Skipped:
    """The claim with its units, or why it is refused; `units` are all of the document's."""
    place = f"unit {proposal.unit}"
    wanted = {proposal.unit, proposal.until, *([proposal.of] if proposal.kind in RELATIONS else [])}
    if not wanted <= asked.shown:
        return refused(document, "unit_not_found", f"{place}: of {sorted(wanted)} not all were shown")
    unit, until = units[proposal.unit], units[proposal.until]
    of = units[proposal.of] if proposal.kind in RELATIONS else unit
    if not unit.number <= until.number <= unit.number + MOST_FURTHER or until.post != unit.post:
        return refused(document, "unit_not_found", f"{place}: no passage ends at {proposal.until}")
    if not _answers(proposal.kind, unit, of):
        return refused(document, "unit_not_found", f"{place}: it cannot answer {of.number}")
    if not 0 <= proposal.error <= len(asked.errors):
        return refused(document, "unit_not_found", f"{place}: there is no error {proposal.error}")
    if proposal.error == 0:
        return refused(document, "other_problem", place)
    if UnitKind.QUOTED in (unit.kind, of.kind):
        return refused(document, "quoted_reply", place)
    if len(proposal.statement) > MOST_STATEMENT:
        return refused(document, "answer_unusable", f"{place}: the statement has {len(proposal.statement)} characters")
    sources = [_post(document, one) for one in (unit, of)]
    if any(map(advice.talks_to_models, sources)):
        return refused(document, "addresses_models", place)
    made_up = _made_up("\n".join(sources), proposal.statement)
    if made_up:
        return refused(document, "made_up", f"{place}: {', '.join(made_up)[:200]}")
    return Found(proposal.kind, unit, until, of, proposal.error - 1, proposal.sure, proposal.statement)


def _answers(kind: str, unit: Unit, of: Unit) -> bool:
    """Whether a unit may tell of another: an earlier one, or what the same post goes on with ("Fixed! I set ...")."""
    if of.number > unit.number:
        return kind == "worked" and of.post == unit.post and of.number - unit.number <= MOST_FURTHER
    return kind != "refuted" or of != unit


def _made_up(source: str, statement: str) -> list[str]:
    """What the statement names and the posts do not; a word that somebody misspelt is theirs."""
    words = {word for word in _WORD.findall(source.lower()) if len(word) >= _LONG_WORD - 1}
    return [
        name
        for name in gates.invented(source, statement)
        if not (
            name.isalpha()
            and len(name) >= _LONG_WORD
            and any(OSA.distance(name.lower(), word, score_cutoff=1) <= 1 for word in words)
        )
        and not (_LETTER.match(name) and not gates.invented(source, name[1:]))
    ]


def _post(document: Document, unit: Unit) -> str:
    if unit.post < 0:
        return document.text
    post = document.posts[unit.post]
    return document.text[post.start : post.end]


def refused(document: Document, reason: str, detail: str = "") -> Skipped:
    """A claim of a model that was not taken; the detail may hold the model's words, so it is made safe to show."""
    return Skipped("enrich-claims", document.document_id, reason, clean(detail))
