"""A build on a Dask cluster: the same bytes, also if a worker is killed in the middle; messages where it cannot."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline import run as build
from pipeline import store
from pipeline.records.errors import ClusterError, ConfigError
from pipeline.run import Places
from pipeline.run.prefect import runners
from tests import dask_gate, golden
from tests.cli import run
from tests.prefect_server import Started
from tests.rings import first_alone

# Prefect's and Dask's own libraries warn of what they will change; that is theirs to heed
pytestmark = pytest.mark.filterwarnings("ignore")
#: A bound for a stuck test, far above what two busy cores need.
WAIT_SECONDS = 240


def until(is_so: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + WAIT_SECONDS
    while not (found := is_so()):
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.02)
    return found


@contextmanager
def started(command: str, *arguments: str, folder: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker of Dask, as a process of its own."""
    with (folder / f"{command}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", command, "--no-dashboard", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(golden.ROOT), **env},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("dask")
    told = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(told))
    with started("scheduler", *options, folder=folder):
        until(lambda: told.exists() and told.read_text().strip().endswith("}"), "the scheduler")
        yield json.loads(told.read_text())["address"]


# ---------------------------------------------------------------- what is said before anything is begun


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--runner", "ray"), "no runner called ray"),
        (("--runner", "dask"), "needs the address"),
        (("--runner", "dask", "--address", "127.0.0.1"), "no address of a Dask scheduler"),
        (("--runner", "dask", "--address", "tcp://127.0.0.1:port"), "no address of a Dask scheduler"),
        (("--address", "tcp://127.0.0.1:8786"), "add --runner dask"),
    ],
)
def test_a_wrong_runner_or_address_is_a_usage_error(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    done = run("run", "--home", tmp_path, *options)
    assert done.code == 2
    assert told in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("is_listening", first_alone([False, True]), ids=["nobody", "somebody-silent"])
def test_an_address_without_a_scheduler_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_listening: bool
) -> None:
    monkeypatch.setattr(runners, "CONNECT_SECONDS", 0.3)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if is_listening:
            silent.listen()
        done = run(
            "run", "--home", tmp_path, "--runner", "dask", "--address", f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        )
    assert done.code == 3
    assert "no Dask scheduler answers" in done.err
    assert "dask worker" in done.err
    assert not list(tmp_path.iterdir())


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match="not installed") as caught:
        runners.check("dask", "tcp://127.0.0.1:8786")
    assert "extra `dask`" in caught.value.hint()


# ---------------------------------------------------------------- on a cluster


@pytest.mark.parametrize(
    ("place", "api_url", "told"),
    [
        ("nowhere", "http://127.0.0.1:9/api", "sees no folder"),
        ("", "http://127.0.0.1:9/api", "does not reach the Prefect server at http://127.0.0.1:9/api"),
    ],
)
def test_a_worker_that_cannot_work_for_us_says_why(tmp_path: Path, place: str, api_url: str, told: str) -> None:
    assert told in runners._obstacle(str(tmp_path / place), build.code_digest(), api_url, (), "")
    assert "another version" in runners._obstacle(str(tmp_path), "0", api_url, (), "")


def test_a_worker_that_dies_while_it_is_asked_leaves_the_work_to_the_others() -> None:
    gone = OSError("Stream is closed")  # as distributed has it: CommClosedError is an OSError
    assert runners._lost({"tcp://a": "", "tcp://b": gone}, address="tcp://s") == {"tcp://b"}
    with pytest.raises(ClusterError, match="lost its workers"):
        runners._lost({"tcp://b": gone}, address="tcp://s")
    with pytest.raises(ClusterError, match="the worker tcp://a sees no folder"):
        runners._lost({"tcp://a": "sees no folder", "tcp://b": gone}, address="tcp://s")
    with pytest.raises(ClusterError, match="cannot run errmine: No module"):
        runners._lost({"tcp://a": ModuleNotFoundError("No module named 'pipeline'")}, address="tcp://s")


@pytest.mark.long
def test_a_scheduler_without_workers_is_given_up(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "CONNECT_SECONDS", 2)
    with pytest.raises(ClusterError, match="has no workers"):
        runners._ready_slots(scheduler, raw_path=tmp_path, api_url="http://127.0.0.1:9/api")


@pytest.mark.long
@pytest.mark.prefect
def test_a_worker_killed_in_the_middle_changes_no_byte(
    scheduler: str, server: Started, sample_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline import flows

    monkeypatch.setattr(runners, "CONNECT_SECONDS", 60)  # workers start beside other tests, on two cores
    home, gate = tmp_path / "home", tmp_path / "gate"
    for folder in (home, gate):
        folder.mkdir()
    (home / "errmine.toml").write_text("[build]\npartition_documents = 4\n")
    options = (scheduler, "--nthreads", "1", "--preload", "tests.dask_gate")
    env = {dask_gate.FOLDER: str(gate)}
    with (
        # one alone, one under Dask's nanny: its worker is a daemon and starts guarded processes all the same
        started("worker", *options, "--no-nanny", folder=tmp_path, **env) as doomed,
        started("worker", *options, folder=tmp_path, **env),
    ):
        killer = threading.Thread(target=_kill_in_the_middle, args=(doomed, gate))
        killer.start()
        told = flows.run(home=str(home), paths=[str(golden.SAMPLE)], runner="dask", address=scheduler)
        killer.join()
    assert doomed.returncode == -signal.SIGKILL
    tasks = {path.name.split(".")[0]: [] for path in gate.glob("*.json")}
    for path in gate.glob("*.json"):
        tasks[path.name.split(".")[0]].append(json.loads(path.read_text()))
    (lost,) = tasks.pop(str(doomed.pid))
    (done,) = tasks.values()
    assert len(lost) > 1
    assert lost in done  # the other worker did the whole task again
    partitions = build.plan(Places.of(home).raw, partition_documents=4)
    assert sorted(name for names in done for name in names) == [partition.name for partition in partitions]
    assert told["stages"][1]["skipped"] == 0
    assert golden.bundle_bytes(Places.of(home).curated) == golden.bundle_bytes(Places.of(sample_home).curated)
    assert store.digest(Places.of(home).database) == store.digest(Places.of(sample_home).database)


def _kill_in_the_middle(doomed: subprocess.Popen[bytes], gate: Path) -> None:
    """Kill the worker while both hold a task of which one shard is written, then open the gate."""
    try:
        until(lambda: len({path.name.split(".")[0] for path in gate.glob("*.json")}) == 2, "a task on both workers")
        doomed.kill()
        doomed.wait()
    finally:
        (gate / dask_gate.OPEN).touch()
