"""What it costs to check every kept file when it is read: builds with and without the checks, in turn.

    python -m benchmarks.checks [PATH] [--pairs 3]

PATH is anything that `errmine import` reads; without it the bundled sample. Every shard is there before: a build that
has nothing to read anew is the one in which the checks weigh most. CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.internal import ROOT
from pipeline import run
from pipeline.records import kept
from pipeline.run import Places


def built(places: Places) -> float:
    """CPU seconds of a build and an export."""
    began = time.process_time()
    run.build(places, workers=1, partition_documents=500)
    run.export(places)
    return time.process_time() - began


@contextmanager
def unchecked() -> Iterator[None]:
    """Nothing is compared inside the context; files are read as before there were hashes."""

    def plain(path: Path, body: bytes | None = None) -> Any:
        return json.loads(kept.read(path) if body is None else body)

    with (
        mock.patch.object(kept, "checked", lambda path, _wanted: kept.read(path)),
        mock.patch.object(kept, "unsealed_json", plain),
        mock.patch("pipeline.run.build.building.drop_damaged", return_value=[]),
        mock.patch("pipeline.run.shards.check", return_value=None),
    ):
        yield


@contextmanager
def clocked(total: list[float]) -> Iterator[None]:
    """CPU seconds inside the checks are added to `total`."""

    def timed(work: Callable[..., Any]) -> Callable[..., Any]:
        def told(*arguments: Any) -> Any:
            began = time.process_time()
            try:
                return work(*arguments)
            finally:
                total[0] += time.process_time() - began

        return told

    with (
        mock.patch.object(kept, "checked", timed(kept.checked)),
        mock.patch.object(kept, "unsealed_json", timed(kept.unsealed_json)),
    ):
        yield


def measure(source: Path, *, pairs: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as home:
        places = Places.of(Path(home))
        run.import_files(places.raw, [source])
        built(places)
        rows, inside = [], [0.0]
        for _ in range(pairs):
            with unchecked():
                without = built(places)
            with clocked(inside):
                rows.append((built(places), without))
        share = inside[0] / sum(one for one, _ in rows)
        ratios = [one / other for one, other in rows]
        least = min(one for one, _ in rows) / min(other for _, other in rows)
        print(f"{'':<24}{'checked':>9}{'plain':>9}{'ratio':>8}")
        for one, other in rows:
            print(f"{'build and export, CPU s':<24}{one:>9.2f}{other:>9.2f}{one / other:>8.3f}")
        print(f"median ratio {statistics.median(ratios):.3f}, of the fastest {least:.3f}")
        print(f"reading and comparing: {inside[0] / pairs:.4f} CPU s a build, {share:.2%}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of checking kept files.")
    parser.add_argument("path", nargs="?", type=Path, default=ROOT / "raw" / "sample")
    parser.add_argument("--pairs", type=int, default=3)
    chosen = parser.parse_args()
    measure(chosen.path, pairs=chosen.pairs)


def quick() -> None:
    """The bundled sample."""
    measure(ROOT / "raw" / "sample", pairs=3)


if __name__ == "__main__":
    main()
