"""`errmine serve`: schedules and runs in one process, for people without a Prefect server of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.app import Config, Home, app, settings
from pipeline.cli.look import did
from pipeline.cli.output import say

if TYPE_CHECKING:
    from pipeline.config import Settings

#: A server that was told to stop was seen to need a second.
STOP_SECONDS = 20
#: Between two looks at the file of runs.
TOLD_SECONDS = 2.0
#: The server started here keeps runs for a month, and who holds which limit also over a kill.
SERVER_SETTINGS = {
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(30 * 24 * 3600),
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
}


@app.command()
def serve(
    home: Home = None,
    config: Config = None,
    port: Annotated[
        int, typer.Option("--port", min=1, max=65535, help="Where Prefect's pages are; on this machine only.")
    ] = 4200,
) -> None:
    """Ingest, build and export on a schedule until told to stop.

    `schedule` in the settings says when. With PREFECT_API_URL set it works for that server, else it starts its own.
    """
    from pipeline.cli.surroundings import prepare_prefect
    from pipeline.config import read_settings
    from pipeline.records.errors import ConfigError
    from pipeline.run.home import locking
    from pipeline.run.ingest.sourcing import configured

    found = settings(home, config)
    # the runs are processes of their own: a place of theirs must not depend on where they start
    chosen = read_settings(found.origin.resolve() if found.origin else None, home=found.home.resolve())
    if not configured(chosen):
        raise ConfigError(f"{chosen.home}: no source is configured", hint="Name files or repositories in errmine.toml.")
    # a second one would take the runs of the first for killed ones, and start each twice
    with locking.sole(chosen.home, locking.here(str(uuid.uuid4()), "serve", now=datetime.now(UTC)), name="lock.serve"):
        prepare_prefect(chosen)
        signal.signal(signal.SIGTERM, _stop)
        _keep(chosen, port)


def _keep(chosen: Settings, port: int) -> None:
    """Schedules until told to stop, on the server of the environment or on one of its own."""
    try:
        if "PREFECT_API_URL" in os.environ:
            with _telling(chosen.home):
                _serve(chosen)
            return
        with _server(port, chosen.work_path / "prefect" / "server.log"):
            if count := _settle():
                say(f"{count} runs were killed with the process before this one")
            say(f"schedules of {chosen.home} are kept; http://127.0.0.1:{port} shows the runs; Ctrl-C stops")
            with _telling(chosen.home):
                _serve(chosen)
    except (KeyboardInterrupt, SystemExit):  # Prefect answers SIGTERM with the latter
        say("stopped; what runs had finished is kept")


def _stop(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _serve(chosen: Settings) -> None:
    from pipeline.cli.serving import serve as served

    served(chosen)


def _settle() -> int:
    from pipeline.cli.serving import settle

    return settle()


@contextmanager
def _telling(home: Path) -> Iterator[None]:
    """Every run that ends in `home` meanwhile is told in a line, whichever process it ran in."""
    from pipeline.run.home import recording

    stopped = threading.Event()
    told = {row.run_id for row in recording.rows(home)}

    def tell() -> None:
        while not stopped.wait(TOLD_SECONDS):
            for row in recording.rows(home):
                if row.run_id not in told:
                    told.add(row.run_id)
                    say(f"{row.ended_at or '?':%H:%M:%S} {row.flow} {row.status}: {did(row.detail)}")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        stopped.set()
        teller.join()


@contextmanager
def _server(port: int, log: Path) -> Iterator[None]:
    """A Prefect server of this process, up as long as the context lasts; it ends with this process, killed or not."""
    from pipeline.cli.leftovers import ended_with_this_process

    with ended_with_this_process():
        yield from _started(port, log)


def _started(port: int, log: Path) -> Iterator[None]:
    os.environ["PREFECT_API_URL"] = f"http://127.0.0.1:{port}/api"
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output:
        server = subprocess.Popen(  # noqa: S603
            command, env=SERVER_SETTINGS | os.environ, stdout=output, stderr=output, start_new_session=True
        )
    try:
        _wait_until_up(server, port, log)
        yield
    finally:
        server.terminate()
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_up(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    from pipeline.cli.surroundings import SERVER_START_SECONDS
    from pipeline.records.errors import ConfigError

    end = time.monotonic() + SERVER_START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=2):
                break
        except OSError:
            time.sleep(0.5)
    # another server may hold the port: then ours has ended, and theirs has answered
    if server.poll() is not None or time.monotonic() >= end:
        raise ConfigError(f"Prefect's server did not start on port {port}", hint=f"Read {log}, or give another --port.")
