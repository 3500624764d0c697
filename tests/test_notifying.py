"""Who is to hear of a failed run hears of it, is not waited for without end, and its address is told to nobody."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from pipeline.records.errors import ConfigError
from pipeline.run import notify
from pipeline.run.prefect import notifying
from tests.prefect_server import Started
from tests.rings import first_alone

# Prefect's own libraries warn of what they will change; that is theirs to heed
pytestmark = pytest.mark.filterwarnings("ignore")
EVENT = {"flow": "build", "run": "brave-bee", "state": "Failed", "message": "磁盘已满"}
SECRET = "s3cr3t"
KEEP = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"


def test_command_and_webhook_are_told_the_same(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request(f"/{SECRET}", method="POST", json=EVENT).respond_with_data("")
    kept = tmp_path / "told"
    command = [sys.executable, "-c", KEEP, str(kept)]
    assert notify(EVENT, command=command, webhook=httpserver.url_for(f"/{SECRET}")) == []
    assert json.loads(kept.read_bytes()) == EVENT
    assert len(httpserver.log) == 1


def test_nobody_configured_is_nobody_told() -> None:
    assert notify(EVENT) == []


def test_a_command_that_fails_is_a_problem_and_the_webhook_hears_all_the_same(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("")
    failing = [sys.executable, "-c", "raise SystemExit(3)"]
    (problem,) = notify(EVENT, command=failing, webhook=httpserver.url_for("/"))
    assert "status 3" in problem
    assert len(httpserver.log) == 1


@pytest.mark.parametrize("command", [["/nowhere/at-all"], ["a\0b"], ["/"]])
def test_a_command_that_cannot_start_is_a_problem(command: list[str]) -> None:
    (problem,) = notify(EVENT, command=command)
    assert problem.startswith("the notification command failed")


@pytest.mark.long
def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifying, "SECONDS", 2.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    # the shell's child holds the pipe open as long as it lives
    (problem,) = notify(EVENT, command=["/bin/sh", "-c", f"(echo started; sleep 600) > {pipe}; true"])
    assert "had not ended after 2 s" in problem
    os.set_blocking(reader, True)
    with open(reader, "rb") as left:
        assert left.read() == b"started\n"  # to its end: nobody is left who could write


@contextmanager
def dripping(first: bytes) -> Iterator[str]:
    """A server that answers one byte now and then, without end."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(first)
                while not over.wait(0.02):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/{SECRET}"
        finally:
            over.set()
            thread.join()


@pytest.mark.parametrize("first", first_alone([b"", b"HTTP/1.1 200 OK\r\nX-Long: "]))
def test_a_webhook_that_never_ends_its_answer_is_given_up(first: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifying, "SECONDS", 0.5)
    with dripping(first) as webhook:
        (problem,) = notify(EVENT, webhook=webhook)
    assert problem.startswith("the notification webhook")
    assert SECRET not in problem


@pytest.mark.parametrize(
    "webhook",
    [
        f"http://127.0.0.1:1/{SECRET}",
        f"http://127.0.0.1:port/{SECRET}",
        f"http://127.0.0.1/{SECRET} and more",
        f"http://127.0.0.1/{SECRET}\nX-Header: 1",
        f"http://[{SECRET}",
        f"http://{SECRET}.invalid/",
        f"ftp://127.0.0.1/{SECRET}",
        f"file:///{SECRET}",
        SECRET,
    ],
)
def test_a_wrong_address_is_a_problem_that_does_not_tell_it(webhook: str) -> None:
    (problem,) = notify(EVENT, webhook=webhook)
    assert problem.startswith("the notification webhook")
    assert SECRET not in problem


@pytest.mark.parametrize("status", [302, 404, 500])
def test_an_answer_of_failure_is_a_problem_that_does_not_tell_the_address(httpserver: HTTPServer, status: int) -> None:
    headers = {"Location": f"file:///{SECRET}"} if status == 302 else {}
    httpserver.expect_request(f"/{SECRET}").respond_with_data("", status=status, headers=headers)
    (problem,) = notify(EVENT, webhook=httpserver.url_for(f"/{SECRET}"))
    assert problem == "the notification webhook failed: HTTPError"


# ---------------------------------------------------------------- from a flow


def logs_of(run_id: str) -> str:
    """What Prefect keeps of the log of a run."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import LogFilter
    from prefect.logging.handlers import APILogHandler

    asyncio.run(APILogHandler.aflush())
    with get_client(sync_client=True) as client:
        wanted = LogFilter.model_validate({"flow_run_id": {"any_": [run_id]}})
        return "\n".join(log.message for log in client.read_logs(log_filter=wanted))


@pytest.mark.prefect
@pytest.mark.parametrize("status", first_alone([200, 500]), ids=["webhook-listens", "webhook-fails"])
def test_a_flow_that_fails_tells_both_and_its_log_does_not_name_the_webhook(
    server: Started, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    from pipeline import flows

    kept = tmp_path / "told"
    command = json.dumps([sys.executable, "-c", KEEP, str(kept)])
    (tmp_path / "errmine.toml").write_text(f"[notify]\ncommand = {command}\n")
    httpserver.expect_request(f"/{SECRET}").respond_with_data("", status=status)
    monkeypatch.setenv("ERRMINE_NOTIFY_WEBHOOK", httpserver.url_for(f"/{SECRET}"))
    with pytest.raises(ConfigError, match="no runner called ray"):
        flows.build(home=str(tmp_path), runner="ray")
    told: dict[str, Any] = json.loads(kept.read_bytes())
    assert (told["flow"], told["state"]) == ("build", "Failed")
    assert "no runner called ray" in told["message"]
    (request, _) = httpserver.log[0]
    assert request.get_json() == told
    log = logs_of(told["run_id"])
    assert "no runner called ray" in log
    assert ("the notification webhook failed: HTTPError" in log) == (status == 500)
    assert SECRET not in log


@pytest.mark.prefect
def test_settings_that_are_broken_fail_the_run_and_the_webhook_hears_of_it(
    server: Started, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline import flows

    (tmp_path / "errmine.toml").write_text("[bild]\n")
    httpserver.expect_request("/").respond_with_data("")
    monkeypatch.setenv("ERRMINE_NOTIFY_WEBHOOK", httpserver.url_for("/"))
    with pytest.raises(ConfigError, match="bild"):
        flows.build(home=str(tmp_path))
    (request, _) = httpserver.log[0]
    assert "bild" in request.get_json()["message"]
