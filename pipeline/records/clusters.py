"""From `cluster`: templates, the errors that they make, and why."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.records.events import short_class


@dataclass(frozen=True, slots=True)
class Template:
    """A distinct (gate, text) with its weight: what clustering sees."""

    signature_id: str
    exception_type: str | None
    text: str
    gate: tuple[tuple[str, str], ...]
    is_gate_complete: bool
    is_truncated: bool
    count: int  # events that have it
    first_seen: str  # least ISO date of its events, "" if unknown
    is_official: bool = False  # an official page's own sample has it: then it represents its error


@dataclass(frozen=True, slots=True)
class Assignment:
    """Why a template is in its cluster; stored when decided, never recomputed."""

    signature_id: str
    cluster_id: str
    rule: str  # founder, leader, gate, equal, ratio, slot, prefix, untyped, quote, override or review
    score: float  # 0-100 against the medoid
    explanation: str  # one sentence for people


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Two clusters that look alike and are not one, with the reason: "why are these two not together?"."""

    cluster_id: str
    other_id: str
    score: float
    reason: str  # "gate resource: shared memory / threads" or "score 78.1 < 85"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One error: templates that mean the same."""

    cluster_id: str
    medoid: str  # signature_id of the representative
    exception_type: str | None
    text: str  # the medoid's
    gate: tuple[tuple[str, str], ...]
    members: tuple[str, ...]  # signature ids, sorted
    regex: str  # RE2, bounded gaps, matches every member; "" if none could be proven
    lowest_score: float

    def proven(self, regex: str) -> Cluster:
        """The same with an expression: `dataclasses.replace` takes five times as long, and a build asks it of each."""
        return Cluster(
            self.cluster_id,
            self.medoid,
            self.exception_type,
            self.text,
            self.gate,
            self.members,
            regex,
            self.lowest_score,
        )

    @property
    def own_title(self) -> Title:
        """What the representative says, whatever the other members say."""
        return Title(self.text, self.exception_type, self.exception_type, is_one_of_several=False)

    @property
    def headline(self) -> str:
        """The representative's words, as people read them; the id of one without words."""
        return self.own_title.headline or self.cluster_id


@dataclass(frozen=True, slots=True)
class Title:
    """What holds for all documents of a cluster."""

    text: str  # the medoid's, with slots for what others say otherwise
    exception_type: str | None  # of nearly all documents
    usual_type: str | None  # of half of them at least: what the error is classed by
    is_one_of_several: bool  # others say it in other words

    @property
    def headline(self) -> str:
        """The text, with the exception's name in front where the text does not say it; "" without words."""
        if not self.exception_type or short_class(self.exception_type) in self.text:
            return self.text or self.exception_type or ""
        return f"{self.exception_type}: {self.text}" if self.text else self.exception_type
