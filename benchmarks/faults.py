"""Runs that an ingest takes until its documents are those of a clean run, for every fault on 5, 15 and 40 % of answers.

    python -m benchmarks.faults [--threads 60] [--seeds 3] [--only FAULT...]

The stand-in of the tests serves a made-up repository; the faults are the rows of tests/fake_faults.py, on the same
answers for the same seed. Slow answers turn on a clock and nobody waits. A cell is the most runs of all seeds, and how
many requests those runs made for one of a clean run. The last row draws any fault for each wrong answer; --only
measures the rows named, so that a long table can be made in parts.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RATES = (0.05, 0.15, 0.40)
#: A run beyond these, and the cell says so: nobody waits for ever.
MOST_RUNS = 20
ALL = "any of them"
sys.path.insert(0, str(ROOT))


def measured(fake: Any, clean: Any, fault: Callable[[int, Any], Any]) -> tuple[int, bool, int]:
    """Runs until one is complete, whether its documents are the clean run's, and the requests of all runs."""
    from tests.github_home import Place

    with tempfile.TemporaryDirectory() as folder:
        place, before = Place(Path(folder), fake), len(fake.asked)
        fake.fault = fault
        runs, is_complete = 0, False
        while not is_complete and runs < MOST_RUNS:
            runs += 1
            is_complete = place.ingest(governor={"max_wait_seconds": 1e9}).outcomes[0].is_complete
        fake.fault = lambda _count, _asked: None
        return runs, place.documents() == clean, len(fake.asked) - before


def table(threads: int, seeds: int, only: Sequence[str] = ()) -> bool:
    """Prints the table, or the rows named; True if every cell ended with the documents of a clean run."""
    from tests.fake_faults import at_rate, of_all, small_bodies
    from tests.fake_github import FakeGithub, small_world
    from tests.github_home import Place

    logging.getLogger("pipeline").setLevel(logging.ERROR)
    print("| fault | " + " | ".join(f"{rate:.0%} of answers" for rate in RATES) + " |")
    print("|---|" + "---:|" * len(RATES))
    is_right = True
    with FakeGithub() as fake, small_bodies(), tempfile.TemporaryDirectory() as folder:
        small_world(fake, threads=threads)
        fake.limit = 10**9
        place = Place(Path(folder), fake)
        assert place.ingest().outcomes[0].is_complete
        clean, least = place.documents(), len(fake.asked)
        for name in only or (*names(), ALL):
            cells = []
            for rate in RATES:
                faults = [of_all(rate, n) if name == ALL else at_rate(name, rate, n) for n in range(seeds)]
                done = [measured(fake, clean, fault) for fault in faults]
                equal = all(same for _, same, _ in done)
                is_right = is_right and equal
                word = "" if equal else ", **not equal**"
                asked = sum(requests for _, _, requests in done) / seeds / least
                cells.append(f"{max(runs for runs, _, _ in done)} ({asked:.2f}){word}")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\n{threads} threads, {len(clean)} documents, {least} requests in a clean run, {seeds} seeds a cell")
    return is_right


def names() -> tuple[str, ...]:
    """The faults of the table, in its order."""
    from tests.fake_faults import FAULTS

    return tuple(FAULTS)


def quick() -> None:
    """A small repository, one seed."""
    table(threads=12, seeds=1)


def main() -> None:
    """The table; status 1 if a cell is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=(), metavar="FAULT", choices=(*names(), ALL))
    arguments = parser.parse_args()
    sys.exit(0 if table(arguments.threads, arguments.seeds, arguments.only) else 1)


if __name__ == "__main__":
    main()
