"""The command line as tests run it: in this process, or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer import testing
from typer.main import get_command

from pipeline.cli import application
from pipeline.records.errors import PipelineError
from tests.golden import ROOT


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str
    out_bytes: bytes


@cache
def _commands() -> Any:
    """The commands with their options: Typer would read them anew from the functions' signatures for each call."""
    return get_command(application())


def run(*arguments: str | Path, stdin: str | bytes = "") -> Done:
    """The command run in this process; an error of ours becomes its exit status, as `main` does it."""
    words = [str(one) for one in arguments]
    with patch.object(testing, "_get_command", lambda _: _commands()):
        result = testing.CliRunner().invoke(application(), words, input=stdin, catch_exceptions=True)
    if isinstance(result.exception, PipelineError):
        error = result.exception
        told = f"{result.stderr}errmine: {error}\n  {error.hint()}\n"
        return Done(error.exit_code, result.stdout, told, result.stdout_bytes)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr, result.stdout_bytes)


def process(*arguments: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
    """The command run as a process of its own."""
    command = [sys.executable, "-c", "from pipeline.cli import main; main()", *map(str, arguments)]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    done = subprocess.run(
        command, input=stdin.encode(), capture_output=True, env=surroundings, check=False, timeout=120
    )
    return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode(), done.stdout)
