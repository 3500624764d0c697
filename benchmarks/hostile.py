"""What the worst text for each rule costs by its length: growth must be linear.

    python -m benchmarks.hostile [--part 3/8] [--png FILE]

Every text repeats what makes a rule begin: a header, a trigger, a prefix, an open bracket, a chain of names. Text of
other people is input, so one document of 400 kB may cost no more than four times one of 100 kB.
Part 3/8 is every eighth text from the third on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks import drawing
from pipeline import extract, normalise
from pipeline import text as shared_text
from pipeline.extract import lines, native, stacks
from pipeline.normalise.tables import families, wording
from pipeline.records import Event, Severity

SIZES = (100_000, 200_000, 400_000)
#: Cost may grow by this much more than length before a text is called out: quadratic cost shows 4, caches up to 1.6.
TOLERATED = 2.0
#: Below this many seconds a measurement is noise.
LEAST_SECONDS = 0.02

#: Pieces that begin a structure, glued without end.
STRUCTURES = (
    *("a", "_", " ", "\n", "\t", "[", "(", "{", "<", "'", '"', "`", ">", "|", ":", "/", "\\n", "0", "1."),
    *("a_", "A_", "a.b", "a::", "A<", "Foo(", "foo=1,", "[0, ", "(1, ", "%a = ", "<n>", "0x1f", "ab1"),
    *("/a b", "Ab", "é", "错", "\x1b[0m", "&quot;", "Traceback (most recent call last):\n"),
    *('  File "a", line 1, in f\n', "ValueError: ", "ValueError: x\n", "E   x\n"),
    *("During handling of the above exception, another exception occurred:\n\n", "```\n"),
    *("    at a(b.js:1:2)\n", "--> 1 x\n", "+ Exception Group Traceback (most recent call last):\n", "  | "),
    *("[rank0]: ", "2024-01-01 00:00:00,000 ERROR ", "(pid=1) ", "name_of_a_thing_", "error: "),
    *("[rank0]: Traceback (most recent call last):\n[rank1]: Traceback (most recent call last):\n", "ERROR: x\n"),
    *(
        f'  File "/{"x" * 70}\n',
        'Traceback (most recent call last):\\n  File "a", line 1, in f\\n',
        "ValueError: x</pre>",
    ),
    *("a.cu:1: block: [0,0,0], thread: [0,0,0] Assertion `a", 'a:1: assertion "a'),
    *("failed to load: ", "Could not load x: ", "RuntimeError: RuntimeError: ", "at 1:2:\n", "('a', "),
)

Task = Callable[[str], object]


def texts() -> Iterator[tuple[str, str]]:
    """A name and a unit for each rule's worst case."""
    for piece in STRUCTURES:
        yield f"structure {piece[:24]!r}", piece
    for literal in (*lines.literals(), *native.literals(), *stacks.literals()):
        yield f"trigger {literal!r}", literal
        yield f"trigger line {literal!r}", f"{literal} x\n"
    for form in stacks.FORMS.rows():
        for example in form.examples:
            yield f"stack {form.name}", f"{example}\n"
            yield f"lines of stack {form.name}", "\n".join(line + "\n" + line for line in example.split("\n"))
    for tier in families().values():
        for row in tier:
            yield f"family {row.family_id}", row.examples[0] + " "
    for keyword in shared_text.redaction_keywords():
        yield f"secret {keyword!r}", keyword
        yield f"secret in a line {keyword!r}", f"a{keyword}a1 = "
    for wrapper in wording().wrappers:
        yield f"wrapper {wrapper.wrapper_id}", wrapper.need + " "


def whole(text: str) -> object:
    """Everything that the map step does to a text."""
    return [normalise.signature(event, text) for event in extract.events(text)]


def message(text: str) -> object:
    """The text as the message of one exception, as a program might print it."""
    event = Event("python", "ValueError", text, text, (), (), (), 0, len(text), False, Severity.ERROR)
    return normalise.signature(event, text)


TASKS: dict[str, Task] = {"document": whole, "message": message, "redaction": shared_text.redact}


def seconds(task: Task, text: str, *, enough: float = 0.0) -> float:
    """CPU seconds of a task, the better of two tries; one will do that took over a second, or less than `enough`."""
    tries = []
    for _ in range(2):
        began = time.process_time()
        task(text)
        tries.append(time.process_time() - began)
        if tries[0] > 1 or tries[0] < enough:
            break
    return min(tries)


def measured(sizes: tuple[int, ...] = SIZES, part: tuple[int, int] = (1, 1)) -> list[tuple[str, list[float]]]:
    """The cost of each text at each size, the most expensive first; of the texts every so many-th, as `part` says.

    What costs so little at the largest size that it cannot be called out is measured there alone.
    """
    number, parts = part
    cheap = LEAST_SECONDS * TOLERATED * sizes[-1] / sizes[0]
    rows = []
    for task_name, task in TASKS.items():
        for name, unit in islice(texts(), number - 1, None, parts):
            of_size = [(unit * (size // len(unit) + 1))[:size] for size in sizes]
            largest = seconds(task, of_size[-1], enough=cheap)
            costs = [0.0] * (len(sizes) - 1) if largest < cheap else [seconds(task, text) for text in of_size[:-1]]
            rows.append((f"{task_name}: {name}", [*costs, largest]))
    return sorted(rows, key=lambda row: -row[1][-1])


def growth(costs: list[float], sizes: tuple[int, ...]) -> float:
    """How much faster than the length the cost grows from the first size to the last; 1 is linear."""
    return (max(costs[-1], LEAST_SECONDS) / max(costs[0], LEAST_SECONDS)) / (sizes[-1] / sizes[0])


def report(rows: list[tuple[str, list[float]]], sizes: tuple[int, ...], *, shown: int = 15) -> None:
    """Print the most expensive texts and all that grow faster than their length."""
    print(f"| worst texts of {len(rows)} | {' | '.join(f'{size // 1000} kB' for size in sizes)} | growth / length |")
    print("|---|" + "---|" * (len(sizes) + 1))
    for name, costs in rows[:shown]:
        print(f"| {name} | {' | '.join(f'{cost:.3f} s' for cost in costs)} | {growth(costs, sizes):.2f} |")
    worse = [name for name, costs in rows if growth(costs, sizes) > TOLERATED]
    print(f"\n{len(worse)} of {len(rows)} grow faster than {TOLERATED} x their length. {', '.join(worse)}")


def quick() -> None:
    """Print the table for shorter texts."""
    sizes = (50_000, 100_000)
    report(measured(sizes), sizes, shown=8)


def _part(words: str) -> tuple[int, int]:
    number, parts = words.split("/")
    return int(number), int(parts)


def main() -> None:
    """Print the table and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--png", type=Path, default=None)
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/N")
    options = parser.parse_args()
    rows = measured(part=options.part)
    report(rows, SIZES)
    if options.png:
        drawing.hostile(rows, SIZES, options.png)


if __name__ == "__main__":
    main()
