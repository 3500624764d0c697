"""Texts grouped among themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import normalise
from pipeline.ask.reading import read_pasted
from pipeline.records import Signature, Template

if TYPE_CHECKING:
    from pipeline.cluster import Index, Overrides

#: By these rules a reading took what was there, for nothing in the text was known.
_UNSURE = frozenset({"own-message", "wrapper"})


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
    for one in partition.ignored:
        labels[one.signature_id] = Label(None, templates[one.signature_id].text, set_aside(one.reason))
    own = {text: labels[signature.signature_id] for text, signature in signatures.items()}
    named = {template.signature_id for template in overrides.read.values()} if overrides else set()
    unsure = [text for text, one in signatures.items() if one.culprit in _UNSURE and one.signature_id not in named]
    again = _read_again(unsure, own, cluster.Index(partition, list(templates.values())))
    return [again.get(text) or own[text] for text in texts]


def _read_again(texts: Sequence[str], own: Mapping[str, Label], index: Index) -> dict[str, Label]:
    """The labels of texts that stand alone and say elsewhere, in the same words, what others report."""
    sizes = Counter(label.cluster_id for label in own.values())
    found: dict[str, tuple[str, str]] = {}  # cluster of a text that stands alone -> cluster that it joins, and why
    for text in texts:
        alone = own[text].cluster_id
        target = _elsewhere(text, alone, index) if alone is not None and sizes[alone] == 1 else None
        if alone is not None and target is not None:
            found[alone] = target
    joined = _followed({alone: target for alone, (target, _) in found.items()})
    shown = {label.cluster_id: label.signature for label in own.values()}
    return {
        text: Label(end, shown[end], found[alone][1] if alone in found else own[text].explanation)
        for text, alone in ((text, own[text].cluster_id) for text in texts)
        if alone is not None and (end := joined.get(alone)) is not None
    }


def _elsewhere(text: str, alone: str, index: Index) -> tuple[str, str] | None:
    """The other cluster that a part of the text belongs to, the surest of them, and why; None if there is none."""
    from pipeline.cluster import Match  # noqa: PLC0415  as above

    best: tuple[tuple[bool, float, str], str] | None = None
    for part in normalise.readings(text):
        match = index.assign(part)
        if isinstance(match, Match) and match.cluster_id != alone:
            rank = (match.rule in ("equal", "gate"), match.score, match.cluster_id)
            if best is None or rank > best[0]:
                best = rank, f'It stands alone by its first words; it also says "{part.text[:80]}". {match.explanation}'
    return (best[0][2], best[1]) if best is not None else None


def _followed(joins: Mapping[str, str]) -> dict[str, str]:
    """Where each cluster ends up if joins are followed; those that join in a ring meet in the least of them."""
    ends: dict[str, str] = {}
    for start in sorted(joins):
        path = [start]
        while path[-1] in joins and joins[path[-1]] not in path:
            path.append(joins[path[-1]])
        last = joins.get(path[-1])
        ends[start] = path[-1] if last is None else min(path[path.index(last) :])
    return ends


def set_aside(reason: str) -> str:
    """What is said of a text that people ignore."""
    return f"set aside by overrides.toml: {reason}"


def read_overrides(path: Path) -> Overrides:
    """The rows of the file at `path`, their texts read as errors are read.

    Raises:
        ConfigError: the file cannot be used; the message names the row.
    """
    from pipeline import cluster  # noqa: PLC0415  as above

    return cluster.read_overrides(path, read=lambda text: template_of(read_signature(text), count=0))


def read_signature(text: str) -> Signature:
    """The signature of a whole message or log."""
    return read_pasted(text).whole


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
