"""Failures that a sentence names: an abort or an assertion failure in a qualified C++ function."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extract.rule import Block, Rule, compiled

_RULE = Rule("cpp-named", "cpp-prose", (), compiled(r"(?!)"))

#: Narrow on purpose: the words for the failure, "in" or "at", right before a name with `::`.
_WHAT = re.compile(
    r"\b(?P<what>assertion failures?|assertion (?:fails|failed)|assert failures?|aborts?|segfaults?|crash(?:es)?) "
    r"(?:in|at) ?[`'\"*]{0,2}$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:[A-Za-z_]\w{1,60}::){1,5}~?[A-Za-z_]\w{1,80}")
_KINDS = (("assert", "assertion failure"), ("abort", "abort"), ("seg", "segmentation fault"), ("crash", "crash"))
#: One of these stands in every text that the pattern could match; they spare the others the look at each name.
_WORDINGS = tuple(
    f"{word} {preposition}"
    for word in ("failure", "failures", " fails", " failed", "bort", "borts", "egfault", "egfaults", "rash", "rashes")
    for preposition in ("in", "at")
)
#: The longest part of a name, and the longest wording before it.
_PART, _WORDING = 62, 40


def blocks(text: str) -> Iterator[Block]:
    """One block for each C++ function that a sentence says the program died in; each function once."""
    if "::" not in text or not any(wording in text for wording in _WORDINGS):
        return
    seen: set[str] = set()
    at = text.find("::")
    while at >= 0:
        start = _name_start(text, at)
        name = _NAME.match(text, start)
        end = name.end() if name else at + 2
        what = _WHAT.search(text, max(start - _WORDING, 0), start)
        if name and what and name[0] not in seen:
            seen.add(name[0])
            yield _block(what, name)
        at = text.find("::", max(end, at + 2))


def _name_start(text: str, at: int) -> int:
    """Where the identifier that ends at `at` begins."""
    start = at
    while start > max(at - _PART, 0) and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return start


def _block(what: re.Match[str], name: re.Match[str]) -> Block:
    label = next(label for stem, label in _KINDS if what["what"].lower().startswith(stem))
    return Block(rule=_RULE, start=what.start(), end=name.end(), message=f"{label} in {name[0]}", function=name[0])
