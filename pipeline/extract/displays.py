"""Tracebacks as programs display them: in Markdown, by rich, by editors and notebooks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from pipeline.extract import chain, head, python
from pipeline.extract.lines import Line, Lines
from pipeline.records import Event, Frame, short_class, warm

# Where the code of a markdown text stands: fenced blocks.

#: Blanks and quote marks that may stand before a fence.
_FENCE_MARGIN = 12


class Fences:
    """The fenced blocks of a text, looked for when somebody first asks for one."""

    def __init__(self, text: str) -> None:
        self._text = text

    def hold(self, at: int) -> bool:
        """Whether the place stands in a block."""
        place = bisect_right(self._spans, (at, at))
        return place > 0 and at < self._spans[place - 1][1]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The blocks, the last one open to the end if nobody closed it."""
        text = self._text
        marks = sorted({start for fence in ("```", "~~~") for start in _opening(text, fence)})
        ends = [*marks[1::2], len(text)] if len(marks) % 2 else marks[1::2]
        return list(zip(marks[::2], ends, strict=True))


def _opening(text: str, fence: str) -> Iterator[int]:
    """The starts of the lines that begin with the fence, quoting and indentation apart."""
    at = text.find(fence)
    while at >= 0:
        start = text.rfind("\n", max(at - _FENCE_MARGIN - 1, 0), at) + 1
        if at - start <= _FENCE_MARGIN and not text[start:at].strip(" \t>") and (start or at <= _FENCE_MARGIN):
            yield start
        stop = text.find("\n", at)
        at = text.find(fence, stop) if stop >= 0 else -1


# Tracebacks that rich draws in a box.

BOX = warm.pattern(r"[╭┌+][─-]{1,200} ?\[?[^\n]{0,20}Traceback \(most recent call last\)")
_FRAME = warm.pattern(
    r"(?P<file>[^\s│|❱][^│\n]{0,400}?):(?P<line>\d{1,7})(?: in(?: (?P<function>[^\s│]{1,120}))?)?\s*$"
)
_RICH_MARGIN = warm.pattern(r"\s*[│|] ?(.*?)\s*[│|]?$")
_RICH_SOURCE = warm.pattern(r"\s*❱? ?\s*\d{1,7}(?: |$)")


def read_rich(lines: Lines, first: int) -> python.Printed:
    """The exception whose box is open at line `first`."""
    printed = python.Printed(after=first)
    number = first
    is_open = True
    while (line := lines.at(number)) is not None:
        body = line.body.strip()
        if body.startswith(("╰", "└", "+-")):
            is_open = False
        elif not is_open:
            if python.is_named(body):
                python.message(lines, number, printed)
                return printed
            if body:
                break
        elif not body.startswith(("│", "|")):
            break
        else:
            _row(body, printed)
        number += 1
        printed.after, printed.end = number, line.end
    printed.is_truncated = True
    return printed


def _row(body: str, printed: python.Printed) -> None:
    margin = _RICH_MARGIN.match(body)
    inside = margin.group(1) if margin is not None else ""
    if not inside or _RICH_SOURCE.match(inside):
        return
    hit = _FRAME.match(inside)
    if hit is not None:
        printed.frames.append(Frame(hit["file"].strip(), int(hit["line"]), hit["function"]))


# What VS Code's debugger shows: `Exception has occurred: Type`, the message, the frames innermost first.

MARK = "Exception has occurred: "
_FIRST = warm.pattern(r"([A-Za-z_][\w.]{0,160})(?:\s(.*))?$")
_NOTE = warm.pattern(r"\(note: full exception trace is shown but execution is paused at.*\)$")
#: A message longer than this many lines was not seen.
MOST_LINES = 30


def read_vscode(text: str, mark: int) -> Event | None:
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
        if chain.frame(body) is not None or (body.startswith("```") and said):
            break
        if not body and said:
            following = lines.at(number + 1)
            return (number + 1 if following and chain.frame(following.body) else number), said
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


# Exceptions as IPython and Jupyter print them: `---> 12`, `Cell In[3], line 1`, `path in f(a)`.

_HEADER = warm.pattern(
    r"(?:[-*+] |\d{1,2}[.)] |(?:<[a-z/]{1,12}>){1,6})?[`*'\"> ]{0,4}"
    r"([A-Za-z_][\w.]{0,120}?(?:\([\w.]{1,80}\))?)\s{0,80}Traceback \(most recent call last\)\s{0,20}$"
)
_ITEM = warm.pattern(r"[-*+] |\d{1,2}[.)] ")
_CELL = warm.pattern(r"(?:Cell |Input )?(In ?\s?\[[\d*]{1,6}\])(?:, line (\d{1,7})|, in (.{1,200})|:$)")
_FILE = warm.pattern(r"File ([^\"\n]{1,400}?):(\d{1,7})(?:, in (.*))?$")
_PLACE = warm.pattern(r"\[?((?:<|[~./\\]|[A-Za-z]:\\|\w)[^\n]{0,400}?)(?:\]\([^)\s]{0,300}\))? in (\S.*)$")
#: The same where a page took `<module>` for markup.
_CUT = warm.pattern(r"((?:[~./\\]|[A-Za-z]:\\)[^\n]{0,400}?\.pyx?) in$")
_PATH = warm.pattern(r"\.pyx?[cd]?\b|^<[\w ._-]{1,80}>$|[/\\]|\.so$|\.pxi?$")
_SOURCE = warm.pattern(r"\s{0,12}(-{1,8}> ?)?(\d{1,6})(?: |$)")
_HIDDEN = warm.pattern(r"\d{1,4} frames?$|\.\.\. last \d{1,6} frames repeated|\[\.\.\. ?skipping|\(\.\.\.\)$|-{5,}$")
#: Lines that are neither frame nor numbered source may stand in a row (source pasted without its numbers).
MOST_PLAIN = 25
#: IPython shows at most so many lines above the marked one.
SOURCE_LINES = 12


def header_name(body: str) -> str | None:
    """The exception name that IPython prints before `Traceback`, None for other headers."""
    if body.endswith(":"):
        return None
    hit = _HEADER.match(body)
    return hit.group(1) if hit is not None else None


def margin(body: str) -> int:
    """How wide the mark of a list is at the head of the line: what belongs to its item is indented so far."""
    hit = _ITEM.match(body)
    return hit.end() if hit is not None else 0


def frame(body: str) -> Frame | None:
    """The frame that a line names in one of IPython's forms."""
    if body.startswith(("File ", "Cell ", "Input ", "In ")):
        hit = _FILE.match(body)
        if hit is not None:
            return Frame(hit.group(1), int(hit.group(2)), _bare(hit.group(3)))
        hit = _CELL.match(body)
        if hit is not None:
            return Frame(hit.group(1), int(hit.group(2)) if hit.group(2) else None, _bare(hit.group(3)))
    if " in " in body and " " not in body[:1]:
        hit = _PLACE.match(body)
        if hit is not None and _PATH.search(hit.group(1)) and "Error" not in hit.group(1):
            return Frame(hit.group(1), None, _bare(hit.group(2)))
    if body.endswith(" in") and (hit := _CUT.match(body)) is not None:
        return Frame(hit.group(1), None, None)
    return chain.frame(body)


def _bare(function: str | None) -> str | None:
    return function.split("(", 1)[0].strip() or None if function else None


def begin(text: str, arrow: int, floor: int) -> int | None:
    """Where the first whole frame begins around the marked source line with `arrow`; None if there is none near."""
    at = text.rfind("\n", 0, arrow) + 1
    if at < floor or _SOURCE.match(text[at : arrow + 40]) is None:
        return None
    place = at
    for _ in range(SOURCE_LINES):
        if place - 1 <= floor:
            break
        above = max(text.rfind("\n", floor, place - 1) + 1, floor)
        body = text[above : place - 1].rstrip()
        if body and _SOURCE.match(body) is None:
            if body[0] not in " -" and frame(body) is not None:
                return above
            break
        place = above
    return _below(text, at)


def _below(text: str, at: int) -> int | None:
    """The first frame below, where the head of its own frame was cut off."""
    for _ in range(SOURCE_LINES):
        stop = text.find("\n", at)
        if stop < 0:
            return None
        body = text[at : min(stop, at + 1000)].rstrip()
        if body and _SOURCE.match(body) is None:
            return at if body[0] not in " -" and frame(body) is not None else None
        at = stop + 1
    return None


def read_ipython(lines: Lines, first: int, name: str, base: int) -> python.Printed:
    """The exception named `name` in its header, whose frames begin at line `first`."""
    printed = python.Printed(after=first)
    plain = 0
    number = first
    while (line := lines.at(number)) is not None:
        kind = _kind(line, name, base)
        if kind == "exception":
            python.message(lines, number, printed)
            return printed
        plain = plain + 1 if kind == "plain" else 0
        if kind == "stop" or plain > MOST_PLAIN:
            break
        _take(line, kind, base, printed)
        number += 1
        if line.body and kind != "plain":
            printed.after, printed.end = number, line.end
    printed.exception_type = name or None
    printed.is_truncated = True
    return printed


def _kind(line: Line, name: str, base: int) -> str:
    body = line.body[base:] if line.indent >= base else line.body
    if not body:
        return "blank"
    if line.is_foreign:
        return "plain"
    source = _SOURCE.match(body)
    if source is not None:
        return "arrow" if source.group(1) else "source"
    if line.indent <= base and body[0] not in " -":
        if body.startswith(("```", "~~~", *python.CHAIN_WORDS)) or chain.HEADER in body:
            return "stop"
        if _is_exception(body, name):
            return "exception"
    if frame(body) is not None:
        return "frame"
    return "hidden" if _HIDDEN.match(body) or chain.is_elided(body) else "plain"


def _is_exception(body: str, name: str) -> bool:
    named = head.loose(body)
    if named is None:
        return bool(name) and body.startswith(name + ":")
    same = short_class(named.exception_type) == name.rsplit(".", 1)[-1]
    return same or (named.message is not None and head.strict(body) is not None)


def _take(line: Line, kind: str, base: int, printed: python.Printed) -> None:
    if kind == "frame":
        found = frame(line.body[base:] if line.indent >= base else line.body)
        if found is not None:
            printed.frames.append(found)
    elif kind == "arrow" and printed.frames and printed.frames[-1].line is None:
        source = _SOURCE.match(line.body[base:])
        if source is not None:
            last = printed.frames[-1]
            printed.frames[-1] = Frame(last.file, int(source.group(2)), last.function)
    elif kind == "hidden" and not line.body.startswith("---"):
        printed.is_truncated = True
