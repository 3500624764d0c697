"""What `distil` hands to `translate`: an entry whose sentences are still facts, or quotes in their own language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.records import Cluster, Fact, Title
from pipeline.records.entry import (
    Documentation,
    Environment,
    Evidence,
    Lead,
    Parameter,
    Reply,
    Tier,
    TransitionGraph,
    Version,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence to be: a fact (rendered in both languages) or somebody's words (kept in their own language)."""

    fact: Fact | None
    text: str  # the quoted words, "" if `fact` is given
    lang: str  # of `text`; "" if `fact` is given
    evidence: tuple[str, ...]  # evidence ids


@dataclass(frozen=True, slots=True)
class Remedy:
    """One remedy with everything that was said about it, from all documents of the cluster."""

    key: str
    action: Statement
    how: str | None  # a command or the quoted words, if they add to the action
    condition: str | None
    why_fails: str | None  # dead ends only
    worked: int  # distinct documents
    failed: int
    tier: Tier
    sources: tuple[str, ...]
    replies: tuple[Reply, ...] = ()  # what the next posts answer to it


@dataclass(frozen=True, slots=True)
class Said:
    """One statement of a case; a cause has the form of a remedy that nobody tried."""

    kind: Literal["cause", "workaround", "dead_end"]
    remedy: Remedy


@dataclass(frozen=True, slots=True)
class LocalCase:
    """What one project says of an error that is not its own alone, where the error is raised in one place."""

    repo: str
    frame: str | None  # "module:function"
    library: str | None  # installed package whose code raised it
    documents: tuple[str, ...]  # that show the error there
    statements: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Withheld:
    """A statement that is kept out of the entry: nobody tried it, or it speaks of one project and none is known."""

    claim_id: str
    document_id: str
    repo: str | None
    frame: str | None  # "module:function" in which that document's error was raised, None if it shows no frames
    reason: str  # as the column of that name in schema.sql says


@dataclass(frozen=True, slots=True)
class Draft:
    """A cluster with its evidence, counted, before it is put into words."""

    cluster: Cluster
    title: Title  # what of its representative holds for all
    slugs: tuple[str, ...]  # wanted slugs, best first; export keeps an id that was published before
    page_slug: str  # of an official entry: the slug that its page gives it; "" for others
    domain: str
    category: str
    subcategory: str | None
    meaning: Fact | None  # what the signature means, for signature_zh
    cause: Statement | None
    root_cause_type: str | None
    workarounds: tuple[Remedy, ...]
    dead_ends: tuple[Remedy, ...]
    versions: tuple[Version, ...]
    environment: tuple[Environment, ...]
    parameters: tuple[Parameter, ...]
    os_specific: dict[str, list[str]]
    graph: TransitionGraph  # its entry_ids are cluster ids until `export` knows the names
    official_doc_url: str | None
    official_doc_section: str | None
    error_code: str | None
    codes: tuple[str, ...]
    tier: Tier
    confidence: float | None
    fix_success_rate: float | None
    resolvable: str | None
    first_seen: str | None
    last_confirmed: str | None
    last_updated: str | None
    evidence: tuple[Evidence, ...]
    occurrence_count: int
    tags: tuple[str, ...]
    rules: dict[str, int]
    rule_precision: dict[str, str]
    withheld: tuple[Withheld, ...] = ()
    cases: tuple[LocalCase, ...] = ()
    leads: tuple[Lead, ...] = ()
    documentation: Documentation | None = None
    place: str = ""  # the function that tells the error from others of the same words, as people name it

    @property
    def headline(self) -> str:
        """The title as people read it; the cluster's id of one without words."""
        return self.title.headline or self.cluster.cluster_id
