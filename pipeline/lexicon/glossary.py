"""The reviewed terms: English and Chinese, with the alternatives that people also use. Terms only, no sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pipeline.records import warm

#: A term is demanded of a translation only if this share of aligned human translations use its first rendering; below
#: it, good translators differ. Shares: 139,447 aligned technical segments. On the human set 0.7 refuses 0.9 % and all
#: gates together find 87 % of wrong sentences; 0.6 finds 90 % but leans on one writer's vocabulary, 0.8 finds 84 %.
HARD_ADHERENCE = 0.7

#: The longest term in words; a bound for the longest-match search.
MOST_WORDS = 5

_WORD = warm.pattern(r"[A-Za-z][A-Za-z-]*")


@dataclass(frozen=True, slots=True)
class Term:
    """One term. `grade`: A well attested, B attested, C word attested but not the pair, D and "own" chosen here."""

    english: str
    chinese: str
    alternatives: tuple[str, ...]
    grade: str
    adherence: float  # share of aligned human translations with the first rendering; 0 where not measured

    def renderings(self) -> tuple[str, ...]:
        """Every Chinese rendering that counts as this term."""
        return (self.chinese, *self.alternatives)


@cache
def terms() -> Mapping[str, Term]:
    """All terms by their English in lower case, a remark in brackets left out; of two the first is kept."""
    text = (files("pipeline") / "data" / "glossary.tsv").read_text(encoding="utf-8")
    found: dict[str, Term] = {}
    for line in text.splitlines()[1:]:
        english, chinese, alternatives, grade, adherence = line.split("\t")
        also = tuple(part for part in alternatives.split("/") if part)
        key = english.split(" (")[0].lower()
        known = found.get(key)
        if known is not None:  # "kernel (GPU)" and "kernel (OS)" are one word with two meanings: either will do
            also = (*known.alternatives, chinese, *also)
            found[key] = Term(known.english.split(" (")[0], known.chinese, also, known.grade, 0.0)
        else:
            found[key] = Term(english, chinese, also, grade, float(adherence))
    return found


@cache
def message_words() -> Mapping[str, Any]:
    """The tables of data/message_words.toml: what is no term by itself and yet part of a noun phrase."""
    return warm.table((files("pipeline") / "data" / "message_words.toml").read_text(encoding="utf-8"))


def pairs() -> set[tuple[str, str]]:
    """(English, Chinese) of every attested term and rendering; terms that Chinese leaves in English are no pairs."""
    return {
        (term.english.split(" (")[0], chinese)
        for term in terms().values()
        for chinese in term.renderings()
        if term.grade != "D" and not chinese.isascii() and len(chinese) > 1
    }


def singular(word: str) -> str:
    """The word without a plural ending, as far as spelling tells."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def found_in(english: str) -> list[Term]:
    """The terms that an English text uses, longest match first, each once, in the order of the text."""
    known = terms()
    words = _WORD.findall(english.lower())
    found: list[Term] = []
    at = 0
    while at < len(words):
        term, length = _longest(known, words, at)
        if term is not None and term not in found:
            found.append(term)
        at += length
    return found


def _longest(known: Mapping[str, Term], words: list[str], at: int) -> tuple[Term | None, int]:
    for length in range(min(MOST_WORDS, len(words) - at), 0, -1):
        phrase = words[at : at + length]
        for last in (phrase[-1], singular(phrase[-1])):
            term = known.get(" ".join([*phrase[:-1], last]))
            if term is not None:
                return term, length
    return None, 1
