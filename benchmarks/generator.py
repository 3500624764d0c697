"""Seeded error messages with their truth: Zipf over templates, typed slots, noise, cuts, and some of no template.

    python benchmarks/generator.py 100000 /tmp/messages.parquet [--seed 1] [--templates 5000]

Every word is made up here from syllables and a list of general terms; nothing is taken from a corpus. The truth of a
message is its template's number; a message of no template is a truth of its own. One template in twenty is a
look-alike of another: the same words but one. Easier than real messages: it proves speed, and only bounds quality.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TEMPLATES, ZIPF_EXPONENT = 5000, 1.05
#: Shares of messages. Together with names in slots they leave about one text in six that occurs once after masking.
PREFIXED, CUT, REWORDED, WITHOUT_TEMPLATE = 0.35, 0.03, 0.05, 0.03
#: Share of templates with a slot for a free name, which no mask knows, and of look-alikes of another template.
NAMED, LOOK_ALIKE = 0.10, 0.05
CHUNK = 100_000
POOL = 4096

TERMS = (  # noqa: SIM905  (one word a line would be 90 lines)
    "invalid argument device kernel launch tensor shape mismatch expected found buffer allocation failed memory stride "
    "operand result type attribute operation lowering pass module layout block thread warp register shared global "
    "stream event graph node handle context driver runtime version compile link symbol undefined missing file path "
    "permission denied timeout connection reset peer rank group collective barrier index bound dimension size limit "
    "required available exceeded overflow precision cast convert scalar vector matrix batch channel gradient backward "
    "forward optimizer parameter weight state checkpoint load save parse token config option flag unknown duplicate "
    "assert check internal unreachable unsupported backend target feature schedule queue worker process signal abort"
).split()
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu zan bel cor dun fer gol han".split()  # noqa: SIM905
CONTRAST = (("started", "paused"), ("row", "column"), ("read", "write"), ("input", "output"), ("host", "device"))
LEVELS = ("ERROR", "WARNING", "error", "E", "CRITICAL")

Slot = Callable[[random.Random], str]
SLOTS: dict[str, Slot] = {
    "n": lambda rng: str(rng.randrange(10 ** rng.randrange(1, 9))),
    "hex": lambda rng: f"0x{rng.getrandbits(48):x}",
    "path": lambda rng: f"/home/u{rng.randrange(999)}/{rng.choice(SYLLABLES)}{rng.randrange(99)}/run.py",
    "shape": lambda rng: "[" + ", ".join(str(rng.randrange(1, 4096)) for _ in range(rng.randrange(1, 5))) + "]",
    "dtype": lambda rng: rng.choice(("float32", "float16", "bfloat16", "int8", "int32", "int64", "float64")),
    "uuid": lambda rng: (
        f"{rng.getrandbits(32):08x}-{rng.getrandbits(16):04x}-{rng.getrandbits(16):04x}-"
        f"{rng.getrandbits(16):04x}-{rng.getrandbits(48):012x}"
    ),
    "version": lambda rng: f"{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(9)}",
    "size": lambda rng: f"{rng.randrange(1, 999)}.{rng.randrange(100):02d} {rng.choice(('KiB', 'MiB', 'GiB'))}",
    "float": lambda rng: f"{rng.uniform(-9, 9):.4e}",
    "name": lambda rng: "_".join(rng.choice(SYLLABLES) + rng.choice(SYLLABLES) for _ in range(rng.randrange(2, 4))),
}
MASKED = tuple(name for name in SLOTS if name != "name")


def vocabulary(rng: random.Random, size: int = 2500) -> list[str]:
    """General terms and made-up words, each once."""
    made = {"".join(rng.choice(SYLLABLES) for _ in range(rng.randrange(2, 4))) for _ in range(size)}
    return [*TERMS, *sorted(made - set(TERMS))]


def templates(rng: random.Random, count: int) -> list[list[str]]:
    """Templates as lists of words; a word "<n>" is a slot."""
    words = vocabulary(rng)
    made: list[list[str]] = []
    while len(made) < count:
        if made and rng.random() < LOOK_ALIKE:
            made.extend(_look_alikes(rng, rng.choice(made)))
        else:
            made.append(_template(rng, words))
    rng.shuffle(made)
    return made[:count]


def _template(rng: random.Random, words: Sequence[str]) -> list[str]:
    parts = [rng.choice(words) for _ in range(rng.randrange(9, 36))]
    for _ in range(rng.randrange(1, 6)):
        parts.insert(rng.randrange(2, len(parts)), f"<{rng.choice(MASKED)}>")
    if rng.random() < NAMED:
        parts.insert(rng.randrange(2, len(parts)), "<name>")
    parts[0] = parts[0].capitalize() + "Error:"
    return parts


def _look_alikes(rng: random.Random, parts: Sequence[str]) -> list[list[str]]:
    place = rng.choice([place for place, part in enumerate(parts) if place and part[0] != "<"])
    return [[*parts[:place], word, *parts[place + 1 :]] for word in rng.choice(CONTRAST)]


class Messages:
    """An endless stream of (truth, text), the same for the same seed."""

    def __init__(self, seed: int, count: int = TEMPLATES) -> None:
        self.rng = random.Random(seed)
        self.words = vocabulary(self.rng)
        self.made = templates(self.rng, count)
        self.pools = {name: [slot(self.rng) for _ in range(POOL)] for name, slot in SLOTS.items()}
        self.weights = list(accumulate(1 / (rank + 5) ** ZIPF_EXPONENT for rank in range(count)))
        self._own = count

    def take(self, count: int) -> Iterator[tuple[int, str]]:
        """The next `count` messages with their truth."""
        rng = self.rng
        for number in rng.choices(range(len(self.made)), cum_weights=self.weights, k=count):
            if rng.random() < WITHOUT_TEMPLATE:
                self._own += 1
                yield self._own, self._prefixed(" ".join(rng.choices(self.words, k=rng.randrange(10, 40))))
            else:
                yield number, self._prefixed(self._message(self.made[number]))

    def _message(self, parts: Sequence[str]) -> str:
        rng, pools = self.rng, self.pools
        if rng.random() < REWORDED:
            parts = self._reworded(list(parts))
        picked = int(rng.random() * POOL)
        text = " ".join(
            pools[part[1:-1]][(picked * 31 + place * 7919) % POOL] if part[0] == "<" else part
            for place, part in enumerate(parts)
        )
        if rng.random() < CUT:
            text = text[: int(len(text) * rng.uniform(0.6, 0.95))] + "..."
        return text

    def _reworded(self, parts: list[str]) -> list[str]:
        place = self.rng.randrange(1, len(parts))
        change = self.rng.randrange(3)
        if change == 0:
            del parts[place]
        elif change == 1:
            parts.insert(place, self.rng.choice(("the", "please", "see", "log", "again", "now", "still")))
        elif parts[place][0] != "<":
            letter = self.rng.randrange(len(parts[place]))
            parts[place] = parts[place][:letter] + self.rng.choice("aeioustr") + parts[place][letter + 1 :]
        return parts

    def _prefixed(self, text: str) -> str:
        rng = self.rng
        if rng.random() >= PREFIXED:
            return text
        clock = f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
        form = rng.randrange(3)
        if form == 0:
            return f"[rank{rng.randrange(64)}]: {text}"
        if form == 1:
            day = f"2025-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
            return f"{day} {clock},{rng.randrange(999):03d} {rng.choice(LEVELS)} {text}"
        return f"{clock} | {rng.choice(LEVELS)} | {text}"


def write(path: Path, count: int, *, seed: int = 1, template_count: int = TEMPLATES) -> None:
    """Write a Parquet file with columns id, truth and text."""
    schema = pa.schema([("id", pa.int64()), ("truth", pa.int64()), ("text", pa.string())])
    messages = Messages(seed, template_count)
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
        for start in range(0, count, CHUNK):
            rows = list(messages.take(min(CHUNK, count - start)))
            columns = [range(start, start + len(rows)), [row[0] for row in rows], [row[1] for row in rows]]
            writer.write_table(pa.table([pa.array(c, t) for c, t in zip(columns, schema.types, strict=True)], schema))


def main() -> None:
    """Write the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--templates", type=int, default=TEMPLATES)
    options = parser.parse_args()
    write(options.path, options.count, seed=options.seed, template_count=options.templates)


if __name__ == "__main__":
    main()
