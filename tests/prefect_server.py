"""One Prefect server for all tests of a process that need one, and what it tells those that start their own."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

#: A fresh server was seen to need 10 s on two idle cores and 115 s with nine programs for each.
START_SECONDS = 240


class Started(NamedTuple):
    """The server that runs."""

    seconds: float  # that it took to start
    database: Path  # a copy of its database from before any run: to make one takes half of a start


@contextmanager
def started(home: Path) -> Iterator[Started]:
    """A server with its files in `home`, for flows that run in this process as long as the context lasts."""
    settings = {"PREFECT_HOME": str(home), "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
    with patch.dict(os.environ, settings):
        from prefect.testing.utilities import prefect_test_harness

        begun = time.monotonic()
        with prefect_test_harness(server_startup_timeout=START_SECONDS):
            yield Started(time.monotonic() - begun, _copied(home / "empty.db"))


def _copied(path: Path) -> Path:
    from prefect.settings import get_current_settings

    url = get_current_settings().server.database.connection_url
    assert url is not None
    used = url.get_secret_value().partition(":///")[2]
    with closing(sqlite3.connect(used)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    return path
