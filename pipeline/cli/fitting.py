"""The answer to a query as wide as the terminal: columns side by side where they fit, else a block for each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import BinaryIO

import pyarrow as pa
from rich.cells import cell_len, set_cell_size

from pipeline.store import shown_rows

#: A column is made no narrower than this to fit; where that is not enough, each row stands by itself.
_LEAST_COLUMN = 12
_GAP = "  "


def write_fitting(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO, *, width: int) -> None:
    """Write the rows to `out`, no line wider than `width` places of a terminal."""
    names, rows = list(schema.names), [list(row) for row in shown_rows(batches)]
    widths = [max(map(cell_len, column)) for column in zip(names, *rows, strict=True)] if names else []
    fitted = _fitted(widths, width)
    numbers = [pa.types.is_integer(one.type) or pa.types.is_floating(one.type) for one in schema]
    lines = _blocks(names, rows, width) if fitted is None else _columns([names, *rows], fitted, numbers)
    for line in lines:
        out.write(f"{line}\n".encode())


def _fitted(widths: Sequence[int], width: int) -> list[int] | None:
    """Widths that fit together, the widest cut first; None where no such table can be read."""
    space = width - len(_GAP) * (len(widths) - 1)
    if sum(min(one, _LEAST_COLUMN) for one in widths) > space:
        return None
    most = max(widths, default=0)
    while sum(min(one, most) for one in widths) > space:
        most -= 1
    return [min(one, most) for one in widths]


def _columns(rows: Sequence[Sequence[str]], widths: Sequence[int], numbers: Sequence[bool]) -> Iterable[str]:
    """The lines of a table whose first row is its head; numbers are set flush right."""
    for row in (rows[0], ["-" * width for width in widths], *rows[1:]):
        cells = zip(row, widths, numbers, strict=True)
        yield _GAP.join(cell.rjust(width) if right else _cell(cell, width) for cell, width, right in cells).rstrip()


def _blocks(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterable[str]:
    lead = min(max(map(cell_len, names)), width // 3)
    for number, row in enumerate(rows, 1):
        yield _cell(f"-- row {number} ".ljust(width, "-"), width)
        for name, cell in zip(names, row, strict=True):
            if cell:
                yield f"{_cell(name, lead)}{_GAP}{_cell(cell, width - lead - len(_GAP))}".rstrip()


def _cell(text: str, width: int) -> str:
    """Exactly `width` places; Chinese takes two a character."""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
