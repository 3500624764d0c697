"""`errmine extract`, `group` and `match`: texts in, what errmine sees in them out. Only `match` needs a home."""

from __future__ import annotations

import gc
import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from pipeline.cli.app import Home, Json, app, settings
from pipeline.cli.output import complain, print_json, print_json_line, print_table, say
from pipeline.records.errors import ConfigError, LimitReached

if TYPE_CHECKING:
    from types import FrameType

    from pipeline.ask import Answer, Gap, Pasted
    from pipeline.records import Event

File = Annotated[str, typer.Argument(metavar="[FILE]", help="A file, or - for standard input.", show_default="-")]
#: 50 MB of a CI log take 1.3 s; 8 MB of nothing but tracebacks, each with a message of its own, took 57 s.
Seconds = Annotated[float, typer.Option("--seconds", min=0, help="Time that one text may take; 0: no end.")]
MOST_SECONDS = 60.0
#: A line of JSON that is longer is passed over.
MOST_LINE_BYTES = 64 << 20


@app.command()
def extract(
    file: File = "-",
    jsonl: Annotated[bool, typer.Option("--jsonl", help='Read {"id", "text"} lines, print a line for each.')] = False,
    seconds: Seconds = MOST_SECONDS,
    as_json: Json = False,
) -> None:
    """Show the errors in a text: tracebacks, native diagnostics, status codes.

    Exit status 1 if there are none. Of more than 64 MiB the first 16 and the last 48 are read, and what was left out
    is told; a text that takes too long ends with status 3 (with --jsonl it is named and passed over).
    """
    from pipeline.ask import read_pasted

    if jsonl:
        found = 0
        for item_id, text in _lines(file):
            with _passing_over(item_id), _in_time(seconds):
                seen = read_pasted(text).events
                found += len(seen)
                print_json_line({"id": item_id, "events": [_event(event) for event in seen]})
        raise typer.Exit(0 if found else 1)
    log = _log(file)
    with _in_time(seconds):
        seen = read_pasted(log.text).events
    if as_json:
        print_json({"events": [_event(event) for event in seen], "left_out": _left_out(log.gap)})
    elif seen:
        rows = [(e.dialect, e.exception_type, e.message, len(e.frames), " ".join(e.codes), e.start) for e in seen]
        print_table("", ["dialect", "type", "message", "frames", "codes", "offset"], rows)
    else:
        complain("no error found in the text", hint="errmine reads tracebacks, native diagnostics and status codes.")
    raise typer.Exit(0 if seen else 1)


@app.command()
def group(
    file: File = "-",
    overrides: Annotated[
        Path | None, typer.Option("--overrides", help="An overrides.toml: what people decided; default: nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Group texts that show the same error: {"id", "text"} lines in, one line with its cluster out for each.

    The order of the lines changes nothing, the ids of the clusters included.
    """
    from pipeline.ask import group_texts, read_overrides

    decided = read_overrides(overrides) if overrides else None
    lines = list(_lines(file))
    labels = group_texts([text for _, text in lines], overrides=decided)
    for (item_id, _), label in zip(lines, labels, strict=True):
        print_json_line(
            {
                "id": item_id,
                "cluster_id": label.cluster_id,
                "signature": label.signature,
                "explanation": label.explanation,
            }
        )
    raise typer.Exit(0 if lines else 1)


@app.command()
def match(
    file: File = "-",
    home: Home = None,
    bundle: Annotated[Path | None, typer.Option("--bundle", help="A bundle; default: curated/ of the home.")] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help='Read {"id", "text"} lines, print a line for each.')] = False,
    seconds: Seconds = MOST_SECONDS,
    as_json: Json = False,
) -> None:
    """Find the entry for an error text or a whole log, or say why none fits.

    Exit status 1 on an abstention. Works from the bundle alone: `pytest 2>&1 | errmine match`. Of more than 64 MiB the
    first 16 and the last 48 are read, and what was left out is told; a text that takes too long ends with status 3.
    """
    from pipeline.ask import Matcher, nearest_case
    from pipeline.text import safe

    gc.disable()  # a bundle holds no cycles, and looking for some in it costs as much as reading it
    matcher = Matcher.read(bundle or settings(home).curated_path)
    if jsonl:
        matcher.prepare()
        hits = 0
        for item_id, text in _lines(file):
            with _passing_over(item_id), _in_time(seconds):
                answer = matcher.match(text)
                hits += answer.entry_id is not None
                print_json_line({"id": item_id, **answer.as_dict()})
        raise typer.Exit(0 if hits else 1)
    log = _log(file)
    with _in_time(seconds):
        answer = matcher.match(log.text)
    entry = matcher.entry(answer.entry_id) if answer.entry_id else None
    case = nearest_case(entry.get("cases", ()), answer) if entry else None
    if as_json:
        print_json({**answer.as_dict(), "left_out": _left_out(log.gap), "case": case, "entry": entry})
    else:
        if answer.start is not None:
            text = safe(log.text)
            places = (answer.start, (answer.end or 1) - 1)
            first, last = (log.line(1 + text.count("\n", 0, place)) for place in places)
            say(f"lines {first}–{last}: {answer.signature}", style="dim")
        _print_answer(answer, entry, case)
    raise typer.Exit(0 if answer.entry_id else 1)


def _print_answer(answer: Answer, entry: dict[str, Any] | None, case: int | None) -> None:
    if entry is None:
        say(f"no entry: {answer.reason}")
    else:
        from pipeline.cli.look import print_entry

        say(f"score {answer.score:.0f}: {answer.reason}\n", style="dim")
        print_entry(entry, nearest=case)
    if answer.runner_up:
        say(f"runner-up: {answer.runner_up} ({answer.runner_up_reason})")


def _event(event: Event) -> dict[str, Any]:
    return {
        "dialect": event.dialect,
        "exception_type": event.exception_type,
        "message": event.message,
        "frames": [{"file": f.file, "line": f.line, "function": f.function} for f in event.frames],
        "chain": [
            {
                "link": link.link,
                "exception_type": link.exception_type,
                "message": link.message,
                "frame_count": link.frame_count,
            }
            for link in event.chain
        ],
        "codes": list(event.codes),
        "start": event.start,
        "end": event.end,
        "truncated": event.is_truncated,
        "severity": event.severity,
    }


def _log(file: str) -> Pasted:
    """What is read of a file or of standard input; what is left out of it is told on standard error."""
    from pipeline.ask import pasted

    with _opened(file) as stream:
        log = pasted(stream)
    if log.gap:
        complain(f"{_name(file)}: {log.gap}", hint="Give the part that matters: `tail -n 100000 LOG | errmine …`.")
    return log


def _left_out(gap: Gap | None) -> dict[str, int] | None:
    return asdict(gap) if gap else None


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as stream:
            yield stream
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(f"{file}: {reason}", hint="Give the path of a readable file, or -.") from error


def _name(file: str) -> str:
    return "standard input" if file == "-" else file


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
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
def _passing_over(item_id: object) -> Iterator[None]:
    """Nothing; a line that takes too long is named on standard error and the next one is read."""
    try:
        yield
    except LimitReached as error:
        complain(f"{item_id}: {error}", hint="The line is passed over.")


def _lines(file: str) -> Iterator[tuple[Any, str]]:
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
    except RecursionError:
        complain(f"{place}: nested too deep", hint="The line is passed over.")
        return
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        complain(f'{place}: no {{"id", "text"}} object', hint="The line is passed over.")
        return
    yield row.get("id", number), row["text"]
