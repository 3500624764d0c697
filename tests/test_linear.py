"""The check of linear time fails for what is not, whatever the clock of a busy machine says once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests import linear


@pytest.fixture
def spend(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """What lets a clock go on by so many seconds; nobody waits."""
    now = [0.0]
    monkeypatch.setattr(linear.time, "process_time", lambda: now[0])

    def spend(seconds: float) -> None:
        now[0] += seconds

    return spend


def test_what_is_quadratic_or_takes_for_ever_fails(spend: Callable[[float], None]) -> None:
    for work in (lambda text: spend((len(text) / 10_000) ** 2), lambda _: spend(2 * linear.MOST)):
        with pytest.raises(pytest.fail.Exception, match="for twice the text"):
            linear.check(work, "ab")


def test_what_is_linear_or_short_passes_also_where_one_measurement_was_disturbed(
    spend: Callable[[float], None],
) -> None:
    disturbed = iter([0.0, 100.0])
    linear.check(lambda text: spend(len(text) / 100_000 + next(disturbed, 0.0)), "ab")
    linear.check(lambda text: spend(linear.FLOOR * len(text) ** 2 / 80_000**2), "ab")  # the clock says nothing of it
