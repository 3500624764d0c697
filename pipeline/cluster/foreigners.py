"""The texts of all clusters by their words: which of others an expression could match, without trying it on the rest.

Many questions are answered by an index of words, which takes as long as some fifty clusters take to be proven. Few are
answered by reading: the texts lie one behind the other, and the longest word is looked for in them.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Protocol

import numpy as np

from pipeline.cluster.patterns import Pattern

#: Words of an expression whose texts are intersected, the rarest first, before the expression itself is tried.
_RAREST_WORDS = 4
#: Texts are read where no more than one owner for so many of them is asked about.
_TEXTS_A_READING = 64
_WORD = re.compile(r"\w+")
#: No word holds it.
_BETWEEN = "\0"


def words_of(text: str) -> set[str]:
    """The distinct words of a text."""
    return set(_WORD.findall(text))


class Foreigners:
    """Texts with their owners, for who asks which texts of others an expression could match."""

    def __init__(self, texts: Iterable[tuple[str, str]], *, asked: int) -> None:
        """For one that is asked about so many of the owners."""
        self._owners: list[str] = []
        self._texts: list[str] = []
        for owner, text in texts:
            self._owners.append(owner)
            self._texts.append(text)
        is_few = asked * _TEXTS_A_READING < len(self._texts)
        self._finder: _Finder = _Reading(self._texts) if is_few else _Index(self._texts)

    def could_match(self, pattern: Pattern, owner: str) -> list[tuple[str, str]]:
        """Owner and text of those of others that hold all words of an expression, in their order."""
        if not pattern.words:
            return [one for one in zip(self._owners, self._texts, strict=True) if one[0] != owner]
        found, is_sure = self._finder.holding(pattern.words)
        return [
            (self._owners[place], self._texts[place])
            for place in found
            if self._owners[place] != owner and (is_sure or pattern.words <= words_of(self._texts[place]))
        ]


class _Finder(Protocol):
    """Finds the texts that hold words."""

    def holding(self, words: frozenset[str]) -> tuple[Sequence[int], bool]:
        """The places of all texts that hold these words, and whether each of them does."""


class _Reading:
    """Looks through all texts for the longest of the words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._every = _BETWEEN.join(texts)
        self._starts = array("Q", accumulate((len(text) + 1 for text in texts), initial=0))

    def holding(self, words: frozenset[str]) -> tuple[Sequence[int], bool]:
        """See `_Finder`."""
        return list(self._with(max(words, key=lambda word: (len(word), word)))), False

    def _with(self, word: str) -> Iterator[int]:
        start = self._every.find(word)
        while start >= 0:
            place = bisect_right(self._starts, start) - 1
            yield place
            start = self._every.find(word, self._starts[place + 1])


class _Index:
    """Knows of every word the places of the texts that hold it, those of one word after those of another."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._numbers: dict[str, int] = {}
        numbers, places = array("I"), array("I")
        for place, text in enumerate(texts):
            for word in words_of(text):
                numbers.append(self._numbers.setdefault(word, len(self._numbers)))
                places.append(place)
        words = np.frombuffer(numbers, np.uint32) if numbers else np.empty(0, np.uint32)
        order = np.argsort(words, kind="stable")
        self._places = np.frombuffer(places, np.uint32)[order] if places else words
        self._ends = np.bincount(words, minlength=len(self._numbers)).cumsum() if numbers else words

    def holding(self, words: frozenset[str]) -> tuple[Sequence[int], bool]:
        """See `_Finder`."""
        lists = sorted(map(self._of, words), key=len)[:_RAREST_WORDS]
        return sorted(set(lists[0]).intersection(*lists[1:])), len(words) <= _RAREST_WORDS

    def _of(self, word: str) -> list[int]:
        number = self._numbers.get(word)
        if number is None:
            return []
        start = int(self._ends[number - 1]) if number else 0
        found: list[int] = self._places[start : int(self._ends[number])].tolist()
        return found
