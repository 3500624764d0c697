"""The flow under Prefect: the same bytes as without it, a record of the run, artifacts; the one file with a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.build import Places
from pipeline.store import reading
from tests import golden

pytestmark = [
    pytest.mark.prefect,
    # Prefect's own libraries warn of what they will change; that is theirs to heed
    pytest.mark.filterwarnings("ignore"),
]

#: A fresh server was seen to need up to 31 s on two busy cores.
SERVER_START_SECONDS = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("prefect")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", str(home))
        patch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
        patch.setenv("DO_NOT_TRACK", "1")
        from prefect.testing.utilities import prefect_test_harness

        with prefect_test_harness(server_startup_timeout=SERVER_START_SECONDS):
            yield


@pytest.fixture(scope="module")
def ran(server: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    from pipeline import flows

    home = tmp_path_factory.mktemp("home")
    return home, flows.run(home=str(home), paths=[str(golden.SAMPLE)])


def test_a_run_under_prefect_gives_the_golden_bundle(ran: tuple[Path, dict[str, Any]]) -> None:
    home, _ = ran
    assert golden.bundle_bytes(Places.of(home).curated) == golden.bundle_bytes(golden.GOLDEN)


def test_every_stage_of_the_run_accounts_for_every_item(ran: tuple[Path, dict[str, Any]]) -> None:
    _, told = ran
    assert [stage["stage"] for stage in told["stages"]] == ["import", "documents", "events", "entries", "export"]
    assert all(stage["taken"] == stage["given"] + stage["skipped"] for stage in told["stages"])


def test_the_run_is_recorded_and_left_its_artifacts(ran: tuple[Path, dict[str, Any]]) -> None:
    from prefect.client.orchestration import get_client

    home, _ = ran
    (run,) = reading.status(Places.of(home).database)["runs"]
    assert (run["flow"], run["status"]) == ("run", "completed")
    with get_client(sync_client=True) as client:
        keys = {artifact.key for artifact in client.read_artifacts()}
    assert {"run-summary", "run-sources", "run-progress"} <= keys


def test_looking_for_drift_finds_none_after_a_run(ran: tuple[Path, dict[str, Any]]) -> None:
    from pipeline import flows

    home, _ = ran
    told = flows.reconcile(home=str(home))
    assert told["entries_not_exported"] == 0
    assert told["stale_entries"] == 0
    assert told["documents_not_built"] == 0
