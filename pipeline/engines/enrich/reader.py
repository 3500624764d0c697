"""A thread in, places in it out: every claim checked, what would be shown judged, relations asked about again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.engines.chat import ChatModel
from pipeline.engines.enrich import judging
from pipeline.engines.enrich.answer import MOST_CLAIMS, Proposal, Verdict, proposals
from pipeline.engines.enrich.grounding import CHECKED_KINDS, RELATIONS, Found, grounded, refused
from pipeline.engines.enrich.prompt import CHECK, JUDGE, Question, again, check, questions, shown
from pipeline.engines.http import Refused, Tally
from pipeline.records import CHECKED_RULES, ClaimKind, Document, Doubt, Event, Outcome, Pointed, Skipped, shelf_of
from pipeline.text.units import Unit, UnitKind, units

_KINDS: dict[str, Literal[ClaimKind.CAUSE, ClaimKind.FIX]] = {"cause": ClaimKind.CAUSE, "fix": ClaimKind.FIX}
#: Claims that are no words to publish.
_ASIDE = frozenset({"refuted", "condition"})
_OUTCOMES = {"worked": Outcome.WORKED, "failed": Outcome.FAILED}


@dataclass(frozen=True, slots=True)
class Read:
    """What a model found in one thread; every claim of its answers is in one of the two."""

    pointed: tuple[Pointed, ...]
    refused: tuple[Skipped, ...]
    is_whole: bool  # False if the thread was too long to be shown whole


@dataclass(frozen=True, slots=True)
class Answered:
    """What one reading of a window claims, None for each that has another form; who read is named as in provenance."""

    claims: tuple[Proposal | None, ...]
    name: str
    is_again: bool  # of a second reading, which was shown what the first found


@dataclass(frozen=True, slots=True)
class _Named:
    claim: Found
    name: str
    window: int  # number of the question
    is_again: bool


@dataclass(frozen=True, slots=True)
class Reader:
    """Asks `chat`, whose task is `prompt.TASK`, about one thread at a time, then `judge` and `checker`, likewise.

    `again`, if there is one, has the task `AGAIN`: it is asked what the first reading of a window missed.
    """

    chat: ChatModel
    judge: ChatModel
    checker: ChatModel
    again: ChatModel | None = None

    @property
    def tally(self) -> Tally:
        """What was asked so far; all share one service."""
        return self.chat.service.tally

    def read(self, document: Document, events: Sequence[Event], asking: Sequence[int]) -> Read | Skipped:
        """What the model finds in `document`; `asking` are the places in `events` of the errors that it is asked about.

        The answer, or why there is none. A thread of several windows is read as far as there are answers.
        """
        pieces = units(document, events)
        asked, is_whole = questions(document, pieces, [error_named(events[number]) for number in asking])
        read = self._named(document, pieces, asked)
        if isinstance(read, Skipped):
            return read
        found, lost, is_answered = read
        firsts = _firsts(events, asking)
        taken_back = _taken_back(found)
        # what is asked about the claims of the first reading does not depend on the second: those answers are kept
        by_first = [one for one in found if not one.is_again]
        acts = _acts(by_first)
        verdicts = self._verdicts(document, pieces, asked, by_first, by_first)
        of_all = verdicts | self._verdicts(document, pieces, asked, found, [one for one in found if one.is_again])
        pointed: list[Pointed] = []
        for one in _without_assent(found):
            known = (_acts(found) | acts, of_all) if one.is_again else (acts, verdicts)
            each = self._pointed(document, pieces, one, firsts[one.claim.error], events, taken_back, *known)
            if isinstance(each, Pointed):
                pointed.append(each)
            elif each is not None:
                lost.append(each)
        return Read(tuple(_unique(pointed, events)), tuple(lost), is_whole and is_answered)

    def _named(
        self, document: Document, pieces: list[Unit], asked: Sequence[Question]
    ) -> tuple[list[_Named], list[Skipped], bool] | Skipped:
        """(the claims of all readings of all windows, what is refused of them, whether every reading has an answer).

        Or why no reading has one.
        """
        found: list[_Named] = []
        lost: list[Skipped] = []
        missing: Skipped | None = None
        is_read = False
        for window, question in enumerate(asked):
            for said in self.answers(question, document, pieces):
                if isinstance(said, Skipped):
                    missing = said
                    continue
                is_read = True
                for each in _claims(said.claims, question, document, pieces):
                    if isinstance(each, Skipped):
                        lost.append(each)
                    elif not _is_known(each, found, is_again=said.is_again):
                        found.append(_Named(each, said.name, window, said.is_again))
        if missing is not None:
            if not is_read:
                return missing
            lost.append(refused(document, missing.reason, f"a reading: {missing.detail}"))
        return found, lost, missing is None

    def _verdicts(
        self,
        document: Document,
        pieces: Sequence[Unit],
        asked: Sequence[Question],
        known: Sequence[_Named],
        about: Sequence[_Named],
    ) -> dict[judging.Key, Verdict | Refused]:
        """What is said of the claims `about` in their windows, of all that are `known`; once for each window."""
        back = _taken_back(known)
        stated = [one for one in _without_assent(known) if _is_stated(one.claim, back)]
        untils = judging.passages((one.claim, _until(document, pieces, one.claim).number) for one in stated)
        found: dict[judging.Key, Verdict | Refused] = {}
        for window, question in enumerate(asked):
            mine = [one.claim for one in stated if one.window == window and one in about]
            told = judging.statements(mine, untils)
            found |= judging.judged(self.judge, question, told, shelf=shelf_of(document.document_id))
        return found

    def answers(self, asked: Question, document: Document, pieces: list[Unit]) -> Iterator[Answered | Skipped]:
        """What the readings of one window claim, the first before the second; ends with why one has no answer."""
        first = _answered(self.chat, asked.text, document, is_again=False)
        yield first
        if self.again is None or isinstance(first, Skipped):
            return
        named = [
            (each.kind, each.unit.number, each.until.number, each.of.number, each.error + 1)
            for each in _claims(first.claims, asked, document, pieces)
            if isinstance(each, Found)
        ]
        yield _answered(self.again, again(asked, named), document, is_again=True)

    def _pointed(
        self,
        document: Document,
        pieces: Sequence[Unit],
        named: _Named,
        event: int,
        events: Sequence[Event],
        taken_back: set[int],
        untils: Mapping[int, int],
        verdicts: judging.Verdicts,
    ) -> Pointed | Skipped | None:
        """The place of a claim, why it has none, or None for one that is about another claim or where the error is."""
        claim = named.claim
        place = f"unit {claim.unit.number}"
        if claim.kind in _ASIDE:
            return None
        if claim.kind != "failed" and taken_back & {claim.unit.number, claim.of.number}:
            return refused(document, "refuted", place)
        said, ended = claim.of, claim.unit
        until = _until(document, pieces, claim)
        rule, is_counted = named.name, claim.kind in CHECKED_KINDS
        doubt = self._doubt(document, pieces, claim, error_named(events[event]), untils, judging.of(claim, verdicts))
        if isinstance(doubt, Skipped):
            return doubt
        if doubt is None:
            checked = f"{CHECKED_RULES}{rule}+{CHECK.version}" if is_counted else rule
            rule = f"{checked}+{JUDGE.version}"
        return Pointed(
            kind=_KINDS.get(claim.kind, ClaimKind.REMEDY),
            start=said.start,
            end=until.end,
            statement=claim.statement if said == ended else "",
            rule=rule,
            event=event,
            outcome=_OUTCOMES.get(claim.kind),
            answer=(ended.start, ended.end) if said != ended else None,
            doubt=doubt,
        )

    def _doubt(
        self,
        document: Document,
        pieces: Sequence[Unit],
        claim: Found,
        error: str,
        untils: Mapping[int, int],
        verdict: Verdict | Refused | None,
    ) -> Doubt | Skipped | None:
        """Why the words are no statement, None where they may be shown as one; or why there is no claim.

        The second question shows the passages as far as they go. It is asked whatever the verdict is, so that both are
        of one batch.
        """
        place, is_checked = f"unit {claim.unit.number}", claim.kind in CHECKED_KINDS
        if not is_checked and claim.sure != "said":
            return claim.sure
        answer = self._checked(document, pieces, claim, error, untils) if is_checked else "yes"
        for said in (answer, verdict):
            if isinstance(said, Refused):
                return refused(document, said.why, f"{place}: {said.reason}")
        if answer != "yes" and claim.kind in _OUTCOMES:
            return refused(document, "not_confirmed", f"{place}: {answer}")
        match verdict:
            case "stands":
                return None if answer == "yes" else "not_confirmed"
            case "elsewhere":
                return refused(document, "other_problem", f"{place}: {verdict}")
            case "fragment" | "overtaken":
                return verdict
            case _:
                return "not_confirmed"

    def _checked(
        self, document: Document, pieces: Sequence[Unit], claim: Found, error: str, untils: Mapping[int, int]
    ) -> str | Refused:
        outcome = _words(document, pieces[claim.unit.number : claim.until.number + 1])
        last = untils.get(claim.of.number, claim.of.number)
        act = _words(document, pieces[claim.of.number : last + 1]) if claim.of != claim.unit else outcome
        said = self.checker.ask(check(claim.kind, error, act, outcome), shelf=shelf_of(document.document_id))
        return said if isinstance(said, Refused) else str(said.value.get("answer"))


def _answered(chat: ChatModel, text: str, document: Document, *, is_again: bool) -> Answered | Skipped:
    said = chat.ask(text, shelf=shelf_of(document.document_id))
    if isinstance(said, Refused):
        return Skipped("enrich", document.document_id, said.why, said.reason)
    claims = proposals(said.value)
    if claims is None:
        return Skipped("enrich", document.document_id, "answer_unusable", "claims is no list")
    return Answered(tuple(claims), said.name, is_again)


def _without_assent(found: Sequence[_Named]) -> Iterator[_Named]:
    """All but who says that a cause is right: it counts nothing, and there is no act to ask about a second time."""
    kinds: dict[int, set[str]] = {}
    for one in found:
        if one.claim.of == one.claim.unit:
            kinds.setdefault(one.claim.unit.number, set()).add(one.claim.kind)
    for one in found:
        said = kinds.get(one.claim.of.number, set())
        if one.claim.kind != "worked" or "cause" not in said or said & {"remedy", "fix", "worked"}:
            yield one


def _taken_back(found: Sequence[_Named]) -> set[int]:
    """The units that somebody takes back."""
    return {one.claim.of.number for one in found if one.claim.kind == "refuted"}


def _acts(found: Sequence[_Named]) -> dict[int, int]:
    """The last unit of each advice, by its first."""
    return {one.claim.unit.number: one.claim.until.number for one in found if one.claim.kind == "remedy"}


def _is_stated(claim: Found, taken_back: set[int]) -> bool:
    """Whether the claim would be a statement, if it is judged to stand."""
    if claim.kind in _ASIDE or (claim.kind not in CHECKED_KINDS and claim.sure != "said"):
        return False
    return claim.kind == "failed" or not taken_back & {claim.unit.number, claim.of.number}


def _until(document: Document, pieces: Sequence[Unit], claim: Found) -> Unit:
    """The last unit of what a claim quotes for what it says."""
    said = claim.of
    return _passage(document, pieces, said, claim.until if said == claim.unit else said)


def _is_known(claim: Found, found: Sequence[_Named], *, is_again: bool) -> bool:
    """Whether it is named already: windows repeat the report, and a second reading may repeat the first."""
    if not is_again:
        return any(claim == one.claim for one in found)
    return any(
        (claim.kind, claim.error) == (one.claim.kind, one.claim.error)
        and one.claim.unit.number <= claim.unit.number <= one.claim.until.number
        and (claim.kind not in RELATIONS or claim.of == one.claim.of)
        for one in found
    )


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
