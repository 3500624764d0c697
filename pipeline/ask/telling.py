"""The findings of a text with what is known of each: what `errmine match` prints, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pipeline.ask.digesting import Digest, Remedy, Saying, digest, standing
from pipeline.ask.matcher import nearest_case

if TYPE_CHECKING:
    from pipeline.ask.findings import Finding, Findings
    from pipeline.ask.matcher import Answer, Matcher
    from pipeline.ask.pasting import Pasted

#: Likeness from which the nearest entry is told of where none fits. In logs of 24 kinds those at 87 and above were of
#: the same kind of error (another header, DLL or name), those at 68 and below had nothing to do with it.
NEAREST_SCORE = 80.0
#: Of each part of a digest the JSON has so many; the entry has them all.
MOST_REMEDIES, MOST_SAID, MOST_THREADS = 5, 3, 5


@dataclass(frozen=True, slots=True)
class ToldFinding:
    """A failure of the text, with what is known of it."""

    finding: Finding
    lines: tuple[tuple[int, int], ...]  # of the log as it was given, what was left out of it counted
    known: Digest | None  # of its entry
    case: int | None  # number of the case of the entry that was raised in the same place
    nearest: Digest | None  # of the entry that looks most like it, if any does

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **self.finding.as_dict(),
            "lines": self.lines,
            "case": self.case,
            "known": bounded(self.known) if self.known else None,
            "nearest": bounded(self.nearest) if self.nearest else None,
        }


@dataclass(frozen=True, slots=True)
class Told:
    """All that is told of a text."""

    answer: Answer  # to the text as one
    main: int | None
    findings: tuple[ToldFinding, ...]
    entry: Mapping[str, Any] | None  # of the answer, as published
    case: int | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the answer to the text as one, and every finding."""
        return {
            **self.answer.as_dict(),
            "case": self.case,
            "entry": self.entry,
            "finding": self.main,
            "findings": [one.as_dict() for one in self.findings],
        }


def told_of(matcher: Matcher, found: Findings, log: Pasted) -> Told:
    """What the bundle of `matcher` knows of the findings of `log`; each entry is read once.

    Raises:
        ExportError: an entry of the bundle cannot be read.
    """
    entries: dict[str, dict[str, Any]] = {}

    def entry(entry_id: str | None) -> dict[str, Any] | None:
        if entry_id is not None and entry_id not in entries:
            entries[entry_id] = matcher.entry(entry_id)
        return entries[entry_id] if entry_id is not None else None

    told = []
    for one in found.findings:
        own = entry(one.answer.entry_id)
        is_near = one.status == "unknown" and one.answer.score >= NEAREST_SCORE
        near = entry(one.answer.runner_up) if is_near else None
        told.append(
            ToldFinding(
                finding=one,
                lines=tuple((log.line(first), log.line(last)) for first, last in one.lines),
                known=digest(own) if own else None,
                case=nearest_case(own.get("cases", ()), one.answer) if own else None,
                nearest=digest(near) if near else None,
            )
        )
    main = entry(found.answer.entry_id)
    case = nearest_case(main.get("cases", ()), found.answer) if main else None
    return Told(found.answer, found.main, tuple(told), main, case)


def bounded(told: Digest) -> dict[str, Any]:
    """A digest for JSON: the first of each part, and how many there are of it."""
    return {
        "entry_id": told.entry_id,
        "signature": told.signature,
        "signature_zh": told.signature_zh,
        "domain": told.domain,
        "category": told.category,
        "tier": told.tier,
        "standing": told.standing,
        "sentence": standing(told),
        "sentence_zh": standing(told, "zh"),
        "first_seen": told.first_seen,
        "last_seen": told.last_seen,
        "document_count": told.document_count,
        "thread_count": told.thread_count,
        "occurrence_count": told.occurrence_count,
        "documentation": told.documentation,
        "cause": told.cause,
        "cause_zh": told.cause_zh,
        "cause_type": told.cause_type,
        "cause_said": _said(told.cause_said),
        "confirmed": _remedies(told.confirmed),
        "official": _remedies(told.official),
        "suggested": _remedies(told.suggested),
        "dead_ends": _remedies(told.dead_ends),
        "counts": {
            "confirmed": len(told.confirmed),
            "official": len(told.official),
            "suggested": len(told.suggested),
            "dead_ends": len(told.dead_ends),
        },
        "fixed_in": [{"version": fix.version, "said": _said(fix.said)} for fix in told.fixed_in[:MOST_REMEDIES]],
        "leads": [asdict(one) for one in told.leads] if told.is_bare else [],
        "official_url": told.official_url,
        "official_section": told.official_section,
        "threads": [asdict(thread) for thread in told.threads[:MOST_THREADS]],
    }


def _remedies(remedies: Sequence[Remedy]) -> list[dict[str, Any]]:
    return [{**asdict(one), "said": _said(one.said)} for one in remedies[:MOST_REMEDIES]]


def _said(said: Sequence[Saying]) -> list[dict[str, Any]]:
    return [asdict(one) for one in said[:MOST_SAID]]
