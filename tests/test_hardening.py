"""What runs errmine on a server gives away nothing: what an image holds, and what a container or a unit may do."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from docker.utils import exclude_paths

from tests.each import each

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
DIGEST = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
#: What lies about in a checkout and is nobody's business: none of it is in the repository.
STRAYS = (
    ".env", ".env.local", "deploy/.env", "pipeline/.env", "pipeline/data/.env.production", "requirements/.netrc",
    ".git/config", ".git/objects/00/11", ".netrc", ".pypirc", ".npmrc", ".ssh/id_ed25519", "id_rsa", "secrets.env",
    "deploy/secrets.env", "errmine.toml", "overrides.toml", "home/raw/segments/1.zst", "raw/segments/1.zst",
    "raw/log/1", "raw/forgotten/1", "raw/sample-of-mine/1.json", "curated/errmine.duckdb",
    "curated/sample/errmine.duckdb", ".errmine/prefect/prefect.db", ".cache/duckdb-1.0.0/duckdb.so", ".venv/bin/python",
    "dist/errmine.whl", "tests/contract/node_modules/x/index.js", "pipeline/__pycache__/x.cpython-312.pyc",
    "pipeline/x.pyc", ".hypothesis/examples/1", "notes.md", "dump.sql", "pipeline/.vscode/settings.json",
)  # fmt: skip


def context(root: Path) -> set[str]:
    """The files that `COPY . .` takes from there, by the rules of its .dockerignore as Docker reads them."""
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line.strip() and not line.startswith("#")]
    taken = {path for path in exclude_paths(str(root), patterns) if (root / path).is_file()}
    return taken - {".dockerignore"}  # sent to the daemon for its rules, not copied


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the image is built of, with everything beside it that a checkout in use has."""
    root = tmp_path_factory.mktemp("checkout")
    for name in ("pipeline", "requirements", "raw/sample", "schemas", "deploy"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".dockerignore", "LICENSE", "README.md", "pyproject.toml", "prefect.yaml", "Makefile"):
        shutil.copyfile(ROOT / name, root / name)
    for stray in STRAYS:
        (root / stray).parent.mkdir(parents=True, exist_ok=True)
        (root / stray).write_text("TOKEN=1\n", encoding="utf-8")
    return root


def test_no_stray_file_enters_the_image(checkout: Path) -> None:
    assert context(checkout) & set(STRAYS) == set()


def test_the_image_is_built_of_what_the_wheel_needs_and_of_nothing_else(checkout: Path) -> None:
    taken = context(checkout)
    assert {path.partition("/")[0] for path in taken} == {
        "LICENSE", "README.md", "deploy", "pipeline", "prefect.yaml", "pyproject.toml", "raw", "requirements",
        "schemas",
    }  # fmt: skip
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    wheel = hatch["build"]["targets"]["wheel"]
    wanted = [*wheel["packages"], *wheel["force-include"]]
    assert [name for name in wanted if not any(f"{path}/".startswith(f"{name}/") for path in taken)] == []
    assert {path for path in taken if path.startswith("deploy")} == {"deploy/zombie-runs.yaml"}
    assert {path for path in taken if path.startswith("raw")} == {
        str(path.relative_to(ROOT)) for path in (ROOT / "raw" / "sample").rglob("*") if path.is_file()
    }
    assert {path for path in taken if path.startswith("pipeline")} == {
        str(path.relative_to(checkout)) for path in (checkout / "pipeline").rglob("*") if path.is_file()
    } - set(STRAYS)


def test_no_other_ignore_file_wins_over_it() -> None:
    assert list(DEPLOY.rglob("*ignore")) == []


def stages() -> list[str]:
    """The base image of every stage of the Dockerfile, arguments put in."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    arguments = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    return [arguments.get(name.strip("${}"), name) for name in re.findall(r"^FROM (\S+)", text, re.MULTILINE)]


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    return dict(yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8")))


#: The cluster that runs the sample; its services are as bound as the others.
CLUSTER = "compose-dask.yaml"


def test_every_image_has_a_digest_or_is_built_here() -> None:
    assert len(stages()) == 2
    assert all(DIGEST.fullmatch(stage) for stage in stages())
    built = {"context": "..", "dockerfile": "deploy/Dockerfile"}
    for name, service in compose()["services"].items():
        if "image" in service:
            assert DIGEST.fullmatch(service["image"]), name
        else:
            assert service["build"] == built, name
    for name, service in compose(CLUSTER)["services"].items():
        assert service["build"] == {**built, "args": {"REQUIREMENTS": "dask"}}, name


def test_the_image_ends_as_a_user_without_rights_who_owns_its_data_and_nothing_else() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert text.rstrip().splitlines()[-1] == "USER 10001:10001"
    last = text[text.rindex("FROM ") :]
    assert re.findall(r"chown (?:-R )?\S+ (\S+)", last) == ["/home/errmine/data"]
    assert not re.search(r"^(ADD|COPY \. )", last, re.MULTILINE)
    assert not re.search(r"^(ARG|ENV) .*(TOKEN|KEY|PASSWORD)", text, re.MULTILINE)


@each(
    "name, service", [*sorted(compose()["services"].items()), *sorted(compose("compose-dask.yaml")["services"].items())]
)
def test_every_service_is_hardened(name: str, service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["pids_limit"] > 0
    assert service["mem_limit"]
    assert all(re.search(r":size=\d+[mg]$", mount) for mount in service["tmpfs"])
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"]), "not as root"
    assert {"privileged", "network_mode", "pid", "ipc", "devices", "extra_hosts"} & set(service) == set()
    assert not any("docker.sock" in mount or mount.startswith("/") for mount in service.get("volumes", []))


def test_the_database_and_the_api_are_reached_from_inside_only() -> None:
    told = compose()
    internal = {name for name, network in told["networks"].items() if network and network.get("internal")}
    services = told["services"]
    assert set(services["postgres"]["networks"]) <= internal
    assert set(services["postgres"]["networks"]) & set(services["worker"]["networks"]) == set()
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert set(published) == {"server"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)
    shared = [set(service["networks"]) - internal for service in services.values()]
    assert all(not one & other for index, one in enumerate(shared) for other in shared[:index])


def test_no_page_of_another_site_may_ask_prefect() -> None:
    name = "PREFECT_SERVER_CORS_ALLOWED_ORIGINS"
    (unit,) = re.findall(rf"^{name}=(.+)$", (DEPLOY / "systemd" / "prefect.env").read_text(), re.MULTILINE)
    for origins in (unit, compose()["services"]["server"]["environment"][name]):
        assert all(re.fullmatch(r"http://(127\.0\.0\.1|localhost):4200", origin) for origin in origins.split(","))


#: What a unit has to say, and what systemd must not be told.
RULES = {
    "NoNewPrivileges": "true", "CapabilityBoundingSet": "", "ProtectSystem": "strict", "ProtectHome": "true",
    "PrivateTmp": "true", "PrivateDevices": "true", "ProtectKernelModules": "true", "ProtectKernelTunables": "true",
    "ProtectKernelLogs": "true", "ProtectControlGroups": "true", "ProtectClock": "true", "ProtectHostname": "true",
    "ProtectProc": "invisible", "RestrictSUIDSGID": "true", "RestrictNamespaces": "true", "RestrictRealtime": "true",
    "LockPersonality": "true", "SystemCallArchitectures": "native", "SystemCallFilter": "@system-service",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "User": "errmine", "UMask": "0027",
}  # fmt: skip


def service_of(path: Path) -> configparser.SectionProxy:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(path, encoding="utf-8")
    return unit["Service"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_every_unit_is_hardened(path: Path) -> None:
    told = service_of(path)
    assert {name: told.get(name) for name in RULES} == RULES
    assert re.fullmatch(r"\d+G", told["MemoryMax"])
    assert int(told["TasksMax"]) > 0
    assert {"ReadWritePaths", "AmbientCapabilities", "PermissionsStartOnly"} & set(told) == set()


def test_a_unit_and_its_container_have_the_same_bounds() -> None:
    for path in UNITS:
        service = compose()["services"][path.stem.removeprefix("errmine-")]
        told = service_of(path)
        assert int(told["TasksMax"]) == service["pids_limit"]
        assert re.sub(r"^\$\{\w+:-(.+)\}$", r"\1", service["mem_limit"]).upper() == told["MemoryMax"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_finds_little_exposed(path: Path) -> None:
    """Before the units were hardened it said 8.7 of 10."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    command = [analyze, "security", "--offline=true", "--threshold=20", "--no-pager", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "Unknown" in done.stderr or "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot judge a file")
    assert done.returncode == 0, done.stdout[-2000:]
