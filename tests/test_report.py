"""The report: what is new since a run and no more, on one page that loads and runs nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline import store
from pipeline.export import report as reports
from pipeline.records.errors import ConfigError
from pipeline.run import Places
from pipeline.run.home import overview, recording
from tests import cli
from tests.each import each
from tests.golden import SAMPLE
from tests.test_site import WORDS, Read


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that was built twice: of one file of the sample, then of all of it."""
    folder = tmp_path_factory.mktemp("report")
    for path in (SAMPLE / "issues.jsonl", SAMPLE):
        for command in (("import", path), ("build", "--workers", "1"), ("export",)):
            done = cli.run(*command, "--home", folder, "--quiet")
            assert done.code == 0, done.err
    return folder


def ids(home: Path) -> set[str]:
    return {row[0] for row in store.query(Places.of(home).database, "SELECT entry_id FROM entries").rows}


def exports(home: Path) -> list[str]:
    return [row.run_id for row in recording.rows(home) if row.flow == "export"]


def test_new_is_what_came_after_the_run(home: Path) -> None:
    first, second = exports(home)
    every, after, none = (overview.report(home, since=since) for since in ("", first, second))
    assert {row["entry_id"] for row in every.new} == ids(home)
    assert none.new == []
    new = {row["entry_id"] for row in after.new}
    assert 0 < len(new) < len(ids(home))
    documents = "SELECT count(*) FROM evidence WHERE entry_id = ? AND document_id LIKE '%tilelab#1%'"
    assert "xla/e1000-compile-time-hbm-oom" in new  # of a page that the first build had not seen
    assert store.query(Places.of(home).database, documents, parameters=["xla/e1000-compile-time-hbm-oom"]).rows == [
        (0,)
    ]
    assert overview.last_export(home) == second


def test_answers_are_held_against_those_of_the_run(home: Path) -> None:
    first, _ = exports(home)
    told = overview.report(home, since=first)
    now = {row["domain"]: row["answered"] for row in told.answers}
    assert set(told.answered_before) <= set(now)
    assert sum(now.values()) > sum(told.answered_before.values())
    assert f"{now['xla'] - told.answered_before.get('xla', 0):+,}" in reports.markdown(told)


def test_numbers_are_those_of_the_database(home: Path) -> None:
    told, database = overview.report(home), Places.of(home).database
    assert sum(row["entries"] for row in told.answers) == len(ids(home))
    assert (
        sum(row["documents"] for row in told.sources)
        == store.query(database, "SELECT count(*) FROM documents").rows[0][0]
    )
    unanswered = store.query(database, "SELECT entry_id FROM entries WHERE NOT is_answered").rows
    assert {row["entry_id"] for row in told.unanswered} == {name for (name,) in unanswered}
    assert told.trending
    assert all(row["recent"] > max(row["earlier"], 1) for row in told.trending)  # one document is no trend
    assert {row["field"] for row in told.chinese} >= {"signature_zh", "workarounds_zh"}


def test_the_page_loads_and_runs_nothing_and_its_style_is_the_one_it_allows(home: Path) -> None:
    page = Read(reports.html(overview.report(home)))
    (policy,) = [str(one["content"]) for one in page.all("meta") if one.get("http-equiv")]
    style = re.search(r"<style>(.*?)</style>", reports.html(overview.report(home)), re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert len(page.all("svg")) == 3
    assert [a for _, a in page.tags if "style" in a or any(name.startswith("on") for name in a)] == []


def test_words_of_strangers_are_text_in_both_forms(home: Path) -> None:
    told = overview.report(home)
    row = {
        **told.new[0],
        "signature": WORDS,
        "signature_zh": WORDS,
        "domain": WORDS,
        "url": "javascript:alert(1)",
        "said_on": "2026-01-01",
    }
    hostile = replace(told, new=[row], fixed=[row], versions=[{"version": WORDS, "documents": 1}])
    page = Read(reports.html(hostile))
    assert not {"script", "img", "b"} & {tag for tag, _ in page.tags}
    assert [one for one in page.addresses() if not one.startswith("http")] == []
    text = reports.markdown(hostile)
    assert "<" not in text
    assert "\u202e" not in text


def test_a_list_that_is_cut_says_how_many_it_shows(home: Path) -> None:
    told = overview.report(home)
    assert len(told.new) > 20
    assert f"## New · 最新出现 (20 / {len(told.new)})" in reports.markdown(told)
    assert f"<small>20 / {len(told.new)}</small>" in reports.html(told)


def test_a_day_means_the_last_run_that_was_begun_before_it(home: Path) -> None:
    today = datetime.now(UTC).date()
    assert overview.report(home, since=today.isoformat()).since == ""  # all runs are of today
    after = overview.report(home, since=(today + timedelta(days=2)).isoformat())
    assert after.since.endswith(recording.rows(home)[-1].run_id[: recording.SHORTEST_ID])
    assert after.new == []


def test_a_run_that_is_not_there_is_named(home: Path) -> None:
    with pytest.raises(ConfigError, match="no run nothing"):
        overview.report(home, since="nothing")


def test_the_command_writes_both_forms(home: Path, tmp_path: Path) -> None:
    told = json.loads(
        cli.run("report", "--home", home, "--to", tmp_path, "--since", exports(home)[0][:8], "--json").out
    )
    assert told["new"] == len(overview.report(home, since=exports(home)[0]).new)
    assert Path(told["html"]).read_text("utf-8").startswith("<!doctype html>")
    assert Path(told["markdown"]).read_text("utf-8").startswith("# errmine: since export")


def test_a_bundle_is_reported_and_its_state_shown_without_its_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = Places.of(home).curated
    told = json.loads(cli.run("report", "--bundle", bundle, "--json").out)
    assert (told["new"], told["html"]) == (len(ids(home)), str(Path("report.html")))
    assert (tmp_path / "report.md").is_file()
    state = json.loads(cli.run("status", "--bundle", bundle, "--json").out)
    assert state["answers"] == json.loads(cli.run("status", "--home", home, "--json").out)["answers"]
    for command in (("report", "--since", exports(home)[0][:8]), ("status", exports(home)[0][:8])):
        refused = cli.run(*command, "--bundle", bundle)
        assert (refused.code, "bundle" in refused.err) == (2, True)


@each(
    "command, said",
    [
        (("top", "--bundle", "nowhere"), "Give the folder of a bundle"),
        (("query", "--bundle", "nowhere", "SELECT 1"), "Give the folder of a bundle"),
    ],
)
def test_a_bundle_that_is_not_there_is_named_with_what_to_give(command: tuple[str, ...], said: str) -> None:
    done = cli.run(*command)
    assert (done.code, "nowhere" in done.err, said in done.err) == (2, True, True)


def test_a_form_that_is_not_known_names_those_that_are(home: Path) -> None:
    done = cli.run("query", "--home", home, "--format", "xml", "SELECT 1")
    assert (done.code, "Choose one of table" in done.err, "Configuration" in done.err) == (2, True, False)
