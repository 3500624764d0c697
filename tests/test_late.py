"""Expressions that are compiled when a text first asks for them: they do as compiled ones, and all of them can be."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from pipeline import text
from pipeline.distil import actions, tables
from pipeline.lexicon import vocabulary
from pipeline.lexicon.advice import prose
from pipeline.records import warm
from pipeline.text import needed as lately
from pipeline.text.needed import late


def test_nothing_is_compiled_before_it_is_asked_for_and_then_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    plain = warm.pattern

    def noted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return plain(pattern, flags)

    monkeypatch.setattr(warm, "pattern", noted)
    made = late(r"(?P<one>a)b", re.IGNORECASE)
    assert compiled == []
    assert [found.group() for found in made.finditer("ab AB")] == ["ab", "AB"]
    assert made.search("b", 0) is None
    assert made.groupindex == {"one": 1}
    assert compiled == [r"(?P<one>a)b"]


def test_two_of_the_same_letters_are_one_and_bytes_are_none_of_them() -> None:
    assert late("once") is late("once")
    assert late("once") is not late("once", re.IGNORECASE)
    assert late(b"once").match(b"once upon") is not None


def test_what_no_expression_has_it_has_not() -> None:
    with pytest.raises(AttributeError):
        late("a").begins  # type: ignore[attr-defined]  # noqa: B018
    assert copy.copy(late("ab")).pattern == "ab"


def expressions(value: object) -> Iterator[Any]:
    """Every late expression in a value, in what it holds, and so on."""
    if isinstance(value, lately._Late):
        yield value
    elif is_dataclass(value):
        for one in fields(value):
            yield from expressions(getattr(value, one.name))
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for one in value:
            yield from expressions(one)


def test_every_expression_of_the_tables_can_be_compiled() -> None:
    rows = (
        tables.own_cues(),
        tables.own_hints(),
        actions._rows(),
        prose.rows(),
        prose._pairs(),
        text.redaction_rules(),
    )
    for table in (*rows, vocabulary._subcategories()):
        found = list(expressions(table))
        assert found
        assert all(one.groups >= 0 for one in found)
