"""The lines of a stack, from the one that begins it to the last one that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.extract.lines import Line, Lines
from pipeline.extract.stacks.block import MOST_LEVELS, Block, Level, frame
from pipeline.extract.stacks.table import WIDEST, Form, Matched, first

#: Lines of other streams, and blank ones, that may stand in a row inside a stack.
MOST_FOREIGN, MOST_BLANK = 8, 2
#: Frames that are read of one exception; those beyond are passed over.
MOST_READ = 1200
#: A line that a terminal wrapped is so long.
NARROWEST = 60
#: How a line begins that ends whatever stands above it.
FENCES = ("```", "~~~", "{code", "{noformat", "</pre", "</code", "{{{", "}}}", "{html", "{quote")


class _Step(NamedTuple):
    """What a line is, and how many lines it takes."""

    kind: str  # "frame" | "cause" | "aside" | "other" | "thread" | "more" | "says" | "skip"
    hit: Matched
    taken: int = 1


@dataclass(slots=True)
class _State:
    """Where the reader is."""

    number: int
    pending: list[str] = field(default_factory=list)  # lines that are of the message if something of the stack follows
    blank: int = 0
    foreign: int = 0
    aside: int = -1  # how far an exception is indented that is none of the chain; -1: none is open
    is_other: bool = False  # in the stack of another thread
    threads: int = 0  # whose stacks have begun
    is_fenced: bool = False  # a fence was passed before the first frame


def follow(lines: Lines, number: int, block: Block) -> None:
    """Read on from line `number` until one comes that does not belong to the block; its levels and end are set."""
    state = _State(number)
    while (line := lines.at(state.number)) is not None:
        body = line.body[:WIDEST]
        if not body or line.is_foreign:
            if not _passes(state, is_foreign=line.is_foreign):
                return
            continue
        if body.lstrip(" \t>").startswith(FENCES):
            if block.frame_count() or state.pending or state.is_fenced:
                return
            state.is_fenced = True  # who reports it put the stack alone into a block
            state.number += 1
            continue
        if 0 <= state.aside < line.indent:
            step = _Step("skip", Matched({}))
        else:
            found = _step(lines, state.number, body, block.form)
            if found is None:
                if not _may_be_message(state, block, body):
                    return
                continue
            step = found
        if state.pending:
            block.level.rest += state.pending
            state.pending = []
        _take(step, line, state, block)
        state.number += step.taken
        last = lines.at(state.number - 1)
        block.end = last.end if last is not None else line.end
        state.blank = state.foreign = 0


def _passes(state: _State, *, is_foreign: bool) -> bool:
    """Whether a line that says nothing may stand there."""
    if is_foreign:
        state.foreign += 1
    else:
        state.blank += 1
    state.number += 1
    return state.foreign <= MOST_FOREIGN and state.blank <= MOST_BLANK


def _may_be_message(state: _State, block: Block, body: str) -> bool:
    level = block.level
    if level.frames or state.is_other or state.blank or state.aside >= 0:
        return False
    if len(level.rest) + len(state.pending) >= block.form.message_lines:
        return False
    state.pending.append(body.strip())
    state.number += 1
    return True


def _step(lines: Lines, number: int, body: str, form: Form) -> _Step | None:
    """What the line is in the form."""
    hit, taken = first(form.frame, body), 1
    if hit is None:
        hit, taken = _rejoined(lines, number, body, form), 2
    if hit is not None:
        below = lines.at(number + taken) if form.below else None
        place = first(form.below, below.body[:WIDEST]) if below is not None and not below.is_foreign else None
        if place is not None:
            return _Step("frame", Matched(hit.groups | place.groups), taken + 1)
        if not form.paired or "file" in hit.groups:
            return _Step("frame", hit, taken)
    for kind, expressions in (
        ("cause", form.cause),
        ("aside", form.aside),
        ("other", form.other),
        ("thread", form.thread),
        ("more", form.more),
        ("says", form.says),
        ("skip", form.skip),
    ):
        if expressions and (hit := first(expressions, body)):
            return _Step(kind, hit)
    return None


def _rejoined(lines: Lines, number: int, body: str, form: Form) -> Matched | None:
    """The frame that a terminal or a page wrapped: the line and the next one, unindented or deeper, make it."""
    is_cut = body.strip() == "at"  # behind a word, where a mail or a page broke it
    if len(body) < NARROWEST and not is_cut:
        return None
    line, rest = lines.at(number), lines.at(number + 1)
    if line is None or rest is None or rest.is_foreign or not rest.body or 0 < rest.indent <= line.indent:
        return None
    return first(form.frame, body + " " * is_cut + rest.body[:WIDEST].lstrip())


def _take(step: _Step, line: Line, state: _State, block: Block) -> None:
    level, groups = block.level, step.hit.groups
    if step.kind == "frame":
        state.aside = -1
        if not state.is_other and len(level.frames) < MOST_READ:
            level.frames.append(frame(groups))
    elif step.kind == "cause":
        state.aside = -1
        state.is_other = False
        if len(block.levels) < MOST_LEVELS:
            block.levels.append(Level())
            block.level.say(groups)
    elif step.kind == "aside":
        state.aside = line.indent
    elif step.kind == "other":
        state.is_other = True
    elif step.kind == "thread":
        state.threads += 1
        state.is_other = state.threads > 1
    elif step.kind == "more":
        level.common = int(groups["count"]) if groups.get("count", "").isdecimal() else 0
    elif step.kind == "says" and not state.is_other:
        if block.form.wraps and "message" in groups and (not level.box or not state.blank):
            level.box.append(line.body)
        level.say(groups)
