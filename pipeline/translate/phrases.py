"""Noun phrases of messages in Chinese, word by word: only where every word is a name or a known term.

Chinese puts modifiers before the noun as English does, so a short phrase of terms and names keeps its order. What
holds one word that nobody listed is no phrase: half a translation is worse than a sentence that says less.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from pipeline.lexicon import gates, glossary
from pipeline.translate import rendering

#: Longer phrases are clauses. Measured on 1,429 signatures: of those with more words none was a noun phrase.
MOST_WORDS = 6

_QUOTED = re.compile(r"(['\"`‘“])([^'\"`’”\s]{1,60})['\"`’”]")
_TOKEN = re.compile(r"'[^'\s]{1,60}'|\"[^\"\s]{1,60}\"|`[^`\s]{1,60}`|‘[^’\s]{1,60}’|\S+")
#: Names by their look: slots, code, and words with an inner capital, a digit, an underscore or a dot.
_NAME = re.compile(
    r"[\w.:/\\+-]*(?:<[a-z_]{1,20}>[\w.:/\\+-]*)+|[A-Z]{2,}[\w.+-]*|[\w.+:-]*[a-z][A-Z]\w*|[\w.:/+-]*[_\d./:][\w.:/+()-]*",
    re.ASCII,
)
#: "operator: Split": what stands behind the colon is a name, whatever it looks like.
_AFTER_COLON = re.compile(r"^[A-Za-z' -]{2,60}: ?[^\s:]+$")
_CAPITAL = re.compile(r"[A-Z][a-z]{2,}[\w-]*", re.ASCII)


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads((files("pipeline") / "data" / "message_words.toml").read_text(encoding="utf-8"))


def tables() -> Mapping[str, Mapping[str, str]]:
    """The tables of message_words.toml: words, operations and aspects by their English."""
    return {name: table for name, table in _read().items() if isinstance(table, dict)}


@cache
def _left_out() -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(_read()["determiners"]), frozenset(_read()["not_nouns"])


def chinese(phrase: str) -> str | None:
    """The phrase in Chinese with its names as they are, None if a word of it is neither a name nor a term."""
    found = masked(phrase)
    return None if found is None else rendering.restore(rendering.set_marks(found[0]), found[1])


def masked(phrase: str, *, starts_sentence: bool = False) -> tuple[str, list[str]] | None:
    """(the Chinese with a mark for each name, the names); None if a word is neither a name nor a term."""
    determiners, _ = _left_out()
    head, colon, named = phrase.partition(":") if _AFTER_COLON.search(phrase) else (phrase, "", "")
    tokens = _TOKEN.findall(head)
    bare = [token for token in tokens if token.lower() not in determiners]
    if not bare or len(bare) > MOST_WORDS:
        return None
    parts: list[str] = []
    spans: list[str] = []
    at = 0
    while at < len(bare):
        known, length = _term(bare, at)
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
        spaced = text[-1:].isascii() and text and part[:1].isascii()
        both_names = text.endswith(rendering.MARK) and part == rendering.MARK
        text += f" {part}" if spaced or both_names else part
    return text


def _term(tokens: Sequence[str], at: int) -> tuple[str | None, int]:
    """The Chinese of the longest run of tokens that is a term, with its length."""
    _, not_nouns = _left_out()
    words = tables()["words"]
    for length in range(min(glossary.MOST_WORDS, len(tokens) - at), 0, -1):
        run = [token.lower() for token in tokens[at : at + length]]
        for last in (run[-1], glossary.singular(run[-1])):
            english = " ".join([*run[:-1], last])
            if english in words:
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
    if _NAME.fullmatch(token) or gates.PROTECTED.fullmatch(token):
        return token
    # a capital says nothing at the beginning of a sentence
    return token if _CAPITAL.fullmatch(token) and not is_first else None
