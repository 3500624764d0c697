"""A thread in, places in it out: every claim of an answer checked, every relation asked about a second time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.engines.chat import ChatModel
from pipeline.engines.enrich.answer import MOST_CLAIMS, Proposal, proposals
from pipeline.engines.enrich.grounding import CHECKED_KINDS, Found, grounded, refused
from pipeline.engines.enrich.prompt import CHECK, Question, check, questions, shown
from pipeline.engines.http import Refused, Tally
from pipeline.records import CHECKED_RULES, ClaimKind, Document, Event, Outcome, Pointed, Skipped, shelf_of
from pipeline.text.units import Unit, UnitKind, units

_KINDS: dict[str, Literal[ClaimKind.CAUSE, ClaimKind.FIX]] = {"cause": ClaimKind.CAUSE, "fix": ClaimKind.FIX}
_OUTCOMES = {"worked": Outcome.WORKED, "failed": Outcome.FAILED}


@dataclass(frozen=True, slots=True)
class Read:
    """What a model found in one thread; every claim of its answers is in one of the two."""

    pointed: tuple[Pointed, ...]
    refused: tuple[Skipped, ...]
    is_whole: bool  # False if the thread was too long to be shown whole


@dataclass(frozen=True, slots=True)
class Reader:
    """Asks `chat`, whose task is `prompt.TASK`, about one thread at a time, and `checker`, whose task is `CHECK`."""

    chat: ChatModel
    checker: ChatModel

    @property
    def tally(self) -> Tally:
        """What was asked so far; both share one service."""
        return self.chat.service.tally

    def read(self, document: Document, events: Sequence[Event], asking: Sequence[int]) -> Read | Skipped:
        """What the model finds in `document`; `asking` are the places in `events` of the errors that it is asked about.

        The answer, or why there is none. A thread of several windows is read as far as there are answers.
        """
        pieces = units(document, events)
        asked, is_whole = questions(document, pieces, [error_named(events[number]) for number in asking])
        firsts = _firsts(events, asking)
        found: list[tuple[Found, str]] = []
        lost: list[Skipped] = []
        missing: Skipped | None = None
        for question in asked:
            said = self.chat.ask(question.text, shelf=shelf_of(document.document_id))
            if isinstance(said, Refused):
                missing = Skipped("enrich", document.document_id, said.why, said.reason)
                continue
            claims = proposals(said.value)
            if claims is None:
                missing = Skipped("enrich", document.document_id, "answer_unusable", "claims is no list")
                continue
            for each in _claims(claims, question, document, pieces):
                if isinstance(each, Skipped):
                    lost.append(each)
                elif all(each != known for known, _ in found):  # windows repeat the report
                    found.append((each, said.name))
        if missing is not None and not found and not lost:
            return missing
        untils = {claim.unit.number: claim.until.number for claim, _ in found if claim.kind == "remedy"}
        taken_back = {claim.of.number for claim, _ in found if claim.kind == "refuted"}
        pointed: list[Pointed] = []
        for claim, name in found:
            each_pointed = self._pointed(document, pieces, claim, name, firsts[claim.error], events, taken_back, untils)
            if isinstance(each_pointed, Pointed):
                pointed.append(each_pointed)
            elif each_pointed is not None:
                lost.append(each_pointed)
        return Read(tuple(_unique(pointed, events)), tuple(lost), is_whole and missing is None)

    def _pointed(
        self,
        document: Document,
        pieces: Sequence[Unit],
        claim: Found,
        name: str,
        event: int,
        events: Sequence[Event],
        taken_back: set[int],
        untils: Mapping[int, int],
    ) -> Pointed | Skipped | None:
        """The place of a claim, why it has none, or None for one that only takes another back."""
        place = f"unit {claim.unit.number}"
        if claim.kind == "refuted":
            return None
        if claim.kind != "failed" and taken_back & {claim.unit.number, claim.of.number}:
            return refused(document, "refuted", place)
        said, ended = claim.of, claim.unit
        until = _passage(document, pieces, said, claim.until if said == ended else said)
        rule = name
        if claim.kind in CHECKED_KINDS:
            answer = self._agrees(document, pieces, claim, error_named(events[event]), untils)
            if isinstance(answer, Refused):
                return refused(document, answer.why, f"{place}: {answer.reason}")
            if answer == "yes":
                rule = f"{CHECKED_RULES}{name}+{CHECK.version}"
            elif claim.kind != "fix" or answer == "no":  # a change that nobody says to help is still one to look at
                return refused(document, "not_confirmed", f"{place}: {answer}")
        return Pointed(
            kind=_KINDS.get(claim.kind, ClaimKind.REMEDY),
            start=said.start,
            end=until.end,
            statement=claim.statement if said == ended else "",
            rule=rule,
            event=event,
            outcome=_OUTCOMES.get(claim.kind),
            answer=(ended.start, ended.end) if said != ended else None,
        )

    def _agrees(
        self, document: Document, pieces: Sequence[Unit], claim: Found, error: str, untils: Mapping[int, int]
    ) -> str | Refused:
        """The answer to the second question: "yes", "no" or "unclear"; it shows the passages as far as they go."""
        outcome = _words(document, pieces[claim.unit.number : claim.until.number + 1])
        last = untils.get(claim.of.number, claim.of.number)
        act = _words(document, pieces[claim.of.number : last + 1]) if claim.of != claim.unit else outcome
        text = check(claim.kind, error, act, outcome)
        said = self.checker.ask(text, shelf=shelf_of(document.document_id))
        return said if isinstance(said, Refused) else str(said.value.get("answer"))


def _words(document: Document, passage: Sequence[Unit]) -> str:
    return "\n".join(shown(document, unit) for unit in passage)


def _passage(document: Document, pieces: Sequence[Unit], unit: Unit, until: Unit) -> Unit:
    """The last unit of what is quoted: words that announce a block ("use this instead:") go with it."""
    following = pieces[unit.number + 1] if unit.number + 1 < len(pieces) else None
    if until != unit or following is None or following.post != unit.post or following.kind != UnitKind.CODE:
        return until
    return following if document.text[unit.start : unit.end].rstrip()[-1:] in (":", "：") else unit


def _claims(
    claims: Sequence[Proposal | None], asked: Question, document: Document, pieces: list[Unit]
) -> Iterator[Found | Skipped]:
    for number, claim in enumerate(claims):
        if number >= MOST_CLAIMS:
            yield refused(document, "too_many_claims")
        elif claim is None:
            yield refused(document, "answer_unusable", f"claim {number} has another form")
        else:
            yield grounded(claim, asked, document, pieces)


def error_named(event: Event) -> str:
    """An error as a question names it: "ValueError: shapes do not match"."""
    return f"{event.exception_type}: {event.message}" if event.exception_type else event.message


def _firsts(events: Sequence[Event], asking: Sequence[int]) -> list[int]:
    """For each error of a question the first event that shows it."""
    found: dict[str, int] = {}
    for number in asking:
        found.setdefault(error_named(events[number]), number)
    return list(found.values())


def _unique(pointed: Sequence[Pointed], events: Sequence[Event]) -> Iterator[Pointed]:
    """Each place once: words of which somebody says how they ended need no claim without an outcome.

    What helped is quoted as far as the claim without one goes: who does the same needs the block as well.
    """
    acts = [place for place in pointed if place.kind == ClaimKind.REMEDY]
    ended = {place.start for place in acts if place.outcome is not None}
    for place in pointed:
        if place.kind == ClaimKind.REMEDY and place.outcome == Outcome.WORKED:
            end = max(one.end for one in acts if one.start == place.start)
            is_printed = any(place.start < event.end and event.start < end for event in events)
            yield place if is_printed else replace(place, end=end)
        elif place.kind != ClaimKind.REMEDY or place.outcome is not None or place.start not in ended:
            yield place
