"""Where the extract tasks of a build run: beside the flow, or on a Dask cluster that exists already.

::

    process   a thread of the flow's process watches each guarded process
    dask      a thread of a Dask worker watches each guarded process; rows travel through the home, which every worker
              sees as the same folder at the same path; states travel to the Prefect server of the run

What a killed Dask worker had begun is begun again by another one, and finds the finished shards there.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline import packs
from pipeline.records.errors import ClusterError, ConfigError
from pipeline.run.build.mapping import code_digest

if TYPE_CHECKING:
    from prefect.task_runners import TaskRunner

NAMES = ("process", "dask")
#: A scheduler, a first worker and the Prefect server each have this long to answer.
CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A task runner, and how many tasks it works on at a time."""

    task_runner: TaskRunner[Any]
    slots: int


def check(name: str, address: str) -> None:
    """Nothing, or an error, before anything is begun; waits at most `CONNECT_SECONDS` for the scheduler.

    Raises:
        ConfigError: no such runner; its address is missing or no address; or it is not installed.
        ClusterError: nobody answers at the address.
    """
    if name not in NAMES:
        raise ConfigError(f"no runner called {name}", hint=f"There are: {', '.join(NAMES)}.")
    if name == "process":
        if address:
            raise ConfigError("the runner process has no address", hint="For a cluster add --runner dask.")
        return
    _check_address(address)
    _check_scheduler(address)


@contextmanager
def chosen(name: str, address: str, *, workers: int, raw_path: Path) -> Iterator[Chosen]:
    """The runner `name` as long as the context lasts; `workers` is the number of processes of the runner process.

    Raises:
        ConfigError: as `check`.
        ClusterError: as `check`; a worker has no or another errmine, sees no `raw_path` or does not reach the Prefect
            server of the run; the cluster was lost meanwhile.
    """
    check(name, address)
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings
    from prefect.task_runners import ThreadPoolTaskRunner

    if name == "process":
        yield Chosen(ThreadPoolTaskRunner(max_workers=workers), workers)
        return
    from distributed import KilledWorker
    from prefect_dask.task_runners import DaskTaskRunner

    with get_client(sync_client=True) as prefect:
        api_url = str(prefect.api_url)
    slots = _ready_slots(address, raw_path=raw_path, api_url=api_url)
    runner = DaskTaskRunner(address=address, client_kwargs={"timeout": CONNECT_SECONDS})
    try:
        # the server that a run without one starts for itself has an address that no setting tells of
        with temporary_settings({PREFECT_API_URL: api_url}):
            yield Chosen(runner, slots)
    except KilledWorker as error:
        message = f"the workers of {address} died again and again at one task"
        hint = "Look into the workers' logs: memory is the usual cause."
        raise ClusterError(message, address=address, hint=hint) from error
    except CancelledError as error:
        message = f"the scheduler at {address} was lost; finished shards are kept"
        raise ClusterError(message, address=address) from error


def _check_address(address: str) -> None:
    example = "For example --address tcp://127.0.0.1:8786."
    if not address:
        raise ConfigError("the runner dask needs the address of a scheduler", hint=example)
    try:
        parts = urlsplit(address)
        is_whole = parts.scheme in {"tcp", "tls"} and bool(parts.hostname) and parts.port is not None
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ConfigError(f"{address} is no address of a Dask scheduler", hint=example)


def _check_scheduler(address: str) -> None:
    if not all(find_spec(name) for name in ("distributed", "prefect_dask")):
        raise ConfigError(
            "the runner dask is not installed",
            hint="Install the extra `dask`: `pip install -e '.[dask]'` in a checkout.",
        )
    from distributed.core import rpc

    async def kind() -> str:
        # not by way of distributed.Client: it waits for ever for somebody who listens and says nothing
        async with rpc(address, timeout=CONNECT_SECONDS) as there:
            return str((await asyncio.wait_for(there.identity(), CONNECT_SECONDS))["type"])

    try:
        found = asyncio.run(kind())
    except OSError as error:
        message = f"no Dask scheduler answers at {address} within {CONNECT_SECONDS:g} s"
        raise ClusterError(message, address=address) from error
    if found != "Scheduler":
        raise ClusterError(f"at {address} is a Dask {found.lower()}, not the scheduler", address=address)


def _ready_slots(address: str, *, raw_path: Path, api_url: str) -> int:
    """How many tasks the workers of `address` take at a time, after each of them was asked whether it can work."""
    from distributed import Client

    with Client(address, timeout=CONNECT_SECONDS, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            message = f"the scheduler at {address} has no workers"
            raise ClusterError(message, address=address) from error
        wanted = (str(raw_path), code_digest(), api_url, packs.active().folders, packs.active().digest(*packs.Stage))
        lost = _lost(client.run(_obstacle, *wanted, on_error="return"), address=address)
        return sum(slots for worker, slots in client.nthreads().items() if worker not in lost)


def _lost(answers: Mapping[str, object], *, address: str) -> frozenset[str]:
    """The workers that died while they were asked: the others are enough.

    Raises:
        ClusterError: A worker that answered cannot work for this run, or none answered.
    """
    lost = frozenset(worker for worker, answer in answers.items() if isinstance(answer, OSError))
    if len(lost) == len(answers):
        message = f"the scheduler at {address} lost its workers while they were asked whether they can work"
        raise ClusterError(message, address=address)
    for worker in sorted(answers.keys() - lost):
        answer = answers[worker]
        if answer:
            obstacle = f"cannot run errmine: {answer}" if isinstance(answer, Exception) else answer
            message = f"the worker {worker} {obstacle}"
            raise ClusterError(message, address=address, hint="deploy/README.md says what a worker needs.")
    return lost


def _obstacle(raw_path: str, code: str, api_url: str, pack_folders: Sequence[str], pack_digest: str) -> str:
    """What keeps the worker that is asked from working for this run; empty if nothing does."""
    if code_digest() != code:
        return "runs another version of errmine, of Python or of a library"
    if not Path(raw_path).is_dir():
        return f"sees no folder {raw_path}: the home has to be on a file system that all workers share"
    try:
        if packs.reading(pack_folders).digest(*packs.Stage) != pack_digest:
            return "has other packs: the settings' packs have to be the same folders everywhere"
    except packs.PackError as error:
        return f"cannot read a pack: {error}"
    try:
        with urllib.request.urlopen(f"{api_url.rstrip('/')}/health", timeout=CONNECT_SECONDS):  # noqa: S310
            return ""
    except urllib.error.HTTPError:  # it answers, if only to say that we are nobody
        return ""
    except (OSError, ValueError):
        return f"does not reach the Prefect server at {api_url}: start one for all and set PREFECT_API_URL"
