"""The evidence of a draft, each piece once, and the environment and versions that it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, cast

from pipeline.distil.material import DocumentFacts, Occurrence
from pipeline.records import Claim, ClaimKind, DocumentKind, Quote, Role, Slot, content_id
from pipeline.records.entry import Environment, Evidence, Parameter, Version

# The evidence of one entry while it is being made: every quote once, with an id that others refer to.

Kind = Literal["issue", "pull", "doc"]


class Ledger:
    """Collects evidence; equal (document, span, role) is one piece, whoever found it first."""

    def __init__(self, documents: dict[str, DocumentFacts]) -> None:
        self._documents = documents
        self._kept: dict[str, Evidence] = {}
        self.rules: Counter[str] = Counter()

    def add(self, role: Role, quote: Quote, rule: str) -> str:
        """The id of the evidence for `quote` in `role`."""
        evidence_id = content_id("evidence", quote.document_id, str(quote.start), str(quote.end), role)
        if evidence_id not in self._kept:
            self._kept[evidence_id] = self._evidence(evidence_id, role, quote, rule)
            self.rules[rule] += 1
        return evidence_id

    def __getitem__(self, evidence_id: str) -> Evidence:
        return self._kept[evidence_id]

    def all(self) -> tuple[Evidence, ...]:
        """Every piece, by document, place and role."""
        return tuple(sorted(self._kept.values(), key=lambda e: (e.document_id, e.start, e.end, e.role)))

    def documents(self, evidence_ids: tuple[str, ...]) -> int:
        """How many distinct documents the pieces named are from."""
        return len({self._kept[i].document_id for i in evidence_ids})

    def urls(self, evidence_ids: tuple[str, ...]) -> tuple[str, ...]:
        """The distinct addresses of the pieces named, sorted."""
        return tuple(sorted({self._kept[i].url for i in evidence_ids}))

    def _evidence(self, evidence_id: str, role: Role, quote: Quote, rule: str) -> Evidence:
        document = self._documents.get(quote.document_id)
        kind = DocumentKind.DOC if document is None or document.kind == DocumentKind.ENTRY else document.kind
        return Evidence(
            evidence_id=evidence_id,
            role=role,
            url=quote.url,
            kind=cast("Kind", kind.value),
            document_id=quote.document_id,
            repo=document.repo if document else None,
            number=document.number if document else None,
            state=document.state if document else None,
            posted_at=quote.posted_at or (document.opened_at if document and role == "occurrence" else None),
            author_role=quote.author_role,
            quote=quote.text,
            quote_lang=quote.lang,
            start=quote.start,
            end=quote.end,
            raw_sha256=quote.raw_sha256,
            rule=rule,
        )


# Versions, environment and parameters of an entry, counted in documents.

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
