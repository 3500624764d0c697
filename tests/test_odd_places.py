"""Homes with odd paths, and odd things where a kept file should be: they work, or are refused with a word at once."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from pipeline import config, export, store, validate
from pipeline.records import chained, disk, kept
from pipeline.records.errors import ConfigError, ExportError, HomeBusy, StoreError
from pipeline.run.home import locking
from tests import cli, golden
from tests.each import each


@each("name", ["a?b", "?", "a\\b", os.fsdecode(b"u\xff"), "a\0b"])
def test_a_home_that_no_database_can_be_in_is_refused_at_once(name: str) -> None:
    with pytest.raises(ConfigError, match="no home can be there: its path has"):
        config.read_settings(home=Path("/nowhere") / name, environ={})
    with pytest.raises(StoreError, match="its path has"):
        store.query(Path("/nowhere") / name / "errmine.duckdb", "SELECT 1")


def test_an_import_into_such_a_home_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "q?").mkdir()
    done = cli.run("import", "--home", tmp_path / "q?", golden.ROOT / "raw" / "sample" / "issues.jsonl")
    assert (done.code, list((tmp_path / "q?").iterdir())) == (2, [])
    assert "a question mark" in done.err
    (tmp_path / "link").symlink_to("q?")
    assert cli.run("list", "--home", tmp_path / "link").code == 2


@pytest.mark.long
def test_a_folder_of_a_home_is_neither_a_pattern_nor_a_column(sample_home: Path, tmp_path: Path) -> None:
    """DuckDB reads `a*b` as a pattern that `aXb` fits too, `a[b]` as `ab`, and `year=2026` as a column."""
    told = []
    for name in ("a*b[c] document_id=7", "aXb[c] document_id=7", "a*bc document_id=7"):
        golden.copied(sample_home, tmp_path / name)
        shutil.rmtree(tmp_path / name / ".errmine" / "state", ignore_errors=True)
        (tmp_path / name / "curated" / "errmine.duckdb").unlink()
    for name in ("a*b[c] document_id=7",):
        done = cli.run("build", "--home", tmp_path / name)
        assert done.code == 0, done.err
        for home in (tmp_path / name, sample_home):
            count = "SELECT count(*), count(DISTINCT document_id), (SELECT count(*) FROM events) FROM documents"
            told.append(store.query(home / "curated" / "errmine.duckdb", count).rows)
    assert told[0] == told[1]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [pipe, device, Path.mkdir])
def test_what_is_no_file_is_not_read_as_one(make: object, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    make(path)  # type: ignore[operator]
    with pytest.raises(OSError, match=r"Is a (pipe|device|directory)"):
        disk.body(path)
    with pytest.raises(kept.Damaged):
        kept.read(path)
    with pytest.raises(OSError, match=r"Is a "):
        chained.read(path)
    with pytest.raises(OSError, match=r"Is a "):
        chained.extend(path, [{"a": 1}])
    (tmp_path / ".errmine").mkdir()
    make(tmp_path / ".errmine" / "lock")  # type: ignore[operator]
    with (
        pytest.raises(HomeBusy, match="cannot be written: Is a"),
        locking.sole(tmp_path, locking.Holder("r", "build", 1, "2026-01-01T00:00:00+00:00")),
    ):
        pytest.fail("it must not get in")


def test_a_folder_in_the_place_of_a_file_is_named_and_kept(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "somebody's").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="a folder is where a file of errmine's should be") as caught:
        disk.clear(tmp_path / "f")
    assert "Move the folder away" in caught.value.hint()
    assert (tmp_path / "f" / "somebody's").exists()
    for make in (pipe, device):
        make(tmp_path / "g")
        disk.clear(tmp_path / "g")
        assert not os.path.lexists(tmp_path / "g")
    disk.clear(tmp_path / "g")


@pytest.mark.long
def test_a_build_names_the_folder_and_goes_on_without_it(sample_home: Path, tmp_path: Path) -> None:
    home = golden.copied(sample_home, tmp_path / "home")
    current = home / ".errmine" / "current.json"
    shard = min((home / ".errmine" / "shards" / "events").glob("*.parquet"))
    for path in (current, shard):
        path.unlink(missing_ok=True)
        path.mkdir()
        done = cli.run("build", "--home", home)
        assert done.code == 3, done.err
        assert f"{path}: a folder is where" in done.err.replace("\n", "")
        path.rmdir()
    pipe(current)
    assert cli.run("build", "--home", home).code == 0


@each("name", ["manifest.json", "entries.jsonl", "index.json", "registry.json", "llms.txt", "schemas/entry-1.0.json"])
def test_a_pipe_in_a_bundle_is_named_and_nobody_waits_for_it(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(shutil.copytree(golden.GOLDEN, Path(folder) / "bundle"))
        (bundle / name).unlink()
        os.mkfifo(bundle / name)
        _, problems = validate.check_bundle(bundle, lambda entry: [])
    assert any(name in problem.place and "Is a pipe" in problem.message for problem in problems)


def test_what_never_ends_is_not_read_to_its_end(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="Is a device"):
        export.read_delta(Path("/dev/zero"))
    done = cli.run("match", "--bundle", golden.GOLDEN, "/dev/zero")
    assert (done.code, "Is a device, which never ends" in done.err) == (2, True)
    assert cli.run("match", "--bundle", golden.GOLDEN, os.devnull).code == 1
    assert cli.run("query", "--home", tmp_path, "-", stdin="x" * 1_000_001).code == 2


def test_settings_and_overrides_that_never_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text('[grouping]\noverrides = "/dev/zero"\n', encoding="utf-8")
    assert cli.run("build", "--home", tmp_path).code in {2, 3}
    for path in (Path("/dev/zero"), tmp_path):
        with pytest.raises(ConfigError, match=r"cannot be read: .*Is a"):
            config.read_settings(path, environ={})
    assert "Is a device" in cli.run("validate", "/dev/zero").out


@each(
    "text, told",
    [
        ("x = " + "[" * 20_000, "brackets within brackets"),
        ("[build]\nseconds = " + "9" * 5_000, "too many digits"),
        ("[build]\nworkers = true", "build.workers"),
        ('[build]\nworkers = "2"', "build.workers"),
        ("[build]\nmemory_mib = 99999999999999999999", "build.memory_mib"),
        ("[build]\nseconds = 1e-9", "build.seconds"),
        ("[build]\nseconds = true", "build.seconds"),
    ],
)
def test_settings_beyond_what_can_be_read_are_named(text: str, told: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "errmine.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=told):
            config.read_settings(path, environ={})


def test_a_byte_order_mark_before_settings_is_none_of_them(tmp_path: Path) -> None:
    path = tmp_path / "errmine.toml"
    path.write_text("\ufeff[build]\nworkers = 3\n", encoding="utf-8")
    assert config.read_settings(path, environ={}).build.workers == 3
