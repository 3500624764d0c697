"""A build is known to change nothing only where all that it reads and all that it left is as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from pipeline import packs, store
from pipeline import run as running
from pipeline.config import read_settings
from pipeline.run import (
    Places,
    build,
    configured,
    import_files,
    is_built,
    is_exported,
    note_built,
    note_exported,
    publish,
)
from pipeline.run.build.building import planned
from pipeline.run.home import translations
from tests import cli, golden
from tests.rings import one_in


@pytest.fixture
def home(sample_home: Path, tmp_path: Path) -> Path:
    """A home that a schedule has just built and exported."""
    made = golden.copied(sample_home, tmp_path / "home")
    note_built(Places.of(made), configured.seen(read_settings(home=made)))
    note_exported(Places.of(made))
    return made


def verdict(home: Path) -> tuple[bool, bool]:
    places = Places.of(home)
    return is_built(places, configured.seen(read_settings(home=home))), is_exported(places)


def _emptied(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM entries")


@pytest.mark.parametrize("name", ["sys.version", "duckdb.__version__"])
def test_another_python_or_another_duckdb_is_seen(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(name, "0.1")
    assert verdict(home) == (False, True)


@pytest.mark.long
def test_what_a_schedule_publishes_anew_is_exported_anew(home: Path) -> None:
    places = Places.of(home)
    shown = "SELECT signature, signature_zh FROM entries ORDER BY signature"
    signature, before = store.query(places.database, shown).rows[0]
    translations.keep(home, [translations.Translated("signature", signature, "程序停止了。", ())])
    publish(places, planned(places, partition_documents=500).partitions)  # as the tasks of a flow do, without `build`
    note_built(places, configured.seen(read_settings(home=home)))
    assert store.query(places.database, shown).rows[0][1] != before
    assert verdict(home) == (True, False)


def _first(home: Path, pattern: str) -> Path:
    return sorted(home.glob(pattern))[0]


def _grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def test_nothing_came(home: Path) -> None:
    assert verdict(home) == (True, True)


@pytest.mark.parametrize(
    ("change", "left"),
    one_in(
        3,
        [
            (lambda home: _grow(_first(home, "raw/segments/*")), (False, True)),
            (lambda home: _grow(home / "raw" / "index.jsonl"), (False, True)),
            (
                lambda home: (home / "raw" / "forgotten").mkdir() or _grow_new(home / "raw" / "forgotten" / "x"),
                (False, True),
            ),
            (lambda home: (home / "overrides.toml").write_text(""), (False, True)),
            (lambda home: (home / "errmine.toml").write_text("[publish]\nmin_documents = 2\n"), (False, True)),
            (lambda home: _first(home, ".errmine/shards/**/*.parquet").unlink(), (False, True)),
            (lambda home: (home / ".errmine" / "journal.jsonl").unlink(), (False, True)),
            (lambda home: build(Places.of(home), workers=1, partition_documents=500), (False, False)),
            (lambda home: (home / "curated" / "errmine.duckdb").unlink(), (False, False)),
            (lambda home: (home / "curated" / "errmine.duckdb").write_bytes(b"none"), (False, False)),
            (lambda home: _emptied(home / "curated" / "errmine.duckdb"), (False, True)),
            (lambda home: _grow(home / "curated" / "errmine.duckdb"), (False, True)),
            (lambda home: (home / ".errmine" / "state" / "database.json").unlink(), (False, True)),
            (lambda home: _grow(home / "curated" / "manifest.json"), (True, False)),
            (lambda home: (home / "curated" / "entries.jsonl").unlink(), (True, False)),
            (lambda home: (home / ".errmine" / "published.json").unlink(), (True, False)),
            (lambda home: (home / ".errmine" / "current.json").write_text('{"read": 1'), (False, False)),
        ],
    ),
)
def test_whatever_changed_is_seen(home: Path, change: Callable[[Path], object], left: tuple[bool, bool]) -> None:
    change(home)
    assert verdict(home) == left


def test_what_tells_pages_apart_is_nothing_that_a_build_reads(home: Path) -> None:
    import_files(home / "raw", [golden.SAMPLE])
    assert list((home / "raw" / "identities").iterdir())
    assert verdict(home) == (True, True)


def test_a_schedule_is_nothing_that_a_build_reads(home: Path) -> None:
    (home / "errmine.toml").write_text("[schedule]\nwait_seconds = 7\n")
    assert verdict(home) == (True, True)


def test_a_pack_that_comes_is_seen(home: Path, tmp_path: Path) -> None:
    (tmp_path / "kiln").mkdir()
    (tmp_path / "kiln" / "pack.toml").write_text('title = "Kiln"\nversion = "1"\nsummary = "A kiln."\nname = "kiln"\n')
    row = 'name = "cold"\npattern = "kiln is cold"\nexamples = ["kiln is cold"]\nlookalikes = ["cold"]\n'
    (tmp_path / "kiln" / "hints.toml").write_text(f"[[row]]\n{row}")
    with packs.using(tmp_path / "kiln"):
        assert verdict(home) == (False, True)
    assert verdict(home) == (True, True)


def test_where_an_endpoint_may_be_asked_again_nothing_is_known(home: Path) -> None:
    (home / "errmine.toml").write_text('[enrich]\nmodel = "m"\n')
    assert verdict(home) == (False, True)


def _grow_new(path: Path) -> None:
    path.write_bytes(b"")


def test_a_build_by_hand_makes_nothing_where_nothing_came(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".errmine" / "current.json").unlink()
    made: list[object] = []
    real = running.build
    monkeypatch.setattr(running, "build", lambda *given, **told: made.append(given) or real(*given, **told))
    assert cli.run("build", "--home", home, "--workers", "1").code == 0
    assert len(made) == 1
    done = cli.run("build", "--home", home)
    assert (done.code, len(made)) == (0, 1)
    assert "nothing came since the last one: the database stands" in done.out
    assert json.loads(cli.run("build", "--home", home, "--json").out)["unchanged"]["build"]


@pytest.mark.long
def test_a_build_by_hand_makes_all_where_somebody_asks_for_it_or_a_file_is_another(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    real = running.build
    monkeypatch.setattr(running, "build", lambda *given, **told: made.append(given) or real(*given, **told))
    assert cli.run("build", "--home", home, "--accept-loss", "--workers", "1").code == 0
    assert len(made) == 1
    _grow(_first(home, ".errmine/shards/**/*.parquet"))
    assert cli.run("build", "--home", home, "--workers", "1").code == 0
    assert len(made) == 2


@pytest.mark.long
def test_a_home_with_nothing_in_it_is_told_of_every_time(tmp_path: Path) -> None:
    assert [cli.run("build", "--home", tmp_path).code for _ in range(2)] == [1, 1]


@pytest.mark.long
def test_who_only_asks_imports_nothing_of_what_makes_a_build(home: Path) -> None:
    asked = """
import sys
from pathlib import Path
from pipeline import run

places = run.Places.of(Path(sys.argv[1]))
assert run.is_exported(places) and not run.is_built(places, None)
assert run.build.__module__ == "pipeline.run", "the folder of that name has not taken the function's place"
rooms = "providers raw extract normalise cluster distil translate validate export".split()
assert not {f"pipeline.{room}" for room in rooms} & sys.modules.keys(), sorted(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", asked, str(home)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
