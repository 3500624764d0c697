"""`make audit`: asks databases of advisories about every locked version, and never takes silence for an answer.

pip-audit ends with 0 where an index has no advisories at all ("could not be audited"), and with 1 where it cannot reach
one. Here a version counts as asked only if a database answered for it. The exit status says which it was:

    0  every locked version was answered for, and none has a known hole
    1  some have
    3  no data: for these nobody answered; says nothing about holes

`make` turns every status but 0 into 2; where the difference counts, run `python -m tests.audit PATH-TO-PIP-AUDIT`. It
covers the packages of requirements/*.txt for the Python that runs it; not Node's of tests/contract, not the images.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from packaging.markers import default_environment
from packaging.utils import canonicalize_name

from tests import locked

#: Asked in this order, the second about what the first has nothing on.
SERVICES = ("pypi", "osv")
OK, VULNERABLE, NO_DATA = 0, 1, 3
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the databases said of the versions of a lock file."""

    holes: dict[str, tuple[str, ...]]  # "name version" to advisories
    silent: frozenset[str]  # "name version" for which nobody answered

    @property
    def status(self) -> int:
        """Holes before silence: what is known to be wrong stays wrong."""
        return VULNERABLE if self.holes else NO_DATA if self.silent else OK


def judged(wanted: Iterable[str], reports: Iterable[dict[str, Any]]) -> Verdict:
    """What pip-audit's JSON reports say of the wanted versions: a list of holes, be it empty, is an answer."""
    holes: dict[str, tuple[str, ...]] = {}
    answered: set[str] = set()
    for report in reports:
        for dependency in report["dependencies"]:
            if "vulns" not in dependency:
                continue
            version = f"{canonicalize_name(dependency['name'])} {dependency['version']}"
            answered.add(version)
            if found := tuple(sorted(each["id"] for each in dependency["vulns"])):
                holes[version] = found
    return Verdict(holes, frozenset(wanted) - answered)


def asked(program: str, name: str, service: str) -> dict[str, Any]:
    """pip-audit's report on a lock file; an empty one if it could not give any."""
    command = [program, "--requirement", str(locked.FOLDER / f"{name}.txt"), "--disable-pip", "--require-hashes"]
    options = ["--vulnerability-service", service, "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=SECONDS, check=False)
        return dict(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        why = f"nothing in {SECONDS} seconds"
    except ValueError:
        why = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
    print(f"{service}: no answer ({why[:200]})", file=sys.stderr)
    return {"dependencies": []}


def main(program: str) -> int:
    """Audits every lock file; prints what was found and returns the worst status."""
    verdicts = []
    for name in locked.FILES:
        wanted = {f"{row.name} {row.version}" for row in locked.rows(name) if row.holds(here())}
        reports: list[dict[str, Any]] = []
        for service in SERVICES:
            if not reports or judged(wanted, reports).silent:
                reports.append(asked(program, name, service))
        verdict = judged(wanted, reports)
        verdicts.append(verdict.status)
        for version, advisories in sorted(verdict.holes.items()):
            print(f"{name}: {version} has {', '.join(advisories)}")
        if verdict.silent:
            print(
                f"{name}: NO DATA for {len(verdict.silent)} of {len(wanted)} versions, among them {min(verdict.silent)}"
            )
        else:
            print(f"{name}: {len(wanted)} versions were asked about")
    status = VULNERABLE if VULNERABLE in verdicts else max(verdicts)
    print(
        {OK: "no known holes", VULNERABLE: "holes found", NO_DATA: "no data: this run says nothing about holes"}[status]
    )
    return status


def here() -> dict[str, str]:
    """The environment of this Python, in which markers hold or do not."""
    return {key: str(value) for key, value in default_environment().items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
