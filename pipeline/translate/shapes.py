"""What a message says by its shape, as a fact: "Unable to open <path>" is a failed opening whatever the path is.

The rows of `data/message_shapes.toml` are tried in order. A row with a noun phrase counts only if the phrase is made of
names and known terms; a later row without it says less, and nothing wrong. What the message itself says of a fact that
a signature has is put into the fact's sentence (`in_its_words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from pipeline.lexicon import codes, vocabulary
from pipeline.records import Fact, warm
from pipeline.translate import phrases

#: Only the beginning of a message is read: it says what happened, the rest gives details.
LONGEST = 300

_PLACE = warm.pattern(r"<(what|target|subject|aspect)(\d?)>")
_FRAGMENT = warm.pattern(r"<([A-Z]+)>")
#: Where a noun phrase ends: a mark, or a word that begins something else.
_END = (
    r"(?=$|[,;:(\[]|\.(?:\s|$)| (?:in|for|with|because|from|to|on|at|by|that|which|when|since|if|while|of|as|is|are|was"
    r"|were|has|have|but|and|or|using|during|after|before|into|does|do|under|than|within|due|error|must|should|not|yet"
    r"|failed|without|and)\b)"
)
_PHRASE = r"(?P<{name}>[^\s,;:](?:(?:[^\n,;:]|:(?! )){{0,60}}?[^\s,;:])?{end})"
#: A name behind a colon belongs to the phrase: "no such column: age".
_NAMED = r"(?:(?<=[a-z]): ?['\"`]?[\w.:/+<>-]{1,60}['\"`]?(?=$|[,;()]|\.(?:\s|$)))?"
#: A sentence inside a line: a full stop, then a capital.
_NEXT_SENTENCE = warm.pattern(r"(?<=[a-z\])'\"`>])\. (?=[A-Z])|\.(?=Node number )")
_PREFIX = warm.pattern(r"^\[[A-Za-z]{3,20}\] : <n> : [A-Z_ ]{3,30} : ?")
#: Words, and what is none of a sentence's own: slots, and the small words between others.
_WORD = warm.pattern(r"[A-Za-z][A-Za-z'-]{2,}")
_NO_WORDS = warm.pattern(
    r"<[\w]{1,20}>|\b(?:the|this|that|for|from|with|was|were|are|has|have|its|and|but|not|error|exception|failed"
    r"|failure|assert|assertion|check|path)\b",
    re.IGNORECASE,
)
#: Where the expression of a check ends: two names with nothing between them that an expression has there.
_TWO_OPERANDS = warm.pattern(
    r"(?<=[\w)\]'\">])(?<!\bnot)(?<!\band)(?<!\bor)(?<!\bin)(?<!\bis) (?=[A-Za-z_\"'])"
    r"(?!(?:and|or|not|in|is|if|else)\b)"
)
#: Where the sentence names more things than the shape, it says less than the message: "to <path>", "from '<quoted>'".
_NAMES_MORE = warm.pattern(r"<[a-z_]{1,20}>")
#: Figures in brackets behind a check are its own, and where it stands.
_OF_CHECK = warm.pattern(r"[(\[]<n> (?:vs\.|[!=<>]{1,2}) <n>[)\]]|\bin function '?<[a-z]{1,20}>'?|\(<[a-z]{1,20}>\)")
#: Cut off behind such a word, a message would say more.
_CUT_OFF = warm.pattern(
    r"\W{0,3}(?:[a-z]{2,12} )?(?:in|at|to|as|from|with|for|of|by|and|or|on|into)(?: [a-z]{1,3})?\W{0,3}"
)
#: "Unknown OpenSSL error" is no unknown OpenSSL.
_OF_ERROR = warm.pattern(r" (?:errors?|exceptions?|failures?)\b", re.IGNORECASE)
#: Behind a colon of what failed stands why, where it is no file and no name of one word or two.
_REASON = warm.pattern(r": ?(?:[A-Z][a-z]+){3,}$")
#: Other spellings of terms.
_SPELLINGS = {"initialized": "initialised", "too big": "too large", "provided": "given"}


#: The slots whose value a message prints as it is.
_PRINTED = frozenset({"module", "symbol", "library", "assertion"})
#: A code where it is printed by its name, not by its text or number: "CUDA_ERROR_OUT_OF_MEMORY".
_NAME_OF_A_CODE = warm.pattern(r"(?=\w*[A-Z])[A-Za-z]\w*", re.ASCII)
#: What a catalogue's line says in brackets, with a setting in it: advice, where the message does not print it too.
_ADVICE = warm.pattern(r"（[^（）]{0,80}\b([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,9})=[^（）]{0,80}）")
#: Words that stand between operands.
_OPERATORS = frozenset(
    ("and", "or", "not", "in", "is", "if", "else", "for", "as", "lambda", "instanceof", "new", "sizeof")
)
_TOKEN = warm.pattern(r"\w+|'[^'\n]*'|\"[^\"\n]*\"|\S")


@dataclass(frozen=True, slots=True)
class Shape:
    """One row: its template, the literals of which one must occur, and its expression."""

    template: str
    literals: tuple[str, ...]
    body: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds it; compiled when a text holds one of the literals."""
        return _searching(self.body)


@cache
def _searching(body: str) -> re.Pattern[str]:
    return warm.pattern(body, re.IGNORECASE)


@cache
def rows() -> tuple[Shape, ...]:
    """The rows in their order, fragments and places filled in."""
    table = warm.table((files("pipeline") / "data" / "message_shapes.toml").read_text(encoding="utf-8"))
    fragments = table["fragments"]
    return tuple(
        Shape(row["template"], tuple(row["with"]), _filled(row["pattern"], fragments)) for row in table["shape"]
    )


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    filled = _FRAGMENT.sub(lambda found: fragments[found.group(1)], pattern)

    def place(found: re.Match[str]) -> str:
        name = found.group(1) + found.group(2)
        if found.group(1) == "aspect":
            words = sorted(phrases.tables()["aspects"], key=lambda word: (-len(word), word))
            return rf"(?<![-\w])(?P<{name}>{'|'.join(words)})\b"
        is_last = filled[found.end() : found.end() + 1] in ("", "|")
        return _PHRASE.format(name=name, end=_END + _NAMED if is_last else "")

    return _PLACE.sub(place, filled)


def shape(text: str) -> Fact | None:
    """The fact that the message states by its shape, None if it has none of the known ones."""
    found = read(text)
    return None if found is None else found.fact


@dataclass(frozen=True, slots=True)
class Read:
    """What a message states by its shape, and what of its sentence that is not: before the shape and behind it."""

    fact: Fact
    before: str
    behind: str

    @property
    def left(self) -> str:
        """What of the sentence the fact does not say."""
        return f"{self.before} {self.behind}"

    @property
    def words_left(self) -> int:
        """How many words of the sentence the fact does not say."""
        return words(self.left)

    @property
    def says_less(self) -> bool:
        """Whether what stands behind the shape names what the shape does not, or was cut off where it would."""
        told = _OF_CHECK.sub("", self.behind)
        return bool(_NAMES_MORE.search(told) or _CUT_OFF.fullmatch(told.strip()) or _OF_ERROR.match(self.behind))


def words(text: str) -> int:
    """How many words of its own a text has: no slots, nor the small words between others."""
    return len(_WORD.findall(_NO_WORDS.sub(" ", text)))


def read(text: str) -> Read | None:
    """The fact that the message states by its shape with what it leaves out, None if it has none of the known ones."""
    whole = _PREFIX.sub("", text.strip())
    start = _NEXT_SENTENCE.split(whole[:LONGEST].split("\n", 1)[0], maxsplit=1)[0]
    lowered = start.lower()
    candidates = (row for row in rows() if any(literal in lowered for literal in row.literals))
    rest = whole[len(start) :]
    return next((found for row in candidates for found in _facts(row, start.rstrip(" ."), rest)), None)


def _facts(row: Shape, text: str, rest: str) -> Iterator[Read]:
    for found in row.pattern.finditer(text):
        slots: dict[str, str] = {}
        behind = f"{text[found.end() :]} {rest}".rstrip()
        for group, value in found.groupdict().items():
            if value is not None:
                name = group.rstrip("0123456789")
                told, beside = _expression(value) if name == "check" else (value, "")
                kept = _slot(name, told, found.start(group) == 0)
                if kept is None or (row.template == "shape.failed_what" and _REASON.search(kept)):
                    break
                slots[name], behind = kept, f"{beside}{behind}"
        else:
            yield Read(Fact(row.template, tuple(sorted(slots.items()))), text[: found.start()], behind)


def _expression(check: str) -> tuple[str, str]:
    """(the expression of a check, what was printed behind it)."""
    end = _TWO_OPERANDS.search(check)
    return (check, "") if end is None else (check[: end.start()], check[end.start() :])


def _slot(name: str, value: str, starts_sentence: bool) -> str | None:
    words = phrases.tables()
    match name:
        case "operation":
            return words["operations"].get(value.lower())
        case "aspect":
            return words["aspects"][value.lower()]
        case "state" | "extent" | "provision":
            return _SPELLINGS.get(value.lower(), value.lower())
        case "what" | "target" | "subject":
            return value if phrases.masked(value, starts_sentence=starts_sentence) is not None else None
        case _:
            return value


def _family(fact: Fact) -> str | None:
    """The family of the code of which the fact says more than its name."""
    told = {name for name, _ in fact.slots}
    families = (family for family, template in vocabulary.meanings_of_codes().items() if template == fact.template)
    return next(families, None) if {"code"} < told else None


def is_said(fact: Fact, said: str) -> bool:
    """Whether the message itself says the fact: what only stood in a value of its reports, it does not say."""
    told = dict(fact.slots)
    family = _family(fact)
    if family is not None:
        return f"{family}:{told['code']}" in codes.codes_in(said)
    if fact.template == "meaning.signal":
        return told["signal"].startswith("SIG")
    if fact.template == "meaning.assertion" and _is_sentence(told["assertion"]):
        return False
    return all(value in said for name, value in told.items() if name in _PRINTED)


def _is_sentence(assertion: str) -> bool:
    """Whether words stand side by side as in no expression: what failed is said in it, or behind it without a mark."""
    tokens = (token if token not in _OPERATORS else "+" for token in _TOKEN.findall(assertion))
    return any(one[-1].isalnum() and other.isidentifier() for one, other in pairwise(tokens))


def in_its_words(chinese: str, fact: Fact, said: str) -> str:
    """The fact's sentence with its code as the message names it, and without advice that the message does not print.

    A code of CUDA's runtime may stand there by the driver's name.
    """
    chinese = _ADVICE.sub(lambda aside: aside[0] if aside[1] in said else "", chinese)
    code = dict(fact.slots).get("code", "")
    family = _family(fact)
    if family is None or code in said:
        return chinese
    named = (m for _, m in codes.mentions(said) if m.code == f"{family}:{code}")
    printed = next((word for m in named if _NAME_OF_A_CODE.fullmatch(word := said[m.start : m.end])), code)
    return chinese.replace(code, printed)
