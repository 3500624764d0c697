"""What an entry shows of its evidence: all of it, or of very much the pieces that carry what it says.

The counts of an entry are exact whatever it shows; the table `evidence` of the database has every piece, and
`citations` says what rests on it. Without a limit the entry of an error that a million threads show would be megabytes
of quotes that say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from pipeline.records.entry import (
    Case,
    CaseStatement,
    DeadEnd,
    Edge,
    Environment,
    Evidence,
    KnowledgeEntry,
    TransitionGraph,
    Version,
    Workaround,
)
from pipeline.records.pages import MAINTAINER_ROLES

#: Pieces of evidence that an entry shows; more only where each statement needs its own. No setting: a bundle has the
#: same bytes whoever makes it. Of 7,389 entries of 22,694 real threads 2 have more: 479 and 260.
MOST_EVIDENCE = 200
_DAY = len("2026-01-02")

Part = TypeVar("Part", Workaround, DeadEnd, CaseStatement, Version, Environment, Edge)


def shown(entry: KnowledgeEntry, most: int = MOST_EVIDENCE) -> KnowledgeEntry:
    """`entry` as it is published: with at most `most` pieces of evidence, and how many are left out."""
    if len(entry.evidence) <= most:
        return entry
    ids = frozenset(_chosen(entry, most))
    evidence = [piece for piece in entry.evidence if piece.evidence_id in ids]
    urls = {piece.evidence_id: piece.url for piece in evidence}
    relations = {name: [_cut(edge, urls) for edge in edges] for name, edges in _relations(entry.transition_graph)}
    return entry.model_copy(
        update={
            "evidence": evidence,
            "evidence_omitted": entry.evidence_omitted + len(entry.evidence) - len(evidence),
            "root_cause_evidence": [one for one in entry.root_cause_evidence if one in ids],
            "workarounds": [_cut(one, urls) for one in entry.workarounds],
            "dead_ends": [_cut(one, urls) for one in entry.dead_ends],
            "versions": [_cut(one, urls) for one in entry.versions],
            "environment": [_cut(one, urls) for one in entry.environment],
            "cases": [_cut_case(case, evidence, urls) for case in entry.cases],
            "transition_graph": entry.transition_graph.model_copy(update=relations),
        }
    )


def _cut(part: Part, urls: dict[str, str]) -> Part:
    """The part with those of its citations that are shown, and with their addresses."""
    cited = [one for one in part.evidence if one in urls]
    if isinstance(part, Version | Environment | Edge):
        return part.model_copy(update={"evidence": cited})
    addresses = {urls[one] for one in cited}
    sources = [one for one in part.sources if one in addresses]
    return part.model_copy(update={"evidence": cited, "sources": sources})


def _cut_case(case: Case, evidence: Sequence[Evidence], urls: dict[str, str]) -> Case:
    there = {piece.document_id for piece in evidence if piece.repo == case.repo}
    documents = [one for one in case.documents if one in there]
    return case.model_copy(
        update={
            "documents": documents,
            "documents_omitted": case.documents_omitted + len(case.documents) - len(documents),
            "statements": [_cut(one, urls) for one in case.statements],
        }
    )


def _chosen(entry: KnowledgeEntry, most: int) -> list[str]:
    """The ids of the pieces that are shown.

    First what shows the entry's dates, and of every cause, remedy and statement one piece of each rule, a maintainer's
    where there is one: who reads the entry alone can check each of them. Then of all lists in turn the next piece.
    """
    pieces = {piece.evidence_id: piece for piece in entry.evidence}
    stated = [entry.root_cause_evidence, *(one.evidence for one in entry.workarounds)]
    stated += [one.evidence for one in entry.dead_ends]
    stated += [one.evidence for case in entry.cases for one in case.statements]
    listed = [one.evidence for one in entry.versions] + [one.evidence for one in entry.environment]
    listed += [edge.evidence for _, edges in _relations(entry.transition_graph) for edge in edges]
    cited = {one for ids in (*stated, *listed) for one in ids}
    groups = [group for ids in stated for group in _by_rule([pieces[one] for one in ids if one in pieces])]
    always = dict.fromkeys([*_dated(entry), *(group[0] for group in groups), *_named(entry)])
    rest = [[one for one in ids if one in pieces] for ids in listed]
    rest.append([piece.evidence_id for piece in entry.evidence if piece.evidence_id not in cited])
    in_turn = (one for each in zip_longest(*groups, *rest) for one in each if one is not None)
    ordered = list(dict.fromkeys([*always, *in_turn]))
    return ordered[: max(most, len(always))]


def _relations(graph: TransitionGraph) -> tuple[tuple[str, list[Edge]], ...]:
    """Name and edges of each relation."""
    return tuple((name, getattr(graph, name)) for name in sorted(type(graph).model_fields))


def _by_rule(cited: Sequence[Evidence]) -> list[list[str]]:
    """The ids of the pieces, a list a role and rule, those of maintainers first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for piece in sorted(cited, key=lambda piece: piece.author_role not in MAINTAINER_ROLES):
        groups.setdefault((piece.role, piece.rule), []).append(piece.evidence_id)
    return [groups[key] for key in sorted(groups)]


def _named(entry: KnowledgeEntry) -> Iterator[str]:
    """A piece of each owner of repositories whom a statement may name: of what is its own nobody is a stranger.

    The gate of advice asks where software comes from, and judges the published entry by the evidence that it shows.
    """
    parts: list[Workaround | DeadEnd | CaseStatement] = [*entry.workarounds, *entry.dead_ends]
    parts += [one for case in entry.cases for one in case.statements]
    told = "\n".join(one.model_dump_json(exclude={"sources", "evidence"}) for one in parts).lower()
    seen: set[str] = set()
    for piece in entry.evidence:
        owner = (piece.repo or "").partition("/")[0].lower()
        if owner and owner not in seen and owner in told:
            yield piece.evidence_id
        seen.add(owner)


def _dated(entry: KnowledgeEntry) -> Iterator[str]:
    """Of each date of the entry the first piece of that day, an occurrence before others."""
    for day in (entry.first_seen, entry.last_confirmed, entry.last_updated):
        of_day = [piece for piece in entry.evidence if day and (piece.posted_at or "")[:_DAY] == day]
        if of_day:
            yield min(of_day, key=lambda piece: piece.role != "occurrence").evidence_id
