"""Prefixes of log lines: which ones are found, where they end, and how a stream is followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract import peel

CASES = sorted((Path(__file__).parent / "cases" / "peel").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_line_is_peeled_as_written_beside_it(case: Path) -> None:
    lines = (case / "input.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    peeled = [
        {
            "prefixes": [[one.kind, line[one.start : one.end]] for one in peel.prefixes(line)],
            "rest": line[peel.width(line) :],
        }
        for line in lines
    ]
    assert peeled == expected


@given(st.text(max_size=300))
def test_prefixes_follow_each_other_from_the_start_of_the_line(line: str) -> None:
    column = 0
    for one in peel.prefixes(line):
        assert one.start == column < one.end <= len(line)
        column = one.end


def test_a_stream_is_followed_through_other_times_and_line_numbers() -> None:
    shape = peel.shape("(Potter pid=7) ERROR 01-12 08:36:38 fire.py:23] ")
    assert shape.match("(Potter pid=7) ERROR 01-13 18:06:01 fire.py:233] x") is not None


def test_another_rank_is_another_stream() -> None:
    shape = peel.shape("[rank0]: ")
    assert shape.match("[rank0]: x") is not None
    assert shape.match("[rank1]: x") is None


def test_the_blanks_behind_a_prefix_are_exact_so_indentation_survives() -> None:
    shape = peel.shape("kiln-1  | ")
    hit = shape.match('kiln-1  |   File "a.py", line 1, in f')
    assert hit is not None
    assert hit.end() == len("kiln-1  | ")
