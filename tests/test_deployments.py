"""prefect.yaml and deploy/ say what they mean: no misspelt key, no secret, every entrypoint there."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipeline.config import read_settings
from tests.prefect_server import recipe_environment

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Pool(_Strict):
    name: str


class Limit(_Strict):
    limit: int
    collision_strategy: str


class Schedule(_Strict):
    cron: str
    timezone: str
    slug: str
    active: bool


class Deployment(_Strict):
    """Prefect's own model of a deployment lets unknown keys pass; this one does not."""

    name: str
    description: str
    entrypoint: str
    parameters: dict[str, str]
    work_pool: Pool
    concurrency_limit: Limit
    schedules: list[Schedule] = []
    triggers: list[dict[str, Any]] = []


class File(_Strict):
    model_config = ConfigDict(extra="forbid", alias_generator=lambda name: name.replace("_", "-"))
    name: str
    prefect_version: str
    deployments: list[Deployment]


def described() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))


def deployments() -> list[Deployment]:
    return File.model_validate(described()).deployments


def test_every_key_is_one_that_prefect_knows() -> None:
    from prefect.cli.deploy._models import DeploymentConfig

    known = set(DeploymentConfig.model_fields)
    for each in described()["deployments"]:
        assert set(each) <= known
    assert deployments()


def test_a_misspelt_key_is_refused() -> None:
    told = described()
    told["deployments"][0]["schedulez"] = told["deployments"][0].pop("schedules")
    with pytest.raises(ValidationError, match="schedulez"):
        File.model_validate(told)


@pytest.mark.parametrize("deployment", deployments(), ids=lambda each: each.name)
def test_a_deployment_names_a_flow_and_parameters_that_are_there(deployment: Deployment) -> None:
    module, _, name = deployment.entrypoint.rpartition(".")
    found = getattr(importlib.import_module(module), name)
    assert set(deployment.parameters) <= set(inspect.signature(found.fn).parameters)


@pytest.mark.parametrize("deployment", deployments(), ids=lambda each: each.name)
def test_a_deployment_has_a_limit_and_its_schedules_are_utc(deployment: Deployment) -> None:
    from prefect.client.schemas.objects import ConcurrencyLimitStrategy
    from prefect.client.schemas.schedules import CronSchedule

    assert deployment.concurrency_limit.limit == 1
    assert ConcurrencyLimitStrategy(deployment.concurrency_limit.collision_strategy)
    for schedule in deployment.schedules:
        assert schedule.timezone == "UTC"
        assert CronSchedule(cron=schedule.cron, timezone="UTC")  # it refuses what is no cron line


def test_triggers_listen_to_events_that_flows_send_and_every_flow_is_deployed() -> None:
    from prefect.events import DeploymentTriggerTypes

    from pipeline import flows

    names = {flow.name for flow in vars(flows).values() if hasattr(flow, "fn") and hasattr(flow, "to_deployment")}
    reader: TypeAdapter[Any] = TypeAdapter(DeploymentTriggerTypes)
    listened: set[str] = set()
    for deployment in deployments():
        for trigger in deployment.triggers:
            reader.validate_python({**trigger, "name": "t"})
            listened |= set(trigger["expect"])
    source = inspect.getsource(flows)
    assert listened
    assert all(f'announce("{event}", ' in source for event in listened)
    deployed = {each.entrypoint.rpartition(".")[2].replace("_", "-") for each in deployments()}
    assert {"run", "build", "export", "reconcile"} | {name for name in names if name.startswith("ingest")} <= deployed


def test_schedules_are_those_of_the_settings() -> None:
    from pipeline.config import Settings

    crons = {each.entrypoint.rpartition(".")[2]: [s.cron for s in each.schedules] for each in deployments()}
    assert crons["ingest_files"] == crons["ingest_github"] == [Settings().schedule.ingest]
    assert crons["ingest_docs"] == [Settings().schedule.docs]
    assert crons["reconcile"] == [Settings().schedule.reconcile]


def test_nothing_secret_is_in_the_files() -> None:
    for path in (ROOT / "prefect.yaml", *DEPLOY.rglob("*.*")):
        if path.suffix != ".md":
            for line in path.read_text(encoding="utf-8").splitlines():
                assert "ghp_" not in line
                assert not line.strip().startswith(("GITHUB_TOKEN=", "Environment=GITHUB_TOKEN"))


def automation() -> dict[str, Any]:
    (told,) = yaml.safe_load((DEPLOY / "zombie-runs.yaml").read_text(encoding="utf-8"))["automations"]
    return dict(told)


def read_strictly(told: dict[str, Any]) -> Any:
    """The automation as Prefect reads it; Prefect lets unknown keys pass at every level, this does not."""
    from prefect.events.schemas.automations import AutomationCore

    made = AutomationCore.model_validate(told)
    levels = [(told, made), (told["trigger"], made.trigger), *zip(told["actions"], made.actions, strict=True)]
    for written, read in levels:
        unknown = set(written) - set(type(read).model_fields)
        assert not unknown, f"{type(read).__name__} knows no {sorted(unknown)}"
    return made


def test_the_automation_against_zombies_is_one_that_prefect_can_make() -> None:
    from prefect.client.schemas.objects import StateType
    from prefect.events.actions import ChangeFlowRunState
    from prefect.events.schemas.automations import EventTrigger, Posture

    made = read_strictly(automation())
    assert isinstance(made.trigger, EventTrigger)
    assert made.trigger.posture == Posture.Proactive
    assert made.trigger.for_each == {"prefect.resource.id"}
    (action,) = made.actions
    assert isinstance(action, ChangeFlowRunState)
    assert action.state == StateType.CRASHED


@pytest.mark.parametrize(("level", "key"), [("", "triger"), ("trigger", "withn"), ("actions", "mesage")])
def test_a_misspelt_key_of_the_automation_is_refused(level: str, key: str) -> None:
    told = automation()
    place = {"": told, "trigger": told["trigger"], "actions": told["actions"][0]}[level]
    place[key] = 1
    with pytest.raises(AssertionError, match=key):
        read_strictly(told)


def test_the_automation_waits_three_heartbeats_and_for_every_end_that_a_run_can_come_to() -> None:
    from prefect.client.schemas.objects import TERMINAL_STATES
    from prefect.settings import get_current_settings

    from pipeline import flows

    made = read_strictly(automation())
    beat = get_current_settings().flows.heartbeat_frequency
    assert beat
    assert made.trigger.within.total_seconds() == 3 * beat
    # an event bears the name of the state, not its type: a run that ended under a name of its own would count as dead
    ends = {kind.value.capitalize() for kind in TERMINAL_STATES}
    ends |= set(re.findall(r'(?:Completed|Failed|Crashed|Cancelled)\(name="(\w+)"', inspect.getsource(flows)))
    assert {"Completed", "Failed", "Cancelled", "Crashed", "Partial"} == ends
    heard = {f"prefect.flow-run.{end}" for end in ends}
    assert made.trigger.expect == heard | {"prefect.flow-run.heartbeat"}
    assert made.trigger.after == {"prefect.flow-run.heartbeat"}


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("systemd/*.service")), ids=lambda path: path.name)
def test_units_have_the_sections_and_stop_by_sigterm(path: Path) -> None:
    unit = ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(path, encoding="utf-8")
    assert set(unit.sections()) == {"Unit", "Service", "Install"}
    assert unit["Service"]["KillSignal"] == "SIGTERM"
    assert unit["Service"]["Restart"] in {"on-failure", "always"}


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("systemd/*.service")), ids=lambda path: path.name)
def test_systemd_accepts_the_units(path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run(
        [verify, "verify", "--recursive-errors=no", str(path)], check=False, capture_output=True, text=True
    )
    complaints = [line for line in done.stderr.splitlines() if "is not executable" not in line and path.name in line]
    assert not complaints


def test_the_compose_file_names_images_volumes_and_commands() -> None:
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert set(told) == {"name", "x-hardened", "services", "networks", "volumes"}
    assert set(told["services"]) == {"postgres", "server", "worker"}
    for service in told["services"].values():
        assert {"image", "build"} & set(service)
        assert set(service) <= {
            "image", "build", "command", "environment", "volumes", "ports", "depends_on", "healthcheck", "restart",
            "stop_signal", "stop_grace_period", "networks", "user", "read_only", "cap_drop", "security_opt", "tmpfs",
            "init", "pids_limit", "mem_limit",
        }  # fmt: skip
        for mount in service.get("volumes", []):
            source = mount.split(":", 1)[0]
            assert source.startswith(".") or source in told["volumes"]


@pytest.mark.long
def test_the_cluster_of_the_compose_file_is_one_scheduler_three_workers_and_the_server_that_all_reach() -> None:
    told = yaml.safe_load((DEPLOY / "compose-dask.yaml").read_text(encoding="utf-8"))
    services = told["services"]
    assert set(services) == {"server", "scheduler", "dask-worker", "sample"}
    assert services["dask-worker"]["deploy"] == {"replicas": 3}
    assert all(service["networks"] == ["cluster"] for service in services.values())
    assert told["networks"]["cluster"] == {"internal": True}, "Dask has no passwords"
    address = services["dask-worker"]["command"][2]
    assert address == f"tcp://scheduler:{services['scheduler']['command'][-1]}"
    sample = services["sample"]
    assert sample["command"][-1] == address
    assert sample["environment"]["PREFECT_API_URL"] == services["dask-worker"]["environment"]["PREFECT_API_URL"]
    assert sample["volumes"] == services["dask-worker"]["volumes"], "one home, under one path"
    for service in services.values():
        for name in service.get("depends_on", {}):
            assert name in services
    for command in (services["scheduler"]["command"], services["dask-worker"]["command"]):
        asked = [sys.executable, "-m", *command[:2], "--help"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        assert all(option in done.stdout for option in command if option.startswith("--"))


def test_the_recipe_makes_the_folders_and_settings_that_it_needs(tmp_path: Path) -> None:
    env = recipe_environment(tmp_path / "fresh" / "home")
    assert Path(env["PREFECT_HOME"]).is_dir()
    assert Path(env["PREFECT_PROFILES_PATH"]).parent == Path(env["PREFECT_HOME"])
    settings = read_settings(environ=env)
    assert settings.source_paths() == [ROOT / "raw" / "sample"]


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("systemd/*.service")), ids=lambda path: path.name)
def test_a_unit_has_every_folder_made_above_prefects_own(path: Path) -> None:
    home = re.search(r"^PREFECT_HOME=(/var/lib/.+)$", (DEPLOY / "systemd" / "prefect.env").read_text(), re.MULTILINE)
    made = re.search(r"^StateDirectory=(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert home is not None
    assert made is not None
    wanted = [folder for folder in (Path(home[1]), *Path(home[1]).parents) if Path("/var/lib") in folder.parents]
    assert {Path("/var/lib") / name for name in made[1].split()} == set(wanted)


def test_a_python_that_is_too_old_is_named_in_a_line_instead_of_by_pip(tmp_path: Path) -> None:
    old = tmp_path / "python3.10"
    old.write_text('#!/bin/sh\ncase "$1" in -V) echo "Python 3.10.12";; -c) exit 1;; *) echo "a wall of pip";; esac\n')
    old.chmod(0o755)
    command = ["make", f"PYTHON={old}", f"VENV={tmp_path}/venv", "run"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"errmine needs Python 3.11 or newer; {old} is Python 3.10.12." in done.stdout
    assert "a wall of pip" not in done.stdout
