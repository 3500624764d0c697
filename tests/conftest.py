"""What test files share: one Prefect server, started by the first test that needs it, and who runs on which worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

#: A fresh server was seen to need 10 s on two idle cores and 115 s with nine programs for each.
SERVER_START_SECONDS = 240


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with Prefect go to one worker: beside others they wait; side by side their servers starve each other."""
    for item in items:
        if item.get_closest_marker("prefect"):
            item.add_marker(pytest.mark.xdist_group("prefect"))


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
