"""What an entry's statements are called and how they are laid out: decided once, for pages of every form."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.records.entry import (
    CaseStatement,
    DeadEnd,
    Evidence,
    Standing,
    Workaround,
    remedy_standing,
    statement_label,
)

_OUTCOMES = frozenset({"worked", "failed"})


def kind_of(statement: CaseStatement) -> str:
    """What a case's statement is called."""
    return statement_label(statement.kind, statement.worked, statement.tier)


def standing_of(remedy: Workaround) -> Standing:
    """As what a remedy stands: confirmed, documented, fixed, replied (by a reply alone) or suggested."""
    return remedy_standing(remedy.worked, remedy.tier, (one.outcome for one in remedy.replies))


def is_block(action: str, how: str | None) -> bool:
    """Whether `how` is the block that the action announces; words that only say it once more are in the quotes."""
    if not how:
        return False
    return "\n" in how or action.rstrip().endswith((":", "："))


def outcomes(remedy: Workaround | DeadEnd | CaseStatement, evidence: Iterable[Evidence]) -> dict[str, str]:
    """How it ended by the URL of who says so, "worked" or "failed", where it was not the same for all; else nothing.

    A post that says both counts by what failed in it.
    """
    if not (remedy.worked and remedy.failed):
        return {}
    told = [piece for piece in evidence if piece.evidence_id in remedy.evidence and piece.role in _OUTCOMES]
    return {piece.url: piece.role for piece in sorted(told, key=lambda piece: piece.role == "failed")}
