"""Is a home what a build makes that takes nothing over? The same is made beside it from raw alone, and compared."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline import store
from pipeline.records.errors import DamageFound
from pipeline.run.build.places import Places

#: In `.errmine/`, what a build reads that no build makes anew, or whose making is not what is verified.
_READ = ("journal.jsonl", "published.json", "translations.json", "runs.jsonl")
_LINKED = ("answers", "published")
_CURE = "What is kept of the last build said otherwise than raw: delete .errmine/state and .errmine/shards, and build."


@contextmanager
def cloned(places: Places) -> Iterator[Places]:
    """A home with the same raw, ids, journal and last database, and without shards and results; gone afterwards."""
    work = places.shards.parent
    work.mkdir(parents=True, exist_ok=True)
    for leftover in work.glob("verify-*"):  # of one that was killed
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="verify-", dir=work) as folder:
        clone = Places.of(Path(folder))
        clone.shards.parent.mkdir()
        clone.raw.symlink_to(places.raw.resolve(), target_is_directory=True)
        for name in _READ:
            if (work / name).exists():
                shutil.copyfile(work / name, clone.shards.parent / name)
        for name in _LINKED:
            if (work / name).is_dir():
                (clone.shards.parent / name).symlink_to((work / name).resolve(), target_is_directory=True)
        if places.curated.is_dir():
            shutil.copytree(places.curated, clone.curated, ignore=shutil.ignore_patterns("entries"))
        yield clone


def verified(places: Places, build: Callable[[Places], None]) -> None:
    """Nothing; `build` was done with the home, and with a clone of what it was before that remembers nothing.

    Raises:
        DamageFound: their databases differ; the tables are named.
    """
    with cloned(places) as clone:
        build(places)
        build(clone)
        made, anew = store.digests(places.database), store.digests(clone.database)
    differing = sorted(name for name in made.keys() | anew.keys() if made.get(name) != anew.get(name))
    if differing:
        problem = f"{', '.join(differing)}: not what a build makes that takes nothing over"
        raise DamageFound.of([{"place": str(places.database), "problem": problem, "cure": _CURE}])
