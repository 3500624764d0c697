"""Raw's index names its segments: what is missing or changed is named, and a home never gets smaller in silence."""

from __future__ import annotations

import fcntl
import hashlib
import json
import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from pipeline import raw, run, store
from pipeline.raw import RawLayer
from pipeline.raw import layer as layer_module
from pipeline.records import RawPage, chained
from pipeline.records.errors import RawError
from pipeline.run import Places
from pipeline.store import reading
from tests import cli, golden
from tests.rings import one_in

THREADS = (golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines()


def page(number: int, body: str = "") -> RawPage:
    data = (body or f"page {number}").encode()
    key = f"github.com/errmine-fixtures/a#{number}"
    return RawPage(hashlib.sha256(data).hexdigest(), "import", None, "github-thread", key, "main", "", None, None, data)


def segments(folder: Path) -> list[Path]:
    return sorted((folder / "segments").glob("*.zip"))


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]


def flip(path: Path, place: int) -> None:
    body = bytearray(path.read_bytes())
    body[place] ^= 1
    path.write_bytes(body)


@pytest.fixture
def layer(tmp_path: Path) -> RawLayer:
    """Three segments of one page."""
    made = RawLayer(tmp_path / "raw")
    for number in range(3):
        made.append([page(number)])
    return made


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two segments, built and exported."""
    home = tmp_path_factory.mktemp("built")
    for name, some in (("one", THREADS[:6]), ("two", THREADS[6:12])):
        (home / f"{name}.jsonl").write_text("\n".join(some) + "\n", encoding="utf-8")
        run.import_files(home / "raw", [home / f"{name}.jsonl"])
    run.build(Places.of(home), workers=1, partition_documents=100)
    run.export(Places.of(home))
    return home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "home"))


def build(home: Path, *, is_loss_accepted: bool = False) -> list[str]:
    """The warnings of a build."""
    done = run.build(Places.of(home), workers=1, partition_documents=100, is_loss_accepted=is_loss_accepted)
    return list(done.figures.get("warnings", []))


def documents(home: Path) -> int:
    return store.table_counts(Places.of(home).database)["documents"]


# ---------------------------------------------------------------- the index


def test_every_segment_has_a_line_that_is_bound_to_the_one_before(layer: RawLayer) -> None:
    told = lines(layer.folder)
    assert sorted(line["segment"] for line in told) == [path.name for path in segments(layer.folder)]
    assert [line["previous"] for line in told] == ["", *(line["sha256"] for line in told[:-1])]
    assert [(line["change"], line["pages"]) for line in told] == [("added", 1)] * 3
    assert {line["segment"]: line["bytes"] for line in told} == {
        p.name: p.stat().st_size for p in segments(layer.folder)
    }
    stock = layer.stock()
    assert (stock.segments, stock.losses, stock.unnamed, stock.broken) == (3, (), (), ())


def test_a_missing_segment_is_named(layer: RawLayer) -> None:
    (lost, *_) = segments(layer.folder)
    lost.unlink()
    assert layer.stock().losses == (f"segments/{lost.name} is missing (1 pages)",)


def test_a_pipe_in_the_place_of_a_segment_is_named_and_nobody_waits_for_it(layer: RawLayer) -> None:
    first = next(iter(layer.index.files()))
    first.unlink()
    os.mkfifo(first)
    with pytest.raises(RawError, match="Is a pipe"):
        layer.documents()


def test_a_changed_byte_of_a_segment_is_noticed_wherever_it_is(layer: RawLayer) -> None:
    (changed, *_) = segments(layer.folder)
    whole = changed.read_bytes()
    for place in range(0, len(whole), 11):
        flip(changed, place)
        assert layer.stock().changed == (changed.name,), place
        changed.write_bytes(whole)
    for cut in (0, 1, len(whole) - 1):
        changed.write_bytes(whole[:cut])
        assert layer.stock().changed == (changed.name,), cut
    assert not layer.stock().losses or changed.write_bytes(whole)


def test_a_changed_byte_of_the_index_is_noticed_wherever_it_is(layer: RawLayer) -> None:
    index = layer.folder / "index.jsonl"
    whole = index.read_bytes()
    for place in (*range(0, len(whole), 7), len(whole) - 1):
        flip(index, place)
        stock = layer.stock()
        assert stock.broken or stock.is_cut, place
        index.write_bytes(whole)


@pytest.mark.parametrize("number", [0, 1])
def test_a_line_that_was_taken_out_is_noticed(layer: RawLayer, number: int) -> None:
    index = layer.folder / "index.jsonl"
    kept = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(b"".join(kept[:number] + kept[number + 1 :]))
    assert layer.stock().broken == (f"line {number + 1}: does not follow the line before it",)


def test_an_index_that_was_cut_is_made_whole_by_the_next_page(layer: RawLayer) -> None:
    index = layer.folder / "index.jsonl"
    index.write_bytes(index.read_bytes()[:-30])
    assert layer.stock().is_cut
    layer.append([page(3)])
    stock = layer.stock()
    assert (stock.segments, stock.losses, stock.unnamed, stock.broken, stock.is_cut) == (4, (), (), (), False)


def test_a_home_of_before_gets_its_index_at_first_sight(layer: RawLayer) -> None:
    (layer.folder / "index.jsonl").unlink()
    found = layer.settled()
    assert (found.is_indexed, len(found.unnamed), found.losses) == (False, 3, ())
    assert [line["change"] for line in lines(layer.folder)] == ["found"] * 3
    again = layer.settled()
    assert (again.is_indexed, again.unnamed, again.segments) == (True, (), 3)


def test_a_segment_whose_writer_was_killed_before_its_line_is_taken_in(
    layer: RawLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(chained, "extend", crash)
        with pytest.raises(Crash):
            layer.append([page(3)])
    again = RawLayer(layer.folder)
    assert len(again.refs()) == 4
    (unnamed,) = again.settled().unnamed
    assert lines(layer.folder)[-1]["segment"] == unnamed.name
    assert again.stock().unnamed == ()


def test_a_writer_that_was_killed_in_a_line_leaves_no_trace(layer: RawLayer) -> None:
    index = layer.folder / "index.jsonl"
    whole = index.read_bytes()
    with index.open("ab") as file:
        file.write(b'{"bytes":1,"cha')
    layer.append([page(3)])
    assert index.read_bytes().startswith(whole)
    assert layer.stock().segments == 4
    assert not layer.stock().is_cut


def test_a_damaged_segment_that_nobody_named_is_not_taken_in(layer: RawLayer) -> None:
    stray = layer.folder / "segments" / f"{'0' * 64}.zip"
    stray.write_bytes(b"PK")
    assert layer.settled().changed == (stray.name,)
    assert stray.name not in (layer.folder / "index.jsonl").read_text()


def test_copies_of_raw_and_of_segments_are_usable(layer: RawLayer, tmp_path: Path) -> None:
    whole = RawLayer(Path(shutil.copytree(layer.folder, tmp_path / "copy")))
    assert whole.settled() == layer.stock()
    other = RawLayer(tmp_path / "other")
    other.append([page(7)])
    for path in segments(layer.folder):
        shutil.copy(path, other.folder / "segments")
    assert len(other.settled().unnamed) == 3
    assert (other.stock().segments, len(other.refs())) == (4, 4)


def _append_many(folder: str, first: int) -> None:
    layer_module.MAX_SEGMENT_PAGES = 3
    RawLayer(Path(folder)).append(page(number) for number in range(first, first + 40))


@pytest.mark.long
def test_two_processes_that_append_keep_one_chain(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")  # a fork of this process would inherit what it holds
    workers = [context.Process(target=_append_many, args=(str(tmp_path), first)) for first in (0, 20, 40)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    stock = RawLayer(tmp_path).stock()
    assert (stock.losses, stock.unnamed, stock.broken, stock.is_cut) == ((), (), (), False)
    assert stock.segments == len(segments(tmp_path)) >= 28


def test_what_one_writes_is_seen_by_the_next_before_it_adds(tmp_path: Path) -> None:
    # two processes seldom meet between reading the end and writing behind it: here one stands there
    index = tmp_path / "index.jsonl"
    chained.extend(index, [{"page": 1}])
    with index.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        other = threading.Thread(target=chained.extend, args=(index, [{"page": 3}]))
        other.start()
        other.join(0.2)
        waiting = other.is_alive()
        lines = index.read_bytes().splitlines()
        second = tmp_path / "second.jsonl"
        second.write_bytes(index.read_bytes())
        chained.extend(second, [{"page": 2}])
        index.write_bytes(second.read_bytes())  # the same file, as a writer that holds the lock leaves it
        fcntl.flock(held, fcntl.LOCK_UN)
        other.join(10)
    assert (waiting, len(lines)) == (True, 1)
    found = chained.read(index)
    assert (found.broken, [row["page"] for row in found.rows]) == ((), [1, 2, 3])


def test_a_disk_that_takes_no_line_leaves_the_index_as_it_was(layer: RawLayer, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (layer.folder / "index.jsonl").read_bytes()

    def full(_descriptor: int, _body: bytes, _place: int) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(chained.os, "pwrite", full)
        with pytest.raises(RawError, match="No space left"):
            layer.append([page(3)])
    assert (layer.folder / "index.jsonl").read_bytes() == before
    layer.append([page(4)])
    assert layer.stock().segments == 5


# ---------------------------------------------------------------- forgetting


def test_a_forgotten_thread_is_out_of_the_index_by_law(layer: RawLayer) -> None:
    layer.append([page(8), page(9)])
    layer.forget("github.com/errmine-fixtures/a#8")
    layer.forget("github.com/errmine-fixtures/a#0")
    stock = layer.stock()
    assert (stock.segments, stock.losses, stock.unnamed, stock.broken) == (3, (), (), ())
    assert [line["change"] for line in lines(layer.folder)].count("replaced") == 2
    assert b"errmine-fixtures" not in (layer.folder / "index.jsonl").read_bytes()


def test_a_forget_that_was_killed_before_it_took_the_old_segment_away_is_ended_by_the_next_writer(
    layer: RawLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer.append([page(8), page(9)])

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            layer.forget("github.com/errmine-fixtures/a#8")
    again = RawLayer(layer.folder)
    assert again.stock().losses == ()
    again.append([page(10)])
    assert not [path for path in segments(layer.folder) if b"page 8" in _bodies(path)]
    assert (again.stock().losses, again.stock().unnamed) == ((), ())


def _bodies(path: Path) -> bytes:
    layer = RawLayer(path.parents[1])
    return b"\n".join(kept.body for kept in layer.read(layer.refs_of(path)))


# ---------------------------------------------------------------- mending


def test_a_damaged_segment_whose_pages_are_whole_is_written_anew(layer: RawLayer) -> None:
    (damaged, *_) = segments(layer.folder)
    whole = damaged.read_bytes()
    flip(damaged, 5)  # in the header of a member, which nobody here reads
    assert raw.mend(layer) == (damaged.name,)
    assert damaged.read_bytes() == whole
    assert layer.stock().losses == ()


def test_a_segment_with_a_damaged_page_is_not_mended_and_keeps_its_other_pages(layer: RawLayer) -> None:
    layer.append([page(8, "the first " * 9), page(9, "the second " * 9)])
    ref = next(ref for ref in layer.refs() if ref.document_key.endswith("#9"))
    flip(layer.folder / "segments" / ref.segment, ref.offset + 3)
    assert raw.mend(layer) == ()
    stock = layer.stock()
    assert stock.changed == (ref.segment,)
    (lost,) = raw.go_on_without(layer, stock)
    assert lost.item_id == "github.com/errmine-fixtures/a#9"
    assert sorted(each.document_key[-1] for each in layer.refs()) == ["0", "1", "2", "8"]
    assert (layer.folder / "set-aside" / ref.segment).exists()
    assert layer.stock().losses == ()
    layer.check()


def test_a_forgotten_thread_is_also_erased_from_what_lies_aside(layer: RawLayer) -> None:
    layer.append([page(8, "the first " * 9), page(9, "the second " * 9)])
    ref = next(ref for ref in layer.refs() if ref.document_key.endswith("#9"))
    flip(layer.folder / "segments" / ref.segment, ref.offset + 3)
    raw.go_on_without(layer, layer.stock())
    aside = layer.folder / "set-aside"
    (aside / f"{'0' * 64}.zip").write_bytes(b"PK, and nobody can say whose")
    run.forget(layer.folder.parent, layer.folder, "https://github.com/errmine-fixtures/a/issues/7")
    assert [path.name for path in aside.iterdir()] == [ref.segment]
    run.forget(layer.folder.parent, layer.folder, "https://github.com/errmine-fixtures/a/issues/8")
    assert list(aside.iterdir()) == []


def test_a_lost_segment_that_comes_back_is_taken_in_again(layer: RawLayer) -> None:
    (lost, *_) = segments(layer.folder)
    body = lost.read_bytes()
    lost.unlink()
    raw.go_on_without(layer, layer.stock())
    assert layer.stock().segments == 2
    lost.write_bytes(body)
    assert [one.name for one in layer.settled().unnamed] == [lost.name]
    assert (layer.stock().segments, len(layer.refs())) == (3, 3)


# ---------------------------------------------------------------- builds


def _drop_a_segment(raw_path: Path) -> None:
    segments(raw_path)[0].unlink()


def _drop_a_segment_and_its_line(raw_path: Path) -> None:
    (first, *_) = segments(raw_path)
    first.unlink()
    rows = [row for row in chained.read(raw_path / "index.jsonl").rows if row["segment"] != first.name]
    (raw_path / "index.jsonl").unlink()
    chained.extend(raw_path / "index.jsonl", rows)


def _drop_a_segment_and_the_index(raw_path: Path) -> None:
    _drop_a_segment(raw_path)
    (raw_path / "index.jsonl").unlink()


def _change_a_page(raw_path: Path) -> None:
    flip(segments(raw_path)[0], 300)


def _cut_a_segment(raw_path: Path) -> None:
    (first, *_) = segments(raw_path)
    first.write_bytes(first.read_bytes()[:-40])


def _put_another_in_its_place(raw_path: Path) -> None:
    first, second = segments(raw_path)
    shutil.copy(second, first)


@pytest.mark.parametrize(
    "harm",
    one_in(
        6,
        [
            _drop_a_segment,
            _drop_a_segment_and_its_line,
            _drop_a_segment_and_the_index,
            _change_a_page,
            _cut_a_segment,
            _put_another_in_its_place,
            shutil.rmtree,
        ],
    ),
)
def test_a_build_does_not_make_a_home_smaller(harm: Callable[[Path], object], home: Path) -> None:
    places = Places.of(home)
    database = places.database.read_bytes()
    first = segments(places.raw)[0]
    harm(places.raw)
    with pytest.raises(RawError) as caught:
        build(home)
    said = str(caught.value)
    assert first.name in said or "github.com/errmine-fixtures/" in said
    assert "--accept-loss" in caught.value.hint()
    assert places.database.read_bytes() == database


@pytest.mark.long
def test_a_loss_that_somebody_accepted_is_none_for_the_next_build(home: Path) -> None:
    before = documents(home)
    _drop_a_segment(home / "raw")
    told = build(home, is_loss_accepted=True)
    assert sum(sentence.startswith("document lost: github.com/") for sentence in told) == before - documents(home) > 0
    assert build(home) == []


def test_without_database_and_raw_the_bundle_is_not_replaced_by_an_empty_one(home: Path) -> None:
    places = Places.of(home)
    shutil.rmtree(places.raw)
    places.database.unlink()
    with pytest.raises(RawError, match="documents of the last build are not there any more"):
        build(home)
    assert not places.database.exists()


@pytest.mark.long
def test_an_older_copy_of_raw_is_noticed(home: Path, tmp_path: Path) -> None:
    older = shutil.copytree(home / "raw", tmp_path / "older")
    thread = json.loads(THREADS[0]) | {"body": "it went on", "updated_at": "2026-10-01T00:00:00Z"}
    (home / "new.jsonl").write_text(json.dumps(thread) + "\n", encoding="utf-8")
    run.import_files(home / "raw", [home / "new.jsonl"])
    assert build(home) == []  # the page of the last build is in raw, though no longer the current one
    shutil.rmtree(home / "raw")
    shutil.copytree(older, home / "raw")
    with pytest.raises(RawError, match="1 documents of the last build"):
        build(home)


def test_pages_are_compared_one_by_one_only_where_raw_or_the_database_may_be_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, asked = Places.of(home), []
    real = reading.document_pages
    monkeypatch.setattr(reading, "document_pages", lambda path: asked.append(path) or real(path))

    def compared() -> bool:
        asked.clear()
        run.planned(places, partition_documents=100, is_loss_accepted=True)
        return bool(asked)

    run_row = store.RunRow("run:1", "build", "completed", None, None, {})
    store.add_runs(places.database, [run_row])  # every run puts its own line into the file
    assert not compared()
    (home / "new.jsonl").write_text(THREADS[12] + "\n", encoding="utf-8")
    run.import_files(home / "raw", [home / "new.jsonl"])
    assert not compared()
    with duckdb.connect(str(places.database)) as connection:
        connection.execute("INSERT INTO documents SELECT * REPLACE ('x' AS document_id) FROM documents LIMIT 1")
    assert compared()  # it is no database that this home's last build left


def test_a_segment_that_went_or_a_thread_that_was_forgotten_has_pages_compared(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, asked = Places.of(home), []
    real = reading.document_pages
    monkeypatch.setattr(reading, "document_pages", lambda path: asked.append(path) or real(path))
    (home / "raw" / "forgotten").mkdir()
    (home / "raw" / "forgotten" / "0").touch()
    run.planned(places, partition_documents=100, is_loss_accepted=True)
    assert len(asked) == 1
    (home / "raw" / "forgotten" / "0").unlink()
    run.planned(places, partition_documents=100, is_loss_accepted=True)
    assert len(asked) == 1
    _drop_a_segment(home / "raw")
    run.planned(places, partition_documents=100, is_loss_accepted=True)
    assert len(asked) > 1


@pytest.mark.long
def test_what_was_forgotten_is_no_loss(home: Path) -> None:
    before = documents(home)
    number = json.loads(THREADS[0])["html_url"]
    key, erased = run.forget(home, home / "raw", number)
    assert erased.page_count
    assert build(home) == []
    assert documents(home) == before - 1
    assert key not in (home / "raw" / "index.jsonl").read_text()


@pytest.mark.long
def test_a_home_of_before_builds_with_a_word(home: Path) -> None:
    (home / "raw" / "index.jsonl").unlink()
    (word,) = build(home)
    assert "there was none; it names the 2 segments" in word
    assert build(home) == []


def test_the_command_ends_with_status_3_and_names_the_segment(home: Path) -> None:
    (first, *_) = segments(home / "raw")
    first.unlink()
    done = cli.run("build", "--home", home)
    assert done.code == 3
    assert first.name in done.err
    assert cli.run("build", "--home", home, "--accept-loss").code == 0
    assert cli.run("build", "--home", home).code == 0
