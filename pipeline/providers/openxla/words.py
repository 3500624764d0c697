"""How error pages are worded, from data/docs/xla_pages.toml: labels, headings, what is a remedy and what is not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pipeline.records import warm

# The longest heading of 55 revisions has 73 characters.
MAX_HEADING_CHARACTERS = 90

_SCENARIO = re.compile(r"(?:Scenario|Section) \d{1,2}(?:\.?[A-Z])?\b|[A-Z]\. \S")
_NUMBERED = re.compile(r"(?:(?:Scenario|Section) \d{1,2}(?:\.[A-Z])?[.:]?|\d{1,2}\.|[A-Z]\.) (.*)")
_LETTERED = re.compile(r"(?:(?:Scenario|Section) \d{1,2}\.)?[A-Z][.: ]")


@dataclass(frozen=True, slots=True)
class Words:
    """The table, with its lists as tuples for `str.startswith` and its patterns compiled."""

    heading: re.Pattern[str]
    misprints: dict[str, str]
    categories: dict[str, str]  # to codes, lower case
    category: str
    type: str
    backends: tuple[str, ...]
    samples: tuple[str, ...]
    sample_ends: tuple[str, ...]
    template_intros: tuple[str, ...]
    phases: dict[str, str]
    second: frozenset[str]
    remedy_headings: tuple[str, ...]
    verbs: frozenset[str]
    explaining_leads: frozenset[str]
    explaining_intros: tuple[str, ...]
    elsewhere: tuple[str, ...]  # navigation and reports


@cache
def words() -> Words:
    """The table, read once."""
    table = warm.table(resources.files("pipeline").joinpath("data/docs/xla_pages.toml").read_text("utf-8"))
    labels, others = table["labels"], table["not_remedies"]
    return Words(
        heading=re.compile(table["code"]["heading"], re.IGNORECASE),
        misprints=table["code"]["misprints"],
        categories=table["code"]["categories"],
        category=labels["category"],
        type=labels["type"],
        backends=tuple(labels["backends"]),
        samples=tuple(labels["samples"]),
        sample_ends=tuple(labels["sample_ends"]),
        template_intros=tuple(labels["template_intros"]),
        phases=table["phases"],
        second=frozenset(table["headings"]["second"]),
        remedy_headings=tuple(table["headings"]["remedies"]),
        verbs=frozenset(table["actions"]["verbs"]),
        explaining_leads=frozenset(others["leads"]),
        explaining_intros=tuple(others["intros"]),
        elsewhere=(*others["navigation"], *others["reports"]),
    )


def is_second(heading: str) -> bool:
    """Whether a line of text is one of the known second-level headings."""
    lower = heading.lower()
    is_short = len(lower) <= MAX_HEADING_CHARACTERS and "\n" not in lower and not lower.endswith((".", ":", ",", ";"))
    return lower in words().second or (is_short and lower.startswith(words().remedy_headings))


def is_scenario(heading: str) -> bool:
    """Whether a heading names one of several cases: "Scenario 3.A ...", "Section 2. ...", "B. ..."."""
    return bool(_SCENARIO.match(heading))


def unnumbered(heading: str) -> str:
    """A heading without its number."""
    match = _NUMBERED.fullmatch(heading)
    return match[1] if match else heading


def is_numbered(heading: str) -> bool:
    """Whether a heading begins with a number or a letter."""
    return bool(_NUMBERED.fullmatch(heading))


def is_lettered(heading: str) -> bool:
    """Whether a heading is one of the parts of a scenario."""
    return bool(_LETTERED.match(heading))


def is_action(text: str) -> bool:
    """Whether a heading or sentence begins with something to do."""
    return text.split(" ", 1)[0].lower() in words().verbs
