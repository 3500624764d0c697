"""Killed anywhere, out of space, locked out, damaged or early: a clear state, nothing lost, the same bytes afterwards.

`ERRMINE_KILLS=100` sets how many random moments a run is killed at; a few of them are enough for every change.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline import raw, run, store
from pipeline.export import read_manifest
from pipeline.records.errors import ExportError, HomeBusy, PipelineError, StoreError
from pipeline.run import Places
from pipeline.run.home import locking, recording
from tests import cli, golden
from tests.rings import quick_alone

KILLS = int(os.environ.get("ERRMINE_KILLS", "4"))
ROOT = golden.ROOT


class Undisturbed(NamedTuple):
    """What a run left that nothing disturbed."""

    home: Path
    bundle: dict[str, bytes]
    digest: str  # of its database
    seconds: float  # that it took


#: How many threads the homes have: enough for shards of both workers, a merged entry and several others.
THREADS, SHARE = 9, 2


#: Its processes have imported errmine: they are forked from what workers of builds are forked from.
APART = multiprocessing.get_context("forkserver")


def start(home: Path) -> ForkServerProcess:
    """Build and export in a process of its own, by two workers; they are no children of it, as is always so."""
    options = {"workers": 2, "partition_documents": SHARE}
    process = APART.Process(target=golden.work, args=(home,), kwargs=options)
    process.start()
    return process


def kill(process: ForkServerProcess) -> None:
    """Kill the run only: its workers must notice by themselves."""
    process.kill()
    process.join(60)
    assert process.exitcode is not None


def finish(home: Path) -> dict[str, bytes]:
    """The bundle after a whole run in this process."""
    golden.work(home, workers=1, partition_documents=SHARE)
    return golden.bundle_bytes(Places.of(home).curated)


def finish_apart(home: Path) -> dict[str, bytes]:
    """The same by a process of its own."""
    process = start(home)
    process.join(120)
    assert process.exitcode == 0
    return golden.bundle_bytes(Places.of(home).curated)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few threads of the sample: every test builds them whole, and each moment of a build comes with few as well."""
    path = tmp_path_factory.mktemp("source") / "issues.jsonl"
    lines = (golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:THREADS]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def imported(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("imported")
    run.import_files(Places.of(home).raw, [source])
    return home


@pytest.fixture(scope="module")
def undisturbed(imported: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    home = tmp_path_factory.mktemp("undisturbed") / "home"
    shutil.copytree(imported, home)
    first = APART.Process(target=int)  # what it is forked from takes longer to start than the run takes
    first.start()
    first.join()
    begun = time.monotonic()
    made = finish_apart(home)
    return Undisturbed(home, made, store.digest(Places.of(home).database), time.monotonic() - begun)


@pytest.fixture
def home(imported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(imported, tmp_path / "home"))


@pytest.fixture
def finished(undisturbed: Undisturbed, tmp_path: Path) -> Path:
    """A copy of the home after the run that nothing disturbed."""
    return Path(shutil.copytree(undisturbed.home, tmp_path / "home"))


def build_and_export(home: Path) -> None:
    with run.recorded(home, "build") as record:
        record.summary = run.build(Places.of(home), workers=1, partition_documents=SHARE)
        run.export(Places.of(home))


def holding(database: Path, *, read_only: bool) -> subprocess.Popen[bytes]:
    """Another program that has the database open."""
    program = f"import duckdb, time; c = duckdb.connect({str(database)!r}, read_only={read_only})"
    program += "; print(1); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-u", "-c", program], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    return holder


def readable(places: Places) -> bool:
    """What a reader finds at any moment: nothing yet, or something whole."""
    if places.database.exists():
        assert store.query(places.database, "SELECT count(*) FROM entries").rows[0][0] > 0
    if (places.curated / "manifest.json").exists():
        manifest = read_manifest(places.curated)
        assert all((places.curated / file.path).stat().st_size == file.bytes for file in manifest.files)
    return True


@pytest.mark.parametrize("number", quick_alone(range(KILLS), [1]))
def test_killed_at_any_moment_the_next_run_gives_the_same_bytes(
    number: int, home: Path, undisturbed: Undisturbed
) -> None:
    _, bytes_wanted, digest_wanted, seconds = undisturbed
    places = Places.of(home)
    process = start(home)
    moment = (number + random.Random(number).random()) / KILLS * seconds * 1.05  # each has its part of the run
    time.sleep(moment)
    kill(process)
    readable(places)
    assert finish(home) == bytes_wanted
    assert store.digest(places.database) == digest_wanted
    left = [path.name for path in home.rglob(".*") if path.is_file()]
    assert left == [], f"killed after {moment:.2f} s"


@pytest.mark.long
def test_a_killed_run_is_recorded_by_the_next_one(home: Path) -> None:
    process = start(home)
    lock = home / ".errmine" / "lock"
    until(lambda: lock.exists() and lock.stat().st_size > 0)
    kill(process)
    finish(home)
    statuses = [(row.flow, row.status) for row in recording.rows(home)]
    assert statuses == [("build", "killed"), ("build", "completed"), ("export", "completed")]
    told = store.query(Places.of(home).database, "SELECT flow, status FROM runs ORDER BY started_at").rows
    assert told == statuses


@pytest.mark.long
def test_two_runs_at_once_take_turns(home: Path, undisturbed: Undisturbed) -> None:
    processes = [start(home), start(home)]
    for process in processes:
        process.join(180)
        assert process.exitcode == 0
    assert golden.bundle_bytes(Places.of(home).curated) == undisturbed.bundle


def test_a_run_that_does_not_want_to_wait_is_told_who_is_at_work(home: Path) -> None:
    mine = locking.Holder("r", "build", 4711, "2026-01-01T00:00:00+00:00")
    with (
        locking.sole(home, mine),
        pytest.raises(HomeBusy, match=r"build \(process 4711, since 2026-01-01"),
        run.recorded(home, "export"),
    ):
        pytest.fail("it must not get in")


@pytest.mark.long
def test_readers_never_see_half_a_state_and_never_stand_in_the_way(finished: Path, undisturbed: Undisturbed) -> None:
    places = Places.of(finished)
    stop = threading.Event()
    looks: list[bool] = []

    def look() -> None:
        while not stop.wait(0.03):  # the work needs the processor too
            looks.append(readable(places))

    shutil.rmtree(places.shards)  # all is made anew
    held = holding(places.database, read_only=True)  # a reader that stays
    reader = threading.Thread(target=look)
    reader.start()
    try:
        assert finish_apart(finished) == undisturbed.bundle
    finally:
        stop.set()
        reader.join()
        held.kill()
        held.communicate()
    assert len(looks) > 10


@pytest.mark.long
def test_a_database_held_by_a_writer_is_named_before_the_work(finished: Path) -> None:
    places = Places.of(finished)
    holder = holding(places.database, read_only=False)
    try:
        with pytest.raises(StoreError, match="held open for writing by another program"):
            run.build(places, workers=1, partition_documents=SHARE)
    finally:
        holder.kill()
        holder.communicate()
    assert finish(finished)


@pytest.mark.long
def test_a_database_that_is_no_database_is_made_anew(finished: Path, undisturbed: Undisturbed) -> None:
    places = Places.of(finished)
    places.database.write_bytes(b"not a database" * 1000)
    assert finish(finished) == undisturbed.bundle


@pytest.mark.long
def test_a_shard_that_was_damaged_is_named_and_made_anew(finished: Path, undisturbed: Undisturbed) -> None:
    places = Places.of(finished)
    flipped, cut, gone = sorted((places.shards / "events").glob("*.parquet"))[:3]
    body = bytearray(flipped.read_bytes())
    body[len(body) // 2] ^= 4
    flipped.write_bytes(body)
    cut.write_bytes(cut.read_bytes()[:-1])
    gone.unlink()
    summary = run.build(places, workers=1, partition_documents=SHARE)
    verdicts = {str(flipped): "damaged", str(cut): "damaged", str(gone): "missing"}
    assert {row["path"]: row["verdict"] for row in summary.figures["made_anew"]} == verdicts
    assert finish(finished) == undisturbed.bundle
    assert store.digest(places.database) == undisturbed.digest


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.long
@pytest.mark.parametrize("free", quick_alone([0, 40_000, 200_000, 600_000, 1_500_000], [600_000]))
def test_a_full_disk_ends_the_run_with_a_message_and_loses_nothing(
    free: int, tiny: Path, imported: Path, undisturbed: Undisturbed
) -> None:
    home = Path(shutil.copytree(imported, tiny / "home"))
    (home / ".errmine").mkdir()
    filler = tiny / "filler"
    status = os.statvfs(tiny)
    with filler.open("wb") as file:
        file.write(bytes(max(0, status.f_bavail * status.f_frsize - free)))
    with pytest.raises((StoreError, ExportError, HomeBusy)):
        build_and_export(home)
    readable(Places.of(home))
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(tiny)], check=True)
    assert finish(home) == undisturbed.bundle


def test_a_full_disk_ends_an_import_with_a_message(tiny: Path, source: Path, imported: Path) -> None:
    with (tiny / "filler").open("wb") as file:
        status = os.statvfs(tiny)
        file.write(bytes(status.f_bavail * status.f_frsize - 8192))
    with pytest.raises(PipelineError):
        run.import_files(tiny / "raw", [source])
    (tiny / "filler").unlink()
    run.import_files(tiny / "raw", [source])
    assert [r.sha256 for r in raw.RawLayer(tiny / "raw").refs()] == [
        r.sha256 for r in raw.RawLayer(Places.of(imported).raw).refs()
    ]


@pytest.fixture
def read_only_home(home: Path) -> Iterator[Path]:
    """A home on a file system that is read-only."""
    bind = ["mount", "--bind", str(home), str(home)]
    if os.geteuid() != 0 or subprocess.run(bind, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root can make a file system read-only")
    subprocess.run(["mount", "-o", "remount,ro,bind", str(home)], check=True)
    yield home
    subprocess.run(["umount", "--lazy", str(home)], check=False)


@pytest.mark.long
def test_a_read_only_home_is_named(read_only_home: Path, undisturbed: Undisturbed) -> None:
    with (
        pytest.raises(HomeBusy, match=r"cannot be written: Read-only file system"),
        run.recorded(read_only_home, "build"),
    ):
        pytest.fail("it must not get in")
    with pytest.raises(StoreError, match="Read-only"):
        run.build(Places.of(read_only_home), workers=1, partition_documents=500)
    subprocess.run(["umount", "--lazy", str(read_only_home)], check=True)
    assert finish(read_only_home) == undisturbed.bundle


@pytest.mark.long
def test_a_clock_that_is_set_back_changes_no_byte_and_no_run_ends_before_it_began(
    home: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: Undisturbed
) -> None:
    class Back(datetime):
        calls = 0

        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            cls.calls += 1
            return datetime(2031 - cls.calls, 1, 1, tzinfo=tz)  # type: ignore[arg-type]

    monkeypatch.setattr(recording, "datetime", Back)
    places = Places.of(home)
    for flow, work in (("build", lambda: run.build(places, workers=1, partition_documents=SHARE)),
                       ("export", lambda: run.export(places))):  # fmt: skip
        with run.recorded(home, flow) as record:
            record.summary = work()
    assert golden.bundle_bytes(places.curated) == undisturbed.bundle
    monkeypatch.undo()
    for row in recording.rows(home):
        assert row.started_at is not None
        assert row.ended_at is not None
        assert row.ended_at >= row.started_at


def test_a_line_of_the_run_file_that_was_torn_is_passed_over(home: Path) -> None:
    with run.recorded(home, "build"):
        pass
    ledger = home / ".errmine" / "runs.jsonl"
    ledger.write_bytes(ledger.read_bytes()[:-20])
    with run.recorded(home, "export"):
        pass
    assert [row.flow for row in recording.rows(home)] == ["export"]
    assert json.loads(ledger.read_text().splitlines()[-1])["status"] == "completed"


def until(is_so: object, *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


# ---------------------------------------------------------------- waiting for a turn


@pytest.mark.long
def test_a_command_waits_for_the_run_that_is_at_work_and_says_so(tmp_path: Path) -> None:
    run.import_files(Places.of(tmp_path).raw, [golden.SAMPLE])
    with locking.sole(tmp_path, locking.here("run:1", "build", now=datetime.now().astimezone())):
        process = start_command("reconcile", "--home", tmp_path, "--json")
        assert process.stderr is not None
        assert b"waiting up to 3600 s for build (process" in process.stderr.readline()
        assert process.poll() is None
    assert process.wait(60) != 3
    process.stderr.close()


def test_a_command_that_may_not_wait_ends_with_status_3(tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text("[schedule]\nwait_seconds = 0\n")
    run.import_files(Places.of(tmp_path).raw, [golden.SAMPLE])
    with locking.sole(tmp_path, locking.here("run:1", "build", now=datetime.now().astimezone())):
        done = cli.run("build", "--home", tmp_path, "-q")
    assert done.code == 3
    assert "another run is at work: build" in done.err


def start_command(*arguments: str | Path) -> subprocess.Popen[bytes]:
    code = "from pipeline.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


#: Starts a child, as Prefect starts its server, says its id and waits.
PARENT = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a test before may have left it ignored, and children inherit that
from pipeline.cli.surroundings import server_ends_with_us
with server_ends_with_us():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    print(child.pid, flush=True)
    while True:  # a signal that comes just before a sleep would wait for its end
        time.sleep(0.1)
"""


@pytest.mark.long
def test_what_a_killed_run_started_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    children = []
    for kind in (signal.SIGKILL, signal.SIGTERM):
        command = [sys.executable, "-c", PARENT]
        with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE) as parent:
            assert parent.stdout is not None
            try:
                children.append(Path(f"/proc/{int(parent.stdout.readline())}/environ"))
                until(lambda child=children[-1]: is_alive(child))  # what was just started has no environment yet
                parent.send_signal(kind)
                parent.wait(20)
            finally:
                parent.kill()  # else a failure would wait for its end for ever
    end = time.monotonic() + 20
    while any(map(is_alive, children)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(is_alive, children))


#: Serves with a server that only says its id, in its log.
SERVING = """
import sys, time
from pathlib import Path
from pipeline.cli import serve
serve._wait_until_up = lambda *_: None
with serve._server(0, Path(sys.argv[1])):
    while True:
        time.sleep(0.1)
"""


@pytest.mark.long
def test_the_server_of_a_serve_that_was_killed_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "prefect").mkdir()
    (tmp_path / "prefect" / "__init__.py").touch()
    said = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    (tmp_path / "prefect" / "__main__.py").write_text(said, encoding="utf-8")
    log = tmp_path / "server.log"
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    with subprocess.Popen([sys.executable, "-c", SERVING, str(log)], env=env) as parent:
        try:
            until(lambda: log.exists() and log.read_text().endswith("\n"))
            server = Path(f"/proc/{int(log.read_text())}/environ")
            assert is_alive(server)
        finally:
            parent.kill()
    until(lambda: not is_alive(server))


def is_alive(environ: Path) -> bool:
    """Whether the process is there and no zombie, whose environment is empty."""
    try:
        return bool(environ.read_bytes())
    except OSError:
        return False
