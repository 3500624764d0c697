"""A problem and the rules of names and dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pipeline.lexicon import vocabulary
from pipeline.records import MAINTAINER_ROLES
from pipeline.records.entry import SCHEMA_VERSION

# A rule, what it finds, and tolerant access to an entry that may be anybody's JSON.

Raw = Mapping[str, Any]
#: What an object is an instance of; the first is quick to tell, and most are one.
_OBJECT = (dict, Mapping)
#: (place, message)
Finding = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Problem:
    """One rule broken in one place."""

    rule: str
    place: str  # "workarounds[0].action"
    message: str
    entry_id: str = ""

    def __str__(self) -> str:
        """For people: where, what, which rule."""
        where = " ".join(part for part in (self.entry_id, self.place) if part)
        return f"{where}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known besides the entry; everything may be missing, then less is checked."""

    texts: Callable[[str], str | None] | None = None  # document id -> its text
    members: tuple[str, ...] = ()  # messages that the regex must match
    foreign: tuple[str, ...] = ()  # messages of other clusters, which it must not match
    proven: frozenset[str] = frozenset()  # regexes that were compiled and timed already


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that an entry must keep."""

    rule_id: str
    sentence: str
    check: Callable[[Raw, Context], Iterator[Finding]]


def items(raw: Raw, name: str) -> Iterator[tuple[str, Raw]]:
    """(place, object) of every object in the list `name`; anything else there is the schema's affair."""
    listed = raw.get(name)
    for place, item in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if isinstance(item, _OBJECT):
            yield f"{name}[{place}]", item


def statements(raw: Raw) -> Iterator[tuple[str, Raw]]:
    """(place, object) of every statement of every case, in the order of their numbers."""
    for place, case in items(raw, "cases"):
        for inner, item in items(case, "statements"):
            yield f"{place}.{inner}", item


def shown(raw: Raw) -> Iterator[tuple[str, Raw]]:
    """(place, object) of every quote of an entry that it shows and counts nowhere: leads, their passages, replies."""
    for place, lead in items(raw, "leads"):
        yield place, lead
        beside = lead.get("passage")
        if isinstance(beside, _OBJECT):
            yield f"{place}.passage", {**lead, **beside}
    for place, item in (*items(raw, "workarounds"), *statements(raw)):
        for inner, reply in items(item, "replies"):
            yield f"{place}.{inner}", reply


def values(raw: Raw, name: str) -> list[Any]:
    """The list `name`, empty if it is none."""
    listed = raw.get(name)
    return list(listed) if isinstance(listed, list | tuple) else []


def names(raw: Raw, name: str) -> list[str]:
    """The strings in the list `name`."""
    return [value for value in values(raw, name) if isinstance(value, str)]


def text(raw: Raw, name: str) -> str | None:
    """The string `name`, None if it is none."""
    value = raw.get(name)
    return value if isinstance(value, str) else None


def number(raw: Raw, name: str) -> float | None:
    """The number `name`, None if it is none."""
    value = raw.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def mapping(raw: Raw, name: str) -> Raw:
    """The object `name`, empty if it is none."""
    value = raw.get(name)
    return value if isinstance(value, _OBJECT) else {}


def is_imported(raw: Raw) -> bool:
    """Whether the entry says that it was made elsewhere."""
    return mapping(raw, "provenance").get("origin") == "imported"


# Rules about names: ids, closed vocabularies, references, tiers.

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}/[a-z0-9][a-z0-9._-]{0,120}")
_FIELDS = {
    "domain": "domains",
    "category": "categories",
    "subcategory": "subcategories",
    "root_cause_type": "root_cause_types",
    "cause_type": "cause_types",
    "verification_tier": "tiers",
}
_CITING = ("versions", "environment", "workarounds", "dead_ends")
#: Rules by which GitHub itself says that a change closed the report.
_CLOSED = "fix.closed_by"
_RELATIONS = ("leads_to", "preceded_by", "frequently_confused_with")


def _version(raw: Raw, _context: Context) -> Iterator[Finding]:
    version = text(raw, "schema_version")
    if version is not None and version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
        yield "schema_version", f"{version} is not a version that this errmine reads ({SCHEMA_VERSION})"


def _id_form(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, name in (("id", text(raw, "id")), *((f"aliases[{n}]", a) for n, a in enumerate(values(raw, "aliases")))):
        if not isinstance(name, str) or not _ID.fullmatch(name):
            yield place, f"{name!r} is not of the form domain/slug"
    if text(raw, "id") in values(raw, "aliases"):
        yield "aliases", "the entry's own id is among its former ids"


def omitted(raw: Raw) -> int:
    """How many pieces of evidence an entry counts and does not show."""
    return max(0, int(number(raw, "evidence_omitted") or 0))


def _vocabulary(raw: Raw, _context: Context) -> Iterator[Finding]:
    for field, name in _FIELDS.items():
        value = text(raw, field)
        if value is not None and value not in vocabulary.ids(name):
            yield field, f"{value!r} is not in the vocabulary of {name}"


def _ids_unique(raw: Raw, _context: Context) -> Iterator[Finding]:
    seen: set[str] = set()
    for place, piece in items(raw, "evidence"):
        name = text(piece, "evidence_id")
        if name is not None and name in seen:
            yield f"{place}.evidence_id", f"{name} is used twice"
        seen.add(name or "")


def _references(raw: Raw, _context: Context) -> Iterator[Finding]:
    known = {text(piece, "evidence_id") for _, piece in items(raw, "evidence")}
    cited = [("root_cause_evidence", names(raw, "root_cause_evidence"))]
    for name in _CITING:
        cited += [(f"{place}.evidence", names(item, "evidence")) for place, item in items(raw, name)]
    cited += [(f"{place}.evidence", names(item, "evidence")) for place, item in statements(raw)]
    for relation in _RELATIONS:
        edges = items(mapping(raw, "transition_graph"), relation)
        cited += [(f"transition_graph.{place}.evidence", names(edge, "evidence")) for place, edge in edges]
    for place, cited_ids in cited:
        for name in cited_ids:
            if name not in known:
                yield place, f"{name} is not the id of any evidence"


def _case_documents(raw: Raw, _context: Context) -> Iterator[Finding]:
    shown: dict[str | None, set[str | None]] = {}
    for _, piece in items(raw, "evidence"):
        shown.setdefault(text(piece, "repo"), set()).add(text(piece, "document_id"))
    for place, case in items(raw, "cases"):
        for number_, name in enumerate(names(case, "documents")):
            if name not in shown.get(text(case, "repo"), ()):
                yield f"{place}.documents[{number_}]", f"no evidence is from {name} of that project"


def _tier(raw: Raw, _context: Context) -> Iterator[Finding]:
    """A tier may be lower than the evidence allows, never higher."""
    tier = text(raw, "verification_tier")
    pieces = [piece for _, piece in items(raw, "evidence")]
    if not _supports(tier, pieces):
        yield "verification_tier", f"no evidence stands behind {tier!r}"
    stated = [*items(raw, "workarounds"), *statements(raw)]
    for place, remedy in stated if not is_imported(raw) else ():
        cited = names(remedy, "evidence")
        own = text(remedy, "tier")
        if not _supports(own, [piece for piece in pieces if text(piece, "evidence_id") in cited]):
            yield f"{place}.tier", f"no evidence that it cites stands behind {own!r}"
    if tier == "ai_generated" and pieces and not is_imported(raw):
        yield "verification_tier", "an entry with evidence is not ai_generated"


def _supports(tier: str | None, pieces: Sequence[Raw]) -> bool:
    """True if one of `pieces` can be what the tier says: who states it, who confirms it."""
    if tier == "documented":
        return any(text(piece, "kind") == "doc" or text(piece, "role") == "official" for piece in pieces)
    if tier == "maintainer_confirmed":
        return any(text(piece, "author_role") in MAINTAINER_ROLES for piece in pieces)
    if tier == "user_confirmed":
        closed = (text(piece, "rule") or "" for piece in pieces if text(piece, "role") == "fix")
        return any(text(piece, "role") == "worked" for piece in pieces) or any(r.startswith(_CLOSED) for r in closed)
    return tier != "reported" or bool(pieces)


def _imported(raw: Raw, _context: Context) -> Iterator[Finding]:
    if not is_imported(raw):
        return
    if text(raw, "verification_tier") != "ai_generated":
        yield "verification_tier", "an imported entry stays ai_generated"
    for name in ("confidence", "fix_success_rate", "first_seen", "last_confirmed", "last_updated"):
        if raw.get(name) is not None:
            yield name, "an imported entry cannot prove it: it must be null"


NAMING = (
    Rule("schema_version", "The schema version is one that is known.", _version),
    Rule("id_form", "Ids and former ids are of the form domain/slug.", _id_form),
    Rule("vocabulary", "Domain, category and the like are words of the closed vocabularies.", _vocabulary),
    Rule("evidence_ids_unique", "Every piece of evidence has an id of its own.", _ids_unique),
    Rule("references_known", "Every evidence id that is cited exists.", _references),
    Rule("case_documents_known", "Every document of a case is quoted, and is one of its project.", _case_documents),
    Rule("tier_supported", "The verification tier is not above what the evidence supports.", _tier),
    Rule("imported_unproven", "An imported entry stays ai_generated, with what it cannot prove null.", _imported),
)


# Rules about dates: in order, and from evidence.

_DATES = ("first_seen", "last_confirmed", "last_updated")
_DAY = len("2026-01-02")
#: Evidence of these roles shows that the error exists.
_CONFIRMING = frozenset({"occurrence", "worked", "failed"})


def _ordered(raw: Raw, _context: Context) -> Iterator[Finding]:
    for earlier, later in combinations(_DATES, 2):
        one, other = text(raw, earlier), text(raw, later)
        if one is not None and other is not None and one > other:
            yield earlier, f"{earlier} {one} is after {later} {other}"


def _from_evidence(raw: Raw, _context: Context) -> Iterator[Finding]:
    posted = (text(piece, "posted_at") for _, piece in items(raw, "evidence"))
    days = {time[:_DAY] for time in posted if time}
    for name in _DATES:
        claimed = text(raw, name)
        if claimed is not None and claimed not in days:
            yield name, f"no evidence is of {claimed}"


def _newest(raw: Raw, _context: Context) -> Iterator[Finding]:
    posted = (text(piece, "posted_at") for _, piece in items(raw, "evidence") if text(piece, "role") in _CONFIRMING)
    newest = max((time[:_DAY] for time in posted if time), default=None)
    claimed = text(raw, "last_confirmed")
    if claimed is not None and newest is not None and claimed < newest:
        yield "last_confirmed", f"says {claimed}, but it was met on {newest}"


DATING = (
    Rule("dates_ordered", "first_seen <= last_confirmed <= last_updated.", _ordered),
    Rule("last_confirmed_newest", "No occurrence, worked or failed is newer than last_confirmed.", _newest),
    Rule("dates_from_evidence", "Every date is the date of a piece of evidence; unknown is null.", _from_evidence),
)
