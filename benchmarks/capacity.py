"""What a number of threads costs: time, memory, disk and workers, stage by stage; measured, and a model for the rest.

    python -m benchmarks.capacity 3000 10000 30000 [--workers 2] [--out FILE]     measure; a JSON line a stage
    python -m benchmarks.capacity 100000 --then 50     then so many more come, and then nothing: what a build costs
    python -m benchmarks.capacity 300000 --then 50 --home FOLDER --stages import extract
    python -m benchmarks.capacity 300000 --then 50 --home FOLDER                  the same in pieces: see below
    python -m benchmarks.capacity --model FILE                                    the table made from these lines

Every stage is a process of its own, which imports no more than the stage needs, so that its peak memory is its own; of
its workers it is looked up every 0.2 s.
A home in a FOLDER stays, and what was done there is not done again: a large one can be made by one command after the
other, each with some of the stages, or begun again after a kill.
Threads come from `benchmarks.threads`. The model is cost = a + b x N for each stage, fitted by least squares of the
relative error; how far a fit without the largest size misses that size is told beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.watching import Watched

if TYPE_CHECKING:
    from pipeline.run import Places

ROOT = Path(__file__).resolve().parent.parent
STAGES = ("import", "extract", "publish", "export")
#: What follows them where more threads come: a build with these and its export; then, with nothing new, what a command
#: and a schedule do, who ask first whether anything came, and all of it looked through by who does not.
THEN = ("import more", "build more", "export more", "build again", "export again", "publish again")
#: Of these the one after which families are counted that it touched: to find all of them is a part of building.
CAME = "build more"
#: What the table has of a stage; of the others the seconds of CPU.
TOLD = {"publish": "wall_seconds"}
SIZES = (10**5, 10**6, 10**7, 10**8)
PARTITION_DOCUMENTS = 500
#: GitHub: requests that a thread costs in a full ingest, measured with 5,499 threads (docs/ingest.md), and the quota.
REQUESTS_A_THREAD, REQUESTS_A_DAY = 1.83, 5000 * 24
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Cost:
    """One stage at one size."""

    threads: int
    stage: str
    workers: int
    wall_seconds: float
    cpu_seconds: float  # of the stage's own process; of extract those of its workers
    peak_bytes: int  # of the stage's own process
    disk_bytes: int  # of what the stage left
    touched: Mapping[str, int] = field(default_factory=dict)  # see `_touched`
    worker_cpu_seconds: float = 0.0  # of all processes that the stage started
    worker_peak_bytes: int = 0  # of the largest of them


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured."""

    stages: Sequence[str]
    workers: int
    then: int = 0  # threads that come later


def measured(sizes: Sequence[int], wanted: Wanted, *, home: Path | None = None) -> list[Cost]:
    """The cost of the stages at every size, in homes that are gone then; at one size in `home`, which stays."""
    if home is not None:
        (size,) = sizes
        return list(_costs(size, wanted, home))
    found: list[Cost] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            found += _costs(size, wanted, Path(folder))
    return found


def _costs(size: int, wanted: Wanted, home: Path) -> Iterator[Cost]:
    """What each stage costs that was not done in `home`; it is noted there when it is done."""
    done, note = set(), home / "costs.jsonl"
    if note.exists():
        done = {json.loads(line)["stage"] for line in note.read_text(encoding="utf-8").splitlines()}
    for stage in wanted.stages:
        if stage in done:
            continue
        if stage == "import" and not (home / "more.jsonl.gz").exists():
            from benchmarks import threads

            home.mkdir(parents=True, exist_ok=True)
            threads.write(home / "threads.jsonl.gz", size, then=home / "more.jsonl.gz", more=wanted.then)
        cost = _measured(stage, home, size, wanted.workers)
        with note.open("a", encoding="utf-8") as output:
            output.write(json.dumps(asdict(cost)) + "\n")
        print(json.dumps(asdict(cost)), flush=True)
        yield cost


def table(costs: Sequence[Cost]) -> str:
    """Measured sizes and modelled ones as a Markdown table, and how far the model misses the largest size."""
    largest = max(cost.threads for cost in costs)
    by_stage: dict[str, list[Cost]] = defaultdict(list)
    for cost in sorted(costs, key=lambda cost: cost.threads):
        by_stage[cost.stage].append(cost)
    lines = [
        "| threads | | import | extract, CPU | publish, clock | export | publish, memory | disk |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for size in sorted({cost.threads for cost in costs}):
        at = {stage: next(cost for cost in rows if cost.threads == size) for stage, rows in by_stage.items()}
        seconds = [_time(getattr(at[stage], _told(stage))) for stage in STAGES]
        disk = sum(cost.disk_bytes for cost in at.values())
        cells = [f"{size:,}", "measured", *seconds, _size(at["publish"].peak_bytes), _size(disk)]
        lines.append(f"| {' | '.join(cells)} |")
    for size in SIZES:
        if size > largest:
            seconds = [_time(_model(by_stage[stage], _told(stage), size)) for stage in STAGES]
            disk = sum(_model(rows, "disk_bytes", size) for rows in by_stage.values())
            memory = _model(by_stage["publish"], "peak_bytes", size)
            lines.append(f"| {' | '.join([f'{size:,}', 'model', *seconds, _size(memory), _size(disk)])} |")
    if len({cost.threads for cost in costs}) < 3:
        return "\n".join(lines)
    lines += ["", f"The model without the largest size, {largest:,} threads, against what was measured there:", ""]
    for stage in STAGES:
        rows = by_stage[stage]
        name = _told(stage)
        told = _model([row for row in rows if row.threads < largest], name, largest)
        each = (_model(rows, name, 2 * largest) - _model(rows, name, largest)) / largest
        lines.append(f"- {stage}: {1000 * each:.2f} ms a thread, off by {told / getattr(rows[-1], name) - 1:+.0%}")
    return "\n".join(lines)


def _told(stage: str) -> str:
    return TOLD.get(stage, "cpu_seconds")


def quick() -> None:
    """Two small sizes, for a look."""
    measured((1000, 3000), Wanted(STAGES, min(2, os.cpu_count() or 1)))


def run_stage(stage: str, home: Path, workers: int) -> None:
    """Do one stage in this process, and print its CPU seconds and peak memory."""
    from pipeline import run
    from pipeline.records import warm

    places = run.Places.of(home)
    partitions = []
    if stage in (
        "extract",
        "publish",
        "publish again",
    ):  # kept, as builds do: documents are read when somebody asks for them
        partitions = run.plan(places.raw, partition_documents=PARTITION_DOCUMENTS, folder=places.planned)
    if stage in ("import", "import more"):
        run.import_files(places.raw, [home / ("threads.jsonl.gz" if stage == "import" else "more.jsonl.gz")])
    elif stage == "extract":
        limits = run.limits(60.0, 4096)
        for _ in run.map_partitions(
            partitions, raw_path=places.raw, shard_folder=places.shards, workers=workers, limits=limits
        ):
            pass
    elif stage.startswith("publish"):
        run.publish(places, partitions, workers=workers)
    elif stage.startswith("build"):
        _built(places, workers)
    elif not run.is_exported(places):
        run.export(places)
        run.note_exported(places)
    warm.keep()  # as every command does
    own = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": own.ru_utime + own.ru_stime, "peak": own.ru_maxrss * 1024}))


def _built(places: Places, workers: int) -> None:
    """Nothing; what `errmine build` does was done: nothing at all where nothing came."""
    from pipeline import run
    from pipeline.run.build import current

    now = current.seen(places, told="", overrides=None)
    if not run.is_built(places, now):
        run.build(places, workers=workers, partition_documents=PARTITION_DOCUMENTS, is_alone=True)
        run.note_built(places, now)


@dataclass(frozen=True, slots=True)
class Made:
    """What tells the things of a home from any others, by kind, and the families of its errors."""

    things: Mapping[str, frozenset[str]]
    families: Sequence[frozenset[str]] = ()  # of each the rows of its signatures


NOTHING = Made({})


def _made(home: Path, stage: str) -> Made:
    """What a build made of each document, cluster and entry, or what an export made of each leaf."""
    from pipeline.records import kept, leaves
    from pipeline.run import shards
    from pipeline.run.build import results
    from pipeline.store import noted

    if stage.startswith("export"):
        of_leaf: dict[str, str] = {}
        for one in json.loads((home / "curated" / "manifest.json").read_bytes())["files"]:
            if (prefix := leaves.prefix_of(one["path"])) is not None:
                of_leaf[prefix] = f"{of_leaf.get(prefix, prefix)} {one['sha256']}"
        return Made({"leaves": frozenset(of_leaf.values())})
    state = home / ".errmine" / "state"
    documents = [one.digest for shard in shards.listing(state.parent / "shards") for one in shards.origins(shard)]
    code = kept.unsealed_json(state / "results.json")["code"]
    drafts = results.read(state, code).results.rows(["drafted"])["drafted"].to_pylist()
    note = noted.read(state)
    rows = note.lines.table["digest"].to_pylist() if note else []
    things = {"documents": documents, "drafts": drafts, "entries": rows}
    return Made({kind: frozenset(found) for kind, found in things.items()}, _families(home) if stage == CAME else ())


def _families(home: Path) -> list[frozenset[str]]:
    """The families of the errors of a home as it was built, without what people said: of each its signatures' rows."""
    from pipeline.cluster import election, units, work
    from pipeline.store import reading

    templates = reading.facts(home / "curated" / "errmine.duckdb").templates
    begun = work.work(templates)
    found = units.families(begun, election.edges(begun), election.Said({}, []))
    return [frozenset(repr(begun.templates[place]) for place in family) for family in found]


def _touched(before: Made, after: Made) -> dict[str, int]:
    """How many things are new or others: documents mapped, clusters drafted, entries, files of leaves, families.

    A family is touched if a signature of it came, or is another, was seen more often or at another time.
    """
    found = {kind: len(things - before.things.get(kind, frozenset())) for kind, things in after.things.items()}
    known = frozenset().union(*before.families)
    return found | ({"families": sum(not own <= known for own in after.families)} if after.families else {})


def _measured(stage: str, home: Path, size: int, workers: int) -> Cost:
    disk, is_looked_at = _disk(home), stage in THEN and not stage.startswith("import")
    before = _made(home, stage) if is_looked_at else NOTHING  # by this process: what it takes is not measured
    begun = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.capacity", "--stage", stage, str(home), "--workers", str(workers)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with process, Watched(process.pid) as seen:
        said, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    wall, told = time.perf_counter() - begun, json.loads(said.splitlines()[-1])
    return Cost(
        threads=size,
        stage=stage,
        workers=workers,
        wall_seconds=wall,
        cpu_seconds=seen.worker_seconds if stage == "extract" else told["cpu"],
        peak_bytes=told["peak"],
        disk_bytes=_disk(home) - disk,
        touched=_touched(before, _made(home, stage)) if is_looked_at else {},
        worker_cpu_seconds=seen.worker_seconds,
        worker_peak_bytes=seen.worker_peak,
    )


def _disk(home: Path) -> int:
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


def _model(rows: Sequence[Cost], name: str, size: int) -> float:
    """What a stage costs at `size` by the straight line that fits `rows` best, each counted by its relative error."""
    xs, ys = [float(row.threads) for row in rows], [max(1e-9, float(getattr(row, name))) for row in rows]
    weights = [1 / cost**2 for cost in ys]
    total = sum(weights)
    middle_x = sum(w * x for w, x in zip(weights, xs, strict=True)) / total
    middle_y = sum(w * y for w, y in zip(weights, ys, strict=True)) / total
    slope = sum(w * (x - middle_x) * (y - middle_y) for w, x, y in zip(weights, xs, ys, strict=True)) / sum(
        w * (x - middle_x) ** 2 for w, x in zip(weights, xs, strict=True)
    )
    return middle_y + slope * (size - middle_x)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} d"


def _size(count: float) -> str:
    return f"{count / GIB:.1f} GiB" if count < 1000 * GIB else f"{count / GIB / 1024:.1f} TiB"


def main() -> None:
    """Measure or model, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*")
    parser.add_argument("--then", type=int, default=0, metavar="N", help="so many more threads come")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--home", type=Path, help="where the home of one size is made, and stays")
    parser.add_argument("--stages", nargs="+", choices=(*STAGES, *THEN), help="some of the stages, in their order")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--stage", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        run_stage(options.stage[0], Path(options.stage[1]), options.workers)
    elif options.model:
        lines = options.model.read_text(encoding="utf-8").splitlines()
        costs = [Cost(**json.loads(line)) for line in lines]
        print(table([cost for cost in costs if cost.stage in STAGES]))
    else:
        if options.home and len(options.sizes) != 1:
            parser.error("--home is of one size")
        stages = options.stages or (*STAGES, *(THEN if options.then else ()))
        costs = measured(options.sizes, Wanted(stages, options.workers, options.then), home=options.home)
        if options.out:
            with options.out.open("a", encoding="utf-8") as output:
                output.writelines(json.dumps(asdict(cost)) + "\n" for cost in costs)


if __name__ == "__main__":
    main()
