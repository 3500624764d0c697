"""From a text to its label or its entry: extract, normalise, cluster, joined for texts that are not in raw."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline import cluster, extract, normalise
from pipeline.errors import ExportError
from pipeline.records import Assignment, Cluster, Signature, Template

#: Rules that may name an entry for a text in which no error was found: the words are those of a known error, not like.
_SURE = frozenset({"equal", "gate"})


@dataclass(frozen=True, slots=True)
class Label:
    """Which cluster a text fell into, and why."""

    cluster_id: str
    signature: str
    explanation: str


def group_texts(texts: Sequence[str]) -> list[Label]:
    """The cluster of each text among all of them, in their order; a text without an error is its own message."""
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


@dataclass(frozen=True, slots=True)
class Answer:
    """The entry of a text, or an abstention: then `entry_id` is None and `reason` says why."""

    entry_id: str | None
    cluster_id: str | None
    score: float  # 0-100; of the nearest entry for an abstention
    rule: str  # "equal" | "gate" | "ratio" | "prefix" | "abstained"
    reason: str
    signature: str  # what the text was read as
    runner_up: str | None
    runner_up_reason: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Matcher:
    """A bundle, ready to be asked. Needs no database: index.json and the entries' own files are enough."""

    def __init__(self, folder: Path, index: Mapping[str, Any]) -> None:
        self._folder = folder
        self._entry_of = {row["cluster_id"]: row["id"] for row in index["entries"] if row["cluster_id"]}
        self._index = _index(index)

    @classmethod
    def read(cls, folder: Path) -> Matcher:
        """The matcher of the bundle in `folder`.

        Raises:
            ExportError: there is no bundle, or its index cannot be read.
        """
        path = folder / "index.json"
        try:
            return cls(folder, json.loads(path.read_bytes()))
        except FileNotFoundError as error:
            hint = "Run `errmine run` or `errmine export` first, or name a bundle with --bundle."
            raise ExportError(f"there is no bundle in {folder}", path=path, hint=hint) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ExportError(f"cannot read {path}: {error}", path=path, hint="Export the bundle anew.") from error

    def match(self, text: str) -> Answer:
        """The entry of the error that `text` shows, or why there is none."""
        found = [event for event in extract.events(text) if event.severity == "error"]
        signature = normalise.signature_of_text(text, found)
        answer = self._answer(signature)
        if found or answer.rule in _SURE:
            return answer
        return _abstained(answer, signature, "no error was found in the text")

    def entry(self, entry_id: str) -> dict[str, Any]:
        """The entry as published."""
        path = self._folder / "entries" / f"{entry_id}.json"
        try:
            entry: dict[str, Any] = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ExportError(f"cannot read {path}: {error}", path=path, hint="Export the bundle anew.") from error
        return entry

    def _answer(self, signature: Signature) -> Answer:
        found = self._index.assign(signature)
        if isinstance(found, cluster.Abstention):
            near = found.nearest
            reason = "looks like it, but not enough to be sure" if near else ""
            name = self._entry_of.get(near.cluster_id) if near else None
            return Answer(
                None, None, near.score if near else 0.0, "abstained", found.reason, signature.text, name, reason
            )
        second = found.runner_up
        return Answer(
            entry_id=self._entry_of.get(found.cluster_id),
            cluster_id=found.cluster_id,
            score=found.score,
            rule=found.rule,
            reason=found.explanation,
            signature=signature.text,
            runner_up=self._entry_of.get(second.cluster_id) if second else None,
            runner_up_reason=f"scored {second.score:.1f}" if second else "",
        )


def _abstained(answer: Answer, signature: Signature, reason: str) -> Answer:
    return Answer(None, None, answer.score, "abstained", reason, signature.text, None, "")


def _index(index: Mapping[str, Any]) -> cluster.Index:
    """The index of all templates; made from plain rows, because checking 50,000 of them would take seconds."""
    templates, clusters, assignments = [], [], []
    for row in index["entries"]:
        if row["cluster_id"] is None:
            continue
        members = [_template(template) for template in row["templates"]]
        templates += members
        names = tuple(member.signature_id for member in members)
        clusters.append(
            Cluster(
                row["cluster_id"],
                row["medoid"],
                row["exception_type"],
                row["signature"],
                gate=(),
                members=names,
                regex=row["regex"] or "",
                lowest_score=row["lowest_score"],
            )
        )
        assignments += [Assignment(name, row["cluster_id"], "equal", 100.0, "") for name in names]
    return cluster.Index(cluster.Partition(tuple(clusters), tuple(assignments), ()), templates)


def _template(row: Mapping[str, Any]) -> Template:
    return Template(
        signature_id=row["signature_id"],
        exception_type=row["exception_type"],
        text=row["text"],
        gate=tuple((name, value) for name, value in row["gate"]),
        is_gate_complete=row["is_gate_complete"],
        is_truncated=row["is_truncated"],
        count=row["count"],
        first_seen=row["first_seen"],
    )
