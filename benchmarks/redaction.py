"""What redaction costs of the step that reads documents, beside another checkout of errmine and beside none at all.

    python -m benchmarks.redaction [FILE.jsonl.gz] [--against FOLDER]

FOLDER is another checkout, such as one of before redaction grew. Every reader is a process of its own; they read the
same CHUNK of pages in turn, ROUNDS times over, and of each chunk the least CPU seconds count: other work on the
machine, which comes and goes, disturbs all alike.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.internal import ISSUES, where_present

#: Every so many-th thread is read; so many at a time, so often.
EVERY, CHUNK, ROUNDS = 8, 100, 9
OURS, NONE = "redacted", "not redacted"


def read(path: Path, *, is_redacted: bool) -> None:
    """Print how many pages there are; then for each number of a chunk on stdin the CPU seconds that it took."""
    from pipeline.providers import documents
    from pipeline.providers import files as archive
    from pipeline.records import RawPage

    if not is_redacted:
        _without_redaction()
    pages = [page for page in archive.pages([path]) if isinstance(page, RawPage)][::EVERY]
    gc.collect()
    gc.freeze()
    print(len(pages), flush=True)
    for line in sys.stdin:
        part = pages[int(line) * CHUNK : (int(line) + 1) * CHUNK]
        began = time.process_time()
        for page in part:
            documents.document([page])
        print(time.process_time() - began, flush=True)


def _without_redaction() -> None:
    """Nothing; texts are still cleaned, and still searched for mail and for bots."""
    from pipeline import text as texts
    from pipeline.providers import assemble

    assemble.texts = type(
        "Texts", (), {**vars(texts), "redaction_keywords": tuple, "suspects": lambda *_: texts.suspects("")}
    )  # type: ignore[assignment]


def compare(path: Path, folders: dict[str, Path]) -> dict[str, float]:
    """The CPU seconds of each reader, by its name."""
    children = {
        name: subprocess.Popen(
            [sys.executable, __file__, str(path), "--read", name],
            env={**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, folder in folders.items()
    }
    sizes = {int(_answer(child)) for child in children.values()}
    least: dict[str, dict[int, float]] = {name: {} for name in children}
    for _ in range(ROUNDS):
        for number in range(-(-min(sizes) // CHUNK)):
            for name, child in children.items():
                cost = float(_answer(child, number))
                least[name][number] = min(cost, least[name].get(number, cost))
    for child in children.values():
        child.communicate()
    return {name: sum(costs.values()) for name, costs in least.items()}


def _answer(child: subprocess.Popen[str], number: int | None = None) -> str:
    assert child.stdin
    assert child.stdout
    if number is not None:
        child.stdin.write(f"{number}\n")
        child.stdin.flush()
    return child.stdout.readline()


def show(path: Path, against: Path | None) -> None:
    """Print the table."""
    here = Path(__file__).resolve().parent.parent
    costs = compare(path, {OURS: here, NONE: here, **({str(against): against} if against else {})})
    print("| documents | CPU s | x |\n|---|---|---|")
    for name, cost in costs.items():
        print(f"| {name} | {cost:.3f} | {costs[OURS] / cost:.3f} |")


def quick() -> None:
    """Print the table for the internal corpus, or why not."""
    where_present(lambda path: show(path, None))


def main() -> None:
    """Print the table, or be one of the readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=ISSUES)
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read(options.path, is_redacted=options.read != NONE)
    else:
        show(options.path, options.against)


if __name__ == "__main__":
    main()
