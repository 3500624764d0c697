"""The translation memory: sentences that people translated, found again where only numbers and names differ.

A text is known by its template: what it says with its code, numbers, names and quoted values as places `{1}`, ...
in their order. Only an exact template counts. `memory/zh_Hans.po` has the English of general sentences and is meant to
be extended by hand; what threads and programs say is not ours to ship, so in `memory/written_zh_Hans.tsv` a template is
known by the first 16 hex digits of its sha256 (`key`). `python -m pipeline.translate.compile_memory` adds rows to that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline.lexicon import explanations, gates
from pipeline.records import warm
from pipeline.translate import rendering
from pipeline.translate.engines import Offer
from pipeline.translate.rendering import pairs

#: The two kinds of a text: an error message, which is explained, and words of people, which are translated.
SIGNATURE, STATEMENT = "signature", "statement"

_SLOT = r"<[a-z_]{1,30}>"
#: What is a place: a quoted word, code; a word with a slot in it; an identifier; a number.
_VALUE = warm.pattern(
    r"\{\d{1,2}\}|(?<![\w'])'[^'\s]{1,120}'(?!\w)|(?<![\w\"])\"[^\"\s]{1,120}\"(?!\w)|`[^`\n]{1,120}`"
    rf"|(?:[\w./@+$%-]{{0,60}}{_SLOT}){{1,8}}(?:[\w./@+-]{{0,60}}[\w/])?"
    rf"|{gates.PROTECTED.pattern}|-?\d+(?:[.,]\d+)*",
    re.ASCII,
)
PLACE = warm.pattern(r"\{(\d{1,2})\}")
#: More places than this, and what is left is no sentence.
MOST_PLACES = 40
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Template:
    """A text with its values as places, and the values in the order of the places."""

    text: str
    values: tuple[str, ...]


def template(text: str) -> Template | None:
    """The template of a text; None of one that is too long, or of more places, than any that people translate."""
    if len(text) > gates.LONGEST:
        return None
    values: list[str] = []

    def place(match: re.Match[str]) -> str:
        values.append(match.group())
        return f"{{{len(values)}}}"

    found = _VALUE.sub(place, " ".join(text.split()))
    return None if len(values) > MOST_PLACES else Template(found, tuple(values))


def key(context: str, text: str) -> str:
    """What a template is known by, also where a text differs in case, spaces or the mark at its end."""
    said = " ".join(PLACE.sub("{}", text).lower().split()).rstrip(" .。!:")
    return hashlib.sha256(f"{context}\x1f{said}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def filled(chinese: str, values: tuple[str, ...]) -> str | None:
    """The Chinese with the values in its places, None if it has a place for which there is none."""
    order = [int(number) - 1 for number in PLACE.findall(chinese)]
    if any(index not in range(len(values)) for index in order):
        return None
    return rendering.restore(
        rendering.set_marks(PLACE.sub(rendering.MARK, chinese)), [values[index] for index in order]
    )


def explained(chinese: str, values: tuple[str, ...]) -> str | None:
    """As `filled`, for a message: a name without its quotes, a code with what it means; more words of code as code."""
    given = {int(number) - 1 for number in PLACE.findall(rendering.given_to_calls(chinese))}
    return filled(chinese, tuple(value if place in given else _shown(value) for place, value in enumerate(values)))


def _shown(value: str) -> str:
    return value if value.startswith("`") and " " in value else rendering.annotated(value.strip("'\"`"))


def refusals(context: str, english: str, chinese: str) -> dict[str, bool]:
    """What each gate says of the Chinese of a template: name -> passed. Both must have the same places."""
    places = set(PLACE.findall(english))
    said = PLACE.sub(r"`Layer\1`", english)
    told = filled(chinese, tuple(f"`Layer{number}`" for number in range(1, MOST_PLACES + 1))) or ""
    asked = gates.GATES if context == STATEMENT else explanations.GATES | {"specific": gates.specific}
    passed = {"places": places == set(PLACE.findall(chinese))} | gates.check(said, told, gates=asked)
    if not passed["repetition"]:  # values differ where places are alike
        passed["repetition"] = gates.repetition("", PLACE.sub("", chinese))
    return passed


@dataclass(frozen=True, slots=True)
class Memory:
    """The Chinese of templates by `key`."""

    pairs: Mapping[str, str]

    def offer(self, source: str) -> Offer | None:
        """The remembered translation of a statement with its own numbers and names, None if it is not known."""
        found = template(source)
        chinese = self.pairs.get(key(STATEMENT, found.text)) if found else None
        text = filled(chinese, found.values) if found and chinese else None
        return None if text is None else Offer(text, "tm_exact", "tm/statements")

    def explanation(self, message: str) -> Offer | None:
        """What a message means, with its own numbers and names, None if it is not known."""
        found = template(message)
        chinese = self.pairs.get(key(SIGNATURE, found.text)) if found else None
        text = explained(chinese, found.values) if found and chinese else None
        return None if text is None else Offer(text, "tm_exact", "tm/signatures")


def memory(po: str, rows: str = "") -> Memory:
    """The memory that a PO text of statements and the rows of a table of keys hold."""
    by_key = dict(row.split("\t", 1) for row in rows.splitlines())
    told = {key(STATEMENT, english): chinese for english, chinese in _templates(po)}
    return Memory(by_key | told)


def _templates(po: str) -> list[tuple[str, str]]:
    return [(found.text, chinese) for english, chinese in pairs(po) if (found := template(english))]


@cache
def shipped_memory() -> Memory:
    """The memory that comes with the package."""
    folder = files("pipeline") / "translate" / "memory"
    po, rows = ((folder / name).read_text(encoding="utf-8") for name in ("zh_Hans.po", "written_zh_Hans.tsv"))
    return memory(po, rows)


@dataclass(frozen=True, slots=True)
class Accepted:
    """What people translated for one home and its gates accepted: Chinese by (context, text).

    A statement stands there as it was said, a message by its template.
    """

    texts: Mapping[tuple[str, str], str]

    def offer(self, source: str) -> Offer | None:
        """The Chinese that somebody wrote for a statement, None if nobody did."""
        text = self.texts.get((STATEMENT, source))
        return None if text is None else Offer(text, "human", "tm/home")

    def explanation(self, message: str) -> Offer | None:
        """The Chinese that somebody wrote for an error message of that template, None if nobody did."""
        found = template(message)
        chinese = self.texts.get((SIGNATURE, found.text)) if found else None
        text = explained(chinese, found.values) if found and chinese else self.texts.get((SIGNATURE, message))
        return None if text is None else Offer(text, "human", "tm/home")
