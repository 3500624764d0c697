"""The tables and views of every version of the database, one file a version; the last is the present one.

A change of the tables is a step in `pipeline.store.opening`; then `python -m tests.store_versions` adds its file. The
files of earlier versions are never written again: a test makes databases of them.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from pipeline import store
from pipeline.store import opening
from tests import golden

FOLDER = golden.ROOT / "tests" / "cases" / "store-versions"
_TABLES = "SELECT sql FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"
_VIEWS = "SELECT sql FROM duckdb_views() WHERE NOT internal ORDER BY view_oid"


def statements(definition: str) -> str:
    """The tables of `definition` by name, then its views in their order; one statement a line, without comments."""
    with duckdb.connect() as connection:
        connection.execute(definition)
        found = [*connection.execute(_TABLES).fetchall(), *connection.execute(_VIEWS).fetchall()]
    return "".join(f"{' '.join(sql.split())}\n" for (sql,) in found)


def present() -> str:
    """The statements of this errmine."""
    return statements(opening.sql("schema.sql") + opening.sql("views.sql"))


def path_of(version: str) -> Path:
    """The file of a version."""
    return FOLDER / f"{version}.sql"


if __name__ == "__main__":
    path_of(store.SCHEMA_VERSION).write_text(present(), encoding="utf-8")
    print(path_of(store.SCHEMA_VERSION))
