"""What the reduce step is given: records that the joining code fills from the map step, one cluster at a time."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.records import Claim, DocRecord, DocumentKind, Neighbour, Quote, Skipped, Slot, Title


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What counting needs to know of a document; times are ISO strings, None where the source does not say."""

    document_id: str
    kind: DocumentKind
    url: str
    raw_sha256: str
    repo: str | None
    number: int | None
    state: str | None
    state_reason: str | None
    is_merged: bool | None
    opened_at: str | None
    closed_at: str | None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One event of a cluster: its culprit line, verbatim, and what varied in it."""

    document_id: str
    signature_id: str
    rule: str  # the rule that chose the culprit line
    quote: Quote
    slots: tuple[Slot, ...]
    codes: tuple[str, ...]
    frame: str = ""  # "module:function" that raised it, "" if the event shows no frames
    package: str = ""  # installed package whose code raised it, "" where none is known
    dialect: str = ""  # how it was printed


@dataclass(frozen=True, slots=True)
class Official:
    """An official page, with quotes of its first paragraph and of each remedy (same order as `record.remedies`)."""

    record: DocRecord
    summary: Quote | None
    remedies: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that is known about one cluster; `draft` sorts it, so any order gives the same draft."""

    occurrences: tuple[Occurrence, ...]
    claims: tuple[Claim, ...]  # of the cluster's documents; those about other signatures are ignored
    documents: tuple[DocumentFacts, ...]
    official: tuple[Official, ...] = ()  # pages whose code is among the cluster's codes
    own_page: DocRecord | None = None  # of an official entry: the page whose own sample is in the cluster
    neighbours: tuple[Neighbour, ...] = ()
    candidates: tuple[Claim, ...] = ()  # what a trained reader alone, or a rule in doubt, takes for statements: leads
    title: Title | None = None  # what holds for all occurrences; None where the representative speaks for them
    clusters: tuple[tuple[str, str], ...] = ()  # signature id -> cluster id, of those that its documents show


@dataclass(frozen=True, slots=True)
class Reading:
    """What one document gives: claims, and what was refused with its reason."""

    claims: tuple[Claim, ...]
    skipped: tuple[Skipped, ...]
