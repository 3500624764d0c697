"""Prefixes of lines and messages: every row by its example and look-alike, where they end, how a stream is followed."""

from __future__ import annotations

import json
import re
import re._parser as re_parser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text import prefixes
from tests.each import each
from tests.test_normalise_families import unbounded

ROWS = prefixes.own_rows()
CASES = sorted((Path(__file__).parent / "cases" / "prefixes").iterdir())


@each("row", ROWS)
def test_a_row_takes_its_example_and_nothing_of_its_look_alike(row: prefixes.Row) -> None:
    taken, stays = row.example
    found = re.compile(row.pattern).match(taken + stays)
    assert found is not None
    assert found[0] == taken
    assert re.compile(row.pattern).match(row.counter) is None


@each("row", ROWS)
def test_a_row_holds_where_it_says_beside_all_others(row: prefixes.Row) -> None:
    taken, stays = row.example
    lead = "12:00:00 " if row.is_behind else ""
    line = f"{lead}{taken}{stays}"
    assert row.at
    assert row.at <= {"line", "message", "template"}
    if "line" in row.at:
        assert [line[one.start : one.end] for one in prefixes.prefixes(line) if one.name == row.name] == [taken]
    if "message" in row.at:
        assert prefixes.message_start(line) >= len(lead + taken)
    if "template" in row.at:
        assert prefixes.without_context(line) == stays


@each("row", ROWS)
def test_a_row_is_bounded_and_has_no_group(row: prefixes.Row) -> None:
    assert not unbounded(re_parser.parse(row.pattern))
    assert re.compile(row.pattern).groups == 0
    assert re.compile(row.pattern).match("") is None


def test_no_two_rows_have_one_name() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_line_is_peeled_as_written_beside_it(case: Path) -> None:
    lines = (case / "input.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    peeled = [
        {
            "prefixes": [[one.name, line[one.start : one.end]] for one in prefixes.prefixes(line)],
            "rest": line[prefixes.width(line) :],
        }
        for line in lines
    ]
    assert peeled == expected


@given(st.text(max_size=300))
def test_prefixes_follow_each_other_from_the_start_of_the_line(line: str) -> None:
    column = 0
    for one in prefixes.prefixes(line):
        assert one.start == column < one.end <= len(line)
        column = one.end


def test_a_stream_is_followed_through_other_times_and_line_numbers() -> None:
    shape = prefixes.shape("(Potter pid=7) ERROR 01-12 08:36:38 fire.py:23] ")
    assert shape.match("(Potter pid=7) ERROR 01-13 18:06:01 fire.py:233] x") is not None


def test_another_rank_is_another_stream() -> None:
    shape = prefixes.shape("[rank0]: ")
    assert shape.match("[rank0]: x") is not None
    assert shape.match("[rank1]: x") is None


def test_the_blanks_behind_a_prefix_are_exact_so_indentation_survives() -> None:
    shape = prefixes.shape("kiln-1  | ")
    hit = shape.match('kiln-1  |   File "a.py", line 1, in f')
    assert hit is not None
    assert hit.end() == len("kiln-1  | ")
