"""Rules about names: ids, closed vocabularies, references, tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.lexicon import vocabulary
from pipeline.records import MAINTAINER_ROLES
from pipeline.records.entry import SCHEMA_VERSION
from pipeline.validate.problem import Context, Finding, Raw, Rule, is_imported, items, mapping, names, text, values

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}/[a-z0-9][a-z0-9._-]{0,120}")
_FIELDS = {
    "domain": "domains",
    "category": "categories",
    "subcategory": "subcategories",
    "root_cause_type": "root_cause_types",
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
    for relation in _RELATIONS:
        edges = items(mapping(raw, "transition_graph"), relation)
        cited += [(f"transition_graph.{place}.evidence", names(edge, "evidence")) for place, edge in edges]
    for place, cited_ids in cited:
        for name in cited_ids:
            if name not in known:
                yield place, f"{name} is not the id of any evidence"


def _tier(raw: Raw, _context: Context) -> Iterator[Finding]:
    """A tier may be lower than the evidence allows, never higher."""
    tier = text(raw, "verification_tier")
    pieces = [piece for _, piece in items(raw, "evidence")]
    if not _supports(tier, pieces):
        yield "verification_tier", f"no evidence stands behind {tier!r}"
    for place, remedy in items(raw, "workarounds") if not is_imported(raw) else ():
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


RULES = (
    Rule("schema_version", "The schema version is one that is known.", _version),
    Rule("id_form", "Ids and former ids are of the form domain/slug.", _id_form),
    Rule("vocabulary", "Domain, category and the like are words of the closed vocabularies.", _vocabulary),
    Rule("evidence_ids_unique", "Every piece of evidence has an id of its own.", _ids_unique),
    Rule("references_known", "Every evidence id that is cited exists.", _references),
    Rule("tier_supported", "The verification tier is not above what the evidence supports.", _tier),
    Rule("imported_unproven", "An imported entry stays ai_generated, with what it cannot prove null.", _imported),
)
