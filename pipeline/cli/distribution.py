"""Which distribution this package came with: errmine, or errmine-match, the same files without what makes bundles."""

from __future__ import annotations

import re
from pathlib import Path

WHOLE, LIGHT = "errmine", "errmine-match"
_INFO = re.compile(r"(errmine|errmine_match)-[0-9][^-]*\.dist-info")


def installed(site: Path | None = None) -> tuple[str, ...]:
    """The distributions that say they put the package where it is, by name; none in a checkout."""
    folder = site or Path(__file__).parents[2]
    found = (_INFO.fullmatch(path.name) for path in folder.glob("errmine*.dist-info"))
    return tuple(sorted({name[1].replace("_", "-") for name in found if name}))


def missing(error: ModuleNotFoundError, site: Path | None = None) -> tuple[str, str] | None:
    """What to say of a module that is not there, and what to do; None if it is not for want of the whole errmine."""
    name = (error.name or "").partition(".")[0]
    if name in ("", "pipeline") or installed(site) != (LIGHT,):
        return None
    return (
        f"this needs {name}, which {LIGHT} does not bring: it asks bundles and makes none",
        f"pip uninstall {LIGHT}, then pip install {WHOLE}",
    )


def clash(site: Path | None = None) -> tuple[str, str] | None:
    """What to say where both are installed: who takes one of them away takes the files of the other."""
    if installed(site) != (WHOLE, LIGHT):
        return None
    return (
        f"{WHOLE} and {LIGHT} are both installed, and hold the same files",
        f"pip uninstall {WHOLE} {LIGHT}, then install one of them",
    )
