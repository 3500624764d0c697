"""Single bits turned in every kind of kept file: is any of it published, or read, without a word?

    python -m benchmarks.flips [--flips 1200] [--seed 14] [--whole 20] [--kinds 'bundle: leaf']

A home is built from the bundled sample, and one whose bundle stands in leaves, as a large one does. Each try turns a
bit of one file (the kinds in turn, file and bit drawn), asks every reader of that file, does what a build does with
what it keeps, and compares what comes out with the undamaged home, byte for byte. Every `--whole`th try is a whole
build, export and validate besides; the others stop where all that a build would read is what it was. `--kinds` draws
only from kinds whose names begin so.

::

    refused    a reader or the build names the file and ends
    repaired   the file is named, and made anew or restored; all is as it was
    same       nobody says a word, and nothing is changed: bytes that no reader uses, or files that an export replaces
    silent     anything else: what is read or published differs, and nothing says so
"""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from pipeline import export, packs, raw, run, store, validate
from pipeline.ask import Matcher
from pipeline.engines.answers import Answer, Answers, question_id
from pipeline.providers.github.fetch.ledger import Ledger, Progress, Validator
from pipeline.records import kept, leaves
from pipeline.records.errors import PipelineError
from pipeline.run import Places
from pipeline.run.build import building, mapping, results
from pipeline.run.build.history import JournalFile
from pipeline.run.check import integrity
from pipeline.store import noted, reading

SAMPLE = Path(__file__).parent.parent / "raw" / "sample"
PARTITION_DOCUMENTS = 5
_ANSWERS = 5
#: Kinds of files in leaves begin so; leaves of so many bytes make several of the sample.
_SPLIT, _SPLIT_BYTES = "bundle: leaf: ", 20_000
#: Kept files that `integrity` leaves to those who read them: kind, folder, names.
_BESIDE = (
    ("journal", ".errmine", "journal.jsonl"),
    ("raw identities", "raw/identities", "*"),
    ("raw index", "raw", "index.jsonl"),
    ("raw segment", "raw/segments", "*.zip"),
)
_STATE = Progress(watermark="2026-03-01T00:00:00Z", threads=50)


@dataclass(frozen=True)
class Sound:
    """The undamaged home."""

    places: Places
    files: Mapping[str, list[Path]]  # kind -> files, relative to the home
    digests: Mapping[str, str]  # of the database's tables
    registry: object
    leaf_bytes: int  # of the leaves that its bundle is exported in

    def body(self, path: Path) -> bytes:
        """The bytes of a file of the home."""
        return (self.places.home / path).read_bytes()


@contextmanager
def _in_leaves(most: int) -> Iterator[None]:
    """Bundles are exported in leaves of so many bytes."""
    before, leaves.LEAF_BYTES = leaves.LEAF_BYTES, most
    try:
        yield
    finally:
        leaves.LEAF_BYTES = before


def made(home: Path) -> Sound:
    """A home with every kind of kept file."""
    places = Places.of(home)
    for _ in range(2):  # what is known already is told by lists that the second one writes
        run.import_files(places.raw, [SAMPLE])
    run.build(places, workers=1, partition_documents=PARTITION_DOCUMENTS)
    run.export(places)
    for number in range(_ANSWERS):
        answers(places).keep(question_id(number), Answer({"text": f"answer {number}"}, "host.invalid"))
    ledger = Ledger(_ledger(places))
    ledger.save(_STATE, [Validator(f"https://host.invalid/{n}", "t", "e", "0" * 64, None) for n in range(40)])
    ledger.close()
    return _sound(places)


def in_leaves(sound: Sound, home: Path) -> Sound:
    """The same home with its bundle in leaves."""
    places = Places.of(shutil.copytree(sound.places.home, home))
    with _in_leaves(_SPLIT_BYTES):
        run.export(places)
        return _sound(places)


def _sound(places: Places) -> Sound:
    files: dict[str, list[Path]] = defaultdict(list)
    for file in integrity.kept_files(places):
        files[_kind(file.kind, file.path)].append(file.path.relative_to(places.home))
    for kind, folder, pattern in _BESIDE:
        found = sorted((places.home / folder).glob(pattern))
        files |= {kind: [path.relative_to(places.home) for path in found]} if found else {}
    registry = places.registry.published()[0]
    return Sound(places, dict(files), store.digests(places.database), registry, leaves.LEAF_BYTES)


def _kind(kind: str, path: Path) -> str:
    """Of the bundle each file but the pages is a kind of its own, and each of a leaf: there are few of them."""
    if kind != "bundle":
        return kind
    if leaves.FOLDER in path.parts:
        return f"{_SPLIT}{'head' if path.parent.name == leaves.FOLDER else path.name}"
    grouped = {"entries": "page", "schemas": "schema"}
    return f"bundle: {next((name for folder, name in grouped.items() if folder in path.parts), path.name)}"


def answers(places: Places) -> Answers:
    """Where the home keeps answers."""
    return Answers(places.shards.parent / "answers" / "enrich")


def _ledger(places: Places) -> Path:
    return places.shards.parent / "github" / "host.invalid" / "o" / "r.sqlite"


def attempt(sound: Sound, home: Path, path: Path, bit: int, *, is_whole: bool) -> str:
    """What becomes of a home in which one bit of one file was turned."""
    shutil.copytree(sound.places.home, home)
    try:
        body = bytearray((home / path).read_bytes())
        body[bit // 8] ^= 1 << bit % 8
        (home / path).write_bytes(body)
        with _in_leaves(sound.leaf_bytes):
            return _outcome(sound, Places.of(home), path, is_whole=is_whole)
    finally:
        shutil.rmtree(home)


def _outcome(sound: Sound, places: Places, path: Path, *, is_whole: bool) -> str:
    refused = False
    for look in (*_readers(sound, places, path), lambda: _built(sound, places, path, is_whole=is_whole)):
        try:
            told = look()
        except (PipelineError, kept.Damaged):
            refused = True
            continue
        if told in ("silent", "repaired"):
            return told
    return "refused" if refused else "same"


def _readers(sound: Sound, places: Places, path: Path) -> list[Callable[[], str]]:
    """What reads that file besides a build; each gives "same" or "silent", or raises."""
    before = sound.places

    def same(look: Callable[[Places], object]) -> Callable[[], str]:
        return lambda: "same" if look(places) == look(before) else "silent"

    if path.name.startswith("database."):
        return [lambda: _remade(*(noted.read(home.state) for home in (places, before)), nothing=None)]
    if path.parent.name in ("state", "rows", "texts"):
        return [lambda: _remade(*(results.read(home.state, building._code()) for home in (places, before)))]
    if path.suffix == ".duckdb":
        return [
            lambda: "same" if store.digests(places.database) == sound.digests else "silent",
            same(lambda home: reading.entries(home.database)),
        ]
    if path.parts[:2] == ("raw", "identities"):
        return [lambda: _told_apart(sound, places, path)]
    if path.name == "index.jsonl":
        return [lambda: _listed(sound, places)]
    if path.name == "journal.jsonl":
        return [lambda: _journalled(sound, places)]
    if path.parts[0] == "raw":
        return [lambda: "same" if raw.RawLayer(places.raw).check() else "silent"]
    if path.parts[0] == "curated":
        names = {path.relative_to("curated").as_posix()} - {"manifest.json"}
        return [
            same(lambda home: export.read_manifest(home.curated)),
            same(lambda home: export.read_entries(home.curated)),
            same(lambda home: export.read_index(home.curated)),
            same(lambda home: [kept.of_bundle(home.curated, name) for name in names]),
            same(lambda home: Matcher.read(home.curated).match("out of resource: threads")),
            lambda: _validated(places),
        ]
    if "answers" in path.parts:
        return [lambda: "same" if _answered(places) == _answered(before) else "repaired"]
    if path.suffix == ".sqlite":
        return [lambda: _remembered(places)]
    return []


def _told_apart(sound: Sound, places: Places, path: Path) -> str:
    """What an import knows of the pages that are there: a list that does not fit is made anew."""
    if raw.RawLayer(places.raw)._identities() != raw.RawLayer(sound.places.raw)._identities():
        return "silent"
    return "repaired" if (places.home / path).read_bytes() == sound.body(path) else "same"


def _listed(sound: Sound, places: Places) -> str:
    told, before = raw.RawLayer(places.raw), raw.RawLayer(sound.places.raw)
    stock = told.stock()
    if stock.broken or stock.is_cut or stock.losses:
        raise PipelineError("the index names its damaged line")
    return "same" if told.refs() == before.refs() else "silent"


def _journalled(sound: Sound, places: Places) -> str:
    told, before = JournalFile.read(places.home), JournalFile.read(sound.places.home)
    if told.broken:
        raise PipelineError("the journal names its damaged line")
    return "same" if (told.built, told.noted) == (before.built, before.noted) else "silent"


def _remade(found: object, before: object, *, nothing: object = results.State()) -> str:
    """What is not as it was written is not read at all: the build makes it anew."""
    return "same" if found == before else "repaired" if found == nothing else "silent"


def _validated(places: Places) -> str:
    if validate.check_path(places.curated).problems:
        raise PipelineError("validate names the file")
    return "same"


def _answered(places: Places) -> list[Answer | None]:
    return [answers(places).kept(question_id(number)) for number in range(_ANSWERS)]


def _remembered(places: Places) -> str:
    ledger = Ledger(_ledger(places))
    told = ledger.progress
    ledger.close()
    return "same" if told == _STATE else "repaired" if told == Progress() else "silent"


def _built(sound: Sound, places: Places, path: Path, *, is_whole: bool) -> str:
    """What a build makes of the home: as far as what it keeps is what it was, or to the end."""
    partitions = run.plan(places.raw, partition_documents=PARTITION_DOCUMENTS)
    named = mapping.drop_damaged(places.shards, partitions)
    done = mapping.finished(partitions, places.shards)
    for partition in partitions:
        if partition.name not in done:
            task = SimpleNamespace(name=partition.name, items=partition.documents)
            folders = mapping.Folders(places.raw, places.shards, places.shards)
            work = (folders, packs.active().folders, partition.packs, task)
            mapping.map_task(*work, lambda _number: None)  # type: ignore[arg-type]
    registry, restored = places.registry.published()
    is_same = registry == sound.registry and all(
        (places.home / file).read_bytes() == sound.body(file) for file in sound.files["shard"]
    )
    if is_same and is_whole:
        run.publish(places, partitions)
        run.export(places)
        files = [file for kind, files in sound.files.items() if kind.startswith("bundle") for file in files]
        is_same = all((places.home / file).read_bytes() == sound.body(file) for file in files)
        is_same = is_same and _validated(places) == "same"
    if not is_same:
        return "silent"
    return "repaired" if named or restored else "same"


def measure(flips: int, *, seed: int, whole: int, only: str = "") -> dict[str, Counter[str]]:
    """Outcomes by kind of file."""
    draw = random.Random(seed)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        whole_home = made(Path(folder) / "sound")
        drawn = _drawn(whole_home, in_leaves(whole_home, Path(folder) / "split"))
        kinds = sorted(kind for kind in drawn if kind.startswith(only))
        for number in range(flips):
            kind = kinds[number % len(kinds)]
            sound = drawn[kind]
            path = draw.choice(sound.files[kind])
            bit = draw.randrange(len(sound.body(path)) * 8)
            outcome = attempt(sound, Path(folder) / "home", path, bit, is_whole=_is_whole(number, whole, len(kinds)))
            found[kind][outcome] += 1
            if outcome == "silent":
                print(f"silent: bit {bit} of {path}")
    return found


def _drawn(sound: Sound, split: Sound) -> dict[str, Sound]:
    """By kind of file the home whose files are drawn: of the second only those in leaves."""
    return dict.fromkeys(sound.files, sound) | {kind: split for kind in split.files if kind.startswith(_SPLIT)}


def _is_whole(number: int, whole: int, kinds: int) -> bool:
    """Every `whole`th, one kind further in each round, so that each kind has its turn."""
    return (number + number // kinds) % whole == 0


def show(found: Mapping[str, Counter[str]]) -> None:
    """Print the table."""
    outcomes = ("refused", "repaired", "same", "silent")
    print("| kept file | tried | " + " | ".join(outcomes) + " |\n|---|" + "---:|" * 5)
    total: Counter[str] = sum(found.values(), Counter())
    for kind, counts in [*sorted(found.items()), ("all", total)]:
        print(f"| {kind} | {counts.total():,} | " + " | ".join(f"{counts[name]:,}" for name in outcomes) + " |")


def main() -> None:
    """Try and print."""
    parser = argparse.ArgumentParser(description="Flips of single bits over every kept file.")
    parser.add_argument("--flips", type=int, default=1_200)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--whole", type=int, default=20)
    parser.add_argument("--kinds", default="", metavar="BEGIN")
    chosen = parser.parse_args()
    logging.disable(logging.WARNING)  # a line for every ledger that is made anew
    began = time.perf_counter()
    show(measure(chosen.flips, seed=chosen.seed, whole=chosen.whole, only=chosen.kinds))
    print(f"seed {chosen.seed}, every {chosen.whole}th try a whole build; {time.perf_counter() - began:.0f} s")


def quick() -> None:
    """A few of each kind."""
    show(measure(60, seed=14, whole=20))


if __name__ == "__main__":
    main()
