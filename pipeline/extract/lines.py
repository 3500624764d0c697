"""The lines of a text: where they begin, what decorates them, which of them a reader should look at."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from pipeline import packs
from pipeline.extract import chain, head
from pipeline.records import warm
from pipeline.text import prefixes
from pipeline.text.needed import Seen

# One cheap look over a text for the places where something may have failed; everything else is never split.

_MARKS: tuple[tuple[str, str], ...] = (
    ("header", "raceback (most recent call"),
    ("frame", 'File "'),
    ("frame", "File &quot;"),
    ("fatal", "Fatal Python error: "),
    ("fatal", "(most recent call first)"),
    ("vscode", "Exception has occurred: "),
    ("pytest", "\nE   "),
    ("pytest", " E   "),
    ("arrow", "--> "),
    ("arrow", "\n-> "),
)


@packs.cached
def _ends() -> frozenset[str]:
    """Ends of exception names as they stand before a colon; of a name that ends like no other, all of it."""
    added = head.EXCEPTIONS.rows()
    bare = (*head.BARE_ENDINGS, *head.PACKAGED_ENDINGS)
    return frozenset((*bare, *(end for row in added for end in (*row.endings, *row.names))))


def literals() -> tuple[str, ...]:
    """What `marks` and `name_ends` want to have been looked for."""
    return (*(needle for _, needle in _MARKS), *sorted(_ends()), *head.ERROR_PACKAGES)


def frame_literals() -> tuple[str, ...]:
    """What stands on frames of Python, and above them."""
    return tuple(needle for kind, needle in _MARKS if kind in ("header", "frame"))


_FRAME = warm.pattern(r'File (?:\\?"|&quot;)[^"\n]{0,1000}(?:"|&quot;), line \d|File "[^"\n]{1,1000}$', re.M)
_BEFORE_COLON = frozenset(("(", " ", ":", "："))
_CLASS = warm.pattern(r"[A-Z]\w{2,80}")
_COLON = warm.pattern(
    r"(?:\([\w.]{1,80}\)| \(see above for traceback\))? ?[:：]"
    # a JVM's trace without a message, run together
    r"| at (?:[\w$]{1,80}\.){1,14}[\w$<>]{1,80}\((?:[\w$]{1,80}\.(?:java|kt|scala|groovy|clj):\d|Native Method\))"
)


#: A name with its package, and nothing else but a mark of quoting or markup of code before it; what stands above it.
_ALONE = warm.pattern(r"[\s>]{0,12}(?:\{code[^}\n]{0,20}\})?(?:[A-Za-z_$][\w$]{0,80}\.){2,14}[A-Z][\w$]{0,100}")
_TELLS = warm.pattern(r"[Ee]rror|ERROR|[Ee]xception|[Ff]ail|STACK|[Cc]aused|[Tt]hrow")
_LONGEST_NAME = 300


class Mark(NamedTuple):
    """A place worth a look, and what made it so."""

    at: int
    kind: str  # "header" | "frame" | "fatal" | "vscode" | "pytest" | "arrow"


def marks(text: str, seen: Seen) -> list[Mark]:
    """The places of the text that a reader of some dialect should look at, in order."""
    found: list[Mark] = [Mark(0, "pytest")] if text.startswith("E   ") else []
    for kind, needle in _MARKS:
        places = seen.get(needle)
        if places is None:
            continue
        if kind == "frame":
            found.extend([Mark(at, kind) for at in places])
        else:
            found.extend([Mark(_place(text, at, kind), kind) for at in places])
    return sorted(found)


def is_mark(text: str, mark: Mark) -> bool:
    """Whether the place is what it looks like. Asked late: most frames lie inside a traceback that was read by then."""
    return mark.kind != "frame" or _FRAME.match(text, mark.at) is not None


def _place(text: str, at: int, kind: str) -> int:
    if kind == "header":  # the T may be lost (`raceback`)
        return at - (at > 0 and text[at - 1] in "Tt")
    return at + 1 if text[at] in "\n " else at


def is_alone(text: str, end: int) -> bool:
    """Whether an exception's whole name that ends there is all of its line, and the line above tells of an error."""
    start = text.rfind("\n", max(0, end - _LONGEST_NAME), end) + 1
    if _ALONE.fullmatch(text, start, end) is None:
        return False
    above = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : start]
    return _TELLS.search(above) is not None


def name_ends(text: str, seen: Seen) -> list[int]:
    """The places where a name that ends like an exception's stands before a colon, in order."""
    found: list[int] = []
    ends = _ends()
    for ending, places in seen.items():  # a text holds few of them
        if ending in head.ERROR_PACKAGES:
            classes = (_CLASS.match(text, at + len(ending)) for at in places)
            found.extend([one.end() for one in classes if one is not None and _COLON.match(text, one.end())])
        if ending not in ends:
            continue
        width = len(ending)
        for at in places:
            end = at + width
            behind = text[end : end + 1]
            if (behind in _BEFORE_COLON and _COLON.match(text, end)) or (behind in "\n" and is_alone(text, end)):
                found.append(end)
    return sorted(set(found))  # a name and its ending may both be looked for


#: A line that is all code, by a mark on either side of it.
_CODE = warm.pattern(r"^[ \t]{0,8}(?:\{\{(?!\{)[^\n]{2,2000}?(?<!\})\}\}|`(?!`)[^`\n]{2,2000}`)[ \t]{0,4}$", re.M)
#: Where such a line may end and another one begin, for each mark: an expression that begins with letters is found fast.
_NEIGHBOURS = tuple(warm.pattern(mark + r"[ \t]{0,4}\n[ \t]{0,8}(?:`(?!`)|\{\{(?!\{))") for mark in ("`", r"\}\}"))


def without_marks(text: str) -> str:
    """The text with blanks for the marks of code around each of several lines in a row; places stay what they are.

    Trackers whose mark for a block people do not know get a stack with each of its lines marked.
    """
    if not any(one.search(text) for one in _NEIGHBOURS) or ("}}\n" not in text and "`\n" not in text):
        return text
    kept, last, run = list[str](), 0, list[re.Match[str]]()
    for hit in (*_CODE.finditer(text), None):
        if hit is not None and run and hit.start() == run[-1].end() + 1:
            run.append(hit)
            continue
        if len(run) > 1:
            kept += [text[last : run[0].start()], *(_unmarked(one[0]) + "\n" for one in run)]
            last = run[-1].end() + 1
        run = [] if hit is None else [hit]
    return "".join([*kept, text[last:]])[: len(text)] if kept else text


def _unmarked(line: str) -> str:
    """The line with blanks for its marks, which are as wide as each other."""
    words = line.strip()
    wide = 1 if words[0] == "`" else 2
    return line.replace(words, f"{' ' * wide}{words[wide:-wide]}{' ' * wide}", 1)


# The lines of a block, read one at a time and only as far as somebody looks, each with its prefix taken off.

#: No block is followed further than this (the longest traceback of the corpus has 1,003 lines).
MOST_LINES = 4000

#: A line is looked at up to here; what a program prints in one line beyond it is data, not structure.
WIDEST_LINE = 20_000

#: Terminals are at least so wide, and one line was wrapped into at most so many.
NARROWEST, NARROWEST_FULL = 40, 72
REPLACED = 12
#: Lines above that tell the width.
LOOKS_BACK = 120
MOST_PIECES = 12

_GROUP_MARGIN = warm.pattern(r" {0,40}(?:\| ?|\+ (?=Exception Group))")
_GROUP_BORDER = warm.pattern(r" {0,40}\+[-+]{1,8}-{6,40}(?: (?:\d{1,6}|\.\.\.) -{6,40})?$")
#: The end of a quoted string, and the break between two strings of a printed list.
_CLOSING = {'"': warm.pattern(r'(?<!\\)"'), "'": warm.pattern(r"(?<!\\)'")}
_CLOSING_TWICE = warm.pattern(r"""(?<!\\)\\["']""")
_LISTED = warm.pattern(r"""[^\n]{1,80}\\n['"], ?['"]""")
_ESCAPED = warm.pattern(r"""\\(["'/\\])""")
#: How the rest of a wrapped word or sentence begins: in the middle of it.
_REST = warm.pattern(r"[a-z0-9_./\\'\",:;)\]}-](?!--|==)")
_STRAY = warm.pattern(r"\x1b\[[0-9;?]{0,16}[A-Za-z]|\r+$")


def unescaped(words: str) -> str:
    """The words of a string without the backslashes before its marks of quoting, slashes and backslashes."""
    return _ESCAPED.sub(r"\1", words)


class Line(NamedTuple):
    """One line: its place in the text, its words without prefixes, how far they are indented."""

    start: int
    end: int
    body: str
    indent: int
    is_foreign: bool  # it lacks the prefix that the block's lines carry: another stream wrote it
    is_border: bool  # `+-+------ 1 ------` between the parts of an exception group


class Peeler(NamedTuple):
    """How the lines of one block are cleaned: the shape of their prefix, margins of groups, escapes."""

    prefix: re.Pattern[str] | None = None
    is_group: bool = False
    newline: re.Pattern[str] | None = None  # what stands for a line break within one line of the text
    escapes: int = 0  # how often quotes and backslashes were escaped
    is_html: bool = False


_BARE = Peeler()


def _is_rest(line: Line, below: Line) -> bool:
    """Whether what stands below an indented line may be the end of it."""
    if not line.indent or below.indent or not below.body:
        return False
    return head.loose(below.body) is None and not prefixes.prefixes(below.body)


def _end_of_string(text: str, start: int) -> int:
    """Where the quoted string ends in which an escaped block stands: at its closing quote, else with the line."""
    stop = text.find("\n", start)
    stop = stop if stop >= 0 else len(text)
    if start == 0 or text[start - 1] not in "\"'" or _LISTED.match(text, start):
        return stop
    closing = _CLOSING_TWICE if start > 1 and text[start - 2] == "\\" else _CLOSING[text[start - 1]]
    quote = closing.search(text, start, stop)
    return quote.start() if quote is not None else stop


class Lines:
    """Lines from `start` on (the start of a line, or of an escaped line), numbered from 0."""

    __slots__ = ("_is_bare", "_kept", "_limit", "_next", "_widths", "peeler", "text")

    def __init__(self, text: str, start: int, peeler: Peeler) -> None:
        self.text = text
        self.peeler = peeler
        self._kept: list[Line] = []
        self._next = start
        self._limit = len(text)
        self._widths: set[int] = set()  # at which a terminal wrapped the lines, once known
        self._is_bare = peeler == _BARE
        if peeler.newline is not None:
            self._limit = _end_of_string(text, start)

    def at(self, number: int) -> Line | None:
        """The line of that number, None behind the last one."""
        kept = self._kept
        if number < len(kept):
            return kept[number]
        while len(kept) <= number:
            if self._next > self._limit or number >= MOST_LINES:
                return None
            self._read()
        return kept[number]

    def is_full(self, number: int) -> bool:
        """Whether a terminal may have wrapped the line, as it did others above whose rest stands unindented below."""
        line, rest = self._kept[number], self.at(number + 1)
        width = line.end - line.start
        if width < NARROWEST_FULL or rest is None or rest.indent or not rest.body:
            return False
        if self._widths:
            # names in paths may have been replaced since: lines of one terminal differ by some characters
            is_near = min(abs(width - other) for other in self._widths) <= REPLACED
            return is_near and not rest.is_foreign and _REST.match(rest.body) is not None
        above = self._kept[max(0, number - LOOKS_BACK) : number]
        return any(line.end - line.start == width and _is_rest(line, below) for line, below in pairwise(above))

    def unwrap(self, number: int, is_whole: Callable[[str], object] = bool) -> bool:
        """Whether a terminal wrapped that line: joined with those below it is what it should be.

        From it on, each line of its width is read together with the next one.
        """
        line = self._kept[number]
        width = line.end - line.start
        if width in self._widths or width < NARROWEST or self.peeler.newline is not None:
            return False
        self._widths.add(width)
        joined = self._line(*self._wrapped(line.start, line.end))
        if not is_whole(joined.body):
            self._widths.discard(width)
            return False
        del self._kept[number:]
        self._next = line.start
        return True

    def _read(self) -> None:
        start = self._next
        if self.peeler.newline is not None:
            found = self.peeler.newline.search(self.text, start, self._limit)
            end, self._next = found.span() if found is not None else (self._limit, self._limit + 1)
        else:
            end = self.text.find("\n", start, self._limit)
            end = self._limit if end < 0 else end
            self._next = end + 1
        if self._widths and end - start in self._widths and self.text[end - 2 : end] != "  ":
            start, end, raw = self._wrapped(start, end)
            self._next = end + 1
        else:
            raw = self.text[start : end if end - start < WIDEST_LINE else start + WIDEST_LINE]
        self._kept.append(self._line(start, end, raw))

    def _wrapped(self, start: int, end: int) -> tuple[int, int, str]:
        """The line whose first piece is given, with the pieces that a terminal put on lines of their own."""
        pieces = [self.text[start:end]]
        quote = 2 if pieces[0].startswith("> ") else 0  # quoted later: each piece has its own mark
        width = widest = end - start
        while len(pieces) < MOST_PIECES and width in self._widths and end < self._limit:
            stop = self.text.find("\n", end + 1, self._limit)
            stop = self._limit if stop < 0 else stop
            width = stop - end - 1
            piece = self.text[end + 1 + quote : min(stop, end + 1 + widest)]
            if not piece or width > widest or self._begins(piece):
                break
            pieces.append(piece)
            end = stop
            if piece.endswith("  "):
                break
        return start, end, "".join(pieces)

    def _begins(self, piece: str) -> bool:
        """Whether a line is no rest of the one above: it is indented, carries the prefix or names an exception."""
        if piece.startswith(("  ", "```")):
            return True
        if self.peeler.prefix is not None:
            return self.peeler.prefix.match(piece) is not None or bool(prefixes.prefixes(piece))
        return chain.HEADER in piece or head.strict(piece) is not None

    def _line(self, start: int, end: int, raw: str) -> Line:
        is_foreign = is_border = False
        if self._is_bare:
            body = raw[2:] if raw.startswith("> ") else raw
        else:
            body, is_foreign = self._peeled(raw)
            if self.peeler.is_group:
                is_border = _GROUP_BORDER.match(body) is not None
                margin = _GROUP_MARGIN.match(body)
                if margin is not None:
                    body = body[margin.end() :]
        if "\x1b" in body:
            body = _STRAY.sub("", body)
        body = body.rstrip()
        if end > start and self.text[end - 1] == "\r":
            end -= 1
        indent = len(body) - len(body.lstrip()) if body[:1].isspace() else 0
        return Line(start, end, body, indent, is_foreign, is_border)

    def _peeled(self, raw: str) -> tuple[str, bool]:
        if self.peeler.escapes:
            raw = raw.removesuffix("\\r")
            for _ in range(self.peeler.escapes):
                raw = unescaped(raw)
        if self.peeler.is_html:
            raw = html.unescape(raw)
        if self.peeler.prefix is None:  # one quoted line among bare ones: the others wrap
            return (raw[2:] if raw.startswith("> ") else raw), False
        hit = self.peeler.prefix.match(raw)
        if hit is not None:
            return raw[hit.end() :], False
        bare = raw.strip()
        # the blanks at the end of a prefix are often cut from an empty line
        return (raw, bool(bare)) if self.peeler.prefix.match(raw + "    ") is None else ("", False)
