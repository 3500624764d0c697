"""`errmine extract`, `group` and `match`: texts in, what errmine sees in them out. Only `match` needs a home."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.app import Home, Json, app, settings
from pipeline.cli.output import complain, print_json, print_json_line, print_table, say
from pipeline.records.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.ask import Answer
    from pipeline.records import Event

File = Annotated[str, typer.Argument(metavar="[FILE]", help="A file, or - for standard input.", show_default="-")]


@app.command()
def extract(
    file: File = "-",
    jsonl: Annotated[bool, typer.Option("--jsonl", help='Read {"id", "text"} lines, print a line for each.')] = False,
    as_json: Json = False,
) -> None:
    """Show the errors in a text: tracebacks, native diagnostics, status codes.

    Exit status 1 if there are none.
    """
    from pipeline.ask import read_pasted

    if jsonl:
        found = 0
        for item_id, text in _lines(file):
            seen = read_pasted(text).events
            found += len(seen)
            print_json_line({"id": item_id, "events": [_event(event) for event in seen]})
        raise typer.Exit(0 if found else 1)
    seen = read_pasted(_text(file)).events
    if as_json:
        print_json({"events": [_event(event) for event in seen]})
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
    as_json: Json = False,
) -> None:
    """Find the entry for an error text or a whole log, or say why none fits.

    Exit status 1 on an abstention. Works from the bundle alone: `pytest 2>&1 | errmine match`.
    """
    from pipeline.ask import Matcher
    from pipeline.text import safe

    gc.disable()  # a bundle holds no cycles, and looking for some in it costs as much as reading it
    matcher = Matcher.read(bundle or settings(home).curated_path)
    if jsonl:
        matcher.prepare()
        hits = 0
        for item_id, text in _lines(file):
            answer = matcher.match(text)
            hits += answer.entry_id is not None
            print_json_line({"id": item_id, **answer.as_dict()})
        raise typer.Exit(0 if hits else 1)
    text = _text(file)
    answer = matcher.match(text)
    if as_json:
        print_json({**answer.as_dict(), "entry": matcher.entry(answer.entry_id) if answer.entry_id else None})
    else:
        _print_answer(answer, matcher.entry(answer.entry_id) if answer.entry_id else None, safe(text))
    raise typer.Exit(0 if answer.entry_id else 1)


def _print_answer(answer: Answer, entry: dict[str, Any] | None, text: str) -> None:
    if answer.start is not None:
        first, last = (1 + text.count("\n", 0, place) for place in (answer.start, (answer.end or 1) - 1))
        say(f"lines {first}–{last}: {answer.signature}", style="dim")
    if entry is None:
        say(f"no entry: {answer.reason}")
    else:
        from pipeline.cli.look import print_entry

        say(f"score {answer.score:.0f}: {answer.reason}\n", style="dim")
        print_entry(entry)
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


def _text(file: str) -> str:
    """The whole of a file or of standard input; bytes that are no UTF-8 become U+FFFD."""
    if file == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}", hint="Give the path of a readable file, or -.") from error


def _lines(file: str) -> Iterator[tuple[Any, str]]:
    """(id, text) of each line of JSON; a line that is none is named on standard error and passed over."""
    name = "standard input" if file == "-" else file
    for number, line in enumerate(_text(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            complain(f"{name}:{number}: not JSON: {error.msg}", hint="The line is passed over.")
            continue
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            complain(f'{name}:{number}: no {{"id", "text"}} object', hint="The line is passed over.")
            continue
        yield row.get("id", number), row["text"]
