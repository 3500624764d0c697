"""An entry made elsewhere as one of ours: what nobody can prove is null, and it says of itself that it is unproven."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Any, get_origin

from pipeline.lexicon import advice, explanations, gates, vocabulary
from pipeline.records.entry import (
    SCHEMA_VERSION,
    KnowledgeEntry,
    Provenance,
    TransitionGraph,
    Translation,
    Version,
    Workaround,
)
from pipeline.text import is_web_address
from pipeline.validate.problem import Raw, items, text, values
from pipeline.validate.wording import compile_error, unbounded_gaps

#: The bound put on an unbounded gap of a foreign regex: what our own use.
_BOUND = "{0,200}"
#: The longest text that is taken over from elsewhere.
_LONGEST = 2_000
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}/[a-z0-9][a-z0-9._-]{0,120}")


def imported(payload: str) -> KnowledgeEntry:
    """The entry that `payload` (one JSON object) holds, unproven; ValueError says why it is none."""
    raw = json.loads(payload)
    if not isinstance(raw, dict) or not (text(raw, "signature") or "").strip():
        raise ValueError("a knowledge entry is a JSON object with a signature")
    notes: Counter[str] = Counter()
    signature = _short(raw, "signature") or ""
    if (refusal := advice.refusal(signature)) is not None:  # nobody shows that a program printed it
        raise ValueError(f"its signature is not passed on: {refusal.detail or 'it addresses language models'}")
    cause = _said(raw, "root_cause", notes)
    kept = [way for _, way in items(raw, "workarounds") if _is_usable(way, notes)]
    chinese = _chinese_sides(raw, kept)
    said: dict[str, Translation] = {}
    notes["import.dead_end_without_quote"] += sum(1 for _ in items(raw, "dead_ends"))
    return _unproven(
        schema_version=SCHEMA_VERSION,
        id=_entry_id(raw, signature),
        signature=signature,
        signature_zh=_gated("signature_zh", signature, text(raw, "signature_zh"), said),
        regex=_regex(text(raw, "regex"), signature, notes),
        domain=_word(raw, "domain", "domains") or "other",
        category=_word(raw, "category", "categories") or "runtime_error",
        subcategory=_word(raw, "subcategory", "subcategories"),
        root_cause=cause,
        root_cause_type="generic" if cause else None,
        root_cause_zh=_gated("root_cause_zh", cause, text(raw, "root_cause_zh"), said),
        versions=_versions(raw, notes),
        workarounds=[_workaround(way, notes) for way in kept],
        workarounds_zh=[
            _gated(f"workarounds_zh[{n}]", _short(way, "action"), chinese[n], said) for n, way in enumerate(kept)
        ],
        transition_graph=TransitionGraph(leads_to=[], preceded_by=[], frequently_confused_with=[]),
        official_doc_url=_url(raw),
        official_doc_section=_said(raw, "official_doc_section", notes),
        error_code=_said(raw, "error_code", notes),
        verification_tier="ai_generated",
        tags=sorted({tag for tag in values(raw, "tags") if isinstance(tag, str) and advice.refusal(tag) is None}),
        locale="en",
        translations=said,
        provenance=_provenance(payload, notes),
    )


def _unproven(**taken: object) -> KnowledgeEntry:
    """The entry that says what is `taken` over, and of every other field that nothing is known: null, empty, 0."""
    empty: dict[object, object] = {list: [], dict: {}, int: 0}
    kinds = {name: field.annotation for name, field in KnowledgeEntry.model_fields.items()}
    nothing = {name: empty.get(get_origin(kind) or kind) for name, kind in kinds.items()}
    return KnowledgeEntry.model_validate(nothing | taken)


def _provenance(payload: str, notes: Counter[str]) -> Provenance:
    """Where it comes from, and how many of its statements were dropped or changed by which rule."""
    return Provenance(
        rules={name: count for name, count in sorted(notes.items()) if count},
        rule_precision={},
        normaliser="",
        origin="imported",
        imported_from=hashlib.sha256(payload.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _short(raw: Raw, name: str) -> str | None:
    value = (text(raw, name) or "").strip()
    return value[:_LONGEST] or None


def _entry_id(raw: Raw, signature: str) -> str:
    given = text(raw, "id") or ""
    if _ID.fullmatch(given):
        return given
    slug = re.sub(r"[^a-z0-9]+", "-", signature.lower()).strip("-")[:60].strip("-")
    return f"{_word(raw, 'domain', 'domains') or 'other'}/{slug or 'unnamed'}"


def _word(raw: Raw, field: str, vocabulary_name: str) -> str | None:
    value = text(raw, field)
    return value if value in vocabulary.ids(vocabulary_name) else None


def _is_usable(way: Raw, notes: Counter[str]) -> bool:
    action = _short(way, "action")
    if action is None:
        notes["import.empty_action"] += 1
        return False
    refusals = (advice.refusal(_short(way, field) or "") for field in ("action", "how", "condition"))
    refusal = next(filter(None, refusals), None)
    if refusal is not None:
        notes[f"import.{refusal.reason}"] += 1
    return refusal is None


def _said(raw: Raw, name: str, notes: Counter[str]) -> str | None:
    """The words of a field that stands by itself, None if they are not passed on."""
    words = _short(raw, name)
    refusal = advice.refusal(words or "")
    if refusal is not None:
        notes[f"import.{refusal.reason}"] += 1
    return None if refusal is not None else words


def _chinese_sides(raw: Raw, kept: list[Raw]) -> list[str | None]:
    """The Chinese value that stands beside each workaround that is kept."""
    given = values(raw, "workarounds_zh")
    places = [place for place, (_, way) in enumerate(items(raw, "workarounds")) if any(way is one for one in kept)]
    return [given[place] if place < len(given) and isinstance(given[place], str) else None for place in places]


def _workaround(way: Raw, notes: Counter[str]) -> Workaround:
    sources = [source for source in values(way, "sources") if isinstance(source, str)]
    addresses = [source for source in sources if is_web_address(source)]
    notes["import.source_no_web_address"] += len(sources) - len(addresses)
    action, how = _short(way, "action") or "", _short(way, "how")
    return Workaround(
        action=action,
        action_lang="en",
        how=None if how is None or how == action else how,
        condition=_short(way, "condition"),
        success_rate=None,
        worked=0,
        failed=0,
        tier="ai_generated",
        sources=addresses,
        evidence=[],
    )


def _gated(field: str, source: str | None, chinese: str | None, said: dict[str, Translation]) -> str | None:
    """`chinese` if it passes every gate beside `source`; `said` tells how it went."""
    if source is None:
        return None
    if chinese and advice.refusal(chinese) is not None:
        chinese = None
    look = explanations.check if field == "signature_zh" else gates.check
    passed = look(source, chinese) if chinese else {}
    is_good = bool(passed) and all(passed.values()) and chinese != source
    failed = sorted(name for name, is_passed in passed.items() if not is_passed)
    reason = f"the imported value failed {', '.join(failed)}" if failed else "the imported entry has none"
    said[field] = Translation(
        status="imported_checked" if is_good else "untranslated",  # who wrote it, a person or a machine, is not known
        engine="imported" if is_good else None,
        gates=passed,
        source_lang="en",
        source_sha256=hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest(),
        reason=None if is_good else reason,
    )
    return chinese if is_good else None


def _regex(regex: str | None, signature: str, notes: Counter[str]) -> str | None:
    """`regex` with its gaps bounded, if RE2 takes it then and it still matches its signature."""
    if not regex:
        return None
    for gap in unbounded_gaps(regex):
        atom = gap[:-1] if gap[-1] in "*+" else gap[: gap.rindex("{")]
        least = "{1,200}" if gap.endswith("+") else _BOUND
        regex = regex.replace(gap, atom + least)
        notes["import.regex_bounded"] += 1
    if unbounded_gaps(regex) or compile_error(regex) is not None or not re.search(regex, signature):
        notes["import.regex_dropped"] += 1
        return None
    return regex


def _versions(raw: Raw, notes: Counter[str]) -> list[Version]:
    made: dict[str, Version] = {}
    for _, version in items(raw, "versions"):
        name = _said(version, "version", notes)
        if name:
            fields: dict[str, Any] = {
                field: _said(version, field, notes)
                for field in ("introduced", "deprecated", "removed", "behavior_change")
            }
            made[name] = Version(version=name, **fields, status="active", count=0, evidence=[])
    return [made[name] for name in sorted(made)]


def _url(raw: Raw) -> str | None:
    url = _short(raw, "official_doc_url")
    return url if url and is_web_address(url) else None
