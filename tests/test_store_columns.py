"""A field of a record is a column of its table, under its name, or stands here as one that is none."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import BaseModel

from pipeline import store
from pipeline.lexicon import catalogues
from pipeline.records import Assignment, ClaimKind, DocumentKind, Neighbour, Outcome, Severity, Skipped
from pipeline.records import entry as published
from pipeline.store import opening, rows
from pipeline.store.opening import Version
from tests import entry_factory as make

SCHEMA = opening.sql("schema.sql")
COLUMNS = opening.columns(SCHEMA)
#: Columns that say where a part stands in its entry.
PLACE = "entry_id ordinal"
#: Parts of an entry that have tables of their own, the lists beside them, and what is the same in every entry.
PARTS = """
id schema_version locale aliases provenance translations transition_graph evidence evidence_omitted root_cause_evidence
versions environment parameters os_specific workarounds workarounds_zh dead_ends dead_ends_zh cases leads
"""
#: Table -> the record that it mirrors, columns that are no field, fields that are no column.
MIRRORS: dict[str, tuple[type[Any], str, str]] = {
    "assignments": (Assignment, "", ""),
    "neighbours": (Neighbour, "", ""),
    "skipped": (Skipped, "", ""),
    "withheld": (store.WithheldRow, "", ""),
    "journal": (store.JournalRow, "ordinal", ""),
    "overrides": (store.OverrideRow, "ordinal", ""),
    "stage_counts": (store.StageCount, "", ""),
    "runs": (store.RunRow, "", ""),
    "catalogue": (catalogues.Listed, "", ""),
    "schema_versions": (Version, "", ""),
    "evidence": (published.Evidence, "entry_id", ""),
    "versions": (published.Version, PLACE, "evidence"),
    "environment": (published.Environment, PLACE, "evidence"),
    "cases": (published.Case, PLACE, "statements documents_omitted"),
    "case_statements": (published.CaseStatement, f"{PLACE} case_ordinal", "evidence replies"),
    "replies": (published.Reply, "entry_id part ordinal", ""),
    "edges": (published.Edge, f"{PLACE} relation other_id", "entry_id evidence"),
    "translations": (published.Translation, "entry_id field", ""),
    "entries": (
        published.KnowledgeEntry,
        (
            "entry_id workaround_count dead_end_count origin is_answered json "
            "documentation_zh documentation_url documentation_row is_documented"
        ),
        PARTS,
    ),
}


@pytest.mark.parametrize("table", MIRRORS)
def test_the_columns_of_a_table_are_the_fields_of_its_record(table: str) -> None:
    record, added, left_out = MIRRORS[table]
    names = set(record.model_fields if issubclass(record, BaseModel) else (field.name for field in fields(record)))
    assert names >= set(left_out.split())
    columns = [rows.FIELDS.get(column, column) for column in COLUMNS[table] if column not in added.split()]
    assert sorted(columns) == sorted(names - set(left_out.split()))


@pytest.mark.parametrize(
    ("table", "column", "kinds"),
    [
        ("documents", "kind", DocumentKind),
        ("events", "severity", Severity),
        ("claims", "kind", ClaimKind),
        ("claims", "outcome", Outcome),
    ],
)
def test_the_comment_of_a_kind_names_each(table: str, column: str, kinds: type[ClaimKind]) -> None:
    comment = next(one for one in opening.comments(SCHEMA) if one.startswith(f"COMMENT ON COLUMN {table}.{column} "))
    assert [kind for kind in kinds if not re.search(rf"\b{kind}\b", comment.partition(" IS ")[2])] == []


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, list[str]]]:
    """(table, the columns that its statement of loading.sql gives), asked of a shard."""
    shard = make.written_shard(tmp_path_factory.mktemp("shard"))
    connection = duckdb.connect()
    connection.execute(SCHEMA)  # a step may ask a table that one before it filled
    found = []
    for table, kind, statement in opening.loading_steps(opening.sql("loading.sql")):
        question = statement.partition(" BY NAME")[2]
        files: Path = getattr(shard, kind)
        given = connection.execute(f"DESCRIBE {question}", {"files": [str(files)]} if "$files" in question else None)
        found.append((table, [str(row[0]) for row in given.fetchall()]))
    return found


def test_every_table_of_the_shards_gets_all_its_columns_by_name(loaded: list[tuple[str, list[str]]]) -> None:
    assert {table for table, _ in loaded} == {
        "documents", "official_docs", "events", "signatures", "parameters", "claims", "skipped"
    }  # fmt: skip
    for table, columns in loaded:
        assert sorted(columns) == sorted(COLUMNS[table]), table


def test_every_column_of_every_table_and_view_says_what_it_holds(sample_home: Path) -> None:
    database = sample_home / "curated" / "errmine.duckdb"
    asked = "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND coalesce(comment, '') = ''"
    assert store.query(database, asked).rows == []
    shown = "SELECT comment FROM duckdb_columns() WHERE table_name = 'cluster_events' AND column_name = 'explanation'"
    assert store.query(database, shown).rows == [("One sentence for people",)]  # that of assignments


def test_times_are_times_and_days_are_days() -> None:
    kinds = {
        (table, column): kind
        for table, body in opening.tables(SCHEMA)
        for column, kind in re.findall(r"^    (\w+) ([^-]+?),? -- ", body, re.MULTILINE)
    }
    assert {kind for (_, column), kind in kinds.items() if column.endswith("_at")} == {"TIMESTAMPTZ"}
    days = {"first_seen", "last_seen", "last_updated", "last_confirmed"}
    assert {kind for (_, column), kind in kinds.items() if column in days} == {"DATE"}
