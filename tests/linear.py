"""Whether what is done with a text takes time in proportion to it, also where others use the machine.

Time is what this thread has the processor for. A busy machine disturbs single measurements, and slows all of them: the
least of several counts, and texts are compared that are so far apart that twice the time says nothing yet.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

#: Below that the clock says nothing, seconds: for the shorter text, which takes a quarter of what the longer may.
FLOOR = 0.0075
#: The longer text is so many times as long as the shorter. What is quadratic takes the square of it, and a fault that
#: takes half of the longer text's time is found, as it was with texts of which one was twice the other.
TIMES = 4
#: What the longer text may take, of what the shorter takes.
MOST_TIMES = 8
#: What no text of twice the size may take, seconds, unless less is said: several times what the slowest takes.
MOST = 6.0
#: Texts of so many times the lengths are asked where the first ones grew too fast.
_FURTHER = 3
#: Measurements at most, of a pair of texts.
_TRIES = 12


def check(work: Callable[[str], object], unit: str, *, size: int = 40_000, most: float = MOST) -> None:
    """Fail where a text four times as long takes eight times as long or longer: what is quadratic takes sixteen.

    `unit` is repeated until the longer text has twice `size` characters. Where that fails, texts of three times the
    lengths are asked too: what costs a little more for each letter only until a window or a cache is full (6.8 times
    for four times an answer of `compute-sanitizer`, 4.2 times further on) is linear, what is quadratic stays so.
    """
    told = ""
    for length in (2 * size, 2 * _FURTHER * size):
        short, long = _least(work, *(unit * (part // len(unit)) for part in (length // TIMES, length)), most=most)
        if long < min(MOST_TIMES * max(short, FLOOR), most):
            return
        told = told or f"{short:.3f} s, and {long:.3f} s for {TIMES} times the text"
        if long >= most:
            break
    pytest.fail(told)


def _least(work: Callable[[str], object], few: str, many: str, *, most: float) -> tuple[float, float]:
    """The least seconds of either text, measured until they are within what is asked, or often enough."""
    short = long = float("inf")
    for tried in range(_TRIES):
        forget(tried)
        short, long = min(short, seconds(work, few)), min(long, seconds(work, many))
        if long < min(MOST_TIMES * max(short, FLOOR), most):
            break
    return short, long


def within(most: float, work: Callable[[str], object], *texts: str) -> None:
    """Fail where the texts take `most` seconds or longer together, whenever it is tried; give many times the usual."""
    least = float("inf")
    for tried in range(_TRIES):
        forget(tried)
        least = min(least, sum(seconds(work, text) for text in texts))
        if least < most:
            return
    pytest.fail(f"{least:.3f} s")


def forget(tried: int) -> None:
    """Nothing; what functions keep of single texts is gone, where it was tried before. Tables stay."""
    for function in _keeping(len(sys.modules)) if tried else ():
        function.cache_clear()


@cache
def _keeping(_modules: int) -> list[Any]:
    """The functions of the package that keep what they gave for the last few texts."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("pipeline.")]
    kept = [value for module in modules for value in vars(module).values() if isinstance(value, type(_keeping))]
    return [one for one in kept if one.cache_parameters()["maxsize"] is not None]


def seconds(work: Callable[[str], object], text: str) -> float:
    """What the work took of the processor."""
    begun = time.thread_time()
    work(text)
    return time.thread_time() - begun
