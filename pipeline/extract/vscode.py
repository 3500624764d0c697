"""What VS Code's debugger shows: `Exception has occurred: Type`, the message, the frames innermost first."""

from __future__ import annotations

import re
from dataclasses import replace

from pipeline.extract import chain, frames, head, python
from pipeline.extract.lines import Lines
from pipeline.records import Event, Frame

MARK = "Exception has occurred: "
_FIRST = re.compile(r"([A-Za-z_][\w.]{0,160})(?:\s(.*))?$")
_NOTE = re.compile(r"\(note: full exception trace is shown but execution is paused at.*\)$")
#: A message longer than this many lines was not seen.
MOST_LINES = 30


def read(text: str, mark: int) -> Event | None:
    """The exception shown at `mark`."""
    where = head.learn(text, mark)
    lines = Lines(text, where.start, where.peeler)
    line = lines.at(0)
    if line is None or MARK not in line.body:
        return None
    first = _FIRST.match(line.body.split(MARK, 1)[1].strip())
    if first is None:
        return None
    inline = _NOTE.sub("", first.group(2) or "").strip()
    number, said = _said(lines)
    kept = [inline, *said] if inline else said
    printed = python.read(lines, number, _base(lines, number))
    end = max(printed.end if printed.frames else 0, _end(lines, number))
    if printed.exception_type is None or not printed.frames:
        printed.exception_type, printed.message = first.group(1), kept[0] if kept else ""
        printed.detail = "\n".join(kept)[: python.WIDEST_DETAIL]
    if _is_innermost_first(printed.frames):
        printed.frames.reverse()
    event = chain.event([printed], start=where.start, dialect="vscode")
    return replace(event, end=end, is_truncated=False) if event is not None else None


def _is_innermost_first(found: list[Frame]) -> bool:
    """Whether the frames stand as the debugger shows them, told by where the program's first frame is."""
    outer = ("<module>", "_run_module_as_main")
    return len(found) > 1 and found[-1].function in outer and found[0].function not in outer


def _said(lines: Lines) -> tuple[int, list[str]]:
    said: list[str] = []
    number = 1
    while number < MOST_LINES and (line := lines.at(number)) is not None:
        body = line.body.strip()
        if frames.frame(body) is not None or (body.startswith("```") and said):
            break
        if not body and said:
            following = lines.at(number + 1)
            return (number + 1 if following and frames.frame(following.body) else number), said
        if body and not body.startswith("```"):
            said.append(body)
        number += 1
    return number, said


def _base(lines: Lines, number: int) -> int:
    line = lines.at(number)
    return max(line.indent - 2, 0) if line is not None else 0


def _end(lines: Lines, number: int) -> int:
    line = lines.at(number - 1)
    assert line is not None
    return line.end
