"""What frequent messages of programs mean, in Chinese: `memory/messages_zh_Hans.po`, meant to be extended by hand.

A message of the file matches the whole text, or its beginning where it ends with ` ...`; `{1}`, `{2}`, ... stand for
one word or one quoted value. The Chinese is an explanation, so it ends without a full stop and `assembly` builds the
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline import packs
from pipeline.lexicon import gates
from pipeline.packs import CHINESE
from pipeline.translate import rendering

#: Longer texts are no single message.
LONGEST = 400

_PLACE = re.compile(r"\{(\d)\}")
#: One quoted value, a list, a call such as `Tensor("x", shape=())`, or one word: no spaces outside quotes and brackets.
_VALUE = (
    r"('[^'\n]{1,120}'|\"[^\"\n]{1,120}\"|`[^`\n]{1,120}`|\[[^\[\]\n]{1,160}\]"
    r"|[A-Za-z_][\w.]{0,60}\([^()\n]{1,120}(?:\(\)[^()\n]{0,80})?\)|[^\s'\"`]{1,160})"
)


#: What stands before a message and says where it came from or which it is: a file and line, a word such as "error", a
#: stamp, a code as TS2322, KLN-0012, [E<n>].
_LEAD = re.compile(
    r"(?:(?:<path>|<n>|<time>|\[[^\]\n]{1,40}\]|\(<n>\)|<list>|FAILED|ERROR|Error|error|fatal error|LINK|E\d{4}"
    r"|\[?[A-Z][A-Z0-9]{0,11}(?:[-_][A-Z]{0,4})?(?:<n>|\d{2,6})\]?)[:,]? ?){1,6}"
)
#: What TensorFlow puts behind a message: the op, its name, the input shapes.
_TAIL = re.compile(
    r" ?(?:\[Op:[\w<>]{1,60}\]|name: [^\s]{1,80}|\[\[[^\n]{1,200}|for '[^'\n]{1,120}' \(op: [^\n]{1,300})$"
)
#: A sentence inside a line: a full stop, then a capital.
_NEXT_SENTENCE = re.compile(r"(?<=[a-z0-9\])'\"`>])\.(?: (?=[A-Z])|(?=Node number ))|\n")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a program: its longest literal, its expression, the order of its places, and its Chinese."""

    literal: str
    body: str
    places: tuple[str, ...]
    chinese: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds it. Of two thousand a text holds the literals of few, and to compile one takes 0.7 ms."""
        return _compiled(self.body)


@cache
def _compiled(body: str) -> re.Pattern[str]:
    return re.compile(body)


def message(english: str, chinese: str) -> Message:
    """The message of one entry of the file."""
    start, more, _ = english.partition(" ...")
    literals = _PLACE.split(start.rstrip("."))[::2]
    behind = r"(?:\.(?s:.*))?" if start.endswith(".") else r"(?s:.*)"  # a full stop ends what is fixed
    body = _VALUE.join(re.escape(part) for part in literals) + (behind if more else "")
    return Message(max(literals, key=len), body, tuple(_PLACE.findall(english)), chinese)


@packs.cached
def known_messages() -> Sequence[Message]:
    """Those of packs, then those of the file: whole ones before beginnings, and those that fix more words first."""
    path = files("pipeline") / "translate" / "memory" / "messages_zh_Hans.po"
    own = rendering.pairs(path.read_text(encoding="utf-8"))
    added = [pair for pack in packs.active().packs for pair in of_pack(pack)]
    return tuple(message(*pair) for pairs in (added, own) for pair in sorted(pairs, key=lambda pair: _breadth(pair[0])))


def of_pack(pack: packs.Pack) -> list[tuple[str, str]]:
    """The messages that a pack has Chinese for: (English, Chinese)."""
    return rendering.pairs(pack.text(CHINESE) or "")


def refusals(english: str, chinese: str) -> list[str]:
    """What is wrong with the Chinese of a message, [] if nothing is: gates not passed, places that differ."""
    if set(_PLACE.findall(english)) != set(_PLACE.findall(chinese)):
        return ["places"]
    names = {place: f"Layer{place}" for place in _PLACE.findall(english)}
    said = _PLACE.sub(lambda place: f"'{names[place[1]]}'", english)
    told = _PLACE.sub(lambda place: names[place[1]], chinese)
    return [name for name, passed in gates.check_explanation(said, told).items() if not passed]


def _breadth(english: str) -> tuple[bool, int]:
    return " ..." in english, -len(_PLACE.sub("", english))


def explained(text: str, messages: Sequence[Message] | None = None) -> str | None:
    """The Chinese of a program's message with its names and numbers, None if it is not known."""
    known = known_messages() if messages is None else messages
    return next((made for form in _forms(text) if (made := _matched(form, known)) is not None), None)


def _forms(text: str) -> Iterator[str]:
    """The message as it is, without what a program puts around it, and its first sentence alone."""
    whole = text.strip()
    first = _NEXT_SENTENCE.split(whole[: 2 * LONGEST], maxsplit=1)[0]
    yield from dict.fromkeys((*peeled(whole), *peeled(first)))


def peeled(text: str) -> list[str]:
    """The message as it is, without what a program puts behind it, and without what it puts before it too.

    Each form once; none that is empty or longer than a message.
    """
    bare = _TAIL.sub("", text)
    lead = _LEAD.match(bare)
    forms = dict.fromkeys((text, bare, bare[lead.end() :] if lead else ""))
    return [form for form in forms if form and len(form) <= LONGEST]


def _matched(text: str, messages: Sequence[Message]) -> str | None:
    bare = text.strip().rstrip(".")
    for known in messages:
        if known.literal not in text:
            continue
        match = known.pattern.fullmatch(bare)
        if match:
            return _filled(known.chinese, dict(zip(known.places, match.groups(), strict=True)))
    return None


def _filled(chinese: str, values: dict[str, str]) -> str:
    order = [rendering.annotated(values[place].strip("'\"`")) for place in _PLACE.findall(chinese)]
    return rendering.restore(rendering.set_marks(_PLACE.sub(rendering.MARK, chinese)), order)
