"""The reduce step: the shards of all partitions become templates and drafts; what people overruled is kept beside."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline import cluster, distil, store, text
from pipeline.ask import read_overrides
from pipeline.records import (
    Claim,
    ClaimKind,
    Cluster,
    DocRecord,
    DocumentKind,
    LinkKind,
    Neighbour,
    Quote,
    Severity,
    Skipped,
    iso,
)
from pipeline.records.draft import Draft
from pipeline.records.entry import Edge, Evidence, Lead, Reply, TransitionGraph
from pipeline.run import shards
from pipeline.text import frames

if TYPE_CHECKING:
    from pipeline.run.build.rows import Rows

# What people decided about grouping: read once a build, told of in its summary, kept in the database.


def read(path: Path | None) -> cluster.Overrides:
    """The rows of the file at `path`, their texts read as errors are read; none where there is no path.

    Raises:
        ConfigError: the file cannot be used; the message names the row.
    """
    if path is None:
        return cluster.NONE
    return read_overrides(path)


def ignored(rows: Rows, partition: cluster.Partition) -> tuple[Skipped, ...]:
    """The events that people set aside, each with their reason."""
    reasons = {one.signature_id: one.reason for one in partition.ignored}
    events = rows.events_of(list(reasons)) if reasons else []
    return tuple(Skipped("events", event_id, "ignored", reasons[signature_id]) for signature_id, event_id in events)


def name_of(rulings: Iterable[cluster.Ruling]) -> dict[str, tuple[str, str]]:
    """Name and reason by signature id, of the renames; of two for one signature the first."""
    found: dict[str, tuple[str, str]] = {}
    for ruling in rulings:
        if ruling.override.kind == "rename":
            for signature_id in (one for side in ruling.sides for one in side):
                found.setdefault(signature_id, (ruling.override.name, ruling.override.reason))
    return found


def rows(rulings: Iterable[cluster.Ruling]) -> tuple[store.OverrideRow, ...]:
    """The rulings for the database."""
    return tuple(
        store.OverrideRow(
            kind=one.override.kind,
            place=one.override.place,
            name=one.override.name or None,
            reason=one.override.reason,
            texts=one.override.texts,
            signature_ids=one.sides,
            problem=one.problem or None,
        )
        for one in rulings
    )


def figures(rulings: Sequence[cluster.Ruling]) -> Mapping[str, Any]:
    """For the summary: how many rows there are of each kind, and those that do nothing."""
    if not rulings:
        return {}
    counts = Counter(one.override.kind for one in rulings)
    idle = [{"rule": one.override.label(), "problem": one.problem} for one in rulings if one.problem]
    return {"overrides": dict(sorted(counts.items())), "idle_overrides": idle}


# The reduce step: the shards of all partitions become clusters, drafts, entries.
#
# Only unique templates are clustered; what is known about a cluster is gathered by cluster and then drafted, worded and
# checked one by one. Rows are sorted before they are used, so the number and order of shards change nothing.


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything that the map step found, indexed by what the reduce step asks for."""

    documents: Mapping[str, shards.DocumentRow]
    events: Mapping[str, list[shards.EventRow]]  # by signature id: errors and official samples
    claims: Mapping[str, list[Claim]]  # by signature id
    candidates: Mapping[str, list[Claim]]  # by signature id: what is a lead at most
    official: Mapping[str, list[distil.Official]]  # by code


class Shown(NamedTuple):
    """An error where a document shows it."""

    signature_id: str
    document_id: str
    ordinal: int
    posted_at: datetime | None


def knowledge(result: shards.MapResult) -> Knowledge:
    """`result`, of which nothing is missing, indexed."""
    documents = {row.document_id: row for row in result.documents}
    errors = [
        Shown(row.signature.signature_id, row.document_id, row.ordinal, row.posted_at)
        for row in result.events
        if row.signature is not None and row.event.severity == Severity.ERROR
    ]
    return gathered(result, placed(result.claims, documents, opening(documents, errors)))


def gathered(result: shards.MapResult, others: Iterable[Claim]) -> Knowledge:
    """`result` and the claims that others than the error's own documents make (`placed`), indexed."""
    documents = {row.document_id: row for row in result.documents}
    events: dict[str, list[shards.EventRow]] = defaultdict(list)
    for row in sorted(result.events, key=lambda row: (row.document_id, row.ordinal)):
        if row.signature is not None:
            events[row.signature.signature_id].append(row)
    claims: dict[str, list[Claim]] = defaultdict(list)
    candidates: dict[str, list[Claim]] = defaultdict(list)
    pages: dict[str, list[Claim]] = defaultdict(list)
    for claim in sorted(result.claims, key=lambda claim: claim.claim_id):
        if claim.kind == ClaimKind.OFFICIAL:
            pages[claim.quote.document_id].append(claim)
        if claim.kind != ClaimKind.CLOSING:
            said = claims if claim.share is None else candidates
            for signature_id in claim.signature_ids:
                said[signature_id].append(claim)
    for claim in others:
        for signature_id in claim.signature_ids:
            claims[signature_id].append(claim)
    return Knowledge(documents, events, claims, candidates, _official_pages(documents, pages))


def opening(documents: Mapping[str, shards.DocumentRow], errors: Iterable[Shown]) -> dict[str, tuple[str, ...]]:
    """The errors that each closed report opens with: what closed it was about those, not about what came below."""
    found: dict[str, set[str]] = defaultdict(set)
    for error in errors:
        document = documents[error.document_id]
        if document.kind != DocumentKind.ISSUE or not distil.is_fixed(document.state, document.state_reason):
            continue
        if error.ordinal == 0 if error.posted_at is None else error.posted_at == document.opened_at:
            found[error.document_id].add(error.signature_id)
    return {document_id: tuple(sorted(ids)) for document_id, ids in found.items()}


def placed(
    claims: Sequence[Claim], documents: Mapping[str, shards.DocumentRow], first: Mapping[str, tuple[str, ...]]
) -> list[Claim]:
    """What merged pull requests and releases are said to have closed, as claims about the errors of those reports.

    `first` are the errors that each closed report opens with.
    """
    closed = [_closing(claim, first.get(claim.key, ())) for claim in claims if claim.kind == ClaimKind.CLOSING]
    return [*sorted(closed, key=lambda claim: claim.claim_id), *_released(claims, documents, first)]


def _closing(claim: Claim, signature_ids: tuple[str, ...]) -> Claim:
    """The word of a merged pull request or of a release, as a fix of the errors of the report that it closed."""
    assert claim.fact is not None
    return replace(claim, kind=ClaimKind.FIX, key=distil.remedy_key(claim.fact), signature_ids=signature_ids)


def _released(
    claims: Iterable[Claim], documents: Mapping[str, shards.DocumentRow], opening: Mapping[str, tuple[str, ...]]
) -> Iterator[Claim]:
    """For each closed report the earliest release since whose notes name it, or what closed it, as a fix of its errors.

    A release of before the report was closed names it for another reason.
    """
    naming: dict[str, list[Claim]] = defaultdict(list)
    closers: dict[str, set[str]] = defaultdict(set)
    for claim in claims:
        if claim.kind == ClaimKind.RELEASE and claim.quote.posted_at:
            naming[claim.key].append(claim)
        elif claim.kind == ClaimKind.CLOSING:
            closers[claim.key].add(claim.quote.document_id)
    told: dict[str, tuple[Claim, set[str]]] = {}
    for report in sorted(opening) if naming else ():
        row = documents[report]
        named = {report, *closers[report], *(one.target for one in row.links if one.kind == LinkKind.CLOSED_BY)}
        since = iso(row.closed_at) or "~"  # unknown: no release is known to have come after it
        later = [claim for name in named for claim in naming.get(name, ()) if (claim.quote.posted_at or "") >= since]
        if later:
            first = min(later, key=lambda claim: (claim.quote.posted_at or "", claim.claim_id))
            told.setdefault(first.claim_id, (first, set()))[1].update(opening[report])
    for claim, signature_ids in told.values():
        yield _closing(claim, tuple(sorted(signature_ids)))


def without(
    known: Knowledge, found: Cluster, cited: Iterable[Evidence | Lead | Reply]
) -> tuple[Knowledge, tuple[Claim, ...]]:
    """`known` without what is claimed of the errors of `found` in the words that are `cited`, and those claims."""
    spans = {(piece.document_id, piece.start, piece.end) for piece in cited}

    def is_cited(claim: Claim) -> bool:
        quotes = (claim.quote, claim.outcome_quote)
        return any(quote is not None and (quote.document_id, quote.start, quote.end) in spans for quote in quotes)

    of_people, of_reader = (
        {one: list(said.get(one, ())) for one in found.members} for said in (known.claims, known.candidates)
    )
    everything = (claim for said in (*of_people.values(), *of_reader.values()) for claim in said)
    gone = {claim.claim_id: claim for claim in everything if is_cited(claim)}

    def left(there: Mapping[str, list[Claim]]) -> dict[str, list[Claim]]:
        return {one: [claim for claim in said if claim.claim_id not in gone] for one, said in there.items()}

    return (
        replace(
            known,
            claims={**known.claims, **left(of_people)},
            candidates={**known.candidates, **left(of_reader)},
        ),
        tuple(gone[claim_id] for claim_id in sorted(gone)),
    )


@dataclass(frozen=True, slots=True)
class Drafting:
    """What drafts are made from."""

    known: Knowledge
    cluster_of: Mapping[str, str]  # signature id -> cluster id
    near: Mapping[str, Sequence[Neighbour]]  # by cluster id

    def draft(self, found: Cluster) -> Draft:
        """The draft of a cluster."""
        return distil.draft(found, self.material(found))

    def material(self, found: Cluster) -> distil.Material:
        """What it is made of."""
        near = self.near.get(found.cluster_id, ())
        return _material(self.known, found, cluster_of=self.cluster_of, near=near)


def near_of(partition: cluster.Partition) -> dict[str, list[Neighbour]]:
    """The neighbours of each cluster, and the clusters that it is a neighbour of."""
    near: dict[str, list[Neighbour]] = defaultdict(list)
    for neighbour in partition.neighbours:
        near[neighbour.cluster_id].append(neighbour)
        near[neighbour.other_id].append(neighbour)
    return near


def document_count(draft: Draft) -> int:
    """The documents that stand behind a draft."""
    return len({piece.document_id for piece in draft.evidence})


def with_names(draft: Draft, names: Mapping[str, str]) -> Draft:
    """`draft` with the ids of entries, by cluster id, in its graph; edges to clusters without an entry go."""
    graph = draft.graph
    return replace(
        draft,
        graph=TransitionGraph(
            leads_to=_named(graph.leads_to, names),
            preceded_by=_named(graph.preceded_by, names),
            frequently_confused_with=_named(graph.frequently_confused_with, names),
        ),
    )


def _named(edges: Iterable[Edge], names: Mapping[str, str]) -> list[Edge]:
    kept = [edge.model_copy(update={"entry_id": names[edge.entry_id]}) for edge in edges if edge.entry_id in names]
    return sorted(kept, key=lambda edge: edge.entry_id)


def _material(
    known: Knowledge, found: Cluster, *, cluster_of: Mapping[str, str], near: Sequence[Neighbour]
) -> distil.Material:
    rows = [row for signature_id in found.members for row in known.events[signature_id]]
    claims = {claim.claim_id: claim for signature_id in found.members for claim in known.claims.get(signature_id, ())}
    candidates = {one.claim_id: one for member in found.members for one in known.candidates.get(member, ())}
    errors = [row for row in rows if row.event.severity == Severity.ERROR]
    codes = Counter(code for row in rows for code in row.event.codes)
    codes.update(value for key, value in found.gate if key == "code")
    pages = tuple(page for code in sorted(codes) for page in known.official.get(code, ()))
    # a claim about one error after another names signatures of two clusters
    spoken_of = set(found.members) | {one for claim in claims.values() for one in claim.signature_ids}
    cited = {row.document_id for row in rows} | {c.quote.document_id for c in claims.values()}
    cited |= {claim.quote.document_id for claim in candidates.values()}
    cited |= {q.document_id for page in pages for q in (page.summary, *page.remedies) if q is not None}
    return distil.Material(
        occurrences=tuple(occurrence(row, known.documents[row.document_id]) for row in errors),
        claims=tuple(claims[claim_id] for claim_id in sorted(claims)),
        candidates=tuple(candidates[claim_id] for claim_id in sorted(candidates)),
        documents=tuple(facts(known.documents[document_id]) for document_id in sorted(cited)),
        official=pages,
        own_page=_own_page(rows, known),
        neighbours=tuple(near),
        title=cluster.title(found, (_print(row) for row in rows)),
        clusters=tuple(sorted((one, cluster_of[one]) for one in spoken_of if one in cluster_of)),
    )


def _print(row: shards.EventRow) -> cluster.Print:
    """What a document prints of an error."""
    one = row.signature
    assert one is not None
    return cluster.Print(row.document_id, one.signature_id, one.exception_type, one.text, one.is_truncated)


def _own_page(rows: Sequence[shards.EventRow], known: Knowledge) -> DocRecord | None:
    """The official page whose own sample is among the events; of several the one with the least code."""
    pages = (known.documents[row.document_id].record for row in rows if row.event.severity == Severity.OFFICIAL)
    return min((page for page in pages if page is not None), key=lambda page: (page.code, page.title), default=None)


def occurrence(row: shards.EventRow, document: shards.DocumentRow) -> distil.Occurrence:
    """An error that was grouped, with the words that prove it."""
    signature = row.signature
    assert signature is not None
    words = row.quote.rstrip()
    start = signature.start + len(words) - len(words.lstrip())
    words = words.strip()
    return distil.Occurrence(
        document_id=row.document_id,
        signature_id=signature.signature_id,
        rule=f"occurrence.{signature.culprit}",
        quote=Quote(
            document_id=row.document_id,
            url=row.post_url or document.url,
            raw_sha256=document.raw_sha256,
            start=start,
            end=start + len(words),
            text=words,
            lang=text.language_of(words),
            posted_at=iso(row.posted_at),
            author_role=row.author_role,
            author_hash=None,
        ),
        slots=signature.slots,
        codes=row.event.codes,
        frame=signature.frame_key.rpartition(" > ")[2],
        package=frames.raising_package(row.event.frames),
        dialect=row.event.dialect,
    )


def facts(row: shards.DocumentRow) -> distil.DocumentFacts:
    """What counting needs to know of a document."""
    return distil.DocumentFacts(
        document_id=row.document_id,
        kind=row.kind,
        url=row.url,
        raw_sha256=row.raw_sha256,
        repo=row.repo,
        number=row.number,
        state=row.state,
        state_reason=row.state_reason,
        is_merged=row.is_merged,
        opened_at=iso(row.opened_at),
        closed_at=iso(row.closed_at),
    )


def _official_pages(
    documents: Mapping[str, shards.DocumentRow], pages: Mapping[str, Sequence[Claim]]
) -> dict[str, list[distil.Official]]:
    found: dict[str, list[distil.Official]] = defaultdict(list)
    for document_id in sorted(documents):
        record = documents[document_id].record
        if record is None:
            continue
        quotes = {claim.key: claim.quote for claim in pages.get(document_id, ())}
        kept = {key: quotes[key] for key in sorted(quotes) if key != "summary"}
        places = [int(key.partition(":")[2]) for key in kept]  # a remedy whose words are not passed on has none
        told = replace(record, remedies=tuple(record.remedies[place] for place in places))
        found[record.code].append(distil.Official(told, quotes.get("summary"), tuple(kept.values())))
    return found
