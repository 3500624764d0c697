"""Cut texts: they join the one cluster that continues them, and found a group only where nothing does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz

from pipeline.cluster.contained import Gate, hard
from pipeline.cluster.leaders import CUTOFF
from pipeline.cluster.shapes import SLOT_CHARACTER, Shape, tokens
from pipeline.cluster.untyped import bare
from pipeline.cluster.words import conflict

#: A cut text of fewer words continues into anything. Chosen: "CUDA error: an" says nothing yet.
LEAST_WORDS = 3
#: Words that the beginnings must share before a comparison is made.
KEY_TOKENS = 2
#: Full texts compared with one cut text: bounds the cost where thousands begin alike.
COMPARED_TEXTS = 256


class Beginnings:
    """Full texts by hard gate and first words: where a cut text finds what continues it.

    Gates that come from words may have been cut off with the words, an exception type stands before few of them.
    """

    def __init__(self) -> None:
        self._texts: dict[tuple[Gate, tuple[str, ...]], list[tuple[int, Shape]]] = {}

    def add(self, gate: Gate, group: int, shape: Shape) -> None:
        """Make a text of a group findable; texts of higher rank must come first."""
        own = bare(gate, shape)
        self._texts.setdefault((hard(gate), own.tokens[:KEY_TOKENS]), []).append((group, own))

    def best(self, gate: Gate, shape: Shape) -> tuple[int, float] | None:
        """The group that alone continues a cut text, with the score of the shared part; None if none or several do."""
        cut = bare(gate, shape)
        if len(cut.words) < LEAST_WORDS:
            return None
        found: dict[int, float] = {}
        for group, full in self._texts.get((hard(gate), cut.tokens[:KEY_TOKENS]), [])[:COMPARED_TEXTS]:
            score = prefix_score(cut, full)
            if score > found.get(group, 0.0):
                found[group] = score
        ranked = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        if not ranked or (len(ranked) > 1 and ranked[1][1] == ranked[0][1]):
            return None
        return ranked[0]


def prefix_score(cut: Shape, full: Shape) -> float:
    """How much a cut text is the beginning of a full one, 0 where it is not: under the cutoff or by a word."""
    if len(full.text) < len(cut.text):
        return 0.0
    head = full.text[: len(cut.text)]
    score = fuzz.ratio(cut.text, head, score_cutoff=CUTOFF)
    return score if score and not conflict(_without_last(cut.tokens), _without_last(tokens(head))) else 0.0


def _without_last(parts: tuple[str, ...]) -> Shape:
    """The shape of the words but the last, which may be half a word."""
    kept = parts[:-1]
    return Shape("", kept, frozenset(kept) - {SLOT_CHARACTER})


def join(
    cut: Iterable[int], shapes: Sequence[Shape], gates: Sequence[Gate], beginnings: Beginnings
) -> dict[int, tuple[int, float]]:
    """For each cut text the group it joins and the score; itself and 0 where it stands alone, longest first."""
    found: dict[int, tuple[int, float]] = {}
    for position in sorted(cut, key=lambda place: (-len(bare(gates[place], shapes[place]).text), place)):
        match = beginnings.best(gates[position], shapes[position])
        found[position] = match or (position, 0.0)
        if match is None:
            beginnings.add(gates[position], position, shapes[position])
    return found
