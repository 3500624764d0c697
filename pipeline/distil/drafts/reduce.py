"""The reduce step: everything known about one cluster becomes a draft, every number counted from evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pipeline.distil import tables
from pipeline.distil.claims import pages
from pipeline.distil.drafts import slugs, support
from pipeline.distil.drafts.leads import leads, replies
from pipeline.distil.drafts.meaning import code_cause, meaning, program_cause
from pipeline.distil.drafts.reach import Reach
from pipeline.distil.drafts.remedies import cases, contested, group_remedies, ranked, remedy
from pipeline.distil.drafts.support import Ledger
from pipeline.distil.material import Material, Occurrence, Official
from pipeline.lexicon import catalogues, meanings, vocabulary
from pipeline.records import MAINTAINER_ROLES, Claim, ClaimKind, Cluster
from pipeline.records.draft import Draft, Remedy, Statement
from pipeline.records.entry import Documentation, Edge, Evidence, Reply, Tier, TransitionGraph, rate
from pipeline.text import frames

_PAIR = 2  # signatures of a "link" claim: the earlier, the later
#: Why an edge is there: (a program printed both in one chain, people met one after the other).
_AFTER = ("raised by the program while it handled this error", "met after this error in one thread")
_BEFORE = ("the program was handling it when it raised this error", "met before this error in one thread")
_SUPPORTING = frozenset({"cause", "fix", "worked"})


def draft(cluster: Cluster, material: Material) -> Draft:
    """The cluster's entry before it is put into words; the same material in any order gives the same draft."""
    members = frozenset(cluster.members)
    title = material.title or cluster.own_title
    shown = replace(cluster, text=title.text, exception_type=title.exception_type)
    occurrences = occurrences_of(cluster, material)
    official = sorted(map(pages.dated, material.official), key=lambda page: page.record.code)
    codes = tuple(sorted({*_codes(cluster, occurrences), *(page.record.code for page in official)}))
    kind = _class(replace(cluster, exception_type=title.usual_type), material, occurrences, codes)
    known = {document.document_id: document for document in material.documents}
    ledger = Ledger(known)
    reach = Reach(cluster, occurrences, known, domain=kind.domain, category=kind.category)
    said = [c for c in material.claims if members.intersection(c.signature_ids)]
    unsure = [c for c in material.candidates if members.intersection(c.signature_ids)]
    claims, local, withheld = reach.sorted_out(said, contested(said, unsure))
    _keep_occurrences(occurrences, ledger)

    def replied(told: Sequence[Claim]) -> tuple[Reply, ...]:
        return replies(told, unsure, known)

    found = [remedy(g, ledger, replied) for g in group_remedies((c for c in claims if c.kind.is_act), official)]
    workarounds = ranked(r for r in found if r.worked or not r.failed)
    # what helped some and failed others is one remedy, with both numbers: it stands where what helped stands
    dead_ends = ranked(r for r in found if r.failed and not r.worked)
    cause, cause_type = _cause(cluster, claims, occurrences, official=official, codes=codes, ledger=ledger)
    local = reach.with_others(local, _further(claims, cause, ledger))
    versions = support.versions(claims, ledger)
    environment = support.environment(claims, ledger)
    page = official[0].record if official else None
    graph = _graph(cluster, material, claims, ledger)
    confidence = _confidence(official, ledger)
    told = cases(local, known, ledger, replied)
    evidence = ledger.all()
    dates = support.dates(evidence)
    return Draft(
        cluster=cluster,
        title=title,
        slugs=slugs.wanted(shown, codes, domain=kind.domain, places=_met(material, occurrences)),
        page_slug=slugs.page_slug(material.own_page) if material.own_page else "",
        domain=kind.domain,
        category=kind.category,
        subcategory=kind.subcategory,
        meaning=meaning(shown, kind, codes, occurrences),
        place=_deciding_place(cluster),
        cause=cause,
        root_cause_type=cause_type,
        workarounds=workarounds,
        dead_ends=dead_ends,
        versions=versions,
        environment=environment,
        parameters=support.parameters(occurrences),
        os_specific=tables.by_system(claims),
        graph=graph,
        official_doc_url=_official_url(official, codes),
        official_doc_section=page.remedies[0].section if page and page.remedies else None,
        error_code=next((code.partition(":")[2] for code in codes if code.startswith("xla:")), None),
        codes=codes,
        tier=_tier(official, workarounds, cause_type, claims),
        confidence=confidence,
        fix_success_rate=rate(sum(r.worked for r in found), sum(r.failed for r in found)),
        resolvable=_resolvable(found),
        first_seen=dates.first_seen,
        last_confirmed=dates.last_confirmed,
        last_updated=dates.last_updated,
        evidence=evidence,
        occurrence_count=len(occurrences),
        tags=slugs.tags(shown, kind, codes),
        rules=dict(sorted(ledger.rules.items())),
        rule_precision={r: p for r, p in sorted(tables.precision().items()) if r in ledger.rules},
        withheld=withheld,
        cases=told,
        leads=leads(
            unsure,
            known,
            reach=reach,
            evidence=evidence,
            told=frozenset(one.key for one in (*found, *(said.remedy for case in told for said in case.statements))),
        ),
        documentation=_documentation(shown, occurrences) if cause_type != "documented" else None,
    )


def occurrences_of(cluster: Cluster, material: Material) -> list[Occurrence]:
    """Those of the cluster, oldest first."""
    return sorted(
        (one for one in material.occurrences if one.signature_id in cluster.members),
        key=lambda one: (one.quote.posted_at or "~", one.document_id, one.quote.start),
    )


def _deciding_place(cluster: Cluster) -> str:
    """The function that is part of which error it is, because its words are said of any such mistake."""
    _, where = frames.parted(dict(cluster.gate).get("place", ""))
    return frames.place(where) if ":" in where else ""


def _met(material: Material, occurrences: Sequence[Occurrence]) -> tuple[str, ...]:
    """Where the error was met: the function and the repository that most of its events show."""
    shown = Counter(frames.without_arguments(frames.parted(one.frame)[1]) for one in occurrences if one.frame)
    repos = Counter(one.repo.rpartition("/")[2] for one in material.documents if one.repo)
    return tuple(max(found, key=lambda name: (found[name], name)) for found in (shown, repos) if found)


def _documentation(cluster: Cluster, occurrences: Sequence[Occurrence]) -> Documentation | None:
    """What documentation says of the error: by its gate, its words, and the codes that every occurrence prints."""
    printed = [set(occurrence.codes) for occurrence in occurrences]
    codes = sorted(set.intersection(*printed)) if printed else []
    return meanings.documentation(meanings.Named(cluster.exception_type or "", dict(cluster.gate), codes, cluster.text))


def _class(
    cluster: Cluster, material: Material, occurrences: Sequence[Occurrence], codes: tuple[str, ...]
) -> vocabulary.Class:
    """Where the error belongs: what its page, its message and its reports say."""
    repos = {document.document_id: document.repo or "" for document in material.documents}
    return vocabulary.classify(
        vocabulary.Clues(
            exception_type=cluster.exception_type,
            gate=dict(cluster.gate),
            codes=codes,
            text=cluster.text,
            packages=tuple(o.package for o in occurrences),
            repos=tuple(repos.get(o.document_id, "") for o in occurrences),
            page=material.own_page.code if material.own_page else "",
            dialects=tuple(o.dialect for o in occurrences),
        )
    )


def _codes(cluster: Cluster, occurrences: Sequence[Occurrence]) -> tuple[str, ...]:
    """The cluster's codes: its gate's, and those that most of its occurrences print."""
    printed = Counter(code for o in occurrences for code in set(o.codes))
    most = {code for code, count in printed.items() if 2 * count > len(occurrences)}
    gate = dict(cluster.gate).get("code")
    return tuple(sorted(most | ({gate} if gate else set())))


def _keep_occurrences(occurrences: Sequence[Occurrence], ledger: Ledger) -> None:
    """The first occurrence of each document becomes evidence, and the newest of all: an entry's dates are theirs."""
    first = {occurrence.document_id: occurrence for occurrence in reversed(occurrences)}
    dated = [occurrence for occurrence in occurrences if occurrence.quote.posted_at]
    for occurrence in (*first.values(), *dated[-1:]):
        ledger.add("occurrence", occurrence.quote, occurrence.rule)


def _cause(
    cluster: Cluster,
    claims: Sequence[Claim],
    occurrences: Sequence[Occurrence],
    *,
    official: Sequence[Official],
    codes: tuple[str, ...],
    ledger: Ledger,
) -> tuple[Statement | None, str | None]:
    """(the cause, its type), with the evidence of those who said just this; what others said stays as evidence.

    First an official page. Then a maintainer's plain statement: numbers say that a limit was passed, who knows the code
    says why. Then the program's own numbers, which are certain, before other people's guesses; then the string of the
    code. The price is a language: numbers are a fact in two, a statement stands in its own, and its other side is null.
    Last, and named so, what a language model pointed at; it is not even cited where there is anything else.
    """
    causes = sorted((c for c in claims if c.kind == ClaimKind.CAUSE), key=_cause_order)
    stated = [c for c in causes if not support.is_by_model(c.rule)]
    for claim in stated:
        ledger.add("cause", claim.quote, claim.rule)
    for page in official:
        if page.summary is not None:
            summary = ledger.add("official", page.summary, "official.summary")
            return Statement(None, page.summary.text, page.summary.lang, (summary,)), "documented"
    numbers = program_cause(cluster, occurrences)
    if numbers is not None and not (stated and _is_authority(stated[0])):
        shown = {o.document_id: o for o in reversed(numbers[1])}
        ids = tuple(sorted(ledger.add("cause", o.quote, o.rule) for o in shown.values()))
        return Statement(numbers[0], "", "", ids), "program"
    if stated:
        return _stated(stated, ledger), "quoted"
    official_string = code_cause(cluster, codes)
    if official_string is not None and occurrences:
        first = ledger.add("occurrence", occurrences[0].quote, occurrences[0].rule)
        return Statement(official_string, "", "", (first,)), "program"
    if causes:
        for claim in causes:
            ledger.add("cause", claim.quote, claim.rule)
        return _stated(causes, ledger), "model"
    return None, None


def _stated(causes: Sequence[Claim], ledger: Ledger) -> Statement:
    """The cause in the words of the first claim, whose quote stands before those of others who say the same."""
    best = causes[0]
    chosen = ledger.add("cause", best.quote, best.rule)
    same = {ledger.add("cause", one.quote, one.rule) for one in causes[1:] if _says(one) == _says(best)}
    evidence = (chosen, *sorted(same - {chosen}))
    if best.fact is not None:
        return Statement(best.fact, "", "", evidence)
    return Statement(None, best.quote.text, best.quote.lang, evidence)


def _further(claims: Sequence[Claim], cause: Statement | None, ledger: Ledger) -> list[Claim]:
    """The causes that say something else than the entry's one: they are told of where they were met."""
    stated = [ledger[name] for name in cause.evidence] if cause is not None else []
    causes = group_remedies((c for c in claims if c.kind == ClaimKind.CAUSE), ())
    return [c for group in causes if not any(_quotes(c, stated) for c in group.claims) for c in group.claims]


def _quotes(claim: Claim, stated: Sequence[Evidence]) -> bool:
    """True if the claim's words are among those that are cited, or part of them."""
    quote = claim.quote
    return any(
        quote.document_id == one.document_id and quote.start < one.end and one.start < quote.end for one in stated
    )


def _says(claim: Claim) -> object:
    """What a claim says: its fact, else its words, however they are broken into lines."""
    return claim.fact if claim.fact is not None else " ".join(claim.quote.text.split())


def _cause_order(claim: Claim) -> tuple[bool, float, str, str]:
    """Maintainers first, then the rule that was right most often, then the earliest."""
    right, _, everything = tables.precision().get(claim.rule, "0/1").partition("/")
    return (
        claim.quote.author_role not in MAINTAINER_ROLES,
        -int(right) / max(1, int(everything)),
        claim.quote.posted_at or "~",
        claim.claim_id,
    )


def _is_authority(claim: Claim) -> bool:
    return claim.quote.author_role in MAINTAINER_ROLES


def _graph(cluster: Cluster, material: Material, claims: Sequence[Claim], ledger: Ledger) -> TransitionGraph:
    """Look-alikes across a gate, and errors that people met after this one's remedy."""
    confused = [
        Edge(
            entry_id=n.other_id if n.cluster_id == cluster.cluster_id else n.cluster_id,
            count=0,
            reason=n.reason,
            evidence=[],
        )
        for n in material.neighbours
        if cluster.cluster_id in {n.cluster_id, n.other_id}
    ]
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    cluster_of = dict(material.clusters) | dict.fromkeys(cluster.members, cluster.cluster_id)
    for claim in claims:
        if claim.kind == ClaimKind.LINK and len(claim.signature_ids) == _PAIR:
            first, second = (cluster_of.get(signature_id) for signature_id in claim.signature_ids)
            if first and second and first != second:
                seen, other = (after, second) if first == cluster.cluster_id else (before, first)
                seen.setdefault(other, []).append(ledger.add("link", claim.quote, claim.rule))
    return TransitionGraph(
        leads_to=_edges(after, _AFTER, ledger),
        preceded_by=_edges(before, _BEFORE, ledger),
        frequently_confused_with=_unique(confused),
    )


def _edges(found: dict[str, list[str]], reasons: tuple[str, str], ledger: Ledger) -> list[Edge]:
    chained = {o for o, ids in found.items() if any(ledger[i].rule.startswith("link.chain_") for i in ids)}
    return [
        Edge(
            entry_id=other,
            count=ledger.documents(tuple(found[other])),
            reason=reasons[other not in chained],
            evidence=sorted(set(found[other])),
        )
        for other in sorted(found)
    ]


def _unique(edges: Sequence[Edge]) -> list[Edge]:
    first: dict[str, Edge] = {}
    for edge in sorted(edges, key=lambda e: (e.entry_id, e.reason)):
        first.setdefault(edge.entry_id, edge)
    return list(first.values())


def _official_url(official: Sequence[Official], codes: tuple[str, ...]) -> str | None:
    for page in official:
        if page.summary is not None:
            return page.summary.url
    return next((url for url in map(catalogues.official_url, codes) if url), None)


def _tier(
    official: Sequence[Official], workarounds: Sequence[Remedy], cause_type: str | None, claims: Sequence[Claim]
) -> Tier:
    stated = sorted(
        (c for c in claims if c.kind == ClaimKind.CAUSE and not support.is_by_model(c.rule)), key=_cause_order
    )
    chosen = stated[:1] if cause_type == "quoted" else []
    return support.best_tier([support.tier(chosen, is_official=bool(official)), *(r.tier for r in workarounds)])


def _confidence(official: Sequence[Official], ledger: Ledger) -> float | None:
    voices: dict[str, bool] = {}
    against: set[str] = set()
    for piece in ledger.all():
        if piece.role in _SUPPORTING and not support.is_by_model(piece.rule):
            by_maintainer = piece.author_role in MAINTAINER_ROLES
            voices[piece.document_id] = voices.get(piece.document_id, False) or by_maintainer
        elif piece.role == "failed":
            against.add(piece.document_id)
    return support.confidence(
        official=len(official),
        maintainers=sum(voices.values()),
        users=len(voices) - sum(voices.values()),
        against=len(against),
    )


def _resolvable(found: Sequence[Remedy]) -> Literal["true", "partial"] | None:
    """Whether it can be solved: "true" by a fix or an uncontested act, "partial" by contested or unconfirmed help."""
    if any(r.action.fact and r.action.fact.template.startswith("fix.") for r in found):
        return "true"
    if any(r.worked and not r.failed for r in found):
        return "true"
    return "partial" if any(r.worked or r.tier == "documented" for r in found) else None
