"""What messages of programs mean, in Chinese: `memory/messages_zh_Hans.po` and the tables of `memory/programs/`.

A row matches the whole text, or its beginning where it ends with ` ...`; `{1}`, `{2}`, ... stand for one word or one
quoted value. Rows also explain a chain of messages that each say why the one before it came ("failed to open <path>:
permission denied"), if every part is known. The Chinese is an explanation, so it ends without a full stop and
`assembly` builds the sentence. The file is of what was met; a table is of what the sources of widely used programs
print, English and Chinese with a tab between them, sorted. Both are meant to be extended by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline import packs
from pipeline.lexicon import explanations, gates, glossary
from pipeline.packs import CHINESE
from pipeline.records import warm
from pipeline.translate import rendering

#: Longer texts are no single message.
LONGEST = 400

#: What a value stands in and its Chinese leaves out.
QUOTES = "'\"`‘’“”"

PLACE = warm.pattern(r"\{(\d)\}")
#: One quoted value, a list, a call such as `Tensor("x", shape=())`, or one word: no spaces outside quotes and brackets.
_VALUE = (
    r"('[^'\n]{1,120}'|\"[^\"\n]{1,120}\"|`[^`\n]{1,120}`|‘[^’\n]{1,120}’|\[[^\[\]\n]{1,160}\]"
    r"|[A-Za-z_][\w.]{0,60}\([^()\n]{1,120}(?:\(\)[^()\n]{0,80})?\)|[^\s'\"`]{1,160})"
)


#: What stands before a message and says where it came from or which it is: a file and line, a word such as "error", a
#: stamp, a code as TS2322, KLN-0012, [E<n>].
_LEAD = warm.pattern(
    r"(?:(?:<path>|<n>|<time>|\[[^\]\n]{1,40}\]|\(<n>\)|<list>|FAILED|ERROR|Error|error|fatal error|LINK|E\d{4}"
    r"|\[?[A-Z][A-Z0-9]{0,11}(?:[-_][A-Z]{0,4})?(?:<n>|\d{2,6})\]?)[:,]? ?){1,6}"
)
#: What stands before and is of the sentence, its subject or a count: "<n> not in range", "<path> must be absolute".
#: A number behind the letters of a code is none ("E<n>", "LNK<n>"), that behind others is ("SHA<n> mismatch").
_SUBJECT = warm.pattern(
    r"(?<!\bE)(?<!\bC)(?<!\bW)(?<!\b[A-Z]\d)(?<!\b(?:QH|TS|CS))(?<!\bLNK)<n> ?\|(?=[a-z]{2,}\b)"
    r"|(?:<path>|<list>) ?\|(?=(?:not|is|are|was|were|must|should|has|have|does|do|did|can|could|cannot|will|needs?"
    r"|requires?|contains?|already|failed|exited|returned)\b)"
)
#: What TensorFlow puts behind a message: the op, its name, the input shapes.
_TAIL = warm.pattern(
    r" ?(?:\[Op:[\w<>]{1,60}\]|name: [^\s]{1,80}|(?<!\w)\[\[[^\n]{1,200}|for '[^'\n]{1,120}' \(op: [^\n]{1,300})$"
)
#: A sentence inside a line: a full stop, then a capital.
_NEXT_SENTENCE = warm.pattern(r"(?<=[a-z0-9\])'\"`>])\.(?: (?=[A-Z])|(?=Node number ))|\n")


#: A word with more words behind it is no value: "failed to fetch some objects".
_PLAIN = warm.pattern(r"[a-z]{2,}")
#: What stands before a message and is no program or file: "TypeError: argument ..." is not of a file TypeError.
_TYPE = warm.pattern(r"[\w.]{0,120}(?:Error|Exception|Warning|Failure)")
#: Ordinary words that a program prints as names: of types and of truth.
_TYPES = frozenset(
    ("int", "float", "str", "string", "list", "dict", "tuple", "bool", "boolean", "integer", "true", "false")
)
#: A frame is no value, nor the begin of a list in brackets, nor a name with the exception behind it glued to it:
#: "numpyImportError". Nor is the begin of a call one (`_is_no_value`).
_NO_VALUE = warm.pattern(
    r"\(\w{1,80}\.(?:java|scala|kt):|\w\[[\w\[]{1,60}$"
    r"|(?<=[a-z])(?:(?:Import|Attribute|Type|Value|Runtime|Key|Name)Error|object)$"
)
#: Behind such words stands a thing, and an ordinary word names none: "cannot find symbol", "Unknown file: x".
_NOUN = warm.pattern(
    r"(?:find|creat(?:e|ing)|load(?:ing)?|open(?:ing)?|connect to|run(?:ning)?|read(?:ing)?|waiting for|unknown"
    r"|expected|valid|convert|at) $",
    re.IGNORECASE,
)
#: "C:" keeps its colon.
_DRIVE = 2
#: Between a message and the one that says why it came.
_CAUSED_BY = warm.pattern(r"; nested exception is | ?: ")
_MOST_PARTS = 9
#: A part that is a name: a slot, a quoted word, code, a path.
_NAME = warm.pattern(
    rf"[^\s<>]{{0,60}}<\w{{1,20}}>[^\s<>]{{0,60}}|['\"`‘][^'\"`’\s]{{1,120}}['\"`’]|{gates.PROTECTED.pattern}", re.ASCII
)
#: What a row is found by: a word that stands whole in it, of three letters at least.
_WORD = warm.pattern(r"(?<![A-Za-z\0])[A-Za-z]{3,40}(?![A-Za-z\0])")
#: Stands for a place, or for what may follow, where words are looked for: what touches it is no whole word.
_JOINT = "\0"
#: What may follow a beginning; where it ends with a full stop, that sentence is fixed.
_ANYTHING, _SENTENCES = r"(?s:.*)", r"(?:\.(?s:.*))?"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a program: what is fixed of it, what may follow, the order of its places, and its Chinese."""

    literals: tuple[str, ...]
    behind: str
    places: tuple[str, ...]
    chinese: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds it. Of thousands a text holds the literals of few, and to compile one takes 0.7 ms."""
        return _compiled(self.literals, self.behind)

    @property
    def words(self) -> list[str]:
        """The words that stand whole in every text of it, in lower case."""
        fixed = _JOINT.join(self.literals) + (_JOINT if self.behind == _ANYTHING else "")
        return [word.lower() for word in _WORD.findall(fixed)]

    def may_be(self, text: str) -> bool:
        """Whether the text holds what is fixed of it, the first letter aside."""
        return self.literals[0][1:] in text and all(part in text for part in self.literals[1:])


@cache
def _compiled(literals: tuple[str, ...], behind: str) -> re.Pattern[str]:
    first, *rest = literals
    start = f"[{first[0].upper()}{first[0].lower()}]{re.escape(first[1:])}" if first[:1].isalpha() else re.escape(first)
    return warm.pattern(_VALUE.join((start, *map(re.escape, rest))) + behind)


def message(english: str, chinese: str) -> Message:
    """The message of one row."""
    start, more, _ = english.partition(" ...")
    behind = "" if not more else _SENTENCES if start.endswith(".") else _ANYTHING
    return Message(tuple(PLACE.split(start.rstrip("."))[::2]), behind, tuple(PLACE.findall(english)), chinese)


class Known:
    """Messages in the order in which they are asked, found by a word of theirs rather than one after the other."""

    def __init__(self, rows: Iterable[Message]) -> None:
        self._rows = tuple(rows)
        found = [row.words for row in self._rows]
        common = Counter(word for words in found for word in set(words))
        self._by_word: dict[str, list[int]] = {}
        for index, words in enumerate(found):
            rarest = min(words, key=lambda word: (common[word], word), default="")
            self._by_word.setdefault(rarest, []).append(index)

    def __len__(self) -> int:
        return len(self._rows)

    def candidates(self, text: str) -> Iterator[Message]:
        """The messages that the text may be, in their order."""
        words = {"", *(word.lower() for word in _WORD.findall(text))}
        indexes = sorted(index for word in words for index in self._by_word.get(word, ()))
        return (row for row in map(self._rows.__getitem__, indexes) if row.may_be(text))


@packs.cached
def known_messages() -> Known:
    """Those of packs, then those that ship: whole ones before beginnings, and those that fix more words first."""
    folder = files("pipeline") / "translate" / "memory"
    own = rendering.pairs((folder / "messages_zh_Hans.po").read_text(encoding="utf-8"))
    added = [pair for pack in packs.active().packs for pair in of_pack(pack)]
    shipped = sorted((*own, *programs()), key=lambda pair: _breadth(pair[0]))
    return Known(message(*pair) for pair in (*sorted(added, key=lambda pair: _breadth(pair[0])), *shipped))


def programs() -> list[tuple[str, str]]:
    """(English, Chinese) of the tables by field, `memory/programs/*.tsv`, in the order of their names."""
    folder = files("pipeline") / "translate" / "memory" / "programs"
    tables = sorted((table for table in folder.iterdir() if table.name.endswith(".tsv")), key=lambda table: table.name)
    lines = (line for table in tables for line in table.read_text(encoding="utf-8").splitlines())
    return [(english, chinese) for english, _, chinese in (line.partition("\t") for line in lines)]


def of_pack(pack: packs.Pack) -> list[tuple[str, str]]:
    """The messages that a pack has Chinese for: (English, Chinese)."""
    return rendering.pairs(pack.text(CHINESE) or "")


def refusals(english: str, chinese: str) -> list[str]:
    """What is wrong with the Chinese of a message, [] if nothing is: gates not passed, places that differ."""
    if set(PLACE.findall(english)) != set(PLACE.findall(chinese)):
        return ["places"]
    names = {place: f"Layer{place}" for place in PLACE.findall(english)}
    said = PLACE.sub(lambda place: f"'{names[place[1]]}'", english)
    told = PLACE.sub(lambda place: names[place[1]], chinese)
    return [name for name, passed in explanations.check(said, told).items() if not passed]


def _breadth(english: str) -> tuple[bool, int]:
    return " ..." in english, -len(PLACE.sub("", english))


def explained(text: str, messages: Known | None = None) -> str | None:
    """The Chinese of a program's message with its names and numbers, None if it is not known."""
    known = known_messages() if messages is None else messages
    made = (_matched(form, known) or _chained(form, known) or _begun(form, known) for form in _forms(text))
    return next((found for found in made if found is not None), None)


def _forms(text: str) -> Iterator[str]:
    """The message as it is, without what a program puts around it, and its first sentence alone."""
    whole = text.strip()
    first = _NEXT_SENTENCE.split(whole[: 2 * LONGEST], maxsplit=1)[0]
    yield from dict.fromkeys((*peeled(whole), *peeled(first)))


def peeled(text: str) -> list[str]:
    """The message as it is, without what a program puts behind it, and without what it puts before it too.

    Each form once; none that is empty or longer than a message.
    """
    whole = gates.unglued(text)
    bare = _TAIL.sub("", whole)
    lead = _LEAD.match(bare)
    behind = bare[lead.end() :] if lead and not _SUBJECT.search(bare[: lead.end()] + "|" + bare[lead.end() :]) else ""
    forms = dict.fromkeys((whole, bare, behind))
    return [form for form in forms if form and len(form) <= LONGEST]


def _matched(text: str, messages: Known) -> str | None:
    return _of(text, (row for row in messages.candidates(text) if not row.behind))


def _begun(text: str, messages: Known) -> str | None:
    return _of(text, (row for row in messages.candidates(text) if row.behind))


def _of(text: str, rows: Iterator[Message]) -> str | None:
    bare = text.strip().rstrip(".")
    for row in rows:
        match = row.pattern.fullmatch(bare)
        if match and not _is_no_value(row, match):
            return _filled(row.chinese, dict(zip(row.places, match.groups(), strict=True)))
    return None


def _is_no_value(row: Message, match: re.Match[str]) -> bool:
    """Whether a place holds no value: the type before a message, or a word of a sentence that goes on."""
    values = [value for value in match.groups() if value is not None]
    if any(_NO_VALUE.search(value) or value.count("(") > value.count(")") for value in values):
        return True
    if row.literals[0] == "" and row.literals[1][:1] == ":" and (_TYPE.fullmatch(values[0]) or "::" in values[0]):
        return True  # nor is a function that did it: "boost::filesystem::create_directory: ..."
    if any(_NOUN.search(before) and _is_noun(value) for before, value in zip(row.literals, values, strict=False)):
        return True
    return bool(row.behind and row.literals[-1] == "" and _PLAIN.fullmatch(match.group(len(row.places))))


def _is_noun(value: str) -> bool:
    """Whether a value is an ordinary word of messages rather than a name; types of values are names."""
    return value.islower() and value in glossary.message_words()["words"] and value not in _TYPES


def _chained(text: str, messages: Known) -> str | None:
    """Messages that each say why the one before it came ("open <path>: permission denied"): all of them, or None.

    A part is known as a whole or it is a name; the last one is known, so that what went wrong is said.
    """
    parts = _CAUSED_BY.split(text)
    if not 1 < len(parts) <= _MOST_PARTS:
        return None
    said: list[str] = []
    at = 0
    while at < len(parts):
        found, at = _longest(parts, at, messages)
        if found is None:
            return None
        said.append(found)
    is_name = _NAME.fullmatch(parts[-1].strip()) is not None
    return None if is_name else "：".join(said)


def _longest(parts: Sequence[str], at: int, messages: Known) -> tuple[str | None, int]:
    """(what the longest run of parts from `at` says, where the next one begins)."""
    for end in range(len(parts), at, -1):
        found = _matched(": ".join(parts[at:end]), messages)
        if found is not None:
            return found, end
    name = parts[at].strip()
    return (rendering.annotated(name.strip(QUOTES)) if _NAME.fullmatch(name) else None), at + 1


def _filled(chinese: str, values: dict[str, str]) -> str:
    given = rendering.given_to_calls(chinese)
    order = [
        values[place] if f"{{{place}}}" in given else rendering.annotated(_shown(values[place]))
        for place in PLACE.findall(chinese)
    ]
    return rendering.restore(rendering.set_marks(PLACE.sub(rendering.MARK, chinese)), order)


def _shown(value: str) -> str:
    """A value without its quotes, and without the colon between a name and what is said of it."""
    bare = value.strip(QUOTES)
    return bare[:-1] if len(bare) > _DRIVE and bare.endswith(":") else bare
