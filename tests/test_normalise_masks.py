"""Every row of masks.toml takes what varies in its example, and nothing of its look-alike."""

from __future__ import annotations

import re
import re._parser as re_parser

from pipeline.normalise import masks
from pipeline.normalise.tables import Mask
from pipeline.normalise.tables import masks as rows
from tests import linear
from tests.each import each
from tests.test_normalise_families import unbounded

ROWS = tuple(rows().values())


@each("row", ROWS)
def test_a_row_takes_its_example_and_nothing_of_its_look_alike(row: Mask) -> None:
    line, template = row.example
    assert row.name in masks.rows_in(line)
    assert masks.masked(line)[0] == template
    assert row.name not in masks.rows_in(row.counter)


@each("row", ROWS)
def test_a_row_is_bounded_has_no_group_and_is_masked_once(row: Mask) -> None:
    assert not unbounded(re_parser.parse(row.pattern))
    assert re.compile(row.pattern).groups == 0
    assert masks.masked(row.example[1])[0] == row.example[1]


def test_no_two_rows_have_one_name() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


@each("piece", ["aB", "a_", "aB-", "Kiln", "a.B"])
def test_a_long_name_costs_no_more_than_its_length(piece: str) -> None:
    linear.check(masks.masked, f"{piece * (40 // len(piece))}: ", size=4_000)
