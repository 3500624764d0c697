"""Which known error a text is: the ordered tiers of families, with the codes between them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.normalise import codes
from pipeline.normalise.masks import slot
from pipeline.normalise.tables import Family, families, wording
from pipeline.records import Slot

#: How much of a message is searched; a longer one is a log, and its end is not its message.
SEARCHED = 6000

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
    return _first(("tool",), text[:SEARCHED])


def known_error(text: str) -> Hit | None:
    """The known error that the text is, None if it is none."""
    text = text[:SEARCHED]
    lowered = text.lower()
    return _in_tier("early", text, lowered) or _code(text) or _first(("root", "late", "wrapper", "warning"), text, lowered)


def _first(tiers: Iterable[str], text: str, lowered: str | None = None) -> Hit | None:
    lowered = text.lower() if lowered is None else lowered
    for tier in tiers:
        hit = _in_tier(tier, text, lowered)
        if hit is not None:
            return hit
    return None


def _in_tier(tier: str, text: str, lowered: str) -> Hit | None:
    for family in families()[tier]:
        for need in family.needs:
            if need in lowered:
                found = family.pattern.search(text)
                if found is not None:
                    return _hit(family, found)
                break
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
