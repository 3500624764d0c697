"""Where a traceback begins: the prefix that its lines carry and the indentation of its header, learned from it."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.extract.lines import Peeler
from pipeline.text import prefixes

#: The first frame stands within so many lines of the header (other streams may write between them).
FRAME_WITHIN = 12
#: Where the header carries a prefix, its own first frame may stand further below, behind those of other streams.
STREAM_WITHIN = 60
#: A chain that leads to an exception group shows it within so many characters.
GROUP_WITHIN = 20_000
#: A first line, escaped, ends within so many characters.
LINE_WITHIN = 1500
#: A line break that was escaped, once or twice, and one of HTML: behind the header or a frame, where lines end.
_BREAK = re.compile(
    r"(?:\(most recent call (?:last|first)\):|line \d{1,9}(?:, in [^\s\\<]{1,200})?)\s{0,4}"
    r"(?:(?P<escapes>\\{1,2})(?:r\\{1,2})?n|(?P<tag><br ?/?>)[^\n])"
)
_NEWLINES = {
    "\\": re.compile(r"""(?<!\\)(?:\\r)?\\n(?:['"], ?['"])?"""),
    "\\\\": re.compile(r"(?<!\\)(?:\\\\r)?\\\\n"),
}
_ENTITY = re.compile(r"&(?:quot|lt|gt);")
_NAME_BEFORE = re.compile(r"[A-Za-z_][\w.]{0,120}[ \t]{0,80}$")
_TAG = re.compile(r"<br ?/?>\s?")
_FRAME_MARK = re.compile(r'File (?:\\?"|&quot;)[^"\n]{0,1000}(?:"|&quot;), line \d')


class Head(NamedTuple):
    """How to read the block: the line to start from, how to clean lines, how far the header is indented."""

    start: int
    peeler: Peeler
    base: int


def learn(text: str, header: int) -> Head:
    """How to read the traceback whose header word begins at `header` (or the frame, where the header is lost)."""
    start = text.rfind("\n", 0, header) + 1
    stop = text.find("\n", header)
    stop = len(text) if stop < 0 else stop
    lost = _BREAK.search(text, header, min(stop, header + LINE_WITHIN))
    if lost is not None and lost["tag"]:
        return Head(header, Peeler(newline=_TAG, is_html=True), 0)
    if lost is not None:
        return _escaped(text, start, header, lost["escapes"])
    before = text[start:header]
    is_html = _ENTITY.search(text, header, stop + 300) is not None
    if before.rstrip().endswith("+ Exception Group") or before.strip() == "|":
        return _group(text, start, before)
    is_group = text.find("+ Exception Group Traceback", header, header + GROUP_WITHIN) >= 0
    lead = _frame_lead(text, start, header)
    if lead is None:
        return _from_grammar(text, start, before, is_html=is_html)
    core = lead.rstrip(" \t")
    blanks = len(lead) - len(core)
    if not core:
        own = len(before) - len(before.lstrip()) if not before.strip() else max(blanks - 2, 0)
        return Head(start, Peeler(is_html=is_html, is_group=is_group), min(own, blanks))
    is_fixed = core == before.rstrip()
    hit = prefixes.shape(core, is_fixed=is_fixed).match(before)
    gap = before[hit.end() :] if hit is not None else ""
    if hit is None or gap.strip() or text.startswith("File", header):
        gap = lead[len(core) : len(lead) - 2] if blanks >= 2 else ""
        shape = prefixes.shape(core, is_fixed=is_fixed)
        if not _is_carried(text, stop, shape):  # only the first frame's line has it: no prefix
            return Head(header - blanks, Peeler(is_html=is_html, is_group=is_group), 0)
    shape = prefixes.shape(core + gap, is_fixed=is_fixed)
    return Head(start, Peeler(shape, is_html=is_html, is_group=is_group), 0)


def is_escaped(text: str, header: int, stop: int) -> bool:
    """Whether the line breaks of the block that begins there are escaped, or tags: all of it stands in one line."""
    return _BREAK.search(text, header, min(stop, header + LINE_WITHIN)) is not None


def _is_carried(text: str, stop: int, shape: re.Pattern[str]) -> bool:
    """Whether one of the next lines that say something begins with the prefix."""
    at = stop + 1
    for _ in range(3):
        if at >= len(text):
            return False
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if shape.match(text, at, end):
            return True
        at = end + 1
    return False


def _frame_lead(text: str, start: int, header: int) -> str | None:
    """What stands before the first frame on its line; of the header's stream, where several write."""
    own = text[start:header].rstrip()
    at = start
    first = None
    for number in range(STREAM_WITHIN if own else FRAME_WITHIN):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        hit = _FRAME_MARK.search(text, at, min(stop, at + 2000)) if first is None or text.startswith(own, at) else None
        if hit is not None and (at > header or hit.start() == header):
            lead = text[at : hit.start()]
            if lead.startswith(own):
                return lead
            first = lead if first is None and number < FRAME_WITHIN else first
        if stop >= len(text) or (first is not None and not first.strip()):
            break
        at = stop + 1
    return first


def _group(text: str, start: int, before: str) -> Head:
    outer = before[: before.index("+")] if "+" in before else before[: before.index("|")]
    core = outer.rstrip()
    return Head(start, Peeler(prefixes.shape(core) if core else None, is_group=True), 0)


def _escaped(text: str, start: int, header: int, escapes: str) -> Head:
    """The block stands in one line, its line breaks escaped: from the string's start or the last break on."""
    inside = text.rfind(f"{escapes}n", start, header)
    first = inside + len(escapes) + 1 if inside >= 0 else start
    if header - first > 0 and text[header - 1] in "\"'":
        first = header
    return Head(first, Peeler(newline=_NEWLINES[escapes], escapes=len(escapes)), 0)


def _from_grammar(text: str, start: int, before: str, *, is_html: bool) -> Head:
    """No frame follows: what the next lines repeat of the header's, or what the grammar knows of it, has to do."""
    own = _NAME_BEFORE.sub("", before)  # a notebook's header begins with the exception's name
    wide = prefixes.width(before)
    if own.strip() and wide <= len(own) < len(before) and not own.rstrip().endswith((".", ",", ";", "(")):
        stop = text.find("\n", start + len(before))
        shape = prefixes.shape(own)
        if stop >= 0 and _is_repeated(text, stop, shape):
            return Head(start, Peeler(shape, is_html=is_html), 0)
    if wide:
        return Head(start, Peeler(prefixes.shape(before[:wide]), is_html=is_html), 0)
    return Head(start, Peeler(is_html=is_html), len(before) - len(before.lstrip()) if not before.strip() else 0)


def _is_repeated(text: str, stop: int, shape: re.Pattern[str]) -> bool:
    """Whether the two next lines begin with the prefix."""
    for _ in range(2):
        if stop < 0 or not shape.match(text, stop + 1):
            return False
        stop = text.find("\n", stop + 1)
    return True
