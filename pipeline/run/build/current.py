"""Whether a build would change anything: nothing does where all that it reads and all that it left are as they were.

`.errmine/current.json` tells of the last build, of a command or a schedule, and of a schedule's last export. Files are
known by size and time of change, as `make` knows them: to read them is what this saves. What they hold is checked where
they are read, and by `errmine reconcile`.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from pipeline import store
from pipeline.records import kept, leaves
from pipeline.records.summary import Summary
from pipeline.run.build import itself
from pipeline.run.build.places import Places
from pipeline.run.home import translations
from pipeline.store import noted

#: In `.errmine/`, what a build leaves there.
_STATE = ("shards", "enriched", "journal.jsonl")
#: In `raw/`, what is no page: the build writes down in the index what it found there, who adds pages what they are.
_INDEX = "index.jsonl"
_OF_RAW = (_INDEX, "lock", "identities")


@dataclass(frozen=True, slots=True)
class Seen:
    """Digests of what a build read, of what it left, and of the bundle that was written of it; "" where unknown."""

    read: str
    left: str = ""
    exported: str = ""


def seen(places: Places, *, told: str, overrides: Path | None) -> Seen:
    """What a build would read now; `told` is all that the settings say of it, `overrides` the file of people's words.

    Taken before the build: pages that come meanwhile are the next one's.
    """
    own = [itself.made_by(), duckdb.__version__, told]
    pages = sorted(path for path in places.raw.glob("*") if path.name not in _OF_RAW)
    told_by_people = [translations.path_of(places.home), *([overrides] if overrides else ())]
    return Seen(_digest(own, [*pages, *told_by_people]))


def is_built(places: Places, now: Seen | None) -> bool:
    """True if a build would read what the last one read, and what that one left is untouched.

    The database is read for it, to the last bit: who is told to build because it is damaged gets another one.
    """
    last = _last(places)
    if now is None or not last.left or last.read != now.read or last.left != _left(places):
        return False
    return noted.is_of(places.state, places.database)


def is_exported(places: Places) -> bool:
    """True if the bundle is that of the database."""
    last = _last(places)
    return bool(last.exported) and last.exported == _exported(places)


def unchanged(step: str, why: str) -> Summary:
    """The summary of a step that was not made because it would change nothing."""
    return Summary(figures={"unchanged": {step: why}})


def note_built(places: Places, now: Seen | None) -> None:
    """The next look knows that a build read what was seen, and left what lies there."""
    if now is not None:
        _note(places, replace(now, left=_left(places), exported=_last(places).exported))


def note_exported(places: Places) -> None:
    """The next look knows that the bundle is that of the database."""
    _note(places, replace(_last(places), exported=_exported(places)))


def _left(places: Places) -> str:
    state = places.shards.parent
    return _digest([_database(places)], [*(state / name for name in _STATE), places.raw / _INDEX])


def _exported(places: Places) -> str:
    # thousands of files: the manifest stands for them
    names = [name for name in leaves.BUNDLE_NAMES if name not in ("entries", leaves.FOLDER)]
    copy = (places.shards.parent / name for name in ("published.json", "published"))
    return _digest([_database(places)], [*copy, *map(places.curated.joinpath, names)])


def _database(places: Places) -> str:
    """What tells the database from any other."""
    return store.sign(places.database) or str(uuid.uuid4())  # none that a build left


def _digest(words: Iterable[str], paths: Iterable[Path]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for word in (*words, *(line for path in paths for line in _lines(path))):
        digest.update(word.encode("utf-8", "surrogateescape") + b"\x1e")
    return digest.hexdigest()


def _lines(path: Path) -> Iterator[str]:
    """Name, size and time of change of a file, or of every file in a folder; of nothing that is not there."""
    for place in sorted(_files(path)):
        with suppress(FileNotFoundError):
            found = place.stat()
            yield f"{place}\x1f{found.st_size}\x1f{found.st_mtime_ns}"


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


def _last(places: Places) -> Seen:
    try:
        row = json.loads(kept.read(places.current))
        return Seen(str(row["read"]), str(row["left"]), str(row["exported"]))
    except (kept.Damaged, ValueError, KeyError, TypeError):  # unknown: everything is made anew
        return Seen("")


def _note(places: Places, now: Seen) -> None:
    row = {"read": now.read, "left": now.left, "exported": now.exported}
    kept.write(places.current, json.dumps(row).encode())
