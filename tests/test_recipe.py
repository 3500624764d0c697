"""The recipe of deploy/README.md on a throw-away server: cron fires, build and export follow, SIGTERM stops it all.

It ends as soon as the bundle is there. Its cron lines have a sixth field, the second: nobody waits for a full minute.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline.run import Places
from pipeline.run.home import recording
from tests import golden
from tests.prefect_server import Started
from tests.test_deployments import recipe_environment

pytestmark = pytest.mark.prefect
ROOT = golden.ROOT
#: The whole recipe may take this long, on a busy machine.
LIMIT_SECONDS = 480
#: How often a worker and `errmine serve` ask for work, seconds. Each second would be too much for SQLite on busy cores.
EAGER = {"PREFECT_WORKER_QUERY_SECONDS": "2", "PREFECT_RUNNER_POLL_FREQUENCY": "2"}


def soon(server: Started) -> str:
    """A cron line for once a minute, the first time as soon as what is started now can be ready.

    That takes about as long as `server` took to start; a schedule that comes later than its second waits a minute.
    """
    return f"* * * * * {int(time.time() + 1.2 * server.seconds + 3) % 60}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def surroundings(home: Path, port: int, server: Started) -> dict[str, str]:
    """The environment of the recipe; nothing of the machine's own Prefect, nothing in ~."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    recipe = recipe_environment(home)
    shutil.copyfile(server.database, Path(recipe["PREFECT_HOME"]) / "prefect.db")
    return {
        **kept,
        **recipe,
        **EAGER,
        "PATH": kept["PATH"],
        "PYTHONPATH": str(ROOT),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_CLI_PROMPT": "false",
    }


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


def prefect(*arguments: str, env: dict[str, str]) -> str:
    command = [sys.executable, "-m", "prefect", *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def asked(env: dict[str, str], path: str, body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(
        env["PREFECT_API_URL"] + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def open_to_pages(env: dict[str, str]) -> bool:
    """Whether a page of another site, in a browser on this machine, may ask the API for anything."""
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    asks = urllib.request.Request(env["PREFECT_API_URL"] + "/deployments/", headers=headers, method="OPTIONS")
    try:
        with urllib.request.urlopen(asks, timeout=10) as answer:
            return "Access-Control-Allow-Origin" in answer.headers
    except urllib.error.HTTPError as error:
        return "Access-Control-Allow-Origin" in error.headers


def until(is_so: Callable[[], Any], *, end: float, what: str) -> Any:
    while True:
        try:
            if found := is_so():
                return found
        except (urllib.error.URLError, OSError):
            pass
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.5)


def test_the_recipe_from_server_to_bundle(server: Started, tmp_path: Path) -> None:
    end = time.monotonic() + LIMIT_SECONDS
    home = tmp_path / "home"
    port = free_port()
    env = surroundings(home, port, server)
    deployments = tmp_path / "prefect.yaml"
    serve = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
    work = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "errmine", "--limit", "2"]
    with running(serve, env, tmp_path / "server.log"):
        until(lambda: asked(env, "/health"), end=end, what="the server")
        assert not open_to_pages(env)
        prefect("work-pool", "create", "errmine", "--type", "process", "--overwrite", env=env)
        # the first line is that of ingest-files: there is nothing else to ingest
        deployments.write_text((ROOT / "prefect.yaml").read_text().replace("17 * * * *", soon(server), 1))
        prefect("--no-prompt", "deploy", "--all", "--prefect-file", str(deployments), env=env)
        with running([*work, "--install-policy", "never"], env, tmp_path / "worker.log"):
            prefect("automation", "create", "--from-file", "deploy/zombie-runs.yaml", env=env)
            until(lambda: artifact(env, "ingest-files-summary"), end=end, what="a run that cron started")
            until(lambda: paused(env, "ingest-files/hourly"), end=end, what="a pause")
            until(lambda: artifact(env, "export-summary"), end=end, what="the export after the build after the ingest")
    (scheduled,) = [row for row in recording.rows(home) if row.flow == "ingest-files"][:1]
    assert scheduled.status == "completed"
    assert golden.bundle_bytes(Places.of(home).curated) == golden.bundle_bytes(golden.GOLDEN)
    assert "CRITICAL" not in (tmp_path / "server.log").read_text()
    with socket.socket() as probe:  # the server is gone
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_serve_does_the_same_in_one_process_and_stops_by_sigterm(server: Started, tmp_path: Path) -> None:
    end = time.monotonic() + LIMIT_SECONDS
    home, log, port = tmp_path / "home", tmp_path / "serve.log", free_port()
    database = home / ".errmine" / "prefect" / "prefect.db"
    database.parent.mkdir(parents=True)
    shutil.copyfile(server.database, database)
    settings = f'[sources]\npaths = ["{golden.SAMPLE}"]\n[schedule]\ningest = "{soon(server)}"\n'
    (home / "errmine.toml").write_text(settings, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")} | EAGER
    errmine = [sys.executable, "-c", "from pipeline.cli import main; main()"]
    with running([*errmine, "serve", "--home", str(home), "--port", str(port)], env | {"PYTHONPATH": str(ROOT)}, log):
        until(lambda: "ingest-files" in flows_of(home), end=end, what="a run that cron started")
        api = {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api"}
        assert not open_to_pages(api)
        until(lambda: paused(api, "ingest-files/scheduled"), end=end, what="a pause")
        until(lambda: {"build", "export"} <= flows_of(home), end=end, what="the export after the build")
    assert golden.bundle_bytes(Places.of(home).curated) == golden.bundle_bytes(golden.GOLDEN)
    with socket.socket() as probe:  # the server that it started is gone
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def flows_of(home: Path) -> set[str]:
    """The flows that ran."""
    return {row.flow for row in recording.rows(home)}


def paused(env: dict[str, str], name: str) -> bool:
    """That no cron starts the deployment again: on busy cores each minute's runs would hold up those before them."""
    deployment = asked(env, f"/deployments/name/{name}")
    asked(env, f"/deployments/{deployment['id']}/pause_deployment", {})
    return True


def artifact(env: dict[str, str], key: str) -> Any:
    found = asked(env, "/artifacts/filter", {"artifacts": {"key": {"any_": [key]}}})
    return [each for each in found if each["data"]]
