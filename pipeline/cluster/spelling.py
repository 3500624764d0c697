"""The words of a text as titles are made of, and whether two of them are one, differently spelt."""

from __future__ import annotations

import builtins
import re
from functools import cache, lru_cache

from pipeline.cluster.shapes import SLOT
from pipeline.cluster.words import is_deciding, is_variant, weight

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PIECE = rf"(?:{SLOT.pattern}|[^\W{_CJK}]+)"
#: A name is one word with all its parts: `torch.nn.Linear`, `sm_<n>`, `compare-and-swap`.
WORD = re.compile(rf"[{_CJK}]|{_PIECE}(?:(?:\.|::|[/@$-])?{_PIECE})*")
_JOINTS = re.compile(r"\.|::|[/@$-]")
_SENTENCE = re.compile(r"(?:\A|[.:;!?)\]>]\s*)[\W_]*\Z")
#: A word with such a letter is a name or a value, no word of a sentence.
_OF_NAMES = re.compile(r"[\d_]|[^\W_](?:\.|::|[/@$])[^\W_]|\w[A-Z]")
#: A type before the message that begins with a word, without a blank: "ImportErrorNo".
_TYPE_BEFORE = re.compile(r"\w{0,60}(?:Error|Exception)")


def key(word: str) -> str:
    """What a word is compared by: its letters and digits, in lower case, without slots."""
    return re.sub(r"[\W_]+", "", SLOT.sub("", word.casefold())) or word


def is_telling(word: str) -> bool:
    """Whether a word says something: neither a slot, nor a word that any sentence has, nor a single letter."""
    return (
        SLOT.fullmatch(word) is None
        and (len(word) > 1 or not word.isascii())
        and bool(weight(frozenset([word.lower()])))
    )


def is_value(word: str, before: str) -> bool:
    """Whether a word behind `before` is a name or a value: by its letters, or because it stands in quotes."""
    if _OF_NAMES.search(word) or before.endswith(("'", '"', "`", "‘", "“")):
        return True
    return word[0].isupper() and _SENTENCE.search(before) is None


_NEGATIONS = frozenset(("no", "not", "non", "never", "without", "cannot"))


def is_negation(word: str) -> bool:
    """Whether a word turns the one behind it round."""
    return word.lower() in _NEGATIONS


@lru_cache(maxsize=4096)
def is_same(one: str, other: str) -> bool:
    """Whether two words are one: in another case or with other marks, an inflection, a slip of one letter, a name
    behind its packages or before its members, or a value where the first has a slot in it.
    """
    if key(one) == key(other):
        return True
    short, long = sorted((one, other), key=len)
    if long.endswith(short) and _TYPE_BEFORE.fullmatch(long.removesuffix(short)):
        return True
    short, long = short.casefold(), long.casefold()
    if long.startswith(f"{short}.") or (long.endswith(short) and _JOINTS.fullmatch(long[: -len(short)][-1:])):
        return True
    if SLOT.search(one):
        return _form(one).fullmatch(other) is not None
    if _OF_NAMES.search(one) or _OF_NAMES.search(other) or is_deciding(short) or is_deciding(long):
        return False  # of names one letter is another name
    return is_variant(short, long)


@cache
def _form(word: str) -> re.Pattern[str]:
    """What a word with slots may stand for."""
    return re.compile(r"\S{1,120}".join(map(re.escape, SLOT.split(word))), re.IGNORECASE)


def is_any_type(kind: str) -> bool:
    """Whether the name of a type says no more than that something failed."""
    return kind in _ANY


def is_type(one: str, other: str) -> bool:
    """Whether an exception of type `one` is one of type `other`: the same behind its packages, or a kind of it."""
    if other in (one, of_any(one)) or one.rpartition(".")[2] == other.rpartition(".")[2]:
        return True
    mine, its = (getattr(builtins, name.removeprefix("builtins."), None) for name in (one, other))
    return isinstance(mine, type) and isinstance(its, type) and its not in _BROAD and issubclass(mine, its)


def of_any(kind: str) -> str:
    """A type without what it wraps: `RayTaskError(ValueError)` is a `RayTaskError`."""
    return kind.partition("(")[0]


#: Any error is of such a type: to show it would say nothing.
_BROAD = (object, BaseException, Exception)
_ANY = frozenset(("Error", "Exception", "error"))
