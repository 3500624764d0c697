"""Counts, tiers, dates and confidence: one function each, over the evidence and nothing else.

docs/counting.md has the definitions for readers of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

from pipeline.records import MAINTAINER_ROLES, MODEL_RULES, Claim, Outcome
from pipeline.records.entry import Evidence, Tier

#: How many users' words one voice weighs. An official page is written once and read by everybody, so one must be able
#: to reach 0.7 alone (Wilson's bound of 9/9); a maintainer knows the code, three users' worth.
OFFICIAL_WEIGHT = 9
MAINTAINER_WEIGHT = 3

_Z = 1.959964  # two-sided 95 %


def is_by_model(rule: str) -> bool:
    """True if a language model found it and no rule of ours: it is shown and cited, and weighs nothing."""
    return rule.startswith(MODEL_RULES)


def wilson_lower(good: float, everything: float) -> float | None:
    """The lower end of Wilson's 95 % interval of good/everything, None for nothing."""
    if everything <= 0:
        return None
    share, z2 = good / everything, _Z * _Z
    spread = _Z * sqrt(share * (1 - share) / everything + z2 / (4 * everything * everything))
    return max(0.0, (share + z2 / (2 * everything) - spread) / (1 + z2 / everything))


def confidence(*, official: int, maintainers: int, users: int, against: int) -> float | None:
    """How well the entry's cause and remedies are supported, 0 to 1, rounded to 3 digits; None if nobody said anything.

    Wilson's lower 95 % bound of k/n with k = 9*official + 3*maintainers + users and n = k + against, where each is a
    number of distinct documents: official pages for the error, documents in which a maintainer states a cause, a fix or
    an act that worked, documents in which only others do, and documents in which an act is said to have failed. So one
    user's word gives 0.21, five 0.57, one official page 0.70, and failures lower it. Occurrences alone and the
    program's own hint do not count: they show that the error exists, not that the answer is right. Nor does what a
    language model pointed at, whoever said it.
    """
    support = OFFICIAL_WEIGHT * official + MAINTAINER_WEIGHT * maintainers + users
    bound = wilson_lower(support, support + against)
    return None if bound is None else round(bound, 3)


class Dates(NamedTuple):
    """The dates of an entry, each that of a piece of its evidence; None where no piece has one."""

    first_seen: str | None
    last_confirmed: str | None
    last_updated: str | None


#: Evidence by which somebody shows that the error exists: it was met, or something was tried against it.
_CONFIRMING = frozenset({"occurrence", "worked", "failed"})


def dates(evidence: Iterable[Evidence]) -> Dates:
    """When the error was first met, when somebody last met it or tried something against it, when anything was said."""
    days = [(piece.posted_at[:10], piece.role) for piece in evidence if piece.posted_at]
    return Dates(
        first_seen=min((day for day, role in days if role == "occurrence"), default=None),
        last_confirmed=max((day for day, role in days if role in _CONFIRMING), default=None),
        last_updated=max((day for day, _ in days), default=None),
    )


def outcomes(claims: Iterable[Claim]) -> tuple[int, int]:
    """(worked, failed) of one remedy: the threads in which somebody says so, each once, whoever says it how often."""
    threads: dict[str, set[str]] = {"worked": set(), "failed": set()}
    for claim in claims:
        if claim.outcome in threads:
            threads[claim.outcome].add(claim.quote.document_id)
    return len(threads["worked"]), len(threads["failed"])


#: Best first.
TIERS: tuple[Tier, ...] = ("documented", "maintainer_confirmed", "user_confirmed", "reported", "ai_generated")
_CLOSED = "fix.closed_by"


def tier(claims: Sequence[Claim], *, is_official: bool = False) -> Tier:
    """The tier of what `claims` state together: by who says it, and who confirms it.

    Documented by an official page. Confirmed by a maintainer who says it, or says that it worked. Confirmed by users:
    one says that it worked, or GitHub says that the change closed the report. Else reported; what a program prints and
    that something did not help raise nothing. Generated where only a language model picked the words.
    """
    if is_official:
        return "documented"
    stated = [claim for claim in claims if not is_by_model(claim.rule)]
    if claims and not stated:
        return "ai_generated"
    if any(role in MAINTAINER_ROLES for claim in stated for role in _voices(claim)):
        return "maintainer_confirmed"
    closes = any(claim.fact is not None and claim.fact.template == _CLOSED for claim in stated)
    return "user_confirmed" if closes or any(c.outcome == Outcome.WORKED for c in stated) else "reported"


def best_tier(tiers: Iterable[Tier]) -> Tier:
    """The tier of an entry: the best of its cause's and its workarounds', reported if it has neither."""
    return min((*tiers, "reported"), key=TIERS.index)


def _voices(claim: Claim) -> list[str | None]:
    """The roles of those who say it and of those who say that it worked."""
    said = [] if claim.outcome == Outcome.FAILED or claim.rule.startswith("hint.") else [claim.quote.author_role]
    if claim.outcome_quote is not None and claim.outcome == Outcome.WORKED:
        said.append(claim.outcome_quote.author_role)
    return said
