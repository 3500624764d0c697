"""Rows of families made of sentences that programs print, as data: `cannot reassign constexpr {} in the loop`.

A sentence stands in the source of a program with holes for values; written down so, it says which error it is whatever
the values are and whatever people wrote around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: What a hole holds: something on one line, as short as what follows it allows.
HOLE = r"[^\n]{0,200}?"

#: What stands in a hole of an example.
SAMPLE = "x_1"

_HOLE = re.compile(r"\{(\w*)\}")
_QUOTES = "'\"`"
_ANY_QUOTE = "['\"`‘’“”]{0,2}"
_KEYS = frozenset({"op", "symbol", "library", "module", "resource", "space", "backend", "feature", "tool", "code"})


def rows(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row of a family for every sentence of the table; sentences in one list are wordings of one error."""
    for program in table["program"]:
        for tier, wordings in errors(program):
            for wording in wordings:
                yield {"id": f"{program['id']}-message", "tier": tier, **_row(wording, wordings[0])}


def errors(program: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The tier and the wordings of every error of a program."""
    for entry in program["messages"]:
        said = entry["says"] if isinstance(entry, dict) else entry
        tier = (entry if isinstance(entry, dict) else program).get("tier", "root")
        yield tier, [said] if isinstance(said, str) else said


def _row(wording: str, first: str) -> dict[str, Any]:
    gate = {name: f"{{{name}}}" for name in _HOLE.findall(wording) if name in _KEYS}
    gate["feature" if "feature" not in gate else "status"] = " ".join(_HOLE.sub("_", first).split())
    return {
        "need": [_need(wording)],
        "pattern": pattern(wording),
        "gate": gate,
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
    made = []
    for number, letter in enumerate(words):
        if letter in _QUOTES:
            made.append(_ANY_QUOTE)
        elif letter == " ":
            made.append(r"\s{1,12}")
        elif is_first and number == 0 and letter.isalpha():
            made.append(f"\\b[{letter.upper()}{letter.lower()}]")
        else:
            made.append(re.escape(letter))
    return "".join(made)


def _need(wording: str) -> str:
    """The longest run of words without a hole or a quote: what gates the expression."""
    pieces: Sequence[str] = re.split(rf"\{{\w*\}}|[{_QUOTES}]", wording)
    return max((piece.strip(" .,:;()[]") for piece in pieces), key=len).lower()
