"""docs/cookbook.md: every query of tests/cases/sql with what it answers on the sample.

`python -m tests.cookbook` writes it anew (`make golden` does); a test compares the queries.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from pipeline import store
from pipeline.run import Places
from tests import golden

CASES = sorted((Path(__file__).parent / "cases" / "sql").iterdir())
COOKBOOK = golden.ROOT / "docs" / "cookbook.md"
SHOWN_ROWS, SHOWN_CHARACTERS = 5, 60

_HEAD = """# SQL cookbook

Questions that the database answers. `errmine query` asks them read-only, `-` reads the SQL from standard input,
`--format` gives table, json, csv or parquet; `duckdb curated/errmine.duckdb` and Python's `duckdb` open the same file,
from DuckDB 1.0 on. More than 100,000 rows or 60 seconds want `--limit` and `--seconds`; for spreadsheets CSV has an
apostrophe before texts that begin as formulas do, which json and parquet leave as they are.
The answers below are those of the sample that comes with errmine, at most five rows of each.
"""


def statement(case: Path) -> str:
    """The SQL of a case."""
    return (case / "query.sql").read_text(encoding="utf-8").strip()


def page(database: Path) -> str:
    """The whole page, with what `database` answers."""
    parts = [_HEAD]
    for case in CASES:
        about = (case / "about.md").read_text(encoding="utf-8").strip()
        title = case.name.replace("-", " ").capitalize()
        shown = "\n".join(_table(store.query(database, statement(case))))
        parts.append(f"## {title}\n\n{about}\n\n```sql\n{statement(case)}\n```\n\n{shown}\n")
    return "\n".join(parts)


def _table(result: store.QueryResult) -> Iterator[str]:
    rows = result.rows
    if not rows:
        yield "(no row)"
        return
    yield "| " + " | ".join(result.columns) + " |"
    yield "|" + "---|" * len(result.columns)
    for row in rows[:SHOWN_ROWS]:
        yield "| " + " | ".join(map(_cell, row)) + " |"
    if len(rows) > SHOWN_ROWS:
        yield f"\n{len(rows)} rows in all."


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = value.isoformat()[:10] if hasattr(value, "isoformat") else " ".join(str(value).split())
    short = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return short.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        golden.make(Path(scratch))
        COOKBOOK.parent.mkdir(exist_ok=True)
        COOKBOOK.write_text(page(Places.of(Path(scratch)).database), encoding="utf-8")
    print(COOKBOOK)
