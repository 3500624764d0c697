"""Loaded into Dask workers by a test: each notes its tasks, and stops in the middle of one until it is let go."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

#: The environment names the folder of the notes; a file of this name in it opens the gate.
FOLDER, OPEN = "ERRMINE_TEST_GATE", "open"


def dask_setup(_worker: Any) -> None:
    """Dask calls this when the worker starts."""
    from pipeline import run

    folder = Path(os.environ[FOLDER])
    extract = run.extract

    def gated(places: run.Places, names: list[str], **how: Any) -> int:
        if not (folder / OPEN).exists():
            extract(places, names[:1], **how)  # the first shard of the task is there, the others are not
        staged = folder / f"{os.getpid()}.staged"
        staged.write_text(json.dumps(names))
        staged.rename(folder / f"{os.getpid()}.{names[0]}.json")
        while not (folder / OPEN).exists():
            time.sleep(0.02)
        return extract(places, names, **how)

    run.extract = gated
