"""Whether what is done with a text takes time in proportion to it, also where others use the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

#: Below that the clock says nothing, seconds.
FLOOR = 0.02
#: What no text of twice the size may take, seconds, unless less is said: several times what the slowest takes.
MOST = 6.0


def check(work: Callable[[str], object], unit: str, *, size: int = 40_000, most: float = MOST) -> None:
    """Fail where twice the text takes three times as long or longer: what is quadratic takes four times as long.

    `unit` is repeated until a text has `size` characters. A busy machine disturbs single measurements, and slows all of
    them: no tight limit in seconds holds there. The least of each counts, of up to twelve.
    """
    once, twice = unit * (size // len(unit)), unit * (2 * size // len(unit))
    short = long = float("inf")
    for _ in range(12):
        short, long = min(short, _seconds(work, once)), min(long, _seconds(work, twice))
        if long < min(3 * max(short, FLOOR), most):
            return
    pytest.fail(f"{short:.3f} s, and {long:.3f} s for twice the text")


def _seconds(work: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    work(text)
    return time.process_time() - begun
