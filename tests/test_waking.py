"""What a build has to read for its first draft is read while its workers read documents."""

from __future__ import annotations

import json
import sys
from multiprocessing import forkserver
from pathlib import Path

import pytest

from pipeline import raw, run
from pipeline.packs import PackError
from pipeline.run import Places, pool
from pipeline.run.build import mapping, planning, waking
from pipeline.translate import messages
from tests import golden


def test_an_entry_of_a_thread_of_ours_leaves_the_tables_read() -> None:
    messages.known_messages.cache_clear()
    waking.wake.cache_clear()
    with waking.meanwhile(is_worth=False):
        pass
    assert messages.known_messages.cache_info().currsize == 0
    with waking.meanwhile(is_worth=True):
        pass
    assert messages.known_messages.cache_info().currsize == 1
    assert waking.wake() > 3


def test_a_table_that_is_wrong_is_named_by_who_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong() -> int:
        raise PackError.of(Path("x"), 1, "wrong", "mend it")

    monkeypatch.setattr(waking, "wake", wrong)
    with waking.meanwhile(is_worth=True):
        pass


def test_what_is_coming_are_the_pages_that_the_plan_does_not_know(sample_home: Path, tmp_path: Path) -> None:
    places = Places.of(golden.copied(sample_home, tmp_path / "home"))

    def coming(folder: Path) -> int:
        return planning.coming(folder, places.raw, partition_documents=500)

    every = len(raw.RawLayer(places.raw).refs())
    assert coming(places.planned) == 0
    assert planning.coming(places.planned, places.raw, partition_documents=3) == every  # it is made anew
    thread = {"url": "https://api.github.com/repos/errmine-fixtures/pond/issues/9", "number": 9, "title": "a"}
    (tmp_path / "one.jsonl").write_text(json.dumps(thread) + "\n", encoding="utf-8")
    run.import_files(places.raw, [tmp_path / "one.jsonl"])
    assert coming(places.planned) == 1
    assert coming(tmp_path / "none") == every + 1


@pytest.mark.parametrize(("pages", "wanted"), [(1, 1), (25, 1), (26, 2), (50, 2), (10_000, 16)])
def test_so_many_workers_map_pages_as_these_need(pages: int, wanted: int) -> None:
    assert mapping.crew(16, pages) == wanted


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such process")
def test_the_process_that_workers_are_forked_from_is_there_before_a_worker_is() -> None:
    pool.begin(mapping.PRELOAD)
    assert forkserver._forkserver._forkserver_pid is not None  # type: ignore[attr-defined]
