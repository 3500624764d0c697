"""What is read of a text: decided here, once, for `extract`, `group`, `match` and `build` alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import extract, normalise
from pipeline.lexicon import codes
from pipeline.records import Event, Link, Severity, Signature, Template, short_class
from pipeline.text import safe

if TYPE_CHECKING:
    from pipeline.cluster import Index, Overrides


#: Lines that name a known class, of a text without an error that anybody would see.
MOST_NAMED = 1000


@dataclass(frozen=True)
class Reading:
    """The failures of a text, and what each of them is."""

    text: str
    events: tuple[Event, ...]  # everything that was seen, by place
    project: str = ""  # the repository in whose tracker the text stands, "owner/name"

    @cached_property
    def errors(self) -> tuple[Event, ...]:
        """The events that are grouped: a warning, an interruption or a wrapper's last words are none."""
        return tuple(event for event in self.events if event.severity == Severity.ERROR)

    def signature(self, event: Event) -> Signature:
        """What an error of the text is: without a stack, the one that the text shows elsewhere with its stack."""
        own = normalise.signature(event, self.text, project=self.project)
        return normalise.placed_as(own, self._arisen) if normalise.is_elsewhere(own) else own

    @cached_property
    def _arisen(self) -> tuple[Signature, ...]:
        """The errors of a run time's words whose stack says where they arise."""
        read = (normalise.signature(event, self.text, project=self.project) for event in self.errors)
        return tuple(one for one in read if normalise.is_arisen(one))

    def origins(self, event: Event) -> Iterator[tuple[Link, Event]]:
        """The exceptions that an error of the text came of, each as an error of its own, the first raised first.

        A build counts a chain as the one error that its culprit is (`pipeline.normalise.culprit`); who asks wants to
        hear of every one of them that is known.
        """
        for number, link in enumerate(event.chain):
            if link.is_causal and link.exception_type is not None:
                start = max(self.text.find(link.message or link.exception_type, event.start, event.end), event.start)
                raised = replace(
                    event,
                    exception_type=link.exception_type,
                    message=link.message,
                    detail=link.detail or link.message,
                    frames=link.frames,
                    chain=event.chain[:number],
                    codes=codes.codes_in(f"{link.exception_type}: {link.detail or link.message}"),
                    start=start,
                    end=start + len(link.message or link.exception_type),
                )
                yield link, raised

    def with_these(self, events: Sequence[Event]) -> Reading:
        """The reading with these errors of one line, in the place of others of the same line."""
        spans = [(event.start, event.end) for event in events]
        others = [
            one
            for one in self.events
            if "\n" in self.text[one.start : one.end].strip()
            or not any(a < one.end and one.start < b for a, b in spans)
        ]
        return replace(self, events=tuple(sorted((*others, *events), key=lambda event: event.start)))

    def signed(self) -> list[tuple[Event, Signature | None]]:
        """Every event with what it is, None where it is not grouped: what a build keeps of a document."""
        return [(event, self.signature(event) if event.severity == Severity.ERROR else None) for event in self.events]

    @cached_property
    def main(self) -> Event | None:
        """The error that the text tells of if it tells of one; None where it tells of none."""
        return normalise.main_event(self.text, self.errors)

    @cached_property
    def whole(self) -> Signature:
        """What the text is if it tells of one error: for a text that stands for itself, not for a thread."""
        known = [event for event in self.events if event.dialect != extract.GENERIC]  # it finds the best line itself
        errors = [event for event in known if event.severity == Severity.ERROR]
        return normalise.signature_of_text(self.text, errors or known)


def read(text: str, project: str = "") -> Reading:
    """The failures of the text of a document, which stands in the tracker of the repository `project`."""
    return Reading(text, tuple(_weighed(event, text, project) for event in extract.events(text)), project)


#: `PoolExhausted: every connection is in use`, behind whatever a log puts before it.
_NAMED = re.compile(r"(?<![\w$.])((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{1,80}): (\S[^\n]*)", re.ASCII)


def of_classes(reading: Reading, known: Container[str]) -> list[Event]:
    """Lines that name a class of `known`, short names, before a message, each as an error; the first `MOST_NAMED`.

    A class whose name does not end as those of errors do is no error to who has never heard of it.
    """
    named = (found for found in _NAMED.finditer(reading.text) if short_class(found[1]) in known)
    return [
        Event(
            dialect="exception-line",
            exception_type=found[1],
            message=found[2].strip(),
            detail=found[2].strip(),
            frames=(),
            chain=(),
            codes=codes.codes_in(found[0]),
            start=found.start(),
            end=found.end(),
            is_truncated=False,
            severity=Severity.ERROR,
        )
        for found in islice(named, MOST_NAMED)
    ]


def _weighed(event: Event, text: str, project: str) -> Event:
    """The event, of severity "empty" if it says that something failed and not what."""
    if event.severity != Severity.ERROR:
        return event
    own = normalise.signature(event, text, project=project)
    return replace(event, severity=Severity.EMPTY) if normalise.is_empty(own) else event


def read_pasted(text: str) -> Reading:
    """The failures of a text that is no document yet: it is made safe as theirs are, and offsets count in that."""
    return read(safe(text))


# Texts grouped among themselves.

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
