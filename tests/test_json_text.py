"""The fast reader of JSON gives what `json` gives, also where it has to ask it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers.provider import json_value

_WORDS = r'{ } [ ] , : " "a" 1 -0 1e5 .5 01 NaN -Infinity true null // +1 1e999 \n \ud800 "\ud800" "\ud83d\ude00"'
_PIECES = st.sampled_from([*_WORDS.split(" "), "9" * 30, " ", "\t", "\x01", "é", "\ufeff"])


def outcome(read: object, text: str | bytes) -> object:
    try:
        found = read(text)  # type: ignore[operator]
    except RecursionError:
        return "nested too deep"
    except ValueError:
        return "no JSON"
    return "nan" if isinstance(found, float) and math.isnan(found) else repr(found)


@given(st.lists(_PIECES, max_size=9).map("".join))
def test_any_mixture_of_pieces_is_read_as_json_reads_it(text: str) -> None:
    assert outcome(json_value, text) == outcome(json.loads, text)
    encoded = text.encode("utf-8", "surrogatepass")
    assert outcome(json_value, encoded) == outcome(json.loads, encoded)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '["\\ud800"]', "[" * 300 + "]" * 300, "[" * 100_000, '{"a": 1}'.encode("utf-16"), b"[\xff]"],
    ids=["twice", "half-surrogate", "deep", "too-deep", "utf-16", "invalid"],
)
def test_what_the_fast_reader_refuses_is_read_as_json_reads_it(text: str | bytes) -> None:
    assert outcome(json_value, text) == outcome(json.loads, text)
