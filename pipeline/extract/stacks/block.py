"""What is read of one stack, and the event that it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from pipeline import packs
from pipeline.extract import chain, python
from pipeline.extract.rule import Listed
from pipeline.extract.stacks.table import FORMS, WIDEST, Form, first
from pipeline.records import Event, Frame, Link, Severity

#: Frames kept of one stack; deeper ones are dropped at the outer end.
MOST_FRAMES = 100
#: Exceptions of one chain that are kept, and of those that one message holds.
MOST_LEVELS, MOST_INNER = 60, 12
#: A terminal is at least so wide, without a margin.
LEAST_WIDE = 60


@dataclass(slots=True)
class Level:
    """One exception of a chain, its frames as printed."""

    exception_type: str | None = None
    message: str = ""
    rest: list[str] = field(default_factory=list)  # the message's further lines
    box: list[str] = field(default_factory=list)  # its lines as they stand, where a terminal may have cut them
    frames: list[Frame] = field(default_factory=list)
    common: int = 0  # frames left out because the exception before has them too
    place: Frame | None = None  # where it was raised, as its announcement says
    code: str = ""

    def say(self, groups: dict[str, str]) -> None:
        """Take what a line says of the exception; what is known already stays."""
        self.exception_type = self.exception_type or groups.get("type")
        self.message = self.message or groups.get("message", "").strip()
        self.code = self.code or groups.get("code", "")
        if self.place is None and ("file" in groups or "function" in groups):
            self.place = frame(groups)


@dataclass(slots=True)
class Block:
    """One application of a form: where it stands, and its exceptions in print order."""

    form: Form
    start: int
    end: int
    levels: list[Level] = field(default_factory=lambda: [Level()])
    listed: Listed | None = None  # what the list of which it is one has told

    @property
    def level(self) -> Level:
        """The exception that is being read."""
        return self.levels[-1]

    def frame_count(self) -> int:
        """How many frames were printed."""
        return sum(len(level.frames) for level in self.levels)

    def is_cut(self) -> bool:
        """Whether the exception that all came of is named, while the lines that name the first one were left out."""
        return self.form.root == "last" and len(self.levels) > 1 and self.level.exception_type is not None


def frame(groups: dict[str, str]) -> Frame:
    """The frame that a line's groups tell."""
    function = groups.get("function", "").strip()
    if function and "module" in groups:
        function = f"{groups['module'].strip()}.{function}"
    line = groups.get("line", "")
    file = groups.get("file") or groups.get("lib") or ""
    return Frame(file.strip() or None, int(line) if line.isdecimal() else None, function or None)


def event(block: Block) -> Event:
    """The event of a stack: its root exception, the others as links."""
    levels = [inner for level in block.levels for inner in _opened(block.form, level)]
    number = len(levels) - 1 if block.form.root == "last" else 0
    root = levels[number]
    message = python.trimmed(_unboxed(root.box) if len(root.box) > 1 else root.message)
    message = message.removeprefix(": ")
    kind = root.exception_type or block.form.type
    return Event(
        dialect=block.form.dialect,
        exception_type=kind,
        message=message[: python.WIDEST_DETAIL],
        detail="\n".join([message, *root.rest])[: python.WIDEST_DETAIL].rstrip(),
        frames=_frames(block.form, levels, number),
        chain=tuple(
            _link(block.form, level)
            for level in levels
            if level is not root and (level.exception_type or level.message)
        ),
        codes=_codes(block.form, {"type": root.exception_type or "", "code": root.code}),
        start=block.start,
        end=block.end,
        is_truncated=message.endswith(("...", "…")),
        severity=_severity(block.form, kind),
    )


def _unboxed(lines: list[str]) -> str:
    """The words of lines that are indented alike; where a terminal cut one, which is the widest, nothing is between."""
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    parts = [line[margin:] for line in lines]
    widest = max(map(len, parts[:-1]))
    said = parts[0]
    for part, below in pairwise(parts):
        is_whole = widest < LEAST_WIDE or len(part) < widest
        said += f" {below.lstrip()}" if is_whole or below[:1] == " " else below
    return said


def _codes(form: Form, groups: dict[str, str]) -> tuple[str, ...]:
    """The codes of the form, without those of which the stack prints nothing."""
    return tuple(
        template.replace(f"{{{name}}}", words)
        for template in form.codes
        for name, words in groups.items()
        if words and f"{{{name}}}" in template
    )


def _severity(form: Form, kind: str | None) -> Severity:
    is_warning = form.warns and chain.severity(kind) == Severity.WARNING
    return Severity.WARNING if is_warning else Severity.ERROR


def _link(form: Form, level: Level) -> Link:
    detail = "\n".join([level.message, *level.rest])[: python.WIDEST_DETAIL] if level.rest else ""
    frames = level.frames if form.order == "outermost-first" else level.frames[::-1]
    return Link("wrapper", level.exception_type, level.message[: python.WIDEST_DETAIL], tuple(frames), detail)


def _opened(form: Form, level: Level) -> list[Level]:
    """The exception, before it those that its message holds: `A: a ---> B: b` is a, then b with the frames."""
    if form.inner is None:
        return [level]
    found = [level]
    pattern = packs.compiled(form.inner)
    while len(found) < MOST_INNER and (hit := pattern.search(level.message)) is not None:
        outer = Level(level.exception_type, level.message[: hit.start()].rstrip())
        if outer.exception_type or outer.message:
            found.insert(-1, outer)
        level.exception_type, level.message = hit["type"], (hit["message"] or "").strip()
    return found


def _frames(form: Form, levels: list[Level], number: int) -> tuple[Frame, ...]:
    """The frames of one exception with those that it shares with the one before, outermost first."""
    whole: list[Frame] = []
    for level in levels[: number + 1]:
        shared = whole[-level.common :] if level.common else []
        whole = [*level.frames, *shared] if level.frames or shared else whole
    if not whole:  # one stack stands below all
        whole = next((list(level.frames) for level in levels[number + 1 :] if level.frames), [])
    if form.order == "outermost-first":
        whole.reverse()
    whole = _without_runtime(form, _raised(form, whole))
    place = levels[number].place
    if place is not None:
        at = [index for index, one in enumerate(whole) if (one.file, one.line) == (place.file, place.line)]
        if not at:
            whole.insert(0, place)
        elif at[0] == 0 and form.runtime is not None and _is_runtime(packs.compiled(form.runtime), whole[0]):
            whole[0] = place  # nothing but the language itself was called there
    return tuple(reversed(whole[:MOST_FRAMES]))


def _raised(form: Form, frames: list[Frame]) -> list[Frame]:
    """The frames, innermost first, of what raised: none that ran because the stack was unwound.

    A deferred function of Go runs on top of the stack that panicked; where it panics again or prints where it
    recovered, it stands innermost, and the function that panicked first stands below the last `panic`.
    """
    if form.unwinds is None:
        return frames
    pattern = packs.compiled(form.unwinds)
    last = next((place for place in reversed(range(len(frames))) if _is_runtime(pattern, frames[place])), -1)
    return frames[last + 1 :]


def _without_runtime(form: Form, frames: list[Frame]) -> list[Frame]:
    """The frames, innermost first, from the first that is no code of the language itself; all where there is none."""
    if form.runtime is None:
        return frames
    pattern = packs.compiled(form.runtime)
    own = next((place for place, one in enumerate(frames) if not _is_runtime(pattern, one)), 0)
    return frames[own:]


def _is_runtime(pattern: re.Pattern[str], one: Frame) -> bool:
    return bool(pattern.match(one.function or "") or (one.file and pattern.match(one.file)))


def listed(block: str) -> tuple[Frame, ...]:
    """The frames below a native program's diagnostic, which its own rule announces, outermost first."""
    return next((found for form in _inside() if (found := frames_of(form, block))), ())


@packs.cached
def _inside() -> tuple[Form, ...]:
    """The forms whose frames stand below what rules announce."""
    return tuple(form for form in FORMS.rows() if form.inside)


#: What a literal ends with that no other line of its stack has: the number of the frame, blanks.
_NUMBERED = " 0123456789"


def frames_of(form: Form, text: str) -> tuple[Frame, ...]:
    """The frames that the lines of a text hold in a form of such frames, outermost first."""
    if not form.inside or not any(literal in text for literal in form.literals):
        return ()
    found: list[Frame] = []
    lines = text.split("\n")
    marks = [literal.rstrip(_NUMBERED) or literal for literal in form.literals]  # "#0 " begins a stack, "#2 " goes on
    for number, line in enumerate(lines):
        hit = first(form.frame, line[:WIDEST]) if any(mark in line for mark in marks) else None
        if hit is None:
            continue
        place = _below(form, lines, number) if "line" not in hit.groups else {}
        found.append(frame(hit.groups | place))
        if len(found) == MOST_FRAMES:
            break
    return tuple(reversed(_without_runtime(form, found)))


def _below(form: Form, lines: list[str], number: int) -> dict[str, str]:
    """The place that stands on a line of its own, behind lines on which the arguments go on."""
    for line in lines[number + 1 : number + 4]:
        if hit := first(form.below, line[:WIDEST]):
            return hit.groups
        if not line[:1].isspace():
            break
    return {}
