"""Lists for people, as wide as the terminal; for programs a line an entry, with tabs between its fields."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.cli.output import safe, say, terminal_width

#: A terminal that says to be narrower is written to as if it were so wide.
_LEAST_WIDTH = 40


def print_errors(rows: Sequence[Mapping[str, Any]], *, has_more: bool = False) -> None:
    """Print errors, most reported first: how many threads, the id, whether it has an answer, when, the message.

    A person is told of more that are not shown.
    """
    if not sys.stdout.isatty():
        for row in rows:
            _print_fields(
                row["document_count"],
                row["entry_id"] or row["cluster_id"],
                _known(row),
                row["last_seen"] or "",
                row["signature"],
            )
        return
    for row in rows:
        told = _known(row)
        days = dict.fromkeys(filter(None, ((row["first_seen"] or "")[:7], (row["last_seen"] or "")[:7])))
        say(f"{row['document_count']:>6,}  {row['entry_id'] or row['cluster_id']}", style="bold")
        _print_cut(f"{', '.join(filter(None, (told, ' – '.join(days))))}: {row['signature']}", indent=8)
    if has_more:
        say(f"… and more: --limit {2 * len(rows)}")


def _known(row: Mapping[str, Any]) -> str:
    """Whether threads have an answer; where they have none, whether documentation says what it means.

    Of an error that is not published, for it has too few documents, nothing was asked.
    """
    if row["entry_id"] is None:
        return "not published"
    return "answered" if row["is_answered"] else "documented" if row["is_documented"] else "no answer"


def print_hits(hits: Sequence[Mapping[str, Any]]) -> None:
    """Print what a search found, best first: score, id, message, and the message in Chinese."""
    if not sys.stdout.isatty():
        for hit in hits:
            _print_fields(f"{hit['score']:.2f}", hit["entry_id"], hit["signature"], hit["signature_zh"] or "")
        return
    for hit in hits:
        say(f"{hit['score']:7.2f}  {hit['entry_id']}", style="bold")
        _print_cut(hit["signature"], indent=9)
        if hit["signature_zh"]:
            _print_cut(hit["signature_zh"], indent=9)


def _print_fields(*fields: object) -> None:
    """A line for programs: no tab and no line break stands in a field."""
    sys.stdout.write("\t".join(" ".join(safe(str(field)).split()) for field in fields) + "\n")


def _print_cut(text: str, *, indent: int) -> None:
    """One line of the terminal; Chinese takes two places a character."""
    from rich.text import Text

    line = Text(" ".join(safe(text).split()))
    line.truncate(max(terminal_width(), _LEAST_WIDTH) - indent, overflow="ellipsis")
    say(" " * indent + line.plain)
