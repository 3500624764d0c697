"""What an exception line looks like: the names that exceptions have, and the lines that only look like one."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.extract import boilerplate

# Endings of exception names; the longest list that gave no false name on the corpus when a message follows.
ENDINGS = (
    *("Error", "Exception", "Warning", "Interrupt", "Exit", "Failure", "Fault", "Timeout", "ExceptionGroup"),
    *("Unsupported", "OutOfResources", "StopIteration", "StopAsyncIteration", "BdbQuit", "Aborted", "NotFound"),
    *("Empty", "Full", "Cancelled", "Unavailable", "Violation", "Expired", "Mismatch", "Overflow", "Exceeded"),
    *("Refused", "Invalid", "Denied", "Exhausted", "Panic", "Errors", "Problem", "SkipTest"),
)
_WORD = re.compile(r"\w+")
_NAME = r"(?:[A-Za-z_]\w{0,80}|<locals>)(?:\.(?:[A-Za-z_]\w{0,80}|<locals>)){0,14}"

#: A line that is an exception by itself: its last name ends like an exception.
_REST = r"(\([\w.]{1,120}\))?(?: \(see above for traceback\))?[ \t]{0,2}(?:[:：][ \t]?(.*)|$)"
STRICT = re.compile(r"((?:[A-Za-z_][\w<>]{0,80}\.){0,14}[A-Za-z_]\w{0,80})" + _REST, re.S)
_LOOSE = re.compile(f"({_NAME})" + _REST, re.S)
_CLASS = re.compile(r"<class '([\w.]{1,200})'>\s?:?\s?(.*)", re.S)

# After a traceback any name may be the exception's, but not these words.
_NO_NAME = frozenset(boilerplate.table("no_names"))
_LOWER_NAMES = frozenset(["error", "timeout", "herror", "gaierror"])


class Named(NamedTuple):
    """An exception line taken apart: the printed type, and the words behind the colon (None: no colon)."""

    exception_type: str
    message: str | None


def is_exception_name(name: str) -> bool:
    """Whether a dotted name ends as exceptions do."""
    last = name.rsplit(".", 1)[-1]
    if not last.endswith(ENDINGS) or _WORD.fullmatch(last) is None:
        return False
    return last[0].isupper() or last[0] == "_"


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
    last = found.exception_type.rsplit(".", 1)[-1]
    return found if last[0].isupper() or last in _LOWER_NAMES else None
