"""Claims about remedies grouped: the same act said in ten threads is one remedy with ten pieces of evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz, utils

from pipeline.distil import actions, tables
from pipeline.distil.claims.closing import BY_TRACKER
from pipeline.distil.claims.prose import MAX_QUOTE
from pipeline.distil.drafts.reach import Local
from pipeline.distil.drafts.support import TIERS, Ledger, is_by_model, outcomes, tier
from pipeline.distil.material import DocumentFacts, Official
from pipeline.records import MAINTAINER_ROLES, Claim, DocRemedy, Fact, Outcome, Quote, Role
from pipeline.records.draft import LocalCase, Remedy, Said, Statement
from pipeline.records.entry import CUT, Reply
from pipeline.text.sentences import whole

#: token_sort_ratio from which two quoted remedies of one language and equal identifiers are one. A cautious choice with
#: little behind it: of 434 prose remedies of the corpus three pairs from different documents score 75 or more, one at
#: 100 (one sentence posted twice) and two at 75 and 87 that name different versions, which the identifiers keep apart.
SAME_PROSE = 90.0
#: An entry shows at most this many remedies and dead ends each, those with most evidence first.
MOST_REMEDIES = 30
#: And this many cases, each with this many statements: whoever met the error looks for the one of their own project.
MOST_CASES = 30
MOST_SAID = 10
#: Of which so many are causes: what helped stands behind them.
MOST_CAUSES = 4

_IDENTIFIER = re.compile(r"`[^`\n]{2,60}`|--[a-z][\w-]+|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b|\b\w+_\w+\b|\d+(?:\.\d+)+")
_NEGATION = re.compile(r"\bnot\b|n't\b|\bno\b|\bnever\b|\bwithout\b|\bdisabl|不|没|无|禁用|关闭", re.IGNORECASE)


#: The replies to an act, by the claims of it.
Replied = Callable[[Sequence[Claim]], tuple[Reply, ...]]


def _unanswered(_claims: Sequence[Claim]) -> tuple[Reply, ...]:
    return ()


@dataclass(slots=True)
class Group:
    """What was said about one act."""

    key: str
    claims: list[Claim] = field(default_factory=list)
    pages: list[tuple[Quote, DocRemedy]] = field(default_factory=list)  # what official pages say


def group_remedies(claims: Iterable[Claim], official: Sequence[Official]) -> list[Group]:
    """Remedies and fixes joined where they are the same act, in an order that does not depend on the input's."""
    groups: dict[str, Group] = {}
    prose: list[Claim] = []
    for claim in sorted(claims, key=_order):
        if claim.key:
            groups.setdefault(claim.key, Group(claim.key)).claims.append(claim)
        else:
            prose.append(claim)
    for page in official:
        for remedy, quote in zip(page.record.remedies, page.remedies, strict=True):
            key = f"official|{page.record.code}|{remedy.section}|{remedy.title or quote.text[:40]}"
            groups.setdefault(key, Group(key)).pages.append((quote, remedy))
    joined: list[Group] = []
    for claim in prose:
        mate = next((g for g in joined if _is_same(g.claims[0], claim)), None)
        if mate is None:
            joined.append(Group(f"prose|{claim.claim_id}", [claim]))
        else:
            mate.claims.append(claim)
    found = [groups[key] for key in sorted(groups)] + joined
    for group in found:
        group.claims = _without_taken_back(group.claims)
    return found


def contested(claims: Iterable[Claim], doubted: Iterable[Claim]) -> frozenset[str]:
    """The failures, by `claim_id`, of acts that somebody says to have helped, where all who do are in doubt.

    To count the one side alone would say that nobody was helped.
    """
    told: dict[str, list[Claim]] = {}
    for claim in sorted(claims, key=_order):
        if claim.key and claim.kind.is_act:
            told.setdefault(claim.key, []).append(claim)
    unsure: dict[str, list[Claim]] = {}
    for claim in doubted:
        if claim.key in told and claim.kind.is_act and claim.outcome == Outcome.WORKED:
            unsure.setdefault(claim.key, []).append(claim)
    return frozenset(
        one.claim_id
        for key, others in unsure.items()
        if not _is_confirmed(told[key]) and _is_confirmed([*told[key], *others])
        for one in told[key]
        if one.outcome == Outcome.FAILED
    )


def _is_confirmed(claims: list[Claim]) -> bool:
    return any(claim.outcome == Outcome.WORKED for claim in _without_taken_back(claims))


def _without_taken_back(claims: list[Claim]) -> list[Claim]:
    """The claims, where who says that an act worked and later in the thread that it did not says only the latter."""
    failed: dict[tuple[str, str], int] = {}  # by thread and person, where it is said last
    for claim in claims:
        said = claim.last_quote
        if claim.outcome == Outcome.FAILED and said.author_hash is not None:
            who = (said.document_id, said.author_hash)
            failed[who] = max(said.start, failed.get(who, -1))
    if not failed:
        return claims
    return [
        replace(claim, outcome=None, outcome_quote=None) if _is_taken_back(claim, failed) else claim for claim in claims
    ]


def _is_taken_back(claim: Claim, failed: Mapping[tuple[str, str], int]) -> bool:
    """Whether who says that the act worked says that it failed, further down."""
    said = claim.last_quote
    last = failed.get((said.document_id, said.author_hash or ""), -1)
    return claim.outcome == Outcome.WORKED and last > said.start


def _order(claim: Claim) -> tuple[bool, str, str, int, str]:
    # a model's claims last: a quote that a rule found too is cited as that rule's
    return (
        is_by_model(claim.rule),
        claim.quote.posted_at or "~",
        claim.quote.document_id,
        claim.quote.start,
        claim.claim_id,
    )


def _is_same(first: Claim, second: Claim) -> bool:
    if first.quote == second.quote:
        return True  # pointed at twice, with the block that follows and without it
    one, two = _whole(first), _whole(second)
    if first.quote.lang != second.quote.lang or bool(_NEGATION.search(one)) != bool(_NEGATION.search(two)):
        return False
    if set(_IDENTIFIER.findall(one)) != set(_IDENTIFIER.findall(two)):
        return False
    return fuzz.token_sort_ratio(one, two, processor=utils.default_process) >= SAME_PROSE


def remedy(group: Group, ledger: Ledger, replied: Replied = _unanswered) -> Remedy:
    """The group counted (`support.outcomes`, `support.tier`); contradiction is kept, not averaged."""
    evidence = [piece for claim in group.claims for piece in _cited(claim, ledger)]
    for quote, official in group.pages:
        cited = filter(None, (quote, _rest(quote, official)))
        evidence += [ledger.add("official", piece, "official.remedy") for piece in cited]
    ids = tuple(sorted(set(evidence)))
    statement, how = _worded(group, ids)
    worked, failed = outcomes(group.claims)
    return Remedy(
        key=group.key,
        action=statement,
        how=how,
        condition=_condition(group),
        why_fails=_why_fails(group),
        worked=worked,
        failed=failed,
        tier=tier(group.claims, is_official=bool(group.pages)),
        sources=ledger.urls(ids),
        replies=replied(group.claims),
    )


def _condition(group: Group) -> str | None:
    """When the act applies, in the words of the first who says so; nothing if somebody names it without a condition."""
    said = [tables.condition(c.quote.text, _atoms(c)) for c in group.claims if c.outcome != Outcome.FAILED]
    return said[0] if said and all(said) else None


def _atoms(claim: Claim) -> list[str]:
    """What the act itself names, and the quote's own way of naming it."""
    return [value for _, value in claim.fact.slots] if claim.fact else []


def _why_fails(group: Group) -> str | None:
    """Why the act did not help, in the words of the first who says so."""
    failed = [c.last_quote for c in group.claims if c.outcome == Outcome.FAILED]
    return next((why for why in (tables.reason(quote.text) for quote in failed) if why), None)


def _cited(claim: Claim, ledger: Ledger) -> list[str]:
    """The evidence of one claim: what was done and, where it stands elsewhere, how it ended."""
    beside = [ledger.add(claim.kind.role, claim.passage, claim.rule)] if claim.passage is not None else []
    return [*_said(claim, ledger), *beside]


def _said(claim: Claim, ledger: Ledger) -> list[str]:
    outcome: Role = "worked" if claim.outcome == Outcome.WORKED else "failed"
    role = claim.kind.role
    if claim.outcome is None:
        return [ledger.add(role, claim.quote, claim.rule)]
    if claim.outcome_quote is None:
        return [ledger.add(outcome, claim.quote, claim.rule)]
    return [ledger.add("workaround", claim.quote, claim.rule), ledger.add(outcome, claim.outcome_quote, claim.rule)]


def _worded(group: Group, ids: tuple[str, ...]) -> tuple[Statement, str | None]:
    """(the action, the words that add to it): a fact where there is one, else the first quote."""
    if group.pages:
        quote, official = group.pages[0]
        told = actions.official(quote.text, official.flags)
        if told is not None:
            return Statement(told, "", "", ids), quote.text
        rest = _rest(quote, official)
        return Statement(None, quote.text, quote.lang, ids), rest.text if rest else None
    first = group.claims[0]
    by_model = is_by_model(first.rule)  # then all of them are
    facts = Counter(c.fact for c in group.claims if c.fact is not None and is_by_model(c.rule) == by_model)
    if not facts:
        return Statement(None, first.quote.text, first.quote.lang, ids), _beside(first)
    fact = min(facts, key=lambda f: (-facts[f], f.template, f.slots))
    return Statement(fact, "", "", ids), _how(group.claims, fact)


def _rest(quote: Quote, official: DocRemedy) -> Quote | None:
    """What the page says on behind the quote, as far as one more quote reaches; None where the quote is all of it."""
    behind = official.text[len(quote.text) :]
    words = behind.lstrip()
    text = words[: whole(words, MAX_QUOTE)].rstrip()
    start = quote.end + len(behind) - len(words)
    return replace(quote, start=start, end=start + len(text), text=text) if text else None


def _how(claims: Sequence[Claim], fact: Fact) -> str | None:
    """The title of a change; else the words of the best voice for the fact chosen: who confirmed before who advised.

    None where nobody but a tracker or the API says it: what is quoted for them is the report's title, a symptom.
    """
    if title := dict(fact.slots).get("title"):
        return title
    saying = [c for c in claims if c.fact == fact and not c.rule.startswith(BY_TRACKER)]
    if not saying:
        return None
    best = min(
        saying, key=lambda c: (c.outcome != Outcome.WORKED, c.quote.author_role not in MAINTAINER_ROLES, *_order(c))
    )
    return _whole(best)


def _whole(claim: Claim) -> str:
    """The quoted words with the block that they announce, or behind the words that announce them."""
    if claim.passage is None:
        return claim.quote.text
    if claim.passage.start < claim.quote.start:
        return f"{claim.passage.text}\n{claim.quote.text}"
    return f"{claim.quote.text}\n{_block(claim.passage, is_cut=claim.is_passage_cut)}"


def _beside(claim: Claim) -> str | None:
    """What adds to a quote that is the action: the block that it announces, or it behind the words that announce it."""
    if claim.passage is None or claim.passage.start < claim.quote.start:
        return _whole(claim) if claim.passage is not None else None
    return _block(claim.passage, is_cut=claim.is_passage_cut)


def _block(passage: Quote, *, is_cut: bool) -> str:
    return passage.text + (CUT if is_cut else "")


def ranked(found: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Best supported first: worked, fewer failures, tier, number of sources, key."""
    ordered = sorted(found, key=lambda r: (-r.worked, r.failed, TIERS.index(r.tier), -len(r.action.evidence), r.key))
    return tuple(ordered[:MOST_REMEDIES])


def cases(
    local: Iterable[Local],
    documents: Mapping[str, DocumentFacts],
    ledger: Ledger,
    replied: Replied = _unanswered,
) -> tuple[LocalCase, ...]:
    """What single projects say, best supported first; what they cite goes into the ledger.

    Each is counted from a ledger of its own: how well the entry's answers stand does not depend on a case.
    """
    made = []
    for found in local:
        own = Ledger(dict(documents))
        made.append((_case(found, own, replied), own))
    made.sort(key=lambda pair: _case_order(pair[0]))
    for _, own in made[:MOST_CASES]:
        ledger.take(own)
    return tuple(case for case, _ in made[:MOST_CASES])


def _case(found: Local, ledger: Ledger, replied: Replied) -> LocalCase:
    causes = ranked(remedy(g, ledger) for g in group_remedies((c for c in found.claims if not c.kind.is_act), ()))
    acts = ranked(remedy(g, ledger, replied) for g in group_remedies((c for c in found.claims if c.kind.is_act), ()))
    said = [Said("cause", one) for one in causes[:MOST_CAUSES]]
    said += [Said("workaround", one) for one in acts if one.worked or not one.failed]
    said += [Said("dead_end", one) for one in acts if one.failed and not one.worked]
    place = found.place
    return LocalCase(place.repo, place.frame, found.library, found.documents, tuple(said[:MOST_SAID]))


def _case_order(case: LocalCase) -> tuple[int, int, int, str, str, str]:
    worked = sum(said.remedy.worked for said in case.statements)
    best = min(TIERS.index(said.remedy.tier) for said in case.statements)
    return -worked, best, -len(case.documents), case.repo, case.frame or "", case.documents[0]
