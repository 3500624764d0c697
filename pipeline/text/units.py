"""A thread as numbered units: what a reader, a person or a model, can point at.

A unit is a sentence, a line of a list, a heading, or a block: code, what a program printed, what is quoted from above.
Units stand in the order of the text, overlap nowhere, and each lies inside one post. They depend on the document and
its events alone, so a number means the same to whoever is shown them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.records import Document, Event, warm

#: A longer run without a border is cut at a blank: nobody writes such a sentence, pages saved as text hold them.
MOST_CHARACTERS = 600
#: From so many characters on, a line that goes on in small letters was wrapped by a mail program.
_WRAPPED = 50

_FENCE = warm.pattern(r"[ \t>]{0,8}(```+|~~~+)")
_CODE_TAG = warm.pattern(r"\{(code|noformat|quote)(?::[^}\n]{0,80})?\}")  # JIRA's; one line opens, the same closes
_ITEM = warm.pattern(r"[ \t]{0,12}(?:[-*+•]|\d{1,2}[.)]|\[[ xX]\])[ \t]+")
_HEADING = warm.pattern(r"[ \t]{0,3}#{1,6}[ \t]+\S|h[1-6]\. ")
_QUOTED = warm.pattern(r"[ \t]{0,3}>|bq\. ")
_HIDDEN = warm.pattern(r"<!--.{0,4000}?(?:-->|\Z)", re.DOTALL)
#: How a line begins, or ends, that a program wrote or that is source text.
_PRINTED = warm.pattern(
    r"\s*(?:>>> |\.\.\. |[$%] \S|# ?include|File \"|at [\w.$<>/]+\s?\(|import \w+(?:[.,;]|$)|from [\w.]+ import"
    r"|def \w+\("
    r"|class \w+[(:{]|\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[EWIF]\d{4} \d\d:|\(?\w+ pid=|\[\w+\] "
    r"|(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL)\b[ :\]]|Traceback |//|/\*|\*/|#\d+\s|frame #\d|goroutine \d"
    r"|\+?0x[0-9a-f]{4,}|[\w.]+(?:Error|Exception|Warning): )"
    r"|\s{8,}\S|\t{2,}\S|[^\n]*[;{}]\s*$|\s*[\w.\[\]]+ ?[:+]?= ?\S[^.]*$"
)
_BORDER = warm.pattern(
    r"(?<=[.!?])[\"')*_\]]{0,3}[ \t]+(?=[A-Z0-9`\"'(*\[#@/~\u4e00-\u9fff\U0001F300-\U0001FAFF])"
    r"|(?<=[.!?]{2})[ \t]+(?=[a-z])|(?<=[。！？；])"
)
_NOT_BORDER = warm.pattern(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|ver|v|approx|No|Fig|Mr|Dr|St|incl|resp|w\.r\.t|\d{1,2})\.[\"')*_\]]{0,3}\s+$",
    re.IGNORECASE,
)
#: What no sentence begins with.
_GOES_ON = frozenset(".,;:!?)]，。；：！？）")
_HAN = warm.pattern(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
#: Less than this share of a line are letters and blanks: it is code or a table.
_LEAST_LETTERS = 0.6


class UnitKind(StrEnum):
    """What a unit is; people's words are sentences, items and headings."""

    SENTENCE = "sentence"
    ITEM = "item"
    HEADING = "heading"
    CODE = "code"
    OUTPUT = "output"  # an error event, or what a program printed outside a fence
    QUOTED = "quoted"  # somebody else's words, said above


@dataclass(frozen=True, slots=True)
class Unit:
    """`document.text[start:end]`, stripped, inside `document.posts[post]`."""

    number: int
    kind: UnitKind
    start: int
    end: int
    post: int  # -1 if the document has no posts


def units(document: Document, events: Sequence[Event]) -> list[Unit]:
    """The units of what people wrote; the posts of robots have none."""
    text = document.text
    printed = sorted((event.start, event.end) for event in events)
    found: list[Unit] = []
    posts = [(p.start, p.end, number) for number, p in enumerate(document.posts) if not p.is_bot]
    for start, end, post in posts if document.posts else [(0, len(text), -1)]:
        for kind, *span in _pieces(text, start, end, printed):
            begin, until = _stripped(text, *span)
            if any(map(str.isalnum, text[begin:until])):
                found.append(Unit(len(found), kind, begin, until, post))
    return found


Piece = tuple[UnitKind, int, int]


def _pieces(text: str, start: int, end: int, printed: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """The pieces of one post: its lines, joined where they belong together, prose cut into sentences."""
    held: Piece | None = None
    for piece in _lines(text, start, end, printed):
        if held is not None and _joins(text, held, piece):
            held = (held[0], held[1], piece[2])
            continue
        if held is not None:
            yield from _sentences(text, held)
        held = piece
    if held is not None:
        yield from _sentences(text, held)


def _joins(text: str, held: Piece, piece: Piece) -> bool:
    """True if the second piece goes on with the first: a block's next line, or a sentence that was wrapped."""
    (kind, start, end), (next_kind, next_start, next_end) = held, piece
    between = text[end:next_start].count("\n")
    if kind == next_kind and kind in (UnitKind.CODE, UnitKind.OUTPUT, UnitKind.QUOTED):
        return between <= (2 if kind != UnitKind.QUOTED else 1)
    if kind not in (UnitKind.SENTENCE, UnitKind.ITEM) or between != 1:
        return False
    first = text[next_start:next_end].lstrip()
    if first[:1] in _GOES_ON and not _HEADING.match(first):  # saved pages break their lines behind every link
        return True
    if next_kind != UnitKind.SENTENCE:
        return False
    last = text[text.rfind("\n", start, end) + 1 : end].rstrip()
    goes_on = first[:1].islower() and last[-1:] not in ".!?:;。！？："
    return goes_on and (len(last) >= _WRAPPED or text[next_start : next_start + 1] == " ")


def _lines(text: str, start: int, end: int, printed: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """Each line that says something, with what it is; a fenced block, a comment, an event in one piece."""
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        event = next(((s, e) for s, e in printed if s < stop and e > at), None)
        line = text[at:stop]
        if event is not None and event[1] - event[0] >= len(line.strip()) // 2:
            until = text.find("\n", max(stop, min(event[1], end)), end)
            until = min(end, event[1] if event[1] > stop else stop) if until < 0 else max(stop, min(until, end))
            yield (UnitKind.OUTPUT, at, until)
            at = until + 1
        elif fence := _FENCE.match(line):
            until = _closing(text, stop, end, fence.group(1)[:3])
            yield (UnitKind.CODE, at, until)
            at = until + 1
        elif (tag := _CODE_TAG.search(line)) and (close := text.find(tag.group(1) + "}", at + tag.end(), end)) >= 0:
            if tag.start():
                yield (_kind(line[: tag.start()]), at, at + tag.start())
            until = close + len(tag.group(1)) + 1
            yield (UnitKind.QUOTED if tag.group(1) == "quote" else UnitKind.CODE, at + tag.start(), until)
            at = until
        elif hidden := _HIDDEN.match(text, at + len(line) - len(line.lstrip()), end):
            at = hidden.end()
        else:
            if line.strip():
                yield (_kind(line), at, stop)
            at = stop + 1


def _closing(text: str, at: int, end: int, mark: str) -> int:
    """Where the line ends that closes a fence; the post's end where none does."""
    while 0 <= at < end:
        stop = text.find("\n", at + 1, end)
        stop = end if stop < 0 else stop
        if text[at + 1 : stop].lstrip(" \t>").startswith(mark):
            return stop
        at = stop
    return end


def _kind(line: str) -> UnitKind:
    if _QUOTED.match(line):
        return UnitKind.QUOTED
    if _HEADING.match(line):
        return UnitKind.HEADING
    item = _ITEM.match(line)
    said = line[item.end() :] if item else line
    if not item and _is_printed(line):
        return UnitKind.OUTPUT
    return UnitKind.ITEM if item and said.strip() else UnitKind.SENTENCE


def _is_printed(line: str) -> bool:
    if _PRINTED.match(line):
        return True
    stripped = line.strip()
    if len(stripped) < 12 or _HAN.search(stripped):
        return False
    letters = sum(map(str.isalpha, stripped)) + stripped.count(" ")
    return letters < _LEAST_LETTERS * len(stripped) and "`" not in stripped and "http" not in stripped


def _sentences(text: str, piece: Piece) -> Iterator[Piece]:
    kind, start, end = piece
    if kind not in (UnitKind.SENTENCE, UnitKind.ITEM):
        yield piece
        return
    begin = start
    marker = _ITEM.match(text, start, end)  # the point behind "1" ends no sentence
    for border in _BORDER.finditer(text, marker.end() if marker else start, end):
        if _NOT_BORDER.search(text, max(begin, border.end() - 12), border.end()) or _is_in_code(text, begin, border):
            continue
        yield (kind, begin, border.start())
        begin = border.end()
        kind = piece[0]
    while end - begin > MOST_CHARACTERS:
        cut = text.rfind(" ", begin, begin + MOST_CHARACTERS)
        cut = cut if cut > begin else begin + MOST_CHARACTERS
        yield (kind, begin, cut)
        begin = cut
    yield (kind, begin, end)


def _is_in_code(text: str, begin: int, border: re.Match[str]) -> bool:
    """True inside inline code: `a. B` is no end of a sentence."""
    return text.count("`", begin, border.start()) % 2 == 1


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t\r\n":
        start += 1
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return start, end
