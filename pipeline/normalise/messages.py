"""Rows of families made of sentences that programs print, as data: `cannot reassign constexpr {} in the loop`.

A sentence stands in the source of a program with holes for values; written down so, it says which error it is whatever
the values are and whatever people wrote around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

#: What a hole holds: something on one line, as short as what follows it allows.
HOLE = r"[^\n]{0,200}?"

#: What stands in a hole of an example.
SAMPLE = "x_1"

_HOLE = re.compile(r"\{(\w*)\}")
_QUOTES = "'\"`"
_QUOTE = re.compile(f"[{_QUOTES}]")
_ANY_QUOTE = "['\"`‘’“”]{0,2}"
_KEYS = frozenset({"op", "symbol", "library", "module", "resource", "space", "backend", "feature", "tool", "status"})


class Said(NamedTuple):
    """One error as a table of sentences gives it."""

    tier: str
    wordings: Sequence[str]  # the present one first
    gate: Mapping[str, str]  # empty where the sentence makes it


def rows(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row of a family for every sentence of the table; sentences in one list are wordings of one error."""
    for program in table["program"]:
        for error in errors(program):
            for wording in error.wordings:
                gate = error.gate or _gate(wording, error.wordings[0])
                yield {"id": program.get("kind", f"{program['id']}-message"), **_row(wording, error.tier, gate)}


def errors(program: Mapping[str, Any]) -> Iterator[Said]:
    """What is written of every error of a program: a sentence, a list of its wordings, or a table with more."""
    for entry in program["messages"]:
        table: Mapping[str, Any] = entry if isinstance(entry, dict) else {"says": entry}
        said = table["says"]
        yield Said(
            tier=table.get("tier", program.get("tier", "root")),
            wordings=[said] if isinstance(said, str) else said,
            gate=table.get("gate", {}),
        )


def _gate(wording: str, first: str) -> dict[str, str]:
    gate = {name: f"{{{name}}}" for name in _HOLE.findall(wording) if name in _KEYS}
    gate["feature" if "feature" not in gate else "status"] = " ".join(_HOLE.sub("_", first).split())
    return gate


def _row(wording: str, tier: str, gate: Mapping[str, str]) -> dict[str, Any]:
    return {
        "tier": tier,
        "need": [_need(wording)],
        "pattern": pattern(wording),
        "gate": dict(gate),
        "complete": True,
        "examples": [_HOLE.sub(SAMPLE, wording)],
    }


def pattern(wording: str) -> str:
    """The expression that finds the sentence: values in its holes, any blanks and quotes, either case first."""
    first, *rest = _HOLE.split(wording)
    made = _literal(first, is_first=True)
    for name, words in zip(rest[::2], rest[1::2], strict=True):
        after = _literal(words, is_first=False)
        if name in _KEYS:
            made += f"(?P<{name}>[\\w.:<>+-]{{0,99}}[\\w>+]){after}"
        else:
            made += f"(?>{HOLE}{after})" if words else ""  # what was found is not given back: the cost is linear
    return made


def _literal(words: str, *, is_first: bool) -> str:
    made = _QUOTE.sub(_ANY_QUOTE, re.escape(words).replace("\\ ", r"\s{1,12}"))
    return f"\\b[{words[0].upper()}{words[0].lower()}]{made[1:]}" if is_first and words[:1].isalpha() else made


def _need(wording: str) -> str:
    """The longest run of words without a hole or a quote: what gates the expression."""
    pieces: Sequence[str] = re.split(rf"\{{\w*\}}|[{_QUOTES}]", wording)
    return max((piece.strip(" .,:;()[]") for piece in pieces), key=len).lower()
