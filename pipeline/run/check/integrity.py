"""Every kept file outside raw, with what a look at its bytes says, and what is to be done where it is not ok."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipeline import store
from pipeline.export import passed
from pipeline.records import disk, kept
from pipeline.records.errors import StoreError
from pipeline.records.kept import KeptFile, KeptKind, Verdict
from pipeline.run import shards
from pipeline.run.build import history, planning, results
from pipeline.run.build.places import Places
from pipeline.run.home import translations
from pipeline.store import noted

#: Kinds of files that are made anew once they are gone.
_MADE_ANEW = frozenset({"shard", "answer", "ledger", "passed", "plan", "results"})


def kept_files(places: Places) -> list[KeptFile]:
    """Every kept file of a home outside raw, by its path; nothing is changed, and nothing that is damaged raises."""
    return sorted(_found(places), key=lambda file: file.path)


def drop_damaged(places: Places) -> list[KeptFile]:
    """The files that were not ok and are made anew by themselves; they are gone now, each with what belongs to it."""
    gone = [file for file in kept_files(places) if file.verdict != Verdict.OK and file.kind in _MADE_ANEW]
    for file in gone:
        if file.kind is KeptKind.SHARD:
            shards.discard(file.path.parent.parent, {file.path.stem})
        else:
            disk.clear(file.path)
    return gone


def _found(places: Places) -> Iterator[KeptFile]:
    # here, so that who only builds loads neither the engines nor what asks a network
    from pipeline.engines import answers  # noqa: PLC0415
    from pipeline.providers.github.fetch import ledger  # noqa: PLC0415

    for folder in (places.shards, places.shards.parent / "enriched"):
        yield from shards.kept_files(folder)
    yield from results.kept_files(places.state)
    yield from planning.kept_files(places.planned)
    yield from _sealed(places.held, places.seen, places.seen_leaves, history.marked_at(places.home))
    yield from noted.kept_files(places.state)
    for kind in ("enrich", "translate"):
        yield from answers.kept_files(places.shards.parent / "answers" / kind)
    yield from ledger.kept_files(places.shards.parent)
    yield from translations.kept_files(places.home)
    yield from places.registry.kept_files()
    yield from passed.kept_files(places.passed)
    if places.database.exists():
        yield KeptFile(places.database, KeptKind.DATABASE, _database(places), "`errmine build` makes it anew from raw.")
    if (places.curated / kept.MANIFEST).exists() or places.registry.copy.exists():  # something was exported
        cure = "`errmine export` makes the bundle anew."
        try:
            verdicts = list(kept.Listing.of_bundle(places.curated).verdicts())
        except kept.Damaged as error:  # the other files may be whole, but nothing says so
            verdicts = [(error.path, error.verdict)]
        # of the spare none is named: who takes a file of it compares it
        for path, verdict in verdicts:
            yield KeptFile(path, KeptKind.BUNDLE, verdict, cure)


def _sealed(*paths: Path) -> Iterator[KeptFile]:
    """Notes of the last build that save reading: without them the next one reads."""
    for path in paths:
        if path.exists():
            try:
                kept.unsealed_json(path)
            except kept.Damaged as error:
                yield KeptFile(path, KeptKind.PLAN, error.verdict, planning.CURE)
            else:
                yield KeptFile(path, KeptKind.PLAN, Verdict.OK, planning.CURE)


def _database(places: Places) -> Verdict:
    try:
        store.check(places.database)
    except StoreError:
        return Verdict.DAMAGED
    return Verdict.OK
