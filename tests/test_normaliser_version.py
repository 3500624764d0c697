"""A normaliser that reads events otherwise is another version."""

from __future__ import annotations

from pipeline.normalise import NORMALISER_VERSION
from tests import normaliser


def test_what_an_event_is_changes_only_with_the_version() -> None:
    kept, now = normaliser.kept(), normaliser.readings()
    assert kept["version"] == NORMALISER_VERSION, "run `python -m tests.normaliser`"
    assert normaliser.changed(kept["readings"], now) == {}, (
        "raise NORMALISER_VERSION in normalise/assemble.py, then `python -m tests.normaliser` and `make golden`"
    )
    assert now.keys() == kept["readings"].keys(), "the sample has other events: run `python -m tests.normaliser`"
    assert len(now) >= 350


def test_a_change_is_told_from_an_addition() -> None:
    before = {"a": "[] lamp <n> is dark", "b": "[] door <n> is open", "gone": "[] x"}
    now = {"a": "[] lamp <n> is dark", "b": "[] door is open", "new": "[] y"}
    assert normaliser.changed(before, now) == {"b": ("[] door <n> is open", "[] door is open")}
