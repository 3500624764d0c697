"""The check of linear time fails for what is not, whatever the clock of a busy machine says once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest

from pipeline import extract
from tests import linear


@pytest.fixture
def spend(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """What lets a clock go on by so many seconds; nobody waits."""
    now = [0.0]
    monkeypatch.setattr(linear.time, "thread_time", lambda: now[0])

    def spend(seconds: float) -> None:
        now[0] += seconds

    return spend


def test_what_is_quadratic_or_takes_for_ever_fails(spend: Callable[[float], None]) -> None:
    works: tuple[Callable[[str], None], ...] = (
        lambda text: spend((len(text) / 10_000) ** 2),
        lambda text: spend(len(text) / 40_000 + 1.01 * (len(text) / 40_000) ** 2),  # half of it, for 40,000 letters
        lambda _: spend(2 * linear.MOST),
    )
    for work in works:
        with pytest.raises(pytest.fail.Exception, match="for 4 times the text"):
            linear.check(work, "ab")


def test_what_is_linear_or_short_passes_also_where_one_measurement_was_disturbed(
    spend: Callable[[float], None],
) -> None:
    disturbed = iter([0.0, 100.0])
    linear.check(lambda text: spend(len(text) / 100_000 + next(disturbed, 0.0)), "ab")
    linear.check(lambda text: spend(len(text) / 40_000 + 0.99 * (len(text) / 40_000) ** 2), "ab")
    linear.check(lambda text: spend(0.02 * len(text) ** 2 / 80_000**2), "ab")  # the clock says nothing of it


def test_what_costs_more_for_a_letter_only_until_a_cache_is_full_passes(spend: Callable[[float], None]) -> None:
    linear.check(lambda text: spend(len(text) / 100_000 * (1 if len(text) > 20_000 else 0.3)), "ab")
    with pytest.raises(pytest.fail.Exception, match=r"0\.040 s, and 0\.640 s for 4 times the text"):
        linear.check(lambda text: spend((len(text) / 100_000) ** 2), "ab")


def test_a_machine_that_is_busy_for_one_of_two_texts_fails_nothing(spend: Callable[[float], None]) -> None:
    linear.check(lambda text: spend(len(text) / 100_000 * (1.9 if len(text) > 40_000 else 1)), "ab")


def test_what_takes_too_long_each_time_is_not_within(spend: Callable[[float], None]) -> None:
    disturbed = iter([1.0, 1.0])
    linear.within(1.0, lambda text: spend(len(text) / 10 + next(disturbed, 0.0)), "abc", "defg")
    with pytest.raises(pytest.fail.Exception, match=r"0\.700 s"):
        linear.within(0.65, lambda text: spend(len(text) / 10), "abc", "defg")


def test_what_a_function_keeps_of_a_text_is_forgotten_before_it_is_tried_again(
    spend: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = lru_cache(maxsize=8)(lambda _: spend(2.0))
    monkeypatch.setattr(extract, "kept", kept, raising=False)
    linear._keeping.cache_clear()
    with pytest.raises(pytest.fail.Exception, match=r"2\.000 s"):
        linear.within(1.0, kept, "abc")
