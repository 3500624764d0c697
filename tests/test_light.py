"""errmine-match: the same package with fewer packages of others, and everything that asks a bundle works with those."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pipeline
from pipeline import store
from pipeline.cli import distribution
from tests.golden import ROOT

FOLDER = ROOT / "deploy" / "errmine-match"
LIGHT = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: Runs commands in one process, in which none of the modules given can be imported, nor has any of the distributions.
CHILD = """
import sys
from importlib import metadata
absent, lacking, home, *commands = sys.argv[1:]
absent = set(absent.split(","))
there = metadata.version

def version(name):
    if name in lacking.split(","):
        raise metadata.PackageNotFoundError(name)
    return there(name)

metadata.version = version

class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in absent:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        return None

sys.meta_path.insert(0, Absent())
import pipeline
from pipeline.cli import application
app = application()
for command in commands:
    sys.stdin = open(home + "/error.txt")
    words = [word.replace("HOME", home) for word in command.split("|")]
    try:
        app(words, standalone_mode=False)
    except SystemExit as end:
        assert not end.code, (command, end.code)
    except ModuleNotFoundError as error:
        print("LACKS", command, error.name, file=sys.stderr)
bundle = pipeline.open_bundle(home)
assert bundle.match(open(home + "/error.txt").read()).entry_id == "triton/out-of-resources-threads"
assert bundle.search("threads") and bundle.digest("triton/out-of-resources-threads")
"""
ERROR = "triton.runtime.errors.OutOfResources: out of resource: threads, Required: 4096, Hardware limit: 1024.\n"
THREADS = "triton/out-of-resources-threads"
ASKING = [
    "match|--home|HOME", "match|--bundle|HOME/curated|--json", "search|threads|--home|HOME", "top|--home|HOME",
    f"show|{THREADS}|--home|HOME", f"explain|{THREADS}|--home|HOME", "list|--home|HOME",
    f"explain|{THREADS}|triton/out-of-resources-shared-memory|--home|HOME", "extract", "validate|HOME/curated",
    "query|FROM entries LIMIT 1|--home|HOME", "query|FROM entries LIMIT 1|--home|HOME|--format|csv",
]  # fmt: skip
#: What asks the bundle where no database lies beside it.
ALONE = [
    "match|--bundle|HOME/alone", "search|threads|--bundle|HOME/alone", "top|--bundle|HOME/alone|--limit|100",
    "list|--bundle|HOME/alone|--domain|cuda|--unanswered", f"show|{THREADS}|--bundle|HOME/alone",
    f"open|{THREADS}|--print|--bundle|HOME/alone", "query|FROM entries LIMIT 1|--bundle|HOME/alone",
]  # fmt: skip
MAKING = ["build|--home|HOME", "run|--home|HOME", "ingest|docs|--home|HOME"]


def others(requirements: list[str]) -> set[str]:
    """The top-level modules of all distributions here but those that these need, and that those need."""
    waiting = [Requirement(one) for one in requirements]
    names: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in names or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        waiting += [Requirement(one) for one in importlib.metadata.requires(name) or ()]
    owners = importlib.metadata.packages_distributions()
    return {
        module for module, own in owners.items() if not names & {re.sub(r"[-_.]+", "-", one).lower() for one in own}
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


def test_what_it_asks_for_is_what_errmine_asks_for_and_less() -> None:
    assert set(LIGHT["dependencies"]) < set(WHOLE["dependencies"])
    assert LIGHT["optional-dependencies"]["mcp"] == WHOLE["optional-dependencies"]["mcp"]
    left = {Requirement(one).name for one in set(WHOLE["dependencies"]) - set(LIGHT["dependencies"])}
    assert {"prefect", "requests", "beautifulsoup4", "sqlalchemy", "fastapi"} <= left
    assert LIGHT["scripts"] == WHOLE["scripts"]
    assert LIGHT["requires-python"] == WHOLE["requires-python"]


def test_the_wheel_holds_the_package_the_command_and_the_schemas(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = message_from_bytes(archive.read(next(one for one in names if one.endswith("/METADATA"))))
    assert (metadata["Name"], metadata["Version"]) == ("errmine-match", pipeline.__version__)
    assert {"errmine.py", "pipeline/py.typed", "pipeline/data/schemas/entry-1.0.json"} <= names
    source = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pipeline").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert source - names == set()
    assert sorted(one for one in names if one.endswith(".pyc")) == []


@pytest.mark.long
def test_everything_that_asks_works_without_what_makes_bundles(sample_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copytree(sample_home / "curated", home / "curated")
    (home / "error.txt").write_text(ERROR, encoding="utf-8")
    absent = others(LIGHT["dependencies"]) - {"pipeline"}
    assert {"prefect", "requests", "bs4", "sqlalchemy", "fastapi"} <= absent
    shutil.copytree(home / "curated", home / "alone", ignore=shutil.ignore_patterns("errmine.duckdb"))
    owners = importlib.metadata.packages_distributions()
    lacking = {own for module in absent for own in owners[module]}
    names = [",".join(sorted(one)) for one in (absent, lacking)]
    command = [sys.executable, "-c", CHILD, *names, str(home), *ASKING, *ALONE, *MAKING]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lacks = re.findall(r"^LACKS (\w+)", done.stderr, re.M)
    assert lacks == [one.partition("|")[0] for one in MAKING]
    assert done.stdout.count(THREADS) >= 12
    assert done.stderr.count("has no database") == 1  # it is made once
    (made,) = (tmp_path / "cache" / "errmine").iterdir()
    listed = "SELECT entry_id, document_count, event_count, first_seen, last_seen FROM cluster_summary ORDER BY ALL"
    whole = store.query(home / "curated" / "errmine.duckdb", listed)
    assert store.query(made, listed).rows == whole.rows


def test_a_command_that_needs_more_says_what_to_install(tmp_path: Path) -> None:
    error = ModuleNotFoundError("No module named 'prefect.flows'", name="prefect.flows")
    assert distribution.missing(error, tmp_path) is None  # a checkout: a bug, and its traceback is wanted
    (tmp_path / "errmine_match-0.1.0.dist-info").mkdir()
    told = distribution.missing(error, tmp_path)
    assert told is not None
    assert "needs prefect" in told[0]
    assert distribution.missing(ModuleNotFoundError("x", name="pipeline.gone"), tmp_path) is None
    assert distribution.clash(tmp_path) is None
    (tmp_path / "errmine-0.1.0.dist-info").mkdir()
    assert distribution.installed(tmp_path) == ("errmine", "errmine-match")
    assert distribution.missing(error, tmp_path) is None
    clash = distribution.clash(tmp_path)
    assert clash is not None
    assert "both installed" in clash[0]
