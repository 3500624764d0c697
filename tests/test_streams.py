"""Standard streams that are closed or fail: every command ends with status 3 and a word, never in a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import ROOT

MATCH = [sys.executable, "-c", "from pipeline.cli import main; main()"]
#: What a shell writes behind a command, the status, and what standard error says, if it can.
ROWS = {
    "--help >/dev/full": (3, "standard output cannot be written: No space left on device"),
    "--version >&-": (3, "standard output is closed"),
    "mcp >&-": (3, "standard output is closed"),
    "mcp <&-": (3, "standard input is closed"),
    "extract <&-": (3, "standard input is closed"),
    "--version 2>&-": (0, ""),
    "--nonsense 2>/dev/full": (2, ""),
    "extract </proc/self/mem": (3, "standard input cannot be read"),
}
QUICK = ("--help >/dev/full", "extract <&-")


def ended(command: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, check=False, timeout=120)


@pytest.mark.parametrize(
    "line", [line if line in QUICK else pytest.param(line, marks=pytest.mark.long) for line in ROWS]
)
def test_a_stream_that_is_closed_or_fails_ends_a_command_with_a_word(line: str, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    status, told = ROWS[line]
    command = ["sh", "-c", f'"$@" {line}', "sh", *MATCH]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    assert told in done.stderr.decode()


@pytest.mark.long
def test_who_stops_reading_is_no_failure(tmp_path: Path) -> None:
    command = ["bash", "-c", '"$@" --help | true; echo "${PIPESTATUS[0]}"', "bash", *MATCH]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == (b"0\n", b"")
