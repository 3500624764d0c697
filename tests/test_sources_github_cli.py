"""`errmine ingest` and `errmine forget` as a person runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pipeline import raw
from pipeline.cli import fetch
from pipeline.cli.app import app
from tests.fake_github import TOKEN, FakeGithub, Fault, small_world
from tests.github_home import REPO


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGithub]:
    with FakeGithub() as made:
        small_world(made, threads=8)
        monkeypatch.setenv("GITHUB_API_URL", made.url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        yield made


def errmine(home: Path, *words: str) -> tuple[int, str]:
    """Exit status and all that was printed."""
    assert fetch.ingest  # the commands are registered when their module is imported
    done = CliRunner().invoke(app, [*words, "--home", str(home)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        status = getattr(done.exception, "exit_code", None)
        if status is None:
            raise done.exception
        return status, done.output + str(done.exception)
    return done.exit_code, done.output


def summary(home: Path, *words: str) -> dict[str, Any]:
    status, text = errmine(home, *words, "--json")
    assert status == 0, text
    found: dict[str, Any] = json.loads(text)
    return found


def test_ingest_brings_a_repository_and_tells_what_it_cost(tmp_path: Path, fake: FakeGithub) -> None:
    first = summary(tmp_path, "ingest", "github", "--repo", REPO)
    assert first["threads"] == 8
    assert first[REPO] == "complete; references by graphql"
    again = summary(tmp_path, "ingest", "github", "--repo", REPO)
    assert again["new_pages"] == 0
    assert first["requests"] > 5 * again["requests"]


def test_without_an_argument_all_that_is_configured_is_brought(tmp_path: Path, fake: FakeGithub) -> None:
    fake.add("errmine-fixtures/lake", 1)
    settings = f"[[sources.github]]\nrepos = ['{REPO}', 'errmine-fixtures/lake']\nsince = 2020-01-01\n"
    (tmp_path / "errmine.toml").write_text(settings)
    status, text = errmine(tmp_path, "ingest")
    assert status == 0, text
    assert "errmine-fixtures/lake: complete" in text
    assert len(raw.RawLayer(tmp_path / "raw").documents()) == 9


def test_nothing_configured_is_a_usage_error(tmp_path: Path) -> None:
    assert errmine(tmp_path, "ingest")[0] == 2
    assert errmine(tmp_path, "ingest", "gitlab")[0] == 2
    assert errmine(tmp_path, "ingest", "github", "--repo", "no-owner")[0] == 2
    assert errmine(tmp_path, "ingest", "github", "--repo", REPO, "--since", "yesterday")[0] == 2
    assert errmine(tmp_path, "ingest", "github", "--repo", REPO, "--state", "sleeping")[0] == 2


def test_a_misspelt_setting_is_refused(tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text(f"[[sources.github]]\nrepos = ['{REPO}']\ntoken = 'never here'\n")
    status, text = errmine(tmp_path, "ingest")
    assert status == 2
    assert "never here" not in text


def test_a_dry_run_tells_requests_and_quota_and_keeps_nothing(tmp_path: Path, fake: FakeGithub) -> None:
    status, text = errmine(tmp_path, "ingest", "github", "--repo", REPO, "--dry-run", "--json")
    assert status == 0
    (plan,) = json.loads(text)
    assert (plan["issues"], plan["pulls"]) == (6, 2)
    assert not (tmp_path / "raw").exists()
    assert not (tmp_path / ".errmine").exists()
    before = len(fake.asked)
    made = summary(tmp_path, "ingest", "github", "--repo", REPO)
    rest = len(fake.asked) - before - made["graphql_requests"]
    assert plan["least_requests"] <= rest <= plan["most_requests"] + 4  # the long thread has pages of its own


def test_a_dry_run_says_what_having_no_token_costs(
    tmp_path: Path, fake: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    status, text = errmine(tmp_path, "ingest", "github", "--repo", REPO, "--dry-run")
    assert status == 0
    assert "60 requests an hour" in text


def test_a_run_that_may_not_wait_ends_with_status_3_and_goes_on_later(
    tmp_path: Path, fake: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = f"[[sources.github]]\nrepos = ['{REPO}']\nmax_wait_seconds = 5\n"
    (tmp_path / "errmine.toml").write_text(settings)
    fake.limit = 12
    status, text = errmine(tmp_path, "ingest")
    assert status == 3
    assert "partial, resumable" in text
    assert TOKEN not in text
    fake.limit = 5000
    fake.windows.clear()
    assert errmine(tmp_path, "ingest")[0] == 0


@pytest.mark.long
def test_a_thread_that_could_not_be_had_makes_the_run_partial(tmp_path: Path, fake: FakeGithub) -> None:
    fake.fault = lambda _n, a: Fault("html") if "issues/3/timeline" in a.path else None
    status, text = errmine(tmp_path, "ingest", "github", "--repo", REPO)
    assert status == 3
    assert "issues/3/timeline" in text
    assert "bad_answer" in text


def test_one_missing_repository_does_not_keep_the_other_away(tmp_path: Path, fake: FakeGithub) -> None:
    status, text = errmine(tmp_path, "ingest", "github", "--repo", "errmine-fixtures/nowhere", "--repo", REPO)
    assert status == 3
    assert f"{REPO}: complete" in text
    assert "404" in text


def test_forget_erases_a_thread_and_keeps_it_away(tmp_path: Path, fake: FakeGithub) -> None:
    summary(tmp_path, "ingest", "github", "--repo", REPO)
    status, text = errmine(tmp_path, "forget", "--url", f"https://github.com/{REPO}/issues/2")
    assert status == 0
    assert f"github.com/{REPO}#2" in text
    layer = raw.RawLayer(tmp_path / "raw")
    assert f"github.com/{REPO}#2" not in {refs.document_key for refs in layer.documents()}
    fake.comment(REPO, 2, "once more")
    for _ in range(2):
        before = len(fake.asked)
        summary(tmp_path, "ingest", "github", "--repo", REPO)
        assert not any("/issues/2" in path for path in fake.paths(before))
    summary(tmp_path, "ingest", "github", "--repo", REPO)
    assert fake.statuses(before)[304] >= 2  # the memory of all else is as good as before
    assert f"github.com/{REPO}#2" not in {refs.document_key for refs in layer.documents()}
    for path in (tmp_path / "raw" / "segments").iterdir():
        assert b"once more" not in path.read_bytes()


def test_forget_wants_the_address_of_a_thread(tmp_path: Path) -> None:
    assert errmine(tmp_path, "forget", "--url", "https://example.org/")[0] == 2
