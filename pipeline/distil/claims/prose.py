"""The sentences of a post, and the hints of programs in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from pipeline.distil import tables
from pipeline.records import Document, Event, Fact, Post, Quote, iso
from pipeline.text import language_of
from pipeline.text.units import Unit, units

# What the failing program itself advises, found inside the text of an error event.

#: A hint that stands on the lines after the event's last line is still the program's (torch prints three such lines).
_AFTER = 400
#: How a line of source code begins that a traceback shows: its number, or the mark of a comment.
_SOURCE_LINE = re.compile(r"\s{0,40}(?:(?:-{1,6}> ?)?\d{1,6} |#)")
_FENCES = ("\n```", "\n~~~")
#: Hints whose words any program prints for its own reason ("pip install ...").
ANY_PROGRAMS = "hint.generic."
_DIRECTIONS = {"increas": "increase", "decreas": "decrease", "reduc": "decrease"}


@dataclass(frozen=True, slots=True)
class Hinted:
    """A hint of one event."""

    rule: str
    fact: Fact
    is_guess: bool  # the program does not know whether it helps
    start: int
    end: int


def hinted(text: str, event: Event, *, until: int) -> Iterator[Hinted]:
    """The hints of one event; `until` is where the next event or the post ends."""
    end = min(event.end + _AFTER, until)
    if end <= event.start:
        return
    fence = min((at for at in (text.find(mark, event.end, end) for mark in _FENCES) if at >= 0), default=end)
    gap = text.find("\n\n", event.end, fence)
    whole, near = text[event.start : fence], text[event.start : gap if gap >= 0 else fence]
    for hint in tables.hints():
        # people, too, write what any program prints ("run `pip install x`"): behind an empty line they may have
        block = near if hint.rule.startswith(ANY_PROGRAMS) else whole
        if hint.stem not in block:
            continue
        at = max(0, block.rfind("\n", 0, block.find(hint.stem)) - 300)
        found = hint.pattern.search(block, at)
        if found is None:
            continue
        fact = _fact(hint, found.groupdict())
        is_source = _SOURCE_LINE.match(block, block.rfind("\n", 0, found.start()) + 1)
        if fact is not None and not is_source:
            yield Hinted(hint.rule, fact, hint.is_guess, event.start + found.start(), event.start + found.end())


def _fact(hint: tables.Hint, groups: dict[str, str | None]) -> Fact | None:
    slots = []
    for name, value in hint.slots:
        filled = groups.get(value[1:]) if value.startswith("$") else value
        if filled is None:
            return None
        slots.append((name, filled.removeprefix("==")))
    template = hint.template
    if "$direction" in template:
        template = template.replace("$direction", _DIRECTIONS.get((groups.get("direction") or "").lower(), ""))
    return Fact(template, tuple(sorted(slots)))


# The sentences of a document that people wrote: not code, not logs, not quoted replies, not templates, not robots.

MAX_QUOTE = 300  # the contract's limit for anything that leaves raw

#: Sentences are looked at up to this length on either side of a cue; longer ones are cut at the limit.
_REACH = 400

_FENCE = re.compile(r"\n[ \t>]{0,8}(```+|~~~+)[^\n]*")
_FIRST_FENCE = re.compile(r"[ \t>]{0,8}(```+|~~~+)[^\n]*")
_COMMENT = re.compile(r"<!--.{0,4000}?-->", re.DOTALL)
#: Words of one paragraph between marks that stand at them (GFM, "Strikethrough").
_STRUCK = re.compile(r"(?<![~`\\])~~(?=[^\s~])(?:(?!~~|\n[ \t]*\n).){1,2000}(?<=\S)~~(?![~`])", re.DOTALL)
#: A sentence that is struck through whole leaves its border.
_BORDER_MARK = re.compile(r"[.!?]~~\Z")
_STRUCK_TAG = re.compile(
    r"<(?P<tag>del|strike)>(?:(?!<(?:del|strike)>|\n[ \t]*\n).){0,2000}?</(?P=tag)>", re.DOTALL | re.IGNORECASE
)
_QUOTED = re.compile(r"^[ \t]{0,3}>[^\n]*$|^[ \t]*(?:[-*] )?\[[ xX]\][^\n]*$", re.MULTILINE)
_MAYBE_QUOTED = re.compile(r"\n[ \t]{0,3}>|\[[ xX]\]")
#: A line that begins with one space and a small letter goes on from the line before: pages saved as text break there
#: behind every link ("Fixed in #12\\n which ...").
_BORDER = re.compile(
    r"\n(?! [a-z])|(?<=[.!?])[\"')*_~]{0,2}[ \t]+(?=[A-Z`\"'(*\[#@/\U0001F300-\U0001FAFF])|(?<=[。！？；])"
)
_NOT_BORDER = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ver|v|approx|No|Fig)\.)[ \t]+$", re.IGNORECASE)
_CODE_LINE = re.compile(
    r"^\s*(?:>>>|\.\.\. |\$ |# include|#include|File \"|at [\w.$<>]+\(|import \w|from [\w.]+ import|def \w+\("
    r"|class \w+[(:]|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|[EWIF]\d{4} \d\d:|\(?\w+ pid=|INFO|WARN|ERROR|DEBUG"
    r"|\[\w+\] |Traceback |\d+\.\d+ |//|/\*|\|)|[;{]\s*$|^\s*[\w.]+ = |^\s{8,}\S|^\S*Error: "
)
#: How a line begins that a program wrote: each of its sentences is the program's.
_PRINTED_LINE = re.compile(
    r"\s*(?:>>>|\$ |-- [A-Z]|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\[\d\d[/:]\d\d[/:]\d\d|\d{1,6}:[MSCX] \d"
    r"|[EWIF]\d{4} \d\d:"
    r"|\(?\w+ pid=|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|CRITICAL|DEPRECATION|DEPRECATED|HINT)\b|E: |W: |\[notice\]"
    r"|(?:warning|error|hint|note|fatal): |CMake (?:Error|Warning)\b)"
)
#: A message with the class that a program gave it: what follows in the line is of the same message.
_MESSAGE = re.compile(r"\b[A-Z]\w*(?:Warning|Error|Exception): \S|\b(?:WARNING|ERROR|DEPRECATION): \S")
#: A line of fewer words may be a value, a heading, a file's name.
_LEAST_WORDS = 5
_GOES_ON = re.compile(r"\n [a-z]")
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`document.text[start:end]`, stripped, inside one post; a line break inside it is a space in `text`."""

    start: int
    end: int
    text: str
    post: int  # index in `document.posts`, -1 if the document has none


class Prose:
    """A document seen as sentences. Offsets are those of `document.text` throughout."""

    def __init__(self, document: Document, events: Sequence[Event]) -> None:
        self.document = document
        self.visible, self.spans = _blanked(document, events)
        lowered = self.visible.lower()
        # lower() lengthens a few letters of Turkish and German; then offsets would lie, so case is kept
        self.lowered = lowered if len(lowered) == len(self.visible) else self.visible
        self._known: dict[int, Sentence | None] = {}
        self.events = events

    @cached_property
    def printed(self) -> str:
        """What the programs of the thread printed as its errors."""
        return "\n".join(event.detail for event in self.events)

    @cached_property
    def units(self) -> list[Unit]:
        """The thread's units: few documents need them here."""
        return units(self.document, self.events)

    def sentence(self, offset: int) -> Sentence | None:
        """The sentence around `offset`, None if it is code, a log line, or hidden."""
        start = self._start(offset)
        if start not in self._known:
            self._known[start] = self._cut(start, offset)
        return self._known[start]

    def sentences(self, start: int, end: int) -> Iterator[Sentence]:
        """The sentences between two offsets, in order."""
        at = start
        while at < end:
            sentence = self.sentence(at)
            if sentence is not None:
                yield sentence
            border = _BORDER.search(self.visible, max(at + 1, sentence.end if sentence else at), end)
            at = border.end() if border else end

    def is_printed(self, sentence: Sentence) -> bool:
        """True if its line begins as what a program prints, or the sentence goes on from a message or a quotation."""
        least = max(0, sentence.start - _REACH)
        begin = max(least, self.document.text.rfind("\n", least, sentence.start) + 1)
        line = self.document.text[begin : sentence.start]
        # a quotation that is still open: its words are the program's, or somebody else's
        is_quoted = line.count('"') % 2 == 1 or line.count("“") > line.count("”") or line.count("`") % 2 == 1
        return bool(is_quoted or _PRINTED_LINE.match(self.document.text, begin) or _MESSAGE.search(line))

    def _start(self, offset: int) -> int:
        post = self.document.post_at(offset)
        least = max(offset - _REACH, self.document.posts[post].start if post >= 0 else 0)
        line = self.visible.rfind("\n", least, offset)
        while line >= 0 and _GOES_ON.match(self.visible, line):
            line = self.visible.rfind("\n", least, line)
        least = last = max(least, line + 1)
        for border in _BORDER.finditer(self.visible, least, min(len(self.visible), offset + 1)):
            if border.end() <= offset and not _NOT_BORDER.search(
                self.visible, max(least, border.end() - 10), border.end()
            ):
                last = border.end()
        return last

    def _cut(self, start: int, offset: int) -> Sentence | None:
        post = self.document.post_at(offset)
        most = min(len(self.visible), start + 2 * _REACH)
        if post >= 0:
            most = min(most, self.document.posts[post].end)
        end = most
        for border in _BORDER.finditer(self.visible, offset + 1, most):
            if not _NOT_BORDER.search(self.visible, max(start, border.end() - 10), border.end()):
                end = border.start()
                break
        # a mark that begins a sentence stood behind a name that the page lost ("@user, the cause is ...")
        while start < end and self.visible[start] in " \t\n\r*-+•,;":
            start += 1
        while end > start and self.visible[end - 1] in " \t\n\r":
            end -= 1
        text = self.visible[start:end].replace("\n", " ")
        if end - start < 4 or "\x00" in text or _is_code(text):
            return None
        return Sentence(start, end, text, post)


def is_prose(line: str) -> bool:
    """True if a line reads as a person's sentence: words, no log line and no code."""
    return len(line.split()) >= _LEAST_WORDS and not _is_code(line) and not _PRINTED_LINE.match(line)


def _is_code(line: str) -> bool:
    if _CODE_LINE.search(line):
        return True
    if _HAN.search(line):
        return False
    letters = sum(map(str.isalpha, line)) + line.count(" ")
    return letters < 0.55 * len(line) or line.count(" ") < 1


def _blanked(document: Document, events: Sequence[Event]) -> tuple[str, list[tuple[int, int]]]:
    """(the text with everything that is not prose replaced by NUL, character for character; the spans of prose)."""
    text = document.text
    spans = [(event.start, event.end) for event in events]
    spans += _fences(text)
    spans += [m.span() for m in _COMMENT.finditer(text)] if "<!--" in text else []
    spans += [m.span() for m in _QUOTED.finditer(text)] if _MAYBE_QUOTED.search(text) else []
    spans += _struck(text)
    spans += _template_lines(text)
    spans += [(post.start, post.end) for post in document.posts if post.is_bot or _is_notice(text, post)]
    pieces, shown, at = [], [], 0
    for start, end in sorted(spans):
        if end > at:
            pieces += [text[at:start], "\x00" * (end - max(start, at))]
            shown.append((at, max(start, at)))
            at = end
    shown.append((at, len(text)))
    return "".join([*pieces, text[at:]]), [span for span in shown if span[1] > span[0]]


def _fences(text: str) -> list[tuple[int, int]]:
    """Fenced blocks; an opened fence that is never closed hides the rest of its post at most 20,000 characters."""
    if "```" not in text and "~~~" not in text:
        return []
    spans: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    first = _FIRST_FENCE.match(text)
    for mark in (*((first,) if first else ()), *_FENCE.finditer(text)):
        if opened is None:
            opened = mark
        elif mark.group(1)[0] == opened.group(1)[0]:
            spans.append((opened.start(1), mark.end()))
            opened = None
    if opened is not None:
        spans.append((opened.start(1), min(len(text), opened.start(1) + 20_000)))
    return spans


def _struck(text: str) -> list[tuple[int, int]]:
    """What its writer struck through: said, and taken back."""
    spans = [found.span() for found in _STRUCK_TAG.finditer(text)] if "</" in text else []
    if "~~" in text:
        for found in _STRUCK.finditer(text):
            border = _BORDER_MARK.search(found.group())
            spans.append((found.start(), found.start() + border.start() if border else found.end()))
    return spans


def _template_lines(text: str) -> list[tuple[int, int]]:
    spans = []
    for phrase in tables.boilerplate()[1]:  # looked for one by one: few texts have any, and `find` leaps
        at = text.find(phrase)
        while at >= 0:
            line_end = text.find("\n", at)
            line_end = line_end if line_end >= 0 else len(text)
            if not _ends_in_letter(text, at):
                spans.append((text.rfind("\n", 0, at) + 1, line_end))
            at = text.find(phrase, at + 1)
    return spans


def _ends_in_letter(text: str, at: int) -> bool:
    """True if a word goes on at `at`: a phrase begins where a word does."""
    return at > 0 and text[at - 1].isascii() and text[at - 1].isalpha()


@cache
def _notices() -> re.Pattern[str]:
    # a phrase begins where a word does: cheaper to ask than the first branch of the tree
    return re.compile(rf"(?<![A-Za-z])(?:{tables.trie(tables.boilerplate()[0])})")


def _is_notice(text: str, post: Post) -> bool:
    """True for stale notices and robots' reports; people's words beside them are few."""
    return bool(_notices().search(text, post.start, min(post.end, post.start + 1_500)))


def quote(document: Document, start: int, end: int, *, post: int) -> Quote:
    """The verbatim quote of a span, cut to the permitted length at a word's border."""
    text = document.text[start:end]
    if len(text) > MAX_QUOTE:
        text = text[:MAX_QUOTE]
        text = text[: max(text.rfind(" "), MAX_QUOTE - 60)].rstrip()
    end = start + len(text)
    written = document.posts[post] if 0 <= post < len(document.posts) else None
    return Quote(
        document_id=document.document_id,
        url=(written.url if written else None) or document.url,
        raw_sha256=document.raw_sha256,
        start=start,
        end=end,
        text=text,
        lang=language_of(text),
        posted_at=iso(written.posted_at) if written else None,
        author_role=written.author_role if written else None,
        author_hash=written.author_hash if written else None,
    )
