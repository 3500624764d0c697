"""One sha256 over the content of a file: what two builds of the same raw must share."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pipeline.store.opening import read_only

#: Tables with wall-clock times.
_TIMED = frozenset({"runs"})
#: Columns that name a run.
_OF_A_RUN = {"journal": " EXCLUDE (run_id)"}
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary ORDER BY table_name"


def table_counts(path: Path) -> dict[str, int]:
    """Rows of every table, by its name."""
    with read_only(path) as connection:
        names = [str(name) for (name,) in connection.execute(_TABLES).fetchall()]
        counts = {}
        for name in names:
            found = connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()  # noqa: S608  (from the catalogue)
            counts[name] = int(found[0]) if found else 0
    return counts


def digest(path: Path) -> str:
    """sha256 over all tables, in whatever order their rows lie; `runs` and the ids of runs are left out."""
    lines = (f"{name} {found}\n" for name, found in digests(path).items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def digests(path: Path) -> dict[str, str]:
    """sha256 of each table by its name, rows in the order of their own hashes; `runs` and ids of runs are left out."""
    found = {}
    with read_only(path) as connection:
        names = [str(name) for (name,) in connection.execute(_TABLES).fetchall()]
        for name in names:
            if name in _TIMED:
                continue
            total = hashlib.sha256()
            # one line a row, hashed by the engine: pulling rows into Python would take minutes for large files
            told = f'SELECT *{_OF_A_RUN.get(name, "")} FROM "{name}"'  # noqa: S608
            rows = connection.execute(f"SELECT sha256(to_json(t)::VARCHAR) FROM ({told}) t ORDER BY 1").fetchall()  # noqa: S608
            for (line,) in rows:
                total.update(line.encode())
            found[name] = total.hexdigest()
    return found
