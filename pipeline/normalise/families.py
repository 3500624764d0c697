"""Which known error a text is: the ordered tiers of families, with the codes between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.normalise import codes
from pipeline.normalise.masks import slot
from pipeline.normalise.tables import Family, families, wording
from pipeline.records import Slot

#: How much of a message is searched for a tool's words; a longer one is a log, and its end is not its message.
TOOL_SEARCHED = 6000

#: How much is searched for everything else: longer details are listings (buffer statistics, layer tables).
SEARCHED = 1500

_GROUP = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Hit:
    """A known error: what it is, where its words stand in the searched text, and its typed parameters."""

    rule: str
    tier: str
    gate: tuple[tuple[str, str], ...]
    is_complete: bool
    start: int
    end: int
    slots: tuple[Slot, ...]
    kept: frozenset[str]  # words that decided; the template keeps them


def tool_error(text: str) -> Hit | None:
    """The first tool diagnostic in the text: assemblers, compilers and device asserts come before any traceback."""
    text = text[:TOOL_SEARCHED]
    lowered = text.lower()
    found: Hit | None = None
    for family in _possible("tool", lowered):
        match = family.pattern.search(text)
        if match is not None and (found is None or match.start() < found.start):
            found = _hit(family, match)
    return found


def known_error(text: str) -> Hit | None:
    """The known error that the text is. Its first line counts before the rest, so no hint outranks the message."""
    text = text[:SEARCHED]
    lowered = text.lower()
    early, later = _possible("early", lowered), _possible("root", lowered)
    weak = (*_possible("late", lowered), *_possible("wrapper", lowered))
    head, newline, _ = text.partition("\n")
    hit = _of(head, early, later) or _in(head, (*_possible("head", head.lower()), *weak))
    if hit is not None and hit.tier != "wrapper":
        return hit
    if newline:
        return _of(text, early, later) or hit or _in(text, weak)
    return hit


def _of(text: str, early: Sequence[Family], later: Sequence[Family]) -> Hit | None:
    return _in(text, early) or _code(text) or _in(text, later)


def _possible(tier: str, lowered: str) -> list[Family]:
    return [family for family in families()[tier] if any(need in lowered for need in family.needs)]


def _in(text: str, rows: Sequence[Family]) -> Hit | None:
    for family in rows:
        found = family.pattern.search(text)
        if found is not None:
            return _hit(family, found)
    return None


def _code(text: str) -> Hit | None:
    found = codes.code_in(text)
    if found is None:
        return None
    code, start = found
    return Hit("code", "code", (("code", code),), True, start, start, (), frozenset())


def _hit(family: Family, found: re.Match[str]) -> Hit:
    values = {name: value or "" for name, value in found.groupdict().items()}
    used = {name for _, template in family.gate for name in _GROUP.findall(template)}
    gate = [("kind", family.family_id)]
    gate += [(key, _value(template, values)) for key, template in family.gate]
    slots = tuple(slot(name, value) for name, value in values.items() if value and name not in used and name != "rest")
    return Hit(
        rule=family.family_id,
        tier=family.tier,
        gate=tuple(sorted(pair for pair in gate if pair[1])),
        is_complete=family.is_complete,
        start=found.start(),
        end=found.end(),
        slots=slots,
        kept=frozenset(values[name] for name in used if values.get(name)),
    )


def _value(template: str, values: dict[str, str]) -> str:
    filled = _GROUP.sub(lambda group: values.get(group[1], ""), template)
    squeezed = " ".join(filled.split())
    return wording().alias.get(squeezed.lower(), squeezed)
