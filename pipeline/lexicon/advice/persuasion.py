"""Advice in plain words that nobody should follow, told by a small trained reader, as no table of words has an end.

A sentence is its words, the pairs of neighbours and the pairs that stand near each other, each a place among `PLACES`
by its CRC-32. `data/advice/persuasion.bin` has a whole number for each place, taught by `benchmarks.learning`
on sentences written for it, against sentences of the same words told in good faith and against real threads.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from zlib import crc32

#: 2^17 places, one signed byte each.
PLACES = 1 << 17
#: So many words of a sentence are looked at, and so far apart two of them are a pair.
_LONGEST, _NEAR = 60, 4
#: Sentences of fewer words say too little.
_LEAST = 4
#: A sum of weights, by the root of how many there are, from which a sentence is refused: measured so that of 16,363
#: published statements of two corpora, of which a fifth was kept from the teaching, one of a thousand is.
REFUSED = 30

_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|\n+|[。！？；]|\s[–—]\s")
#: A question, or what is said not to do.
_NO_ADVICE = re.compile(r"\?\s*$|^\W{0,4}(?:please )?(?:never|do not|don.?t|avoid|不要|请勿|切勿|请不要|别)(?! bother)")
_WORDS = re.compile(r"[a-z]+(?:['’-][a-z]+)*|[0-9]+|[\u4e00-\u9fff]|[^\W\d_]+")
_CODE = re.compile(r"`[^`\n]{0,400}`|https?://\S{1,400}")
_ENDINGS = re.compile(r"(?<=[a-z]{3})(?:ies|es|s|ed|ing|ly)$")


def sentences(text: str) -> list[str]:
    """The sentences of a text, marked code and addresses as one word each."""
    return [one for one in _SENTENCES.split(_CODE.sub(" codespan ", text.lower())) if one]


def places(sentence: str) -> frozenset[int]:
    """Where the weights of a sentence, in small letters, stand; none if it is too short."""
    words = [_ENDINGS.sub("", word) if word.isascii() else word for word in _WORDS.findall(sentence)[:_LONGEST]]
    if len(words) < _LEAST:
        return frozenset()
    named = {f"1 {word}" for word in words}
    for place, word in enumerate(words):
        for far, other in enumerate(words[place + 1 : place + 1 + _NEAR]):
            named.add(f"{1 + (not far)} {word} {other}")
    return frozenset(crc32(name.encode()) % PLACES for name in named)


@cache
def _weights() -> tuple[int, ...]:
    raw = resources.files("pipeline").joinpath("data", "advice", "persuasion.bin").read_bytes()
    return tuple(memoryview(raw).cast("b"))


def is_refused(text: str) -> bool:
    """True if a sentence of the text is advice that should not be passed on; one that warns of it is none."""
    weights = _weights()
    for sentence in sentences(text):
        if _NO_ADVICE.search(sentence):
            continue
        found = places(sentence)
        total = sum(weights[place] for place in found)
        if total > 0 and total * total >= REFUSED * REFUSED * len(found):
            return True
    return False
