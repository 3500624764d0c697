"""Stacks of all languages but Python's, read by one engine from the forms that packs have in stacks.toml.

A literal leads to a line; a form that knows the line begins a block there, or above it where the line is the first
frame; the block then takes the lines that the form says belong to it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from pipeline import packs
from pipeline.extract.lines import Lines, Peeler, unescaped
from pipeline.extract.rule import is_apart
from pipeline.extract.stacks import header
from pipeline.extract.stacks.block import Block, Level, event, frames_of, listed
from pipeline.extract.stacks.table import FORMS, WIDEST, Form, Matched, alone, by_literal, first, may_stand
from pipeline.extract.stacks.walk import FENCES, NARROWEST, follow
from pipeline.records import Event, warm
from pipeline.text import prefixes
from pipeline.text.needed import Literals, Seen

__all__ = ["FORMS", "added", "events", "listed", "literals"]

#: A place is looked for the begin of its line so far back; what stands behind more is data.
BEFORE = 1500
#: Lines that may stand between two blocks of a form that joins.
JOIN_WIDTH, JOIN_LINES = 3000, 12
#: One of so many lines below repeats a prefix that the block's lines have; what is printed again follows so near.
REPEATED_WITHIN = 3
_NUMBERS = warm.pattern(r"0x[0-9a-fA-F]+|\d+")
#: A mark, and deeper what stands behind it; so many places of a line are tried.
_GAP, MOST_GAPS = warm.pattern(r"[:|\])>] ?(?=[ \t]{2}|\t)"), 4
#: What a program puts before each line of a stack, and no row of prefixes knows, is at most so wide.
WIDEST_MARK = 240
#: A stack that nobody names is another error's where one stands so near above it.
NEAR = 1500


def literals() -> tuple[str, ...]:
    """What `events` wants to have been looked for."""
    return (*by_literal(), *alone())


def events(text: str, seen: Seen, taken: Sequence[tuple[int, int]] = ()) -> list[Event]:
    """The stacks of the text by start, not overlapping, none inside the spans `taken` (by start)."""
    return [event(block) for block in blocks(text, seen, by_literal(), taken)]


def added(text: str, seen: Seen, found: list[Event]) -> list[Event]:
    """The events of a text by start, and the stacks that nobody names, which stand near none of them."""
    if seen.keys().isdisjoint(alone()):
        return found
    taken = [(one.start, one.end + NEAR) for one in found]
    new = blocks(text, seen, alone(), taken)
    more = [event(block) for block in new if block.frame_count() >= block.form.least_frames]
    ends = [one for one in more if not any(one.start < other.end and other.start < one.end for other in found)]
    return sorted([*found, *ends], key=lambda one: one.start)


def blocks(
    text: str, seen: Seen, numbers: Mapping[str, tuple[int, ...]], taken: Sequence[tuple[int, int]] = ()
) -> list[Block]:
    """The same before they are events; `numbers` of forms by literal."""
    found: list[Block] = []
    behind = 0
    for start, stop, forms in _candidates(text, seen, numbers):
        if start < behind or _is_taken(taken, start):
            continue
        block, behind = _read(text, start, stop, forms, behind)
        if block is None:
            continue
        if found and _joins(text, found[-1], block):
            found[-1].end = block.end
            if block.frame_count() > found[-1].frame_count() and _is_again(found[-1], block):
                found[-1].levels = block.levels  # a debugger shows where it stopped, then the whole stack
        else:
            found.append(block)
    return found


def _candidates(text: str, seen: Seen, numbers: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[int, int, list[Form]]]:
    """The lines that hold a literal, each once, with the forms to try there."""
    forms = FORMS.rows()
    known = [literal for literal in seen if literal in numbers]
    places = sorted([(at + (literal[0] == "\n"), literal) for literal in known for at in seen[literal]])
    place = 0
    while place < len(places):
        at = places[place][0]
        start = max(text.rfind("\n", max(at - BEFORE, 0), at) + 1, at - BEFORE, 0)
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        asked: set[int] = set()
        while place < len(places) and places[place][0] <= max(stop, at):
            asked.update(numbers[places[place][1]])
            place += 1
        yield start, stop, [forms[number] for number in sorted(asked)]


def _is_taken(taken: Sequence[tuple[int, int]], at: int) -> bool:
    place = bisect_right(taken, (at, 1 << 60))
    return place > 0 and at < taken[place - 1][1]


def _read(text: str, start: int, stop: int, forms: Iterable[Form], floor: int) -> tuple[Block | None, int]:
    """The block that begins on the line, and where to look on: behind it, or behind frames that nobody announces."""
    line = text[start : min(stop, start + WIDEST)]
    for form in forms:
        if form.start and (block := _announced(text, start, line, form)) is not None:
            return block, max(block.end, stop)
    behind = floor
    for form in forms:
        if not form.frame or (wide := _frame_begins(text, start, line, form)) is None:
            continue
        peeler = Peeler(prefixes.shape(line[:wide])) if wide else Peeler()
        block = Block(form, start, stop)
        follow(Lines(text, start, peeler), 0, block)
        behind = max(behind, block.end)
        if header.name(text, start, floor, peeler, block) or block.is_cut():
            return block, behind
    return None, behind


def _announced(text: str, start: int, line: str, form: Form) -> Block | None:
    """The block that a line of `start` begins, None if it has fewer frames than it should."""
    hit, wrapped = _start(text, start, line, form)
    if hit is None or (form.least_frames and not may_stand(form.frame, text, start + len(line))):
        return None
    lines = Lines(text, start, _peeler(text, start, line, form))
    begun = lines.at(wrapped) or lines.at(0)
    assert begun is not None
    block = Block(form, start, begun.end)
    block.level.say(hit.groups)
    follow(lines, 1 + wrapped + _message_below(lines, block), block)
    if not any(level.message or level.exception_type for level in block.levels):
        block.level.message = hit.words
    return block if block.frame_count() >= form.least_frames else None


def _start(text: str, start: int, line: str, form: Form) -> tuple[Matched | None, int]:
    """What announces the error on a line, and how many further lines a terminal wrapped it into."""
    bare = line.rstrip()
    hit = _announcement(form, bare)
    if hit is None and (wide := prefixes.width(line)):
        hit = _announcement(form, bare[wide:])
    if hit is None and NARROWEST <= len(line) < WIDEST:
        at = start + len(line) + 1
        below = text[at : at + WIDEST - len(line)].partition("\n")[0]
        hit = _announcement(form, line + below) if below[:1].strip() else None
        return hit, int(hit is not None)
    return hit, 0


def _announcement(form: Form, line: str) -> Matched | None:
    """What announces the error on a line."""
    return first(form.start, unescaped(line) if form.escaped else line, is_searched=True)


def _peeler(text: str, start: int, line: str, form: Form) -> Peeler:
    """How the lines below the one that announces are cleaned: of the prefix that one of the next ones has too."""
    if form.breaks is not None and (pattern := packs.compiled(form.breaks)).search(line):
        return Peeler(newline=pattern)
    escapes = int(form.escaped)
    for wide in dict.fromkeys((prefixes.width(line), prefixes.carrier_width(line))):
        if wide and _is_repeated(text, start + len(line), shape := prefixes.shape(line[:wide])):
            return Peeler(shape, escapes=escapes)
    return Peeler(escapes=escapes)


def _is_repeated(text: str, stop: int, shape: re.Pattern[str]) -> bool:
    """Whether one of the next lines begins with the prefix."""
    for _ in range(REPEATED_WITHIN):
        stop = text.find("\n", stop)
        if stop < 0:
            return False
        if shape.match(text, stop + 1):
            return True
        stop += 1
    return False


def _message_below(lines: Lines, block: Block) -> int:
    """How many lines hold the message that the line above announced, which is the first that says something."""
    if block.level.message or not block.form.message_below:
        return 0
    for number in range(1, 2 + block.form.blanks):
        line = lines.at(number)
        if line is None or line.body.lstrip().startswith(FENCES):
            return 0
        if line.body:
            block.level.message, block.end = line.body.strip(), line.end
            return number
    return 0


def _frame_begins(text: str, start: int, line: str, form: Form) -> int | None:
    """How wide the prefix before a frame is, None if the line is none."""
    bare = line.rstrip()
    if first(form.frame, bare):
        return 0
    wide = prefixes.width(line)
    if wide and first(form.frame, bare[wide:]):
        return wide
    return 0 if _is_wrapped_frame(text, start, line, form) else _marked(text, start, line, form)


def _is_wrapped_frame(text: str, start: int, line: str, form: Form) -> bool:
    """Whether the line and a deeper one below are one frame, as people wrap what is too wide for a page."""
    if len(line) < NARROWEST:
        return False
    below = text[start + len(line) + 1 : start + len(line) + 1 + WIDEST].partition("\n")[0]
    return _indent(below) > _indent(line) and first(form.frame, line + below.strip()) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _marked(text: str, start: int, line: str, form: Form) -> int | None:
    """How wide the mark before a frame is that no row of prefixes knows: the line below has it too, before a frame."""
    literals = (line.find(literal.lstrip("\n"), 1, WIDEST_MARK) for literal in form.literals)
    gaps = (hit.end() for hit in islice(_GAP.finditer(line, 0, WIDEST_MARK), MOST_GAPS))
    for wide in dict.fromkeys((*(_behind(line, at) for at in literals if at > 0), *gaps)):
        if wide and first(form.frame, line[wide:]) and _goes_on(text, start + len(line) + 1, line[:wide], form):
            return wide
    return None


def _behind(line: str, at: int) -> int:
    """Where the mark before a place ends, with one blank."""
    wide = len(line[:at].rstrip())
    return wide + (line[wide : wide + 1] == " ")


def _goes_on(text: str, below: int, mark: str, form: Form) -> bool:
    """Whether a frame stands behind the same mark, numbers and times apart, below or behind what is passed over."""
    shape = prefixes.shape(mark)
    for _ in range(REPEATED_WITHIN):
        stop = text.find("\n", below, below + WIDEST)
        stop = stop if stop >= 0 else min(below + WIDEST, len(text))
        hit = shape.match(text, below, stop)
        if hit is None:
            return False
        body = text[hit.end() : stop]
        if first(form.frame, body):
            return True
        if not first(form.skip, body):
            return False
        below = stop + 1
    return False


def _joins(text: str, before: Block, block: Block) -> bool:
    """Whether both tell of one failure: a compiler's list of errors, or the same again right below."""
    if before.form.dialect != block.form.dialect or block.start - before.end > JOIN_WIDTH:
        return False
    gap = text[before.end : block.start]
    if "```" in gap:
        return False
    if before.form.joins and block.form.joins:
        may_part = before.form.apart and block.form.apart
        return gap.count("\n") <= JOIN_LINES and not (may_part and is_apart(before, block, _listed))
    return gap.count("\n") <= REPEATED_WITHIN and _is_again(before, block)


def _listed(block: Block) -> tuple[str, str, int, str]:
    """Type, file, line and message of an error of a list."""
    place = next(iter(block.level.frames), None)
    return (
        block.level.exception_type or "",
        *((place.file or "", place.line or 0) if place else ("", 0)),
        block.level.message,
    )


def _is_again(before: Block, block: Block) -> bool:
    """Whether both blocks tell of the same exceptions in the same words."""
    return [*map(_told, before.levels)] == [*map(_told, block.levels)]


def _told(level: Level) -> tuple[str | None, str]:
    return level.exception_type, _NUMBERS.sub("0", level.message)


@FORMS.tested
def _hits(text: str) -> Iterable[Form]:
    seen = Literals(literals()).seen(text)
    whole = [block.form for numbers in (by_literal(), alone()) for block in blocks(text, seen, numbers)]
    return whole or [form for form in FORMS.rows() if frames_of(form, text)][:1]
