"""The entries of a build, and what is asked of all of them at once: an entry that nothing changed is not even read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import overload

from pipeline import translate
from pipeline.records.documented import is_documented
from pipeline.records.entry import KnowledgeEntry, is_answered
from pipeline.translate.official import CHANGED

#: Forms of an entry: as it was put into words, or without an explanation that would fit other messages as well.
WHOLE, GENERAL = "whole", "general"
_UNEXPLAINED = "signature_zh untranslated"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is asked of all entries of a build."""

    domain: str = ""
    tier: str = ""
    is_answered: bool = False
    is_documented: bool = False
    statuses: tuple[str, ...] = ()  # of each `*_zh` value: its field and how it came to be
    changed: tuple[str, ...] = ()  # fields whose sentence an official page says otherwise now, with that sentence
    shape: tuple[str, ...] = ()  # see `translate.shape_of`

    @classmethod
    def of(cls, entry: KnowledgeEntry) -> Facts:
        """Those of an entry."""
        told = entry.translations.items()
        return cls(
            domain=entry.domain,
            tier=entry.verification_tier,
            is_answered=is_answered(entry),
            is_documented=is_documented(entry),
            statuses=tuple(f"{field.partition('[')[0]} {made.status}" for field, made in told),
            changed=tuple(
                f"{field} {made.reason.removeprefix(f'{CHANGED}: ')}"
                for field, made in told
                if made.reason and made.reason.startswith(f"{CHANGED}: ")
            ),
            shape=translate.shape_of(entry),
        )

    def of_form(self, form: str) -> Facts:
        """Those of the same entry in one of its forms."""
        if form == WHOLE:
            return self
        statuses = (_UNEXPLAINED if one.startswith("signature_zh ") else one for one in self.statuses)
        return replace(self, statuses=tuple(statuses))


#: Of no entry.
NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class One:
    """An entry that may be published."""

    entry_id: str
    facts: Facts
    digest: str
    read: Callable[[], KnowledgeEntry]

    @classmethod
    def of(cls, entry: KnowledgeEntry, told: str) -> One:
        """An entry that is there, with its digest."""
        return cls(entry.id, Facts.of(entry), told, lambda: entry)


class Worded(Sequence[KnowledgeEntry]):
    """Entries in the order of their ids, each read when somebody asks for it."""

    def __init__(self, found: Iterable[One]) -> None:
        self._found = sorted(found, key=lambda one: one.entry_id)

    @property
    def facts(self) -> list[Facts]:
        """Of each entry."""
        return [one.facts for one in self._found]

    @property
    def digests(self) -> dict[str, str]:
        """Of each entry by its id: equal digests, equal entries."""
        return {one.entry_id: one.digest for one in self._found}

    def named(self) -> Iterable[tuple[str, Facts]]:
        """The id of each entry, with its facts."""
        return ((one.entry_id, one.facts) for one in self._found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> KnowledgeEntry: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[KnowledgeEntry]: ...
    def __getitem__(self, place: int | slice) -> KnowledgeEntry | Sequence[KnowledgeEntry]:
        if isinstance(place, slice):
            return [one.read() for one in self._found[place]]
        return self._found[place].read()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Worded) and self.digests == other.digests and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class FieldCoverage:
    """One `*_zh` field over a list of entries: how many values have which status."""

    field: str
    total: int
    by_status: tuple[tuple[str, int], ...]  # most frequent first

    def share(self, status: str) -> float:
        """The share of that status, 0 where the field has no values."""
        return dict(self.by_status).get(status, 0) / self.total if self.total else 0.0


def coverage(facts: Iterable[Facts]) -> list[FieldCoverage]:
    """One row for each `*_zh` field, sorted by name; a list field counts each of its items."""
    counts: dict[str, Counter[str]] = {}
    for one in facts:
        for told in one.statuses:
            field, _, status = told.partition(" ")
            counts.setdefault(field, Counter())[status] += 1
    return [_row(field, counts[field]) for field in sorted(counts)]


def _row(field: str, statuses: Counter[str]) -> FieldCoverage:
    ordered = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return FieldCoverage(field, statuses.total(), tuple(ordered))


def changed_sources(entries: Worded) -> list[dict[str, str]]:
    """The sentences of official pages that were translated and now say something else: entry_id, field, sentence."""
    return [
        {"entry_id": entry_id, "field": field, "sentence": sentence}
        for entry_id, facts in entries.named()
        for field, _, sentence in (told.partition(" ") for told in facts.changed)
    ]
