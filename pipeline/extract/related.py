"""What is done with the events of a text once all are read: stacks join exceptions, ends their causes, colours go.

And what pages and carriers put around each line of what a program printed: the text is read again with blanks for it
(`without_margins`). Every place stays what it is, so that what is read there can be quoted from the text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.extract import head, python, stacks
from pipeline.records import Event, Frame, Link, Severity, short_class, warm
from pipeline.text import prefixes
from pipeline.text.frames import is_bridge

#: A failure explains `make: *** Error 2` or `Aborted` that stands so near; posts of the corpus have a median of 1,500.
WIDEST_RELATED = 3000
#: What may stand between the name of an exception and its stack: "## Stack Trace", and the fence of a block.
_HEADING = warm.pattern(
    r"[\s#*`~:.=-]{0,40}(?:(?:full )?(?:stack ?trace|traceback|call stack|stack)\b[\s#*`~:.=-]{0,40}"
    r"(?:text|python)?\s{0,20})?",
    re.IGNORECASE,
)
WIDEST_HEADING = 120
#: Where a page begins that a message shows whole, and how the line above the stack ends then.
_PAGE, _PAGE_ENDS = warm.pattern(r"<(?:!DOCTYPE html|html)\b", re.IGNORECASE), ("</html>", "</HTML>")
#: The first frame of a debugger's stack; it stands within so many characters and lines, and is read so far.
_FIRST_FRAME = warm.pattern(r"^[ \t>]{0,8}#0 {1,3}(?=\S)", re.MULTILINE)
WIDEST_ASKED, MOST_ASKED, WIDEST_STACK = 600, 8, 20_000
#: The stack that native code adds to the message which Python raises for it: `[bt] (0) /opt/libkiln.so(fire+0x1f)`.
_NATIVE = warm.pattern(r"^[ \t]{0,12}(?:\[bt\] )?\(0\) [^\s()]{1,300}\(", re.MULTILINE)
_REST_OF_FRAME = warm.pattern(r"\s*\n(?![ \t]{0,12}(?:\[bt\] )?\(\d{1,3}\) )")

#: What a compiler of Python's functions raises: its message is another stack, indented, with the error behind it.
NESTED = ("in user code:", "in converted code:")  # the second by its releases before 2.2
#: What a layer of Keras begins its message with; the same stack may stand below it.
_OF_LAYER = "Exception encountered when calling "
#: The lines of such a stack, of which many end with a star or two; so far and so many are looked at.
_STARRED = "  *\n"
_NESTED_FRAME = warm.pattern(
    r"(?:File \"(?P<named>[^\"\n]{1,300})\", line (?P<number>\d{1,7}), in (?P<inside>[\w<>.]{1,120})"
    r"|(?P<file>(?=[^\s:]{0,300}[/\\.<])(?:[A-Za-z]:)?[^\s:]{1,300}):(?P<line>\d{1,7}):? (?P<function>[\w<>.]{1,120}))"
    r"\s{0,4}\*{0,2}\Z"
)
WIDEST_NESTED, MOST_NESTED, WIDEST_LINE = 40_000, 600, 600
#: Code stands so much deeper than a frame.
_DEEPER = 4

# What terminals take for colours and a page shows as letters: `[31m`, where the character that begins it was lost.

#: What stands for the lost character makes a code sure; alone, codes are sure where the text ends one of them too.
_MARKED = r"(?:\ufffd|\^\[|\u241b)\[[0-9;]{0,16}[mK]"
_BARE = r"\[(?:[0-9]|[2-4][0-9]|9[0-7]|10[0-7])(?:;[0-9]{1,3}){0,4}m(?!\])"
_CODE, _MARKED_CODE = warm.pattern(f"{_MARKED}|{_BARE}"), warm.pattern(_MARKED)
_COLOURED = warm.pattern(r"\[(?:[1-9]|[2-4][0-9]|9[0-7])(?:;[0-9]{1,3}){0,4}m(?!\])")
_RESETS = ("[0m", "[39m", "[22m", "[00m")
#: What all of them have; it begins with a letter, and is found the faster.
_LIKE_A_CODE = warm.pattern(r"\[[0-9;]{0,16}[mK]")
_LOST = ("\ufffd[", "^[[", "\u241b[")


#: A mark is at most and at least so wide, and so many lines in a row have it.
_WIDEST, _NARROWEST, _LEAST = 80, 3, 3
#: A mark of whoever carried the lines: a name, in brackets or before a colon or a bar. What itself tells of an error, a
#: place in a source, a listing's number, a cell of a table is none.
_MARK = warm.pattern(
    r"[ \t]{0,8}(?:==> |-> )?(?:\[[\w@./: -]{1,60}\]:?"
    r"|\(?[A-Za-z@][\w@./-]{0,50}(?::[\w@./-]{1,40}){0,3}(?: [\w./-]{1,20}){0,2}?\)?(?::| {0,16}\|)) ?(?=[ \t]*\S)"
)
_NO_MARK = warm.pattern(
    r"(?i:\berr|error|warn|fatal|fail|except|panic|caused|severe|crit|note|help|info|debug|trace|usage|hint|assert|"
    r"expected|actual|message|stack)|\.\w{1,4}:\d|\b[ft]rom\b|\bat\b|^\W{0,8}(?:npm|make|ld|E|Location|File)\b"
)
#: What HTML ends a line with, and what a terminal does where a page lost the character that begins its codes.
_BREAKS = warm.pattern(r"<br ?/?>(?=[ \t]*$)", re.MULTILINE)
#: So many lines of a page may be one line that ends with such a break.
_MOST_WRAPPED = 5
#: So many carried lines end so, or the break of one is there by chance.
_LEAST_ENDED = 2
_CODES = warm.pattern(r"(?:(?:\ufffd|\^\[|\u241b)?\[[0-9;]{0,16}[mK])+(?=[ \t]*$)", re.MULTILINE)


def with_stacks(text: str, found: list[Event]) -> list[Event]:
    """The events, where an exception and the nameless stack right below it, of a page that reports it, are one.

    So are the signal that prose or a debugger tells of, and the stack that the debugger printed when it was asked.
    """
    whole: list[Event] = []
    for number, one in enumerate(found):
        ceiling = found[number + 1].start if number + 1 < len(found) else len(text)
        # where the program stood is one frame; the stack that the debugger prints when asked begins with it
        event = _asked(text, one, ceiling) if one.dialect == "signal" and len(one.frames) <= 1 else one
        named = whole[-1] if whole else None
        if named is not None and _is_stack_of(text, named, event):
            whole[-1] = replace(
                named, dialect=event.dialect, frames=event.frames, end=event.end, codes=_both(named, event)
            )
        else:
            whole.append(event)
    return whole


def with_native(text: str, found: list[Event]) -> list[Event]:
    """The events, where the native stack in or right below the message of a Python exception is its innermost part."""
    return [
        _with_native(text, one, found[number + 1].start if number + 1 < len(found) else len(text))
        if one.dialect == "python" and one.frames and is_bridge(one.frames[-1])
        else one
        for number, one in enumerate(found)
    ]


def _with_native(text: str, raised: Event, ceiling: int) -> Event:
    end = min(ceiling, raised.end + WIDEST_ASKED)
    if text.find("(0) ", raised.start, end) < 0 or (begun := _NATIVE.search(text, raised.start, end)) is None:
        return raised
    fence = text.find("```", begun.start(), ceiling)
    stop = min(at for at in (fence, ceiling, begun.start() + WIDEST_STACK) if at >= 0)
    frames = stacks.listed(_REST_OF_FRAME.sub("", text[begun.start() : stop]))
    return replace(raised, frames=(*raised.frames, *frames))


def with_nested(text: str, found: list[Event]) -> list[Event]:
    """The events, where a stack that stands in a message is the event's, and so is the error behind that stack.

    TensorFlow's AutoGraph raises "ValueError: in user code:" with the stack of the function that it compiled; where
    people leave that line out, the error below such a stack has its frames.
    """
    whole: list[Event] = []
    behind = 0
    for one in found:
        if one.start < behind:
            continue  # the error of the nested stack
        if (at := _nested_at(text, one)) >= 0:
            whole.append(_nested(text, one, at))
            behind = whole[-1].end
        elif not one.frames and one.dialect == "exception-line" and (frames := _starred_above(text, one.start)):
            whole.append(replace(one, frames=frames))
        else:
            whole.append(one)
    return whole


def _nested_at(text: str, outer: Event) -> int:
    """Where a stack begins that stands in the event's message, -1 if none does."""
    if not outer.message.startswith((*NESTED, _OF_LAYER)) or not any(mark in outer.detail for mark in NESTED):
        return -1
    places = (text.find(mark, outer.start, outer.end) for mark in NESTED)
    return min((at for at in places if at >= 0), default=-1)


def _nested(text: str, outer: Event, at: int) -> Event:
    """The event as the error that its message ends with, below the words at a place; as it is if there is none."""
    frames = list[Frame]()
    base = None
    for begin, line in _lines(text, at):
        indent = len(line) - len(line.lstrip())
        if line.strip() in NESTED:  # a layer of a model told it in its own words, and again
            base = None
            continue
        base = indent if base is None else base
        if indent < base or not indent:
            break
        if (hit := _NESTED_FRAME.match(line.strip())) is not None:
            frames.append(_frame(hit))
        elif frames and indent < base + _DEEPER and (named := head.strict(python.unmarked(line))) is not None:
            if any(text.find(mark, begin, begin + WIDEST_LINE) >= 0 for mark in NESTED):
                continue
            words = (named.message or "").strip()
            return replace(
                outer,
                exception_type=named.exception_type,
                message=words,
                detail=words,
                frames=(*outer.frames, *frames),
                end=max(outer.end, begin + len(line.rstrip())),
            )
    return replace(outer, frames=(*outer.frames, *frames)) if frames else outer


def _starred_above(text: str, start: int) -> tuple[Frame, ...]:
    """The frames of a nested stack right above a place, outermost first; none where no line is marked as of one."""
    floor = max(0, start - WIDEST_NESTED)
    if text.find(_STARRED, floor, start) < 0:
        return ()
    lines = text[text.find("\n", floor) + 1 if floor else 0 : text.rfind("\n", 0, start) + 1].split("\n")[-MOST_NESTED:]
    frames, is_starred = list[Frame](), False
    for line in reversed(lines):
        hit = _NESTED_FRAME.match(line[:WIDEST_LINE].strip())
        if hit is not None:
            frames.append(_frame(hit))
            is_starred |= line.rstrip().endswith("*")
        elif line.strip() and not line.startswith(" " * _DEEPER):
            break
    return tuple(reversed(frames)) if is_starred else ()


def _lines(text: str, at: int) -> Iterator[tuple[int, str]]:
    """The lines that say something from the next one on: where each begins, and its words."""
    begin = text.find("\n", at) + 1
    for _ in range(MOST_NESTED):
        if not begin or begin - at > WIDEST_NESTED:
            return
        stop = text.find("\n", begin)
        line = text[begin : stop if stop >= 0 else len(text)][:WIDEST_LINE]
        if line.strip():
            yield begin, line
        begin = stop + 1


def _frame(hit: re.Match[str]) -> Frame:
    return Frame(hit["named"] or hit["file"], int(hit["number"] or hit["line"]), hit["inside"] or hit["function"])


def _is_stack_of(text: str, named: Event, stack: Event) -> bool:
    """Whether a nameless stack belongs to the exception above it, with nothing but a heading between."""
    if named.frames or named.exception_type is None or not stack.frames or stack.chain:
        return False
    if stack.exception_type is not None:
        return False
    between = text[named.end : stack.start]
    if stack.message:
        return stack.message.endswith(_PAGE_ENDS) and _PAGE.search(text, named.start, named.end) is not None
    return len(between) < WIDEST_HEADING and _HEADING.fullmatch(between) is not None


def _asked(text: str, signal: Event, ceiling: int) -> Event:
    """The signal with the stack that a debugger prints some lines below."""
    begun = _FIRST_FRAME.search(text, signal.end, min(ceiling, signal.end + WIDEST_ASKED))
    if begun is None or text.count("\n", signal.end, begun.start()) > MOST_ASKED:
        return signal
    stop = text.find("\n\n", begun.start(), ceiling)
    fence = text.find("```", begun.start(), ceiling)
    end = min(at for at in (stop, fence, ceiling, begun.start() + WIDEST_STACK) if at >= 0)
    frames = stacks.listed(text[begun.start() : end])
    return replace(signal, frames=frames, end=end) if len(frames) > 1 else signal


def _both(one: Event, other: Event) -> tuple[str, ...]:
    return tuple(sorted({*one.codes, *other.codes}))


def with_wrappers(found: list[Event], trailing: frozenset[int], exits: frozenset[int]) -> list[Event]:
    """The events, where those that only say that something failed are wrappers if a failure is shown near them.

    `trailing`: where diagnostics begin whose rules say so of them; `exits`: where those whose program then ended in
    good order, which is no reason for a crash.
    """
    is_wrapper = [_is_wrapper(one) or (one.start in trailing and not one.chain and not one.frames) for one in found]
    shown = [one for one, wraps in zip(found, is_wrapper, strict=True) if not wraps and one.severity == Severity.ERROR]
    if not shown or not any(is_wrapper):
        return found
    crashing = [one for one in shown if one.start not in exits]
    return [
        replace(one, severity=Severity.WRAPPER)
        if wraps and _is_near(one, crashing if one.dialect == "signal" else shown)
        else one
        for one, wraps in zip(found, is_wrapper, strict=True)
    ]


def _is_wrapper(event: Event) -> bool:
    if event.severity != Severity.ERROR:
        return False
    if event.dialect in ("build", "signal"):
        return not event.codes or event.dialect == "build" or not event.frames
    if event.chain:
        return False
    last = short_class(event.exception_type)
    return (last == "CalledProcessError" and "\n" not in event.detail.strip()) or (
        last == "ChildFailedError" and not event.message
    )


def _is_near(event: Event, shown: list[Event]) -> bool:
    place = bisect_right(shown, event.start, key=lambda one: one.start)
    before = place > 0 and event.start - shown[place - 1].end <= WIDEST_RELATED
    return before or (place < len(shown) and shown[place].start - event.end <= WIDEST_RELATED)


def without_colours(text: str, events: list[Event]) -> list[Event]:
    """The events of the text, their words without colours."""
    if not any(_LIKE_A_CODE.search(words) for one in events for words in (one.detail, one.message)):
        return events  # the whole text is not asked for nothing
    pattern = _colour(text)
    return [_uncoloured(one, pattern) for one in events] if pattern is not None else events


def has_colours(text: str) -> bool:
    """Whether the text surely shows codes of colours as letters."""
    return _LIKE_A_CODE.search(text) is not None and _colour(text) is not None


def _colour(text: str) -> re.Pattern[str] | None:
    """What is surely a colour in the text, None if nothing is."""
    if any(end in text for end in _RESETS) and _COLOURED.search(text) is not None:
        return _CODE
    return _MARKED_CODE if any(mark in text for mark in _LOST) else None


def _uncoloured(event: Event, pattern: re.Pattern[str]) -> Event:
    if pattern.search(event.detail) is None and pattern.search(event.message) is None:
        return event
    chain = tuple(_uncoloured_link(one, pattern) for one in event.chain)
    message, detail = (pattern.sub("", words).strip() for words in (event.message, event.detail))
    return replace(event, message=message, detail=detail, chain=chain)


def _uncoloured_link(link: Link, pattern: re.Pattern[str]) -> Link:
    return replace(link, message=pattern.sub("", link.message), detail=pattern.sub("", link.detail))


def without_wraps(text: str) -> str:
    """The text with blanks for the breaks that a page put into carried lines, of which each ends with HTML's break.

    Such a line begins with what carried it; what follows up to the break of HTML is the rest of it.
    """
    if "<br" not in text or _BREAKS.search(text) is None:
        return text
    lines = text.split("\n")
    ends = {number: most for number, line in enumerate(lines) if _is_carried(line) and (most := _ended(lines, number))}
    if len(ends) < _LEAST_ENDED or max(ends.values()) == 1:
        return text
    parts, number = list[str](), 0
    while number < len(lines):
        most = ends.get(number, 1)
        parts.append(" ".join(lines[number : number + most]))
        number += most
    return _BREAKS.sub(_blank, "\n".join(parts))


def _is_carried(line: str) -> bool:
    return prefixes.width(line[: prefixes.WIDEST_PREFIX]) > 0


def _ended(lines: list[str], number: int) -> int:
    """How many lines of a page the carried line has that begins there, 0 if no break of HTML ends it."""
    for most, line in enumerate(lines[number : number + _MOST_WRAPPED], 1):
        if not line.strip() or (most > 1 and _is_carried(line)):
            return 0
        if _BREAKS.search(line):
            return most
    return 0


def without_margins(text: str, places: Iterable[int]) -> str:
    """The text with blanks for what surrounds its lines; at `places` stand signs of stacks."""
    if "<br" in text:
        text = _BREAKS.sub(_blank, text)
    if "[0m" in text and has_colours(text):
        text = _CODES.sub(_blank, text)
    runs = list(_runs(text, places))
    return _without(text, runs) if runs else text


def _blank(hit: re.Match[str]) -> str:
    return " " * len(hit.group())


def _without(text: str, runs: list[tuple[int, int, str]]) -> str:
    kept: list[str] = []
    last = 0
    for start, stop, mark in runs:
        kept.append(text[last:start])
        wide, core = len(mark), mark.rstrip()
        lines = text[start:stop].split("\n")
        kept.append(
            "\n".join(
                " " * wide + line[wide:] if line.startswith(mark) else " " * len(core) + line[len(core) :]
                for line in lines
            )
        )
        last = stop
    return "".join([*kept, text[last:]])


def _runs(text: str, places: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """The lines in a row that have the same mark, by start: from where to where, and the mark."""
    behind = 0
    marked = {start for at in places if (start := text.rfind("\n", max(0, at - _WIDEST), at) + 1) + _NARROWEST <= at}
    for start in sorted(marked):
        if start < behind or text[start] in "\t>":
            continue
        mark = _mark(text, start)
        if not mark:
            continue
        first, end, count = _run(text, start, behind, mark)
        behind = max(end, start + 1)
        if count >= _LEAST and prefixes.width(text[start : start + prefixes.WIDEST_PREFIX]) < len(mark.rstrip()):
            yield first, end, mark


def _mark(text: str, start: int) -> str:
    """The mark of the line that begins there, with one blank; "" if it has none."""
    hit = _MARK.match(text, start, start + _WIDEST)
    if hit is None or len(hit.group().rstrip()) < _NARROWEST or _NO_MARK.search(hit.group()):
        return ""
    return hit.group()


def _run(text: str, start: int, floor: int, mark: str) -> tuple[int, int, int]:
    """From where to where lines in a row begin with the mark, and how many."""
    core = mark.rstrip()
    first, count = start, 1
    while first > floor and (above := text.rfind("\n", 0, first - 1) + 1) >= floor and _has(text, above, mark, core):
        first, count = above, count + 1
        if not first:
            break
    end = text.find("\n", start)
    while end >= 0 and _has(text, end + 1, mark, core):
        end, count = text.find("\n", end + 1), count + 1
    return first, len(text) if end < 0 else end, count


def _has(text: str, at: int, mark: str, core: str) -> bool:
    """Whether the line that begins there has the mark, or is nothing else."""
    end = at + len(core)
    return text.startswith(mark, at) or (text.startswith(core, at) and text[end : end + 1] in "\n")
