"""Texts that commands read: a log, or lines of JSON with a text each; within limits of size and time."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from pipeline.cli.output import complain
from pipeline.records.errors import ConfigError, LimitReached

if TYPE_CHECKING:
    from types import FrameType

    from pipeline.ask import Gap, Pasted

File = Annotated[str, typer.Argument(metavar="[FILE]", help="A file, or - for standard input.", show_default="-")]
#: 50 MB of a CI log take 1.3 s; 8 MB of nothing but tracebacks, each with a message of its own, took 57 s.
MOST_SECONDS = 60.0
#: A longer time is none that a timer takes.
_DAY_SECONDS = 86_400
Seconds = Annotated[
    float, typer.Option("--seconds", min=0, max=_DAY_SECONDS, help="Time that one text may take; 0: no end.")
]
#: A line of JSON that is longer is passed over.
MOST_LINE_BYTES = 64 << 20


def log_of(file: str) -> Pasted:
    """What is read of a file or of standard input; what is left out of it is told on standard error."""
    from pipeline.ask import pasted

    with _opened(file) as stream:
        log = pasted(stream)
    if log.gap:
        complain(f"{_name(file)}: {log.gap}", hint="Give the part that matters: `tail -n 100000 LOG | errmine …`.")
    return log


def left_out(gap: Gap | None) -> dict[str, int] | None:
    """What was not read of a text, for JSON."""
    return asdict(gap) if gap else None


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115  (what fails in the context is no failure to open)
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(f"{file}: {reason}", hint="Give the path of a readable file, or -.") from error
    with stream:
        is_device = stat.S_ISCHR(os.fstat(stream.fileno()).st_mode)
        if is_device and not (stream.isatty() or Path(file).samefile(os.devnull)):
            raise ConfigError(f"{file}: Is a device, which never ends", hint="Give the path of a readable file, or -.")
        yield stream


def _name(file: str) -> str:
    return "standard input" if file == "-" else file


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Nothing; what takes longer than that in the context is stopped.

    Raises:
        LimitReached: it took longer.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        hint = "Give the end of the log, `tail -n 2000 LOG | errmine …`, or more time: --seconds."
        raise LimitReached(f"the text was read for {seconds:g} s and not to its end", hint=hint)

    if not seconds or threading.current_thread() is not threading.main_thread():  # others take no signals
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def passing_over(item_id: object) -> Iterator[None]:
    """Nothing; a line that takes too long is named on standard error and the next one is read."""
    try:
        yield
    except LimitReached as error:
        complain(f"{item_id}: {error}", hint="The line is passed over.")


def lines_of(file: str) -> Iterator[tuple[Any, str]]:
    """(id, text) of each line of JSON; a line that is none is named on standard error and passed over."""
    with _opened(file) as stream:
        number = 0
        while line := stream.readline(MOST_LINE_BYTES):
            number += 1
            place = f"{_name(file)}:{number}"
            if len(line) == MOST_LINE_BYTES and not line.endswith(b"\n"):
                while (rest := stream.readline(MOST_LINE_BYTES)) and not rest.endswith(b"\n"):
                    pass
                complain(f"{place}: longer than {MOST_LINE_BYTES >> 20} MiB", hint="The line is passed over.")
                continue
            yield from _row(line.decode("utf-8", "replace"), number, place)


def _row(line: str, number: int, place: str) -> Iterator[tuple[Any, str]]:
    if not line.strip():
        return
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        complain(f"{place}: not JSON: {error.msg}", hint="The line is passed over.")
        return
    except ValueError:  # Python reads no number of more than 4,300 digits
        complain(f"{place}: a number of too many digits", hint="The line is passed over.")
        return
    except RecursionError:
        complain(f"{place}: nested too deep", hint="The line is passed over.")
        return
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        complain(f'{place}: no {{"id", "text"}} object', hint="The line is passed over.")
        return
    yield row.get("id", number), row["text"]
