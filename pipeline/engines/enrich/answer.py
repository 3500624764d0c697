"""The one form of an answer, checked here whatever the server promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

#: Claims of one answer that are looked at.
MOST_CLAIMS = 8

#: For the server: the common subset of what endpoints take as a strict schema, so no length and no range.
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["cause", "workaround", "no_help"]},
                    "post": {"type": "integer"},
                    "quote": {"type": "string"},
                    "statement": {"type": "string"},
                },
                "required": ["kind", "post", "quote", "statement"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["claims"],
    "additionalProperties": False,
}


class Proposal(BaseModel):
    """One claim of a model, as it stands in an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["cause", "workaround", "no_help"]
    post: int
    quote: str
    statement: str


def proposals(value: Mapping[str, object]) -> list[Proposal | None] | None:
    """The claims of an answer, None for each that has another form; None for an answer that has no list of them."""
    claims = value.get("claims")
    if not isinstance(claims, list):
        return None
    return [_proposal(claim) for claim in claims]


def _proposal(claim: object) -> Proposal | None:
    try:
        return Proposal.model_validate(claim)
    except ValidationError:
        return None
