"""Deltas through the command line, applied and compared byte for byte; other forms of the bundle."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pipeline.run import Places
from tests import golden
from tests.cli import run

Homes = tuple[Path, Path]


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """(home, the bundle that it had before more pages came)."""
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("some")
    lines = (golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "issues.jsonl").write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    older = tmp_path_factory.mktemp("older") / "bundle"
    shutil.copytree(golden.make(home, source=folder), older)
    (older / "errmine.duckdb").unlink()
    assert run("import", golden.SAMPLE, "--home", home, "-q").code == 0
    assert run("build", "--home", home, "-q", "--workers", "1").code == 0
    return home, older


@pytest.fixture(scope="module")
def delta(homes: Homes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("delta") / "delta.json"
    done = run("export", "--home", homes[0], "--since", homes[1], "--to", path, "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["added"] > 5
    assert told["changed"] > 0
    return path


def test_a_delta_turns_the_older_bundle_into_the_newer_byte_for_byte(homes: Homes, delta: Path, tmp_path: Path) -> None:
    home, older = homes
    done = run("apply", delta, "--bundle", older, "--to", tmp_path / "made", "--json")
    assert done.code == 0
    assert golden.bundle_bytes(tmp_path / "made") == golden.bundle_bytes(Places.of(home).curated)


@pytest.mark.long
def test_a_bundle_is_brought_forward_in_place_and_keeps_what_is_not_of_it(
    homes: Homes, delta: Path, tmp_path: Path
) -> None:
    home, older = homes
    bundle = tmp_path / "curated"
    shutil.copytree(older, bundle)
    (bundle / "errmine.duckdb").write_bytes(b"mine")
    done = run("apply", delta, "--home", tmp_path)
    assert done.code == 0
    assert golden.bundle_bytes(bundle) == golden.bundle_bytes(Places.of(home).curated)
    assert (bundle / "errmine.duckdb").read_bytes() == b"mine"
    assert run("validate", bundle).code == 0


@pytest.mark.long
def test_the_manifest_of_the_older_bundle_is_enough(homes: Homes, delta: Path, tmp_path: Path) -> None:
    shutil.copy(homes[1] / "manifest.json", tmp_path / "manifest.json")
    again = tmp_path / "delta.json"
    done = run("export", "--home", homes[0], "--since", tmp_path / "manifest.json", "--to", again, "-q")
    assert (done.code, done.out) == (0, "")
    assert again.read_bytes() == delta.read_bytes()


@pytest.mark.long
def test_a_delta_is_smaller_than_the_bundle(homes: Homes, tmp_path: Path) -> None:
    curated = Places.of(homes[0]).curated
    path = tmp_path / "delta.json"
    assert run("export", "--home", homes[0], "--since", curated, "--to", path, "-q").code == 0
    assert json.loads(path.read_bytes())["added"] == []
    assert path.stat().st_size < (curated / "entries.jsonl").stat().st_size / 5


@pytest.mark.parametrize("path", ["../outside.json", "/tmp/outside.json", "entries/../../outside.json"])
def test_a_delta_that_writes_outside_changes_nothing(homes: Homes, delta: Path, tmp_path: Path, path: str) -> None:
    change = json.loads(delta.read_bytes())
    change["files"][path] = "{}"
    (tmp_path / "delta.json").write_text(json.dumps(change))
    bundle = tmp_path / "deep" / "bundle"
    shutil.copytree(homes[1], bundle)
    done = run("apply", tmp_path / "delta.json", "--bundle", bundle)
    assert done.code == 3
    assert golden.bundle_bytes(bundle) == golden.bundle_bytes(homes[1])
    assert sorted(one.name for one in (tmp_path / "deep").iterdir()) == ["bundle"]


def test_a_delta_for_another_bundle_is_refused_with_what_to_fetch(homes: Homes, delta: Path) -> None:
    before = golden.bundle_bytes(Places.of(homes[0]).curated)
    change = json.loads(delta.read_bytes())
    delta = delta.with_name("another.json")
    delta.write_text(json.dumps({**change, "to_bundle": "0" * 64}))
    done = run("apply", delta, "--home", homes[0])
    assert done.code == 3
    assert "Fetch the delta" in done.err
    assert golden.bundle_bytes(Places.of(homes[0]).curated) == before


@pytest.mark.parametrize("body", ["", "{}", "[]", "not json"])
def test_a_file_that_is_no_delta_is_refused_with_a_hint(homes: Homes, tmp_path: Path, body: str) -> None:
    (tmp_path / "delta.json").write_text(body)
    done = run("apply", tmp_path / "delta.json", "--bundle", homes[1])
    assert done.code == 3
    assert "errmine export --since" in done.err


def test_since_what_is_no_bundle_is_refused(homes: Homes, tmp_path: Path) -> None:
    assert run("export", "--home", homes[0], "--since", tmp_path / "none").code == 2
    (tmp_path / "other.json").write_text("{}")
    assert run("export", "--home", homes[0], "--since", tmp_path / "other.json").code == 2
    assert run("export", "--home", homes[0], "--since", tmp_path).code == 3
    assert run("export", "--home", homes[0], "--to", tmp_path / "x").code == 2


@pytest.mark.parametrize("form", ["markdown", "errorcanon"])
def test_the_entries_are_written_in_other_forms(homes: Homes, delta: Path, tmp_path: Path, form: str) -> None:
    assert delta.exists()
    done = run("export", "--home", homes[0], "--form", form, "--to", tmp_path / form, "--json")
    told = json.loads(done.out)
    written = [path for path in (tmp_path / form).rglob("*") if path.is_file()]
    manifest = json.loads((Places.of(homes[0]).curated / "manifest.json").read_bytes())
    assert told["files"] == len(written) >= manifest["counts"]["entries"]
    again = run("export", "--home", homes[0], "--form", form, "--to", tmp_path / form)
    assert again.code == 2
    assert "not empty" in again.err


def test_an_unknown_form_is_a_usage_error(homes: Homes, tmp_path: Path) -> None:
    assert run("export", "--home", homes[0], "--form", "word", "--to", tmp_path / "word").code == 2
