"""Which known error a text is: the ordered tiers of families, with the codes between them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pipeline.lexicon.codes import Mention, code_of
from pipeline.normalise import peel
from pipeline.normalise.masks import printed, slot
from pipeline.normalise.tables import Clues, Family, wording
from pipeline.records import Slot, warm

#: How much of a message is searched for a tool's words; a longer one is a log, and its end is not its message.
TOOL_SEARCHED = 6000

#: How much is searched for everything else: longer details are listings (buffer statistics, layer tables).
SEARCHED = 1500

#: The list in which every code is one error, but for those named as absl's statuses are.
XLA = "xla:"

#: The group of a tool's own words: what it prints in quotes is a value, the rest says which error it is.
PRINTED = "printed"

#: Gates that hold words as a program prints them.
_SENTENCES = frozenset({"feature", "assertion"})
_AMOUNTS = frozenset({"required", "limit", "bytes"})
#: What an assertion says beside its condition.
_SAID = warm.pattern(r"([^\"\n]{1,400}?) ?&& ?\"[^\n]*\Z")
_RELATION = warm.pattern(r" ?(==|!=|<=|>=|&&|\|\||(?<![<>=!-])[<>](?![<>=])) ?")
#: A cast, which compilers' warnings make releases add.
_CAST = warm.pattern(r"\b(?:static|reinterpret)_cast<[\w: *&]{1,60}>\((?P<what>[^()]{1,120}(?:\([^()]{0,60}\))?)\)")
_GROUP = warm.pattern(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Hit:
    """A known error: what it is, where its words stand in the searched text, and its typed parameters."""

    rule: str
    tier: str
    gate: tuple[tuple[str, str], ...]
    is_complete: bool
    is_typed: bool
    start: int
    end: int
    slots: tuple[Slot, ...]
    kept: frozenset[str]  # words that decided; the template keeps them


def tool_error(text: str, found: Clues) -> Hit | None:
    """The first tool diagnostic in the text: assemblers, compilers and device asserts come before any traceback."""
    text = text[:TOOL_SEARCHED]
    hits = [(family, match) for family in found.families["tool"] if (match := family.pattern.search(text))]
    first = min(hits, key=lambda hit: _place(text, *hit), default=None)
    return _hit(*first) if first is not None else None


def _place(text: str, family: Family, found: re.Match[str]) -> tuple[int, bool, int]:
    """How early a diagnostic stands: its line first, then rows that know it before those that know its tool only."""
    return text.rfind("\n", 0, found.start()), PRINTED in family.pattern.groupindex, found.start()


def known_error(text: str, found: Clues, *, wraps: bool = False) -> Hit | None:
    """The known error that the text is. Its first line counts before the rest, so no hint outranks the message.

    What stopped a build or a run stands behind every error: below the first line it is looked for only in an
    exception that `wraps` another one.
    """
    text = text[:SEARCHED]
    rows = found.families
    head, newline, _ = text.partition("\n")
    hit = _of(head, rows) or _in(head, (*rows["head"], *rows["late"], *rows["wrapper"]))
    if hit is not None and hit.tier != "wrapper":
        return hit
    if newline:
        return _of(text, rows) or hit or _in(text, (*rows["late"], *(rows["wrapper"] if wraps else ())))
    return hit


def official_code(codes: Sequence[str]) -> Hit | None:
    """The code by which the program itself names its error in the vendor's list, if it names exactly one."""
    official = sorted({code for code in codes if code.startswith(XLA)})
    return _coded(Mention(official[0], 0, 0)) if len(official) == 1 else None


def _of(text: str, rows: Mapping[str, Sequence[Family]]) -> Hit | None:
    return _in(text, rows["early"]) or _code(text) or _in(text, rows["root"])


def _in(text: str, rows: Sequence[Family]) -> Hit | None:
    for family in rows:
        found = family.pattern.search(text)
        if found is not None:
            return _hit(family, found)
    return None


def _code(text: str) -> Hit | None:
    found = code_of(text)
    return _coded(found) if found is not None else None


def _coded(found: Mention) -> Hit:
    """The hit of a code; XLA's are of one kind, but for those that a family knows by their words."""
    plain = {"code": found.code} | ({"kind": "xla-code"} if found.code.startswith(XLA) else {})
    gate = wording().official.get(found.code, plain)
    slots = tuple(slot(name, value, "byte" if name in _AMOUNTS else None) for name, value in found.values)
    return Hit("code", "code", tuple(sorted(gate.items())), True, False, found.start, found.start, slots, frozenset())


def _hit(family: Family, found: re.Match[str]) -> Hit:
    values = {name: value or "" for name, value in found.groupdict().items()}
    if PRINTED in values:
        values[PRINTED] = printed(values[PRINTED])
    used = {name for _, template in family.gate for name in _GROUP.findall(template)} | set(family.kept)
    gate = [("kind", family.family_id)]
    gate += [(key, _value(key, template, values)) for key, template in family.gate]
    unit = family.unit if isinstance(family.unit, str) else (family.unit or {}).get(dict(gate).get("resource", ""))
    slots = tuple(
        slot(name, value, unit if name in _AMOUNTS else None)
        for name, value in values.items()
        if value and name not in used and name not in ("rest", PRINTED)
    )
    return Hit(
        rule=family.family_id,
        tier=family.tier,
        gate=tuple(sorted(pair for pair in gate if pair[1])),
        is_complete=family.is_complete,
        is_typed=family.is_typed,
        start=found.start(),
        end=found.end(),
        slots=slots,
        kept=frozenset(values[name] for name in used if values.get(name)),
    )


def _value(key: str, template: str, values: dict[str, str]) -> str:
    filled = _GROUP.sub(lambda group: values.get(group[1], ""), template)
    squeezed = " ".join(filled.split())
    if filled != template:
        squeezed = peel.without_added(peel.without_markup(squeezed)) if key in _SENTENCES else squeezed.rstrip(".,;:")
    if "{condition}" in template:
        said = _SAID.match(squeezed)  # kernels reword it, or it is cut
        squeezed = said[1] if said is not None else squeezed
    if key == "assertion":
        squeezed = _condition(squeezed)
    return wording().alias.get(key, {}).get(squeezed.lower(), squeezed)


def _condition(assertion: str) -> str:
    """An assertion's condition without what stands around it: `(n>0) is false"` gives `n > 0`."""
    for quote in "\"'`":
        if assertion.endswith(quote) and assertion.count(quote) % 2:
            assertion = assertion[:-1].rstrip()
    inner = _CAST.sub(r"\g<what>", assertion.removesuffix(" is false"))
    inner = _RELATION.sub(r" \1 ", inner)
    return inner[1:-1] if _is_bracketed(inner) else inner


def _is_bracketed(text: str) -> bool:
    """Whether one pair of brackets holds all of it: `(a) && (b)` is not."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = list(accumulate({"(": 1, ")": -1}.get(letter, 0) for letter in text))
    return depth[-1] == 0 and min(depth[:-1]) > 0
