"""What a quoted remedy says beside its act: when it applies, why it failed, on which operating system.

Each is a piece of the quote, verbatim, or nothing: what a text does not say stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.distil import tables
from pipeline.records import Claim

_LEAST, _MOST = 10, 140


def condition(text: str, atoms: Iterable[str] = ()) -> str | None:
    """The clause of `text` that says when its act applies; `atoms` are the act's own words, which are no condition."""
    return _clause("condition", text, atoms)


def reason(text: str) -> str | None:
    """The clause of `text` that says why an act did not help."""
    return _clause("reason", text, ())


def _clause(name: str, text: str, atoms: Iterable[str]) -> str | None:
    found = tables.clauses(name).search(text)
    if found is None:
        return None
    clause = found.strip(" ,;")
    is_act = any(atom.lower() in clause.lower() for atom in atoms if atom)
    return clause if _LEAST <= len(clause) <= _MOST and not is_act else None


def systems(text: str) -> list[str]:
    """The operating systems for which `text` says that it speaks of them alone."""
    return sorted(name for name, pattern in tables.systems() if pattern.search(text))


def by_system(claims: Iterable[Claim]) -> dict[str, list[str]]:
    """Operating system -> the quoted causes, fixes and remedies that are said for it."""
    found: dict[str, set[str]] = {}
    for claim in claims:
        if claim.kind.is_statement and not claim.rule.startswith("hint."):
            for name in systems(claim.quote.text):
                found.setdefault(name, set()).add(claim.quote.text)
    return {name: sorted(quotes) for name, quotes in sorted(found.items())}
