"""What guarding costs: documents mapped by the pool that survives them, and by a plain ProcessPoolExecutor, in one run.

    python -m benchmarks.pool [HOME] [--documents 6000] [--workers 2] [--repeats 7]

Both map the same tasks with the same function in processes started the same way (forkserver, modules loaded before),
and write the shards. Repeats alternate, so that other work on the machine strikes both; the ratio is the median of the
ratios of neighbours, beside it that of the fastest two, which other work distorts least. HOME is a home with a filled
raw; without it the bundled sample is mapped again and again.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from pipeline import raw
from pipeline import run as build
from pipeline.run import pool
from pipeline.run.build.mapping import Folders, map_task
from tests import golden

TASK_DOCUMENTS = 100
Refs = raw.DocumentRefs
#: A task's process, and the CPU seconds that this process had used at the end of the task.
Used = tuple[int, float]
Mapping = Callable[[Sequence[pool.Task[Refs]], "Places", int], Iterable[Used]]


class Places:
    """The raw to read, and a folder for the shards."""

    def __init__(self, home: Path, scratch: Path) -> None:
        self.raw_path, self.shard_folder = home / "raw", scratch / "shards"


def mapped(raw_path: Path, shard_folder: Path, task: pool.Task[Refs], report: Callable[[int], None]) -> Used:
    """The work of both pools."""
    map_task(Folders(raw_path, shard_folder, shard_folder), (), "", task, report)
    return os.getpid(), time.process_time()


def unreported(raw_path: Path, shard_folder: Path, task: pool.Task[Refs]) -> Used:
    """The same without anybody who is told."""
    return mapped(raw_path, shard_folder, task, lambda _number: None)


def guarded(tasks: Sequence[pool.Task[Refs]], places: Places, workers: int) -> Iterator[Used]:
    """By the pool of the build, with its limits."""
    for result in pool.run(partial(mapped, places.raw_path, places.shard_folder), tasks, workers=workers):
        assert not isinstance(result, pool.Failure)
        yield result


def plain(tasks: Sequence[pool.Task[Refs]], places: Places, workers: int) -> Iterator[Used]:
    """By the standard library's pool."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(workers, mp_context=context) as executor:
        yield from executor.map(partial(unreported, places.raw_path, places.shard_folder), tasks)


def cost(run: Mapping, tasks: Sequence[pool.Task[Refs]], places: Places, workers: int) -> tuple[float, float]:
    """(wall seconds, CPU seconds of this process and of the workers) from the first task to the last shard."""
    wall, own = time.perf_counter(), time.process_time()
    used: dict[int, float] = {}
    for process, seconds in run(tasks, places, workers):
        used[process] = max(seconds, used.get(process, 0.0))
    return time.perf_counter() - wall, time.process_time() - own + sum(used.values())


def report_seconds(count: int = 200_000) -> float:
    """What a worker of the guarded pool does more for each document."""
    context = multiprocessing.get_context("forkserver")
    report = pool.reporter(context.Value(ctypes.c_long, 0, lock=False), context.Value(ctypes.c_double, 0.0, lock=False))
    began = time.process_time()
    for number in range(count):
        report(number)
    return (time.process_time() - began) / count


def tasks_of(home: Path, documents: int) -> list[pool.Task[Refs]]:
    """The documents in the raw of `home`, again and again until there are enough of them, in tasks."""
    (everything,) = build.plan(home / "raw", partition_documents=1 << 30)
    refs = list(islice(cycle(everything.documents), documents))
    places = range(0, len(refs), TASK_DOCUMENTS)
    return [pool.Task(f"t{place}", tuple(refs[place : place + TASK_DOCUMENTS])) for place in places]


def compare(home: Path, *, documents: int, workers: int, repeats: int) -> None:
    """Print the table."""
    tasks = tasks_of(home, documents)
    with tempfile.TemporaryDirectory() as scratch:
        places = Places(home, Path(scratch))
        for run in (plain, guarded):  # start the fork server, fill the page cache
            cost(run, tasks[:workers], places, workers)
        pairs = []
        for repeat in range(repeats):
            order = (plain, guarded) if repeat % 2 else (guarded, plain)
            found = {run.__name__: cost(run, tasks, places, workers) for run in order}
            pairs.append((found["guarded"], found["plain"]))
    print(f"{documents:,} documents in {len(tasks)} tasks, {workers} workers, {repeats} repeats; medians\n")
    print("| figure | guarded | plain | ratio | of the fastest | lowest | highest |")
    print("|---|---|---|---|---|---|---|")
    for place, name in enumerate(("wall s", "CPU s")):
        ours, theirs = ([pair[side][place] for pair in pairs] for side in (0, 1))
        ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
        medians = f"{statistics.median(ours):.2f} | {statistics.median(theirs):.2f} | {statistics.median(ratios):.3f}"
        print(f"| {name} | {medians} | {min(ours) / min(theirs):.3f} | {ratios[0]:.3f} | {ratios[-1]:.3f} |")
    document = min(theirs) / documents
    report = report_seconds()
    print(f"\nguarding costs {report * 1e6:.2f} us a document of {document * 1e3:.2f} CPU ms: {report / document:.4%}")


def quick() -> None:
    """The bundled sample, again and again."""
    with tempfile.TemporaryDirectory() as home:
        build.import_files(Path(home) / "raw", [golden.SAMPLE])
        compare(Path(home), documents=1000, workers=2, repeats=5)


def main() -> None:
    """Print the table for a home, or for the bundled sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", nargs="?", type=Path)
    parser.add_argument("--documents", type=int, default=6000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = told.home or Path(scratch)
        if told.home is None:
            build.import_files(home / "raw", [golden.SAMPLE])
        compare(home, documents=told.documents, workers=told.workers, repeats=told.repeats)


if __name__ == "__main__":
    main()
