"""What is installed: the locks give what pyproject.toml asks for, above known holes; nothing is imported unasked."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests import locked
from tests.locked import ASKED, FILES, ROOT, Locked

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
GROUPS = PYPROJECT["dependency-groups"]
#: The releases that the lock is for, each as the environment of a Linux machine.
ENVIRONMENTS = [
    {**default_environment(), "python_version": version, "python_full_version": f"{version}.9", "sys_platform": "linux"}
    for version in ("3.11", "3.12", "3.13")
]
#: Asked for without being imported: caps of what Prefect asks for, and what duckdb forgot to ask for.
NOT_IMPORTED = {"fastapi", "sqlalchemy", "pytz"}
#: Imported where an extra is wanted: the module, and the extra that has it.
OF_EXTRAS = {
    "anyio": "mcp",
    "mcp": "mcp",
    "starlette": "mcp",
    "uvicorn": "mcp",
    "distributed": "dask",
    "prefect_dask": "dask",
}


def asked_for(name: str) -> list[Requirement]:
    """What pyproject.toml asks for in the lock file of that name."""
    asked = {
        "browser": GROUPS["browser"],
        "notebook": GROUPS["notebook"],
        "build": GROUPS["build"],
        "dev": [
            *PROJECT["dependencies"],
            *(each for name in ("dev", "dask", "mcp") for each in EXTRAS[name]),
            *GROUPS["build"],
        ],
        "dask": [*PROJECT["dependencies"], *EXTRAS["dask"]],
        "runtime": PROJECT["dependencies"],
        "tools": GROUPS["tools"],
        "old-duckdb": ["duckdb==1.0.0"],
    }[name]
    return [requirement for text in asked if (requirement := Requirement(text)).name != ASKED]


def disagreements(asked: Iterable[Requirement], rows: list[Locked]) -> Iterator[str]:
    """Where a lock does not give what is asked for, once for each release of Python."""
    for requirement in asked:
        name = canonicalize_name(requirement.name)
        for environment in ENVIRONMENTS:
            found = [row.version for row in rows if row.name == name and row.holds(environment)]
            if len(found) != 1 or not requirement.specifier.contains(found[0]):
                yield f"{requirement} of pyproject.toml is locked as {found}, Python {environment['python_version']}"


def unneeded(asked: Iterable[Requirement], rows: list[Locked]) -> set[str]:
    """What is locked though no chain of who needs it leads to what pyproject.toml asks for."""
    reached = {canonicalize_name(requirement.name) for requirement in asked}
    wrong = {row.name for row in rows if (ASKED in row.via) != (row.name in reached)}
    while more := {row.name for row in rows if row.via & reached} - reached:
        reached |= more
    return wrong | {row.name for row in rows} - reached


@pytest.mark.parametrize("name", FILES)
def test_the_lock_gives_what_pyproject_asks_for_and_nothing_that_nobody_needs(name: str) -> None:
    asked, rows = asked_for(name), locked.rows(name)
    assert rows
    assert list(disagreements(asked, rows)) == [], "run `make lock`"
    assert unneeded(asked, rows) == set(), "run `make lock`"


def test_a_lock_that_is_behind_is_found_out() -> None:
    asked, rows = asked_for("runtime"), locked.rows("runtime")
    newer, another = Requirement("requests>=99"), Requirement("attrs-of-nobody>=1")
    assert len(list(disagreements([newer], rows))) == len(ENVIRONMENTS)
    assert len(list(disagreements([another], rows))) == len(ENVIRONMENTS)
    without = [requirement for requirement in asked if requirement.name not in {"prefect", "typer"}]
    assert {"prefect", "alembic", "mako", "typer"} <= unneeded(without, rows)
    stray = Locked(canonicalize_name("left-pad"), "1.0", None, (), frozenset({"prefect-of-old"}))
    assert unneeded(asked, [*rows, stray]) == {"left-pad"}


def test_what_is_installed_here_needs_nothing_that_is_not_locked() -> None:
    rows = {row.name: row for row in locked.rows("dev") if row.holds(default_environment() | {"extra": ""})}
    compared = 0
    for row in rows.values():
        try:
            told = metadata.distribution(row.name)
        except metadata.PackageNotFoundError:
            continue
        if told.version != row.version:
            continue
        for requirement in map(Requirement, told.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                name = canonicalize_name(requirement.name)
                assert name in rows, f"{row.name} needs {requirement}, which is not locked"
                assert requirement.specifier.contains(rows[name].version, prereleases=True), str(requirement)
                compared += 1
    if compared <= 200:
        pytest.skip("installed from ranges, not from the lock")


@pytest.mark.parametrize("name", FILES)
def test_every_row_has_hashes(name: str) -> None:
    for row in locked.rows(name):
        assert row.hashes, row.name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in row.hashes), row.name


def test_no_lock_file_is_left_out() -> None:
    assert {path.stem for path in locked.FOLDER.glob("*.txt")} - {"floors"} == set(FILES)


def test_a_row_without_a_version_is_refused() -> None:
    with pytest.raises(AssertionError, match="not pinned"):
        list(locked.read("requests>=2.33 \\\n    --hash=sha256:00\n    # via errmine (pyproject.toml)\n"))


def test_the_image_the_suite_and_the_builder_have_the_same_versions() -> None:
    dev = {(row.name, row.version) for row in locked.rows("dev")}
    assert {(row.name, row.version) for row in locked.rows("runtime")} <= dev
    assert {(row.name, row.version) for row in locked.rows("dask")} <= dev
    assert {(row.name, row.version) for row in locked.rows("build")} <= dev
    assert set(PYPROJECT["build-system"]["requires"]) <= set(GROUPS["build"])


def test_floors_name_an_advisory_and_are_held_by_the_locks_and_by_pyproject() -> None:
    floors = locked.floors()
    rows = [row for name in ("dev", "runtime", "tools") for row in locked.rows(name)]
    for name, (floor, why) in floors.items():
        assert re.search(r"\b(CVE-\d{4}-\d{4,}|GHSA(-[0-9a-z]{4}){3})\b", why), name
        versions = [row.version for row in rows if row.name == name]
        assert versions, f"{name} is not locked"
        assert all(floor.specifier.contains(version) for version in versions), name
    for requirement in [*asked_for("runtime"), *asked_for("dev")]:
        name = canonicalize_name(requirement.name)
        if name in floors:
            (lowest,) = (Version(each.version) for each in requirement.specifier if each.operator == ">=")
            assert floors[name][0].specifier.contains(lowest), f"{requirement} admits what {floors[name][0]} does not"


def imported(folder: Path) -> set[str]:
    """The modules from elsewhere that the files under a folder import, by their first name."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        if "node_modules" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
    of_checkers = {"_typeshed"}  # there while types are checked only
    ours = {"pipeline", "tests", "benchmarks", *(path.stem for path in (ROOT / "benchmarks").glob("*.py"))}
    return found - sys.stdlib_module_names - of_checkers - ours


def distributions(modules: set[str]) -> dict[str, str]:
    """Module to the distribution that it comes from, as installed here."""
    providers = metadata.packages_distributions()
    return {module: canonicalize_name(providers.get(module, [module])[0]) for module in modules}


def test_every_import_of_the_package_is_declared_and_every_dependency_imported() -> None:
    declared = {canonicalize_name(each.name) for each in asked_for("runtime")}
    found = distributions(imported(ROOT / "pipeline"))
    of_extras = {module: found.pop(module) for module in OF_EXTRAS}
    assert set(found.values()) - declared == set(), "imported, and not in dependencies"
    assert declared - set(found.values()) == NOT_IMPORTED, "in dependencies, and not imported"
    for module, extra in OF_EXTRAS.items():
        assert of_extras[module] in {canonicalize_name(Requirement(each).name) for each in EXTRAS[extra]}


def test_every_import_of_the_tests_is_declared() -> None:
    declared = {canonicalize_name(each.name) for name in ("dev", "notebook") for each in asked_for(name)}
    assert set(distributions(imported(ROOT / "tests")).values()) - declared == set()


def test_what_installs_takes_locked_files_only() -> None:
    make = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    assert "--require-hashes" in re.findall(r"^LOCKED := (.*)$", make, re.MULTILINE)[0]
    assert "--no-index" in re.findall(r"^ITSELF := (.*)$", make, re.MULTILINE)[0]
    installs = re.findall(r"^\t.*?\bpip\b.*?\b(?:install|wheel) .*$", make, re.MULTILINE)
    assert len(installs) >= 6
    assert [line for line in installs if "$(LOCKED)" not in line and "$(ITSELF)" not in line] == []
    assert re.search(r"^\$\(READY\): .*requirements/dev\.txt", make, re.MULTILINE)
    assert "npm ci " in make
    docker = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [step for step in docker.split("&&") if re.search(r"\bpip\b.*\b(install|wheel)\b", step)]
    assert len(steps) == 4
    assert [step for step in steps if "--require-hashes" not in step and "--no-index" not in step] == []


def test_npm_takes_the_packages_that_are_locked_and_runs_none_of_their_scripts() -> None:
    folder = ROOT / "tests" / "contract"
    asked = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    lock: dict[str, Any] = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    assert lock["packages"].pop("")["dependencies"] == asked["dependencies"]
    for name, version in asked["dependencies"].items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    for name, package in lock["packages"].items():
        assert package["integrity"].startswith("sha512-"), name
        assert not package.get("hasInstallScript"), name
