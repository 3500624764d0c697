"""Failures that a sentence names: an abort or an assertion failure in a qualified C++ function."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extract.rule import Block, Rule, compiled

_RULE = Rule("cpp-named", "cpp-prose", (), compiled(r"(?!)"))

#: Narrow on purpose: the words for the failure, "in" or "at", and a name with `::` in CamelCase.
_NAMED = re.compile(
    r"\b(?P<what>assertion failures?|assertion (?:fails|failed)|assert(?:s|ed)? failures?|aborts?|segfaults?|crash(?:es)?) "
    r"(?:in|at|inside|from) ?[`'\"*]{0,2}(?P<name>(?:[A-Za-z_]\w{1,60}::){1,5}~?[A-Za-z_]\w{1,80})",
    re.IGNORECASE,
)
_KINDS = (("assert", "assertion failure"), ("abort", "abort"), ("seg", "segmentation fault"), ("crash", "crash"))
_WORDS = ("ssert", "ssertion", "abort", "egfault", "crash")


def blocks(text: str) -> Iterator[Block]:
    """One block for each C++ function that a sentence says the program died in; each function once."""
    if "::" not in text or not any(word in text for word in _WORDS):
        return
    seen: set[str] = set()
    for match in _NAMED.finditer(text):
        if match["name"] in seen:
            continue
        seen.add(match["name"])
        what = next(label for stem, label in _KINDS if match["what"].lower().startswith(stem))
        yield Block(
            rule=_RULE,
            start=match.start(),
            end=match.end(),
            message=f"{what} in {match['name']}",
            function=match["name"],
        )
