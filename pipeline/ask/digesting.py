"""What people want first of an entry: does anybody know, what helped, what is only suggested, who said so and where.

Made from the published entry alone, so every front door says the same of it: the command line, pages, agents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from pipeline.records import MAINTAINER_ROLES
from pipeline.records.entry import CUT, STANDINGS, is_explained, remedy_standing
from pipeline.text import counted, written_day

#: How much a piece of evidence tells: what helped first, machines last.
ROLES = (
    "worked", "fix", "official", "workaround", "failed", "cause", "occurrence", "link", "version", "environment",
)  # fmt: skip
_ANSWERING = frozenset({"worked", "fix", "official", "workaround"})

#: What some write before a card's name, and what some write behind its number without a space.
_VENDOR = re.compile(r"(?i)\A(?:nvidia |geforce )+(?=\S)")
_BEHIND_NUMBER = re.compile(r"(?i)(\d)(Ti|Super)\b")

Row = Mapping[str, Any]
Standing = Literal["confirmed", "official", "suggested", "none"]


@dataclass(frozen=True, slots=True)
class Saying:
    """Who said it, where, in which words (untrusted text)."""

    url: str
    document_id: str
    role: str  # of the evidence: worked, fix, workaround, cause, ...
    author_role: str | None  # GitHub's author_association; None where the source does not say
    posted_at: str | None
    state: str | None  # of the thread
    quote: str

    @property
    def is_by_maintainer(self) -> bool:
        """Whether somebody of the project said it."""
        return self.author_role in MAINTAINER_ROLES


@dataclass(frozen=True, slots=True)
class Reply:
    """What somebody answers to an act in one of the next posts (untrusted text); counted in nothing."""

    outcome: str  # worked, failed
    quote: str
    quote_lang: str
    url: str
    document_id: str
    author_role: str | None  # GitHub's author_association; None where the source does not say
    posted_at: str | None


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to do, or something that was tried in vain."""

    action: str
    action_zh: str | None
    how: str | None
    condition: str | None
    worked: int
    failed: int
    tier: str | None
    repo: str | None  # the one project that it is said of, None where it is said of the error
    frame: str | None
    case: int | None  # number of the case in the entry
    said: tuple[Saying, ...]
    replies: tuple[Reply, ...] = ()  # oldest first

    @property
    def standing(self) -> str:
        """As what it stands: confirmed, documented, fixed (by the project), replied (by a reply alone) or suggested."""
        return remedy_standing(self.worked, self.tier, (one.outcome for one in self.replies))

    @property
    def is_contested(self) -> bool:
        """Whether it helped some and did not help others: each who says so is shown with how it ended."""
        return self.worked > 0 and self.failed > 0

    @property
    def is_by_model(self) -> bool:
        """Whether nobody but a language model picked it."""
        return self.tier == "ai_generated"


@dataclass(frozen=True, slots=True)
class Fix:
    """A version that has the fix."""

    version: str
    said: tuple[Saying, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """What somebody may have said, by a trained reader alone: to be read, not to be relied on (untrusted text)."""

    kind: str  # cause, remedy, fix, failure
    share: int  # of a hundred such passages so many were right
    quote: str
    quote_lang: str
    url: str
    document_id: str
    repo: str | None
    author_role: str | None  # GitHub's author_association; None where the source does not say
    posted_at: str | None
    passage: str | None = None  # what the quote announces, or the sentence before it that names what it points at
    is_led: bool = False  # the passage stands before the quote

    @property
    def words(self) -> str:
        """The quote, behind the sentence that it needs."""
        return f"{self.passage} {self.quote}" if self.is_led else self.quote

    @property
    def block(self) -> str | None:
        """What the quote announces."""
        return None if self.is_led else self.passage


@dataclass(frozen=True, slots=True)
class Thread:
    """Where the error was reported, and how it was printed there."""

    url: str
    document_id: str
    repo: str | None
    number: int | None
    state: str | None
    posted_at: str | None  # of the oldest quote
    is_answering: bool  # it says what helped, or what fixed it
    quote: str

    @property
    def name(self) -> str:
        """As people call it, owner/repo#5; its address where that is unknown."""
        return f"{self.repo}#{self.number}" if self.repo and self.number else self.url


@dataclass(frozen=True, slots=True)
class Digest:
    """An entry, the most useful first."""

    entry_id: str
    signature: str
    signature_zh: str | None
    domain: str
    category: str
    tier: str
    first_seen: str | None
    last_seen: str | None
    document_count: int
    thread_count: int
    occurrence_count: int
    cause: str | None
    cause_zh: str | None
    cause_type: str | None
    cause_said: tuple[Saying, ...]
    confirmed: tuple[Remedy, ...]  # somebody said that it worked
    official: tuple[Remedy, ...]  # an official page says so
    suggested: tuple[Remedy, ...]  # nobody counted says whether it works: fixes of projects, acts with a reply, others
    dead_ends: tuple[Remedy, ...]
    fixed_in: tuple[Fix, ...]
    official_url: str | None
    official_section: str | None
    environment: tuple[tuple[str, tuple[str, ...]], ...]  # name, values; most documents first
    threads: tuple[Thread, ...]  # those with an answer first, then the newest
    causes: tuple[Remedy, ...] = ()  # what single projects say of why; `action` is the sentence
    leads: tuple[Lead, ...] = ()  # counted in nothing here; best first
    is_explained: bool = False  # somebody says why it comes, not the program alone
    documentation: Row | None = None  # what its project's documentation says that it means: no statement of anybody

    @property
    def has_remedy(self) -> bool:
        """Whether anybody says what to do, or which version has the fix."""
        return bool(self.confirmed or self.official or self.suggested or self.fixed_in)

    @property
    def is_bare(self) -> bool:
        """Whether nobody says what to do or why the error comes, so that leads are all that there is to read."""
        return not (self.has_remedy or self.cause or self.cause_zh or self.causes)

    @property
    def standing(self) -> Standing:
        """The best that is known against it."""
        return (
            "confirmed"
            if self.confirmed
            else "official"
            if self.official
            else "suggested"
            if self.has_remedy
            else "none"
        )


def digest(entry: Row) -> Digest:
    """The digest of a published entry."""
    evidence = {piece["evidence_id"]: piece for piece in entry["evidence"]}
    remedies = [*_remedies(entry, "workarounds", evidence), *_of_cases(entry, "workaround", evidence)]
    tried = [*_remedies(entry, "dead_ends", evidence), *_of_cases(entry, "dead_end", evidence)]
    confirmed, official, fixed, replied, suggested = (
        [one for one in remedies if one.standing == kind] for kind in STANDINGS
    )
    return Digest(
        entry_id=entry["id"],
        signature=entry["signature"],
        signature_zh=entry["signature_zh"],
        domain=entry["domain"],
        category=entry["category"],
        tier=entry["verification_tier"],
        first_seen=entry["first_seen"],
        last_seen=entry["last_confirmed"],
        document_count=entry["evidence_count"],
        thread_count=entry["evidence_count"]
        - len({piece["document_id"] for piece in entry["evidence"] if piece["kind"] == "doc"}),
        occurrence_count=entry["occurrence_count"],
        cause=entry["root_cause"],
        cause_zh=entry["root_cause_zh"],
        cause_type=entry["root_cause_type"],
        cause_said=_sayings(entry["root_cause_evidence"], evidence),
        confirmed=tuple(sorted(confirmed, key=lambda one: (one.failed - one.worked, one.case is not None))),
        official=tuple(official),
        suggested=tuple(one for group in (fixed, replied, suggested) for one in sorted(group, key=_weight)),
        dead_ends=tuple(sorted(tried, key=lambda one: -one.failed)),
        fixed_in=tuple(
            Fix(row["version"], _sayings(row["evidence"], evidence))
            for row in entry["versions"]
            if row["status"] == "fixed"
        ),
        official_url=entry["official_doc_url"],
        official_section=entry["official_doc_section"],
        environment=_environment(entry["environment"]),
        threads=_threads(entry["evidence"]),
        causes=tuple(_of_cases(entry, "cause", evidence)),
        leads=tuple(map(_lead, entry.get("leads", ()))),
        is_explained=is_explained(entry),
        documentation=entry.get("documentation"),
    )


def evidence_by_weight(entry: Row) -> list[Row]:
    """The evidence of an entry, each quote of a role once: what helped first, versions and machines last."""
    first: dict[tuple[str, str, str], Row] = {}
    for piece in _weighed(entry["evidence"]):
        first.setdefault((piece["document_id"], piece["role"], piece["quote"]), piece)
    return list(first.values())


def standing(told: Digest, lang: str = "en") -> str:
    """Since when it is known, in how many documents, and whether anybody knows what to do; `lang` is en or zh."""
    if lang == "zh":
        since = f"自 {written_day(told.first_seen)}起已知" if told.first_seen else "出现时间不详"
        reported = f"见于 {told.document_count:,} 份文档" if told.thread_count else "尚无讨论报告"
        return f"{since}，{reported}；{answers(told, lang)}"
    since = f"known since {told.first_seen}" if told.first_seen else "of unknown age"
    reported = f"in {counted(told.document_count, 'document')}" if told.thread_count else "in no thread yet"
    return f"{since}, {reported}; {answers(told, lang)}"


def answers(told: Digest, lang: str = "en") -> str:
    """Whether anybody knows what to do against it: what helped, what officials say, what nobody confirmed."""
    of_one = sum(one.case is not None for one in told.confirmed)
    kinds = Counter(
        one.standing if one.standing != "suggested" or one.case is None else "one" for one in told.suggested
    )
    numbers = (
        len(told.confirmed) - of_one,
        of_one,
        len(told.official),
        kinds["fixed"],
        kinds["replied"],
        kinds["suggested"] + _released(told),
        kinds["one"],
    )
    if lang == "zh":
        words = (
            "个办法有人确认有效",
            "个办法在个别项目中有效",
            "个官方办法",
            "处项目修复",
            "个建议有回复称有效",
            "个建议尚无人确认",
            "个来自个别项目的建议尚无人确认",
        )
        told_zh = [f"{number:,} {one}" for number, one in zip(numbers, words, strict=True) if number]
        return "，".join(told_zh) or f"{_unfixed(told)[1]}尚无人报告解决办法"
    nouns = (
        ("remedy that helped", "remedies that helped"),
        ("remedy that helped a single project", "remedies that helped single projects"),
        ("official remedy", "official remedies"),
        ("fix by the project", "fixes by the project"),
        ("suggestion that a reply confirms", "suggestions that replies confirm"),
        ("suggestion that nobody confirmed", "suggestions that nobody confirmed"),
        ("unconfirmed suggestion of a single project", "unconfirmed suggestions of single projects"),
    )
    told_en = [counted(number, *noun) for number, noun in zip(numbers, nouns, strict=True) if number]
    return ", ".join(told_en) or f"{_unfixed(told)[0]}nobody reported a fix"


def _released(told: Digest) -> int:
    """The versions that have the fix, but those that a remedy names already, by the same threads."""
    named = {said.document_id for one in told.suggested if one.standing == "fixed" for said in one.said}
    return sum(not {said.document_id for said in fix.said} <= named for fix in told.fixed_in)


def _unfixed(told: Digest) -> tuple[str, str]:
    """What is known of an error that nobody knows a remedy for, in both languages."""
    if told.is_explained:
        return "the cause is told, ", "有人说明了原因，"
    return ("documentation says what it means, ", "文档说明了其含义，") if told.documentation else ("", "")


def _weighed(pieces: Iterable[Row]) -> list[Row]:
    """What helped first, then maintainers, then the newest."""
    newest = sorted(pieces, key=lambda piece: piece["posted_at"] or "", reverse=True)
    return sorted(newest, key=_place)


def _place(piece: Row) -> tuple[int, bool]:
    role = ROLES.index(piece["role"]) if piece["role"] in ROLES else len(ROLES)
    return role, piece["author_role"] not in MAINTAINER_ROLES


def _weight(one: Remedy) -> tuple[bool, bool, bool, int]:
    return (
        one.is_by_model,
        not any(said.is_by_maintainer for said in one.said),
        one.case is not None,
        -len({said.document_id for said in one.said}),
    )


def _remedies(entry: Row, field: str, evidence: Mapping[str, Row]) -> Iterable[Remedy]:
    for row, chinese in zip(entry[field], entry[f"{field}_zh"], strict=True):
        yield Remedy(
            action=row["action"],
            action_zh=chinese if chinese != row["action"] else None,
            how=row.get("how") or row.get("why_fails"),
            condition=row["condition"],
            worked=row["worked"],
            failed=row["failed"],
            tier=row.get("tier"),
            repo=None,
            frame=None,
            case=None,
            said=_sayings(row["evidence"], evidence),
            replies=_replies(row),
        )


def _of_cases(entry: Row, kind: str, evidence: Mapping[str, Row]) -> Iterable[Remedy]:
    for number, case in enumerate(entry.get("cases", ())):
        for row in case["statements"]:
            if row["kind"] == kind:
                yield Remedy(
                    action=row["text"],
                    action_zh=row["text_zh"] if row["text_zh"] != row["text"] else None,
                    how=row["how"] or row["why_fails"],
                    condition=row["condition"],
                    worked=row["worked"],
                    failed=row["failed"],
                    tier=row["tier"],
                    repo=case["repo"],
                    frame=case["frame"],
                    case=number,
                    said=_sayings(row["evidence"], evidence),
                    replies=_replies(row),
                )


def _replies(row: Row) -> tuple[Reply, ...]:
    return tuple(Reply(**{one.name: said[one.name] for one in fields(Reply)}) for said in row.get("replies", ()))


def _lead(row: Row) -> Lead:
    told = {one.name: row[one.name] for one in fields(Lead) if one.name not in ("passage", "is_led")}
    beside = row.get("passage")  # bundles of before have none
    if beside is None:
        return Lead(**told)
    words = beside["quote"] + (CUT if beside["is_cut"] else "")
    return Lead(**told, passage=words, is_led=beside["start"] < row["start"])


def _sayings(ids: Iterable[str], evidence: Mapping[str, Row]) -> tuple[Saying, ...]:
    pieces = _weighed(evidence[one] for one in ids if one in evidence)
    return tuple(
        Saying(
            piece["url"],
            piece["document_id"],
            piece["role"],
            piece["author_role"],
            piece["posted_at"],
            piece["state"],
            piece["quote"],
        )
        for piece in pieces
    )


def _environment(rows: Sequence[Row]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    values: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: -row["count"]):
        values.setdefault(row["name"], []).append(_machine(row["name"], row["value"]))
    return tuple((name, tuple(dict.fromkeys(own))) for name, own in values.items())


def _machine(name: str, value: str) -> str:
    """A value as people call it: reporters write one card as "GTX 1080Ti" and as "NVIDIA GeForce GTX 1080 Ti"."""
    return _BEHIND_NUMBER.sub(r"\1 \2", _VENDOR.sub("", value)) if name == "GPU" else value


def _threads(evidence: Sequence[Row]) -> tuple[Thread, ...]:
    of_document: dict[str, list[Row]] = {}
    for piece in evidence:
        if piece["kind"] != "doc":
            of_document.setdefault(piece["document_id"], []).append(piece)
    threads = sorted(map(_thread, of_document.values()), key=lambda one: one.posted_at or "", reverse=True)
    return tuple(sorted(threads, key=lambda one: not one.is_answering))


def _thread(pieces: Sequence[Row]) -> Thread:
    shown = next((piece for piece in pieces if piece["role"] == "occurrence"), pieces[0])
    times = [piece["posted_at"] for piece in pieces if piece["posted_at"]]
    return Thread(
        url=shown["url"].partition("#")[0],
        document_id=shown["document_id"],
        repo=shown["repo"],
        number=shown["number"],
        state=shown["state"],
        posted_at=min(times, default=None),
        is_answering=any(piece["role"] in _ANSWERING for piece in pieces),
        quote=shown["quote"],
    )
