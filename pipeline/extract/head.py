"""The line that names an exception: its type, its message, and a whole traceback on one line."""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from pipeline import packs
from pipeline.extract import chain, foreign, python
from pipeline.extract.lines import Peeler
from pipeline.records import Event, Frame, short_class, warm
from pipeline.text import prefixes

# What an exception line looks like: the names that exceptions have, and the lines that only look like one.

# Endings of exception names; the longest list that gave no false name on the corpus when a message follows.
ENDINGS = (
    *("Error", "Exception", "Warning", "Interrupt", "Exit", "Failure", "Fault", "Timeout", "ExceptionGroup"),
    *("Unsupported", "OutOfResources", "StopIteration", "StopAsyncIteration", "BdbQuit", "Aborted", "NotFound"),
    *("Empty", "Full", "Cancelled", "Unavailable", "Violation", "Expired", "Mismatch", "Overflow", "Exceeded"),
    *("Refused", "Invalid", "Denied", "Exhausted", "Panic", "Errors", "Problem", "SkipTest"),
)
#: Those of them that are looked for without a traceback, where the name stands before a colon.
BARE_ENDINGS = (
    *("Error", "Exception", "ExceptionGroup", "Interrupt", "Warning", "Failure", "Unsupported", "OutOfResources"),
    *("Exit", "Fault", "Timeout"),
)
#: Packages that hold nothing but errors: of them any class is one, whatever its name says.
ERROR_PACKAGES = (".errors.", ".exceptions.", ".error.", ".exception.", ".exc.")
#: Endings that are an exception's without a traceback only behind a package: `clay.TrayNotFound: tray 3`.
PACKAGED_ENDINGS = (
    *("NotFound", "Unavailable", "Violation", "Mismatch", "Exceeded", "Refused", "Denied", "Exhausted", "Expired"),
    *("Aborted", "Cancelled", "Overflow", "Panic"),
)
#: What such packages hold beside their errors: loggers are called by it.
_HELPERS = (
    *("Handler", "Logger", "Filter", "Mapper", "Resolver", "Controller", "Factory", "Service", "Utils", "Util"),
    *("Helper", "Reporter", "Manager", "Middleware", "Advice", "Attributes", "Code", "Codes", "Type", "Page"),
    *("Listener", "Tracker"),
)
_WORD = warm.pattern(r"\w+")
_NAME = r"(?:[A-Za-z_]\w{0,80}|<locals>)(?:\.(?:[A-Za-z_]\w{0,80}|<locals>)){0,14}"

#: A line that is an exception by itself: its last name ends like an exception.
_REST = r"(\([\w.]{1,120}\))?(?: \(see above for traceback\))?[ \t]{0,2}(?:[:：][ \t]?(.*)|$)"
STRICT = warm.pattern(r"((?:[A-Za-z_][\w<>]{0,80}\.){0,14}[A-Za-z_]\w{0,80})" + _REST, re.S)
_LOOSE = warm.pattern(f"({_NAME})" + _REST, re.S)
_CLASS = warm.pattern(r"<class '([\w.]{1,200})'>\s?:?\s?(.*)", re.S)

# After a traceback any name may be the exception's, but not these words.
_NO_NAME = frozenset(foreign.table("no_names"))
_LOWER_NAMES = frozenset(["error", "timeout", "herror", "gaierror"])


Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{2,79}$")]


class Exceptions(packs.Row):
    """Names of exceptions that do not end as exceptions do elsewhere."""

    names: tuple[Identifier, ...] = Field(default=(), description="Last names, whatever the module.")
    endings: tuple[Identifier, ...] = Field(default=(), description="How last names end: Undefined, Configured.")

    @model_validator(mode="after")
    def _says_one(self) -> Exceptions:
        if not (self.names or self.endings):
            raise ValueError("a row has names or endings")
        return self

    def knows(self, name: str) -> bool:
        """Whether the row has a dotted name."""
        last = name.rsplit(".", 1)[-1]
        return last in self.names or (bool(self.endings) and last.endswith(self.endings))


EXCEPTIONS = packs.Table("exceptions", Exceptions)


@packs.cached
def endings() -> tuple[str, ...]:
    """How the names of exceptions end."""
    return (*ENDINGS, *(ending for row in EXCEPTIONS.rows() for ending in row.endings))


@packs.cached
def names() -> frozenset[str]:
    """The last names of exceptions that end otherwise."""
    return frozenset(name for row in EXCEPTIONS.rows() for name in row.names)


class Named(NamedTuple):
    """An exception line taken apart: the printed type, and the words behind the colon (None: no colon)."""

    exception_type: str
    message: str | None


def is_exception_name(name: str) -> bool:
    """Whether a dotted name ends as exceptions do; a class inside another one (`Shell$ExitException`) by its own."""
    last = name.rsplit(".", 1)[-1].rsplit("$", 1)[-1]
    if not (last.endswith(endings()) or last in names()) or _WORD.fullmatch(last) is None:
        return False
    return last[0].isupper() or last[0] == "_"


def is_packaged(name: str) -> bool:
    """Whether a dotted name is a class of a package of errors, or ends as exceptions behind a package do."""
    package, _, last = name.rpartition(".")
    is_class = last[:1].isupper() and any(map(str.islower, last)) and _WORD.fullmatch(last) is not None
    if not package or not is_class or last.endswith(_HELPERS):
        return False
    if f".{package}.".lower().endswith(ERROR_PACKAGES):
        return True
    return last.endswith(PACKAGED_ENDINGS) and last not in PACKAGED_ENDINGS


def strict(line: str) -> Named | None:
    """The exception that a line prints, where its name alone says so."""
    hit = STRICT.match(line)
    if hit is None or not (is_exception_name(hit.group(1)) or _is_module_error(hit)):
        return None
    return Named(hit.group(1) + (hit.group(2) or ""), hit.group(3))


def _is_module_error(hit: re.Match[str]) -> bool:
    """Whether the line is an old module's `cv2.error: ...`, `socket.timeout: ...`."""
    name = hit.group(1)
    return "." in name and bool(hit.group(3)) and name.rsplit(".", 1)[1] in _LOWER_NAMES


def loose(line: str) -> Named | None:
    """The exception that a line prints, given that frames stand before it: any dotted or capitalised name."""
    hit = _LOOSE.match(line)
    if hit is None:
        odd = _CLASS.match(line)
        return Named(odd.group(1), odd.group(2)) if odd is not None else None
    name, message = hit.group(1), hit.group(3)
    last = name.rsplit(".", 1)[-1]
    if is_exception_name(name):
        return Named(name + (hit.group(2) or ""), message)
    is_class = last[0].isupper() or (last[0] == "_" and last.lstrip("_")[:1].isupper())
    if name in _NO_NAME or hit.group(2) or not (is_class or last in _LOWER_NAMES):
        return None
    if message is None:  # a word alone on its line: it must at least be written as classes are
        return Named(name, None) if "." in name or (len(last) > 3 and not last.isupper()) else None
    if message.startswith(("//", "\\")):
        return None
    return Named(name + (hit.group(2) or ""), message)


def apart(line: str) -> Named | None:
    """The exception that a line prints which stands apart from its frames: it must look like one by itself."""
    found = strict(line)
    if found is not None:
        return found
    found = loose(line)
    if found is None or not found.message or "." not in found.exception_type:
        return None
    last = short_class(found.exception_type)
    return found if last[0].isupper() or last in _LOWER_NAMES else None


# Where a traceback begins: the prefix that its lines carry and the indentation of its header, learned from it.

#: The first frame stands within so many lines of the header (other streams may write between them).
FRAME_WITHIN = 12
#: Where the header carries a prefix, its own first frame may stand further below, behind those of other streams.
STREAM_WITHIN = 60
#: A chain that leads to an exception group shows it within so many characters.
GROUP_WITHIN = 20_000
#: A first line, escaped, ends within so many characters.
LINE_WITHIN = 1500
#: A line break that was escaped, once or twice, and one of HTML: behind the header or a frame, where lines end.
_BREAK = warm.pattern(
    r"(?:\(most recent call (?:last|first)\):|line \d{1,9}(?:, in (?:<\w{1,20}>|[^\s\\<]{1,200}))?)\s{0,4}"
    r"(?:(?P<escapes>\\{1,2})(?:r\\{1,2})?n|(?P<tag><br ?/?>)[^\n])"
)
_NEWLINES = {
    "\\": warm.pattern(r"""(?<!\\)(?:\\r)?\\n(?:['"], ?['"])?"""),
    "\\\\": warm.pattern(r"(?<!\\)(?:\\\\r)?\\\\n"),
}
_ENTITY = warm.pattern(r"&(?:quot|lt|gt);")
_NAME_BEFORE = warm.pattern(r"[A-Za-z_][\w.]{0,120}[ \t]{0,80}$")
_TAG = warm.pattern(r"<br ?/?>\s?")
_FRAME_MARK = warm.pattern(r'File (?:\\?"|&quot;)[^"\n]{0,1000}(?:"|&quot;), line \d')


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


# Tracebacks that lost their line breaks: frames, source and exception follow each other on one line.

_FRAME = warm.pattern(r'File "([^"\n]{0,500})", line (\d{1,9})(?:, in (<\w{1,20}>|\w{1,100}))?')
_ONE_LINE_NAME = warm.pattern(
    r"(?<![\w.\"'(])((?:[A-Za-z_]\w{0,80}\.){0,12}[A-Z_]\w{0,80}"
    r"|(?:[A-Za-z_]\w{0,80}\.){1,12}(?:error|timeout))(: |:$|[ \t]{0,3}$)"
)
#: The line is read up to here.
WIDEST = 60_000


def read_one_line(text: str, header: int, stop: int) -> Event | None:
    """The traceback on the one line from `header` to `stop`, None if its frames are not on it."""
    stop = min(stop, header + WIDEST)
    found = list(_FRAME.finditer(text, header, stop))
    if not found:
        return None
    named = _exception(text, found[-1].end(), stop)
    kind, message = named if named is not None else (None, "")
    return Event(
        dialect="python",
        exception_type=kind,
        message=message[: python.WIDEST_DETAIL],
        detail=message[: python.WIDEST_DETAIL],
        frames=tuple(Frame(hit.group(1), int(hit.group(2)), hit.group(3)) for hit in found),
        chain=(),
        codes=(),
        start=header,
        end=stop,
        is_truncated=named is None,
        severity=chain.severity(kind),
    )


def _exception(text: str, after: int, stop: int) -> tuple[str, str] | None:
    """The first exception with a message behind the last frame, else a bare name at the end."""
    for hit in _ONE_LINE_NAME.finditer(text, after, stop):
        last = hit.group(1).rsplit(".", 1)[-1]
        is_class = last != hit.group(1) and last[0].isupper() and not last.isupper() and hit.group(2) == ": "
        if is_class or last in ("error", "timeout") or is_exception_name(hit.group(1)):
            return hit.group(1), text[hit.end() : stop].strip()
    return None
