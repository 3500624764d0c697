"""Frames of native stacks, outermost first as in a Python traceback."""

from __future__ import annotations

import re

from pipeline.records import Frame

#: Frames kept of one stack; deeper ones are dropped at the outer end.
MOST_FRAMES = 100

_GDB = re.compile(
    r"#(?P<n>\d{1,3}) +(?:0x[0-9a-fA-F]{4,16} +)?(?:in +)?(?P<function>[^\n]{1,600}?)"
    r"(?: at (?P<file>[^\s:]{1,300}):(?P<line>\d{1,7})| from (?P<lib>\S{1,300})"
    r"| (?P<path>/[^\s:()]{1,300})(?::(?P<pline>\d{1,7}))(?::\d{1,5})?"
    r"| \((?P<obj>/[^\s()]{1,300})\))?[ \t]{0,4}$",
    re.MULTILINE,
)
_TORCH = re.compile(
    r"frame #(?P<n>\d{1,4}): (?P<function>[^\n]{1,600}?)(?: \+ 0x[0-9a-f]{1,16})? \(0x[0-9a-f]{4,16} in "
    r"(?P<file>[^\s()]{1,300})\)"
)
_GLOG = re.compile(r"@ +0x[0-9a-f]{4,16} +(?P<function>[^\n]{1,400})")
_DMLC = re.compile(
    r"(?:\[bt\] )?\(\d{1,3}\) (?P<file>[^\s()]{1,300})\((?P<function>[^\n]{0,400}?)\+?0x"
    r"[0-9a-f]{1,16}\)"
)
_JVM = re.compile(
    r"^[ \t]{1,12}at (?P<function>[\w.$<>/@-]{2,300})\((?P<file>[^\n():]{1,200})(?::"
    r"(?P<line>\d{1,7}))?\)",
    re.MULTILINE,
)
_JS = re.compile(
    r"^[ \t]{1,12}at (?:(?P<function>[^\n(]{1,200}) \()?(?P<file>(?:[a-z-]{2,12}:/{0,3})?[^\s():][^\n"
    r"()]{0,300}?):(?P<line>\d{1,7})(?::\d{1,7})?\)?[ \t\r]{0,4}$",
    re.MULTILINE,
)
_GO = re.compile(
    r"^(?P<function>[\w./*()-]{2,300})\([^\n]{0,300}\)\n\t(?P<file>[^\s:]{1,300}):"
    r"(?P<line>\d{1,7})",
    re.MULTILINE,
)
_RUST = re.compile(
    r"^ {1,6}\d{1,4}: (?P<function>[^\n]{1,300})\n(?:[ \t]{1,24}at (?P<file>"
    r"[^\s:]{1,300}):(?P<line>\d{1,7}))?",
    re.MULTILINE,
)

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("frame #", _TORCH),
    ("[bt]", _DMLC),
    ("#0", _GDB),
    ("#1", _GDB),
    ("@  ", _GLOG),
    (".java:", _JVM),
    ("\tat ", _JVM),
    (" at ", _JS),
    ("goroutine ", _GO),
    (" 0: ", _RUST),
)


def frames(block: str) -> tuple[Frame, ...]:
    """The frames of the first form of stack that `block` holds, outermost first."""
    for literal, pattern in _FORMS:
        if literal in block and (found := _frames(pattern, block)):
            return tuple(reversed(found[:MOST_FRAMES]))
    return ()


def _frames(pattern: re.Pattern[str], block: str) -> list[Frame]:
    return [_frame(match.groupdict()) for _, match in zip(range(MOST_FRAMES), pattern.finditer(block), strict=False)]


def _frame(groups: dict[str, str | None]) -> Frame:
    file = next((groups[key] for key in ("file", "path", "lib", "obj") if groups.get(key)), None)
    line = groups.get("line") or groups.get("pline")
    function = (groups.get("function") or "").strip()
    return Frame(file, int(line) if line else None, function or None)
