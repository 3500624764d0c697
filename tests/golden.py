"""The golden bundle: what errmine makes of raw/sample. `python -m tests.golden` writes it anew (`make golden`)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pipeline import run

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "raw" / "sample"
GOLDEN = ROOT / "curated" / "sample"
#: How long one run waits for another: with five programs for each core a build of the sample took more than 30 s.
TURN_SECONDS = 150


def make(home: Path, *, source: Path = SAMPLE, workers: int = 1, partition_documents: int = 500) -> Path:
    """The curated folder of `home` after import, build and export of `source`."""
    places = run.Places.of(home)
    run.import_files(places.raw, [source])
    run.build(places, workers=workers, partition_documents=partition_documents)
    run.export(places)
    return places.curated


def work(home: Path, *, workers: int, partition_documents: int) -> None:
    """Build and export `home`, each waiting for its turn and recorded, as the command line does it."""
    places = run.Places.of(home)
    with run.recorded(home, "build", wait_seconds=TURN_SECONDS) as record:
        record.summary = run.build(places, workers=workers, partition_documents=partition_documents)
    with run.recorded(home, "export", wait_seconds=TURN_SECONDS) as record:
        record.summary = run.export(places)


def copied(made: Path, home: Path) -> Path:
    """`home`, now a copy of the home `made`; to make one takes a hundred times as long."""
    return Path(shutil.copytree(made, home, dirs_exist_ok=True))


def bundle_bytes(folder: Path) -> dict[str, bytes]:
    """Every file of a bundle by its path; the database is not part of it, nor one that is being written."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "errmine.duckdb" not in path.name
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        made = bundle_bytes(make(Path(scratch)))
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for name, body in made.items():
        path = GOLDEN / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    print(f"{len(made)} files in {GOLDEN}")
