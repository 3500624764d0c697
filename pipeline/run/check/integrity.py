"""Every kept file outside raw, with what a look at its bytes says, and what is to be done where it is not ok."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.records.kept import KeptFile, Verdict
from pipeline.run import shards
from pipeline.run.build.building import Places


def kept_files(places: Places) -> list[KeptFile]:
    """Every kept file of a home outside raw, by its path; nothing is changed, and nothing that is damaged raises."""
    return sorted(_found(places), key=lambda file: file.path)


def drop_damaged(places: Places) -> list[KeptFile]:
    """The files that were not ok and are made anew by themselves; they are gone now, each with what belongs to it."""
    gone = [file for file in kept_files(places) if file.verdict != Verdict.OK and file.kind == "shard"]
    for file in gone:
        shards.discard(file.path.parent.parent, {file.path.stem})
    return gone


def _found(places: Places) -> Iterator[KeptFile]:
    for folder in (places.shards, places.shards.parent / "enriched"):
        yield from shards.kept_files(folder)
