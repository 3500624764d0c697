"""A home whose database an earlier errmine made: it can be asked, and a build takes over what raw does not hold."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from pipeline import export, store
from pipeline import run as build
from pipeline.records.errors import StoreError
from pipeline.run import Places
from pipeline.run.build import history
from pipeline.run.build.registry import Registered
from pipeline.store import listing, reading
from tests import golden, store_versions
from tests.rings import quick_alone

EARLIER = [step.version for step in store.VERSIONS[:-1]]
#: A merge of long ago, of which raw knows nothing.
NOTE = ("merged", "cluster:00000000000000aa", "cluster:00000000000000bb", "of long ago")


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run on record, a bundle, a former entry id, and the note in its journal."""
    home = tmp_path_factory.mktemp("home")
    places = Places.of(home)
    with build.recorded(home, "build", run_id="run-of-long-ago"):
        golden.copied(sample_home, home)
    registry = export.read_registry(places.curated)
    registry.aliases["xla/of-long-ago"] = min(registry.ids)
    export.write(places.curated, export.read_entries(places.curated), facts=export.Facts(registry=registry))
    places.registry.keep(Registered.of(registry))
    with duckdb.connect(str(places.database)) as connection:
        connection.execute("UPDATE journal SET ordinal = ordinal + 1")
        columns = "ordinal, action, subject_id, other_id, detail"
        connection.execute(f"INSERT INTO journal ({columns}) VALUES (0, ?, ?, ?, ?)", list(NOTE))
    (home / ".errmine" / "journal.jsonl").unlink()  # the journal's own file came later
    return home


@pytest.fixture
def places(home: Path, tmp_path: Path) -> Places:
    """A copy of the home."""
    shutil.copytree(home, tmp_path / "home")
    return Places.of(tmp_path / "home")


#: What a column of before 2.0 held, made of what the present one holds.
_FORMER = {
    ("signatures", "text"): "signature",
    ("clusters", "text"): "signature",
    ("claims", "template"): "fact",
    ("claims", "posted_at"): "strftime(posted_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')",
}


def age(path: Path, version: str) -> None:
    """Make the file at `path` what it would be had the errmine of `version` made it."""
    present = path.rename(path.with_name("present"))
    with duckdb.connect(str(path)) as connection:
        connection.execute(store_versions.path_of(version).read_text(encoding="utf-8"))
        connection.execute(f"ATTACH '{present}' AS present (READ_ONLY)")
        tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
        for (table,) in connection.execute(tables).fetchall():
            found = connection.execute(f"SELECT column_name FROM (DESCRIBE {table})").fetchall()
            columns = ", ".join(_FORMER.get((table, name), f'"{name}"') for (name,) in found)
            connection.execute(f"INSERT INTO {table} SELECT {columns} FROM present.{table} ORDER BY rowid")
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", [version])
    present.unlink()


def has(step: str, version: str) -> bool:
    """Whether a file of `version` has what the step brought."""
    steps = [one.version for one in store.VERSIONS]
    return steps.index(version) >= steps.index(step)


def rebuilt(places: Places) -> None:
    build.build(places, workers=1, partition_documents=500)


def test_a_change_of_the_tables_is_a_step_with_a_number() -> None:
    """If this fails, add a step to pipeline.store.opening and run `python -m tests.store_versions`."""
    kept = store_versions.path_of(store.SCHEMA_VERSION).read_text(encoding="utf-8")
    assert store_versions.present() == kept


def test_steps_are_in_order_and_each_has_its_tables() -> None:
    numbers = [tuple(map(int, step.version.split("."))) for step in store.VERSIONS]
    assert numbers == sorted(set(numbers))
    assert {path.stem for path in store_versions.FOLDER.glob("*.sql")} == {step.version for step in store.VERSIONS}


@pytest.mark.long
def test_a_minor_step_only_adds() -> None:
    def shape(version: str) -> set[tuple[str, str, str]]:
        with duckdb.connect() as connection:
            connection.execute(store_versions.path_of(version).read_text(encoding="utf-8"))
            asked = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal"
            return set(connection.execute(asked).fetchall())

    for before, after in zip(store.VERSIONS, store.VERSIONS[1:], strict=False):
        if before.version.split(".")[0] == after.version.split(".")[0]:
            assert shape(before.version) <= shape(after.version)


def test_the_file_tells_its_versions(home: Path) -> None:
    told = store.query(Places.of(home).database, "FROM schema_versions").rows
    assert told == [(step.version, step.changed) for step in store.VERSIONS]
    assert store.meta(Places.of(home).database)["schema_version"] == told[-1][0]


@pytest.mark.parametrize("version", quick_alone(EARLIER, [EARLIER[0], EARLIER[-1]]))
def test_a_file_of_an_earlier_version_is_asked_as_it_is_and_tells_a_build_all_that_it_takes_over(
    places: Places, version: str
) -> None:
    before = history.last_build(places.database, home=places.home)
    assert before.journal.rows[0].detail == NOTE[-1]
    age(places.database, version)
    with store.lasting():
        _asked(places, version)
    assert history.last_build(places.database, home=places.home) == before


@pytest.mark.long
@pytest.mark.parametrize(
    "version", quick_alone([EARLIER[0], *(last for last, now in pairwise(EARLIER) if last[0] != now[0])], [EARLIER[0]])
)
def test_a_build_takes_over_what_raw_does_not_hold(places: Places, version: str) -> None:
    """From the oldest, and from the last of each major step."""
    before = reading.journal(places.database)
    age(places.database, version)
    rebuilt(places)
    _taken_over(places, before)


def _asked(places: Places, version: str) -> None:
    assert store.meta(places.database)["schema_version"] == version
    (run,) = reading.status(places.database)["runs"]
    assert run["run_id"] == "run-of-long-ago"
    first = reading.entries(places.database)[0]["id"]
    assert reading.entry(places.database, first)
    assert reading.explanation(places.database, first)
    assert store.query(places.database, "FROM cluster_summary").rows
    assert bool(store.query(places.database, "FROM cases").rows) == has("1.4", version)
    if not has("1.5", version):
        assert reading.status(places.database)["answers"] == []
        with pytest.raises(StoreError, match="does not say what is answered"):
            listing.listed(places.database, listing.Wanted(), limit=1)
    if has("1.2", version):  # they have all that is asked for below
        return
    assert store.query(places.database, "FROM schema_versions").rows == []  # added since: there, and empty
    with pytest.raises(StoreError, match="no words to search") as caught:
        reading.search(places.database, "memory", limit=1)
    assert "errmine build" in caught.value.hint()


def _taken_over(places: Places, before: tuple[store.JournalRow, ...]) -> None:
    assert store.meta(places.database)["schema_version"] == store.SCHEMA_VERSION
    after = reading.journal(places.database)
    assert (after[0].action, after[0].subject_id, after[0].other_id, after[0].detail) == NOTE
    assert [row.subject_id for row in after] == [row.subject_id for row in before]
    assert store.query(places.database, "FROM aliases WHERE alias = 'xla/of-long-ago'").rows
    assert [run["run_id"] for run in reading.status(places.database)["runs"]] == ["run-of-long-ago"]


@pytest.mark.long
def test_the_content_is_that_of_a_home_whose_file_was_never_old(places: Places, home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "never-old")
    rebuilt(Places.of(tmp_path / "never-old"))
    age(places.database, EARLIER[0])
    rebuilt(places)
    assert store.digest(places.database) == store.digest(Places.of(tmp_path / "never-old").database)


@pytest.mark.long
def test_a_file_of_before_2_0_has_the_names_and_types_of_now_beside_its_own(places: Places) -> None:
    asked = (
        "SELECT signature FROM signatures ORDER BY signature_id",
        "SELECT cluster_id, signature FROM clusters ORDER BY cluster_id",
        "SELECT claim_id, fact, posted_at FROM claims ORDER BY claim_id",
        "SELECT document_id, first_seen, last_updated FROM official_docs ORDER BY document_id",
    )
    present = [store.query(places.database, one).rows for one in asked]
    assert all(present)
    explained = reading.explanation(places.database, "triton/out-of-resources-threads")
    age(places.database, "1.9")
    with store.read_only(places.database) as connection:  # the file itself is as the errmine of then left it
        kept = "SELECT data_type FROM duckdb_columns() WHERE table_name = 'claims' AND column_name = 'posted_at'"
        assert connection.execute(f"{kept} AND database_name <> 'temp'").fetchall() == [("VARCHAR",)]
    assert [store.query(places.database, one).rows for one in asked] == present
    assert store.query(places.database, "SELECT text FROM signatures").rows  # as the questions of then ask
    assert store.query(places.database, "SELECT template FROM withheld_claims").columns == ("template",)
    assert reading.explanation(places.database, "triton/out-of-resources-threads") == explained


def test_a_file_of_before_the_first_version_is_no_file_of_ours(places: Places) -> None:
    with duckdb.connect(str(places.database)) as connection:
        connection.execute("UPDATE meta SET value = '0.9' WHERE key = 'schema_version'")
    with pytest.raises(StoreError, match=r"has schema 0\.9; this errmine writes") as caught:
        store.query(places.database, "FROM entries")
    assert "errmine build" in caught.value.hint()


def test_a_build_refuses_a_file_of_a_later_errmine_before_it_works(places: Places) -> None:
    with duckdb.connect(str(places.database)) as connection:
        connection.execute("UPDATE meta SET value = '99.0' WHERE key = 'schema_version'")
    body = places.database.read_bytes()
    with pytest.raises(StoreError, match=rf"has schema 99\.0; this errmine knows {store.SCHEMA_VERSION}") as caught:
        rebuilt(places)
    assert "Upgrade errmine" in caught.value.hint()
    assert places.database.read_bytes() == body
