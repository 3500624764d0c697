"""All literals of a text found in one pass: the same places as `str.find` gives."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract import _LITERALS
from pipeline.sight import Literals

WORDS = ("Error", "ExceptionGroup", ": error", "\n-> ", 'File "', "----", "abcd", "bcde")


def _expected(text: str) -> dict[str, list[int]]:
    places = {word: [at for at in range(len(text)) if text.startswith(word, at)] for word in WORDS}
    return {word: found for word, found in places.items() if found}


@given(
    st.lists(st.sampled_from((*WORDS, "x", " ", "\n", "é", "错误", "\U0001f600", "abc", "Erro", "\ud800"))).map("".join)
)
def test_every_place_is_found_and_no_other(text: str) -> None:
    assert Literals(WORDS).seen(text) == _expected(text)


@pytest.mark.parametrize("text", ["", "E", "Err", "Error", "rror", "abcde"])
def test_short_texts(text: str) -> None:
    assert Literals(WORDS).seen(text) == _expected(text)


def test_a_literal_across_the_border_of_two_pieces_is_found() -> None:
    text = " " * ((1 << 18) - 2) + "Error" + " " * 10
    assert Literals(WORDS).seen(text) == {"Error": [(1 << 18) - 2]}


@pytest.mark.parametrize("unit", ["Erro", "Error", "\n   ", "[[[[", ": error", "é" * 4])
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    began = time.process_time()
    _LITERALS.seen(unit * (400_000 // len(unit)))
    assert time.process_time() - began < 1
