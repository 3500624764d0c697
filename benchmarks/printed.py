"""How right extraction is on what programs of many fields print: in texts written for it, as an engineer takes them.

    python -m benchmarks.printed [--misses read]

tests/quality/printed_*.toml hold the texts with the type (or code), the message and the frame of each. Every second one
is `kept`: rows were written with the failures of the others in view only.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator
from typing import Any

from benchmarks import fields
from pipeline import extract

#: How people paste what a program printed.
_POST = "I run it and get this.\n\n```\n{}\n```\n\nWhat can I do?\n"


def cases() -> Iterator[dict[str, Any]]:
    """The cases of all files, with the half that each belongs to."""
    number = 0
    for path in sorted(fields.LABELS.glob("printed_*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            number += 1
            yield case | {"half": "read" if number % 2 else "kept"}


def post(case: dict[str, Any]) -> fields.Post:
    """The case as a labelled post."""
    text = _POST.format(case["text"].strip("\n"))
    label: dict[str, Any] = {"name": case["name"], "half": case["half"], "kind": "none", "root": None}
    if case.get("none"):
        return fields.Post(label, text)
    message = case.get("message")
    begin = text.index(message) if message else 0
    label |= {
        "kind": "stack",
        "at": text.index(case.get("at") or message),
        "type": case.get("type"),
        "message": [begin, begin + len(message)] if message else None,
        "frame": {"file": None, "function": None} | case["frame"] if "frame" in case else None,
    }
    return fields.Post(label, text)


def main() -> None:
    """Print the shares, and what is not right of one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", choices=("read", "kept"))
    options = parser.parse_args()
    read = [post(case) for case in cases()]
    fields.table(read, "half")
    for one in read:
        wrong = [field for field, verdict in fields.judged(one).items() if verdict is (field == "false")]
        if wrong and one.label["half"] == options.misses:
            print(f"\n- {one.label['name']}: {', '.join(wrong)}")
            for event in extract.events(one.text)[:4]:
                print(f"  {event.dialect} {event.exception_type} {event.message[:90]!r} {event.frames[-1:]}")


if __name__ == "__main__":
    main()
