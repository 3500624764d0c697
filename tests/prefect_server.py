"""One Prefect server for all tests of a process that need one: the one of deploy/README.md, in its environment."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).parent.parent
#: A fresh server was seen to need 10 s on two idle cores and 115 s with nine programs for each.
START_SECONDS = 240
#: How often a request is made that the server answers with 503.
TRIES = 5
#: How often a worker and `errmine serve` ask for work, seconds. Each second would be too much for SQLite on busy cores.
EAGER = {"PREFECT_WORKER_QUERY_SECONDS": "2", "PREFECT_RUNNER_POLL_FREQUENCY": "2"}


class Started(NamedTuple):
    """The server that runs."""

    home: Path  # the home of the recipe
    environ: dict[str, str]  # what the recipe's commands are run with
    database: Path  # a copy of its database from before any run: to make one takes half of a start


def recipe_environment(home: Path) -> dict[str, str]:
    """The environment of deploy/README.md's recipe for `home`; its lines before the server were run as written."""
    text = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"```\n(export .*?)prefect server start", text, re.DOTALL)
    assert lines is not None
    script = lines[1].replace("/var/lib/errmine", str(home)) + "env -0\n"
    plain = {"PATH": os.environ["PATH"]}
    done = subprocess.run(["sh", "-euc", script], cwd=ROOT, env=plain, check=True, capture_output=True, text=True)
    return dict(line.split("=", 1) for line in done.stdout.split("\0") if line)


@contextmanager
def started(folder: Path) -> Iterator[Started]:
    """The recipe's server, also for flows that run in this process, as long as the context lasts.

    When it ends the server heeds SIGTERM, leaves its port, and has written of nothing critical.
    """
    home, port, log = folder / "home", free_port(), folder / "server.log"
    environ = _surroundings(home, port)
    serve = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
    end = time.monotonic() + START_SECONDS
    with running(serve, environ, log):
        until(lambda: asked(environ, "/health"), end=end, what="the server")
        copy = _copied(Path(environ["PREFECT_HOME"]) / "prefect.db", folder / "empty.db")
        with _client_of(environ["PREFECT_API_URL"], folder / "client"):
            yield Started(home, environ, copy)
    assert "CRITICAL" not in log.read_text()
    assert not is_open(port)


@contextmanager
def _client_of(url: str, home: Path) -> Iterator[None]:
    """Nothing; flows of this process report to the server at `url`, and have reported all when the context ends."""
    settings = {"PREFECT_HOME": str(home), "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
    with patch.dict(os.environ, settings):
        from prefect import context
        from prefect.events.worker import EventsWorker
        from prefect.logging.handlers import APILogHandler
        from prefect.settings import PREFECT_API_URL, temporary_settings

        with (
            temporary_settings({PREFECT_API_URL: url}),
            # also for what began in a context that was copied before, as Prefect's own harness does it
            context._temporary_global_settings_context(context.get_settings_context()),
        ):
            yield
            asyncio.run(APILogHandler.aflush())
            EventsWorker.drain_all()


def _surroundings(home: Path, port: int) -> dict[str, str]:
    """The environment of the recipe; nothing of the machine's own Prefect, nothing in ~."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    return {
        **kept,
        **recipe_environment(home),
        **EAGER,
        "PATH": kept["PATH"],
        "PYTHONPATH": str(ROOT),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_CLI_PROMPT": "false",
    }


def _copied(database: Path, path: Path) -> Path:
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(command: list[str], env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that lasts as long as the context, stopped by SIGTERM; one that does not heed it fails the test."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=output, stderr=output, start_new_session=True)
    try:
        yield process
        assert process.poll() is None, log.read_text()[-3000:]
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) in (0, -signal.SIGTERM, 128 + signal.SIGTERM), log.read_text()[-3000:]
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def asked(env: dict[str, str], path: str, body: dict[str, Any] | None = None, *, method: str | None = None) -> Any:
    request = urllib.request.Request(
        env["PREFECT_API_URL"] + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
        method=method,
    )
    tries = itertools.count(1)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:  # its database is locked for a moment; Prefect's client asks again too
            if error.code != 503 or next(tries) == TRIES:
                raise
        time.sleep(1)


def until(is_so: Callable[[], Any], *, end: float, what: str) -> Any:
    while True:
        try:
            if found := is_so():
                return found
        except (urllib.error.URLError, OSError):
            pass
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(1)  # each look costs the server as much as a step of a flow
