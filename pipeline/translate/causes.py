"""What people say about the cause of an error, as a typed fact: "X is not installed" -> missing_package.

The rows of `data/causes.toml` are tried in order on the words behind the cue; what none of them reads has no type.
The words themselves stay as they were said: a type adds the sentence that both languages have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pipeline.lexicon import vocabulary
from pipeline.lexicon.products import products
from pipeline.records import Fact, warm
from pipeline.translate import phrases

#: Longer texts are no quote.
LONGEST = 400
#: A cause is said first, details follow: so far behind the cue a row may begin to match.
_REACH = 140

_PLACE = warm.pattern(r"(?<!\?P)<(what|target|subject|aspect)(\+?)>")
_FRAGMENT = warm.pattern(r"<([A-Z]+)>")
#: Where a noun phrase ends for good: what goes on with "that", "for" or "in" is narrowed, and without it another thing.
_END = (
    r"(?=$|[,;:)!?]|\.(?:\s|$)| [(\[]| - | (?:because|when|since|if|while|but|so|due|instead|rather|here|anymore"
    r"|any more|yet|itself|at all|currently|properly|correctly|is|are|was|were)\b)"
)
#: Where it ends as `<what+>`: of what is wrong or missing itself it may be left out where that stands.
_ANYWHERE = _END.removesuffix(r")\b)") + r"|in|on|at|inside|within|from)\b)"
_PHRASE = r"(?P<{name}>[^\s,;:()](?:(?:[^\n,;:()]|:(?! )|\(\)){{0,60}}?[^\s,;:(])?{end})"
#: What follows a phrase that ends a pattern or a branch of it: nothing that must be there.
_BEHIND_LAST = warm.pattern(r"$|[|)]|\(\?!|\(\?:[^()]*\)\?(?:$|[|)])")
#: Words of slots that have one spelling in the catalogue.
_SPELLINGS = {
    "bigger": "larger",
    "too big": "too large",
    "writing": "write",
    "reading": "read",
    "space": "spaces",
    "whitespace": "spaces",
    "whitespaces": "spaces",
    "white space": "spaces",
    "white spaces": "spaces",
    "special character": "special characters",
    "unicode characters": "non-ASCII characters",
    "unicode character": "non-ASCII characters",
    "non-ascii characters": "non-ASCII characters",
    "non-ascii character": "non-ASCII characters",
    "chinese characters": "Chinese characters",
    "chinese character": "Chinese characters",
    "backslash": "backslashes",
    "back slash": "backslashes",
    "back slashes": "backslashes",
}
_TERMS = frozenset({"relation", "blank", "access", "extent", "time", "barrier", "done", "act"})
_VAGUE = frozenset({"big", "large", "small", "new", "old", "last", "latest", "whole", "entire", "different", "correct"})
_NOUNS = frozenset({"what", "target", "subject"})
#: What may be the spelling of a product: "@scope/name-node" is another package than its product.
_BARE = warm.pattern(r"[A-Za-z][A-Za-z0-9+-]{0,40}")
_LETTER = warm.pattern(r"[A-Za-z]")
#: No things that can be wrong or missing: words for the error itself, and pronouns in the middle.
_HOLLOW = warm.pattern(
    r"(?:^|\s)(?:causes?|reasons?|problems?|issues?|errors?|bugs?|warnings?|messages?|exceptions?|crash|failures?|traceback)$"
    r"|(?<! of)\s(?:that|this|these|those|any|some|the|an?|my|your|each|both|all)(?:\s|$)|^(?:here|there|it|time)$",
    re.IGNORECASE,
)
#: The last of several that are listed: what is said of it is said of all.
_LISTED = warm.pattern(r"(?:[\w.`'\"]+, (?:and |or )?){2}$")


@dataclass(frozen=True, slots=True)
class Row:
    """One way to say a cause: its template, the literals of which one must occur, its expression, what refuses it."""

    template: str
    literals: tuple[str, ...]
    body: str
    refused: str | None

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds it; compiled when a text holds one of the literals, for 200 take half a second."""
        return _searching(self.body)

    @property
    def refuse(self) -> re.Pattern[str] | None:
        """What refuses a text in which it is found."""
        return None if self.refused is None else _searching(self.refused)


@cache
def _searching(body: str) -> re.Pattern[str]:
    return warm.pattern(body, re.IGNORECASE)


@cache
def table() -> dict[str, Any]:
    """The content of causes.toml."""
    return warm.table((files("pipeline") / "data" / "causes.toml").read_text(encoding="utf-8"))


@cache
def rows() -> tuple[Row, ...]:
    """The rows in their order, fragments and places filled in."""
    return tuple(compiled(row) for row in table()["cause"])


def compiled(row: Mapping[str, Any]) -> Row:
    """One row of the table, ready to search with."""
    return Row(row["template"], tuple(row["with"]), _filled(row["pattern"]), row.get("refuse") or None)


def _filled(pattern: str) -> str:
    fragments = table()["fragments"]
    filled = _FRAGMENT.sub(lambda found: f"(?:{fragments[found.group(1)]})", pattern)

    def place(found: re.Match[str]) -> str:
        name = found.group(1)
        if name == "aspect":
            words = sorted(phrases.tables()["aspects"], key=lambda word: (-len(word), word))
            return rf"(?<![-\w])(?P<aspect>{'|'.join(words)})\b"
        is_last = _BEHIND_LAST.match(filled, found.end()) is not None
        end = _ANYWHERE if found.group(2) else _END
        return _PHRASE.format(name=name, end=end if is_last else "")

    return _PLACE.sub(place, filled)


@cache
def _facts_of() -> Mapping[str, Mapping[str, Any]]:
    return {**vocabulary.table()["facts"], **table()["facts"]}


def type_of(fact: Fact | None) -> str | None:
    """The type of cause that a fact states, an id of `cause_types` in vocabulary.toml; None for a fact of no type."""
    return None if fact is None else type_of_template(fact.template)


def type_of_template(template: str) -> str | None:
    """The type of cause that a template states."""
    kind = _facts_of().get(template, {}).get("type")
    return str(kind) if kind else None


def cause(text: str) -> Fact | None:
    """The fact that a quoted cause states, None where no row is sure of it."""
    if len(text) > LONGEST or _expanded("refuse").search(text):
        return None
    plain = " ".join(text.split())
    is_announced = _expanded("behind").search(plain) is not None
    found = (fact for region in _regions(plain) for fact in _facts(plain, region))
    return next((fact for fact in found if fact.slots or is_announced), None)


@cache
def _expanded(name: str) -> re.Pattern[str]:
    return warm.pattern(table()["cue"][name], re.IGNORECASE)


def _regions(text: str) -> Iterator[int]:
    """Where to look from: behind the last cue that announces the cause, else from the start."""
    cues = list(_expanded("behind").finditer(text))
    yield from (cue.start() for cue in cues)
    if not cues or not _expanded("word").search(text, cues[-1].end()):
        yield 0


def _facts(text: str, start: int) -> Iterator[Fact]:
    region = text[start:].lstrip(" ,:")
    lowered = region.lower()
    for row in rows():
        if any(literal in lowered for literal in row.literals) and not (row.refuse and row.refuse.search(text)):
            yield from _read(row, region)


def _read(row: Row, region: str) -> Iterator[Fact]:
    at = 0
    while (found := row.pattern.search(region, at)) is not None and found.start() <= _REACH:
        slots = {name: _slot(name, value, found) for name, value in found.groupdict().items() if value is not None}
        if None not in slots.values() and not _LISTED.search(region, 0, found.start()) and _names(row.template, slots):
            yield Fact(row.template, tuple(sorted((name, value) for name, value in slots.items() if value)))
            return
        at = found.start() + 1


def _names(template: str, slots: Mapping[str, str | None]) -> bool:
    """Whether the fact names something, where its template asks for it: a name, or a phrase of more than one term."""
    if not _facts_of().get(template, {}).get("names"):
        return True
    return any(value and name in _NOUNS and _is_specific(value) for name, value in slots.items())


def _is_specific(phrase: str) -> bool:
    found = phrases.masked(phrase)
    if phrase.split(maxsplit=1)[0].lower() in _VAGUE:
        return bool(found and found[1])
    return found is None or bool(found[1]) or _LETTER.search(found[0]) is not None or len(phrase.split()) > 1


def _noun(words: str, *, is_first: bool) -> str | None:
    """The phrase without its article, None where it has a word that is neither a name nor a term, or names nothing."""
    bare = phrases.undetermined(words)
    if not _LETTER.search(bare) or _HOLLOW.search(bare):
        return None
    named = " ".join(products().get(word.lower(), word) if _BARE.fullmatch(word) else word for word in bare.split())
    return named if phrases.masked(named, starts_sentence=is_first) is not None else None


def _slot(name: str, value: str, found: re.Match[str]) -> str | None:
    """The value as it is kept, None where a phrase has a word that is neither a name nor a term."""
    words = " ".join(value.split())
    if name == "aspect":
        found_aspect = phrases.tables()["aspects"][words.lower()]
        return None if found_aspect == "number" else found_aspect  # of what, the row does not read
    if name in _TERMS:
        return _SPELLINGS.get(words.lower(), words.lower())
    if name in _NOUNS:
        return _noun(words, is_first=found.start(name) == 0)
    return words.strip("`")
