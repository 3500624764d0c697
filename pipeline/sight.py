"""Which of a hundred literals stand in a text, and where, all found in one pass.

`str.find` once for each literal costs 0.05 s a literal for 100 MB of text, five seconds in all. Here two adjacent
letters of each literal, chosen to be rare in prose, mark the places worth a look: 0.5 s, however many literals there
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Letters that are looked at together. A literal may be one shorter: then any letter may follow.
WIDTH = 4
#: Characters of issue threads, the most frequent first; what is not listed is rarer than all of them.
_FREQUENT = " etaoinsrl\ndcpmuhf_gb.,-y0w/:1v(k)2=\"'"
#: Bytes searched at a time: the arrays of one piece stay in the cache.
_PIECE = 1 << 18
_SPREAD = np.uint32(0x9E3779B1)
_HIGH = np.uint32(16)

Seen = Mapping[str, Sequence[int]]


class _Windows:
    """One window of four letters of each of some ASCII literals."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.owners: dict[int, list[tuple[str, int]]] = {}  # window as a number -> literals, and where in them it is
        self._pairs: NDArray[np.bool_] = np.zeros(1 << 16, np.bool_)
        self._hashes: NDArray[np.bool_] = np.zeros(1 << 16, np.bool_)
        for literal in literals:
            places = range(max(1, len(literal) - WIDTH + 1))
            at = min(places, key=lambda at: _commonness(literal[at : at + WIDTH]))
            window = literal[at : at + WIDTH].encode("ascii")
            ends = [b""] if len(window) == WIDTH else [bytes([letter]) for letter in range(256)]
            for number in (int.from_bytes(window + end, "little") for end in ends):
                self.owners.setdefault(number, []).append((literal, at))
                self._hashes[(np.array(number, np.uint32) * _SPREAD) >> _HIGH] = True
            self._pairs[int.from_bytes(window[:2], "little")] = True

    def found(self, text: str) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Places where one of the windows may begin, in order, and what stands there, as numbers."""
        raw = text.encode("ascii", "replace")  # one byte a character, so that places are places in the text
        last = len(raw) - WIDTH
        for start in range(0, last + 1, _PIECE):
            size = min(_PIECE, last + 1 - start)
            pairs: NDArray[Any] = np.ndarray((size,), "<u2", raw, start, (1,))
            places = self._pairs.take(pairs).nonzero()[0]
            if not len(places):
                continue
            fours: NDArray[Any] = np.ndarray((size,), "<u4", raw, start, (1,))
            numbers = fours[places]
            chosen = self._hashes.take((numbers * _SPREAD) >> _HIGH)
            yield places[chosen] + start, numbers[chosen]


class Literals:
    """ASCII literals whose places are wanted."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._windows = _Windows(dict.fromkeys(literals))

    def seen(self, text: str) -> Seen:
        """The places of each literal in the text, in order; literals that do not occur are left out."""
        found: dict[str, list[int]] = {}
        owners = self._windows.owners
        for places, numbers in self._windows.found(text):
            for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
                for literal, offset in owners.get(number, ()):
                    at = place - offset
                    if at >= 0 and text.startswith(literal, at):
                        found.setdefault(literal, []).append(at)
        return found


class Signs:
    """Literals of which only is asked whether a text holds them. Short ones and Chinese ones cost a search each."""

    def __init__(self, literals: Iterable[str]) -> None:
        every = dict.fromkeys(literals)
        together = [literal for literal in every if len(literal) >= WIDTH - 1 and literal.isascii()]
        self._alone = [literal for literal in every if literal not in together]
        self._windows = _Windows(together)

    def present(self, text: str) -> frozenset[str]:
        """The literals that stand in the text."""
        found = {literal for literal in self._alone if literal in text}
        owners = self._windows.owners
        for places, numbers in self._windows.found(f"{text}\0"):  # a literal may end where the text does
            for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
                for literal, offset in owners.get(number, ()):
                    if literal not in found and place >= offset and text.startswith(literal, place - offset):
                        found.add(literal)
        return frozenset(found)


def _commonness(window: str) -> int:
    """How common a window is in prose and code, roughly; its first pair, which is looked for first, counts twice."""
    ranks = [place if (place := _FREQUENT.find(letter)) >= 0 else len(_FREQUENT) for letter in window]
    return -sum(ranks) - sum(ranks[:2])
