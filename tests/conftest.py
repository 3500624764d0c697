"""What test files share: one Prefect server, started by the first test that needs it, and who runs on which worker."""

from __future__ import annotations

import compileall
import fcntl
import gc
import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from multiprocessing import context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.fake_github import FakeGithub
from tests.github_home import Place
from tests.prefect_server import Started, started

ROOT = Path(__file__).parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """Ctrl-C is heeded, also in a job that a script's shell put into the background; the package is compiled.

    There it is ignored, and by all that the job starts: by the processes to which tests send it, and by a worker of
    Prefect's, which passes SIGTERM on to itself as Ctrl-C.

    Tests start a hundred processes. Where PYTHONDONTWRITEBYTECODE is set, as in many images, each of them would compile
    the source of the package for itself on a clean checkout: a third of what it costs to start. What pytest makes of
    the tests' own source, for better messages, is kept as well: it takes each worker 6 s.
    """
    # workers are the parallelism: a matrix that each multiplies with as many threads costs twice the CPU
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["XDG_CACHE_HOME"] = str(ROOT / ".cache" / "tests")  # not that of who runs the tests
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(ROOT / "pipeline", quiet=2)
    sys.dont_write_bytecode = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """How tests are given to workers, whatever `--dist` says."""
    from tests.scheduling import ByFile

    config.option.loadscopereorder = False  # many tests in a file do not make it long
    return ByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What the hook gives; thousands of tests are made without a search for garbage, which finds none, and what is
    there then is never searched again: of 8.6 s that collecting took it was 2, and a share of every build after it.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Nothing; what is left is garbage again: libraries tell of what is not taken away at the end."""
    gc.unfreeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For a worker among several, what takes longest comes first; without workers it comes last.

    What scores on the internal corpus is long.
    """
    from tests.scheduling import needs_prefect

    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker("long")
    items.sort(key=lambda item: needs_prefect(item.path), reverse=hasattr(config, "workerinput"))


#: What ends the Prefect server, while one runs.
_ENDING = pytest.StashKey[ExitStack]()


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A Prefect server of the tests' own for flows that run in this process."""
    with ExitStack() as ending:
        running = ending.enter_context(started(tmp_path_factory.mktemp("prefect")))
        pytestconfig.stash[_ENDING] = ending
        yield running


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Nothing; behind the last test that may ask for it the Prefect server ends: one without work takes a fortieth of a
    core.
    """
    from tests.scheduling import needs_prefect

    ending = item.config.stash.get(_ENDING, None)
    if ending is not None and not (nextitem is not None and needs_prefect(nextitem.path)):
        ending.close()


@pytest.fixture(scope="session", autouse=True)
def _workers_know_the_sample() -> Iterator[None]:
    """Nothing; what workers of builds are forked from, here, has read the sample before (`tests.preloaded`).

    Of a build of nine threads its worker takes a third less; the suite makes many. It holds whoever forks there first.
    """
    to_load = multiprocessing.set_forkserver_preload
    to_load(["tests.preloaded"])

    def loading(_: context.BaseContext, names: list[str]) -> None:
        to_load([*names, "tests.preloaded"])

    with patch.object(context.BaseContext, "set_forkserver_preload", loading):
        yield


@pytest.fixture(scope="session")
def sample_home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample imported, built and exported; who works on it takes a copy.

    It is made once: the worker that asks first makes it, under a lock, in the folder that all workers have in common.
    """
    from tests import golden

    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent
    home, unfinished = folder / "sample-home", folder / "sample-home.unfinished"
    with (folder / "sample-home.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            shutil.rmtree(unfinished, ignore_errors=True)
            golden.make(unfinished)
            unfinished.rename(home)
    return home


def _standing(home: Path) -> dict[Path, tuple[int, int]]:
    """The size and the time of writing of every file of `home`."""
    held = ((path, path.stat()) for path in home.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(home): (told.st_size, told.st_mtime_ns) for path, told in held}


@pytest.fixture(autouse=True)
def _nobody_works_on_the_home_of_all(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test that changes `sample_home`: another one, on whichever worker, would fail in its place."""
    if "sample_home" not in request.fixturenames:
        yield
        return
    home = request.getfixturevalue("sample_home")
    before = _standing(home)
    yield
    assert _standing(home) == before, "this test works on the sample's home itself, which is everybody's: take a copy"


@pytest.fixture
def fake() -> Iterator[FakeGithub]:
    """A stand-in of GitHub without any repository."""
    with FakeGithub() as made:
        yield made


@pytest.fixture
def place(tmp_path: Path, fake: FakeGithub) -> Place:
    """An empty home that is filled from the stand-in."""
    return Place(tmp_path, fake)


@pytest.fixture
def never_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing; a small database is brought up to date as a large one is, which a build writes whole otherwise."""
    from pipeline.store import replacing

    monkeypatch.setattr(replacing, "FEW_ROWS", 0)
