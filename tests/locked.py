"""What requirements/*.txt pin: names, versions, markers, hashes and who needs them, as `make lock` wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "requirements"
#: Every file that something is installed from.
FILES = ("browser", "build", "dask", "dev", "notebook", "old-duckdb", "runtime", "tools")
#: What "via" says where pyproject.toml asks: its dependencies and extras, or a group of it.
ASKED = "errmine"


@dataclass(frozen=True, slots=True)
class Locked:
    """One row of a lock file."""

    name: NormalizedName
    version: str
    marker: Marker | None
    hashes: tuple[str, ...]
    via: frozenset[str]  # names that need it; ASKED where pyproject.toml does

    def holds(self, environment: dict[str, str]) -> bool:
        """Whether it is installed there."""
        return self.marker is None or self.marker.evaluate(environment)


def read(text: str) -> Iterator[Locked]:
    """The rows of a lock file; what is no row of one fails."""
    for row in re.split(r"\n(?=[^\s#])", "\n" + text.replace("\\\n", ""))[1:]:
        line, *comments = row.split("\n")
        asked, *hashes = (part.strip() for part in line.split("--hash="))
        requirement = Requirement(asked)
        (pin,) = requirement.specifier
        assert pin.operator == "==", f"not pinned: {line}"
        told = [comment.strip(" #").removeprefix("via").strip() for comment in comments]
        via = {ASKED if each.startswith((f"{ASKED} (", "-r ")) else each for each in told if not each.startswith("-c ")}
        yield Locked(
            canonicalize_name(requirement.name), pin.version, requirement.marker, tuple(hashes), frozenset(via - {""})
        )


def rows(name: str) -> list[Locked]:
    """The rows of `requirements/<name>.txt`."""
    return list(read((FOLDER / f"{name}.txt").read_text(encoding="utf-8")))


def floors() -> dict[NormalizedName, tuple[Requirement, str]]:
    """The rows of floors.txt by name: what is asked, and the comment that says why."""
    lines = (FOLDER / "floors.txt").read_text(encoding="utf-8").splitlines()
    told = [line.partition("#") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(Requirement(asked).name): (Requirement(asked), why) for asked, _, why in told}
