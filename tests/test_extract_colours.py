"""Codes of colours whose first character was lost: taken off where they are surely that."""

from __future__ import annotations

import pytest

from pipeline import extract
from pipeline.records import Event


def _one(text: str) -> Event:
    (event,) = extract.events(text)
    return event


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ValueError: the [31mkiln[0m is cold", "the kiln is cold"),
        ("ValueError: the \ufffd[1;31mkiln\ufffd[0m is cold", "the kiln is cold"),
        ("ValueError: the ^[[31mkiln is cold", "the kiln is cold"),
        ("ValueError: the kiln is cold[0m\nINFO [32mwarm", "the kiln is cold"),
    ],
)
def test_colours_are_no_words_of_an_error(line: str, message: str) -> None:
    event = _one(line)
    assert (event.message, "[" in event.detail) == (message, False)


@pytest.mark.parametrize(
    "words", ["heat[31m] is cold", "the [31m kiln", "the kiln [0m high] is cold", "shape [32, 7m]"]
)
def test_what_may_be_something_else_stays(words: str) -> None:
    assert _one(f"ValueError: {words}").message == words
