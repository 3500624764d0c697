"""Whether two texts that score alike differ in a word that matters. A ratio cannot see it: one word is few letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources

from rapidfuzz.distance import OSA

from pipeline.cluster.shapes import Shape, tokens
from pipeline.records import warm

#: Texts with fewer content words than this may not differ by a content word at all (a ratio of 90 on fifteen
#: letters joins "vm started" and "vm paused"). Chosen on real threads by eye; no labelled set moves with it.
SHORT_WORDS = 6
#: One exchanged word is tolerated for so many shared content words: release notes reword long messages.
#: Measured on generated look-alikes: benchmarks/README.md, "Word rule".
WORDS_PER_EXCHANGE = 24
#: One word more on one side is tolerated, and as many as this goes into the shared ones: "has 5" is not "requires a
#: multiple of 5", while a hint of three words on a long message is.
WORDS_PER_ADDITION = 4
#: So many identifiers (kernel_name_17) may be exchanged freely: they are values that no mask knew, while the ones
#: that decide (an operation, a module, a symbol) are gates. Same table: without it recall falls from 0.98 to 0.94.
FREE_NAMES = 2
#: Shorter words are other words, not misspellings ("bind", "find"). Same table.
TYPO_LETTERS = 6

#: A method that the language calls: which one it was is what the error is about.
#: Words of their own that two texts share beside what the system says of any call; with fewer, that counts for nothing.
#: Read on two homes: "dial tcp" and "cannot access" are two, "exec" is one.
OWN_WORDS = 2
#: Texts of which is kept what they say: a leader is compared with many, one after the other. Of 4,250 templates, 3,600
#: comparisons took a quarter of all grouping.
_KEPT = 1 << 12
#: A function that a message names with its call.
_CALLED = re.compile(r"\b[a-z_][a-z\d]*_\w+(?=\()")
_DUNDER = re.compile(r"__\w+__\Z")
_ENDINGS = ("ings", "ing", "ied", "ies", "ed", "es", "s", "d", "e", "ly")


@cache
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    """The words that say nothing, and the words that turn the meaning round."""
    source = resources.files("pipeline").joinpath("data", "contrasts.toml").read_text(encoding="utf-8")
    table = warm.table(source)
    return frozenset(table["unimportant"]), frozenset(table["negations"])


@cache
def _system() -> re.Pattern[str]:
    source = resources.files("pipeline").joinpath("data", "contrasts.toml").read_text(encoding="utf-8")
    phrases = sorted(warm.table(source)["system"], key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)")


def without_system(folded_text: str) -> str:
    """The text without what the system says of any call: what is left is the program's own."""
    return _system().sub(" ", folded_text)


@cache
def _contrasts() -> Mapping[str, frozenset[int]]:
    """For every word of a contrast set the numbers of the sets that it stands in."""
    source = resources.files("pipeline").joinpath("data", "contrasts.toml").read_text(encoding="utf-8")
    sets: dict[str, set[int]] = {}
    for number, words in enumerate(warm.table(source)["contrasts"]):
        for word in words:
            sets.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in sets.items()}


def conflict(one: Shape, other: Shape) -> str:
    """The words that forbid joining two texts, as "row / column" or "not / -"; "" if nothing forbids it."""
    left, right = one.words, other.words  # made whenever they are asked for
    if left == right or _is_broken(one.text, other.text):
        return ""
    called, others = _called(one.text), _called(other.text)
    if called and others and called.isdisjoint(others):
        return _named(called, others)
    own = right & _own(other.text)
    is_said = own == right or weight(left & own) >= OWN_WORDS  # more than what the system says of any call
    return conflict_of(left - right, right - left, weight(right if is_said else own))


def _is_broken(one: str, other: str) -> bool:
    """Whether two texts are the same letters, with blanks at other places: a terminal broke a word of one of them."""
    return one != other and one.replace(" ", "") == other.replace(" ", "")


@lru_cache(_KEPT)
def _called(folded_text: str) -> frozenset[str]:
    return frozenset(_CALLED.findall(folded_text))


@lru_cache(_KEPT)
def _own(folded_text: str) -> frozenset[str]:
    """The tokens of what the program itself says."""
    return frozenset(tokens(without_system(folded_text)))


def weight(words: frozenset[str]) -> int:
    """How many of the words say something."""
    return len(words - _lists()[0])


def is_deciding(word: str) -> bool:
    """Whether a word turns the meaning round, or is one of several that exclude each other."""
    return word in _lists()[1] or word in _contrasts()


def conflict_of(left: frozenset[str], right: frozenset[str], weight_of_other: int) -> str:
    """The same, of the words that only one and only the other text has, and the weight of all words of the other."""
    unimportant, negations = _lists()
    if not negations.isdisjoint(left) or not negations.isdisjoint(right):
        return _named(left & negations, right & negations)
    left, right = left - unimportant, right - unimportant
    shared = weight_of_other - len(right)
    left, right = _unpaired(left, right)
    if not left and not right:
        return ""
    if _is_contrast(left, right):
        return _named(left, right)
    left, right = _without_names(left, right)
    return _named(left, right) if _is_too_much(left, right, shared=shared) else ""


def _is_too_much(left: frozenset[str], right: frozenset[str], *, shared: int) -> bool:
    gone, come = len(left), len(right)
    if shared + min(gone, come) < SHORT_WORDS:
        return bool(gone or come)
    if gone and come:
        return max(gone, come) > shared // WORDS_PER_EXCHANGE
    return max(gone, come) > max(1, shared // WORDS_PER_ADDITION)


def _without_names(left: frozenset[str], right: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Both sides without identifiers, where each has some and neither has more than FREE_NAMES."""
    names, others = [word for word in left if "_" in word], [word for word in right if "_" in word]
    is_free = 0 < len(names) <= FREE_NAMES and 0 < len(others) <= FREE_NAMES
    return (left.difference(names), right.difference(others)) if is_free else (left, right)


def _is_contrast(left: Iterable[str], right: Iterable[str]) -> bool:
    if any(map(_DUNDER.match, left)) and any(map(_DUNDER.match, right)):
        return True
    sets = _contrasts()
    if sets.keys().isdisjoint(left):
        return False
    right_sets = [sets[word] for word in sorted(right) if word in sets]
    return any(sets[word] & numbers for word in left if word in sets for numbers in right_sets)


def _unpaired(left: frozenset[str], right: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """What is left of both sides after inflections and misspellings of one another are taken away."""
    if not left or not right:
        return left, right
    rest = sorted(right)
    gone: set[str] = set()
    for word in sorted(left):
        mate = next((candidate for candidate in rest if is_variant(word, candidate)), None)
        if mate is not None:
            gone.add(word)
            rest.remove(mate)
    return left - gone, frozenset(rest)


def is_variant(word: str, other: str) -> bool:
    """Whether two words are forms of one: plural, tense, a single misspelt letter, or a rank ("2d", "conv3d").

    Other names and numbers never are.
    """
    if _of_any_rank(word) == _of_any_rank(other):
        return True
    if not (word.isalpha() and other.isalpha()) or word[0] != other[0]:
        return False
    if _stem(word) == _stem(other):
        return True
    if min(len(word), len(other)) < TYPO_LETTERS:
        return False
    return bool(OSA.distance(word, other, score_cutoff=1) <= 1)


def _of_any_rank(word: str) -> str:
    """The word without the rank that ends it: how many dimensions a layer or a tensor has is a value."""
    return f"{word[:-2]}#" if word[-1:] == "d" and word[-2:-1] in "12345" and len(word) > 1 else word


@cache
def _stem_of(word: str) -> str:
    ending = next((one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) >= 3), "")
    stem = word.removesuffix(ending)
    return stem[:-1] if len(stem) > 3 and stem[-2:-1] == stem[-1:] else stem  # drop, dropped


def _stem(word: str) -> str:
    return _stem_of(word) if len(word) < 40 else word


def _named(left: Iterable[str], right: Iterable[str]) -> str:
    sides = (" ".join(sorted(side)[:4]) or "-" for side in (left, right))
    return " / ".join(sides)
