"""Tracebacks that lost their line breaks: frames, source and exception follow each other on one line."""

from __future__ import annotations

import re

from pipeline.extract import chain, names, python
from pipeline.records import Event, Frame

_FRAME = re.compile(r'File "([^"\n]{0,500})", line (\d{1,9})(?:, in (<\w{1,20}>|\w{1,100}))?')
_NAME = re.compile(
    r"(?<![\w.\"'(])((?:[A-Za-z_]\w{0,80}\.){0,12}[A-Z_]\w{0,80}"
    r"|(?:[A-Za-z_]\w{0,80}\.){1,12}(?:error|timeout))(: |:$|[ \t]{0,3}$)"
)
#: The line is read up to here.
WIDEST = 60_000


def read(text: str, header: int, stop: int) -> Event | None:
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
    for hit in _NAME.finditer(text, after, stop):
        last = hit.group(1).rsplit(".", 1)[-1]
        is_class = last != hit.group(1) and last[0].isupper() and not last.isupper() and hit.group(2) == ": "
        if is_class or last in ("error", "timeout") or names.is_exception_name(hit.group(1)):
            return hit.group(1), text[hit.end() : stop].strip()
    return None
