"""Tier and confidence: formulas over counts of documents, nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from pipeline.records import MAINTAINER_ROLES, MODEL_RULES
from pipeline.records.entry import Tier

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


def rate(worked: int, failed: int) -> float | None:
    """The share of documents in which it worked, None if nobody said."""
    return round(worked / (worked + failed), 3) if worked + failed else None


def best_tier(*, is_official: bool, roles: Iterable[str | None], is_confirmed: bool) -> Tier:
    """The tier: documented > maintainer_confirmed > user_confirmed > reported, by who says it and who confirms."""
    if is_official:
        return "documented"
    if any(role in MAINTAINER_ROLES for role in roles):
        return "maintainer_confirmed"
    return "user_confirmed" if is_confirmed else "reported"
