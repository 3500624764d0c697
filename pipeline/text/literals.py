"""Which of a hundred literals stand in a text, and where, all found in one pass.

`str.find` once for each literal costs 0.05 s a literal for 100 MB of text, five seconds in all. An automaton (Aho and
Corasick 1975) takes one step a byte however many literals there are: 0.4 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ahocorasick_rs import BytesAhoCorasick, Implementation

Seen = Mapping[str, Sequence[int]]


def _automaton(literals: Iterable[str]) -> BytesAhoCorasick:
    # half a megabyte for our longest list. The DFA, 13, takes two thirds of the time where it stays in a processor's
    # cache, which it does not between other work: then it takes twice as long
    return BytesAhoCorasick([literal.encode() for literal in literals], implementation=Implementation.ContiguousNFA)


class Literals:
    """ASCII literals whose places are wanted. A question mark is what any other letter becomes, so none may hold one.

    Raises:
        ValueError: a literal is not ASCII or holds a question mark.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = tuple(dict.fromkeys(literals))
        if odd := [literal for literal in self._literals if not literal.isascii() or "?" in literal]:
            raise ValueError(f"not to be looked for: {odd}")
        self._automaton = _automaton(self._literals)

    def seen(self, text: str) -> Seen:
        """The places of each literal in the text, in order; literals that do not occur are left out."""
        raw = text.encode("ascii", "replace")  # one byte a character, so that places are places in the text
        found: dict[int, list[int]] = {}
        for number, start, _ in self._automaton.find_matches_as_indexes(raw, overlapping=True):
            if number in found:
                found[number].append(start)
            else:
                found[number] = [start]
        literals = self._literals
        return {literals[number]: starts for number, starts in found.items()}


class Signs:
    """Literals of any script of which is asked whether a text holds them, or where its bytes do."""

    def __init__(self, literals: Iterable[str]) -> None:
        every = dict.fromkeys(literals)
        self._bytes = {literal: literal.encode() for literal in every if len(literal.encode()) == 1}
        self._literals = tuple(literal for literal in every if literal not in self._bytes)
        self._automaton = _automaton(self._literals)

    def present(self, text: str) -> frozenset[str]:
        """The literals that stand in the text."""
        return frozenset(self.places(text.encode("utf-8", "surrogatepass")))

    def places(self, raw: bytes) -> Seen:
        """Where each literal that occurs stands in a text's bytes in UTF-8, in order; the first place of a single byte.

        One byte, which may stand anywhere, is found faster by itself than its places are written down.
        """
        found: dict[int, list[int]] = {}
        for number, start, _ in self._automaton.find_matches_as_indexes(raw, overlapping=True):
            if number in found:
                found[number].append(start)
            else:
                found[number] = [start]
        seen: dict[str, Sequence[int]] = {self._literals[number]: starts for number, starts in found.items()}
        for literal, byte in self._bytes.items():
            if (start := raw.find(byte)) >= 0:
                seen[literal] = (start,)
        return seen
