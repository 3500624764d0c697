"""A rule, what it finds, and tolerant access to an entry that may be anybody's JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Raw = Mapping[str, Any]
#: (place, message)
Finding = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Problem:
    """One rule broken in one place."""

    rule: str
    place: str  # "workarounds[0].action"
    message: str
    entry_id: str = ""

    def __str__(self) -> str:
        """For people: where, what, which rule."""
        where = " ".join(part for part in (self.entry_id, self.place) if part)
        return f"{where}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known besides the entry; everything may be missing, then less is checked."""

    texts: Callable[[str], str | None] | None = None  # document id -> its text
    members: tuple[str, ...] = ()  # messages that the regex must match
    foreign: tuple[str, ...] = ()  # messages of other clusters, which it must not match
    proven: frozenset[str] = frozenset()  # regexes that were compiled and timed already


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that an entry must keep."""

    rule_id: str
    sentence: str
    check: Callable[[Raw, Context], Iterator[Finding]]


def items(raw: Raw, name: str) -> Iterator[tuple[str, Raw]]:
    """(place, object) of every object in the list `name`; anything else there is the schema's affair."""
    listed = raw.get(name)
    for place, item in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if isinstance(item, Mapping):
            yield f"{name}[{place}]", item


def values(raw: Raw, name: str) -> list[Any]:
    """The list `name`, empty if it is none."""
    listed = raw.get(name)
    return list(listed) if isinstance(listed, list | tuple) else []


def names(raw: Raw, name: str) -> list[str]:
    """The strings in the list `name`."""
    return [value for value in values(raw, name) if isinstance(value, str)]


def text(raw: Raw, name: str) -> str | None:
    """The string `name`, None if it is none."""
    value = raw.get(name)
    return value if isinstance(value, str) else None


def number(raw: Raw, name: str) -> float | None:
    """The number `name`, None if it is none."""
    value = raw.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def mapping(raw: Raw, name: str) -> Raw:
    """The object `name`, empty if it is none."""
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def is_imported(raw: Raw) -> bool:
    """Whether the entry says that it was made elsewhere."""
    return mapping(raw, "provenance").get("origin") == "imported"
