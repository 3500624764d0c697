"""What each stage of a build costs, as threads or messages a second, beside a plain DuckDB GROUP BY of the same text.

    python -m benchmarks.stages [PATH]

PATH is anything that `errmine import` reads; without it the internal corpus if it is there, else the bundled sample.
One process, CPU seconds: other work on the machine disturbs them little.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

from benchmarks.internal import CORPUS, ROOT
from pipeline import cluster, distil, export, extract, normalise, raw, store, translate
from pipeline.providers import documents
from pipeline.records import Document
from pipeline.run import Places, import_files, shards
from pipeline.run.build import reduce
from pipeline.run.build import rows as rows_of_shards
from pipeline.run.build.lean import uncollected
from pipeline.run.build.mapping import map_text

T = TypeVar("T")
#: (stage, items, what they are, CPU seconds)
Row = tuple[str, int, str, float]


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` gives, and the CPU seconds that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def measure(source: Path, home: Path) -> tuple[list[Row], float, int]:
    """The rows of the table, the CPU seconds of the GROUP BY, and the number of messages that it grouped."""
    places = Places.of(home)
    layer = raw.RawLayer(places.raw)
    rows: list[Row] = []

    def note(stage: str, items: int, kind: str, seconds: float) -> None:
        rows.append((stage, items, kind, seconds))

    _, seconds = timed(lambda: import_files(places.raw, [source]))
    current, refs_seconds = timed(layer.documents)
    note("import", len(current), "threads", seconds)
    pages, seconds = timed(lambda: [layer.read(refs.refs) for refs in current])
    note("read raw", len(current), "threads", seconds + refs_seconds)
    read, seconds = timed(lambda: [documents.document(page) for page in pages])
    threads = [document for document in read if isinstance(document, Document)]
    note("documents", len(threads), "threads", seconds)
    found, seconds = timed(lambda: [extract.events(document.text) for document in threads])
    note("extract", len(threads), "threads", seconds)
    pairs = [(d, [e for e in events if e.severity == "error"]) for d, events in zip(threads, found, strict=True)]
    messages = [event for _, events in pairs for event in events]
    signed, seconds = timed(lambda: [[normalise.signature(e, d.text) for e in events] for d, events in pairs])
    note("normalise", len(messages), "messages", seconds)
    _, seconds = timed(lambda: [distil.read(d, e, s) for (d, e), s in zip(pairs, signed, strict=True)])
    note("distil: claims", len(threads), "threads", seconds)
    result = shards.MapResult()
    parts = [map_text(document) for document in threads]
    result = shards.MapResult(
        tuple(row for part in parts for row in part.documents),
        tuple(row for part in parts for row in part.events),
        tuple(row for part in parts for row in part.claims),
    )
    paths, seconds = timed(lambda: shards.write(places.shards, "all", result))
    note("write shards", len(messages), "messages", seconds)
    with rows_of_shards.opened([paths], spill=home / "spill") as there:
        partition, seconds = timed(lambda: cluster.partition(there.templates()))
    note("cluster", len(messages), "messages", seconds)
    drafting = reduce.Drafting(reduce.knowledge(result), partition.cluster_of(), reduce.near_of(partition))
    drafts, seconds = timed(lambda: [drafting.draft(found) for found in partition.clusters])
    note("distil: drafts", len(drafts), "clusters", seconds)
    entries, seconds = timed(
        lambda: [translate.entry(reduce.with_names(d, {}), entry_id=f"bench/{n}") for n, d in enumerate(drafts)]
    )
    note("translate", len(entries), "entries", seconds)
    contents = store.Contents(
        documents=(paths.documents,), events=(paths.events,), claims=(paths.claims,), skipped_files=(paths.skipped,),
        clusters=partition.clusters, assignments=partition.assignments, entries=tuple(entries),
    )  # fmt: skip
    _, seconds = timed(lambda: store.write(places.database, contents))
    note("store", len(entries), "entries", seconds)
    _, seconds = timed(lambda: export.write(places.curated, entries))
    note("export", len(entries), "entries", seconds)
    floor = group_by([event.detail or event.message for event in messages])
    return rows, floor, len(messages)


def group_by(texts: list[str]) -> float:
    """CPU seconds of a plain GROUP BY over `texts` in DuckDB, the best of five."""
    table = pa.table({"text": texts})
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("messages", table)
        query = "SELECT text, count(*) FROM messages GROUP BY text"
        return min(timed(lambda: connection.execute(query).fetchall())[1] for _ in range(5))


def show(rows: list[Row], floor: float, messages: int) -> None:
    """Print the table."""
    print(f"{'stage':<16} {'items':>9} {'what':<9} {'CPU s':>8} {'a second':>10} {'x GROUP BY':>11}")
    for stage, items, kind, seconds in rows:
        print(
            f"{stage:<16} {items:>9,} {kind:<9} {seconds:>8.2f} {items / max(seconds, 1e-9):>10,.0f}"
            f" {seconds / max(floor, 1e-9):>11,.1f}"
        )
    print(f"GROUP BY of the same {messages:,} messages in DuckDB: {floor:.4f} CPU s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of each stage of a build.")
    default = CORPUS / "sample_core_1500.jsonl.gz"
    parser.add_argument("path", nargs="?", type=Path, default=default if default.exists() else ROOT / "raw" / "sample")
    with tempfile.TemporaryDirectory() as home, uncollected():
        show(*measure(parser.parse_args().path, Path(home)))


quick = main

if __name__ == "__main__":
    main()
