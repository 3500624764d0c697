"""All literals of a text found in one pass: the same places as `str.find` gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract import looked_for
from pipeline.text.needed import Literals, Signs
from tests import linear

WORDS = ("Error", "ExceptionGroup", ": error", "\n-> ", 'File "', "----", "abcd", "bcde", "' 错误", "' 错x", "é", "x?")
SIGNS = ("@", "@x", "写道", "道", "is it?", "sk-", "é")


def _expected(text: str) -> dict[str, list[int]]:
    places = {word: [at for at in range(len(text)) if text.startswith(word, at)] for word in WORDS}
    return {word: found for word, found in places.items() if found}


@given(
    st.lists(
        st.sampled_from((*WORDS, "x", " ", "\n", "é", "错误", "' 错", "?", "\U0001f600", "abc", "Erro", "\ud800"))
    ).map("".join)
)
def test_every_place_is_found_and_no_other(text: str) -> None:
    assert Literals(WORDS).seen(text) == _expected(text)


@pytest.mark.parametrize("text", ["", "E", "Err", "Error", "rror", "abcde"])
def test_short_texts(text: str) -> None:
    assert Literals(WORDS).seen(text) == _expected(text)


@given(st.lists(st.sampled_from((*SIGNS, "x", "写", "?", "é", "-", "\ud800", "\0"))).map("".join))
def test_what_stands_in_a_text_is_said_whatever_its_script(text: str) -> None:
    assert Signs(SIGNS).present(text) == {sign for sign in SIGNS if sign in text}


@pytest.mark.parametrize("unit", ["Erro", "Error", "\n   ", "[[[[", ": error", "é" * 4])
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    linear.within(1, looked_for().seen, unit * (400_000 // len(unit)))
