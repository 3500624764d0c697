"""How fast and how well messages are grouped, as ratios in one run: errmine, Drain3, and a plain GROUP BY.

    python benchmarks/grouping.py [--n 1000000] [--seed 1] [--engines floor errmine]

Every engine runs in a process of its own over the same Parquet file (benchmarks/generator.py), so that peak memory is
its own. Where ../shared is present, the labelled messages are scored too. Drain3 comes from the package index:
pip install drain3, into an environment of its own (it wants an older cachetools than Prefect does).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
LABELLED = ROOT.parent / "shared" / "corpus" / "labelled_messages.jsonl"
THREADS = 2
#: Most texts that the quadratic engine is given.
QUADRATIC = 5000


def floor(source: Path, target: Path) -> None:
    """Group by the raw text: what reading, hashing and counting alone cost."""
    with duckdb.connect(config={"threads": THREADS}) as connection:
        query = "SELECT count(*) FROM (SELECT text, count(*) FROM read_parquet(?) GROUP BY text)"
        connection.execute(query, [str(source)]).fetchall()
    assert target


def errmine(source: Path, target: Path) -> None:
    """The bulk path of errmine."""
    from benchmarks import bulk

    bulk.group(source, target, threads=THREADS)


def drain3(source: Path, target: Path) -> None:
    """Drain3 with its defaults on the raw text."""
    _drain3(source, target, str)


def drain3_masked(source: Path, target: Path) -> None:
    """Drain3 on text that errmine's two expressions have masked, one message after the other as its API wants."""
    import re

    from benchmarks import bulk

    prefix, mask = re.compile(bulk.PREFIX), re.compile(bulk.MASK)
    _drain3(source, target, lambda text: mask.sub("<*>", prefix.sub("", text)))


def _drain3(source: Path, target: Path, prepared: Callable[[str], str]) -> None:
    with duckdb.connect(config={"threads": THREADS}) as connection:
        rows = connection.execute("SELECT id, text FROM read_parquet(?) ORDER BY id", [str(source)]).fetchall()
    miner = _miner()
    keys = [miner.add_log_message(prepared(text))["cluster_id"] for _, text in rows]
    _write([row[0] for row in rows], keys, target)


def _miner():
    import logging

    from drain3 import TemplateMiner
    from drain3.template_miner_config import TemplateMinerConfig

    logging.disable(logging.WARNING)
    return TemplateMiner(config=TemplateMinerConfig())


def _write(ids: Sequence[int], keys: Sequence[int], target: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ids, "cluster_id": [f"{key}" for key in keys]}), target)


ENGINES = {"floor": floor, "errmine": errmine, "drain3": drain3, "drain3_masked": drain3_masked}


def measured(engine: str, source: Path, target: Path) -> dict[str, float]:
    """Wall and CPU seconds and peak memory of one engine in a process of its own, imports excluded."""
    command = [sys.executable, __file__, "--engine", engine, "--source", str(source), "--target", str(target)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{engine}: {(done.stderr.splitlines() or ['it died'])[-1]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run_engine(engine: str, source: Path, target: Path) -> None:
    """Run one engine here and print its figures as JSON."""
    import numpy  # noqa: F401  (imports are not measured)
    import pyarrow.parquet  # noqa: F401

    from benchmarks import bulk  # noqa: F401

    if engine.startswith("drain3"):
        _miner()
    wall, cpu = time.perf_counter(), time.process_time()
    ENGINES[engine](source, target)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "peak_mb": peak}))


def pairwise(source: Path, target: Path) -> tuple[float, float, float]:
    """Pairwise precision, recall and F1 of the clusters in a file against the truth."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE joined AS SELECT truth, cluster_id FROM read_parquet(?) JOIN read_parquet(?) USING (id)",
            [str(source), str(target)],
        )
        pairs = "SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM joined GROUP BY {})"
        both, true, found = (
            connection.execute(pairs.format(by)).fetchall()[0][0] for by in ("truth, cluster_id", "truth", "cluster_id")
        )
    precision, recall = both / found if found else 1.0, both / true
    return precision, recall, 2 * precision * recall / (precision + recall)


def generated(count: int, seed: int, *, engines: Sequence[str]) -> None:
    """Print the table of generated messages."""
    import generator

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "messages.parquet"
        generator.write(source, count, seed=seed)
        print(f"\n{count:,} generated messages, seed {seed}, {THREADS} threads")
        print("| engine | wall s | CPU s | CPU x floor | messages / CPU s | peak MB | P | R | F1 |")
        print("|---|---|---|---|---|---|---|---|---|")
        cpu: dict[str, float] = {}
        for engine in engines:
            target = Path(folder) / f"{engine}.parquet"
            figures = measured(engine, source, target)
            cpu[engine] = figures["cpu"]
            quality = " | ".join(f"{one:.4f}" for one in pairwise(source, target)) if target.exists() else "- | - | -"
            print(
                f"| {engine} | {figures['wall']:.2f} | {figures['cpu']:.2f} | {figures['cpu'] / cpu['floor']:.1f} "
                f"| {count / figures['cpu']:,.0f} | {figures['peak_mb']:.0f} | {quality} |",
                flush=True,
            )
        for engine in sorted(cpu.keys() - {"floor", "errmine"}):
            print(f"throughput of errmine / {engine}: {cpu[engine] / cpu['errmine']:.1f} (per CPU second)")


Items = Sequence[tuple[str, str, str]]  # text, label, family


def labelled() -> None:
    """Print the table of labelled messages."""
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    items = [(row["message"], row["cluster"], row["family"]) for row in rows]
    texts = [item[0] for item in items]
    print(f"\n{len(items)} labelled messages, {len({item[1] for item in items})} errors")
    print("| engine | P | R | F1 | grouping accuracy | look-alikes merged |")
    print("|---|---|---|---|---|---|")
    engines: list[tuple[str, Callable[[Sequence[str]], Sequence[Hashable]]]] = [
        ("every message alone", lambda alone: range(len(alone))),
        ("mask + token_set_ratio >= 90, single link", _naive),
        *([("Drain3", _drained)] if importlib.util.find_spec("drain3") else []),
        ("errmine", _grouped),
    ]
    for name, grouped in engines:
        keys = grouped(texts)
        print(f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in score(items, keys)) + " |")


def _naive(texts: Sequence[str]) -> list[int]:
    import re

    from rapidfuzz import fuzz

    masked = [re.sub(r"\d+", "<n>", text) for text in texts[:QUADRATIC]]
    group = list(range(len(masked)))
    for one, other in combinations(range(len(masked)), 2):
        if group[one] != group[other] and fuzz.token_set_ratio(masked[one], masked[other]) >= 90:
            gone = group[other]
            group = [group[one] if key == gone else key for key in group]
    return group


def _drained(texts: Sequence[str]) -> list[int]:
    miner = _miner()
    return [miner.add_log_message(text)["cluster_id"] for text in texts]


def _grouped(texts: Sequence[str]) -> list[str | None]:
    from pipeline.ask import group_texts

    return [label.cluster_id for label in group_texts(texts)]


def score(items: Items, keys: Sequence[Hashable]) -> tuple[float, float, float, float, float]:
    """Pairwise precision, recall, F1, grouping accuracy, and the share of same-family pairs wrongly merged."""
    seen: Counter[str] = Counter()
    for (left, one), (right, other) in combinations(zip(items, keys, strict=True), 2):
        is_true, is_found = left[1] == right[1], one == other
        seen["both"] += is_true and is_found
        seen["true"] += is_true
        seen["found"] += is_found
        seen["alike"] += left[2] == right[2] and not is_true
        seen["merged"] += left[2] == right[2] and not is_true and is_found
    precision = seen["both"] / seen["found"] if seen["found"] else 1.0
    recall = seen["both"] / seen["true"]
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f1, _accuracy(items, keys), seen["merged"] / max(1, seen["alike"])


def _accuracy(items: Items, keys: Sequence[Hashable]) -> float:
    true, found = _members(item[1] for item in items), _members(keys)
    return sum(true[item[1]] == found[key] for item, key in zip(items, keys, strict=True)) / len(items)


def _members(keys: Iterable[Hashable]) -> dict[Hashable, set[int]]:
    members: dict[Hashable, set[int]] = defaultdict(set)
    for place, key in enumerate(keys):
        members[key].add(place)
    return members


def main() -> None:
    """Print all tables, or run the one engine that a parent process asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES), help="floor comes first")
    parser.add_argument("--engine", choices=sorted(ENGINES), help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        run_engine(options.engine, options.source, options.target)
        return
    generated(options.n, options.seed, engines=options.engines)
    if LABELLED.exists():
        labelled()


if __name__ == "__main__":
    main()
