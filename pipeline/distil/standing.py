"""Whether a statement stands by itself: readers see its words alone, and nothing of the thread that they point at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pipeline.distil import tables

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z_][\w.]{2,}")
_NAME = re.compile(r"\w[_.]\w|[a-z][A-Z]")
#: What only leads to the words that would say something: addresses, changes, people.
_LED = re.compile(
    r"\[(?:here|this|that|link|this \w+)\]\([^()\s]{1,300}\)|\]\([^()\s]{1,300}\)|(?:https?://|www\.)[^\s)>\]]{1,300}"
    r"|(?:[\w.-]{1,40}/[\w.-]{1,60})?#\d{1,6}\b|@[\w-]{1,40}|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"
)
_EMPTY_MARKS = re.compile(r"(?<![\w.)\]])\(\s{0,3}\)|``|(?<!\w)''(?!\w)")


@dataclass(frozen=True, slots=True)
class _Row:
    reason: str
    of: frozenset[str]
    within: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None


@cache
def _rows() -> tuple[_Row, ...]:
    return tuple(
        _Row(
            row["reason"],
            frozenset(row["of"]),
            row["in"],
            tables.expanded(row["pattern"]),
            tables.expanded(row["except"]) if "except" in row else None,
        )
        for row in tables.table("standing.toml")["row"]
    )


@cache
def _lead() -> re.Pattern[str]:
    return tables.expanded(tables.table("standing.toml")["lead"])


@cache
def _gap() -> re.Pattern[str]:
    """Where inline code is missing: two blanks, or a mark apart, beside a word that wants another."""
    words = tables.table("standing.toml")
    after, before = words["gap_after"], words["gap_before"]
    return re.compile(
        rf"\b(?:{after})(?: {{2,}}(?=\S)| (?=[.,;)](?:\s|$)))|(?<=[\w)\]]) {{2,}}(?=(?:{before})\b)", re.IGNORECASE
    )


@cache
def _hollow() -> frozenset[str]:
    return frozenset(tables.table("standing.toml")["hollow"])


def fault(quote: str, kind: str, *, is_rendered: bool) -> str | None:
    """The reason for which `quote` says nothing by itself, None if it does.

    `kind` is "cause", "act" (what was done, in words alone) or "fact" (the same, and a typed fact says it);
    `is_rendered`: the page may have lost its inline code.
    """
    text = " ".join(quote.split("\n"))
    if is_rendered and has_hole(text):
        return "hole"
    said = _said(text)
    for row in _rows():
        within = said if row.within == "said" else text
        if kind in row.of and row.pattern.search(within) and not (row.unless and row.unless.search(within)):
            return row.reason
    return "points_elsewhere" if kind == "cause" and not _says_something(said) else None


def says_too_little(template: str, outcome: str | None) -> bool:
    """True if the typed act does not say what to do, or does so only where somebody tells that it helped."""
    table = tables.table("standing.toml")["too_little"]
    return template in table["always"] or (outcome != "worked" and template in table["unconfirmed"])


def has_hole(text: str) -> bool:
    """True if words of a rendered page stand where something between them is missing."""
    return bool(_gap().search(text) or _EMPTY_MARKS.search(text))


def _said(text: str) -> str:
    """What stands behind the words that announce a cause; the whole where none do."""
    lead = _lead().search(text)
    return text[lead.end() :] if lead else text


def _says_something(text: str) -> bool:
    """True if the words name something, addresses and words that stand for others left out."""
    table = tables.table("standing.toml")
    left = _LED.sub(" ", text)
    return bool(len(_HAN.findall(left)) >= table["least_han"] or sum(weights(left).values()) >= table["least_words"])


def weights(text: str) -> dict[str, int]:
    """The words of `text` that name something, each 1; a program's own name ("num_warps", "TensorShape") is worth 3."""
    words = {word.lower().strip("._"): word for word in _WORD.findall(text)}
    return {word: 3 if _NAME.search(words[word]) else 1 for word in sorted(words.keys() - _hollow())}
