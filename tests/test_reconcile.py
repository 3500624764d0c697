"""`errmine reconcile` names everything that is wrong, with a status of its own, and makes anew what can be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import run
from pipeline.run import Places
from pipeline.run.check import damage
from tests import cli, golden
from tests.rings import first_alone

THREADS = (golden.SAMPLE / "issues.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home, built and exported."""
    home = tmp_path_factory.mktemp("made") / "home"
    home.mkdir()
    (home / "some.jsonl").write_text("\n".join(THREADS[:8]) + "\n", encoding="utf-8")
    run.import_files(home / "raw", [home / "some.jsonl"])
    for flow in ("build", "export"):
        with run.recorded(home, flow) as record:
            places = Places.of(home)
            record.summary = (
                run.export(places) if flow == "export" else run.build(places, workers=1, partition_documents=9)
            )
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home"))


def flip(path: Path, place: int | None = None) -> None:
    body = bytearray(path.read_bytes())
    body[len(body) // 2 if place is None else place] ^= 1
    path.write_bytes(body)


def first(folder: Path, pattern: str) -> Path:
    return min(folder.glob(pattern))


#: What is harmed -> who harms it, and whether it can be made anew.
HARMS: dict[str, tuple[str, Callable[[Path], object], bool]] = {
    "raw-header": ("raw/segments/*.zip", lambda path: flip(path, 5), True),
    "raw-page": ("raw/segments/*.zip", lambda path: flip(path, 400), False),
    "raw-gone": ("raw/segments/*.zip", Path.unlink, False),
    "raw-index-line": ("raw/index.jsonl", lambda path: flip(path, 30), True),
    "raw-index-cut": ("raw/index.jsonl", lambda path: path.write_bytes(path.read_bytes()[:-9]), True),
    "shard": (".errmine/shards/events/*.parquet", flip, True),
    "shard-gone": (".errmine/shards/claims/*.parquet", Path.unlink, True),
    "database": ("curated/errmine.duckdb", lambda path: path.write_bytes(path.read_bytes()[:5000]), True),
    "database-gone": ("curated/errmine.duckdb", Path.unlink, True),
    "manifest": ("curated/manifest.json", lambda path: path.write_bytes(b"{"), True),
    "manifest-flipped": ("curated/manifest.json", flip, True),
    "manifest-gone": ("curated/manifest.json", Path.unlink, True),
    "page-gone": ("curated/entries/*/*.json", Path.unlink, True),
    "page": ("curated/entries/*/*.json", flip, True),
    "parquet": ("curated/entries.parquet", flip, True),
    "lines": ("curated/entries.jsonl", flip, True),
    "index": ("curated/index.json", flip, True),
    "registry": ("curated/registry.json", flip, True),
    "journal": (".errmine/journal.jsonl", flip, True),
    "runs": (".errmine/runs.jsonl", flip, True),
}  # fmt: skip


def test_a_sound_home_has_nothing_wrong(home: Path) -> None:
    done = cli.run("reconcile", "--home", home, "--json")
    assert (done.code, json.loads(done.out)["wrong"]) == (0, [])


def test_what_waits_for_a_build_is_not_wrong(tmp_path: Path) -> None:
    cli.run("import", golden.SAMPLE / "issues.jsonl", "--home", tmp_path)
    done = cli.run("reconcile", "--home", tmp_path, "--json")
    told = json.loads(done.out)
    assert (done.code, told["wrong"], told["documents_not_built"] > 0) == (0, [], True)


@pytest.mark.parametrize("name", first_alone(HARMS))
def test_everything_that_is_wrong_is_named(name: str, home: Path) -> None:
    pattern, harm, _ = HARMS[name]
    harmed = first(home, pattern)
    harm(harmed)
    places = [one.place for one in damage.found(Places.of(home))]
    assert str(harmed.relative_to(home)) in places or str(harmed.with_suffix("").name) in str(places)


def test_the_command_ends_with_status_4_and_the_run_is_called_damaged(home: Path) -> None:
    first(home, "raw/segments/*.zip").unlink()
    flip(home / "curated" / "entries.parquet")
    done = cli.run("reconcile", "--home", home, "--json")
    told = json.loads(done.out)
    assert done.code == 4
    assert {"curated/entries.parquet"} < {row["place"] for row in told["wrong"]}
    assert (told["database"], told["bundle"]) == ("readable", "damaged")
    assert all(row["cure"] for row in told["wrong"])
    assert "wrong" in done.err
    assert "damaged" in cli.run("status", "--home", home).out
    assert "entries.parquet" in cli.run("reconcile", "--home", home).out


#: All that can be made anew at once; of the registry one of its three places has to be there.
CURABLE = tuple(name for name, (_, _, can_be) in HARMS.items() if can_be and name not in {"registry", "database"})


@pytest.mark.parametrize("names", first_alone([(("parquet", "page-gone"),), (CURABLE,)]), ids=["of the bundle", "all"])
def test_repair_makes_anew_what_can_be(home: Path, names: tuple[str, ...]) -> None:
    whole = golden.bundle_bytes(home / "curated")
    for pattern, harm, _ in map(HARMS.__getitem__, names):
        harm(first(home, pattern)) if list(home.glob(pattern)) else None
    assert damage.found(Places.of(home))
    done = cli.run("reconcile", "--home", home, "--repair", "--json")
    assert (done.code, json.loads(done.out)["wrong"]) == (0, []), done.err
    assert golden.bundle_bytes(home / "curated") == whole


@pytest.mark.long
def test_repair_names_what_it_cannot_make_anew(home: Path) -> None:
    segment = first(home, "raw/segments/*.zip")
    body = segment.read_bytes()
    segment.unlink()
    flip(home / "curated" / "entries.parquet")
    done = cli.run("reconcile", "--home", home, "--repair", "--json")
    places = {row["place"] for row in json.loads(done.out)["wrong"]}
    assert done.code == 4
    assert f"raw/segments/{segment.name}" in places
    assert "curated/entries.parquet" not in places
    segment.write_bytes(body)
    assert cli.run("reconcile", "--home", home).code == 0


def test_repair_names_what_stands_in_its_way(home: Path) -> None:
    (home / "curated" / "registry.json").write_bytes(b"{")
    (home / "curated" / "manifest.json").unlink()
    (home / "curated" / "errmine.duckdb").unlink()
    (home / ".errmine" / "published.json").unlink()
    done = cli.run("reconcile", "--home", home, "--repair")
    assert done.code == 4
    assert "registry.json" in done.err
    assert "curated/errmine.duckdb" in done.out
