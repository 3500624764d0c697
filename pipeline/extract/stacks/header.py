"""The lines above the first frame: which of them names the error, and which are its message."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.extract.lines import Peeler
from pipeline.extract.stacks.block import Block, Level
from pipeline.extract.stacks.table import Form, Matched, first
from pipeline.extract.stacks.walk import FENCES
from pipeline.records import warm
from pipeline.text import prefixes

#: How far above the first frame is looked, and what is read of a line.
HIGHEST, WIDEST = 4000, 2000
#: A line without a name is the message of frames only where so many follow, and it says so much.
LEAST_FRAMES, LEAST_LETTERS = 2, 6
#: Markup that opens a block of code, with words behind it on its line.
_OPENED = warm.pattern(r"[ \t>]{0,8}(?:\{(?:code|noformat)[^}\n]{0,80}\}|```)(?=\s{0,4}\S{2})(?![a-z+#-]{1,20}\s*$)")
#: The blanks at the end of a prefix are often cut from an empty line.
_CUT = " " * 4
#: A frame that nobody could read: no message.
_FRAME = warm.pattern(r"(?:at|from|in|by)\s|#\d")


def name(text: str, start: int, floor: int, peeler: Peeler, block: Block) -> bool:
    """Whether the lines above the frames name the error: its first exception and its start are set then."""
    form = block.form
    above: list[tuple[int, str]] = []  # places and words, the nearest first
    best: tuple[int, int, Matched] | None = None  # which expression of `head`, how far above, what it found
    for begin, body, is_beyond in _above(text, start, floor, peeler, form):
        if first(form.never, body):
            return False
        if is_beyond:
            if not above and (hit := first(form.head[:1], body, is_searched=True)):
                best = (0, 0, hit)
                above.append((begin, body))
            break
        is_apart = form.unnamed and bool(above) and "\n\n" in text[begin : above[-1][0]]
        number, hit = _head(form, body, 1 if is_apart else len(form.head))
        above.append((begin, body))
        if hit is not None and (best is None or number < best[0]):
            best = (number, len(above) - 1, hit)
        if number == 0:
            break
    if best is not None:
        begin, body = above[best[1]]
        _begin(block, begin, above[: best[1]])
        block.levels[0].say(best[2].groups)
        _settle(block.levels[0])
        _add_outer(text, floor, peeler, body, block)
        block.start = _retold(text, floor, block)
        return True
    return _told(block, above) or (form.unnamed and _unnamed(block, above))


def _add_outer(text: str, floor: int, peeler: Peeler, body: str, block: Block) -> None:
    """Put before an exception whose line says that another came of it those that the lines right above name."""
    form = block.form
    while first(form.cause, body):
        begin, body, is_beyond = next(_above(text, block.start, floor, peeler, form), (0, "", True))
        hit = None if is_beyond else first(form.cause, body) or first(form.head[:1], body.lstrip())
        if hit is None:
            return
        block.levels.insert(0, Level())
        block.levels[0].say(hit.groups)
        block.start = begin


def _head(form: Form, body: str, most: int) -> tuple[int, Matched | None]:
    """What the first of the expressions that names the error finds on a line, and which one it is, of so many."""
    for number, expression in enumerate(form.head[:most]):
        if hit := first((expression,), body, is_searched=True):
            return number, hit
    return len(form.head), None


def _above(text: str, start: int, floor: int, peeler: Peeler, form: Form) -> Iterator[tuple[int, str, bool]]:
    """The lines above the frames that may name the error, the nearest first: place, words, whether behind a fence."""
    floor = max(floor, start - HIGHEST)
    stop, blanks, told, is_beyond = start - 1, 0, 0, False
    while stop >= floor and told <= form.message_lines:
        begin = max(text.rfind("\n", floor, stop) + 1, floor)
        body = _peeled(text[begin : min(stop, begin + WIDEST)], peeler)
        stop = begin - 1
        if body.lstrip(" \t>").startswith(FENCES):
            if told or is_beyond:
                return
            is_beyond, blanks = True, 0
        elif body.strip():
            told += 1
            yield begin, body, is_beyond
            continue
        blanks += 1
        if blanks > form.blanks or (form.blanks < 2 and told):
            return


def _begin(block: Block, begin: int, above: list[tuple[int, str]]) -> None:
    """Start the block there; what stands between and says something of the error is taken, the rest is its message."""
    level, form = block.levels[0], block.form
    block.start = begin
    kept: list[str] = []
    for _, body in reversed(above):
        if told := first(form.says, body):
            level.say(told.groups)
        elif not first(form.skip, body):
            kept.append(body.strip())
    level.rest = kept + level.rest


def _retold(text: str, floor: int, block: Block) -> int:
    """Where the line right above begins, if it names the same exception: a logger says what it is about to print."""
    kind = block.levels[0].exception_type
    begin = text.rfind("\n", 0, block.start) + 1
    above = max(text.rfind("\n", floor, max(begin - 1, floor)) + 1, floor)
    if kind and begin - above > len(kind) and kind in text[above : min(begin, above + WIDEST)]:
        return above
    return block.start


def _settle(level: Level) -> None:
    """Where the name stands alone, the next line is the message."""
    if not level.message and level.rest:
        level.message = level.rest.pop(0)


def _told(block: Block, above: list[tuple[int, str]]) -> bool:
    """Whether a line between says what failed, though nobody names it."""
    number = next((number for number, (_, body) in enumerate(above) if first(block.form.says, body)), None)
    if number is None:
        return False
    _begin(block, above[number][0], above[: number + 1])
    return bool(block.levels[0].message)


def _unnamed(block: Block, above: list[tuple[int, str]]) -> bool:
    """Take the line right above the frames as the message."""
    begin, body = next((line for line in above if not first(block.form.skip, line[1])), (0, ""))
    words = body[prefixes.width(body) :].strip().strip("`*")
    if block.frame_count() < LEAST_FRAMES or sum(map(str.isalpha, words)) < LEAST_LETTERS or _FRAME.match(words):
        return False
    block.level.message = block.level.message or words
    block.start = begin
    return True


def _peeled(raw: str, peeler: Peeler) -> str:
    """The line without what the frames' lines carry too, and without a mark of quoting."""
    if peeler.prefix is not None:
        if (hit := peeler.prefix.match(raw)) is not None:
            return raw[hit.end() :].rstrip()
        if peeler.prefix.match(f"{raw}{_CUT}") is not None:
            return ""
    opened = _OPENED.match(raw)
    return raw[opened.end() if opened is not None else 0 :].removeprefix("> ").rstrip()
