"""Which errors a list shows, in which order: most reported, newest, unanswered, by domain, code, repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.export.site import paths, reading
from pipeline.lexicon import catalogues
from pipeline.records.entry import KnowledgeEntry, is_answered

#: Rows of a list on the home page, and of one page of a long list.
HOME_ROWS, PAGE_ROWS = 12, 300


@dataclass(frozen=True, slots=True)
class Row:
    """One error in a list."""

    entry_id: str
    signatures: Mapping[str, reading.Said]  # by language
    domain: str
    category: str
    tier: str
    report_count: int
    first_seen: str
    last_seen: str
    is_answered: bool


@dataclass(slots=True)
class Group:
    """The errors of one domain, code or repository."""

    name: str
    rows: list[Row] = field(default_factory=list)

    @property
    def report_count(self) -> int:
        """Reports of all its errors; one that shows two counts twice."""
        return sum(row.report_count for row in self.rows)

    @property
    def answered_count(self) -> int:
        """Errors that have an answer."""
        return sum(row.is_answered for row in self.rows)


@dataclass(slots=True)
class Lists:
    """Every list of the site; rows of each are most reported first."""

    rows: dict[str, Row]
    domains: list[Group]
    repositories: list[Group]
    codes: dict[str, Group]  # by the path of its page, which two spellings of a code share
    families: dict[str, list[catalogues.Listed]]  # two spellings that share a page are one
    months: Counter[str]

    @property
    def most_reported(self) -> list[Row]:
        """All errors."""
        return list(self.rows.values())

    @property
    def newest(self) -> list[Row]:
        """Errors by the day on which they were first seen, the latest first."""
        dated = [row for row in self.rows.values() if row.first_seen]
        return sorted(dated, key=lambda row: row.first_seen, reverse=True)

    @property
    def unanswered(self) -> list[Row]:
        """Errors without a cause, a remedy, a fix or official text."""
        return [row for row in self.rows.values() if not row.is_answered]


def row_of(entry: KnowledgeEntry) -> Row:
    """An entry as lists show it."""
    return Row(
        entry.id,
        {lang: reading.signature(entry, lang) for lang in paths.LANGUAGES},
        entry.domain,
        entry.category,
        entry.verification_tier,
        entry.evidence_count,
        entry.first_seen or "",
        entry.last_confirmed or "",
        is_answered(entry),
    )


def gathered(entries: Sequence[KnowledgeEntry]) -> Lists:
    """Every list of a site of `entries`."""
    ranked = sorted(entries, key=lambda entry: (-entry.evidence_count, -entry.occurrence_count, entry.id))
    domains: dict[str, Group] = {}
    repositories: dict[str, Group] = {}
    codes: dict[str, Group] = {}
    months: Counter[str] = Counter()
    rows = {}
    for entry in ranked:
        row = rows[entry.id] = row_of(entry)
        domains.setdefault(paths.domain("en", entry.domain), Group(entry.domain)).rows.append(row)
        for repo in sorted({piece.repo for piece in entry.evidence if piece.repo}):
            place = paths.repository("en", repo)
            repositories.setdefault(place, Group(repo)).rows.append(row)
        for code in entry.codes:
            codes.setdefault(paths.code("en", code), Group(code)).rows.append(row)
        months.update(reading.months(entry))
    return Lists(
        rows,
        sorted(domains.values(), key=lambda group: (-len(group.rows), group.name)),
        sorted(repositories.values(), key=lambda group: (-len(group.rows), group.name)),
        dict(sorted(codes.items())),
        _families(codes),
        months,
    )


def _families(codes: Mapping[str, Group]) -> dict[str, list[catalogues.Listed]]:
    """Family -> its codes: those of the official catalogue, and what else the entries have."""
    found: dict[str, list[catalogues.Listed]] = {}
    spelt: dict[str, str] = {}  # the first spelling of a family, by the path of its page
    known = catalogues.listed()
    for listed in known:
        family = spelt.setdefault(paths.family("en", listed.family), listed.family)
        found.setdefault(family, []).append(listed)
    names = {paths.code("en", listed.code) for listed in known}
    for place, group in codes.items():
        if place not in names:
            family, _, name = group.name.partition(":")
            family = spelt.setdefault(paths.family("en", family), family)
            found.setdefault(family, []).append(
                catalogues.Listed(group.name, family, name, None, None, None, None, False, ())
            )
    return {family: found[family] for family in sorted(found)}
