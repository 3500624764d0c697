"""A journal of whose rows the first lie in a file says of itself what one says that has all of them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import run, store
from pipeline.records import chained, kept
from pipeline.run import Places
from pipeline.run.build import building, history
from pipeline.store import JournalRow, noted, reading
from tests.test_journal import MORE, bring
from tests.test_overruling import MERGE, MESSAGES

ROWS = st.lists(st.sampled_from([JournalRow("new", f"cluster:{number}", None, "x") for number in range(3)]), max_size=6)


def lying(rows: list[JournalRow], cuts: list[int]) -> chained.Rows[JournalRow]:
    """The rows, of which those before the last cut lie in a file."""
    found: list[chained.Stretch[JournalRow]] = []
    start = 0
    for end in sorted({min(cut, len(rows)) for cut in cuts} - {0}):
        some = rows[start:end]
        found.append(chained.Stretch(len(some), chained.Rows(rows).told(end), lambda some=some: some))  # type: ignore[misc]
        start = end
    return chained.Rows(rows[start:], found)


@settings(max_examples=300, deadline=None)
@given(ROWS, ROWS, st.lists(st.integers(0, 6), max_size=2), st.lists(st.integers(0, 6), max_size=2))
def test_rows_that_lie_in_a_file_are_the_rows_that_they_are(
    one: list[JournalRow], other: list[JournalRow], cuts: list[int], others: list[int]
) -> None:
    rows, more = lying(one, cuts), lying(other, others)
    assert (list(rows), len(rows), rows == one, rows == chained.Rows(one)) == (one, len(one), True, True)
    assert (rows == more) == (one == other)
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    assert rows.shared(more) == shared
    for count in range(len(one) + 1):
        assert list(rows.first(count)) == one[:count]
        assert lying(one, cuts).told(count) == chained.Rows(one).told(count)
        assert (rows[count:], rows[:count], rows[count::-1]) == (one[count:], one[:count], one[count::-1])
    assert list(rows.first(shared).then(other[shared:])) == other
    assert [rows[place] for place in range(-len(one), len(one))] == one * 2
    before = noted.Journaled(len(other), chained.Rows(other).told(len(other)))
    told = before.going_on(rows)
    assert told.kept == ((before.count, before.digest) if one[: len(other)] == other else (0, ""))
    assert told == noted.Journaled(len(one), chained.Rows(one).told(len(one)))


@pytest.mark.parametrize("size", [0, 1, chained._ENDING - 1, chained._ENDING, 3 * chained._ENDING])
def test_a_line_is_bound_to_the_one_before_it_however_long_that_is(size: int, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    chained.extend(path, [{"a": 1}, {"a": "x" * size}])
    middle = chained.read(path).end
    chained.extend(path, [{"a": 2}])
    path.write_bytes(path.read_bytes() + b'{"half')
    whole = chained.read(path)
    assert ([row["a"] for row in whole.rows], whole.broken, whole.is_cut) == ([1, "x" * size, 2], (), True)
    assert chained.has(path, middle)
    rest = chained.read(path, middle)
    assert (rest.rows, rest.broken, rest.end) == (whole.rows[2:], (), whole.end)
    assert chained.read(path, until=middle.byte_count).rows == whole.rows[:2]
    chained.extend(path, [{"a": 3}])
    assert [row["a"] for row in chained.read(path).rows[2:]] == [2, 3]
    body = bytearray(path.read_bytes())
    body[3] ^= 1
    path.write_bytes(body)
    assert not chained.has(path, middle)
    path.write_bytes(body[:10])
    assert not chained.has(path, middle)


def build(home: Path) -> None:
    rules = home / "overrides.toml"
    run.build(Places.of(home), workers=1, partition_documents=100, overrides=rules if rules.exists() else None)


def told(home: Path) -> tuple[bytes, str, tuple[JournalRow, ...]]:
    database = Places.of(home).database
    return (home / ".errmine" / "journal.jsonl").read_bytes(), store.digest(database), reading.journal(database)


def marked(home: Path) -> history.JournalFile:
    """The file as a build reads it."""
    return history.JournalFile.read(home, forgotten=building._forgotten(Places.of(home)))


STEPS = ["new", "export", "merge", "again", "export", "more", "taken back", "export", "killed", "forget", "last"]


def step(home: Path, name: str, patch: pytest.MonkeyPatch) -> None:
    if name == "export":
        run.export(Places.of(home))
        return
    if name == "merge":
        (home / "overrides.toml").write_text(MERGE, encoding="utf-8")
    if name == "taken back":
        (home / "overrides.toml").unlink()
    if name in ("more", "last"):
        bring(home, MORE if name == "more" else {9: "ValueError: the kiln 4 has no lid"})
    if name == "forget":
        run.forget(home, home / "raw", "https://github.com/errmine-fixtures/feeder/issues/6")
    if name == "killed":
        bring(home, {8: "KeyError: the shuttle is gone"})
        with patch.context() as killed:
            killed.setattr(store, "bring", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                build(home)
    build(home)


@pytest.mark.long
def test_a_build_that_reads_no_row_of_the_journal_writes_what_one_writes_that_reads_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, plain = tmp_path / "home", tmp_path / "plain"
    bring(home, MESSAGES)
    shutil.copytree(home, plain)
    monkeypatch.setattr("pipeline.store.replacing.FEW_ROWS", 0)
    for name in STEPS:
        step(home, name, monkeypatch)
        history.marked_at(plain).unlink(missing_ok=True)
        step(plain, name, monkeypatch)
        assert told(home) == told(plain), name
        file = marked(home)
        assert file.mark is not None, name
        assert sum(one.count for one in file.built.rows.lying) == len(file.built.rows)
        assert file == history.JournalFile.read(home)
        with monkeypatch.context() as patch:
            patch.setattr(history.reading, "journal", lambda _: pytest.fail("the database's journal was read"))
            patch.setattr(history, "_rows_between", lambda *_: pytest.fail("the file's lines were read"))
            found = history.last_build(Places.of(home).database, home=home, forgotten=file.mark.forgotten)
        assert found.journal.rows == file.built.rows
        assert found.is_in_step


def test_a_file_whose_rows_name_what_is_forgotten_is_not_noted(tmp_path: Path) -> None:
    rows = chained.Rows([JournalRow("new", "pot/lid", None, "first seen")])
    journal, file = history.Journal(rows, 0, "registry"), history.JournalFile.read(tmp_path)
    file.note(journal)
    file.settle(journal)
    for is_gone, is_naming in ((lambda name: name == "pot/lid", False), (lambda _: False, True)):
        replace(file, is_naming=is_naming).keep(journal, forgotten="", is_gone=is_gone)
        assert not history.marked_at(tmp_path).exists()
    file.keep(journal, forgotten="", is_gone=lambda _: False)
    assert history.JournalFile.read(tmp_path, forgotten="").mark is not None
    last = history.last_build(tmp_path / "no.duckdb", home=tmp_path, is_gone=lambda name: name == "pot/lid")
    assert (last.file.is_naming, [row.subject_id for row in last.file.built.rows]) == (True, ["forgotten"])


def test_a_file_that_is_not_the_one_that_was_noted_is_read_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    bring(home, MESSAGES)
    build(home)
    file, note = home / ".errmine" / "journal.jsonl", history.marked_at(home)
    whole, sound = file.read_bytes(), note.read_bytes()
    for body in (whole.replace(b"new", b"old", 1), whole[:-9], b""):
        file.write_bytes(body)
        assert marked(home) == history.JournalFile.read(home)
        assert marked(home).mark is None
    file.write_bytes(whole)
    assert marked(home).mark is not None
    assert history.JournalFile.read(home, forgotten="another thread").mark is None
    older = kept.sealed_json({**kept.unsealed_json(note), "form": "rows of an errmine of before"})
    for broken in (b"", b"{}", sound[:-9], kept.sealed_json({"whole": {"count": 1}}), older):
        note.write_bytes(broken)
        assert marked(home).mark is None
    build(home)
    assert marked(home).mark is not None
