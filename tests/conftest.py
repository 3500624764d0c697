"""What test files share: one Prefect server, started by the first test that needs it, and who runs on which worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

#: A fresh server was seen to need 10 s on two idle cores and 115 s with nine programs for each.
SERVER_START_SECONDS = 240


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """How tests are given to workers, whatever `--dist` says."""
    from tests.scheduling import ByFile

    config.option.loadscopereorder = False  # many tests in a file do not make it long
    return ByFile(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For a worker among several, what takes longest comes first; without workers it comes last."""
    from tests.scheduling import starts_prefect

    items.sort(key=lambda item: starts_prefect(item.path), reverse=hasattr(config, "workerinput"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Prefect server of the tests' own for flows that run in this process."""
    home = tmp_path_factory.mktemp("prefect")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", str(home))
        patch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
        patch.setenv("DO_NOT_TRACK", "1")
        from prefect.testing.utilities import prefect_test_harness

        with prefect_test_harness(server_startup_timeout=SERVER_START_SECONDS):
            yield
