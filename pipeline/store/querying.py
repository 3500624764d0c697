"""Questions to the file, and their answers as table, JSON, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.records.errors import ConfigError
from pipeline.store.opening import read_only

#: A wider cell of a table on a terminal is cut; JSON, CSV and Parquet are whole.
_CELL_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer: the names of its columns and its rows."""

    columns: tuple[str, ...]
    table: pa.Table

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as Python values."""
        columns = [column.to_pylist() for column in self.table.columns]
        return list(zip(*columns, strict=True)) if columns else []


def query(path: Path, sql: str, *, parameters: Sequence[object] = ()) -> QueryResult:
    """What the file at `path` answers to `sql`: read-only, with no way to files, network or extensions."""
    with read_only(path) as connection:
        try:
            answer = connection.sql(sql, params=list(parameters) or None)
            table: pa.Table = answer.to_arrow_table() if answer is not None else pa.table({})
        except duckdb.Error as error:
            hint = "`SHOW TABLES` lists the tables, `DESCRIBE entries` the columns of one."
            raise ConfigError(f"the query failed: {error}", hint=hint) from error
    return QueryResult(tuple(table.column_names), table)


def rendered(result: QueryResult, form: str = "table") -> bytes:
    """`result` as bytes in one of `FORMS`."""
    if form not in FORMS:
        raise ConfigError(f"there is no form {form!r}; choose one of {', '.join(FORMS)}")
    return FORMS[form](result)


def _as_table(result: QueryResult) -> bytes:
    cells = [list(result.columns), *[[_shown(cell) for cell in row] for row in result.rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return ("\n".join(lines) + "\n").encode()


def _shown(cell: object) -> str:
    text = "" if cell is None else str(_plain(cell))
    text = " ".join(text.split())
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


def _as_json(result: QueryResult) -> bytes:
    rows = [dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.rows]
    return (json.dumps(rows, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def _as_csv(result: QueryResult) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    for row in result.rows:
        writer.writerow([_csv_cell(cell) for cell in row])
    return out.getvalue().encode()


def _csv_cell(cell: object) -> object:
    plain = _plain(cell)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict) else plain


def _as_parquet(result: QueryResult) -> bytes:
    out = io.BytesIO()
    pq.write_table(result.table, out, compression="zstd")
    return out.getvalue()


FORMS: dict[str, Callable[[QueryResult], bytes]] = {
    "table": _as_table,
    "json": _as_json,
    "csv": _as_csv,
    "parquet": _as_parquet,
}
