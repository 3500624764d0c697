"""Texts grouped among themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import extract, normalise
from pipeline.records import Signature, Template

if TYPE_CHECKING:
    from pipeline.cluster import Overrides


@dataclass(frozen=True, slots=True)
class Label:
    """Which cluster a text fell into, and why."""

    cluster_id: str | None  # None where people said that it is no error
    signature: str
    explanation: str


def group_texts(texts: Sequence[str], *, overrides: Overrides | None = None) -> list[Label]:
    """The cluster of each text among all of them, in their order; a text without an error is its own message.

    Raises:
        ConfigError: two rows of the overrides contradict each other.
    """
    from pipeline import cluster  # noqa: PLC0415  `errmine match` imports this module and groups nothing

    signatures: dict[str, Signature] = {}
    for text in texts:
        if text not in signatures:
            signatures[text] = read_signature(text)
    counts = Counter(signatures[text].signature_id for text in texts)
    templates = {s.signature_id: template_of(s, counts[s.signature_id]) for s in signatures.values()}
    partition = cluster.partition(list(templates.values()), overrides=overrides or cluster.NONE)
    clusters = {one.cluster_id: one for one in partition.clusters}
    labels = {
        one.signature_id: Label(one.cluster_id, clusters[one.cluster_id].text, one.explanation)
        for one in partition.assignments
    }
    for signature_id, reason in partition.ignored:
        labels[signature_id] = Label(None, templates[signature_id].text, f"set aside by overrides.toml: {reason}")
    return [labels[signatures[text].signature_id] for text in texts]


def read_overrides(path: Path) -> Overrides:
    """The rows of the file at `path`, their texts read as errors are read.

    Raises:
        ConfigError: the file cannot be used; the message names the row.
    """
    from pipeline import cluster  # noqa: PLC0415  as above

    return cluster.read_overrides(path, read=lambda text: template_of(read_signature(text), count=0))


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
