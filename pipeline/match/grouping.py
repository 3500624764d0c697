"""Texts grouped among themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline import extract, normalise
from pipeline.records import Signature, Template


@dataclass(frozen=True, slots=True)
class Label:
    """Which cluster a text fell into, and why."""

    cluster_id: str
    signature: str
    explanation: str


def group_texts(texts: Sequence[str]) -> list[Label]:
    """The cluster of each text among all of them, in their order; a text without an error is its own message."""
    from pipeline import cluster  # noqa: PLC0415  `errmine match` imports this module and groups nothing

    signatures: dict[str, Signature] = {}
    for text in texts:
        if text not in signatures:
            signatures[text] = read_signature(text)
    counts = Counter(signatures[text].signature_id for text in texts)
    templates = {s.signature_id: template_of(s, counts[s.signature_id]) for s in signatures.values()}
    partition = cluster.partition(list(templates.values()))
    assignment = {a.signature_id: a for a in partition.assignments}
    clusters = {c.cluster_id: c for c in partition.clusters}
    labels = {}
    for signature_id, found in assignment.items():
        labels[signature_id] = Label(found.cluster_id, clusters[found.cluster_id].text, found.explanation)
    return [labels[signatures[text].signature_id] for text in texts]


def read_signature(text: str) -> Signature:
    """The signature of a whole message or log."""
    return normalise.signature_of_text(text, extract.events(text))


def template_of(signature: Signature, count: int, first_seen: str = "") -> Template:
    """What clustering sees of a signature that `count` events have; `first_seen` is the least of their dates."""
    return Template(
        signature_id=signature.signature_id,
        exception_type=signature.exception_type,
        text=signature.text,
        gate=signature.gate,
        is_gate_complete=signature.is_gate_complete,
        is_truncated=signature.is_truncated,
        count=count,
        first_seen=first_seen,
    )
