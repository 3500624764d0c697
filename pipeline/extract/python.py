"""One printed Python exception: its header, frames, type and message, read line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pipeline.extract import boilerplate, frames, names
from pipeline.extract.lines import Line, Lines
from pipeline.records import Frame
from pipeline.text import prefixes

#: Lines of other streams that may stand inside a traceback before it counts as cut (8 ranks print 3 lines each).
MOST_FOREIGN = 40
#: Lines without any meaning for a traceback that may stand inside one (progress bars, prints of the program).
MOST_STRANGE = 4
#: A message is kept up to here; the longest useful one (a compiler's diagnostics) had 3,100 characters.
WIDEST_DETAIL = 4000
MOST_MESSAGE_LINES = 80
#: A message that quotes a stack (TensorFlow 1 prints where an op was made) is followed over so many lines.
MOST_NESTED_LINES = 400
#: Markup that pasting puts before an exception line.
_MARKUP = "#*`> "
#: Markup that it puts behind one.
_MARKUP_END = frozenset("`*|>")
#: Behind an empty line a message that announced code or a stack goes on with lines indented up to here.
MOST_INDENT = 60

_STOP = re.compile(
    r"```|~~~|</?(?:details|pre|code|summary)\b|#{1,6} \w|<!--|-{3,}$|={5,}$|>>> |PS [A-Z]:\\|[$] \w"
    r"|(?:\([\w.-]{1,60}\) )?\[?[\w.-]{1,60}@[\w.:-]{1,80}[^\n$#]{0,120}[$#](?: |$)"  # a shell's prompt
    r"|(?:[A-Za-z]:)?[\w./\\-]{1,300}:\d{1,6}: \w{1,60}Warning: "  # warnings.warn
    r"|##\[\w|\*\*[A-Z]|\^C$|Process \w{1,40}-\d{1,5}:$|Exception (?:ignored )?in "
)
_CLOSING = re.compile(r"(?:\s*</?(?:pre|code|details|summary|p|div|br|samp|font|span|td|tr)\s?/?>)+$")
#: A message that begins so names another exception on its next line: Numba's.
_NAMES_ANOTHER = ("Failed in nopython mode pipeline", "Failed at nopython")
CHAIN_WORDS = ("The above exception was the direct cause", "During handling of the above exception")


@dataclass(slots=True)
class Printed:
    """One exception as it is printed: what `chain` joins into an event. Numbers are those of `Lines`."""

    frames: list[Frame] = field(default_factory=list)
    exception_type: str | None = None
    message: str = ""
    detail: str = ""
    after: int = 0  # the first line that does not belong to it
    end: int = 0  # offset behind its last character
    is_truncated: bool = False
    header_in_message: bool = False
    link: str = ""  # how the next exception of the chain follows from this one


def read(lines: Lines, first: int, base: int) -> Printed:
    """The exception whose frames begin at line `first`, its header indented by `base`."""
    printed = Printed(after=first)
    at = _stack(lines, first, base, printed)
    if at is None:
        printed.is_truncated = True
        return printed
    if lines.is_full(at):
        lines.unwrap(at)
    message(lines, at, printed)
    return printed


def _stack(lines: Lines, first: int, base: int, printed: Printed) -> int | None:
    """The number of the exception line behind the frames, None if the text ends before it comes."""
    number, strange, since_frame, depth = first, 0, 9, -1
    while (line := lines.at(number)) is not None:
        found = None if line.is_foreign or line.is_border else frames.frame(line.body)
        if found is None and 'File "' in line.body and lines.unwrap(number, frames.frame):
            continue
        kind = "frame" if found is not None else _kind(line, base, depth, since_frame)
        if kind == "blank":
            kind = "strange" if _goes_on(lines, number, base) else "stop"
        if kind == "exception":
            return number
        if kind == "stop":
            return None
        if found is not None:
            printed.frames.append(found)
            depth, since_frame = line.indent, 0
        elif kind == "elided":
            printed.is_truncated = True
        since_frame += 1
        strange = strange + 1 if kind in ("strange", "foreign") else 0
        if strange > (MOST_FOREIGN if kind == "foreign" else MOST_STRANGE):
            return None
        number += 1
        if not strange:
            printed.after, printed.end = number, line.end
    return None


def _kind(line: Line, base: int, depth: int, since_frame: int) -> str:
    body = line.body
    if line.is_foreign:
        return "foreign"
    if not body or line.is_border:
        return "stop" if line.is_border else "blank"
    if line.indent > base and (line.indent > depth or depth <= base) and depth != -1:
        return "elided" if frames.is_elided(body) else "code"
    if frames.is_elided(body):
        return "elided"
    if frames.is_filler(body) or frames.is_cut_frame(body):
        return "code"
    stripped = unmarked(body)
    if depth <= base and depth != -1:  # indentation was lost
        return _flat_kind(stripped, since_frame)
    if stripped.startswith(("```", "~~~", *CHAIN_WORDS)):
        return "stop"
    if names.loose(stripped) is not None:
        return "exception"
    if frames.HEADER in body:
        return "stop"
    return "code" if depth == -1 and line.indent > base else "strange"


def _flat_kind(body: str, since_frame: int) -> str:
    if names.strict(body) is not None:
        return "exception"
    if body.startswith(("```", "~~~", *CHAIN_WORDS)) or frames.HEADER in body:
        return "stop"
    if since_frame >= 2 and names.loose(body) is not None:
        return "exception"
    return "code" if since_frame < 2 else "strange"


def _goes_on(lines: Lines, number: int, base: int) -> bool:
    """Whether behind empty lines the stack goes on."""
    for ahead in range(number + 1, number + 12):
        line = lines.at(ahead)
        if line is None:
            return False
        if not line.body or frames.is_filler(line.body):
            continue
        body = unmarked(line.body)
        return (
            frames.frame(line.body) is not None
            or frames.is_elided(body)
            or (line.indent <= base and names.apart(body) is not None)
            or (line.indent >= base + 4 and ahead == number + 1)  # every other line is empty: doubled line breaks
        )
    return False


# ---------------------------------------------------------------- the message


def is_named(body: str) -> bool:
    """Whether the line (stripped), standing behind a stack, is an exception line."""
    return names.loose(body) is not None


def message(lines: Lines, at: int, printed: Printed) -> None:
    """Reads type and message from the exception line `at` on into `printed`."""
    line = lines.at(at)
    assert line is not None
    body = unmarked(line.body)
    named = names.loose(body) or names.Named(*body.split(":", 1))
    printed.exception_type = named.exception_type
    first = trimmed((named.message or "").strip())
    kept, size, number, end = [first], len(first), at + 1, line.end
    printed.header_in_message = frames.HEADER in first
    indent, is_nested = line.indent, first.endswith(":")
    while not printed.header_in_message and (line := lines.at(number)) is not None:
        if number - at > (MOST_NESTED_LINES if is_nested else MOST_MESSAGE_LINES):
            break
        is_named = number == at + 1 and first.startswith(_NAMES_ANOTHER) and names.strict(line.body.strip()) is not None
        if not is_named and _ends_message(lines, number, indent, is_nested=is_nested):
            break
        if line.body:
            is_nested = is_nested or boilerplate.opens_stack(line.body)
            body = line.body[min(indent, line.indent) :]
            if not boilerplate.is_boilerplate(body.strip()) and size < WIDEST_DETAIL:
                kept.append(body)
                size += len(body) + 1
            end = line.end
        number += 1
    printed.after, printed.end = number, end
    while kept and not kept[0].strip() and named.message is not None:
        kept.pop(0)
    printed.message = kept[0].strip() if kept else ""
    printed.detail = "\n".join(kept)[:WIDEST_DETAIL]


def unmarked(body: str) -> str:
    """The line without the markup that pasting put around it."""
    body = body.strip().lstrip(_MARKUP)
    return trimmed(body) if body[-1:] in _MARKUP_END else body


def trimmed(message: str) -> str:
    """The line without the markup that pasting put behind it: closing tags, fences, table borders, emphasis."""
    while message and message[-1] in _MARKUP_END:
        size = len(message)
        if message[-1] == ">":
            closing = _CLOSING.search(message, max(0, size - 20))
            message = message[: closing.start()] if closing is not None else message
        elif message.endswith("```"):
            message = message.removesuffix("```")
        else:
            mark = "**" if message.endswith("**") else message[-1]
            message = message.removesuffix(mark) if message.count(mark) % 2 else message
        message = message.rstrip()
        if len(message) == size:
            break
    return message


def _ends_message(lines: Lines, number: int, base: int, *, is_nested: bool) -> bool:
    line = lines.at(number)
    assert line is not None
    if line.is_foreign or line.is_border:
        return True
    body = line.body.strip()
    if not body:
        return not _message_goes_on(lines, number, base, MOST_INDENT if is_nested else 3)
    if is_nested and line.indent > base and body.startswith("**"):  # emphasis inside what belongs to the message
        return False
    if _STOP.match(body) or frames.HEADER in body or body.startswith(CHAIN_WORDS):
        return True
    if body in ('"""', "'''") and (line.indent <= base or not is_nested):  # deeper in, a kernel's own docstring
        return True
    if not is_nested and line.indent <= base + 2 and frames.frame(body) is not None:
        return True
    if prefixes.prefixes(line.body):
        return True
    named = names.strict(body) if line.indent <= base else None
    return named is not None and named.message is not None and " " not in named.exception_type


def _message_goes_on(lines: Lines, number: int, base: int, deepest: int) -> bool:
    for ahead in range(number + 1, number + 4):
        line = lines.at(ahead)
        if line is None or line.is_foreign:
            return False
        if line.body:
            body = line.body.strip()
            if boilerplate.is_boilerplate(body) or boilerplate.is_continuation(body):
                return True
            is_deeper = base < line.indent <= base + deepest
            is_stopped = _STOP.match(body) is not None and not (deepest > 3 and body.startswith("**"))
            return is_deeper and frames.HEADER not in body and not is_stopped
    return False
