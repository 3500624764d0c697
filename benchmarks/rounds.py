"""What hourly rounds do to a database that is brought up to date in place: its size, and what a round costs.

    python -m benchmarks.rounds HOME [--rounds 168] [--documents 50] [--entries 26]

HOME was built; nothing in it is changed. Every round so many documents and entries, drawn at random, count as changed:
their rows go and come. At the end the file is compared with one that is written whole.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from pipeline import store
from pipeline.records import Assignment, Neighbour
from pipeline.records.entry import KnowledgeEntry
from pipeline.run import Places, shards
from pipeline.run.build.mapping import shards_of
from pipeline.store import reading


def contents_of(places: Places) -> tuple[store.Contents, store.Told]:
    """What the database of a home holds, and digests that tell it."""
    used = [paths for _, paths in sorted(shards_of(places.shards).items())]
    facts = reading.facts(places.database)
    entries = tuple(KnowledgeEntry.model_validate(row) for row in reading.entries(places.database))
    rows = {name: store.query(places.database, f"FROM {name}").rows for name in ("assignments", "neighbours")}
    contents = store.Contents(
        documents=tuple(paths.documents for paths in used),
        events=tuple(paths.events for paths in used),
        claims=tuple(paths.claims for paths in used),
        skipped_files=tuple(paths.skipped for paths in used),
        clusters=facts.clusters,
        assignments=tuple(Assignment(*row) for row in rows["assignments"]),
        neighbours=tuple(Neighbour(*row) for row in rows["neighbours"]),
        entries=entries,
        journal=reading.journal(places.database),
        meta=facts.meta,
    )
    return contents, store.Told("rounds", shards.digests(used), {entry.id: "" for entry in entries})


def main() -> None:
    """Run the rounds and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("--rounds", type=int, default=168)
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--entries", type=int, default=26)
    options = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path, note = Path(folder) / "rounds.duckdb", Path(folder)
        contents, told = contents_of(Places.of(options.home))
        begun = time.process_time()
        store.bring(path, contents, told, note=note)
        whole, seconds = path.stat().st_size, time.process_time() - begun
        sound = store.digest(path)
        print(f"written whole: {whole / 1e6:.1f} MB, {seconds:.1f} CPU s", flush=True)
        sizes, costs = [whole], []
        for number in range(options.rounds):
            told = replace(
                told,
                documents={
                    **told.documents,
                    **dict.fromkeys(rng.sample(sorted(told.documents), options.documents), str(number)),
                },
                entries={
                    **told.entries,
                    **dict.fromkeys(rng.sample(sorted(told.entries), options.entries), str(number)),
                },
            )
            begun = time.process_time()
            store.bring(path, contents, told, note=note)
            costs.append(time.process_time() - begun)
            sizes.append(path.stat().st_size)
        shrunk = sum(after < before for before, after in pairwise(sizes))
        print(f"{options.rounds} rounds: {statistics.median(costs):.2f} CPU s each, {max(costs):.2f} at most")
        print(
            f"size: {sizes[-1] / whole:.2f} of a file written whole, {max(sizes) / whole:.2f} at most; "
            f"it shrank {shrunk} times"
        )
        print(f"the same rows: {store.digest(path) == sound}")


if __name__ == "__main__":
    main()
