"""What extraction costs beside what nobody can avoid: gunzip and JSON parsing of the same threads, in one run.

    python -m benchmarks.extraction [FILE.jsonl.gz] [--workers 2]
    python -m benchmarks.extraction --digest      what comes out, as one number: a change of speed must not move it

One process is measured in CPU seconds; with more workers, wall time from the file to the events in hand counts, since
the floor, one stream, cannot use a second core.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import hashlib
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.internal import ISSUES, where_present
from pipeline import extract, normalise
from pipeline.normalise import signature
from pipeline.providers import documents
from pipeline.providers import files as archive
from pipeline.records import Document, RawPage

#: Threads handed to a worker at a time.
BATCH = 400
#: Threads measured at a time, and how often.
CHUNK, ROUNDS = 500, 3


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


def single(path: Path) -> None:
    """Print the table of one process: CPU seconds, for each CHUNK of threads the least of ROUNDS.

    Every chunk goes through all steps before the next one comes, so that other work on the machine, which comes and
    goes, disturbs the floor as much as what is measured against it.
    """
    pages = [page for page in archive.pages([path]) if isinstance(page, RawPage)]
    read = [documents.document([page]) for page in pages]
    texts = [one.text for one in read if isinstance(one, Document)]
    found = [extract.events(text) for text in texts]
    gc.collect()
    gc.freeze()  # what is already there is no garbage of extraction
    steps: dict[str, Callable[[slice], object]] = {
        "documents": lambda part: [documents.document([page]) for page in pages[part]],
        "events": lambda part: [extract.events(text) for text in texts[part]],
        "signatures": lambda part: [
            normalise.signature(event, text)
            for text, events in zip(texts[part], found[part], strict=True)
            for event in events
        ],
    }
    least: dict[str, dict[int, float]] = {name: {} for name in ("floor", "pages", *steps)}
    for _ in range(ROUNDS):
        rows, read_pages = threads(path), archive.pages([path])
        for start in range(0, len(pages), CHUNK):
            costs = {
                "floor": _seconds(lambda rows=rows: list(islice(rows, CHUNK))),
                "pages": _seconds(lambda read=read_pages: list(islice(read, CHUNK))),
            }
            for name, step in steps.items():
                costs[name] = _seconds(partial(step, slice(start, start + CHUNK)))
            for name, cost in costs.items():
                least[name][start] = min(cost, least[name].get(start, cost))
    size = sum(map(len, texts)) / 1e6
    print(f"{len(texts):,} threads, {size:.0f} M characters, {sum(map(len, found)):,} events")
    print("| step | CPU s | x floor | M characters / s |\n|---|---|---|---|")
    total = {name: sum(costs.values()) for name, costs in least.items()}
    base = total.pop("floor")
    whole = total["pages"] + total["documents"] + total["events"]
    shown = {"gunzip + JSON (floor)": base, **total, "file to events (pages, documents, events)": whole}
    for name, cost in shown.items():
        print(f"| {name} | {cost:.2f} | {cost / base:.1f} | {size / cost:.0f} |")


def digest(path: Path) -> str:
    """How many events a file's threads show, and a digest of every field of all documents and of all events."""
    read, shown, count = hashlib.sha256(), hashlib.sha256(), 0
    for page in archive.pages([path]):
        document = documents.document([page]) if isinstance(page, RawPage) else page
        read.update(repr(document).encode("utf-8", "surrogatepass"))
        for event in extract.events(document.text) if isinstance(document, Document) else ():
            shown.update(repr(event).encode("utf-8", "surrogatepass"))
            count += 1
    return f"documents {read.hexdigest()[:16]}, {count:,} events {shown.hexdigest()[:16]}"


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


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
    where_present(single)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=ISSUES)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--digest", action="store_true", help="only print a digest of documents and events")
    options = parser.parse_args()
    if options.digest:
        print(digest(options.path))
        return
    parallel(options.path, options.workers)
    single(options.path)


if __name__ == "__main__":
    main()
