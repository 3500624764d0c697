"""Installed as the module `errmine`, beside the package: the command, which finds its own `pipeline` among others.

`pipeline` is a name that many projects have. Where PYTHONPATH leads to another one, Python would take that one first;
errmine needs nothing from there, so neither it nor the processes that it starts look there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command line of this installation."""
    sys.path[:] = [entry for entry in sys.path if not _hides_ours(entry)]
    if "PYTHONPATH" in os.environ:
        entries = os.environ["PYTHONPATH"].split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(entry for entry in entries if not _hides_ours(entry))
    from pipeline.cli import main as command  # only now is it sure to be ours

    command()


def _hides_ours(entry: str) -> bool:
    """Whether a folder in which Python looks for modules has a `pipeline` that is not errmine's."""
    package = Path(entry) / "pipeline"
    if not (package / "__init__.py").is_file():
        return (package.parent / "pipeline.py").is_file()
    return not (package / "data" / "skip_reasons.toml").is_file()  # a checkout may lie elsewhere than this module


if __name__ == "__main__":
    main()
