"""The forms of an answer, checked here whatever the server promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

#: Claims of one answer that are looked at.
MOST_CLAIMS = 24

Kind = Literal["cause", "remedy", "fix", "worked", "failed", "refuted", "condition"]
Sure = Literal["said", "guess", "plan"]
Verdict = Literal["stands", "fragment", "elsewhere", "overtaken", "unsaid"]


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object of exactly these members: the common subset of what endpoints take as a strict schema."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_NUMBER = {"type": "integer"}
#: For the server; no length and no range, which some of them refuse.
SCHEMA: Mapping[str, Any] = _closed(
    {
        "claims": {
            "type": "array",
            "items": _closed(
                {
                    "kind": {"type": "string", "enum": list(get_args(Kind))},
                    "unit": _NUMBER,
                    "until": _NUMBER,
                    "error": _NUMBER,
                    "of": _NUMBER,
                    "sure": {"type": "string", "enum": list(get_args(Sure))},
                    "statement": {"type": "string"},
                }
            ),
        }
    }
)
JUDGE_SCHEMA: Mapping[str, Any] = _closed(
    {
        "verdicts": {
            "type": "array",
            "items": _closed({"statement": _NUMBER, "verdict": {"type": "string", "enum": list(get_args(Verdict))}}),
        }
    }
)
CHECK_SCHEMA: Mapping[str, Any] = _closed({"answer": {"type": "string", "enum": ["yes", "no", "unclear"]}})


class Proposal(BaseModel):
    """One claim of a model, as it stands in an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Kind
    unit: int
    until: int
    error: int
    of: int
    sure: Sure
    statement: str


class Judged(BaseModel):
    """The verdict on one statement, as it stands in an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    statement: int
    verdict: Verdict


def proposals(value: Mapping[str, object]) -> list[Proposal | None] | None:
    """The claims of an answer, None for each that has another form; None for an answer that has no list of them."""
    claims = value.get("claims")
    if not isinstance(claims, list):
        return None
    return [_proposal(claim) for claim in claims]


def verdicts(value: Mapping[str, object]) -> dict[int, Verdict] | None:
    """The verdict on each statement, by its number; none on one that has two. None for an answer without a list."""
    told = value.get("verdicts")
    if not isinstance(told, list):
        return None
    found: dict[int, set[Verdict]] = {}
    for one in told:
        try:
            each = Judged.model_validate(one)
        except ValidationError:
            continue
        found.setdefault(each.statement, set()).add(each.verdict)
    return {number: said.pop() for number, said in found.items() if len(said) == 1}


def _proposal(claim: object) -> Proposal | None:
    try:
        return Proposal.model_validate(claim)
    except ValidationError:
        return None
