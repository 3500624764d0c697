"""What else a text can be read as: its lines, what it quotes, what stands behind a colon, each as a message of its own.

The first reading takes the most telling line. Where that is somebody's prose, or a line that only announces another,
the error stands elsewhere in the text; which line it is can be known only from what others report.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pipeline.normalise import peel
from pipeline.normalise.assemble import read, signed
from pipeline.normalise.culprit import culprit
from pipeline.normalise.text_signature import MESSAGE_LENGTH, is_known, is_place_or_death, own_event, quoted
from pipeline.records import Signature, warm

#: Lines that are read, and how much of each.
LINES, LINE_LENGTH = 40, 600
#: Words that a part of a line needs, and how many parts of a text are read: each costs as much as a message.
LEAST_WORDS, PARTS = 3, 64

_BEHIND = warm.pattern(r"(?:[:\]]\s|[-–—]\s|[:，。；】])\s?(?=\S)")


def readings(text: str) -> Iterator[Signature]:
    """The signatures of the parts of a text, each part once, in order; none for a log, which holds other errors too."""
    if len(text) > MESSAGE_LENGTH:
        return
    for part in islice(dict.fromkeys(_parts(text)), PARTS):
        event = own_event(part, at=0)
        found = culprit(event)
        if found.hit is not None and not is_known(found):
            continue  # a wrapper, or how a process ended: many errors look so
        signature = signed(event, found, read(found), part)
        if signature.is_gate_complete or (peel.says_enough(signature.text) and not signature.is_truncated):
            yield signature


def _parts(text: str) -> Iterator[str]:
    lines = [line.strip()[:LINE_LENGTH] for line in text.split("\n") if line.strip()][:LINES]
    telling = [line for line in lines if not is_place_or_death(line)]
    yield from telling
    yield from quoted(text)
    for line in telling:
        for found in _BEHIND.finditer(line):
            rest = line[found.end() :].strip()
            if rest.count(" ") >= LEAST_WORDS - 1:
                yield rest
