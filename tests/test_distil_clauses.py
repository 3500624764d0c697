"""Distil: conditions, reasons and systems are pieces of the quote, or nothing."""

from __future__ import annotations

import pytest

from pipeline.distil import tables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "If you are running on a CPU-only machine, please use map_location='cpu'.",
            "If you are running on a CPU-only machine",
        ),
        ("You can use CentralStorageStrategy if you only have one worker.", "if you only have one worker"),
        ("Set num_warps to 4 (for Triton 2.1 or older).", "for Triton 2.1 or older"),
        ("Set num_warps to 4, for Python 3.8 or older.", "for Python 3.8 or older"),
        ("With CUDA 12.1, set X_Y=1.", "With CUDA 12.1"),
        ("Set X_Y=1, only on Windows.", "only on Windows"),
        ("Set X_Y=1 if you are running 2.0.5-alpha.", "if you are running 2.0.5-alpha"),
        ("Set X_Y=1 (for Python 3.6+).", "for Python 3.6+"),
        ("It runs with PyTorch.", None),
        ("If it still does not work, set X_Y=1.", None),
        ("If you have any questions, set X_Y=1.", None),
        ("Set X_Y=1.", None),
    ],
)
def test_a_condition_is_what_the_quote_says(text: str, expected: str | None) -> None:
    assert tables.condition(text) == expected


def test_the_act_itself_is_no_condition() -> None:
    assert tables.condition("It works if you use tf.shape, then.", ["tf.shape"]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Setting `X_Y=0` does not work on V1, as it will still use the old kernel despite the flag.",
            "as it will still use the old kernel despite the flag",
        ),
        ("I tried it and got the same error as the copy that I had changed.", None),
        ("Setting `X_Y=0` did not help.", None),
    ],
)
def test_a_reason_is_what_the_quote_says(text: str, expected: str | None) -> None:
    assert tables.reason(text) == expected


def test_systems_are_named_where_a_text_speaks_of_them() -> None:
    assert tables.systems_of("The path must be quoted on Windows, on Linux it need not.") == ["Linux", "Windows"]
    assert tables.systems_of("This happens in a sliding window of frames.") == []
