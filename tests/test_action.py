"""The GitHub Action and docs/ci.md: what a runner does with them, without GitHub."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import action_runner, golden

ACTION = yaml.safe_load((golden.ROOT / "action.yml").read_text(encoding="utf-8"))
SCRIPT = golden.ROOT / "deploy" / "action" / "match.sh"
KNOWN = """Traceback (most recent call last):
  File "/srv/bench/attention.py", line 88, in <module>
    kernel[grid](q, k, v)
triton.runtime.errors.OutOfResources: out of resource: threads, Required: 2048, Hardware limit: 1024. \
Reducing block sizes or `num_stages` may help.
"""
STRANGE = """Traceback (most recent call last):
  File "/srv/shop/till.py", line 1, in f
    drawer.open()
shop.TillError: the till is jammed
"""


@pytest.fixture
def runner(sample_home: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a step of a runner, with this checkout's command on the path."""
    command = tmp_path / "bin" / "errmine"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from pipeline.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(golden.ROOT),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
        "ERRMINE_BUNDLE": str(sample_home / "curated"),
        "ERRMINE_LANG": "en",
        "ERRMINE_PYTHON": sys.executable,
    }


def match(runner: dict[str, str], log: str, name: str = "build.log") -> tuple[int, str, dict[str, str], str]:
    """Exit status, summary, outputs and standard error of the step for a log."""
    path = Path(runner["RUNNER_TEMP"]) / name
    path.write_text(log, encoding="utf-8")
    done = subprocess.run(
        ["bash", str(SCRIPT)], env={**runner, "ERRMINE_LOG": str(path)}, capture_output=True, text=True, check=False
    )
    outputs, summary = Path(runner["GITHUB_OUTPUT"]), Path(runner["GITHUB_STEP_SUMMARY"])
    lines = outputs.read_text(encoding="utf-8").splitlines() if outputs.exists() else []
    told = summary.read_text(encoding="utf-8") if summary.exists() else ""
    return done.returncode, told, dict(line.split("=", 1) for line in lines), done.stderr


@pytest.mark.long
def test_a_failing_log_ends_up_in_the_summary_and_in_the_outputs(runner: dict[str, str]) -> None:
    code, told, outputs, _ = match(runner, f"make: entering\n{KNOWN}{STRANGE}")
    assert code == 0
    assert told.startswith("## errmine: 2 errors, 1 known\n")
    assert "Set num\\_warps to 16." in told
    assert (outputs["known"], outputs["errors"]) == ("true", "2")
    assert len(json.loads(Path(outputs["json"]).read_text(encoding="utf-8"))["findings"]) == 2


@pytest.mark.long
def test_a_log_that_nobody_knows_does_not_fail_the_step_and_a_missing_one_does(runner: dict[str, str]) -> None:
    code, told, outputs, _ = match(runner, STRANGE)
    assert (code, outputs["known"], outputs["errors"]) == (0, "false", "1")
    assert "no entry" in told
    assert match({**runner, "ERRMINE_BUNDLE": "/nowhere"}, KNOWN)[0] == 3
    done = subprocess.run(
        ["bash", str(SCRIPT)], env={**runner, "ERRMINE_LOG": "/no/log"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "no log at /no/log" in done.stderr) == (2, True)


@pytest.mark.long
def test_a_name_that_looks_like_a_command_is_a_name(runner: dict[str, str]) -> None:
    code, told, _, _ = match(runner, KNOWN, name="$(touch pwned); --json.log")
    assert (code, "1 known" in told or "num\\_warps" in told) == (0, True)
    assert not (Path(runner["RUNNER_TEMP"]) / "pwned").exists()
    assert not Path("pwned").exists()


def steps() -> list[dict[str, Any]]:
    """The steps of the action."""
    found = ACTION["runs"]["steps"]
    assert isinstance(found, list)
    return found


def test_nothing_that_a_workflow_hands_over_is_put_into_a_script() -> None:
    for step in steps():
        assert "${{" not in step["run"], step["name"]
        script = re.search(r'bash "\$ERRMINE_ACTION/(\S+)"', step["run"])
        assert script is not None
        assert (golden.ROOT / script[1]).stat().st_mode & 0o111
    given = {name for step in steps() for name in re.findall(r"inputs\.(\w+)", str(step["env"]))}
    assert given == set(ACTION["inputs"])
    outputs = {re.search(r"steps\.match\.outputs\.(\w+)", one["value"])[1] for one in ACTION["outputs"].values()}  # type: ignore[index]
    assert outputs == set(ACTION["outputs"]) == {"known", "errors", "json"}


def test_the_scripts_are_sound_where_a_checker_is_at_hand() -> None:
    for path in sorted(SCRIPT.parent.glob("*.sh")):
        assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
        if shutil.which("shellcheck"):
            assert subprocess.run(["shellcheck", str(path)], check=False).returncode == 0


def test_the_recipe_names_inputs_and_outputs_that_there_are() -> None:
    text = (golden.ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- workflow -->\n```yaml\n(.*?)```", text, re.DOTALL)
    assert block is not None
    workflow = yaml.safe_load(block[1])
    used = [step for job in workflow["jobs"].values() for step in job["steps"] if "errmine@" in step.get("uses", "")]
    wanted = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert [set(step["with"]) >= wanted and set(step["with"]) <= set(ACTION["inputs"]) for step in used] == [True]
    assert set(re.findall(r"errmine\.outputs\.(\w+)", block[1])) <= set(ACTION["outputs"])
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"`{name}`" in text, name


@pytest.fixture
def python(tmp_path: Path) -> str:
    """A Python whose `-m venv` makes a folder with this checkout's command, as pip would have installed it."""
    path = tmp_path / "python"
    path.write_text(
        "#!/bin/sh\n"
        'if [ "$1 $2" = "-m venv" ]; then\n'
        '  mkdir -p "$3/bin"\n'
        f'  printf \'#!/bin/sh\\nexec "{sys.executable}" -c "from pipeline.cli import main; main()" "$@"\\n\' '
        '> "$3/bin/errmine"\n'
        '  printf \'#!/bin/sh\\necho pip: "$@"\\n\' > "$3/bin/python"\n'
        '  chmod +x "$3/bin/errmine" "$3/bin/python"; exit 0\n'
        "fi\n"
        f'exec "{sys.executable}" "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


@pytest.mark.long
def test_the_steps_run_as_a_runner_runs_them(
    sample_home: Path, tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(golden.ROOT))
    log = tmp_path / "build $(touch pwned).log"
    log.write_text(KNOWN + STRANGE, encoding="utf-8")
    given = {"log": str(log), "bundle": str(sample_home / "curated"), "lang": "zh", "python": python}
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    ran = action_runner.run(golden.ROOT, given, scratch=tmp_path / "one")
    assert ran.code == 0, ran.told
    assert f"pip: -m pip install --quiet --disable-pip-version-check -- {golden.ROOT}/deploy/errmine-match" in ran.told
    assert ran.summary.startswith("## errmine: 2 个错误，其中 1 个已知\n")
    assert "将 num\\_warps 设为 16。" in ran.summary
    assert "没有条目：没有标识为“exception TillError”的已知错误" in ran.summary
    assert (ran.outputs["known"], ran.outputs["errors"]) == ("true", "2")
    told = json.loads(Path(ran.outputs["json"]).read_text(encoding="utf-8"))
    assert [one["status"] for one in told["findings"]] == ["known", "unknown"]
    assert not list(tmp_path.rglob("pwned"))
    log.write_text("all is well\n", encoding="utf-8")
    quiet = action_runner.run(golden.ROOT, given, scratch=tmp_path / "two")
    assert (quiet.code, quiet.outputs["known"], quiet.outputs["errors"]) == (0, "false", "0")
    gone = action_runner.run(golden.ROOT, {**given, "bundle": "/nowhere"}, scratch=tmp_path / "three")
    assert (gone.code, gone.summary, dict(gone.outputs)) == (3, "", {})


def test_a_runner_refuses_what_the_action_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="log is required"):
        action_runner.run(golden.ROOT, {"bundle": "b"}, scratch=tmp_path)
