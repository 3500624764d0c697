"""How right extraction is on what programs of many fields print: in texts written for it, as an engineer takes them.

    python -m benchmarks.printed [--misses read] [--carried]

tests/quality/printed_*.toml hold the texts with the type (or code), the message and the frame of each. Every second one
is `kept`: rows were written with the failures of the others in view only (of printed_c, a list of the usual forms of
each tool, with all in view). `--carried` shows each text as pages, collectors and terminals show it too.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks import fields
from pipeline import extract
from pipeline.text import clean

#: How people paste what a program printed.
_POST = "I run it and get this.\n\n{}\n\nWhat can I do?\n"


def _each(before: str, behind: str = "") -> Callable[[str], str]:
    """A block whose lines stand between the same words."""
    return lambda text: "```\n" + "\n".join(f"{before}{line}{behind}" for line in text.split("\n")) + "\n```"


#: What pages, collectors and terminals make of a text.
CARRIERS: Mapping[str, Callable[[str], str]] = {
    "fence": _each(""),
    "quoted fence": lambda text: "\n".join(f"> {line}" for line in ("```", *text.split("\n"), "```")),
    "quote": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "indented": lambda text: "\n".join(f"    {line}" for line in text.split("\n")),
    "bare": str,
    "tracker": lambda text: "{code}\n" + text + "\n{code}",
    "html": lambda text: f"<pre>\n{text}\n</pre>",
    "line breaks of html": lambda text: "<p>" + "<br>\n".join(text.split("\n")) + "</p>",
    "windows": lambda text: "```\r\n" + text.replace("\n", "\r\n") + "\r\n```",
    "docker compose": _each("web_1  | "),
    "container file": _each("2024-05-01T10:11:12.123456789Z stderr F "),
    "kubectl": _each("[pod/web-1/app] "),
    "github": _each("2024-05-01T10:11:12.1234567Z "),
    "gh": _each("build\tRun tests\t2024-05-01T10:11:12.1234567Z "),
    "gitlab": _each("2024-05-01T10:11:12.123456Z 01E "),
    "jenkins": _each("[2024-05-01T10:11:12.123Z] "),
    "buildkit": _each("#12 3.456 "),
    "failed step": _each("3.456 "),
    "syslog": _each("May  1 10:11:12 host app[123]: "),
    "iso syslog": _each("2024-05-01T10:11:12.123456+02:00 host app[123]: "),
    "pm2": _each("0|kiln  | "),
    "turbo": _each("web:build: "),
    "concurrently": _each("[server] "),
    "git": _each("remote: "),
    "vagrant": _each("==> default: "),
    "colours": _each("\x1b[31m", "\x1b[0m"),
    "colours without escapes": _each("[31m", "[0m"),
    "colours as marks": _each("^[[31m", "^[[0m"),
}


def cases() -> Iterator[dict[str, Any]]:
    """The cases of all files, with the half that each belongs to."""
    number = 0
    for path in sorted(fields.LABELS.glob("printed_*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            number += 1
            yield case | {"half": "read" if number % 2 else "kept"}


def post(case: dict[str, Any], carrier: str = "fence") -> fields.Post:
    """The case as a labelled post, as one of `CARRIERS` shows it."""
    text = clean(_POST.format(CARRIERS[carrier](case["text"].strip("\n"))))
    label: dict[str, Any] = {
        "name": case["name"], "half": case["half"], "carrier": carrier, "kind": "none", "root": None,
    }  # fmt: skip
    if case.get("none"):
        return fields.Post(label, text)
    message = case.get("message")
    begin = text.find(message) if message else -1
    label |= {
        "kind": "stack",
        "at": text.index((case.get("at") or message).partition("\n")[0]),
        "type": case.get("type"),
        "message": [begin, begin + len(message)] if begin >= 0 else None,
        "frame": {"file": None, "function": None} | case["frame"] if "frame" in case else None,
    }
    return fields.Post(label, text)


def main() -> None:
    """Print the shares, and what is not right of one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", choices=("read", "kept"))
    parser.add_argument("--carried", action="store_true", help="as each carrier shows the texts")
    options = parser.parse_args()
    read = [post(case) for case in cases()]
    fields.table(read, "half")
    if options.carried:
        print()
        fields.table([post(case, carrier) for carrier in CARRIERS for case in cases()], "carrier")
    for one in read:
        wrong = [field for field, verdict in fields.judged(one).items() if verdict is (field == "false")]
        if wrong and one.label["half"] == options.misses:
            print(f"\n- {one.label['name']}: {', '.join(wrong)}")
            for event in extract.events(one.text)[:4]:
                print(f"  {event.dialect} {event.exception_type} {event.message[:90]!r} {event.frames[-1:]}")


if __name__ == "__main__":
    main()
