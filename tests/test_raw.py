"""The raw layer: nothing is lost, nothing is written twice, nothing is half written, and forgetting erases."""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import raw
from pipeline.raw import RawLayer
from pipeline.raw import layer as layer_module
from pipeline.raw import segment as raw_segment
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import RawError


def page(body: str, *, key: str = "github.com/errmine-fixtures/a#1", part: str = "main", version: str = "") -> RawPage:
    data = body.encode()
    return RawPage(
        hashlib.sha256(data).hexdigest(), "import", None, "github-thread", key, part, version, None, None, data
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "segments").iterdir())}


def test_what_goes_in_comes_out_with_every_field(tmp_path: Path) -> None:
    given_page = RawPage(
        sha256=hashlib.sha256(b"b\xff\0").hexdigest(),
        source="github",
        url="https://github.com/errmine-fixtures/a/issues/1",
        form="github-thread",
        document_key="github.com/errmine-fixtures/a#1",
        part="main",
        version_at="2026-01-01T00:00:00Z",
        fetched_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        etag='W/"x"',
        body=b"b\xff\0",
    )
    layer = RawLayer(tmp_path / "raw")
    assert layer.append([given_page]) == raw.Appended(1, 0, ())
    again = RawLayer(tmp_path / "raw")
    assert again.read(again.refs()) == [given_page]
    assert again.check() == 1


def test_opening_and_reading_an_absent_layer_makes_nothing(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path / "raw")
    assert layer.refs() == layer.documents() == []
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize("version", ["zzzz", "9999-01-01T00:00:00Z", "2026-02-01T00:00:00Z"])
def test_what_a_file_says_of_itself_never_hides_what_was_fetched(tmp_path: Path, version: str) -> None:
    fetched = replace(page("real", version="2026-01-01T00:00:00Z"), fetched_at=datetime(2026, 1, 2, tzinfo=UTC))
    forged, older = page("forged", version=version), page("older", version="2025-01-01T00:00:00Z")
    for order in itertools.permutations((fetched, forged, older)):
        layer = RawLayer(tmp_path / str(order.index(fetched)) / str(order.index(forged)))
        layer.append(order)
        (document,) = layer.documents()
        assert [ref.sha256 for ref in document.refs] == [fetched.sha256]


def test_a_known_page_is_not_written_again_and_the_counts_add_up(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    gap = Skipped("import", "f:1", "invalid_json")
    layer.append([page("one"), page("two")])
    before = contents(tmp_path)
    appended = layer.append([page("one"), gap, page("two"), page("one")])
    assert appended == raw.Appended(0, 3, (gap,))
    assert contents(tmp_path) == before
    assert layer.append([page("one", part="comment:1"), page("one", key="page:1")]).new == 2


def test_one_body_of_two_pages_is_stored_once(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("event", part="main"), page("event", part="comment:5")])
    (segment,) = (tmp_path / "segments").glob("*.zip")
    assert len(zipfile.ZipFile(segment).namelist()) == 2
    assert [kept.part for kept in layer.read(layer.refs())] == ["comment:5", "main"]


def test_a_segment_is_a_plain_zip_named_by_its_own_bytes_and_private(tmp_path: Path) -> None:
    RawLayer(tmp_path).append([page("one")])
    (segment,) = (tmp_path / "segments").iterdir()
    assert hashlib.sha256(segment.read_bytes()).hexdigest() == segment.stem
    assert zipfile.ZipFile(segment).testzip() is None
    assert zipfile.ZipFile(segment).read(page("one").sha256) == b"one"
    assert stat.S_IMODE(segment.stat().st_mode) == 0o600


def test_the_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        RawLayer(tmp_path / name).append([page("one"), page("two", part="comment:2")])
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_current_page_is_the_newest_version_whatever_came_last(tmp_path: Path) -> None:
    pages = [
        page("old", version="2026-01-01T00:00:00Z"),
        page("new", version="2026-02-01T00:00:00Z"),
        page("undated"),
        page("a comment", part="comment:1"),
        page("other", key="github.com/errmine-fixtures/a#0"),
    ]
    results = []
    for number, order in enumerate(itertools.islice(itertools.permutations(pages), 0, 120, 17)):
        layer = RawLayer(tmp_path / str(number))
        for kept in order:
            layer.append([kept])
        documents = layer.documents()
        results.append([(d.document_key, [kept.body for kept in layer.read(d.refs)]) for d in documents])
    assert results[0] == [
        ("github.com/errmine-fixtures/a#0", [b"other"]),
        ("github.com/errmine-fixtures/a#1", [b"a comment", b"new"]),
    ]
    assert all(result == results[0] for result in results)


def test_of_two_pages_of_one_version_the_greater_hash_is_current(tmp_path: Path) -> None:
    pages = [page("x", version="v"), page("y", version="v")]
    layer = RawLayer(tmp_path)
    layer.append(pages)
    assert layer.documents()[0].refs[0].sha256 == max(kept.sha256 for kept in pages)


@given(bodies=st.lists(st.binary(max_size=300), max_size=12), per_segment=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_any_bytes_survive_any_cut_into_segments(
    bodies: list[bytes], per_segment: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("raw")
    layer = RawLayer(folder)
    sources = [
        RawPage(hashlib.sha256(b).hexdigest(), "import", None, "f", f"page:{n}", "main", "", None, None, b)
        for n, b in enumerate(bodies)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer_module, "MAX_SEGMENT_PAGES", per_segment)
        assert layer.append(sources).new == len(bodies)
    assert len(contents(folder)) == -(-len(bodies) // per_segment) if bodies else True
    assert sorted(kept.body for kept in layer.read(layer.refs())) == sorted(bodies)


# ---------------------------------------------------------------- crashes


class Crash(BaseException):
    """What a power cut looks like to the process: nothing after it runs but the test."""


def crashing(real: Callable[..., object], *, at: int) -> Callable[..., object]:
    """`real`, but its call number `at` does nothing and kills the process."""
    counter = itertools.count()

    def call(*args: object, **kwargs: object) -> object:
        if next(counter) == at:
            raise Crash
        return real(*args, **kwargs)

    return call


@pytest.mark.parametrize("call", ["fsync", "rename", "unlink"])
@pytest.mark.parametrize("action", ["append", "forget"])
def test_a_crash_leaves_the_old_or_the_new_state(
    call: str, action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every system call that changes what is on disk fails once, at each place in turn."""
    for place in range(8):
        folder = tmp_path / f"{place}"
        layer = RawLayer(folder)
        layer.append([page("old"), page("other", key="page:2")])
        old = {kept.sha256 for kept in layer.refs()}
        new = {page("other").sha256} if action == "forget" else old | {page("fresh", key="page:3").sha256}
        owner = os if call == "fsync" else Path
        crash = crashing(getattr(owner, call), at=place)
        with monkeypatch.context() as patch:
            patch.setattr(owner, call, crash)
            patch.setattr(raw_segment.SegmentWriter, "discard", raw_segment.SegmentWriter._close)  # nobody tidies
            try:
                if action == "append":
                    layer.append([page("fresh", key="page:3")])
                else:
                    layer.forget("github.com/errmine-fixtures/a#1")
            except Crash:
                pass
        after = RawLayer(folder)
        assert {kept.sha256 for kept in after.refs()} in (old, new)
        after.read(after.refs())
        after.append([page("later", key="page:4")])
        assert not list((folder / "segments").glob(".*"))
        after.check()


@pytest.mark.parametrize("cut", [0, 1, 30, -1])
def test_a_cut_segment_is_named_in_the_error(cut: int, tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("one")])
    (segment,) = (tmp_path / "segments").iterdir()
    segment.write_bytes(segment.read_bytes()[:cut])
    with pytest.raises(RawError) as error:
        layer.check()
    assert error.value.path == segment
    assert str(segment) in str(error.value)


def test_a_changed_byte_is_found_wherever_it_is(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("a body that is long enough to have a middle " * 3)])
    (segment,) = (tmp_path / "segments").iterdir()
    good = segment.read_bytes()
    for place in range(0, len(good), 7):
        segment.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(RawError):
            layer.check()


def test_a_changed_body_is_not_read(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("one"), page("two")])
    refs = layer.refs()
    (segment,) = (tmp_path / "segments").iterdir()
    good = bytearray(segment.read_bytes())
    good[refs[0].offset + 1] ^= 1
    segment.write_bytes(good)
    with pytest.raises(RawError) as error:
        layer.read(refs)
    assert error.value.path == segment


def test_a_missing_segment_is_an_error_of_its_own(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("one")])
    refs = layer.refs()
    for segment in (tmp_path / "segments").iterdir():
        segment.unlink()
    with pytest.raises(RawError, match="cannot be read"):
        layer.read(refs)


def test_an_import_that_breaks_off_keeps_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_module, "MAX_SEGMENT_PAGES", 2)

    def breaking() -> Iterator[RawPage]:
        for number in range(5):
            yield page(f"{number}", key=f"page:{number}")
        raise OSError("the disk went away")

    layer = RawLayer(tmp_path)
    with pytest.raises(OSError, match="went away"):
        layer.append(breaking())
    assert len(layer.refs()) == 4
    assert layer.append(page(f"{number}", key=f"page:{number}") for number in range(5)) == raw.Appended(1, 4, ())


# ---------------------------------------------------------------- other processes


def _append_many(folder: str, first: int) -> None:
    pages = (page(f"{number}", key=f"page:{number}") for number in range(first, first + 60))
    layer_module.MAX_SEGMENT_PAGES = 7
    RawLayer(Path(folder)).append(pages)


@pytest.mark.long
def test_two_processes_may_append_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    workers = [context.Process(target=_append_many, args=(str(tmp_path), first)) for first in (0, 30)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    layer = RawLayer(tmp_path)
    assert len(layer.refs()) == 90
    assert layer.check() == 90


def test_nobody_forgets_while_another_appends(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("one")])

    def meanwhile() -> Iterator[RawPage]:
        with pytest.raises(RawError, match="another process"):
            RawLayer(tmp_path).forget("github.com/errmine-fixtures/a#1")
        yield page("two")

    assert layer.append(meanwhile()).new == 1


# ---------------------------------------------------------------- forgetting


def test_a_forgotten_document_is_erased_from_the_disk_and_not_taken_in_again(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    secret = [page("words to forget"), page("more words to forget", part="comment:1")]
    layer.append([*secret, page("to keep", key="page:2")])
    layer.append([page("a third part", part="comment:2")])
    assert layer.forget("github.com/errmine-fixtures/a#1") == 3
    assert [kept.body for kept in layer.read(layer.refs())] == [b"to keep"]
    assert [path.document_key for path in layer.documents()] == ["page:2"]
    for segment in (tmp_path / "segments").iterdir():
        names = zipfile.ZipFile(segment).namelist()
        assert not {kept.sha256 for kept in secret} & set(names)
        assert b"errmine-fixtures" not in zipfile.ZipFile(segment).read("pages.jsonl")
    assert not [path for path in tmp_path.rglob("*") if "errmine-fixtures" in path.name]
    again = layer.append(secret)
    assert (again.new, again.known, [gap.reason for gap in again.skipped]) == (0, 0, ["forgotten"] * 2)
    assert layer.check() == 1


def test_forgetting_what_is_not_there_changes_nothing(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("one")])
    before = contents(tmp_path)
    assert layer.forget("page:none") == 0
    assert contents(tmp_path) == before


def test_each_segment_is_indexed_once_however_many_batches_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = raw_segment.index_rows
    monkeypatch.setattr(layer_module, "index_rows", lambda path: read.append(path.name) or real(path))
    layer = RawLayer(tmp_path)
    for number in range(5):
        assert layer.append([page(f"new {number}"), page("always the same")]).known == (number > 0)
    assert not read


def test_what_tells_pages_apart_is_kept_beside_their_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = raw_segment.index_rows
    monkeypatch.setattr(layer_module, "index_rows", lambda path: read.append(path.name) or real(path))
    RawLayer(tmp_path).append([page("a"), page("b", part="comment:1")])
    (kept,) = (tmp_path / "identities").iterdir()
    assert RawLayer(tmp_path).append([page("a"), page("c")]).known == 1
    assert RawLayer(tmp_path).append([page("b", part="comment:1"), page("c")]).new == 0
    assert not read  # who writes a segment keeps what tells its pages apart
    sound = kept.read_bytes()
    kept.unlink()  # a segment of before, or copied here
    assert RawLayer(tmp_path).append([page("a")]).new == 0
    assert RawLayer(tmp_path).append([page("a")]).new == 0
    assert len(read) == 1
    assert kept.read_bytes() == sound
    assert len(sound) == 32 + 2 * 16
    for broken in (sound[:-16], bytes([sound[0] ^ 1]) + sound[1:], sound[:-1] + bytes([sound[-1] ^ 1]), b""):
        kept.write_bytes(broken)  # no page is lost for it, and none comes twice
        assert RawLayer(tmp_path).append([page("a"), page("b", part="comment:1")]).known == 2
        assert kept.read_bytes() == sound


def test_of_another_segment_under_the_name_nothing_is_believed(tmp_path: Path) -> None:
    RawLayer(tmp_path).append([page("a")])
    RawLayer(tmp_path).append([page("a"), page("b")])
    RawLayer(tmp_path).append([page("b")])
    one, two = sorted((tmp_path / "identities").iterdir())
    one.write_bytes(two.read_bytes())
    assert RawLayer(tmp_path).append([page("a"), page("b")]).new == 0


def test_no_identity_of_a_forgotten_page_stays(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("words to forget"), page("to keep", key="page:2")])
    (before,) = (path.name for path in (tmp_path / "identities").iterdir())
    layer.append([page("more", key="page:2", part="comment:1")])
    layer.forget("github.com/errmine-fixtures/a#1")
    assert before not in {path.name for path in (tmp_path / "identities").iterdir()}
    assert layer.append([page("to keep", key="page:2")]).known == 1


def test_what_others_add_or_forget_between_two_batches_is_noticed(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)
    layer.append([page("a"), page("b", key="github.com/errmine-fixtures/a#2")])
    RawLayer(tmp_path).append([page("c", key="github.com/errmine-fixtures/a#3")])
    RawLayer(tmp_path).forget("github.com/errmine-fixtures/a#1")
    done = layer.append(
        [page(text, key=f"github.com/errmine-fixtures/a#{n}") for n, text in ((1, "a"), (2, "b"), (3, "c"))]
    )
    assert (done.new, done.known, [item.reason for item in done.skipped]) == (0, 2, ["forgotten"])


def test_a_batch_that_broke_off_is_added_by_the_next_one(tmp_path: Path) -> None:
    layer = RawLayer(tmp_path)

    def broken() -> Iterator[RawPage]:
        yield page("a")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        layer.append(broken())
    assert layer.append([page("a")]).new == 1
