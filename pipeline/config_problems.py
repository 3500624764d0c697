"""What is wrong with a settings file: which setting, in which line, and which one may have been meant."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: A section's header and a key of its own line, for messages; tomllib does not tell where things stand.
_HEADER = re.compile(r"\s*\[\[?([^\[\]]{1,200})\]")
_KEY = re.compile(r"\s*([\w-]{1,80}|\"[^\"]{1,80}\"|'[^']{1,80}')\s*=")


def problem(settings: type[BaseModel], error: ErrorDetails, text: str) -> str:
    """What is wrong with one setting, and in which line; of an unknown key, which known one it may have meant."""
    place, line = error["loc"], _line(error["loc"], text)
    name, behind = ".".join(map(str, place)), f" (line {line})" if line else ""
    if error["type"] != "extra_forbidden":
        return f"{name}: {error['msg'].removeprefix('Value error, ')}{behind}"
    close = difflib.get_close_matches(str(place[-1]), _keys(settings, place[:-1]), n=1)
    return f"{name}: no such setting{f'; did you mean {close[0]}?' if close else ''}{behind}"


def _line(place: tuple[int | str, ...], text: str) -> int | None:
    """The line of a setting in the file, as far as it is written on one of its own; None where it is not."""
    names = [name for name in place if isinstance(name, str)]
    wanted = next((name for name in place if isinstance(name, int)), 0)
    section: list[str] = []
    seen = -1
    for number, line in enumerate(text.splitlines(), 1):
        head = _HEADER.match(line)
        if head:
            section = [part.strip().strip("\"'") for part in head[1].split(".")]
            seen += section == names[:-1]
        key = _KEY.match(line)
        if key and [*section, key[1].strip("\"'")] == names and seen in (-1, wanted):
            return number
        if head and section == names:
            return number
    return None


def _keys(settings: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The settings that the section at `place` has."""
    section = settings
    for name in place:
        if isinstance(name, str):
            section = _section(section.model_fields[name].annotation) or section
    return list(section.model_fields)


def _section(annotation: object) -> type[BaseModel] | None:
    """The section in the type of a field: `Sources`, `list[GithubSource]`, `DocsSource | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((section for part in get_args(annotation) if (section := _section(part))), None)
