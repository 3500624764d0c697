"""One printed Python exception: its header, frames, type and message, read line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from pipeline.extract import chain, foreign, head
from pipeline.extract.lines import Line, Lines
from pipeline.records import Frame, warm
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
#: So many lines in a row that differ in nothing but their numbers are what the program prints as it goes on. Of 4,680
#: real texts with a traceback none has them in a message, but for listings of what failed, which say so line by line.
ROWS_OF_OUTPUT = 5
_NUMBER = warm.pattern(r"\d+(?:[.,]\d+)*")
_OF_FAILURE = warm.pattern(
    r"(?i)error|fail|warn|fatal|note:|exception|invalid|illegal|unexpected|expected|mismatch|missing|unknown|cannot|can't"
    r"|could not|unable|bad|wrong|not |no "
)

_STOP = warm.pattern(
    r"```|~~~|</?(?:details|pre|code|summary)\b|#{1,6} \w|<!--|-{3,}$|={5,}$|>>> |PS [A-Z]:\\|[$] \w"
    r"|(?:\([\w.-]{1,60}\) )?\[?[\w.-]{1,60}@[\w.:-]{1,80}[^\n$#]{0,120}[$#](?: |$)"  # a shell's prompt
    r"|(?:[A-Za-z]:)?[\w./\\-]{1,300}:\d{1,6}: \w{1,60}Warning: "  # warnings.warn
    r"|##\[\w|\*\*[A-Z]|\^C$|Process \w{1,40}-\d{1,5}:$|Exception (?:ignored )?in "
)
_CLOSING = warm.pattern(r"(?:\s*</?(?:pre|code|details|summary|p|div|br|samp|font|span|td|tr)\s?/?>)+$")
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


class Kind(StrEnum):
    """What a line is to the stack in which it stands."""

    FRAME = "a frame"
    CODE = "a frame's source line, or what stands for it"
    ELIDED = "somebody left out frames"
    STRANGE = "nothing of a stack"
    FOREIGN = "another stream's line"
    EXCEPTION = "the exception's type and message"
    STOP = "something that no stack holds"


class State(StrEnum):
    """How the frames stand that were read so far."""

    BEFORE = "there is none"
    INDENTED = "deeper than their header"
    FLAT = "as their header: indentation was lost"


@dataclass(slots=True)
class _Stack:
    """What was read of a stack so far."""

    base: int  # how far its header is indented
    state: State = State.BEFORE
    depth: int = -1  # how far its last frame is indented
    since_frame: int = 9
    in_row: int = 0  # lines in a row that do not belong to it


class _Place(NamedTuple):
    """A line and the stack in front of it."""

    line: Line
    stack: _Stack

    @property
    def words(self) -> str:
        """The line without the markup that pasting put around it."""
        return unmarked(self.line.body)


def _is_source(at: _Place) -> bool:
    return at.line.indent > (at.stack.base if at.stack.state is State.FLAT else at.stack.depth)


def _is_filler(at: _Place) -> bool:
    return chain.is_filler(at.line.body) or chain.is_cut_frame(at.line.body)


def _is_named(at: _Place) -> bool:
    return head.loose(at.words) is not None


def _is_next(at: _Place) -> bool:
    return at.stack.since_frame < 2


_Rule = tuple[Callable[[_Place], bool], Kind]
_ELIDED_RULE: _Rule = (lambda at: chain.is_elided(at.line.body), Kind.ELIDED)
_STOP_RULES: tuple[_Rule, ...] = (
    (lambda at: at.words.startswith(("```", "~~~", *CHAIN_WORDS)), Kind.STOP),
    (lambda at: chain.HEADER in at.line.body, Kind.STOP),
)
#: What a line with words is that is no frame, by the state of the stack: the first rule that holds, else STRANGE.
RULES: Mapping[State, tuple[_Rule, ...]] = {
    State.BEFORE: (
        _ELIDED_RULE,
        (_is_filler, Kind.CODE),
        _STOP_RULES[0],
        (_is_named, Kind.EXCEPTION),
        _STOP_RULES[1],
        (lambda at: at.line.indent > at.stack.base, Kind.CODE),
    ),
    State.INDENTED: (
        _ELIDED_RULE,
        (_is_source, Kind.CODE),
        (_is_filler, Kind.CODE),
        _STOP_RULES[0],
        (_is_named, Kind.EXCEPTION),
        _STOP_RULES[1],
    ),
    State.FLAT: (
        _ELIDED_RULE,
        (_is_source, Kind.CODE),
        (_is_filler, Kind.CODE),
        (lambda at: head.strict(at.words) is not None, Kind.EXCEPTION),
        *_STOP_RULES,
        (_is_next, Kind.CODE),
        (_is_named, Kind.EXCEPTION),
    ),
}
#: Lines in a row that a stack may hold without ending.
_MOST_IN_ROW = {Kind.STRANGE: MOST_STRANGE, Kind.FOREIGN: MOST_FOREIGN}


def _stack(lines: Lines, first: int, base: int, printed: Printed) -> int | None:
    """The number of the exception line behind the frames, None if the text ends before it comes."""
    number, stack = first, _Stack(base)
    while (line := lines.at(number)) is not None:
        frame = None if line.is_foreign or line.is_border else chain.frame(line.body)
        if frame is None and 'File "' in line.body and lines.unwrap(number, chain.frame):
            continue
        kind = Kind.FRAME if frame is not None else _kind(lines, number, line, stack)
        if kind is Kind.EXCEPTION:
            return number
        _step(stack, kind, line)
        if kind is Kind.STOP or stack.in_row > _MOST_IN_ROW.get(kind, 0):
            return None
        if frame is not None:
            printed.frames.append(frame)
        printed.is_truncated = printed.is_truncated or kind is Kind.ELIDED
        number += 1
        if not stack.in_row:
            printed.after, printed.end = number, line.end
    return None


def _step(stack: _Stack, kind: Kind, line: Line) -> None:
    """The stack behind a line of that kind."""
    if kind is Kind.FRAME:
        stack.depth, stack.since_frame = line.indent, 0
        stack.state = State.INDENTED if line.indent > stack.base else State.FLAT
    stack.since_frame += 1
    stack.in_row = stack.in_row + 1 if kind in _MOST_IN_ROW else 0


def _kind(lines: Lines, number: int, line: Line, stack: _Stack) -> Kind:
    """What a line is that is no frame."""
    if line.is_foreign:
        return Kind.FOREIGN
    if line.is_border:
        return Kind.STOP
    if not line.body:
        return Kind.STRANGE if _goes_on(lines, number, stack.base) else Kind.STOP
    at = _Place(line, stack)
    for holds, kind in RULES[stack.state]:
        if holds(at):
            return kind
    return Kind.STRANGE


def _goes_on(lines: Lines, number: int, base: int) -> bool:
    """Whether behind empty lines the stack goes on."""
    for ahead in range(number + 1, number + 12):
        line = lines.at(ahead)
        if line is None:
            return False
        if not line.body or chain.is_filler(line.body):
            continue
        body = unmarked(line.body)
        return (
            chain.frame(line.body) is not None
            or chain.is_elided(body)
            or (line.indent <= base and head.apart(body) is not None)
            or (line.indent >= base + 4 and ahead == number + 1)  # every other line is empty: doubled line breaks
        )
    return False


def is_named(body: str) -> bool:
    """Whether the line (stripped), standing behind a stack, is an exception line."""
    return head.loose(body) is not None


def message(lines: Lines, at: int, printed: Printed) -> None:
    """Reads type and message from the exception line `at` on into `printed`."""
    line = lines.at(at)
    assert line is not None
    body = unmarked(line.body)
    named = head.loose(body) or head.Named(*body.split(":", 1))
    printed.exception_type = named.exception_type
    first = trimmed((named.message or "").strip())
    printed.header_in_message = chain.HEADER in first
    said = _Message(at, line.indent, [first], len(first), line.end, is_nested=first.endswith(":"))
    number = at + 1
    while not printed.header_in_message and said.goes_on(lines, number):
        number += 1
    printed.after, printed.end = number, said.end
    kept = said.kept
    while kept and not kept[0].strip() and named.message is not None:
        kept.pop(0)
    printed.message = kept[0].strip() if kept else ""
    printed.detail = "\n".join(kept)[:WIDEST_DETAIL]


@dataclass(slots=True)
class _Message:
    """The lines of a message that were read so far."""

    first: int  # the number of its first line
    indent: int
    kept: list[str]
    size: int
    end: int
    is_nested: bool  # it quotes a stack or code

    def goes_on(self, lines: Lines, number: int) -> bool:
        """Whether the line belongs to the message, which then has it."""
        line = lines.at(number)
        if line is None or number - self.first > (MOST_NESTED_LINES if self.is_nested else MOST_MESSAGE_LINES):
            return False
        if not self._is_announced(line, number) and _ends_message(lines, number, self.indent, is_nested=self.is_nested):
            return False
        if not self.is_nested and self.kept[0].strip() and _is_output(lines, number, self.indent):
            return False
        if line.body:
            self.is_nested = self.is_nested or foreign.opens_stack(line.body)
            body = line.body[min(self.indent, line.indent) :]
            if not foreign.is_boilerplate(body.strip()) and self.size < WIDEST_DETAIL:
                self.kept.append(body)
                self.size += len(body) + 1
            self.end = line.end
        return True

    def _is_announced(self, line: Line, number: int) -> bool:
        """Whether the message's first line says that the next one names another exception."""
        is_second = number == self.first + 1
        return is_second and foreign.announces(self.kept[0]) and head.strict(line.body.strip()) is not None


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
    if _STOP.match(body) or chain.HEADER in body or body.startswith(CHAIN_WORDS):
        return True
    if body in ('"""', "'''") and (line.indent <= base or not is_nested):  # deeper in, a kernel's own docstring
        return True
    if not is_nested and line.indent <= base + 2 and chain.frame(body) is not None:
        return True
    if prefixes.prefixes(line.body):
        return True
    named = head.strict(body) if line.indent <= base else None
    return named is not None and named.message is not None and " " not in named.exception_type


def _is_output(lines: Lines, number: int, base: int) -> bool:
    """Whether the program goes on printing there: rows no deeper than the message that differ in their numbers only."""
    first = lines.at(number)
    words = _NUMBER.sub("#", first.body) if first is not None else ""
    if first is None or words == first.body or not any(map(str.isalpha, words)) or _OF_FAILURE.search(words):
        return False
    said = {first.body}
    for ahead in range(number + 1, number + ROWS_OF_OUTPUT):
        line = lines.at(ahead)
        if line is None or line.indent > base or line.body in said or _NUMBER.sub("#", line.body) != words:
            return False
        said.add(line.body)
    return first.indent <= base


def _message_goes_on(lines: Lines, number: int, base: int, deepest: int) -> bool:
    for ahead in range(number + 1, number + 4):
        line = lines.at(ahead)
        if line is None or line.is_foreign:
            return False
        if line.body:
            body = line.body.strip()
            if foreign.is_boilerplate(body) or foreign.is_continuation(body):
                return True
            is_deeper = base < line.indent <= base + deepest
            is_stopped = _STOP.match(body) is not None and not (deepest > 3 and body.startswith("**"))
            return is_deeper and chain.HEADER not in body and not is_stopped
    return False
