"""The journal has a file of its own beside the database: what one of the two loses the other has."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline import run, store
from pipeline.records import chained
from pipeline.records.errors import StoreError
from pipeline.run import Places
from pipeline.run.build import history
from pipeline.store import JournalRow, reading
from tests.rings import first_alone, quick_alone
from tests.test_overruling import MERGE, MESSAGES, issue

REASON = "the feeder reworded its message in 2.0"
MORE = {7: "KeyError: the spindle 8 has lost its thread"}


def bring(home: Path, messages: dict[int, str]) -> None:
    home.mkdir(exist_ok=True)
    lines = [issue(number, message) for number, message in messages.items()]
    (home / "issues.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run.import_files(home / "raw", [home / "issues.jsonl"])


def build(home: Path, *, export: bool = True) -> list[str]:
    """The warnings of a build with the home's overrides, exported."""
    rules = home / "overrides.toml"
    places = Places.of(home)
    with run.recorded(home, "build") as record:
        record.summary = run.build(
            places,
            workers=1,
            partition_documents=100,
            overrides=rules if rules.exists() else None,
            run_id=record.run_id,
        )
    if export:
        run.export(places)
    return list(record.summary.figures.get("warnings", []))


def journal(home: Path) -> tuple[JournalRow, ...]:
    return reading.journal(Places.of(home).database)


def last(home: Path) -> history.LastBuild:
    return history.last_build(Places.of(home).database, home=home)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in whose journal two errors were merged, for a reason that a person gave; its first database beside it."""
    home = tmp_path_factory.mktemp("told") / "home"
    bring(home, MESSAGES)
    build(home)
    shutil.copy(Places.of(home).database, home / "first.duckdb")
    (home / "overrides.toml").write_text(MERGE, encoding="utf-8")
    build(home)
    assert any(REASON in row.detail for row in journal(home))
    return home


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of another home."""
    home = tmp_path_factory.mktemp("other") / "home"
    bring(home, MORE)
    build(home)
    return Places.of(home).database


class Foreign(NamedTuple):
    """A home that was built where its database had been exchanged for that of another home."""

    home: Path
    warnings: list[str]


@pytest.fixture(scope="module")
def foreign(told: Path, other: Path, tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    home = Path(shutil.copytree(told, tmp_path_factory.mktemp("foreign") / "home"))
    shutil.copy(other, Places.of(home).database)
    return Foreign(home, build(home))


@pytest.fixture
def home(told: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(told, tmp_path / "home"))


def _delete(database: Path) -> None:
    database.unlink()


def _cut(database: Path) -> None:
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])


def _cut_to_a_page(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:4096])


def _empty(database: Path) -> None:
    database.write_bytes(b"")


def _garble(database: Path) -> None:
    database.write_bytes(b"not a database" * 1000)


def _zero_the_middle(database: Path) -> None:
    body = bytearray(database.read_bytes())
    third = len(body) // 3
    body[third : 2 * third] = bytes(third)
    database.write_bytes(body)


@pytest.mark.parametrize(
    "harm", quick_alone([_delete, _cut, _cut_to_a_page, _empty, _garble, _zero_the_middle], [_delete, _zero_the_middle])
)
def test_the_journal_survives_its_database(harm: Callable[[Path], None], home: Path) -> None:
    before = journal(home)
    harm(Places.of(home).database)
    found = last(home)
    assert found.journal.rows == before
    assert harm is _delete or "errmine.duckdb" in found.warnings[0]


@pytest.mark.long
def test_a_build_without_the_database_before_it_writes_the_same_journal(home: Path) -> None:
    before = journal(home)
    _cut(Places.of(home).database)
    (told,) = build(home)
    assert "made anew, with the journal of its own file" in told
    assert journal(home) == before
    assert (build(home), journal(home)) == ([], before)


@pytest.mark.long
def test_the_journal_goes_on_where_the_database_is_another_homes(told: Path, other: Path, foreign: Foreign) -> None:
    (warning,) = foreign.warnings
    assert "is of another home" in warning
    assert journal(foreign.home) == journal(told)
    assert (foreign.home / ".errmine" / "set-aside" / "errmine.duckdb").read_bytes() == other.read_bytes()
    assert last(foreign.home).is_in_step


@pytest.mark.long
def test_the_journal_goes_on_where_the_database_is_an_older_one(home: Path) -> None:
    before = journal(home)
    (home / "first.duckdb").replace(Places.of(home).database)
    (told,) = build(home)
    assert "is older than" in told
    assert journal(home) == before


@pytest.mark.parametrize("number", quick_alone([4, 6], [4]), ids=["of a cluster of two", "of an entry of its own"])
def test_forgetting_takes_no_note_that_an_older_database_lacks(number: int, home: Path) -> None:
    before = [row for row in journal(home) if number != 6 or not is_about(row, "oven")]
    (home / "first.duckdb").replace(Places.of(home).database)
    run.forget(home, home / "raw", f"https://github.com/errmine-fixtures/feeder/issues/{number}")
    assert history.JournalFile.read(home).broken == ()
    build(home)
    assert [row for row in journal(home) if row in before] == before
    assert any(REASON in row.detail for row in before)
    told = (home / ".errmine" / "journal.jsonl").read_text(encoding="utf-8")
    assert ("oven" in told, "forgotten" in told) == (number != 6, number == 6)


@pytest.mark.parametrize("harm", first_alone([lambda _: None, _cut_to_a_page]), ids=["whole", "damaged"])
@pytest.mark.parametrize("number", first_alone([7, 1]), ids=["a thread of it", "another thread"])
def test_forgetting_erases_a_database_that_lies_aside_and_may_hold_the_thread(
    harm: Callable[[Path], None], number: int, foreign: Foreign, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(foreign.home, tmp_path / "home"))
    aside = home / ".errmine" / "set-aside" / "errmine.duckdb"
    harm(aside)
    run.forget(home, home / "raw", f"https://github.com/errmine-fixtures/feeder/issues/{number}")
    assert aside.exists() == (number == 1 and harm is not _cut_to_a_page)


def is_about(row: JournalRow, word: str) -> bool:
    return word in f"{row.subject_id} {row.other_id}"


@pytest.mark.long
def test_the_database_has_the_journal_where_its_file_is_gone_or_damaged(home: Path) -> None:
    file = home / ".errmine" / "journal.jsonl"
    before, whole = journal(home), file.read_bytes()
    for body in (b"", whole[:100], whole[: len(whole) // 2]):
        file.write_bytes(body)
        assert (last(home).journal.rows, last(home).warnings) == (before, ()), body
    for body in (whole.replace(b"new", b"old", 1), b"\xff\xfe\n" + whole, whole[200:]):
        file.write_bytes(body)
        assert last(home).journal.rows == before
        assert last(home).warnings[0].startswith(f"{file}: line 1: ")
    assert build(home)
    assert (history.JournalFile.read(home).built.rows, last(home).warnings) == (before, ())
    assert file.with_name("journal.jsonl.damaged").read_bytes() == whole[200:]


def test_of_two_damaged_places_there_is_what_can_be_read(home: Path) -> None:
    file, before = home / ".errmine" / "journal.jsonl", journal(home)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([b"\x00" + lines[0], *lines[1:]]))
    _garble(Places.of(home).database)
    found = last(home)
    assert set(found.journal.rows) < set(before)
    assert f"{file}: line 1: is not what was written" in found.warnings
    assert "errmine.duckdb" in found.warnings[-1]


@pytest.mark.long
def test_a_build_that_was_killed_before_its_database_took_its_place_is_not_in_the_journal(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = journal(home)
    bring(home, MORE)
    with monkeypatch.context() as patch:
        patch.setattr(store, "bring", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build(home)
    assert journal(home) == before
    found = last(home)
    assert (found.journal.rows, found.is_in_step, found.warnings) == (before, True, ())
    build(home)
    after = journal(home)
    assert len(after) == len(set(after)) > len(before)
    assert history.JournalFile.read(home).built.rows == after


@pytest.mark.long
def test_a_build_that_was_killed_after_its_database_took_its_place_is_in_the_journal(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(home, MORE)
    with monkeypatch.context() as patch:
        patch.setattr(history.JournalFile, "settle", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build(home)
    after = journal(home)
    assert last(home).journal.rows == after
    run.export(Places.of(home))
    build(home)
    assert journal(home) == after
    assert history.JournalFile.read(home).built.rows == after


def test_builds_that_change_nothing_add_no_line(home: Path) -> None:
    file = home / ".errmine" / "journal.jsonl"
    before = file.read_bytes()
    runs = home / ".errmine" / "runs.jsonl"
    runs.write_bytes(runs.read_bytes() + b"\xff\n")
    assert build(home) == [f"{runs} line 3: is no record of a run, and passed over"]
    assert file.read_bytes() == before
    file.unlink()  # a home of before
    build(home)
    assert history.JournalFile.read(home).built.rows == journal(home)


def test_a_disk_that_takes_no_line_ends_the_build_with_the_old_database(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(home, MORE)
    database = Places.of(home).database.read_bytes()

    def full(_descriptor: int, _body: bytes, _place: int) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(chained.os, "pwrite", full)
    with pytest.raises(StoreError, match=r"journal\.jsonl: No space left") as caught:
        run.build(Places.of(home), workers=1, partition_documents=100)
    assert "free space" in caught.value.hint()
    assert Places.of(home).database.read_bytes() == database
