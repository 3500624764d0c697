"""Noun phrases of messages in Chinese, word by word: only where every word is a name or a known term.

Chinese puts modifiers before the noun as English does, so a short phrase of terms and names keeps its order. What
holds one word that nobody listed is no phrase: half a translation is worse than a sentence that says less.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from pipeline.lexicon import gates, glossary
from pipeline.lexicon.products import products
from pipeline.records import warm
from pipeline.translate import rendering

#: Longer phrases are clauses. Measured on 1,429 signatures: of those with more words none was a noun phrase.
MOST_WORDS = 6

_QUOTED = warm.pattern(r"(['\"`‘“])([^'\"`’”\s]{1,60})['\"`’”]")
_TOKEN = warm.pattern(r"'[^'\s]{1,60}'|\"[^\"\s]{1,60}\"|`[^`\s]{1,60}`|‘[^’\s]{1,60}’|\S+")
#: Names by their look: slots, code, and words with an inner capital, a digit, an underscore or a dot.
_NAME = warm.pattern(
    r"[\w.:/\\+-]*(?:<[a-z_]{1,20}>[\w.:/\\+-]*)+|[A-Z]{2,}[\w.+-]*|[\w.+:-]*[a-z][A-Z]\w*|[\w.:/+-]*[_\d./:][\w.:/+()-]*",
    re.ASCII,
)
#: "operator: Split": what stands behind the colon is a name, whatever it looks like.
_AFTER_COLON = warm.pattern(r"^[A-Za-z' -]{2,60}: ?[^\s:]+$")
#: "shape of the input": Chinese puts the second before the first.
_OF = warm.pattern(r" of (?=\S)")
_MOST_OF = 3
#: "number" alone may be anything: only the number of something is a phrase.
_COUNTED: Mapping[str, tuple[str, list[str]]] = {name: ("数量", []) for name in ("number", "the number")}
_OWNER = warm.pattern(r"([A-Za-z-]{3,40})'s")
_CAPITAL = warm.pattern(r"[A-Z][a-z]{2,}[\w-]*", re.ASCII)


def tables() -> Mapping[str, Mapping[str, str]]:
    """The tables of message_words.toml: words, operations and aspects by their English."""
    return {name: table for name, table in glossary.message_words().items() if isinstance(table, dict)}


@cache
def _left_out() -> tuple[frozenset[str], frozenset[str]]:
    """(articles and their like, words that are no nouns or of which the phrase does not tell the sense)."""
    words = glossary.message_words()
    return frozenset(words["determiners"]), frozenset(words["not_nouns"]) | frozenset(words["ambiguous"])


def chinese(phrase: str) -> str | None:
    """The phrase in Chinese with its names as they are, None if a word of it is neither a name nor a term."""
    found = masked(phrase)
    return None if found is None else rendering.restore(rendering.set_marks(found[0]), found[1])


def undetermined(phrase: str) -> str:
    """The phrase without its leading articles: "the input of it" -> "input of it"."""
    determiners, _ = _left_out()
    words = phrase.split()
    while words and words[0].lower() in determiners:
        del words[0]
    return " ".join(words)


def masked(phrase: str, *, starts_sentence: bool = False) -> tuple[str, list[str]] | None:
    """(the Chinese with a mark for each name, the names); None if a word is neither a name nor a term."""
    of = _OF.split(phrase)
    if len(of) == 1:
        return _simple(phrase, starts_sentence=starts_sentence)
    parts = [
        _COUNTED.get(part.lower()) or _simple(part, starts_sentence=starts_sentence and not place)
        for place, part in enumerate(of)
    ]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len(known) > _MOST_OF:
        return None
    return "的".join(text for text, _ in reversed(known)), [name for _, names in reversed(known) for name in names]


def _simple(phrase: str, *, starts_sentence: bool) -> tuple[str, list[str]] | None:
    """As `masked`, for a phrase without "of"."""
    determiners, _ = _left_out()
    head, colon, named = phrase.partition(":") if _AFTER_COLON.search(phrase) else (phrase, "", "")
    tokens = _TOKEN.findall(head)
    bare = [token for token in tokens if token.lower() not in determiners]
    if not bare or len(bare) > MOST_WORDS:
        return None
    naming = glossary.message_words()["naming"]
    parts: list[str] = []
    spans: list[str] = []
    at = 0
    while at < len(bare):
        known, length = _term(bare, at)
        if known is not None and (known in parts or (at and bare[at - 1].lower() in naming)):
            return None  # "file file", and a name that looks like a term: "dtype resource"
        if known is None:
            name = _name(bare[at], is_first=starts_sentence and at == 0 and len(bare) == len(tokens))
            if name is None:
                return None
            known, length = rendering.MARK, 1
            spans.append(name)
        parts.append(known)
        at += length
    if colon:
        parts.append(rendering.MARK)
        spans.append(named.strip().strip("'\"`"))
    return _joined(parts), spans


def _joined(parts: Sequence[str]) -> str:
    text = ""
    for part in parts:
        is_latin = [end.isascii() or end == rendering.MARK for end in (text[-1:], part[:1])]
        text += f" {part}" if text and all(is_latin) else part
    return text


def _term(tokens: Sequence[str], at: int) -> tuple[str | None, int]:
    """The Chinese of the longest run of tokens that is a term, with its length."""
    _, not_nouns = _left_out()
    words = tables()["words"]
    owner = _OWNER.fullmatch(tokens[at])
    if owner:
        whose, _ = _term([owner.group(1)], 0)
        return (f"{whose}的", 1) if whose else (None, 1)
    for length in range(min(glossary.MOST_WORDS, len(tokens) - at), 0, -1):
        run = [token.lower() for token in tokens[at : at + length]]
        for last in (run[-1], glossary.singular(run[-1])):
            english = " ".join([*run[:-1], last])
            if english in words and (length > 1 or english not in not_nouns):
                return words[english], length
            found = glossary.terms().get(english)
            if found is not None and english not in not_nouns and found.grade != "D":
                return found.chinese, length
    return None, 1


def _name(token: str, *, is_first: bool) -> str | None:
    """The token as it is to stand if it looks like a name, without its quotes; None if it is an ordinary word."""
    quoted = _QUOTED.fullmatch(token)
    if quoted:
        return quoted.group(2)
    if token.endswith(":") or (token.isupper() and token.lower() in _left_out()[1]):
        return None  # "image: sqlflow:mysql", "BUILD IMAGE"
    if _NAME.fullmatch(token) or gates.PROTECTED.fullmatch(token):
        return token
    if token.lower() in products():
        return products()[token.lower()]
    # a capital says nothing at the beginning of a sentence
    return token if _CAPITAL.fullmatch(token) and not is_first else None
