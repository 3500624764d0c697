"""A database that is brought up to date is the one that is written whole: its rows, and nothing of what went."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import store
from pipeline.records import Neighbour
from pipeline.records.errors import StoreError
from pipeline.run.build import entries, rows
from pipeline.run.build.registry import Registered
from pipeline.store import engine, noted, opening, querying, replacing
from tests import histories, stored_histories
from tests.rings import one_in, quick_alone

pytestmark = pytest.mark.usefixtures("never_few")


@dataclass(frozen=True)
class Change:
    """A file and its note, and what it is to hold next."""

    folder: Path
    contents: store.Contents
    told: store.Told
    digests: dict[str, str]  # of a file with `contents` that is written whole

    def brought(self, folder: Path) -> Path:
        """A copy of the file, brought up to date."""
        shutil.copytree(self.folder, folder)
        store.bring(folder / "x.duckdb", self.contents, self.told, note=folder)
        return folder / "x.duckdb"

    def differing(self, folder: Path) -> list[str]:
        """The tables of that copy that are not those of a file written whole; "lines" if its note of them is wrong."""
        path = self.brought(folder)
        found, note = store.digests(path), noted.read(folder)
        rows = dict(store.query(path, "SELECT entry_id, sha256(json::VARCHAR) FROM entries").rows)
        wrong = [name for name, digest in self.digests.items() if found[name] != digest]
        if note is None or note.lines != store.Digests.of(rows):
            wrong.append("lines")
        return wrong if noted.signs(folder, path) == querying.Entries(path).signs() else [*wrong, "signs"]


TOLD = st.dictionaries(st.text("ab\u00e9\U0001f600\uffee", max_size=3), st.sampled_from(["", "x", "y"]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(TOLD, TOLD, st.lists(st.text("ab", max_size=2)))
def test_digests_by_key_are_those_of_a_dictionary(before: dict[str, str], now: dict[str, str], some: list[str]) -> None:
    one, other = store.Digests.of(before), store.Digests.of(now)
    changed = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    assert one.changed(other) == changed
    assert (one == other) == (before == now)
    assert other.places(some) == [sorted(now).index(key) for key in some if key in now]


def test_what_is_noted_is_read_back_in_order(tmp_path: Path) -> None:
    keyed = [store.Digests.of(one) for one in ({"b": "1", "a": "2"}, {}, {"c": "4"})]
    told = store.Told("me", *keyed, noted.Journaled(2, "j"), {"meta": "5"})
    held = noted.Held(told, "checksum", noted.Size(7, 3), store.Digests.of({"e": "3"}), store.Digests.of({"e": "12 4"}))
    noted.write(tmp_path, held)
    assert noted.read(tmp_path) == held
    assert pa.ipc.open_file(tmp_path / "database.arrow").read_all().to_pylist() == [
        {"key": "a", "digest": "2"},
        {"key": "b", "digest": "1"},
        {"key": "c", "digest": "4"},
        {"key": "e", "digest": "3"},
        {"key": "e", "digest": "12 4"},
    ]


@pytest.mark.long
@pytest.mark.parametrize("is_mutant", [False, True])
def test_the_sign_of_an_entry_tells_of_its_cluster_too(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_mutant: bool
) -> None:
    path = change.brought(tmp_path / "one")
    before = noted.signs(path.parent, path)
    one, *others = change.contents.clusters
    changed = replace(change.contents, clusters=(replace(one, lowest_score=0.25), *others))
    monkeypatch.setattr(replacing, "FEW_ROWS", 0)
    if is_mutant:
        monkeypatch.setattr(replacing, "_SIGNED_ANEW", "FROM changed_entries")
    store.bring(path, changed, change.told, note=path.parent)
    now = querying.Entries(path).signs()
    assert before is not None
    assert sum(was != sign for was, sign in zip(before.to_pylist(), now.to_pylist(), strict=True)) == 1
    assert (noted.signs(path.parent, path) == now) == (not is_mutant)


@pytest.mark.long
def test_of_a_note_without_signs_the_file_is_asked(change: Change, tmp_path: Path) -> None:
    path = change.brought(tmp_path / "one")
    wanted = querying.Entries(path).signs()
    held = noted.read(path.parent)
    assert held is not None
    assert wanted
    noted.write(path.parent, replace(held, signs=store.Digests.of({})))  # as an errmine of before wrote it
    assert noted.signs(path.parent, path) is None
    assert querying.Entries(path, note=path.parent).signs() == wanted
    noted.write(path.parent, replace(held, checksum="of another file", sign=None))
    assert noted.signs(path.parent, path) is None


@pytest.fixture(scope="module")
def change(tmp_path_factory: pytest.TempPathFactory) -> Change:
    """Documents came, changed and went; one only has another title."""
    world, folder = histories.World(5), tmp_path_factory.mktemp("change")
    registry = Registered.of()

    def now(name: str) -> tuple[store.Contents, store.Told]:
        nonlocal registry
        used = histories.sharded(world, folder / f"{name} rows")
        with rows.opened(used, spill=folder / "spill") as there:
            grouped = entries.group(there)
            made = entries.make(
                there, grouped, entries.Means(folder / f"{name} made"), registry=registry, min_documents=1
            )
        registry = made.registry
        return stored_histories.contents_of(world, grouped, made, folder / name, there)

    for _ in range(7):
        world.step()
    contents, told = now("before")
    (folder / "held").mkdir()
    store.bring(folder / "held" / "x.duckdb", contents, told, note=folder / "held")
    cited = {piece.document_id for entry in contents.entries for piece in entry.evidence}
    gone, retitled = sorted(cited & {name for name, one in world.documents.items() if one.record is None})[:2]
    for _ in range(4):
        world.step()
    world.documents.pop(gone, None)
    world.documents[retitled] = replace(world.documents[retitled], title="the title alone")
    page = next(one for one in histories.sample() if one.record and one.document_id not in world.documents)
    world.documents[page.document_id] = page
    contents, told = now("after")
    return Change(folder / "held", contents, told, store.digests(store.write(folder / "y.duckdb", contents)))


@pytest.fixture(scope="module")
def regrouping(tmp_path_factory: pytest.TempPathFactory) -> Change:
    """One more report of an error without an entry, another name of an entry; and what clusters alone own went."""
    world, folder = histories.World(5), tmp_path_factory.mktemp("regrouping")
    for _ in range(9):
        world.step()

    def now(name: str, *, unpublished: str = "", renamed: str = "") -> tuple[store.Contents, store.Told]:
        used = histories.sharded(world, folder / f"{name} rows")
        with rows.opened(used, spill=folder / "spill") as there:
            grouped = entries.group(there)
            means = entries.Means(folder / f"{name} made")
            made = entries.make(there, grouped, means, registry=Registered.of(), min_documents=1)
        contents, told = stored_histories.contents_of(world, grouped, made, folder / name, there)
        published = [
            one.model_copy(update={"id": "another/name"}) if one.cluster_id == renamed else one
            for one in contents.entries
            if one.cluster_id != unpublished
        ]
        published.sort(key=lambda one: one.id)
        digests = {one.id: one.model_dump_json() for one in published}
        return replace(contents, entries=published), replace(told, entries=store.Digests.of(digests))

    contents, _ = now("all")
    alone, first, second, *_ = (one.cluster_id for one in contents.clusters if len(one.members) == 1)
    (report, *_) = (piece.document_id for one in contents.entries if one.cluster_id == alone for piece in one.evidence)
    # nothing but the name of its entry changes of this cluster: whatever else does would have it counted anew, too
    renamed = next(
        one.cluster_id
        for one in contents.entries
        if one.cluster_id not in {alone, first, second} and report not in {piece.document_id for piece in one.evidence}
    )
    assert renamed
    contents, told = now("before", unpublished=alone)
    withheld = store.WithheldRow(first, "claim:1", report, None, None, "common_names")
    contents = replace(
        contents, withheld=(withheld,), neighbours=(*contents.neighbours, Neighbour(first, second, 80.0, "far"))
    )
    (folder / "held").mkdir()
    store.bring(folder / "held" / "x.duckdb", contents, told, note=folder / "held")
    again = replace(world.documents[report], document_id="github.com/errmine-fixtures/pond#990", number=990)
    world.documents[again.document_id] = again
    contents, told = now("after", unpublished=alone, renamed=renamed)
    contents = replace(contents, overrides=(store.OverrideRow("ignore", "row 1", None, "noise", ("a",), (), None),))
    return Change(folder / "held", contents, told, store.digests(store.write(folder / "y.duckdb", contents)))


@pytest.fixture
def in_place(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were written whole since."""
    whole: list[Path] = []
    real = replacing._written
    monkeypatch.setattr(replacing, "_written", lambda path, contents: whole.append(path) or real(path, contents))
    return whole


def test_a_file_brought_up_to_date_has_the_rows_of_one_that_is_written_whole(
    change: Change, regrouping: Change, tmp_path: Path, in_place: list[Path]
) -> None:
    assert change.differing(tmp_path / "one") == []
    assert regrouping.differing(tmp_path / "other") == []
    assert in_place == []


@pytest.mark.long
def test_a_file_of_few_rows_is_written_whole_and_one_of_more_is_brought_up_to_date(
    change: Change, tmp_path: Path, in_place: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    last = noted.read(change.folder)
    assert last is not None
    for few, whole in ((last.whole.row_count, []), (last.whole.row_count + 1, ["more"])):
        monkeypatch.setattr(replacing, "FEW_ROWS", few)
        assert change.differing(tmp_path / str(few)) == []
        assert ["more" for _ in in_place] == whole


@pytest.fixture(scope="module")
def undone(regrouping: Change, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing; behind the last mutant nothing is left of any."""
    yield
    with patch.object(replacing, "FEW_ROWS", 0):
        assert regrouping.differing(tmp_path_factory.mktemp("undone") / "sound") == []


@pytest.mark.long
@pytest.mark.usefixtures("undone")
@pytest.mark.parametrize("mutant", sorted(stored_histories.MUTANTS))
def test_no_rule_of_what_is_brought_can_be_left_out(
    change: Change, regrouping: Change, tmp_path: Path, mutant: str
) -> None:
    undo = stored_histories.MUTANTS[mutant]()
    try:
        assert change.differing(tmp_path / "one") or regrouping.differing(tmp_path / "other")
    finally:
        undo()


@pytest.mark.long
def test_a_journal_that_goes_on_grows_and_any_other_takes_its_place(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [store.JournalRow("new", f"cluster:{number}", None, "first seen") for number in range(4)]
    brought: list[int] = []
    real = replacing.insert_journal
    monkeypatch.setattr(replacing, "insert_journal", lambda *given, but: brought.append(but) or real(*given, but=but))
    path = change.brought(tmp_path / "one")
    for journal in (rows[:2], rows, rows[1:], rows[1:2]):
        store.bring(path, replace(change.contents, journal=tuple(journal)), change.told, note=path.parent)
        there = store.query(path, "SELECT subject_id, ordinal FROM journal ORDER BY ordinal").rows
        assert there == [(row.subject_id, number) for number, row in enumerate(journal)]
    assert brought == [0, 0, 2, 0, 0]


@pytest.mark.long
def test_a_copy_without_what_is_dead_has_the_order_of_a_file_that_is_written_whole(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "_MOST_DEAD", 0)
    found, whole = change.brought(tmp_path / "one"), change.folder.parent / "y.duckdb"
    for table, _ in opening.tables(opening.sql("schema.sql")):
        if table != "skipped":  # which has three sources
            there, wanted = (_table(path, table) for path in (found, whole))
            assert there.equals(wanted), table
    shown = "SELECT * FROM search('press belt')"
    assert store.query(found, shown).rows == store.query(whole, shown).rows
    comments = "SELECT comment FROM duckdb_columns() ORDER BY ALL"
    assert store.query(found, comments).rows == store.query(whole, comments).rows
    assert sorted(path.name for path in found.parent.iterdir()) == ["database.arrow", "database.json", "x.duckdb"]


def _table(path: Path, name: str) -> pa.Table:
    """The rows of a table in the order in which they lie in the file."""
    with store.read_only(path) as connection:
        return connection.sql(f'FROM "{name}"').to_arrow_table()


def _written_and_killed(path: Path) -> None:
    """Nothing; beside the file lies what a process wrote into it that was killed before it put it there."""
    program = (
        "import duckdb, os, sys; one = duckdb.connect(sys.argv[1]); one.execute('DELETE FROM evidence'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    assert path.with_name(f"{path.name}.wal").exists()


def _flipped(path: Path, place: int | None = None) -> None:
    body = bytearray(path.read_bytes())
    body[len(body) // 2 if place is None else place] ^= 1
    path.write_bytes(body)


@pytest.mark.parametrize(
    "spoil",
    one_in(
        7,
        [
            lambda folder: _flipped(folder / "x.duckdb"),
            lambda folder: store.write(folder / "x.duckdb", store.Contents()),
            lambda folder: (folder / "x.duckdb").unlink(),
            lambda folder: _flipped(folder / "database.arrow"),
            lambda folder: (folder / "database.json").unlink(),
            lambda folder: (folder / "database.json").write_text("{}"),
            lambda folder: _written_and_killed(folder / "x.duckdb"),
        ],
    ),
    ids=["damaged", "another", "none", "note damaged", "no note", "note of others", "a log of a writer"],
)
def test_where_nothing_sure_is_known_of_the_file_it_is_written_whole(
    change: Change, tmp_path: Path, in_place: list[Path], spoil: Callable[[Path], object]
) -> None:
    folder = shutil.copytree(change.folder, tmp_path / "one")
    spoil(folder)
    store.bring(folder / "x.duckdb", change.contents, change.told, note=folder)
    assert in_place == [folder / "x.duckdb"]
    assert store.digests(folder / "x.duckdb") == change.digests


def test_a_block_is_sound_that_stood_there_before_or_that_duckdb_wrote(change: Change, tmp_path: Path) -> None:
    before, path = noted.checksum(change.folder / "x.duckdb"), change.brought(tmp_path / "one")
    now = noted.checksum(path)
    assert now != before
    assert noted.is_sound(path, now, before)
    for place in [100, *range(3 * 4096 + 77_777, path.stat().st_size, 1 << 18)]:
        body = path.read_bytes()
        _flipped(path, place)
        assert not noted.is_sound(path, noted.checksum(path), before)
        path.write_bytes(body)


@pytest.mark.parametrize("is_noticed", one_in(2, [False, True]))
def test_a_bit_that_turned_while_nobody_touched_the_file_does_not_come_into_the_next_one(
    change: Change, tmp_path: Path, in_place: list[Path], monkeypatch: pytest.MonkeyPatch, is_noticed: bool
) -> None:
    folder = shutil.copytree(change.folder, tmp_path / "one")
    path = folder / "x.duckdb"
    real = replacing._brought
    if is_noticed:  # by DuckDB, which reads the block
        _flipped(path)
        monkeypatch.setattr(noted, "_is_known", lambda sign, path: True)
    else:
        monkeypatch.setattr(replacing, "_MOST_DEAD", 1000)
        monkeypatch.setattr(replacing, "_brought", lambda *given: (real(*given), _flipped(path))[0])
    store.bring(path, change.contents, change.told, note=folder)
    assert in_place == [path]
    assert noted.is_of(folder, path)
    assert store.digests(path) == change.digests


@pytest.mark.long
def test_a_file_that_nobody_touched_since_it_was_noted_is_not_read_for_its_checksum(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = change.brought(tmp_path / "one")
    read: list[Path] = []
    real = noted.checksum
    monkeypatch.setattr(noted, "checksum", lambda path: read.append(path) or real(path))
    assert querying.Entries(path, note=path.parent).signs()
    assert read == []
    store.bring(path, replace(change.contents, meta={"other": "facts"}), change.told, note=path.parent)
    assert read == [path]  # as it is then
    os.utime(path, ns=(1, 1))
    read.clear()
    assert querying.Entries(path, note=path.parent).signs()
    assert read == [path]


@pytest.mark.long
def test_another_maker_writes_whole_and_one_who_may_say_otherwise_leaves_no_note(
    change: Change, tmp_path: Path, in_place: list[Path]
) -> None:
    folder = shutil.copytree(change.folder, tmp_path / "one")
    for number, maker in enumerate(("another", ""), 1):
        told = replace(change.told, made_by=maker)
        store.bring(folder / "x.duckdb", change.contents, told, note=folder)
        assert (len(in_place), (folder / "database.json").exists()) == (number, bool(maker))
    assert store.digests(folder / "x.duckdb") == change.digests


@pytest.mark.long
def test_what_holds_everything_already_is_left_alone_but_for_a_run_that_it_lacks(
    change: Change, tmp_path: Path, in_place: list[Path]
) -> None:
    path = change.brought(tmp_path / "one")
    before = path.stat().st_mtime_ns
    store.bring(path, change.contents, change.told, note=path.parent)
    assert path.stat().st_mtime_ns == before
    run = store.RunRow("run:1", "build", "killed", None, None, {})
    store.bring(path, replace(change.contents, runs=(run,)), change.told, note=path.parent)
    store.add_runs(path, [replace(run, run_id="run:2")], note=path.parent)
    store.bring(path, replace(change.contents, runs=(run,)), change.told, note=path.parent)
    assert store.query(path, "SELECT run_id FROM runs ORDER BY ALL").rows == [("run:1",), ("run:2",)]
    assert in_place == []


@pytest.mark.long
@pytest.mark.parametrize("stop", quick_alone(["transaction", "_compact", "_publish", "write"], ["_publish"]))
def test_killed_at_any_moment_the_file_is_the_old_one_or_the_new_one(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    folder = shutil.copytree(change.folder, tmp_path / "one")
    path, before = folder / "x.duckdb", (change.folder / "x.duckdb").read_bytes()
    owner = {"_publish": engine, "write": noted}.get(stop, replacing)

    def killed(*_: object) -> None:
        raise StoreError("killed", path=path)

    with monkeypatch.context() as patch:
        patch.setattr(owner, stop, killed)
        patch.setattr(replacing, "_MOST_DEAD", 0)
        with pytest.raises(StoreError, match="killed"):
            store.bring(path, change.contents, change.told, note=folder)
    assert (path.read_bytes() == before) == (stop != "write")
    assert [one.name for one in folder.iterdir() if ".new" in one.name] == []
    store.bring(path, change.contents, change.told, note=folder)
    assert store.digests(path) == change.digests


@pytest.mark.long
def test_a_file_grows_by_no_more_than_a_part_of_what_it_holds(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, copies = replacing._compact, []
    monkeypatch.setattr(replacing, "_compact", lambda path: copies.append(path) or real(path))
    path = change.brought(tmp_path / "one")
    whole = (change.folder.parent / "y.duckdb").stat().st_size
    for number in range(2):
        names = change.told.entries.table["key"].to_pylist()
        entries = store.Digests.of(dict.fromkeys(names, str(number)))
        store.bring(path, change.contents, replace(change.told, entries=entries), note=path.parent)
        assert path.stat().st_size <= 1.3 * whole
    assert copies
    assert store.digests(path) == change.digests


# ---------------------------------------------------------------- copied meanwhile


@pytest.mark.parametrize("harm", ["none", "touched", "no room"])
def test_a_copy_that_was_made_meanwhile_is_taken_if_it_is_of_the_file(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    folder = shutil.copytree(change.folder, tmp_path / "one")
    path = folder / "x.duckdb"
    noted.renew(folder, noted.checksum(path), path)
    monkeypatch.setattr(replacing, "_LARGE", 0)
    copied: list[Path] = []
    real = replacing._copied

    def counted(path: Path, made: Path) -> None:
        copied.append(made)
        if harm == "no room" and made.suffix == ".ahead":
            raise OSError(28, "No space left on device")
        real(path, made)

    monkeypatch.setattr(replacing, "_copied", counted)
    with store.copied_meanwhile(path, is_worth=True):
        if harm == "touched":
            replacing._AHEAD[path].future.result()
            os.utime(path, ns=(1, 1))
        store.bring(path, change.contents, change.told, note=folder)
    assert len(copied) == (1 if harm == "none" else 2)
    assert store.digests(path) == change.digests
    assert not list(folder.glob(".*"))


def test_a_copy_that_nobody_took_is_gone_and_one_of_a_killed_process_too(change: Change, tmp_path: Path) -> None:
    folder = shutil.copytree(change.folder, tmp_path / "one")
    path = folder / "x.duckdb"
    with store.copied_meanwhile(path, is_worth=False):
        assert not list(folder.glob(".*"))
    (folder / ".x.duckdb.4194399.ahead").write_bytes(b"half")
    (folder / f".x.duckdb.{os.getpid()}.ahead").write_bytes(b"half")
    store.bring(path, change.contents, change.told, note=folder)
    assert [one.name for one in folder.glob(".*")] == [f".x.duckdb.{os.getpid()}.ahead"]
