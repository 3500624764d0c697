"""A code where a text mentions it, and the ways to read what is printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from pipeline.lexicon import catalogues
from pipeline.lexicon.catalogues import Entry
from pipeline.records import warm
from pipeline.text.needed import Literals

# A code where a text names it, and the ways of finding one.


@dataclass(frozen=True, slots=True)
class Mention:
    """A code and the words of a text that name it."""

    code: str  # "cuda:cudaErrorIllegalAddress", as the catalogue spells it
    start: int
    end: int
    values: tuple[tuple[str, str], ...] = ()  # amounts that the words give, by name


Reader = Callable[[str], Iterable[Mention]]


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which programs name their codes."""

    name: str
    signs: tuple[str, ...]  # literals in lower case: without one of them the text names nothing in this way
    read: Reader
    decides: bool = False  # whether the code says alone which error a message is
    reach: int | None = None  # how far into a message it does; further down the words belong to something else


def lowered(text: str) -> str:
    """The text in lower case, every letter in its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def starts_word(text: str, at: int) -> bool:
    """Whether no identifier runs into `at`; the letter of an escaped line break is none.

    Cheaper after the match than as a look-behind, which hides the first letter from the engine.
    """
    if at == 0:
        return True
    before = text[at - 1]
    if not (before.isascii() and (before.isalnum() or before == "_")):
        return True
    return before in "nrt" and at > 1 and text[at - 2] == "\\"


def is_compared(text: str, at: int) -> bool:
    """Whether the name is an operand of a printed condition (`e == cudaErrorCudartUnloading`), not the outcome."""
    return text[max(at - 3, 0) : at].rstrip().endswith(("==", "!="))


# The texts that GPU software prints for its errors: which they are, and where they count.
#
# A text such as "invalid argument" is a code only where words announce it; one of five words is printed by its program
# alone and counts wherever it stands. The announcing words are rows of `pipeline/data/catalogues/contexts.toml`. A text
# in capitals is somebody else's: TensorFlow's "UNKNOWN ERROR (-1)" says that there is no driver to ask.

#: A text of so many words is printed by its program alone ("an illegal memory access was encountered" has six);
#: shorter ones ("out of memory") need words that announce them, or the catalogue says where they stand.
SENTENCE_WORDS = 5
#: How far behind the announcing words, on their line, a text is looked for.
_STRETCH = 320
#: A text of so many letters is no part of another sentence; a shorter one needs marks before and behind it.
_LONG_TEXT = 20
_BEFORE = frozenset(":'\"(`,=")
_BEHIND = frozenset(("", "'", '"', ")", ".", "`", ",", "\\", "\r", "("))
#: What stands before the text of an error wherever a program prints it, and what ends it.
_OPENING = warm.pattern(r"[:,'\"`(] {0,3}(?=([A-Za-z]+))")
_CLOSING = warm.pattern(r"[.'\"`),;:\]|]|\s{0,4}(?:$|\n)| (?:at|in|on|when|while|during|after|with|for|\(|\[|/|-)")
#: How many openings of a text are tried: a log of a million colons is no message.
_MOST_OPENINGS = 400

_FAMILIES = {"cuda": catalogues.cuda_errors, "hip": catalogues.hip_errors, "nccl": catalogues.nccl_results}


@cache
def rows(family: str) -> tuple[Mapping[str, Any], ...]:
    """The rows of contexts.toml for one family."""
    path = files("pipeline") / "data" / "catalogues" / "contexts.toml"
    return tuple(row for row in warm.table(path.read_text("utf-8"))["context"] if row["family"] == family)


@cache
def context(family: str) -> re.Pattern[str]:
    """The words that announce a text of the family, up to the text itself."""
    return warm.pattern("|".join(f"(?:{row['pattern']})" for row in rows(family)))


def _wordings(row: Entry) -> tuple[str, ...]:
    return tuple(words.lower().rstrip(".") for words in (row.string, *row.printed) if words)


@cache
def texts(family: str) -> Mapping[str, str]:
    """The code by each text of the family in lower case, longest text first; of two with one text the first."""
    found: dict[str, str] = {}
    for code, row in _FAMILIES[family]().items():
        for words in _wordings(row):
            found.setdefault(words, code)
    return MappingProxyType({words: found[words] for words in sorted(found, key=lambda words: (-len(words), words))})


@cache
def text_pattern(family: str) -> re.Pattern[str]:
    """Any text of the family, the longest that fits, as whole words of a text in lower case."""
    return warm.pattern(rf"(?<![a-z])(?:{'|'.join(map(re.escape, texts(family)))})(?![a-z])")


@cache
def sentences(family: str) -> tuple[str, ...]:
    """The texts of the family that are known wherever they stand."""
    return tuple(
        words
        for row in _FAMILIES[family]().values()
        for words in _wordings(row)
        if len(words.split()) >= SENTENCE_WORDS or words in map(str.lower, row.anywhere)
    )


@cache
def messages(family: str) -> frozenset[str]:
    """The short texts of the family that are known where they are the whole message."""
    return frozenset(words.lower() for row in _FAMILIES[family]().values() for words in row.alone)


@cache
def _literals(family: str) -> Literals:
    return Literals(sentences(family))


def sentence(family: str) -> Callable[[str], Iterator[Mention]]:
    """A reader of the family's sentences; a short one ends where a text ends (not "invalid device ordinal value")."""

    def read(text: str) -> Iterator[Mention]:
        for words, places in _literals(family).seen(lowered(text)).items():
            is_long = len(words.split()) >= SENTENCE_WORDS
            for at in places:
                if is_long or _CLOSING.match(text, at + len(words)):
                    yield Mention(texts(family)[words], at, at + len(words))

    return read


def whole(family: str) -> Callable[[str], Iterator[Mention]]:
    """A reader of the family's short texts where one of them is all that a line says."""

    def read(text: str) -> Iterator[Mention]:
        begin = 0
        for line in text.split("\n"):
            words = line.rpartition(": ")[2].strip(" .\r")
            if words.lower() in messages(family):
                at = begin + line.rfind(words)
                yield Mention(texts(family)[words.lower()], at, at + len(words))
            begin += len(line) + 1

    return read


def announced(family: str) -> Callable[[str], Iterator[Mention]]:
    """A reader of the family's texts behind words that announce one."""

    def read(text: str) -> Iterator[Mention]:
        lower = lowered(text)
        for match in context(family).finditer(text):
            found = text_pattern(family).match(lower, match.end()) or _behind(lower, match.end(), family)
            if found is not None and not text[found.start() : found.end()].isupper():
                yield Mention(texts(family)[found[0]], match.start(), found.end())

    return read


def _behind(lower: str, start: int, family: str) -> re.Match[str] | None:
    """The text that stands on the same line not far behind, if it is long or set off by marks."""
    end = lower.find("\n", start, start + _STRETCH)
    end = min(end if end >= 0 else start + _STRETCH, len(lower))
    found = text_pattern(family).search(lower, start, end)
    if found is None or (len(found[0]) < _LONG_TEXT and not _is_set_off(lower, found, start, end)):
        return None
    return found


def _is_set_off(lower: str, found: re.Match[str], start: int, end: int) -> bool:
    before = lower[start : found.start()].rstrip()[-1:]
    return before in _BEFORE and lower[found.end() : end].lstrip()[:1] in _BEHIND


@cache
def _by_first_word(family: str) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for words in texts(family):
        if first := re.match(r"[a-z]+", words):
            found.setdefault(first[0], []).append(words)
    return MappingProxyType(found)


def marked(family: str, announces: Callable[[str], bool]) -> Callable[[str], Iterator[Mention]]:
    """A reader of the family's texts between marks, on a line of which the words before announce one."""

    def read(text: str) -> Iterator[Mention]:
        lower = lowered(text)
        for count, opening in enumerate(_OPENING.finditer(lower)):
            if count == _MOST_OPENINGS:
                return
            for words in _by_first_word(family).get(opening[1], ()):
                end = opening.end() + len(words)
                if not lower.startswith(words, opening.end()) or text[opening.end() : end].isupper():
                    continue
                if not _CLOSING.match(text, end):
                    continue
                line = text.rfind("\n", 0, opening.start()) + 1
                if announces(text[max(line, opening.start() - _STRETCH) : opening.start()]):
                    yield Mention(texts(family)[words], opening.end(), end)
                    break

    return read
