"""A disk that is full under `.errmine` ends a command with status 3 and what to do, and what was fetched is kept."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline import raw, run
from pipeline.engines.answers import Answer, Answers
from pipeline.providers.github.fetch import ledger
from pipeline.records.errors import StoreError
from tests import cli, golden
from tests.fake_github import TOKEN, FakeGithub, small_world
from tests.github_home import REPO


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size` bytes, as on a full disk: needs no root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1, 4096, 8192, 12_288])
def test_an_ingests_memory_that_cannot_be_written_is_named(size: int, tmp_path: Path) -> None:
    path = tmp_path / "github" / "a.sqlite"
    with no_file_above(size), pytest.raises(StoreError, match=r"cannot write .*a\.sqlite") as caught:
        ledger.Ledger(path).save(
            ledger.Progress(watermark="2026-01-01T00:00:00Z"), crossings=((n, "m" * 90) for n in range(900))
        )
    assert "free space" in caught.value.hint()
    made = ledger.Ledger(path)
    assert made.progress.watermark is None
    made.save(ledger.Progress(watermark="2026-01-01T00:00:00Z"))
    made.close()
    assert ledger.read_progress(path).watermark == "2026-01-01T00:00:00Z"


def test_a_memory_that_is_full_keeps_what_it_had(tmp_path: Path) -> None:
    made = ledger.Ledger(tmp_path / "a.sqlite")
    made.save(ledger.Progress(threads=7))
    size = made.path.stat().st_size
    with no_file_above(size), pytest.raises(StoreError):
        made.save(ledger.Progress(threads=8), crossings=((number, "m" * 90) for number in range(900)))
    assert made.progress.threads == 7
    made.save(ledger.Progress(threads=9))
    assert ledger.read_progress(made.path).threads == 9


def test_a_lock_or_an_answer_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        pytest.raises(StoreError, match="cannot write"),
        ledger.alone(tmp_path / "file" / "github", "https://x.invalid"),
    ):
        pytest.fail("it must not get in")
    with no_file_above(0), pytest.raises(StoreError, match=r"cannot write .*q\.json"):
        Answers(tmp_path / "answers").keep("q", Answer({"a": 1}, "host"))
    assert list((tmp_path / "answers").rglob("*.*")) == []


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A home whose `.errmine` is a full disk of its own."""
    home = tmp_path / "home"
    work = home / ".errmine"
    work.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(work)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk")
    run.import_files(home / "raw", [golden.SAMPLE / "issues.jsonl"])
    with (work / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    yield home
    subprocess.run(["umount", "--lazy", str(work)], check=True)


@pytest.mark.parametrize("command", ["ingest", "build", "run", "reconcile", "status", "import"])
def test_no_command_ends_in_a_traceback(command: str, full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"ingest": ["github", "--repo", REPO], "import": [golden.SAMPLE / "issues.jsonl"]}.get(command, [])
    with FakeGithub() as fake:
        small_world(fake, threads=2)
        monkeypatch.setenv("GITHUB_API_URL", fake.url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        done = cli.run(command, *more, "--home", full)
    assert "Traceback" not in done.err
    assert done.code in ({0} if command in {"import", "reconcile"} else {3})
    assert done.code == 0 or "free space" in done.err or command == "status"
    assert raw.RawLayer(full / "raw").stock().losses == ()
