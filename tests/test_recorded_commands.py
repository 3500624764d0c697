"""Every command that changes a home leaves a record: `errmine status` and the table of runs tell what it did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import run as build
from pipeline.records.errors import RateLimited, SourceChanged
from tests.cli import run
from tests.fake_github import TOKEN, FakeGithub, small_world
from tests.github_home import REPO


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGithub]:
    with FakeGithub() as made:
        small_world(made, threads=4)
        monkeypatch.setenv("GITHUB_API_URL", made.url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        monkeypatch.setenv("COLUMNS", "200")
        yield made


def runs(home: Path) -> list[dict[str, Any]]:
    """The runs that status tells of, oldest first."""
    told: list[dict[str, Any]] = json.loads(run("status", "--home", home, "--json").out)["runs"]
    return told[::-1]


def issue(home: Path) -> Path:
    path = home / "one.jsonl"
    body = "```\nRuntimeError: CUDA error: an illegal memory access was encountered\n```"
    url = "https://github.com/errmine-fixtures/pond/issues/77"
    path.write_text(
        json.dumps({"html_url": url, "title": "x", "body": body, "state": "open", "created_at": "2026-04-01"})
    )
    return path


def test_ingest_import_build_and_export_are_recorded_with_what_they_did(tmp_path: Path, fake: FakeGithub) -> None:
    assert run("ingest", "github", "--repo", REPO, "--home", tmp_path, "-q").code == 0
    assert run("import", issue(tmp_path), "--home", tmp_path, "-q").code == 0
    before = runs(tmp_path)  # nothing was built yet, so there is no database
    assert [row["flow"] for row in before] == ["ingest-github", "import"]
    assert [row["detail"]["stages"][0]["stage"] for row in before] == ["github", "import"]
    assert run("build", "--home", tmp_path, "-q", "--workers", "1").code == 0
    assert run("export", "--home", tmp_path, "-q").code == 0
    after = runs(tmp_path)
    assert [(row["flow"], row["status"]) for row in after] == [
        (flow, "completed") for flow in ("ingest-github", "import", "build", "export")
    ]
    assert after[0]["detail"]["threads"] == 4
    assert after[3]["detail"]["stages"][0]["stage"] == "export"
    shown = run("status", "--home", tmp_path).out
    count = after[3]["detail"]["stages"][0]["given"]
    assert f"export {count:,} in, {count:,} out" in shown
    assert "ingest-github" in shown
    rows = json.loads(run("query", "SELECT flow FROM runs ORDER BY started_at", "--home", tmp_path, "--json").out)
    assert [row["flow"] for row in rows] == [row["flow"] for row in after]


def test_an_import_after_a_build_is_told_at_once_and_in_the_database_with_the_next_run(tmp_path: Path) -> None:
    assert run("import", issue(tmp_path), "--home", tmp_path, "-q").code == 0
    assert run("build", "--home", tmp_path, "-q", "--workers", "1").code == 0
    assert run("import", issue(tmp_path), "--home", tmp_path, "-q").code == 0
    asked = ("query", "SELECT flow FROM runs ORDER BY started_at", "--home", tmp_path, "--json")
    assert [row["flow"] for row in json.loads(run(*asked).out)] == ["import", "build"]
    told = json.loads(run("status", "--home", tmp_path, "--json").out)["runs"]
    assert [row["flow"] for row in told] == ["import", "build", "import"]
    assert run("build", "--home", tmp_path, "-q").code == 0  # nothing came
    assert [row["flow"] for row in json.loads(run(*asked).out)] == ["import", "build", "import", "build"]
    told = json.loads(run("status", "--home", tmp_path, "--json").out)["runs"]
    assert [row["flow"] for row in told] == ["build", "import", "build", "import"]


def test_an_ingest_that_stops_at_a_limit_is_partial_and_one_that_fails_says_why(
    tmp_path: Path, fake: FakeGithub
) -> None:
    (tmp_path / "errmine.toml").write_text(f"[[sources.github]]\nrepos = ['{REPO}']\nmax_wait_seconds = 5\n")
    fake.limit = 6
    assert run("ingest", "--home", tmp_path, "-q").code == 3
    fake.limit = 5000
    fake.windows.clear()
    assert run("ingest", "github", "--repo", "errmine-fixtures/nowhere", "--home", tmp_path, "-q").code == 3
    partial, failed = runs(tmp_path)
    assert (partial["status"], failed["status"]) == ("partial", "failed")
    assert "404" in failed["detail"]["error"]
    assert "404" in run("status", "--home", tmp_path).out


def test_a_run_of_several_sources_is_as_bad_as_the_worst() -> None:
    whole = build.Fetched(build.Summary())
    limited = build.Fetched(build.Summary(), RateLimited("in an hour", url="https://x", wait_seconds=3600.0))
    broken = build.Fetched(build.Summary(), SourceChanged("no list", url="https://x"))
    assert build.status_of([]) == build.status_of([whole]) == "completed"
    assert build.status_of([whole, limited]) == "partial"
    assert build.status_of([limited, broken, whole]) == "failed"


def test_a_command_that_fails_is_recorded_as_failed(tmp_path: Path, fake: FakeGithub) -> None:
    assert run("import", issue(tmp_path), "--home", tmp_path, "-q").code == 0
    assert run("export", "--home", tmp_path, "-q").code == 3
    assert [(row["flow"], row["status"]) for row in runs(tmp_path)] == [("import", "completed"), ("export", "failed")]


def test_an_export_keeps_out_of_a_home_that_another_run_holds(tmp_path: Path, fake: FakeGithub) -> None:
    (tmp_path / "errmine.toml").write_text("[schedule]\nwait_seconds = 0\n", encoding="utf-8")
    with build.recorded(tmp_path, "build"):
        busy = run("export", "--home", tmp_path, "-q")
        assert busy.code == 3
        assert "build" in busy.err
        assert run("import", issue(tmp_path), "--home", tmp_path, "-q").code == 0  # raw takes pages meanwhile
        assert run("ingest", "github", "--repo", REPO, "--home", tmp_path, "-q").code == 0


def test_a_dry_run_leaves_no_record(tmp_path: Path, fake: FakeGithub) -> None:
    assert run("ingest", "github", "--repo", REPO, "--dry-run", "--home", tmp_path, "--json").code == 0
    assert not (tmp_path / ".errmine").exists()
