"""Settings: the block that README shows is accepted, a misspelt key is not."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest

from pipeline.cluster.people import KINDS, parsed
from pipeline.config import read_settings
from pipeline.records.errors import ConfigError
from tests.readme import README


def written(folder: Path, text: str) -> Path:
    path = folder / "errmine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_settings_that_readme_shows_are_settings(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    shown, decided = blocks
    settings = read_settings(written(tmp_path, shown), environ={})
    assert [row.kind for row in parsed(tomllib.loads(decided), where="README.md")] == list(KINDS)
    assert settings.sources.github[0].repos == ["errmine-fixtures/tilelab"]
    assert settings.build.workers == 2
    assert settings.enrich is not None
    assert settings.translate is not None
    assert settings.translate.calls == settings.enrich.calls == 1_000


def test_engines_are_off_unless_their_section_is_there(tmp_path: Path) -> None:
    settings = read_settings(written(tmp_path, "[build]\nworkers = 2\n"), environ={})
    assert (settings.enrich, settings.translate) == (None, None)


def test_a_misspelt_key_is_named_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"errmine\.toml: build\.workerz: no such setting; did you mean workers\?"):
        read_settings(written(tmp_path, "[build]\nworkerz = 2\n"), environ={})
    with pytest.raises(ConfigError, match=r"sources\.github\.0\.repo: no such setting; did you mean repos\?"):
        read_settings(written(tmp_path, "[[sources.github]]\nrepos = ['o/r']\nrepo = 2\n"), environ={})
    with pytest.raises(ConfigError, match=r"zzz: no such setting \(line 1\)$"):
        read_settings(written(tmp_path, "zzz = 2\n"), environ={})


@pytest.mark.parametrize(
    "cron", ["hourly", "* * * *", "61 * * * *", "0 4 * * 8", "0 25 * * *", "0 0 ; * *", "0 0 * x *", "@often"]
)
def test_a_cron_line_that_prefect_would_not_understand_is_named_by_its_key(cron: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"errmine\.toml: schedule\.docs: .* is no cron line"):
        read_settings(written(tmp_path, f"[schedule]\ndocs = {json.dumps(cron)}\n"), environ={})


@pytest.mark.parametrize(
    "cron", ["7 4 * * *", "*/90 0-6,20-23 1,15 jan-mar MON", "0 0 * * 1#2 30", "0 0 L * *", "@daily"]
)
def test_any_cron_line_that_prefect_understands_is_a_setting(cron: str, tmp_path: Path) -> None:
    from prefect.client.schemas.schedules import CronSchedule  # two seconds, for the one worker that runs this

    CronSchedule(cron=cron)
    settings = read_settings(written(tmp_path, f"[schedule]\ningest = {json.dumps(cron)}\n"), environ={})
    assert settings.schedule.ingest == cron


def test_the_home_comes_from_the_option_then_the_environment_then_here(tmp_path: Path) -> None:
    environ = {"ERRMINE_HOME": str(tmp_path / "b")}
    assert read_settings(home=tmp_path / "a", environ=environ).home == tmp_path / "a"
    assert read_settings(environ=environ).home == tmp_path / "b"
    assert read_settings(environ={}).home == Path()


def test_a_source_path_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    settings = read_settings(written(tmp_path, '[sources]\npaths = ["*.nothing"]\n'), environ={})
    with pytest.raises(ConfigError, match="nothing there"):
        settings.source_paths()


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_settings(written(tmp_path, "[build\n"), environ={})


def test_a_repository_is_checked_with_the_settings(tmp_path: Path) -> None:
    path = written(tmp_path, "[[sources.github]]\nrepos = ['o/r', 'acme']\n")
    with pytest.raises(ConfigError, match=r"sources\.github\.0\.repos\.1: 'acme' is no repository.*\(line 2\)"):
        read_settings(path, environ={})


def test_a_pipe_in_the_place_of_the_settings_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "errmine.toml")
    with pytest.raises(ConfigError, match=r"errmine\.toml: cannot be read"):
        read_settings(home=tmp_path, environ={})
