"""What pages and carriers put around each line of what a program printed: the text with blanks for it.

Every place stays what it is, so that what is read there can be quoted from the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pipeline.extract import related
from pipeline.text import prefixes

#: A mark is at most and at least so wide, and so many lines in a row have it.
_WIDEST, _NARROWEST, _LEAST = 80, 3, 3
#: A mark of whoever carried the lines: a name, in brackets or before a colon or a bar. What itself tells of an error, a
#: place in a source, a listing's number, a cell of a table is none.
_MARK = re.compile(
    r"[ \t]{0,8}(?:==> |-> )?(?:\[[\w@./: -]{1,60}\]:?"
    r"|\(?[A-Za-z@][\w@./-]{0,50}(?::[\w@./-]{1,40}){0,3}(?: [\w./-]{1,20}){0,2}?\)?(?::| {0,16}\|)) ?(?=[ \t]*\S)"
)
_NO_MARK = re.compile(
    r"(?i:\berr|error|warn|fatal|fail|except|panic|caused|severe|crit|note|help|info|debug|trace|usage|hint|assert|"
    r"expected|actual|message|stack)|\.\w{1,4}:\d|\b[ft]rom\b|\bat\b|^\W{0,8}(?:npm|make|ld|E|Location|File)\b"
)
#: What HTML ends a line with, and what a terminal does where a page lost the character that begins its codes.
_BREAKS = re.compile(r"<br ?/?>(?=[ \t]*$)", re.MULTILINE)
_CODES = re.compile(r"(?:(?:\ufffd|\^\[|\u241b)?\[[0-9;]{0,16}[mK])+(?=[ \t]*$)", re.MULTILINE)


def without(text: str, places: Iterable[int]) -> str:
    """The text with blanks for what surrounds its lines; at `places` stand signs of stacks."""
    if "<br" in text:
        text = _BREAKS.sub(_blank, text)
    if "[0m" in text and related.has_colours(text):
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
