"""Texts that are the same words but for values: one has a slot where the other has words that no mask knew.

"Variable <path> already exists, disallowed" and "Variable shared_embedding already exists, disallowed" are one error:
what a mask took out of one text is a value in the other as well. Nothing is fuzzy here: every other word is the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.cluster.shapes import SLOT_CHARACTER, Shape, tokens
from pipeline.cluster.words import is_deciding, weight, without_system

#: Words that one slot may stand for: "inf, nan" where another text shows a quoted value.
SLOT_WORDS = 3
#: Telling words that both texts share at least; fewer are said of many things.
SHARED_WORDS = 3
#: Longest text that is aligned, in words; a longer one is data.
ALIGNED_WORDS = 60


def is_same(one: Shape, other: Shape) -> bool:
    """Whether the texts are equal word for word, where a slot of either stands for up to SLOT_WORDS of the other."""
    own, its = one.words - other.words, other.words - one.words
    room, its_room = (SLOT_WORDS * shape.tokens.count(SLOT_CHARACTER) for shape in (other, one))
    if len(own) > room or len(its) > its_room:
        return False
    if max(len(one.tokens), len(other.tokens)) > ALIGNED_WORDS or _shared(one, other) < SHARED_WORDS:
        return False
    return not any(map(is_deciding, own | its)) and _meets(one.tokens, other.tokens, own | its)


def _shared(one: Shape, other: Shape) -> int:
    """How many telling words both texts have that are their programs' own."""
    shared = one.words & other.words
    return weight(shared & frozenset(tokens(without_system(one.text)))) if weight(shared) >= SHARED_WORDS else 0


def _meets(one: tuple[str, ...], other: tuple[str, ...], values: frozenset[str]) -> bool:
    """Whether both can be read to their ends together; only words of `values` may stand where the other has a slot."""
    seen = {(0, 0)}
    todo = [(0, 0)]
    while todo:
        here, there = todo.pop()
        if here == len(one) and there == len(other):
            return True
        if here < len(one) and there < len(other):
            steps = {(here + 1, there + 1)} if one[here] == other[there] else set()
            if one[here] == SLOT_CHARACTER:
                steps.update((here + 1, end) for end in _ends(other, there, values))
            if other[there] == SLOT_CHARACTER:
                steps.update((end, there + 1) for end in _ends(one, here, values))
            todo.extend(steps - seen)
            seen |= steps
    return False


def _ends(tokens: tuple[str, ...], start: int, values: frozenset[str]) -> Iterator[int]:
    """The places at which a slot that begins at `start` may end."""
    for place in range(start, min(start + SLOT_WORDS, len(tokens))):
        if tokens[place] not in values:
            return
        yield place + 1
