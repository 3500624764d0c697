"""Words that are said to a language model, not to people: who steers the reader is not passed on."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Iterator
from functools import cache

from pipeline.lexicon.advice.spelling import plain
from pipeline.lexicon.advice.tables import table
from pipeline.records import warm

#: Digits and signs that stand for letters.
_LEET = str.maketrans("013457@$!", "oieastasi")
_MIXED = warm.pattern(
    r"(?<![\w.])(?=[a-z013457@$!]{0,20}[a-z])(?=[a-z013457@$!]{0,20}[013457@$!])[a-z013457@$!]{3,20}(?![\w.])", re.I
)
#: So many words of letters and such digits are a way to write, not names.
_MOST_MIXED = 3
#: Letters that stand apart, one by one: `i g n o r e`, `i-g-n-o-r-e`; two blanks part the words.
_APART = warm.pattern(r"(?<!\w)[^\W\d_](?:[ ._*|/-]{1,3}[^\W\d_]){5,400}(?!\w)")
_BETWEEN, _WORDS_END = warm.pattern(r"(?<=\w)[ ._*|/-](?=\w)"), warm.pattern(r"(?<=\w)[ ._*|/-]{2,3}(?=\w)")
_ENCODED = warm.pattern(r"[A-Za-z0-9+/]{24,4000}={0,2}")
#: Letters that nobody sees and that spell a text: tags, and runs of variation selectors or of blanks without width.
_UNSEEN = warm.pattern(
    "[\U000e0020-\U000e007e]{3}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4}|[\u200b-\u200d\u2060-\u2064\ufeff]{8}"
)
#: Blocks of code in a post.
_FENCED = warm.pattern(r"(?ms)^[ \t>]{0,8}(`{3,8}|~{3,8})[^\n]*\n.*?(?:^[ \t>]{0,8}\1|\Z)")
_FLAG = "\U0001f3f4"


@cache
def _patterns(row: str) -> re.Pattern[str]:
    listed = table("models")[row]
    if row == "called":
        named = {name: table("models")[name] for name in ("addressee", "act")}
        listed = [one.replace("{addressee}", named["addressee"]).replace("{act}", named["act"]) for one in listed]
    return warm.pattern("|".join(listed), re.IGNORECASE)


def orders_models(text: str) -> bool:
    """True if a statement tells a model what to do, hides words from people, or carries words away in an address."""
    return says_orders(text) or any(_patterns(row).search(text) for row in ("marks", "hidden"))


def says_orders(text: str) -> bool:
    """True if words tell a model what to do."""
    return _patterns("orders").search(text) is not None or _patterns("called").search(text) is not None


def addresses_models(words: str, readings: Iterable[str]) -> bool:
    """True if `words`, made plain or decoded in a way that a model reads as easily as plain text, order models."""
    if _UNSEEN.search(words.replace(_FLAG, "")) and _FLAG not in words:
        return True
    return any(map(orders_models, dict.fromkeys(_forms(words, readings))))


def _forms(words: str, readings: Iterable[str]) -> Iterator[str]:
    yield words
    plain = words
    for plain in readings:
        yield plain
    if len(_MIXED.findall(plain)) >= _MOST_MIXED:
        yield plain.translate(_LEET)
    for said in dict.fromkeys((words, plain)):
        if _APART.search(said):
            yield _APART.sub(lambda found: _BETWEEN.sub("", _WORDS_END.sub("  ", found[0])), said)
    for found in _ENCODED.findall(plain):
        yield from _decoded(found)
    low = plain.lower()
    if any(one in low for one in table("wake")["turned"]):
        yield codecs.encode(plain, "rot13")
        yield plain[::-1]


def _decoded(word: str) -> Iterator[str]:
    try:
        said = base64.b64decode(word[: len(word) // 4 * 4], validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return
    if said.isprintable() and " " in said:
        yield said


def is_hostile(post: str, *, is_opening: bool) -> bool:
    """True if a whole post orders models in words, in what it hides from people, or in what it encodes.

    `is_opening`: the post reports. There fenced code is left out, and forged turns count for nothing: of 2,837 threads
    ten show prompts of their own so, and no answer does but three that quote "admin users don't have the right".
    """
    words = _FENCED.sub("\n", post) if is_opening else post
    forms = [said for found in _ENCODED.findall(words) for said in _decoded(found)]
    if _wakes().search(words) or _APART.search(words):
        forms += _forms(words, (plain(words),))
    is_forged = not is_opening and _patterns("marks").search(_FENCED.sub("\n", words)) is not None
    return is_forged or any(map(says_orders, dict.fromkeys(forms)))


@cache
def _wakes() -> re.Pattern[str]:
    return warm.pattern(table("models")["wakes"], re.IGNORECASE)


def talks_to_models(post: str) -> bool:
    """True if a whole post holds an order to models or a prompt that somebody pasted: no model is asked about it."""
    return orders_models(post) or _patterns("prompts").search(post) is not None
