"""What a command finds around it: the bundled sample, and a Prefect that keeps to the home."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.records.errors import PipelineError, StoreError

if TYPE_CHECKING:
    from pipeline.config import Settings

#: A fresh ephemeral server was seen to need up to 31 s on two busy cores; Prefect's own limit is 20 s.
SERVER_START_SECONDS = 120
#: The database of a fresh server, with its log, has 2 MB.
SERVER_BYTES = 4 << 20


def sample_path() -> Path:
    """The folder of the bundled sample: in the wheel beside the package, in a checkout under raw/."""
    installed = Path(str(resources.files("pipeline"))) / "data" / "sample"
    return installed if installed.is_dir() else Path(str(resources.files("pipeline"))).parent / "raw" / "sample"


def prepare_prefect(settings: Settings) -> None:
    """Point Prefect at the home before it is imported: no file in ~, no telemetry, no foreign pages, time to start.

    What the user has set already stays.

    Raises:
        StoreError: the home has no room for it.
    """
    folder = (settings.work_path / "prefect").resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)  # Prefect's server makes its folder, not the folders above
        with tempfile.TemporaryFile(dir=folder) as file:  # on a full disk its server ends in SQLite's traceback
            file.write(bytes(SERVER_BYTES))
            file.flush()
    except OSError as error:
        hint = "Check free space and rights of the home folder, then run the command again."
        raise StoreError(f"cannot write {folder}: {error.strerror}", path=folder, hint=hint) from error
    wanted = {
        "PREFECT_HOME": str(folder),
        "PREFECT_PROFILES_PATH": str(folder / "profiles.toml"),
        # Prefect's own "*" lets any page in a browser on this machine ask the API to run code
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "http://127.0.0.1:4200,http://localhost:4200",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": str(SERVER_START_SECONDS),
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    }
    for name, value in wanted.items():
        os.environ.setdefault(name, value)


@contextmanager
def server_ends_with_us() -> Iterator[None]:
    """Nothing; the temporary server that Prefect starts ends with this process: told to stop by SIGTERM, or killed."""
    if "PREFECT_API_URL" in os.environ or threading.current_thread() is not threading.main_thread():
        yield
        return
    from pipeline.cli.leftovers import ended_with_this_process

    before = signal.signal(signal.SIGTERM, _interrupt)  # as Ctrl-C does: what was begun is undone, the run is recorded
    try:
        with ended_with_this_process():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def hush_prefect() -> None:
    """What this command explains in a line of its own is not told on the terminal before, with a traceback.

    Only here: a worker's log and Prefect's pages have it all. Prefect has to be imported already.
    """
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, PipelineError) and not record.getMessage().startswith("Finished in state Failed")
