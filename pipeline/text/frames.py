"""What the frames of a stack tell: the functions that carry an error's identity, and whose code raised it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from pipeline.records import Frame

#: Functions in a frame key: the innermost ones carry the identity, library frames further out do not.
KEY_FRAMES = 3

_INSTALLED = re.compile(r"(?:site|dist)-packages[\\/](?:[\w.+-]{1,80}\.egg[\\/])?(?P<package>[A-Za-z_]\w{0,60})")
#: Python's own library, and code without a file: it raises for whoever called it.
_STANDARD = re.compile(r"[\\/]lib[\\/]python\d[\d.]{0,5}[\\/](?!(?:site|dist)-packages)|^<", re.IGNORECASE)
_QUIET_FUNCTIONS = frozenset(
    {
        "_call_impl",
        "_wrapped_call_impl",
        "wrapper",
        "_fn",
        "<lambda>",
        "__call__",
        "inner",
        "_inner",
        "decorate_context",
        "<module>",
    }
)
#: They raise for whoever called them; a script's own level raises for itself.
_PASSING_ON = (_QUIET_FUNCTIONS - {"<module>"}) | {"__getattr__"}


def frame_key(frames: Sequence[Frame]) -> str:
    """The three innermost functions that are not mere plumbing, innermost last."""
    telling = (frame for frame in reversed(frames) if frame.function and frame.function not in _QUIET_FUNCTIONS)
    named = list(islice(telling, KEY_FRAMES))[::-1]
    return " > ".join(f"{_module(frame.file)}:{str(frame.function)[:60]}" for frame in named)


def raising_package(frames: Sequence[Frame]) -> str:
    """The top-level package whose code raised the error, "" where that code is nobody's installed package."""
    for frame in reversed(frames):
        if frame.function not in _PASSING_ON and not _STANDARD.search(frame.file or "<unknown>"):
            found = _INSTALLED.search(frame.file or "")
            return found["package"] if found else ""
    return ""


def packages(frames: Sequence[Frame]) -> tuple[str, ...]:
    """The top-level packages whose installed code is among the frames, the innermost first."""
    found = (_INSTALLED.search(frame.file or "") for frame in reversed(frames))
    return tuple(dict.fromkeys(hit["package"] for hit in found if hit))


def innermost(frames: Sequence[Frame]) -> str:
    """The innermost function that is not mere plumbing, "" if there is none."""
    telling = frame_key(frames).rpartition(" > ")[2]
    if telling or not frames:
        return telling
    return f"{_module(frames[-1].file)}:{(frames[-1].function or '?')[:60]}"  # a script's own level


def _module(file: str | None) -> str:
    name = (file or "?").replace("\\", "/").rsplit("/", 1)[-1]
    return name.partition(".")[0]
