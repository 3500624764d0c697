"""A composite action as GitHub's runner executes it: expressions put in, `run` in bash, files for what is left.

`python -m tests.action_runner LOG BUNDLE` runs action.yml with its installation, and prints summary and outputs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests import golden

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.]+)\s*\}\}")
#: What the runner gives a step with `shell: bash`.
_BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a job sees of an action that ran."""

    code: int  # of the step that failed, else 0
    summary: str
    outputs: Mapping[str, str]
    told: str  # standard output and error of the steps


def run(folder: Path, given: Mapping[str, str], *, scratch: Path) -> Ran:
    """The action in `folder` with the inputs `given`; what it writes goes below `scratch`.

    Raises:
        ValueError: an input that is required is not given, or an expression names what there is not.
    """
    action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    known: dict[str, str] = {"github.action_path": str(folder)}
    for name, one in action["inputs"].items():
        if one.get("required") and name not in given:
            raise ValueError(f"the input {name} is required")
        known[f"inputs.{name}"] = given.get(name, str(one.get("default", "")))
    job = _Job(scratch, known)
    code = next((code for step in action["runs"]["steps"] if (code := job.step(step))), 0)
    outputs = {name: _filled(one["value"], known) for name, one in action["outputs"].items()} if not code else {}
    return Ran(code, job.left("GITHUB_STEP_SUMMARY"), outputs, "".join(job.told))


class _Job:
    """The environment that steps share."""

    def __init__(self, scratch: Path, known: dict[str, str]) -> None:
        self.known = known
        self.told: list[str] = []
        self._scratch = scratch
        self._path = os.environ["PATH"]
        self._files = {name: scratch / name.lower() for name in _FILES}
        (scratch / "temp").mkdir()

    def left(self, name: str) -> str:
        """What steps wrote into a file of the runner."""
        path = self._files[name]
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def step(self, step: Mapping[str, Any]) -> int:
        """The exit status of a step; its outputs and its additions to the path hold for those that follow."""
        script = self._scratch / "step.sh"
        script.write_text(_filled(step["run"], self.known), encoding="utf-8")
        self._files["GITHUB_OUTPUT"].unlink(missing_ok=True)
        given = {name: _filled(value, self.known) for name, value in step.get("env", {}).items()}
        runner = {name: str(path) for name, path in self._files.items()}
        environment = {**os.environ, "CI": "true", "PATH": self._path, "RUNNER_TEMP": str(self._scratch / "temp")}
        done = subprocess.run(
            [*_BASH, str(script)],
            env={**environment, **runner, **given},
            cwd=self._scratch,
            capture_output=True,
            text=True,
            check=False,
        )
        self.told += [done.stdout, done.stderr]
        lines = self.left("GITHUB_OUTPUT").splitlines()
        self.known |= {
            f"steps.{step.get('id')}.outputs.{key}": value for key, value in (one.split("=", 1) for one in lines)
        }
        self._path = os.pathsep.join([*reversed(self.left("GITHUB_PATH").split()), os.environ["PATH"]])
        return done.returncode


_FILES = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_ENV")


def _filled(text: str, known: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise ValueError(f"nothing is called {found[1]}")
        return known[found[1]]

    return _EXPRESSION.sub(value, text)


if __name__ == "__main__":
    log, bundle = (str(Path(one).resolve()) for one in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as scratch:
        ran = run(golden.ROOT, {"log": log, "bundle": bundle}, scratch=Path(scratch))
    print(ran.summary, ran.told, dict(ran.outputs), f"exit status {ran.code}", sep="\n")
