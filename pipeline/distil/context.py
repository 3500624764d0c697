"""Versions, environment and parameters of an entry, counted in documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from pipeline.distil.ledger import Ledger
from pipeline.distil.material import Occurrence
from pipeline.records import Claim, ClaimKind, Slot
from pipeline.records.entry import Environment, Parameter, Version

#: An entry names at most this many versions and facts about machines, most frequent first: the tail of a big cluster
#: says nothing that the head does not.
MOST_ROWS = 25
_MOST_VALUES = 20  # the published record's limit

#: Slots that name things of one machine or one text: they vary, and say nothing.
_SILENT = frozenset(
    [
        "path",
        "hex",
        "url",
        "quoted",
        "name",
        "pid",
        "line",
        "time",
        "n",
        "object",
        "what",
        "code",
        "status",
        "errno",
        "error",
        "signal",
        "thread",
        "host",
        "port",
        "user",
        "symbol",
        "version",
    ]
)

_Key = tuple[str, str]


def _grouped(
    claims: Sequence[Claim], kind: ClaimKind, keyed: Callable[[dict[str, str], str], _Key | None]
) -> dict[_Key, list[Claim]]:
    found: dict[_Key, list[Claim]] = {}
    for claim in claims:
        if claim.kind == kind and claim.fact is not None:
            key = keyed(dict(claim.fact.slots), claim.fact.template)
            if key is not None:
                found.setdefault(key, []).append(claim)
    return found


def _most(found: dict[_Key, list[Claim]]) -> list[_Key]:
    counts = {key: len({c.quote.document_id for c in group}) for key, group in found.items()}
    return sorted(sorted(found, key=lambda key: (-counts[key], key))[:MOST_ROWS])


def versions(claims: Sequence[Claim], ledger: Ledger) -> tuple[Version, ...]:
    """The versions in which the error was seen, introduced or fixed; fixes come from fix claims with a release."""
    found = _grouped(claims, ClaimKind.VERSION, lambda s, t: (f"{s['product']} {s['version']}", t.rpartition(".")[2]))
    fixed = _grouped(
        claims, ClaimKind.FIX, lambda s, t: (f"{s['package']} {s['version']}", "fixed") if t == "fix.released" else None
    )
    affected = {key: group for key, group in found.items() if key[1] == "affected"}
    told = {key: group for key, group in (found | fixed).items() if key[1] != "affected"}
    rows = []
    for key in sorted({*_most(affected), *_most(told)}):
        group = (found | fixed)[key]
        ids = sorted({ledger.add("fix" if key[1] == "fixed" else "version", c.quote, c.rule) for c in group})
        rows.append(
            Version(
                version=key[0],
                introduced=key[0].rpartition(" ")[2] if key[1] == "introduced" else None,
                deprecated=None,
                removed=None,
                behavior_change=None,
                status="fixed" if key[1] == "fixed" else "affected",
                count=ledger.documents(tuple(ids)),
                evidence=ids,
            )
        )
    return tuple(rows)


def environment(claims: Sequence[Claim], ledger: Ledger) -> tuple[Environment, ...]:
    """Where it was seen: (name, value) with the documents that say so."""
    found = _grouped(claims, ClaimKind.ENVIRONMENT, lambda s, _: (s["name"], s["value"]))
    rows = []
    for name, value in _most(found):
        ids = sorted({ledger.add("environment", c.quote, c.rule) for c in found[name, value]})
        rows.append(Environment(name=name, value=value, count=ledger.documents(tuple(ids)), evidence=ids))
    return tuple(rows)


def parameters(occurrences: Sequence[Occurrence]) -> tuple[Parameter, ...]:
    """What varied between the occurrences, as numbers and as printed."""
    slots: dict[tuple[str, str], list[Slot]] = {}
    for occurrence in occurrences:
        for slot in occurrence.slots:
            if slot.name not in _SILENT and slot.name.isidentifier():
                slots.setdefault((slot.name, slot.unit or ""), []).append(slot)
    return tuple(_parameter(name, unit, slots[name, unit]) for name, unit in sorted(slots))


def _parameter(name: str, unit: str, slots: Sequence[Slot]) -> Parameter:
    numbers = [slot.number for slot in slots if slot.number is not None]
    values = Counter(slot.value[:80] for slot in slots)
    return Parameter(
        name=name,
        unit=unit or None,
        least=min(numbers, default=None),
        greatest=max(numbers, default=None),
        values=sorted(values, key=lambda v: (-values[v], v))[:_MOST_VALUES],
        count=len(slots),
    )
