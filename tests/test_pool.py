"""One poisoned item costs one item, and a healthy run loses nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.records.errors import ConfigError, StoreError
from pipeline.run import pool
from pipeline.run.home import locking

Report = Callable[[int], None]


def double(task: pool.Task[str], report: Report) -> list[str]:
    done = []
    for number, item in enumerate(task.items):
        report(number)
        if item == "hang":
            time.sleep(60)
        if item == "abort":
            os.abort()
        if item == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "memory":
            raise MemoryError
        if item == "settings":
            raise ConfigError("wrong")
        if item == "disk":
            raise StoreError("no space", path=Path("/shards"), hint="Make room.")
        if item == "bug":
            raise ValueError("text of the document")
        if item == "greedy":
            bytearray(8 << 30)
        done.append(item * 2)
    return done


def dies_at_once(task: pool.Task[str], report: Report) -> list[str]:
    os._exit(3)


def outcome(tasks: list[pool.Task[str]], *, seconds: float = 20) -> tuple[list[str], dict[str, str]]:
    results, failures = [], {}
    limits = pool.Limits(seconds=seconds)
    for result in pool.run(double, tasks, workers=2, limits=limits):
        if isinstance(result, pool.Failure):
            failures[result.item] = result.reason
        else:
            results += result
    return sorted(results), failures


def test_every_item_of_every_task_comes_back() -> None:
    tasks = [pool.Task(f"t{n}", (f"{n}a", f"{n}b")) for n in range(7)]
    assert outcome(tasks) == (sorted(f"{n}{x}{n}{x}" for n in range(7) for x in "ab"), {})


def test_a_worker_that_dies_costs_only_its_item() -> None:
    results, failures = outcome([pool.Task("t", ("a", "abort", "b", "kill", "c")), pool.Task("u", ("d",))])
    assert results == ["aa", "bb", "cc", "dd"]
    assert failures == {"abort": "crash", "kill": "crash"}


class Written(Sequence[str]):
    """Items that are read from a file by whoever works on them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __len__(self) -> int:
        return len(self.path.read_text().split())

    def __getitem__(self, place: Any) -> Any:
        return self.path.read_text().split()[place]


@pytest.mark.long
def test_items_may_be_such_as_only_the_worker_reads(tmp_path: Path) -> None:
    (tmp_path / "items").write_text("a abort b kill c")
    assert outcome([pool.Task("t", Written(tmp_path / "items"))]) == (
        ["aa", "bb", "cc"],
        {"abort": "crash", "kill": "crash"},
    )


@pytest.mark.long
def test_out_of_memory_is_named() -> None:
    assert outcome([pool.Task("t", ("memory", "a"))]) == (["aa"], {"memory": "memory"})


@pytest.mark.long
def test_a_hanging_item_is_ended_at_its_deadline() -> None:
    assert outcome([pool.Task("t", ("a", "hang", "b"))], seconds=1) == (["aa", "bb"], {"hang": "timeout"})


def test_an_error_raised_on_purpose_ends_the_run() -> None:
    with pytest.raises(ConfigError, match="wrong"):
        outcome([pool.Task("t", ("settings",))])


@pytest.mark.long
def test_poisoned_neighbours_each_have_a_task_of_their_own() -> None:
    tasks = [pool.Task("t", ("a", "kill", "abort", "bug", "b"))]
    failures = [r for r in pool.run(double, tasks, workers=2) if isinstance(r, pool.Failure)]
    assert sorted(failure.item for failure in failures) == ["abort", "bug", "kill"]
    assert len({failure.task for failure in failures}) == 3


@pytest.mark.long
def test_a_bug_is_named_by_its_place_and_without_the_text_that_met_it() -> None:
    (failure,) = [r for r in pool.run(double, [pool.Task("t", ("bug",))], workers=1) if isinstance(r, pool.Failure)]
    assert failure.detail.startswith("ValueError at test_pool.py:")


def test_a_worker_has_no_more_memory_than_it_is_given() -> None:
    limits = pool.Limits(bytes=2 << 30)
    results = list(pool.run(double, [pool.Task("t", ("greedy", "a"))], workers=1, limits=limits))
    assert [r.reason for r in results if isinstance(r, pool.Failure)] == ["memory"]
    assert ["aa"] in results


def test_an_error_comes_whole_out_of_a_worker() -> None:
    with pytest.raises(StoreError, match="no space") as caught:
        outcome([pool.Task("t", ("disk",))])
    assert (caught.value.path, caught.value.hint()) == (Path("/shards"), "Make room.")


@pytest.mark.long
def test_workers_that_never_start_end_the_run() -> None:
    with pytest.raises(pool.PipelineError, match="die before they start"):
        list(pool.run(dies_at_once, [pool.Task("t", ("a",))], workers=1))


FORKED = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked from the command itself on Linux alone")


@FORKED
def test_workers_that_stand_ready_are_taken_and_replaced() -> None:
    with pool.ahead(3):
        standing = [worker.process.pid for worker in pool._STANDING]
        results, failures = outcome([pool.Task("t", ("a", "kill", "b")), pool.Task("u", ("c",))])
        assert (results, failures) == (["aa", "bb", "cc"], {"kill": "crash"})
        assert not pool._STANDING
    assert len(set(standing)) == 3
    assert not any(Path(f"/proc/{pid}").exists() for pid in standing)


@FORKED
def test_workers_that_nobody_takes_end() -> None:
    with pool.ahead(2):
        standing = [worker.process.pid for worker in pool._STANDING]
    assert not any(Path(f"/proc/{pid}").exists() for pid in standing)


@FORKED
def test_a_worker_that_was_forked_holds_no_lock_of_the_command(tmp_path: Path) -> None:
    holder = locking.Holder("run:1", "build", 1, "2026-01-01T00:00:00+00:00")
    with contextlib.ExitStack() as held:
        held.enter_context(locking.sole(tmp_path, holder))
        with pool.ahead(1):
            held.close()  # as when the command is killed, and the worker is not yet
            with locking.sole(tmp_path, holder, wait_seconds=20):  # it may not have begun yet
                pass


def test_nothing_is_forked_beside_a_thread() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert not pool.can_fork()
    finally:
        end.set()
        thread.join()
