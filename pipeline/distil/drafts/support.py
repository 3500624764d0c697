"""What supports a draft: its evidence, each piece once, and what that comes to.

Counts, tiers, dates and confidence are one function each, over the evidence and nothing else;
docs/counting.md has the definitions for readers of the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import isfinite, sqrt
from typing import Literal, NamedTuple, cast

from pipeline.distil.material import DocumentFacts, Occurrence
from pipeline.records import (
    MAINTAINER_ROLES,
    MODEL_RULES,
    Claim,
    ClaimKind,
    DocumentKind,
    Outcome,
    Quote,
    Role,
    Slot,
    content_id,
)
from pipeline.records.entry import Environment, Evidence, Parameter, Tier, Version

# The evidence of one entry while it is being made: every quote once, with an id that others refer to.

Kind = Literal["issue", "pull", "doc"]


class Ledger:
    """Collects evidence; equal (document, span, role) is one piece, whoever found it first."""

    def __init__(self, documents: dict[str, DocumentFacts]) -> None:
        self._documents = documents
        self._kept: dict[str, Evidence] = {}
        self.rules: Counter[str] = Counter()

    def add(self, role: Role, quote: Quote, rule: str) -> str:
        """The id of the evidence for `quote` in `role`."""
        evidence_id = content_id("evidence", quote.document_id, str(quote.start), str(quote.end), role)
        if evidence_id not in self._kept:
            self._kept[evidence_id] = self._evidence(evidence_id, role, quote, rule)
            self.rules[rule] += 1
        return evidence_id

    def take(self, other: Ledger) -> None:
        """Nothing; the pieces of `other` are here too."""
        for evidence_id, piece in other._kept.items():
            if evidence_id not in self._kept:
                self._kept[evidence_id] = piece
                self.rules[piece.rule] += 1

    def __getitem__(self, evidence_id: str) -> Evidence:
        return self._kept[evidence_id]

    def all(self) -> tuple[Evidence, ...]:
        """Every piece, by document, place and role."""
        return tuple(sorted(self._kept.values(), key=lambda e: (e.document_id, e.start, e.end, e.role)))

    def documents(self, evidence_ids: tuple[str, ...]) -> int:
        """How many distinct documents the pieces named are from."""
        return len({self._kept[i].document_id for i in evidence_ids})

    def urls(self, evidence_ids: tuple[str, ...]) -> tuple[str, ...]:
        """The distinct addresses of the pieces named, sorted."""
        return tuple(sorted({self._kept[i].url for i in evidence_ids}))

    def _evidence(self, evidence_id: str, role: Role, quote: Quote, rule: str) -> Evidence:
        document = self._documents.get(quote.document_id)
        kind = document.kind if document is not None and document.kind.is_thread else DocumentKind.DOC
        return Evidence(
            evidence_id=evidence_id,
            role=role,
            url=quote.url,
            kind=cast("Kind", kind.value),
            document_id=quote.document_id,
            repo=document.repo if document else None,
            number=document.number if document else None,
            state=document.state if document else None,
            posted_at=quote.posted_at or (document.opened_at if document and role == "occurrence" else None),
            author_role=quote.author_role,
            quote=quote.text,
            quote_lang=quote.lang,
            start=quote.start,
            end=quote.end,
            raw_sha256=quote.raw_sha256,
            rule=rule,
        )


# Versions, environment and parameters of an entry, counted in documents.

#: An entry names at most this many versions and facts about machines, most frequent first: the tail of a big cluster
#: says nothing that the head does not.
MOST_ROWS = 25
_MOST_VALUES = 20  # the published record's limit

#: Slots that name things of one machine or one text: they vary, and say nothing.
_SILENT = frozenset(
    [
        "path",
        "hex",
        "url",
        "quoted",
        "name",
        "pid",
        "line",
        "time",
        "n",
        "object",
        "what",
        "code",
        "status",
        "errno",
        "error",
        "signal",
        "thread",
        "host",
        "port",
        "user",
        "symbol",
        "version",
    ]
)

_Key = tuple[str, str]

#: What the notes of a release say: the project's own word.
_NOTES = frozenset({"fix.release_notes", "fix.prerelease_notes"})


#: What names versions of the report's own project.
_OF_REPO = frozenset({"fix.released_in_repo", "fix.tracked_in_repo", "fix.tracked_in_lines"})


def _grouped(
    claims: Sequence[Claim], kind: ClaimKind, keyed: Callable[[dict[str, str], str], Iterable[_Key]]
) -> dict[_Key, list[Claim]]:
    found: dict[_Key, list[Claim]] = {}
    for claim in claims:
        if claim.kind == kind and claim.fact is not None:
            for key in keyed(dict(claim.fact.slots), claim.fact.template):
                found.setdefault(key, []).append(claim)
    return found


def _most(found: dict[_Key, list[Claim]]) -> list[_Key]:
    counts = {key: len({c.quote.document_id for c in group}) for key, group in found.items()}
    return sorted(sorted(found, key=lambda key: (-counts[key], key))[:MOST_ROWS])


def versions(claims: Sequence[Claim], ledger: Ledger) -> tuple[Version, ...]:
    """The versions in which the error was seen, introduced or fixed; fixes come from fix claims with a release."""
    found = _grouped(claims, ClaimKind.VERSION, lambda s, t: [(f"{s['product']} {s['version']}", t.rpartition(".")[2])])
    fixed = _grouped(claims, ClaimKind.FIX, _fixed_in)
    affected = {key: group for key, group in found.items() if key[1] == "affected"}
    told = {key: group for key, group in (found | fixed).items() if key[1] != "affected"}
    rows = []
    for key in sorted({*_most(affected), *_most(told)}):
        group = (found | fixed)[key]
        ids = sorted({ledger.add("fix" if key[1] == "fixed" else "version", c.quote, c.rule) for c in group})
        rows.append(
            Version(
                version=key[0],
                introduced=key[0].rpartition(" ")[2] if key[1] == "introduced" else None,
                deprecated=None,
                removed=None,
                behavior_change=None,
                status="fixed" if key[1] == "fixed" else "affected",
                count=ledger.documents(tuple(ids)),
                evidence=ids,
            )
        )
    return tuple(rows)


def _fixed_in(slots: dict[str, str], template: str) -> list[_Key]:
    """Product and version of a fix that names both, as keys; a project stands for its product."""
    if template == "fix.released":
        return [(f"{slots['package']} {slots['version']}", "fixed")]
    if template in _NOTES or template in _OF_REPO:
        return [(f"{slots['repo']} {version}", "fixed") for version in slots["version"].split(", ")]
    return []


def environment(claims: Sequence[Claim], ledger: Ledger) -> tuple[Environment, ...]:
    """Where it was seen: (name, value) with the documents that say so."""
    found = _grouped(claims, ClaimKind.ENVIRONMENT, lambda s, _: [(s["name"], s["value"])])
    rows = []
    for name, value in _most(found):
        ids = sorted({ledger.add("environment", c.quote, c.rule) for c in found[name, value]})
        rows.append(Environment(name=name, value=value, count=ledger.documents(tuple(ids)), evidence=ids))
    return tuple(rows)


def parameters(occurrences: Sequence[Occurrence]) -> tuple[Parameter, ...]:
    """What varied between the occurrences, as numbers and as printed."""
    slots: dict[tuple[str, str], list[Slot]] = {}
    for occurrence in occurrences:
        for slot in occurrence.slots:
            if slot.name not in _SILENT and slot.name.isidentifier():
                slots.setdefault((slot.name, slot.unit or ""), []).append(slot)
    return tuple(_parameter(name, unit, slots[name, unit]) for name, unit in sorted(slots))


def _parameter(name: str, unit: str, slots: Sequence[Slot]) -> Parameter:
    # "Token{3e8765" is printed as a number, and is none that JSON has
    numbers = [slot.number for slot in slots if slot.number is not None and isfinite(slot.number)]
    values = Counter(slot.value[:80] for slot in slots)
    return Parameter(
        name=name,
        unit=unit or None,
        least=min(numbers, default=None),
        greatest=max(numbers, default=None),
        values=sorted(values, key=lambda v: (-values[v], v))[:_MOST_VALUES],
        count=len(slots),
    )


# Counts, tiers, dates and confidence: one function each.

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
#: The rule for what a tracker's own field names as the version with the fix.
_TRACKER = "fix.closed_by_tracker"


def tier(claims: Sequence[Claim], *, is_official: bool = False) -> Tier:
    """The tier of what `claims` state together: by who says it, and who confirms it.

    Documented by an official page, or by the notes of the project's own release. Confirmed by a maintainer who says it,
    or says that it worked. Confirmed by users: one says that it worked, or GitHub says that the change closed the
    report. Else reported; what a program prints and that something did not help raise nothing. Generated where only a
    language model picked the words.
    """
    if is_official or any(claim.fact is not None and claim.fact.template in _NOTES for claim in claims):
        return "documented"
    stated = [claim for claim in claims if not is_by_model(claim.rule)]
    if claims and not stated:
        return "ai_generated"
    if any(role in MAINTAINER_ROLES for claim in stated for role in _voices(claim)):
        return "maintainer_confirmed"
    closes = any(c.rule == _TRACKER or (c.fact is not None and c.fact.template == _CLOSED) for c in stated)
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
