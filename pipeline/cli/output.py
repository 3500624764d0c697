"""What the commands print: JSON for programs, tables for people, errors with what to do next.

Text from bug reports is untrusted: it is cleaned of control characters before it reaches a terminal and never read as
markup.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from pipeline.records.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console


def command_name() -> str:
    """How the reader's shell finds this command: by its name, or by the path that it was called by."""
    called = Path(sys.argv[0])
    return "errmine" if shutil.which("errmine") or called.name != "errmine" else str(called)


def complain(message: str, *, hint: str = "") -> None:
    """Say on standard error what went wrong and what to do."""
    on_stderr = console(stderr=True)
    on_stderr.print(f"errmine: {safe(message)}", style="red", soft_wrap=True)
    if hint:
        on_stderr.print(f"  {safe(hint)}", soft_wrap=True)


def announce(message: str) -> None:
    """Say on standard error what takes a while from here on; only to people, so nothing where it is no terminal."""
    on_stderr = console(stderr=True)
    if on_stderr.is_terminal:
        on_stderr.print(safe(message), style="dim", soft_wrap=True)


def say(message: str = "", *, style: str = "") -> None:
    """Print a line for people."""
    console().print(safe(message), style=style or None, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print `value` as indented JSON, Chinese as Chinese where the output can show it."""
    _write_json(json.dumps(value, ensure_ascii=not is_unicode(sys.stdout), indent=2))


def write_json(path: Path, value: Any) -> None:
    """Write `value` into a file, as `print_json` prints it.

    Raises:
        ConfigError: the file cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    try:
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint="Name a file that can be written to.") from error


def print_json_line(value: Mapping[str, Any]) -> None:
    """Print `value` as one line of JSON."""
    _write_json(json.dumps(value, ensure_ascii=not is_unicode(sys.stdout), separators=(",", ":")))


def _write_json(text: str) -> None:
    # half of a surrogate pair has no bytes in UTF-8; with a backslash JSON can say it
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, whole: str = "") -> None:
    """Print a table; numbers are set flush right. The column `whole` is never folded: its cells can be copied."""
    from rich.table import Table
    from rich.text import Text

    kept = [list(row) for row in rows]
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for number, column in enumerate(columns):
        is_numeric = bool(kept) and all(isinstance(row[number], int | float) or row[number] is None for row in kept)
        justify: Literal["right", "left"] = "right" if is_numeric else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column == whole)
    for row in kept:
        table.add_row(*(Text(_cell(value)) for value in row))
    console().print(table)


def place_of_case(case: Mapping[str, Any]) -> str:
    """Where a case was met: project, function and library; its one thread where no frame tells the function."""
    project = case["repo"] if case["frame"] else next(iter(case["documents"]), case["repo"])
    return " · ".join(filter(None, (project, case["frame"], case["library"])))


def print_block(action: str, how: str | None) -> None:
    """Print the block that the action announces; quoted words that only say the act once more are in the evidence."""
    if how and ("\n" in how or action.rstrip().endswith((":", "："))):
        print_lines(how)


def print_lines(block: str) -> None:
    """Print a quoted block."""
    for line in block.splitlines():
        say(f"    | {line}")


def console(*, stderr: bool = False) -> Console:
    """A console that prints words as they are: what stands in brackets or between colons is no markup and no emoji."""
    from rich.console import Console

    # rich honours NO_COLOR and drops colour where the output is no terminal
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def terminal_width() -> int:
    """The places of a line of the terminal."""
    return console().width


def is_unicode(stream: TextIO) -> bool:
    """Whether `stream` takes every character: a terminal in Latin-1 or in the locale C does not."""
    return (stream.encoding or "").lower().startswith("utf")


def safe(text: str) -> str:
    """`text` without what could drive a terminal: control, zero-width and bidi characters."""
    from pipeline.text import clean

    return clean(text)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}"
    return safe(str(value))
