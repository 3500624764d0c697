"""Texts with their truth: which error each one is, and which errors look like it. What is not there is left out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.internal import CORPUS, ROOT

CASES = ROOT / "tests" / "cases"

#: Runs of our own failing programs: each by itself, then under launchers, loggers, pools, collectors and test runners.
OWN_RUNS = ("gpu_runs", "wrapped_runs")


@dataclass(frozen=True)
class Item:
    """One labelled text.

    Texts of one family are look-alikes. A pair of one group with two labels is debatable and counts neither way, and
    so does a pair of one label of which one text is ambiguous.
    """

    item_id: str
    text: str
    label: str
    family: str
    group: str
    is_ambiguous: bool


@dataclass(frozen=True)
class Shown:
    """A text with one Python traceback, and what its last exception is."""

    name: str
    text: str
    exception_type: str | None
    message: str
    frame_count: int


def message_sets() -> Iterator[tuple[str, list[Item]]]:
    """Each labelled file by name: those of the internal corpus where it is, then our own."""
    if CORPUS.is_dir():
        yield "corpus: labelled_messages", _messages(CORPUS / "labelled_messages.jsonl")
        yield "corpus: gpu_runs (whole logs)", gpu_runs(CORPUS / "gpu_runs.jsonl.gz")
    for name in OWN_RUNS:
        yield f"own: {name} (whole logs)", gpu_runs(ROOT / "tests" / "quality" / f"{name}.jsonl.gz")
    for path in sorted((CASES / "normalise" / "families").glob("*.jsonl")):
        yield f"cases: {path.stem}", _messages(path)


def _messages(path: Path) -> list[Item]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Item(row["id"], row["message"], row["cluster"], row["family"], row["id"], False) for row in rows]


def gpu_runs(path: Path) -> list[Item]:
    """The failing runs of GPU programs, one Item each."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Item(f"run-{number:03}", row["text"], row["label"], row["domain"], row["group"], row["self_ambiguous"])
        for number, row in enumerate(rows)
    ]


def tracebacks() -> list[Shown]:
    """The case folders of Python's dialects that show one traceback."""
    found = []
    for folder in sorted((CASES / "extract-python").iterdir()):
        expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        if len(expected) == 1:
            (one,) = expected
            text = (folder / "input.txt").read_bytes().decode()
            found.append(Shown(folder.name, text, one["exception_type"], one["message"], len(one["frames"])))
    return found


def duplicates() -> list[tuple[str, str]]:
    """Threads that somebody called duplicates, as pairs of addresses (unverified); none without the corpus."""
    path = CORPUS / "duplicate_pairs.jsonl"
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(row["a"], row["b"]) for row in rows]
