"""Secrets that are told by their form: tokens of vendors, keys of many lines. The forms are data (tokens.toml)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice, pairwise
from typing import Any

from pipeline.records import warm
from pipeline.text.needed import late
from pipeline.text.undone import LEAST_TOKEN, Undone, is_address, is_token, looks_random

SECRET = "<secret>"  # noqa: S105  (what is written in the place of one)
#: A secret has this many different characters; `ghp_xxxxxxxxxxxxxxxxxxxx` is written in the place of one.
_LEAST_VARIED = 6
#: Characters of a key block that are looked for its end: an RSA key of 16,384 bits has 12,800, escaped a few more.
_LONGEST_BLOCK = 20_000
#: Characters of a secret that are looked at to tell whether it is one.
_JUDGED = 200
#: Tokens of a form in one text that are asked one by one whether quoting hides them.
_MOST_ASKED = 16
#: Characters behind a head without an end that are a part of a key.
_LEAST_BODY = 12
#: How often the kind of letter changes at the least in what may be a token, as `looks_random` counts it.
_SOME_CHANGES = 0.08
#: A line below the last one of a token that is none of it but short: `Xy7`.
_SHORT_LINE = 8

_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_ESCAPES = ("\\n", "\\t", "\\r")
_OPEN_END = warm.pattern(r"(?:\{\d+,\d*\}|[+*])[)?]*(?:=\{\d,\d\}|=\?)?$")
# What goes on below a token, or behind a sign that joins it.
_BELOW = warm.pattern(
    r"(?:[\\\"' +]{0,8}(?:\n|\\n)[ \t>\"']{0,40}|\\{0,4}[\"'][ \t]{0,8}[+.&]?[ \t]{1,8}\\{0,4}[\"'])"
    r"([A-Za-z0-9_+/=-]{6,200})"
)
_KEY_LINES = warm.pattern(
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[ A-Za-z0-9,.()/:+@-]{0,120}"
    r"|\\{1,4}[nrt]|[\s\\\"'>|,+.]|[A-Za-z0-9+/]{16,}={0,2}"
    r"|[A-Za-z0-9+/=]{1,15}(?=[\s\\\"']|$)(?<=[A-Z0-9+/=]))*+"
)
_LINES_ABOVE = warm.pattern(
    r"(?:[A-Za-z0-9+/]{16,}+={0,2}(?:\\{1,4}[nrt]|[\s\"'>|,+.\\])++|[A-Za-z0-9+/]{1,15}={0,2}\s++(?=-|\Z))++"
)

Span = tuple[int, int, str]
#: Whether a rule may act where one of its keywords begins in the bytes of a text without quoting.
PlaceGate = Callable[[bytes, int], object]


def placed(start: re.Pattern[bytes] | None) -> PlaceGate | None:
    """The gate that asks for `start`, which is compiled when it first does; None asks for nothing."""
    if start is None:
        return None

    def holds(bare: bytes, at: int) -> object:
        return start.match(bare, at)

    return holds


@dataclass(frozen=True, slots=True)
class TokenForm:
    """One form of token: a row of tokens.toml."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    pattern: re.Pattern[str]
    is_open: bool  # its length is not fixed: whatever follows may belong to it
    is_named: bool  # a name stands before it, and anything may before that
    start: re.Pattern[bytes] | None  # what stands where a keyword does, in a text without quoting
    is_judged: bool = False  # what follows the beginning, group 1, has to look drawn by chance

    def place_gate(self, keyword: str) -> PlaceGate | None:
        """What has to stand at a place of the keyword in a text without quoting; None if anything may."""
        return placed(self.start)

    def spans(self, text: str) -> Iterator[Span]:
        """The places of secrets of this form, as they stand in the text."""
        for match in self._matches(text, None):
            yield (*_secret(match), SECRET)

    def is_quoted(self, text: str, bare: str) -> bool:
        """Whether `bare`, the text without quoting, seems to hold a secret of this form that the text does not."""
        matches = list(islice(self.pattern.finditer(bare), _MOST_ASKED + 1))
        if len(matches) > _MOST_ASKED:  # each is looked for in the whole text; so many are looked at where they stand
            return True
        matches = [match for match in matches if match[0] not in text]
        if self.is_judged:
            return any(
                is_token(bare[match.end(1) : min(match.end(), match.end(1) + _JUDGED)]) and _is_broken(text, match)
                for match in matches
            )
        found = [match[0] for match in matches]
        if not any(word.isupper() or looks_random(word, least=_SOME_CHANGES) or _is_numbers(word) for word in found):
            return False
        if not self.is_named:
            return True
        ends = [match.end() for match in self.pattern.finditer(text)]
        return not ends or any((below := _BELOW.match(text, end)) and looks_random(below[1]) for end in ends)

    def joined_spans(self, view: Undone) -> Iterator[Span]:
        """The places, in the text, of secrets that are whole only where quoting is undone."""
        for match in self._matches(view.text, view):
            start, end = _secret(match)
            if view.is_joined(*match.span()):
                kept = self._cut(view, match, end)
                if kept > start and view.is_joined(match.start(), match.end() if kept == end else kept):
                    yield (*view.span(start, kept), SECRET)

    def _matches(self, text: str, view: Undone | None) -> Iterator[re.Match[str]]:
        position = 0
        while match := self.pattern.search(text, position):
            start, end = match.span()
            if (
                (self.is_named or _begins(text, start, view) or _is_glued(text, start, end))
                and (self.is_open or _ends(text, end, view))
                and _is_varied(match)
                and not (self.is_judged and not is_token(text[match.end(1) : min(end, match.end(1) + _JUDGED)]))
            ):
                yield match
                position = end
            else:
                position = start + 1

    def _cut(self, view: Undone, match: re.Match[str], end: int) -> int:
        """Where the secret ends, if lines below its first one may be none of it."""
        for border in view.line_starts(match.start(), end):
            head = self.pattern.fullmatch(view.text, match.start(), border)
            if head is None:
                continue
            after = [at for at in view.line_starts(border, end) if at > border]
            line = view.text[border : min([*after, end])]
            is_other = _OTHERS.match(view.text, border + len(line)) is not None or is_address(line)
            if is_other or (not looks_random(line) and not _is_rest(view, line, min([*after, end]))):
                return border
        secret = view.text[_secret(match)[0] : end]
        if self.is_open and not (looks_random(secret) or _is_numbers(secret)):
            return 0
        return end


@dataclass(frozen=True, slots=True)
class KeyBlock:
    """A key of many lines: from its head to its end, or through the lines of base64 behind its head."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    marks: re.Pattern[str]  # a head, in the group `head`, or an end

    def spans(self, text: str) -> Iterator[Span]:
        """The places of keys, heads and ends included."""
        for start, end in self._blocks(text):
            yield (start, end, SECRET)

    def is_quoted(self, text: str, bare: str) -> bool:
        """Whether heads of keys stand in `bare`, the text without quoting, that do not in the text."""
        return any(match[0] not in text for match in self.marks.finditer(bare))

    def joined_spans(self, view: Undone) -> Iterator[Span]:
        """The places, in the text, of keys whose heads themselves are quoted."""
        for start, end in self._blocks(view.text):
            if view.is_joined(start, end):
                yield (*view.span(start, end), SECRET)

    def _blocks(self, text: str) -> Iterator[tuple[int, int]]:
        """Where each key begins, with its head if that is there, and where it ends."""
        marks = list(self.marks.finditer(text))
        for number, mark in enumerate(marks):
            before = marks[number - 1] if number else None
            if mark["head"] is None:
                start = _first_line(text, before.end() if before else 0, mark.start())
                if start < mark.start() and (before is None or before["head"] is None):
                    yield start, mark.end()
                continue
            after = marks[number + 1] if number + 1 < len(marks) else None
            if after is not None and after["head"] is None and after.start() - mark.end() < _LONGEST_BLOCK:
                yield mark.start(), after.end()
            else:
                lines = _KEY_LINES.match(text, mark.end(), mark.end() + _LONGEST_BLOCK)
                body = lines[0].rstrip("\\\"' \n\t>|,+.") if lines else ""
                if len(body) >= _LEAST_BODY or not mark["head"].endswith("-"):  # else words about a head, without a key
                    yield mark.start(), mark.end() + len(body)


def _first_line(text: str, start: int, end: int) -> int:
    """Where the lines of base64 begin that lead up to the end of a key without a head; `end` itself if none do."""
    start = max(start, end - _LONGEST_BLOCK)
    return next((m.start() for m in _LINES_ABOVE.finditer(text, start, end) if m.end() == end), end)


def _secret(match: re.Match[str]) -> tuple[int, int]:
    """The place of the secret in what a row matched: its group, or all of it."""
    return match.span(match.lastgroup or 0)


#: Behind a line that is the name of the next setting, "accessKeySecret=x", or the year of a time.
_OTHERS = warm.pattern(r"\s?[=:](?![=\s])|-[0-9]{2}-[0-9]{2}[T ]")
#: What is left of a sequence that colours a terminal, once its first character is gone.
_COLOURED = warm.pattern(r"\[\d{0,3}(?:;\d{1,3}){0,4}m\Z")
_LONGEST_COLOUR = 24


def _begins(text: str, start: int, view: Undone | None) -> bool:
    if start == 0 or text[start - 1] not in _WORD or text[start] not in _WORD:
        return True
    if _COLOURED.search(text, max(0, start - _LONGEST_COLOUR), start):
        return True
    return view.is_border(start) if view is not None else text[start - 2 : start] in _ESCAPES


#: A beginning that says whose it is by itself: `sk-` ends many words, `ghp_` none.
_TELLING = warm.pattern(r"(?=[A-Za-z_-]{4})[A-Za-z]{2,12}[_-]")
_A_WORD = warm.pattern(r"[a-z]{6}")
_GLUED = 32  # characters of it that are judged: `ghp_ghp_ghp_` asks at each


def _is_glued(text: str, start: int, end: int) -> bool:
    """Whether a token that looks drawn by chance stands right behind a word: what parted them was taken out."""
    head = _TELLING.match(text, start)
    if head is None or not text[start - 1].isalpha():
        return False
    rest = text[head.end() : min(end, head.end() + _GLUED)]
    return is_token(rest) and not _A_WORD.search(rest)  # a mangled name has words in it


def _ends(text: str, end: int, view: Undone | None) -> bool:
    if end == len(text) or text[end] not in _WORD:
        return True
    return view is not None and view.is_border(end)


def _is_varied(match: re.Match[str]) -> bool:
    start, end = _secret(match)
    return len(set(match.string[start : min(end, start + _JUDGED)])) >= _LEAST_VARIED


def _is_numbers(word: str) -> bool:
    """Whether a token is made of numbers for the most part, as Slack's are: the kind of letter changes rarely there."""
    return 2 * sum(letter.isdigit() for letter in word) > len(word)


def _is_broken(text: str, match: re.Match[str]) -> bool:
    """Whether what is whole in the text without quoting is broken in the text, not just parted by a blank."""
    head = match[0][: match.end(1) - match.start() + _HEAD]
    at = text.find(head)
    while at >= 0:
        if _begins(text, at, None) and _BROKEN.match(text, at + len(head)):
            return True
        at = text.find(head, at + 1)
    return head not in text


#: Characters behind a vendor's beginning that stand together where a token is broken further down.
_HEAD = 2
_BROKEN = warm.pattern(r"[A-Za-z0-9_+/=.-]{0,100}+(?:[\\\"'`<&%]|[ \t]{0,3}\n)")


def _is_rest(view: Undone, line: str, end: int) -> bool:
    """Whether a short line, which stands alone, ends what was broken above it: `Xy7`, `9Q`."""
    stands_alone = end == len(view.text) or view.is_border(end) or view.text[end] not in _WORD
    if len(line) > _SHORT_LINE or not stands_alone:
        return False
    return any(letter.isdigit() for letter in line) or any(a.islower() and b.isupper() for a, b in pairwise(line))


@cache
def token_rules() -> tuple[TokenForm | KeyBlock, ...]:
    """The rows of tokens.toml: keys of many lines first, which hold what looks like tokens."""
    table = warm.table(resources.files("pipeline").joinpath("data/secrets/tokens.toml").read_text("utf-8"))
    blocks = [
        KeyBlock("key block", tuple(row["keywords"]), None, warm.pattern(f"(?P<head>{row['head']})|{row['end']}"))
        for row in table["block"]
    ]
    forms = [
        TokenForm(
            name=row["vendor"],
            keywords=tuple(row["keywords"]),
            gate=late(row["gate"]) if "gate" in row else None,
            pattern=late(row["pattern"]),
            is_open=_OPEN_END.search(row["pattern"]) is not None,
            is_named="(?P<" in row["pattern"],
            start=None if "(?P<" in row["pattern"] else late(row.get("start", row["pattern"]).encode()),
        )
        for row in table["formats"]
    ]
    # a setting before the form of its value, and the longest token before a part of it
    named = [form for form in forms if form.is_named]
    return (*blocks, *named, *map(_prefix, table["prefixes"]), *(form for form in forms if not form.is_named))


#: Characters behind a vendor's beginning that are looked at.
_LONGEST_TOKEN = 2000
_LETTERS = "[A-Za-z0-9_-]"


def _prefix(row: Mapping[str, Any]) -> TokenForm:
    """What finds tokens of any length behind the beginnings of a row."""
    starts = "|".join(sorted(map(re.escape, row["starts"]), key=len, reverse=True))
    pattern = f"({starts}){row.get('body', _LETTERS)}{{{LEAST_TOKEN},{_LONGEST_TOKEN}}}"
    return TokenForm(
        name=f"{row['vendor']}, any length",
        keywords=tuple(row["starts"]),
        gate=None,
        pattern=late(pattern),
        is_open=True,
        is_named=False,
        start=late(pattern.encode()),
        is_judged=True,
    )
