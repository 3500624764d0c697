"""The flow under Prefect: the same bytes as without it, a record of the run, artifacts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.records.errors import ConfigError, DamageFound
from pipeline.run import Places
from pipeline.run.home import recording
from pipeline.store import reading
from tests import golden
from tests.fake_github import TOKEN, FakeGithub, Fault, small_world
from tests.github_home import REPO
from tests.prefect_server import Started

pytestmark = [
    pytest.mark.prefect,
    # Prefect's own libraries warn of what they will change; that is theirs to heed
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGithub]:
    with FakeGithub() as made:
        small_world(made, threads=8)
        monkeypatch.setenv("GITHUB_API_URL", made.url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        yield made


@pytest.fixture(scope="module")
def ran(server: Started, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    from pipeline import flows

    home = tmp_path_factory.mktemp("home")
    return home, flows.run(home=str(home), paths=[str(golden.SAMPLE)])


def test_a_run_under_prefect_gives_the_golden_bundle(ran: tuple[Path, dict[str, Any]]) -> None:
    home, _ = ran
    assert golden.bundle_bytes(Places.of(home).curated) == golden.bundle_bytes(golden.GOLDEN)


def test_every_stage_of_the_run_accounts_for_every_item(ran: tuple[Path, dict[str, Any]]) -> None:
    _, told = ran
    assert [stage["stage"] for stage in told["stages"]] == [
        "import",
        "documents",
        "events",
        "statements",
        "entries",
        "export",
    ]
    assert all(stage["taken"] == stage["given"] + stage["skipped"] for stage in told["stages"])


def test_the_run_is_recorded_and_left_its_artifacts(ran: tuple[Path, dict[str, Any]]) -> None:
    from prefect.client.orchestration import get_client

    home, _ = ran
    (run,) = reading.status(Places.of(home).database)["runs"]
    assert (run["flow"], run["status"]) == ("run", "completed")
    with get_client(sync_client=True) as client:
        keys = {artifact.key for artifact in client.read_artifacts()}
    assert {"run-summary", "run-sources", "run-progress", "report"} <= keys
    assert "<h1>errmine" in (home / ".errmine" / "report.html").read_text("utf-8")


@pytest.mark.long
def test_looking_for_drift_finds_none_after_a_run(ran: tuple[Path, dict[str, Any]]) -> None:
    from pipeline import flows

    home, _ = ran
    told = flows.reconcile(home=str(home))
    assert told["entries_not_exported"] == 0
    assert told["stale_entries"] == 0
    assert told["documents_not_built"] == 0
    assert told["wrong"] == []


def test_looking_for_damage_fails_where_anything_is_wrong(ran: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    from pipeline import flows

    home = shutil.copytree(ran[0], tmp_path / "home")
    (home / "curated" / "entries.parquet").write_bytes(b"PAR1")
    with pytest.raises(DamageFound, match=r"1 wrong: curated/entries\.parquet"):
        flows.reconcile(home=str(home))
    assert recording.rows(home)[-1].status == "damaged"


def test_a_run_of_a_home_with_nothing_fails_and_says_what_is_missing(server: Started, tmp_path: Path) -> None:
    from pipeline import flows

    with pytest.raises(ConfigError, match="no source is configured and nothing was imported"):
        flows.run(home=str(tmp_path))


@pytest.mark.long
def test_a_run_brings_every_source_that_the_settings_name(server: Started, world: FakeGithub, tmp_path: Path) -> None:
    from pipeline import flows

    (tmp_path / "errmine.toml").write_text(
        f"[sources]\npaths = ['{golden.SAMPLE}']\n[[sources.github]]\nrepos = ['{REPO}']\n"
    )
    told = flows.run(home=str(tmp_path))
    stages = [stage["stage"] for stage in told["stages"]]
    assert stages == ["import", "github", "documents", "events", "statements", "entries", "export"]
    assert told["sources"][REPO]["threads"] == 8
    assert told["new_pages"] > 8  # of the files and of the repository


@pytest.mark.long
def test_an_ingest_that_may_not_wait_ends_as_partial_and_the_next_one_goes_on(
    server: Started, world: FakeGithub, tmp_path: Path
) -> None:
    from pipeline import flows

    settings = f"[[sources.github]]\nrepos = ['{REPO}']\nmax_wait_seconds = 0\n"
    (tmp_path / "errmine.toml").write_text(settings)
    world.fault = lambda count, _asked: Fault("secondary", status=429, retry_after="3600") if count > 6 else None
    state = flows.ingest_github(home=str(tmp_path), return_state=True)
    assert (state.type.value, state.name) == ("COMPLETED", "Partial")
    world.fault = lambda _count, _asked: None
    assert "is_partial" not in flows.ingest_github(home=str(tmp_path))
    partial, whole = recording.rows(tmp_path)
    assert (partial.status, whole.status) == ("partial", "completed")
    assert whole.detail[REPO] == "complete; references by graphql"


@pytest.mark.long
def test_a_source_that_fails_fails_the_run_after_all_else_was_done(
    server: Started, world: FakeGithub, tmp_path: Path
) -> None:
    from pipeline import flows

    (tmp_path / "errmine.toml").write_text(
        f"[sources]\npaths = ['{golden.SAMPLE}']\n[[sources.github]]\nrepos = ['errmine-fixtures/nothing']\n"
    )
    state = flows.run(home=str(tmp_path), return_state=True)
    assert state.type.value == "FAILED"
    assert golden.bundle_bytes(Places.of(tmp_path).curated) == golden.bundle_bytes(golden.GOLDEN)
    (row,) = recording.rows(tmp_path)
    assert (row.status, row.detail["stages"][-1]["stage"]) == ("failed", "export")
    assert "errmine-fixtures/nothing" in row.detail["error"]


@pytest.mark.long
def test_an_ingest_does_not_wait_for_a_build(server: Started, world: FakeGithub, tmp_path: Path) -> None:
    from pipeline import flows

    (tmp_path / "errmine.toml").write_text(f"[[sources.github]]\nrepos = ['{REPO}']\n[schedule]\nwait_seconds = 0\n")
    with recording.recorded(tmp_path, "build"):
        told = flows.ingest_github(home=str(tmp_path))
    assert told["threads"] == 8


@pytest.mark.long
def test_a_run_to_which_nothing_came_makes_nothing_anew(ran: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    from pipeline import flows

    home = Path(shutil.copytree(ran[0], tmp_path / "home"))
    assert len(flows.run(home=str(home), paths=[str(golden.SAMPLE)])["stages"]) == 6  # the files of a copy are others
    told = flows.run(home=str(home), paths=[str(golden.SAMPLE)])
    assert [stage["stage"] for stage in told["stages"]] == ["import"]
    assert told["unchanged"].keys() == {"build", "export"}
    assert reading.status(Places.of(home).database)["runs"][0]["flow"] == "run"


def test_an_export_whose_report_failed_is_made_once_more(
    ran: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline import flows

    home = golden.copied(ran[0], tmp_path / "home")
    Places.of(home).current.unlink(missing_ok=True)

    def fails(_home: Path) -> None:
        raise OSError("no room")

    monkeypatch.setattr(flows, "export_task", lambda *_: None)
    monkeypatch.setattr(flows, "leave_report", fails)
    with pytest.raises(OSError, match="no room"):
        flows._exported(str(home), "")
    assert not flows.joined.is_exported(Places.of(home))
