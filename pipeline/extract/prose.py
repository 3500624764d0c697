"""Failures that a sentence names: an abort or an assertion failure in a qualified C++ function."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extract.rule import Block, Rule, compiled
from pipeline.text.literals import Seen

_RULE = Rule("cpp-named", "cpp-prose", (), compiled(r"(?!)"))

#: Narrow on purpose: the word for the failure, "in" or "at", and right behind it a name with `::`.
_FAILURE = re.compile(
    r"(?:ssertion fail(?:ures?|s|ed)|ssert failures?|borts?|egfaults?|rash(?:es)?) (?:in|at) ?[`'\"*]{0,2}"
    r"(?P<name>(?:[A-Za-z_]\w{1,60}::){1,5}~?[A-Za-z_]\w{1,80})"
)
#: The stem that is searched, the letter before it, and what the message calls it.
_STEMS = (
    ("ssert", "aA", "assertion failure"),
    ("bort", "aA", "abort"),
    ("egfault", "sS", "segmentation fault"),
    ("rash", "cC", "crash"),
)


LITERALS = tuple(stem for stem, _, _ in _STEMS)


def blocks(text: str, seen: Seen) -> Iterator[Block]:
    """One block for each C++ function that a sentence says the program died in; each function once."""
    named: set[str] = set()
    for stem, initials, label in _STEMS:
        for at in seen.get(stem, ()):
            match = _FAILURE.match(text, at) if at and text[at - 1] in initials else None
            if match and match["name"] not in named:
                named.add(match["name"])
                name = match["name"]
                yield Block(rule=_RULE, start=at - 1, end=match.end(), message=f"{label} in {name}", function=name)
