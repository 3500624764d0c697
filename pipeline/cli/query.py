"""`errmine query`: SQL in, rows out, within limits of time, memory and rows."""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.app import BundlePlace, Command, Home, Json, app
from pipeline.cli.asked import database
from pipeline.cli.output import complain, terminal_width
from pipeline.records.errors import ConfigError, LimitReached

_OPENING_COMMENT = re.compile(r"--[^\s=]*\s")

#: 22,694 real threads have 14,723 events: every row of them is printed.
MOST_ROWS = 100_000
MOST_SECONDS = 60.0
MOST_SQL = 1_000_000
#: On a terminal nobody reads more.
SHOWN_ROWS = 200
#: What the rows may come to as Arrow holds them, where no number of them is named.
MOST_BYTES = 256 << 20
#: Address space beside what the process has: DuckDB's own limit of 2 GB leaves out the texts of the rows at work.
MOST_MEMORY_BYTES = 4 << 30
_MORE_MEMORY = "Ask for fewer columns or rows, or for --format csv or parquet, which are written as they come."


class SqlCommand(Command):
    """A command whose argument may begin as options do: a block of SQL with a comment as its first line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left after options; no option has white space in its name."""
        sql = [] if "--" in args else [arg for arg in args if _OPENING_COMMENT.match(arg)]
        options = [arg for arg in args if arg not in sql]
        return super().parse_args(ctx, [*options, "--", *sql] if sql else args)


@app.command(cls=SqlCommand)
def query(
    sql: Annotated[str, typer.Argument(help="SQL, read-only; - reads it from standard input.")],
    home: Home = None,
    bundle: BundlePlace = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="table, json, csv or parquet. In csv an apostrophe stands before a text that a spreadsheet would run "
            "as a formula; json and parquet have every text as it is.",
        ),
    ] = "table",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=0,
            help="Rows at most; 0: all.",
            show_default=f"{MOST_ROWS}, and 256 MiB; on a terminal {SHOWN_ROWS}",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0, help="Time that the database may take; 0: no end.")
    ] = MOST_SECONDS,
    as_json: Json = False,
) -> None:
    """Ask the database in SQL. No write, no file and no network is within its reach.

    An answer that the default limits cut, a question that takes too long or more than 4 GiB of memory ends with status
    3 and a word about it on standard error. On a terminal a table is as wide as the terminal, and ends after 200 rows.
    `--limit 0 --format csv > FILE` writes an answer of any length.
    """
    from pipeline import store
    from pipeline.cli.fitting import write_fitting

    form = "json" if as_json else form
    write = store.writer(form)
    is_read = form == "table" and sys.stdout.isatty()
    if is_read:
        write = partial(write_fitting, width=terminal_width())
    if form == "parquet" and sys.stdout.isatty():
        raise ConfigError("Parquet is no text for a terminal", hint="Send it to a file: `... --format parquet > FILE`.")
    text = sys.stdin.read(MOST_SQL + 1) if sql == "-" else sql
    if len(text) > MOST_SQL:
        raise ConfigError(f"more than {MOST_SQL:,} characters of SQL", hint="Give a question, no data.")
    limits = store.Limits(
        rows=(SHOWN_ROWS if is_read else MOST_ROWS) if limit is None else limit or None,
        bytes=MOST_BYTES if limit is None else None,
        seconds=seconds or None,
        give_up=lambda: _end(seconds),
    )
    sys.stdout.flush()
    path = database(home, bundle)
    with _memory(MOST_MEMORY_BYTES), store.asked(path, text, limits=limits) as answer:
        write(answer.schema, answer.batches(), sys.stdout.buffer)
        sys.stdout.buffer.flush()
    if answer.is_cut:
        hint = f"All of them: errmine query --limit 0 --format {'csv' if form == 'table' else form} … > FILE"
        complain(f"cut after {answer.row_count:,} rows: the answer has more", hint=hint)
        raise typer.Exit(LimitReached.exit_code if limit is None and not is_read else 0)


@contextmanager
def _memory(more: int) -> Iterator[None]:
    """Nothing; in the context this process may take `more` bytes of address space beside what it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    wanted = pages * resource.getpagesize() + more
    if soft == resource.RLIM_INFINITY or wanted < soft:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    except MemoryError as error:
        raise LimitReached(f"the answer needs more than {more >> 30} GiB of memory", hint=_MORE_MEMORY) from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _end(seconds: float) -> None:
    """The end of the process: a function at work on one value cannot be stopped."""
    complain(f"the query was stopped after {seconds:g} s, at work on a single value", hint="Ask it of less text.")
    sys.stderr.flush()
    os._exit(LimitReached.exit_code)
