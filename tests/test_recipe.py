"""The recipe of deploy/README.md on a throw-away server: cron fires, build and export follow, SIGTERM stops it all.

It ends as soon as the bundle is there. Its cron lines have a sixth field, the second: nobody waits for a full minute.
A deployment is paused when its first run begins, so that no other is started.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from pipeline.run import Places
from pipeline.run.home import recording
from tests import golden
from tests.prefect_server import EAGER, Started, asked, free_port, is_open, running, until

pytestmark = [pytest.mark.prefect, pytest.mark.long]
ROOT = golden.ROOT
#: The whole recipe may take this long, on a busy machine.
LIMIT_SECONDS = 480
#: A cron line for the first seconds in which what is started can be ready.
SOON = "* * * * * */5"
#: Commands of Prefect's, one after the other: to import it takes each as long as what it does.
PREFECT = """
import json, sys
from prefect.cli import app
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        app()
    except SystemExit as end:
        if end.code:
            raise
"""


def prefect(*commands: list[str], env: dict[str, str]) -> None:
    command = [sys.executable, "-c", PREFECT, json.dumps(commands)]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def open_to_pages(env: dict[str, str]) -> bool:
    """Whether a page of another site, in a browser on this machine, may ask the API for anything."""
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    asks = urllib.request.Request(env["PREFECT_API_URL"] + "/deployments/", headers=headers, method="OPTIONS")
    try:
        with urllib.request.urlopen(asks, timeout=10) as answer:
            return "Access-Control-Allow-Origin" in answer.headers
    except urllib.error.HTTPError as error:
        return "Access-Control-Allow-Origin" in error.headers


def test_the_recipe_from_server_to_bundle(server: Started, tmp_path: Path) -> None:
    """How the server was started, and that it ends as it should: `tests.prefect_server.started`."""
    end = time.monotonic() + LIMIT_SECONDS
    env = server.environ
    deployments = tmp_path / "prefect.yaml"
    work = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "errmine", "--limit", "2"]
    assert not open_to_pages(env)
    # the first line is that of ingest-files: there is nothing else to ingest
    deployments.write_text((ROOT / "prefect.yaml").read_text().replace("17 * * * *", SOON, 1))
    prefect(
        ["work-pool", "create", "errmine", "--type", "process", "--overwrite"],
        ["--no-prompt", "deploy", "--all", "--prefect-file", str(deployments)],
        ["automation", "create", "--from-file", "deploy/zombie-runs.yaml"],
        env=env,
    )
    with running([*work, "--install-policy", "never"], env, tmp_path / "worker.log"):
        until(lambda: paused(env, "ingest-files/hourly"), end=end, what="a run that cron started")
        until(lambda: artifact(env, "ingest-files-summary"), end=end, what="the end of that run")
        until(lambda: artifact(env, "export-summary"), end=end, what="the export after the build after the ingest")
    (scheduled,) = [row for row in recording.rows(server.home) if row.flow == "ingest-files"][:1]
    assert scheduled.status == "completed"
    assert golden.bundle_bytes(Places.of(server.home).curated) == golden.bundle_bytes(golden.GOLDEN)
    for kind in ("deployments", "automations"):  # other tests' flows are to start nothing
        made = asked(env, f"/{kind}/filter", {})
        assert made
        for one in made:
            asked(env, f"/{kind}/{one['id']}", method="DELETE")


def test_serve_does_the_same_in_one_process_and_stops_by_sigterm(server: Started, tmp_path: Path) -> None:
    end = time.monotonic() + LIMIT_SECONDS
    home, log, port = tmp_path / "home", tmp_path / "serve.log", free_port()
    database = home / ".errmine" / "prefect" / "prefect.db"
    database.parent.mkdir(parents=True)
    shutil.copyfile(server.database, database)
    settings = f'[sources]\npaths = ["{golden.SAMPLE}"]\n[schedule]\ningest = "{SOON}"\n'
    (home / "errmine.toml").write_text(settings, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")} | EAGER
    errmine = [sys.executable, "-c", "from pipeline.cli import main; main()"]
    with running([*errmine, "serve", "--home", str(home), "--port", str(port)], env | {"PYTHONPATH": str(ROOT)}, log):
        api = {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api"}
        until(lambda: paused(api, "ingest-files/scheduled"), end=end, what="a run that cron started")
        assert not open_to_pages(api)
        until(lambda: "ingest-files" in flows_of(home), end=end, what="the end of that run")
        until(lambda: {"build", "export"} <= flows_of(home), end=end, what="the export after the build")
        entries = (golden.GOLDEN / "entries.jsonl").read_text("utf-8").count("\n")
        until(
            lambda: f"export completed: export {entries} in" in log.read_text(), end=end, what="a line that tells of it"
        )
    assert log.read_text().endswith("stopped; what runs had finished is kept\n")
    assert golden.bundle_bytes(Places.of(home).curated) == golden.bundle_bytes(golden.GOLDEN)
    assert not is_open(port)  # the server that it started is gone


def flows_of(home: Path) -> set[str]:
    """The flows that ran."""
    return {row.flow for row in recording.rows(home)}


def paused(env: dict[str, str], name: str) -> bool:
    """Whether the deployment has begun a run; then no cron starts it again: runs would hold up those before them."""
    deployment = asked(env, f"/deployments/name/{name}")
    begun = {"deployments": {"id": {"any_": [deployment["id"]]}}}
    begun["flow_runs"] = {"state": {"type": {"any_": ["PENDING", "RUNNING", "COMPLETED"]}}}
    if not asked(env, "/flow_runs/filter", begun):
        return False
    asked(env, f"/deployments/{deployment['id']}/pause_deployment", {})
    return True


def artifact(env: dict[str, str], key: str) -> Any:
    found = asked(env, "/artifacts/filter", {"artifacts": {"key": {"any_": [key]}}})
    return [each for each in found if each["data"]]
