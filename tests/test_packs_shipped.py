"""The packs that ship: every example goes to its row alone, no look-alike and no ordinary text goes to any."""

from __future__ import annotations

from typing import Any

from pipeline import packs
from pipeline.run.check import proving
from tests.each import each

proving.read_rooms()
ROWS = [(table, row) for table in packs.tables() for row in table.rows()]
ORDINARY = [
    (table, text) for table in packs.tables() if table.name in proving.ANNOUNCING for text in proving.ordinary()
]


@each("table, row", ROWS, parts=4)
def test_a_row_takes_its_examples_alone_and_no_look_alike(table: packs.Table[Any], row: packs.Row) -> None:
    assert table.hits is not None
    for text in row.examples:
        assert [(one.place.pack, one.name) for one in table.hits(text)] == [(row.place.pack, row.name)], text
    for text in row.lookalikes:
        assert row not in table.hits(text), text


@each("table, text", ORDINARY)
def test_an_ordinary_text_is_no_error(table: packs.Table[Any], text: str) -> None:
    assert table.hits is not None
    assert [(one.place.pack, one.name) for one in table.hits(text)] == []
