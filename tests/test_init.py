"""`errmine init`: a commented errmine.toml that says what the settings say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pipeline.cli.settings_file import commented
from pipeline.config import Settings, read_settings
from pipeline.records.errors import ConfigError
from tests.cli import run

#: A setting that is commented out.
_KEY = re.compile(r"(?m)^# (\w+ = .*|\[.*\])$")


def same(found: Settings) -> dict[str, object]:
    """The settings but for where they stand."""
    return found.model_dump(exclude={"home", "origin"})


def test_the_file_that_is_written_says_nothing_but_the_defaults(tmp_path: Path) -> None:
    done = run("init", "--home", tmp_path / "new")
    assert done.code == 0
    path = tmp_path / "new" / "errmine.toml"
    assert same(read_settings(path)) == same(Settings())
    assert path.read_text(encoding="utf-8") == commented() == run("init", "--print").out


def test_the_default_that_is_shown_is_the_default(tmp_path: Path) -> None:
    lines, is_given = [], True
    for line in commented().splitlines():
        if re.match(r"(# )?\[", line):
            is_given = not line.startswith("#")
        key = re.match(r"# (\w+ = .*)", line)
        shown = key[1] if key and is_given and "absent by default" not in line else line
        lines.append(shown)
    path = tmp_path / "errmine.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert len(tomllib.loads("\n".join(lines))["schedule"]) == 4
    assert same(read_settings(path)) == same(Settings())


def test_every_setting_stands_in_the_file_with_words_and_none_that_is_unknown(tmp_path: Path) -> None:
    text = _KEY.sub(r"\1", commented())
    path = tmp_path / "errmine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:  # the dots are no address
        read_settings(path)
    assert "no such setting" not in str(caught.value)
    table = tomllib.loads(text)
    assert set(table) == set(Settings.model_fields) - {"origin"}
    assert set(table["sources"]["github"][0]) == {
        "repos",
        "since",
        "state",
        "labels",
        "max_wait_seconds",
        "overlap_seconds",
    }
    assert all(line.strip() != "#" for line in text.splitlines())


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text("# mine\n", encoding="utf-8")
    done = run("init", "--home", tmp_path)
    assert done.code == 2
    assert "is there already" in done.err
    assert (tmp_path / "errmine.toml").read_text(encoding="utf-8") == "# mine\n"


def test_a_misspelt_setting_is_named_with_its_line_and_what_may_be_meant(tmp_path: Path) -> None:
    path = tmp_path / "errmine.toml"
    path.write_text("[build]\nworkers = 1\n\n[schedule]\n# ingets = no\ningets = '1 * * * *'\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"schedule\.ingets: no such setting; did you mean ingest\? \(line 6\)"):
        read_settings(path)
    path.write_text(
        "[[sources.github]]\nrepos = ['a/b']\n[[sources.github]]\nrepos = ['a/b']\nstat = 'all'\n", encoding="utf-8"
    )
    with pytest.raises(
        ConfigError, match=r"sources\.github\.1\.stat: no such setting; did you mean state\? \(line 5\)"
    ):
        read_settings(path)
