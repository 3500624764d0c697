"""The tables as schema.sql writes them down: statements, and the comments that people see in the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

_TABLE = re.compile(r"CREATE TABLE (\w+) \( -- (.+)")
_COLUMN = re.compile(r"    (\w+) ([^-]+?),? -- (.+)")


def sql(name: str) -> str:
    """The text of one of the .sql files beside this module."""
    return (files("pipeline.store") / name).read_text(encoding="utf-8")


def tables(schema: str) -> list[tuple[str, str]]:
    """(name, its columns as SQL) of each table of `schema`, in order."""
    return re.findall(r"^CREATE TABLE (\w+) \((.+?)^\);", schema, re.MULTILINE | re.DOTALL)


def columns(schema: str) -> dict[str, tuple[str, ...]]:
    """The names of each table's columns, in order."""
    return {name: tuple(found[1] for found in _COLUMN.finditer(body)) for name, body in tables(schema)}


def comments(schema: str) -> Iterator[str]:
    """`COMMENT ON` statements for the words behind the dashes of `schema`."""
    table = ""
    for line in schema.splitlines():
        if found := _TABLE.fullmatch(line):
            table = found[1]
            yield f"COMMENT ON TABLE {table} IS {_literal(found[2])}"
        elif found := _COLUMN.fullmatch(line):
            yield f"COMMENT ON COLUMN {table}.{found[1]} IS {_literal(found[3])}"


def loading_steps(text: str) -> list[tuple[str, str]]:
    """(shard table, statement) of loading.sql, in order: the line `-- events` names the files of the next statement."""
    found = re.findall(r"^-- (documents|events|claims|skipped)\n(INSERT.+?);$", text, re.MULTILINE | re.DOTALL)
    return [(kind, statement) for kind, statement in found]


def _literal(words: str) -> str:
    escaped = words.replace("'", "''")
    return f"'{escaped}'"
