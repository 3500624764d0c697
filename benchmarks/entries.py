"""What share of what is grouped as an error is one: on places of threads that readers judged as entries.

    python -m benchmarks.entries

tests/quality/entries_judged.jsonl holds the places of published entries by what a reader said of each: `error`, one
that can be understood; `bare`, only a name or a code; `damaged`, cut or run together; `warning`; `none`, no error of
a program. The posts lie in ../shared. A row is kept where an event that holds the place is grouped today. Rules were
written by those of the split `read`; the repositories of `held` are a fifth, by digest. What is kept is counted as it
was judged: a title that is mended since is still called damaged, so the share is the least that it may be.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.fields import LABELS, THREADS, Post, posts
from pipeline import ask
from pipeline.records import Event
from pipeline.text.frames import innermost, place

ROWS = LABELS / "entries_judged.jsonl"
VERDICTS = ("error", "bare", "damaged", "warning", "none")
SPLITS = ("read", "held")


def judged() -> list[Post]:
    """The judged places with the texts of their posts."""
    return posts(json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines())


def kept(post: Post) -> Event | None:
    """The event that is grouped and holds some of the line at the place; None where none does."""
    start = post.label["start"]
    stop = post.text.find("\n", start)
    stop = len(post.text) if stop < 0 else stop
    return next((one for one in ask.read(post.text).errors if one.start < stop and one.end > start), None)


def table(read: list[Post]) -> Iterator[str]:
    """The lines of the table of what is kept."""
    yield f"| split | judged | {' | '.join(VERDICTS)} | an error, of what is kept | bare, but a place is shown |"
    yield f"|---|--:|{'--:|' * (len(VERDICTS) + 2)}"
    for split in SPLITS:
        yield _row(split, [post for post in read if post.label["split"] == split])


def _row(split: str, mine: list[Post]) -> str:
    drawn = Counter(post.label["verdict"] for post in mine)
    found = [(post.label["verdict"], event) for post in mine if (event := kept(post)) is not None]
    left = Counter(verdict for verdict, _ in found)
    shown = sum(verdict == "bare" and bool(place(innermost(event.frames))) for verdict, event in found)
    cells: list[Any] = [f"{left[verdict]}/{drawn[verdict]}" for verdict in VERDICTS]
    share = left["error"] / max(1, left.total())
    return f"| {split} | {len(mine)} | {' | '.join(cells)} | {share:.1%} | {shown} |"


def main() -> None:
    """Print the table."""
    if not THREADS.exists():
        print(f"skipped: {THREADS} is not here")
        return
    print("\n".join(table(judged())))


if __name__ == "__main__":
    main()
