"""Whether a pack is sound: every example goes to its row and to no other, no look-alike does, nothing takes too long.

A table says which of its rows a text goes to, with all packs that are active, so a row that would take another pack's
errors is found here and not in a build. What other tables and the readers of tracebacks make of the text is not asked.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import Any

from pipeline import packs
from pipeline.translate import messages

#: Tables whose rows say that something failed: none may say so of ordinary lines.
ANNOUNCING = frozenset({"lines", "stacks", "exceptions", "families", "codes"})
#: Tables whose examples stand in logs, and the lines that stand around them there.
_OF_LOGS = frozenset({"lines", "stacks"})
_BEFORE, _BEHIND = "2026-03-04 09:12:01 INFO started with 3 workers", "2026-03-04 09:12:09 INFO waiting for work"
#: Hostile texts of so many characters, and of twice as many; a small one first, where the cost explodes.
_HOSTILE = (1_500, 20_000)
#: Longer than that no text of these lengths takes; what takes longer is stopped.
_MOST_SECONDS = 5.0
#: Twice the text may take so many times as long: what is quadratic takes four times as long; below the floor the clock
#: says nothing.
_MOST_RATIO, _FLOOR_SECONDS = 3.0, 0.03
#: Measurements, of which the least counts: a busy machine disturbs single ones.
_TRIES = 6
_MOST_SHOWN = 80
#: A word of an example with what follows it, and how many of them are tried.
_PIECE = re.compile(r"\w{1,40}\W{0,4}")
_MOST_PIECES = 8


@dataclass(frozen=True, slots=True)
class Proven:
    """What the proof of a pack looked at, and what is wrong."""

    pack: str
    rows: dict[str, int]  # by table
    examples: int
    problems: tuple[packs.Problem, ...]


def prove(pack: packs.Pack, *, told: Callable[[str], None] = lambda _row: None) -> Proven:
    """The proof of a pack that is active; `told` hears of each row before it is tried."""
    read_rooms()
    rows: dict[str, int] = {}
    problems: list[packs.Problem] = []
    examples = 0
    for table in packs.tables():
        try:
            own = table.of(pack)
        except packs.PackError as error:
            problems += error.problems
            continue
        rows |= {table.name: len(own)} if own else {}
    problems = problems or [one for one in packs.together() if one.path.is_relative_to(pack.folder)]
    if not problems:
        for table in packs.tables():
            for row in table.of(pack):
                told(f"{table.name}: {row.name}")
                examples += len(row.examples) + len(row.lookalikes)
                problems += _of_row(table, row)
        problems += _of_chinese(pack)
    if not rows and not problems:
        problems.append(
            packs.Problem(
                pack.folder, None, "no rows", "Add a table, as lines.toml; docs/packs.md says what each holds."
            )
        )
    return Proven(pack.name, rows, examples, tuple(problems))


def read_rooms() -> None:
    """Nothing; every room that reads a table is loaded, so that its table is known."""
    from pipeline import distil, extract, normalise, translate  # noqa: F401, PLC0415
    from pipeline.providers.catalogue import pages  # noqa: F401, PLC0415


def _of_row(table: packs.Table[Any], row: packs.Row) -> Iterator[packs.Problem]:
    if table.hits is None:
        return
    for text in row.examples:
        taken = list(table.hits(text))
        if row not in taken:
            yield _problem(row, f"its example goes {_where(taken)}: {_shown(text)}", _MISSED)
        for other in taken:
            if other != row:
                yield _problem(row, f"its example goes to {_name(other)} too: {_shown(text)}", _SHARED)
        if row in taken and table.name in _OF_LOGS and row not in table.hits(f"{_BEFORE}\n{text.strip()}\n{_BEHIND}"):
            yield _problem(row, f"its example is not found between other lines of a log: {_shown(text)}", _BETWEEN)
    for text in row.lookalikes:
        if row in table.hits(text):
            yield _problem(row, f"it takes its look-alike: {_shown(text)}", _LOOSE)
    plain = ordinary() if table.name in ANNOUNCING else ()
    for text in (each for each in plain if row in _rows_of(table.name, each)):
        yield _problem(row, f"it takes an ordinary text for an error: {_shown(text)}", _LOOSE)
    slow = next((told for unit in _hostile(row) if (told := _slowness(table.hits, unit))), "")
    if slow:
        yield _problem(row, f"it takes too long: {slow}", _SLOW)


@packs.cached
def _rows_of(table: str, text: str) -> tuple[packs.Row, ...]:
    """The rows that an ordinary text goes to."""
    hits = next(one.hits for one in packs.tables() if one.name == table)
    return tuple(hits(text)) if hits else ()


_BETWEEN = "Begin the pattern with the tool's own words; what stands before them is a row of prefixes.toml, or `where`."
_MISSED = "Mend the pattern or the words that it is looked for by, or the example: it is a text as the tool prints it."
_SHARED = "Say more of the tool's own words in the pattern, so that it fits nothing else; or take one of the rows out."
_LOOSE = "Say more of the tool's own words in the pattern; a row that takes such lines makes false entries."
_SLOW = (
    "Bound the repeats ({0,80} for *, a class such as [^:\\n] for .), and let no two of them fit the same characters."
)


def _problem(row: packs.Row, message: str, advice: str) -> packs.Problem:
    return packs.Problem(row.place.path, row.place.line, f"row {row.name!r}: {message}", advice)


def _name(row: packs.Row) -> str:
    return f"{row.name!r} of the pack {row.place.pack}"


def _where(taken: Sequence[packs.Row]) -> str:
    return f"to {_name(taken[0])} instead" if taken else "to no row of its table"


def _shown(text: str) -> str:
    line = text.replace("\n", "\\n")
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…"


@packs.cached
def ordinary() -> tuple[str, ...]:
    """Ordinary texts in which nothing failed, one a paragraph: logs, listings, tables, prose."""
    text = resources.files("pipeline").joinpath("data", "ordinary.txt").read_text("utf-8")
    body = text.partition("\n\n")[2]  # behind what the file says of itself
    return tuple(paragraph.strip("\n") for paragraph in body.split("\n\n") if paragraph.strip())


def _hostile(row: packs.Row) -> Iterator[str]:
    """Units of texts that make the row begin again and again, and never end."""
    pieces: dict[str, None] = dict.fromkeys([" ", "a", "0", "\n"])
    for text in row.examples:
        words = text.split(" ")
        pieces |= dict.fromkeys([f"{text}\n", text.replace("\n", " "), f"{' '.join(words[: len(words) // 2])} "])
        pieces |= dict.fromkeys(_PIECE.findall(text)[:_MOST_PIECES])
    yield from (piece for piece in pieces if piece)


def _slowness(hits: Callable[[str], object], unit: str) -> str:
    """How much longer twice the text takes, "" where that is in proportion."""
    for size in _HOSTILE:
        once, twice = unit * (size // len(unit) or 1), unit * (2 * size // len(unit) or 2)
        short = long = _MOST_SECONDS
        for _ in range(_TRIES):
            short, long = min(short, _seconds(hits, once)), min(long, _seconds(hits, twice))
            if long < _MOST_RATIO * max(short, _FLOOR_SECONDS) or long >= _MOST_SECONDS:
                break
        if long >= _MOST_RATIO * max(short, _FLOOR_SECONDS) or long >= _MOST_SECONDS:
            return f"{_shown(unit)!r} again and again: {short:.2f} s, and {long:.2f} s or more at twice the length"
    return ""


def _seconds(hits: Callable[[str], object], text: str) -> float:
    """How long it takes, seconds; `_MOST_SECONDS` where it is stopped."""
    begun = time.process_time()
    try:
        with _stopped():
            hits(text)
    except _TooLongError:
        return _MOST_SECONDS
    return time.process_time() - begun


class _TooLongError(Exception):
    pass


@contextmanager
def _stopped() -> Iterator[None]:
    """Nothing; what takes too long inside is stopped. Only the main thread can be."""

    def stop(_signal: int, _frame: object) -> None:
        raise _TooLongError

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _of_chinese(pack: packs.Pack) -> Iterator[packs.Problem]:
    lines = (pack.text(packs.CHINESE) or "").splitlines()
    for english, chinese in messages.of_pack(pack):
        if refused := messages.refusals(english, chinese):
            line = next((number for number, text in enumerate(lines, 1) if english[:30] in text), None)
            message = f"the Chinese of {_shown(english)!r} does not pass: {', '.join(refused)}"
            yield packs.Problem(pack.folder / packs.CHINESE, line, message, _CHINESE)


_CHINESE = (
    "Say it in Simplified Chinese with full-width marks, every {1} that the English has, and no full stop at the end."
)
