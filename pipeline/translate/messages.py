"""What frequent messages of programs mean, in Chinese: `memory/messages_zh_Hans.po`, meant to be extended by hand.

A message of the file matches the whole text, or its beginning where it ends with ` ...`; `{1}`, `{2}`, ... stand for
one word or one quoted value. The Chinese is an explanation, so it ends without a full stop and `assembly` builds the
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline.translate import rendering

#: Longer texts are no single message.
LONGEST = 400

_PLACE = re.compile(r"\{(\d)\}")
#: One quoted value, a slot, or one word: no spaces outside quotes, so there is one way to match.
_VALUE = r"('[^'\n]{1,120}'|\"[^\"\n]{1,120}\"|`[^`\n]{1,120}`|[^\s'\"`]{1,160})"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a program: its pattern, the order of its places, and its Chinese."""

    pattern: re.Pattern[str]
    places: tuple[str, ...]
    chinese: str


def message(english: str, chinese: str) -> Message:
    """The message of one entry of the file."""
    start, more, _ = english.partition(" ...")
    literals = _PLACE.split(start.rstrip("."))[::2]
    body = _VALUE.join(re.escape(part) for part in literals) + (r"(?s:.*)" if more else "")
    return Message(re.compile(body), tuple(_PLACE.findall(english)), chinese)


@cache
def shipped() -> Sequence[Message]:
    """The messages that come with the package."""
    path = files("pipeline") / "translate" / "memory" / "messages_zh_Hans.po"
    return tuple(message(*pair) for pair in rendering.pairs(path.read_text(encoding="utf-8")))


def explained(text: str, messages: Sequence[Message] | None = None) -> str | None:
    """The Chinese of a program's message with its names and numbers, None if it is not known."""
    if len(text) > LONGEST:
        return None
    for known in shipped() if messages is None else messages:
        match = known.pattern.fullmatch(text.strip().rstrip("."))
        if match:
            values = dict(zip(known.places, match.groups(), strict=True))
            return _filled(known.chinese, values)
    return None


def _filled(chinese: str, values: dict[str, str]) -> str:
    order = [rendering.annotated(values[place].strip("'\"`")) for place in _PLACE.findall(chinese)]
    return rendering.restore(rendering.set_marks(_PLACE.sub(rendering.MARK, chinese)), order)
