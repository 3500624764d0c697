"""Packs that are installed: the entry points of the group `errmine.packs`. A pack is data: none of it is imported."""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, distributions, entry_points
from pathlib import Path

from pipeline.packs.problem import PackError

GROUP = "errmine.packs"


def installed() -> tuple[Path, ...]:
    """The folders of the installed packs, sorted: `kiln = "acme_kiln.pack"` names the folder of that package.

    Raises:
        PackError: an entry point names a package that is not there.
    """
    if not _is_any(tuple(sys.path)):
        return ()
    return tuple(sorted({_folder(point) for point in entry_points(group=GROUP)}))


@cache
def _is_any(_path: tuple[str, ...]) -> bool:
    """Whether any file of entry points names the group: nearly always none does, and to read them all is slow.

    Every command asks. With 174 packages it takes 3 ms instead of 8; a process that is a thousand commands asks once,
    as long as it looks for packages in the same places.
    """
    return any(GROUP in (found.read_text("entry_points.txt") or "") for found in distributions())


def _folder(point: EntryPoint) -> Path:
    first, *rest = point.module.split(".")
    spec = PathFinder.find_spec(first)  # finds a top-level package without running it
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (folder := Path(place, *rest)).is_dir():
            return folder
    source = point.dist.name if point.dist else "an installed package"
    message = f"the entry point {point.name} of {source} names {point.module}, which is not there"
    raise PackError.of(Path(*point.module.split(".")), None, message, "Install that package again, or uninstall it.")
