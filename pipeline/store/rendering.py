"""Answers as people and programs read them: table, JSON, CSV or Parquet, written as they come."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from rich.cells import cell_len

from pipeline.records.errors import ConfigError
from pipeline.store.querying import QueryResult
from pipeline.text import clean

#: Writes batches of a schema; a file of any length takes the memory of one batch, but for tables (widths come first).
Writer = Callable[[pa.Schema, Iterable[pa.RecordBatch], BinaryIO], None]

_ROWS_AT_A_TIME = 64
#: A longer cell of a table is cut; JSON, CSV and Parquet are whole.
_CELL_CHARACTERS = 80

# Spreadsheets run a cell that begins so: OWASP, "CSV Injection", with the full-width forms that CJK editions take for
# the same. What stands before the sign may be dropped on opening, so it hides nothing.
_FORMULA = re.compile(r"[\t\r]|[\s\"'“”‘’\ufeff\u200b-\u200f\u2060]*[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def writer(form: str) -> Writer:
    """What writes the form of that name, one of `FORMS`.

    Raises:
        ConfigError: there is no such form.
    """
    if form not in FORMS:
        raise ConfigError(f"there is no form {form!r}", hint=f"Choose one of {', '.join(FORMS)}.")
    return FORMS[form]


def rendered(result: QueryResult, form: str = "table") -> bytes:
    """`result` as bytes in one of `FORMS`."""
    out = io.BytesIO()
    writer(form)(result.table.schema, result.table.to_batches(), out)
    return out.getvalue()


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterable[tuple[Any, ...]]:
    """Rows as Python values, few at a time: a cell may hold a megabyte."""
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_A_TIME):
            part = batch.slice(start, _ROWS_AT_A_TIME)
            yield from zip(*map(_values, part.columns), strict=True)


def _values(column: pa.Array) -> list[Any]:
    """The values for Python; a time that Python has none for (year 12000, infinity, nanoseconds) as its words."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        return [_value(cell) for cell in column]


def _value(cell: pa.Scalar) -> Any:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        if isinstance(cell, pa.StructScalar):
            return {name: _value(cell[name]) for name in cell}
        if isinstance(cell, pa.ListScalar):
            return [_value(item) for item in cell.values]
        return str(cell.cast(pa.string()).as_py())


def _write_table(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
    cells = [list(schema.names), *(list(map(_cut, row)) for row in shown_rows(batches))]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    for row in cells:
        line = "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        out.write(f"{line.rstrip()}\n".encode())


def shown_rows(batches: Iterable[pa.RecordBatch]) -> Iterable[list[str]]:
    """The rows as people read them, each cell on one line without what drives a terminal; null is empty."""
    for row in _rows(batches):
        yield ["" if cell is None else " ".join(clean(str(_plain(cell))).split()) for cell in row]


def _cut(text: str) -> str:
    return text if len(text) <= _CELL_CHARACTERS else text[: _CELL_CHARACTERS - 1] + "…"


def _plain(cell: Any) -> Any:
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if cell is None or isinstance(cell, str | int | bool):
        return cell
    if isinstance(cell, list | tuple):
        return [_plain(item) for item in cell]
    if isinstance(cell, dict):
        return {str(name): _plain(item) for name, item in cell.items()}
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _write_json(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
    """As `json.dumps` of the list of all rows would write it."""
    before = "["
    for row in _rows(batches):
        body = dict(zip(schema.names, map(_plain, row), strict=True))
        text = json.dumps(body, ensure_ascii=False, indent=1, allow_nan=False)
        out.write(f"{before}\n{textwrap.indent(text, ' ')}".encode())
        before = ","
    out.write(b"[]\n" if before == "[" else b"\n]\n")


def _write_csv(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
    lines = csv.writer(_Encoded(out), lineterminator="\r\n")  # puts quotes around a lone CR, which "\n" does not
    lines.writerow(map(_harmless, schema.names))
    lines.writerows([_csv_cell(cell) for cell in row] for row in _rows(batches))


class _Encoded:
    """A file for rows of CSV on one for bytes, which stays open when this is gone; every row ends with a newline."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, text: str) -> None:
        self._out.write(text.removesuffix("\r\n").encode() + b"\n")


def _csv_cell(cell: object) -> object:
    plain = _plain(cell)
    if isinstance(plain, list | dict):
        return json.dumps(plain, ensure_ascii=False)
    return _harmless(plain) if isinstance(plain, str) else plain


def _harmless(text: str) -> str:
    """`text` as a spreadsheet shows it: behind an apostrophe if it would be run as a formula."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _write_parquet(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
    try:
        parquet = pq.ParquetWriter(out, schema, compression="zstd")
    except pa.ArrowNotImplementedError as error:
        hint = "Give the column as text: `column::VARCHAR`."
        raise ConfigError(f"Parquet has no type for a column: {error}", hint=hint) from error
    with parquet:
        for batch in batches:
            parquet.write_batch(batch)


FORMS: dict[str, Writer] = {
    "table": _write_table,
    "json": _write_json,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
