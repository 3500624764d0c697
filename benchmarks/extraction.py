"""What extraction costs beside what nobody can avoid: gunzip and JSON parsing of the same threads, in one run.

    python -m benchmarks.extraction [FILE.jsonl.gz] [--workers 2]

One process is measured in CPU seconds; with more workers, wall time from the file to the events in hand counts, since
the floor, one stream, cannot use a second core.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import multiprocessing
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pipeline import extract, normalise
from pipeline.normalise import signature

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
#: Threads handed to a worker at a time.
BATCH = 400


def threads(path: Path) -> Iterator[dict[str, object]]:
    """The parsed lines of a file."""
    with gzip.open(path, "rb") as lines:
        for line in lines:
            yield json.loads(line)


def text_of(row: dict[str, object]) -> str:
    """Title, body and comments of a thread, one below the other."""
    comments = row.get("comments") or []
    assert isinstance(comments, list)
    parts = [row.get("title"), row.get("body"), *(comment.get("body") for comment in comments)]
    return "\n\n".join(str(part or "") for part in parts)


def floor(path: Path) -> float:
    """CPU seconds of gunzip and JSON parsing alone."""
    began = time.process_time()
    for _ in threads(path):
        pass
    return time.process_time() - began


def single(path: Path) -> None:
    """Print the table of one process."""
    base = floor(path)
    texts = [text_of(row) for row in threads(path)]
    extract.events(texts[0])
    gc.collect()
    gc.freeze()  # what is already there is no garbage of extraction
    began = time.process_time()
    found = [extract.events(text) for text in texts]
    events = time.process_time() - began
    began = time.process_time()
    for one in found:
        for event in one:
            normalise.signature(event)
    signatures = time.process_time() - began
    size = sum(map(len, texts)) / 1e6
    print(f"{len(texts):,} threads, {size:.0f} M characters, {sum(map(len, found)):,} events")
    print("| step | CPU s | x floor | M characters / s |\n|---|---|---|---|")
    total = base + events + signatures
    rows = (("gunzip + JSON (floor)", base), ("events", events), ("signatures", signatures), ("all three", total))
    for name, cost in rows:
        print(f"| {name} | {cost:.2f} | {cost / base:.1f} | {size / cost:.0f} |")


def _count(texts: list[str]) -> int:
    return sum(len([signature(event) for event in extract.events(text)]) for text in texts)


def _batches(path: Path) -> Iterator[list[str]]:
    rows = threads(path)
    while batch := [text_of(row) for row in islice(rows, BATCH)]:
        yield batch


def parallel(path: Path, workers: int) -> None:
    """Print the wall time from the file to the signatures with several processes, beside the floor's."""
    began = time.perf_counter()
    for _ in threads(path):
        pass
    base = time.perf_counter() - began
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        pool.map(_count, [["warm up"]] * workers)
        began = time.perf_counter()
        found = sum(pool.imap_unordered(_count, _batches(path)))
        cost = time.perf_counter() - began
    print(f"{workers} workers, file to signatures: {cost:.2f} s wall, {cost / base:.1f} x floor, {found:,} events\n")


def quick() -> None:
    """Print the table for the internal corpus, or why not."""
    path = CORPUS / "issues.jsonl.gz"
    if not path.exists():
        print("skipped: issues.jsonl.gz of ../shared/corpus is not here")
        return
    single(path)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=CORPUS / "issues.jsonl.gz")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    parallel(options.path, options.workers)
    single(options.path)


if __name__ == "__main__":
    main()
