"""How right extraction is outside machine learning: on posts of other fields that readers labelled who knew no rule.

    python -m benchmarks.fields [--split tune|test] [--misses 20] [--by lang]

tests/quality/fields_*.jsonl hold ids, offsets and labels; the posts lie in ../shared/fields. Found: an event's block
holds the line that announces the error, or its root cause's. Type, message and frame are asked of that event; the frame
is the one in the project's own code that a reader would look at first, and counts where it is among the event's.
Where a reader named no type, what he took for the message may begin with the event's: "internal compiler error: in x".
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pipeline import extract
from pipeline.records import Event, Frame, Severity
from pipeline.text import clean

ROOT = Path(__file__).resolve().parents[1]
THREADS = ROOT.parent / "shared" / "fields" / "threads.jsonl.gz"
#: Reports of machine learning, of which many show errors of containers, clouds and databases.
CORPUS = ROOT.parent / "shared" / "corpus" / "issues.jsonl.gz"
LABELS = ROOT / "tests" / "quality"
FIELDS = ("found", "type", "message", "frame")
_UID = re.compile(r'"uid": "([0-9a-f]{16})"')
#: So many characters of a message must be alike.
ALIKE = 40


class Post(NamedTuple):
    """A labelled post."""

    label: dict[str, Any]
    text: str


def labels(split: str | None = None) -> Iterator[dict[str, Any]]:
    """The rows of all label files; `set` is the file's."""
    for path in sorted(LABELS.glob("fields_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line) | {"set": path.stem.removeprefix("fields_")}
            if split in (None, row["split"]):
                yield row


def posts(rows: Iterable[dict[str, Any]]) -> list[Post]:
    """The labelled posts with their texts.

    Raises:
        ValueError: a text is not the one that was labelled.
    """
    wanted: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        wanted[row["uid"]].append(row)
    corpora = {row.get("of", "fields") for rows in wanted.values() for row in rows}
    return [
        post
        for name, path in (("fields", THREADS), ("corpus", CORPUS))
        if name in corpora and path.exists()
        for post in _posts(path, wanted)
    ]


def _posts(path: Path, wanted: dict[str, list[dict[str, Any]]]) -> Iterator[Post]:
    """The labelled posts of one file of threads."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            named = _UID.search(line)  # most threads are not asked for
            if named is None or named[1] not in wanted:
                continue
            thread = json.loads(line)
            for row in wanted[thread["uid"]]:
                post = row["post"]
                text = clean((thread["comments"][post - 1]["body"] if post else thread["body"]) or "")
                if hashlib.sha256(text.encode()).hexdigest()[:12] != row["digest"]:
                    raise ValueError(f"post {post} of {row['uid']} is not the one that was labelled")
                yield Post(row, text)


def judged(post: Post) -> dict[str, bool | None]:
    """Whether each field is right; None where the label has none. `false`: an event where there is no error."""
    label = post.label
    told = extract.events(post.text)
    events = [one for one in told if one.severity != Severity.WARNING]
    if label["kind"] == "none":
        return {"false": bool(events)}
    # a report about a warning has it as its error; the event says of itself that it is one
    events = events or told
    named = [one for one in (label["root"], label) if one]
    event = next((held for one in named if (held := _holding(post.text, events, one["at"]))), None)
    kinds = [one["type"] for one in named if one["type"]]
    meant = [one for one in named if event is not None and _short(event.exception_type) == _short(one["type"])] or named
    words = [post.text[slice(*one["message"])] for one in meant if one["message"]]
    return {
        "found": event is not None,
        "type": event is not None and any(_short(kind) in _types(event) for kind in kinds) if kinds else None,
        "message": event is not None and any(_alike(event, text, is_whole=not kinds) for text in words)
        if words
        else None,
        "frame": event is not None and any(_same(one, label["frame"]) for one in event.frames)
        if label["frame"]
        else None,
    }


def _holding(text: str, events: list[Event], at: int | None) -> Event | None:
    """The event whose block holds some of the line at `at`."""
    if at is None:
        return None
    stop = text.find("\n", at)
    stop = len(text) if stop < 0 else stop
    return next((one for one in events if one.start < stop and one.end > at), None)


def _types(event: Event) -> set[str]:
    """What the event says that it is: its type, and its codes."""
    return {_short(event.exception_type), *(code.partition(":")[2].lower() for code in event.codes)}


def _short(kind: str | None) -> str:
    return re.split(r"[.:\\$/]", (kind or "").split("(", 1)[0].strip())[-1].lower()


def _alike(event: Event, words: str, *, is_whole: bool) -> bool:
    """Whether the message begins as the words do; `is_whole`: or the event's type before it does."""
    said = [event.message, f"{event.exception_type}: {event.message}"] if is_whole else [event.message]
    one, *told = (" ".join(text.split()).lower()[:ALIKE] for text in (words, *said))
    return bool(event.message) and any(one.startswith(other) or other.startswith(one) for other in told)


def _same(frame: Frame, label: dict[str, Any]) -> bool:
    """The same file by its name, and function by its last part; what one of them lacks is not asked."""
    files, functions = (_file(frame.file), _file(label["file"])), (_name(frame.function), _name(label["function"]))
    is_told = (all(files) and files[0] == files[1]) or (all(functions) and functions[0] == functions[1])
    return is_told and (not all(files) or files[0] == files[1]) and (not all(functions) or functions[0] == functions[1])


def _file(path: str | None) -> str:
    return re.split(r"[/\\]", (path or "").split("?", 1)[0])[-1]


def _name(function: str | None) -> str:
    return re.split(r"[.:/#>\s]", re.sub(r"\s?\(.*", "", function or "", flags=re.DOTALL).strip())[-1].strip("`'\"")


def table(read: list[Post], by: str) -> None:
    """Print the share right of each field."""
    right: dict[str, Counter[str]] = defaultdict(Counter)
    asked: dict[str, Counter[str]] = defaultdict(Counter)
    for post in read:
        for field, verdict in judged(post).items():
            for key in (post.label[by], "all"):
                if verdict is not None:
                    asked[key][field] += 1
                    right[key][field] += verdict
    print(f"| {by} | {' | '.join((*FIELDS, 'false events'))} |\n|---|{'---|' * 5}")
    for key in sorted(asked, key=lambda one: (one == "all", one)):
        cells = [
            f"{right[key][field]}/{asked[key][field]}" if asked[key][field] else "-" for field in (*FIELDS, "false")
        ]
        print(f"| {key} | {' | '.join(cells)} |")


def misses(read: list[Post], most: int) -> None:
    """Print what is not right, with the lines."""
    shown = 0
    for post in read:
        wrong = [field for field, verdict in judged(post).items() if verdict is (field == "false")]
        if not wrong or shown == most:
            continue
        shown += 1
        label = post.label
        print(f"\n- {label['set']} {label['lang']} {label['uid']} post {label['post']}: wrong {', '.join(wrong)}")
        print(f"  label: {label['type']} root={label['root']} frame={label['frame']}")
        if label["at"] is not None:
            print(f"  line: {post.text[label['at'] :].partition(chr(10))[0][:160]!r}")
        for event in extract.events(post.text)[:4]:
            inner = event.frames[-1] if event.frames else None
            print(f"  event: {event.dialect} {event.exception_type} {event.message[:90]!r} {len(event.frames)} {inner}")


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=sorted({row["split"] for row in labels()}))
    parser.add_argument("--set", dest="name", help="one file of labels: stacks, lines, fresh")
    parser.add_argument("--by", default="lang", choices=("lang", "split", "set", "kind"))
    parser.add_argument("--misses", type=int, default=0)
    options = parser.parse_args()
    if not THREADS.exists():
        print(f"skipped: {THREADS} is not here")
        return
    read = posts(row for row in labels(options.split) if options.name in (None, row["set"]))
    table(read, options.by)
    misses(read, options.misses)


if __name__ == "__main__":
    main()
