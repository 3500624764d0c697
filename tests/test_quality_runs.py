"""Whole logs of our own failing programs: how well they are grouped, and that no group means nothing.

`gpu_runs` are programs run by themselves. `wrapped_runs` are the same kinds of error under torchrun, in threads, pools
and data loaders, behind a container's or a collector's prefix, logged, in pytest and under compute-sanitizer; what each
program provokes was written down before it ran.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import scores, truth
from benchmarks.quality import errmine
from pipeline import extract
from pipeline.normalise import signature_of_text

FOLDER = Path(__file__).parent / "quality"
#: Floors of whole logs: what is promised, below what is measured (1.00, 0.92 and 1.00); two labels hold two packages
#: or two places of one kind of error each, which are two errors (docs/counting.md).
LEAST_PRECISION, LEAST_RECALL = 0.98, 0.91
#: Kinds that only say that something ended, and how.
SAYS_NOTHING = {"build-stopped", "process-exit-code", "command-failed"}


@pytest.mark.parametrize("name", truth.OWN_RUNS)
def test_whole_logs_are_grouped_by_their_error(name: str) -> None:
    runs = truth.gpu_runs(FOLDER / f"{name}.jsonl.gz")
    found = scores.score(runs, errmine([run.text for run in runs]))
    assert found.precision >= LEAST_PRECISION, found
    assert found.recall >= LEAST_RECALL, found


def test_no_wrapped_run_is_known_by_its_wrapper_alone() -> None:
    for run in truth.gpu_runs(FOLDER / "wrapped_runs.jsonl.gz"):
        read = signature_of_text(run.text, extract.events(run.text))
        gate = dict(read.gate)
        assert gate.get("kind") not in SAYS_NOTHING, (run.label, read.text)
        assert gate.get("exception") != "ChildFailedError", (run.label, read.text)
        assert read.text.strip(), run.label
