"""What of a template's text is compared: the text with slots folded, and the words that carry its meaning."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.records import Template

#: A typed slot as `normalise` writes it. Bounded, so hostile text costs no more than its length.
SLOT = re.compile(r"<[a-z][a-z0-9_-]{0,30}>")
#: One character stands for every slot: `<shape>` in both texts must not count as seven equal characters.
SLOT_CHARACTER = "\ue000"
_SLOTS = frozenset({SLOT_CHARACTER})
#: A fuzzy ratio costs length times length / 64; error messages are told apart long before this many characters.
COMPARED_CHARACTERS = 2000
#: Ends that say "this text was cut": they are no part of what is compared.
CUT_END = re.compile(r"(?:\s|\.{2,}|…|\[truncated\])+\Z")

_VALUES_ONLY = re.compile(r"(?:[\w.$]{2,120}: )?(?:\W{0,4}<[a-z]{1,10}>\W{0,4}){1,3}")
_SPACE = re.compile(r"\s+")
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
TOKEN = re.compile(rf"\ue000|[{_CJK}]|[^\W\ue000{_CJK}]+")


@dataclass(frozen=True, slots=True)
class Shape:
    """A template's text, ready for comparison."""

    text: str  # folded: lower case, single spaces, one character a slot, bounded
    tokens: tuple[str, ...]  # words, numbers and slots in order

    @property
    def words(self) -> frozenset[str]:
        """The distinct tokens without slots; made when somebody asks: a set is as large as all else of a shape."""
        return frozenset(self.tokens) - _SLOTS


def folded(text: str) -> str:
    """The text in lower case with single spaces and one character for each slot, at most COMPARED_CHARACTERS long.

    Where slots are all that is said, or all behind an exception's name, they stay: a path is not a name.
    """
    bounded = text[: 4 * COMPARED_CHARACTERS]
    if _VALUES_ONLY.fullmatch(bounded):
        return bounded.strip().lower()
    return _SPACE.sub(" ", SLOT.sub(SLOT_CHARACTER, bounded)).strip().lower()[:COMPARED_CHARACTERS]


def tokens(folded_text: str) -> tuple[str, ...]:
    """The words, numbers and slots of a folded text in order; a CJK character is a word of its own.

    Texts share their words: each is there once.
    """
    return tuple(map(sys.intern, TOKEN.findall(folded_text)))


def shape(template: Template) -> Shape:
    """The shape of a template; a truncated one loses the mark of its cut."""
    text = folded(template.text)
    if template.is_truncated:
        text = CUT_END.sub("", text)
    return Shape(text, tokens(text))


def merged(templates: Iterable[Template]) -> list[Template]:
    """The templates with each `signature_id` once, sorted by id: counts added up, the earliest date kept.

    Workers that saw parts of one corpus hand in the same template several times; the result is what one worker
    would have handed in.
    """
    kept: dict[str, Template] = {}
    for template in templates:
        known = kept.get(template.signature_id)
        kept[template.signature_id] = template if known is None else _joined(known, template)
    return [kept[signature_id] for signature_id in sorted(kept)]


def _joined(one: Template, other: Template) -> Template:
    dates = [seen for seen in (one.first_seen, other.first_seen) if seen]
    types = [name for name in (one.exception_type, other.exception_type) if name is not None]
    return Template(
        signature_id=one.signature_id,
        exception_type=min(types, default=None),
        text=min(one.text, other.text),
        gate=min(one.gate, other.gate),
        is_gate_complete=one.is_gate_complete or other.is_gate_complete,
        is_truncated=one.is_truncated and other.is_truncated,
        is_official=one.is_official or other.is_official,
        count=one.count + other.count,
        first_seen=min(dates, default=""),
    )
