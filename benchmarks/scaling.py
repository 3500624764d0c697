"""How cost grows with the number of messages, and what one new message costs against many known signatures.

python -m benchmarks.scaling [--full] [--png FILE]        1e5, 3e5, 1e6 messages; with --full also 3e6 and 1e7
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import drawing, generator, grouping
from pipeline.records import Assignment, Cluster, Signature, Template, content_id

KNOWN, NEW = 50_000, 1000
#: Runs of each engine whose least CPU time counts, up to 1e6 messages.
RUNS = 3


def fitted(sizes: Sequence[int], costs: Sequence[float]) -> tuple[float, float]:
    """The a and b of cost = a x size^b: the least-squares line through (log size, log cost)."""
    xs, ys = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / sum(
        (x - middle_x) ** 2 for x in xs
    )
    return math.exp(middle_y - slope * middle_x), slope


def growth(sizes: Sequence[int], png: Path | None = None) -> None:
    """Print CPU seconds and peak memory by number of messages, and draw them."""
    print("| messages | wall s | CPU s | floor CPU s | ratio | peak MB | F1 |")
    print("|---|---|---|---|---|---|---|")
    costs: list[drawing.Cost] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "messages.parquet", Path(folder) / "clusters.parquet"
            generator.write(source, size)
            floor, found = _least(source, target, runs=RUNS if size <= 1_000_000 else 1)
            f1 = grouping.pairwise(source, target)[2]
        costs.append(drawing.Cost(size, found["cpu"], floor["cpu"], found["peak_mb"]))
        print(
            f"| {size:,} | {found['wall']:.2f} | {found['cpu']:.2f} | {floor['cpu']:.2f} "
            f"| {found['cpu'] / floor['cpu']:.1f} | {found['peak_mb']:.0f} | {f1:.4f} |",
            flush=True,
        )
    exponent = fitted(sizes, [cost.seconds for cost in costs])[1]
    print(f"CPU grows as N^{exponent:.3f}")
    if png:
        drawing.scaling(costs, exponent, png)


def _least(source: Path, target: Path, *, runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """The figures of the floor and of errmine that took least CPU time, both engines in turn."""
    both = [
        (grouping.measured("floor", source, target), grouping.measured("errmine", source, target)) for _ in range(runs)
    ]
    return min((pair[0] for pair in both), key=_cpu), min((pair[1] for pair in both), key=_cpu)


def _cpu(figures: dict[str, float]) -> float:
    return figures["cpu"]


def assigning() -> None:
    """Print what assigning one new message costs against KNOWN signatures in one gate, the worst case."""
    from pipeline.cluster import Index, Match, Partition

    rng = random.Random(7)
    made = [" ".join(parts) for parts in generator.templates(rng, KNOWN)]
    templates = [
        Template(content_id("signature", text), None, text, (), False, False, 1, "") for text in dict.fromkeys(made)
    ]
    clusters = [
        Cluster(
            content_id("cluster", one.signature_id), one.signature_id, None, one.text, (), (one.signature_id,), "", 100
        )
        for one in templates
    ]
    rows = [Assignment(one.medoid, one.cluster_id, "founder", 100.0, "") for one in clusters]
    start = time.perf_counter()
    index = Index(Partition(tuple(clusters), tuple(rows), ()), templates)
    loading = time.perf_counter() - start
    index.assign(
        Signature("new:", None, "a text that is like none", (), False, "", (), "", 0, 0, False, ())
    )  # loads all
    walls, seconds, hits = [], [], 0
    for number in range(NEW):
        own = rng.choice(templates)
        text = own.text.replace(" ", " the ", 1) if number % 4 else " ".join(rng.sample(own.text.split(), 8))
        new = Signature(f"new:{number}", None, text, (), False, "", (), "", 0, 0, False, ())
        start, cpu = time.perf_counter(), time.process_time()
        found = index.assign(new)
        seconds.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - start)
        hits += isinstance(found, Match) and found.cluster_id == content_id("cluster", own.signature_id)
    seconds.sort()
    walls.sort()
    print(
        f"\n{NEW} new messages against {len(templates):,} signatures in one gate: loading {loading:.2f} s, "
        f"p50 {seconds[NEW // 2] * 1e6:.0f} us, p95 {seconds[NEW * 95 // 100] * 1e6:.0f} us, "
        f"worst {seconds[-1] * 1e6:.0f} us of CPU (p95 {walls[NEW * 95 // 100] * 1e6:.0f} us wall, "
        f"all {sum(walls) * 1000:.0f} ms); {hits} of {NEW * 3 // 4} reworded ones found"
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--png", type=Path, default=None)
    options = parser.parse_args()
    sizes = [100_000, 300_000, 1_000_000]
    assigning()
    growth([*sizes, 3_000_000, 10_000_000] if options.full else sizes, options.png)


if __name__ == "__main__":
    main()
