"""Which worker of pytest-xdist runs which tests: those of a file stay together, and so do all that import Prefect."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling


class ByFile(LoadScopeScheduling):
    """What a file's tests share is made once. Servers of Prefect side by side would starve each other, and to import it
    takes one worker as long as fifty tests.

    xdist has groups for this (`--dist loadgroup`), but with pytest 9.2 its 3.8 puts every test into a group of its own.
    """

    def _split_scope(self, nodeid: str) -> str:
        name = nodeid.partition("::")[0]
        return "prefect" if needs_prefect(self.config.rootpath / name) else name


@cache
def needs_prefect(path: Path) -> bool:
    """Whether a test of the file at `path` starts Prefect or imports it."""
    text = path.read_text(encoding="utf-8")
    return "pytest.mark.prefect" in text or bool(
        re.search(r"^ *from (?:prefect\b|pipeline import flows\b)", text, re.M)
    )
