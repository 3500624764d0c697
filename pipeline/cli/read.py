"""`errmine extract` and `group`: texts in, what errmine sees in them out; neither needs a home."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.app import Home, Json, Packs, app, settings
from pipeline.cli.output import complain, print_json, print_json_line, print_table
from pipeline.cli.texts import MOST_SECONDS, File, Seconds, in_time, left_out, lines_of, log_of, passing_over

if TYPE_CHECKING:
    from pipeline.records import Event


@app.command()
def extract(
    file: File = "-",
    jsonl: Annotated[bool, typer.Option("--jsonl", help='Read {"id", "text"} lines, print a line for each.')] = False,
    seconds: Seconds = MOST_SECONDS,
    home: Home = None,
    pack: Packs = None,
    as_json: Json = False,
) -> None:
    """Show the errors in a text: tracebacks, native diagnostics, status codes.

    Exit status 1 if there are none. Of more than 64 MiB the first 16 and the last 48 are read, and what was left out
    is told; a text that takes too long ends with status 3 (with --jsonl it is named and passed over).
    """
    from pipeline.ask import read_pasted

    settings(home, with_packs=pack or ())
    if jsonl:
        found = 0
        for item_id, text in lines_of(file):
            with passing_over(item_id), in_time(seconds):
                seen = read_pasted(text).events
                found += len(seen)
                print_json_line({"id": item_id, "events": [_event(event) for event in seen]})
        raise typer.Exit(0 if found else 1)
    log = log_of(file)
    with in_time(seconds):
        seen = read_pasted(log.text).events
    if as_json:
        print_json({"events": [_event(event) for event in seen], "left_out": left_out(log.gap)})
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
    home: Home = None,
    pack: Packs = None,
    as_json: Json = False,
) -> None:
    """Group texts that show the same error: {"id", "text"} lines in, one line with its cluster out for each.

    The order of the lines changes nothing, the ids of the clusters included.
    """
    from pipeline.ask import group_texts, read_overrides

    settings(home, with_packs=pack or ())
    decided = read_overrides(overrides) if overrides else None
    lines = list(lines_of(file))
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
