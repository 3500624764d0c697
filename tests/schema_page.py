"""docs/schema.md: the tables as a picture and as a list, read from the database itself.

`python -m tests.schema_page` writes it anew (`make golden` does); a test compares it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pipeline import store
from pipeline.run import Places
from tests import golden

PAGE = golden.ROOT / "docs" / "schema.md"
#: Which table a key belongs to: a column of that name in another table points there.
OWNERS = {
    "document_id": "documents",
    "event_id": "events",
    "signature_id": "signatures",
    "cluster_id": "clusters",
    "entry_id": "entries",
}

_HEAD = """# The database

`errmine.duckdb` is one file. Columns with the same name join. Every table, view and column carries its comment inside
the file too: `errmine query "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"`.
All times are TIMESTAMPTZ, all days DATE.

A signature is the message of an error with what varies taken out (tools that parse logs say template); `signature_id`
is its id, a cluster is made of signatures that mean the same, and an entry tells of one cluster. What a source does not
say is null: who wrote an opening post (`author_role`) in archives that keep it of comments alone, in which version
something was removed, or when.

The tables have a version, major.minor; `FROM schema_versions` tells what each step changed. A minor step only adds; a
major one may rename. Files of all earlier versions can be read: a column has its old name there and its new one.
`errmine build` makes a file of the present version from raw; the journal, published ids, their aliases and the record
of runs go on in it. A file that a later errmine made is neither read nor replaced: the message says to upgrade.
"""
_TABLES = """
SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal ORDER BY table_name
"""
_VIEWS = "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal ORDER BY view_name"
_MACROS = """
SELECT DISTINCT function_name || '(' || array_to_string(parameters, ', ') || ')' AS name, comment
FROM duckdb_functions() WHERE NOT internal AND function_type = 'table_macro' ORDER BY name
"""
_COLUMNS = """
SELECT c.table_name, c.column_name, c.data_type, c.comment FROM duckdb_columns() c
JOIN duckdb_tables() t ON t.table_name = c.table_name
WHERE NOT c.internal ORDER BY c.table_name, c.column_index
"""
_VIEW_COLUMNS = _COLUMNS.replace("duckdb_tables() t ON t.table_name", "duckdb_views() t ON t.view_name")


def page(database: Path) -> str:
    """The whole page."""
    columns = store.query(database, _COLUMNS).rows
    parts = [_HEAD, "```mermaid\n" + picture([(row[0], row[1]) for row in columns]) + "\n```\n"]
    for table, comment in store.query(database, _TABLES).rows:
        parts.append(f"## {table}\n\n{comment}.\n\n| column | type | what it holds |\n|---|---|---|")
        parts += [f"| {row[1]} | {row[2]} | {_cell(row[3])} |" for row in columns if row[0] == table]
        parts.append("")
    parts.append("## Views\n")
    shown = store.query(database, _VIEW_COLUMNS).rows
    for name, comment in store.query(database, _VIEWS).rows:
        parts.append(f"### {name}\n\n{comment}.\n\n| column | type | what it holds |\n|---|---|---|")
        parts += [f"| {row[1]} | {row[2]} | {_cell(row[3])} |" for row in shown if row[0] == name]
        parts.append("")
    parts.append("## Macros\n\n| name | what it gives |\n|---|---|")
    parts += [f"| `{name}` | {_cell(comment)} |" for name, comment in store.query(database, _MACROS).rows]
    return "\n".join(parts).rstrip("\n") + "\n"


def picture(columns: list[tuple[str, str]]) -> str:
    """A Mermaid entity-relationship diagram: one line for each column that points to another table."""
    lines = ["erDiagram"]
    for table, column in columns:
        owner = OWNERS.get(column)
        if owner and owner != table:
            lines.append(f"    {owner} ||--o{{ {table} : {column}")
    return "\n".join(lines)


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        golden.make(Path(scratch))
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(Places.of(Path(scratch)).database), encoding="utf-8")
    print(PAGE)
