"""Rules about remedies: said by somebody, safe to follow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.text import unsafe
from pipeline.validate.problem import Context, Finding, Raw, Rule, items, names, text, values

_REMEDIES = ("workarounds", "dead_ends")
#: Flags and environment variables: what a reader would copy.
_COPIED = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{1,80}|\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}\b")


def _remedies(raw: Raw) -> Iterator[tuple[str, Raw]]:
    for name in _REMEDIES:
        yield from items(raw, name)


def _present(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, item in _remedies(raw):
        if not (text(item, "action") or "").strip():
            yield f"{place}.action", "the action is empty"


def _adds(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, item in items(raw, "workarounds"):
        how = text(item, "how")
        if how is not None and " ".join(how.split()) == " ".join((text(item, "action") or "").split()):
            yield f"{place}.how", "how repeats the action"


def _quoted(raw: Raw, _context: Context) -> Iterator[Finding]:
    quotes = {text(piece, "evidence_id"): text(piece, "quote") or "" for _, piece in items(raw, "evidence")}
    for place, item in _remedies(raw):
        cited = " ".join(quotes.get(name, "") for name in names(item, "evidence"))
        if text(item, "tier") == "ai_generated":
            continue  # says of itself that nothing stands behind it
        for name in sorted(set(_COPIED.findall(text(item, "action") or ""))):
            if name not in cited:
                yield f"{place}.action", f"no quote behind it names {name}"


def _cited(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, item in _remedies(raw):
        if not values(item, "evidence") and text(item, "tier") != "ai_generated":
            yield f"{place}.evidence", "nobody is quoted for it"


def _safe(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, item in items(raw, "workarounds"):
        for field in ("action", "how"):
            danger = unsafe(text(item, field) or "")
            if danger:
                yield f"{place}.{field}", f"must not be recommended: {danger}"
    for n, chinese in enumerate(values(raw, "workarounds_zh")):
        danger = unsafe(chinese) if isinstance(chinese, str) else None
        if danger:
            yield f"workarounds_zh[{n}]", f"must not be recommended: {danger}"


RULES = (
    Rule("action_present", "No action is empty.", _present),
    Rule("action_cited", "Somebody is quoted for every remedy.", _cited),
    Rule("how_adds", "How says more than the action.", _adds),
    Rule("action_names_quoted", "Flags and environment variables of an action occur in its quotes.", _quoted),
    Rule("action_safe", "No workaround pipes the network to a shell, deletes, or switches checks off.", _safe),
)
