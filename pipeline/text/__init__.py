"""Pure text tools that several rooms share: make a text safe to show, take private parts out, tell its language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from pipeline.records import warm
from pipeline.text.names import Column
from pipeline.text.needed import Seen, Signs
from pipeline.text.people import Folder, Person, people_rules
from pipeline.text.settings import Header, Setting, setting_rules
from pipeline.text.tokens import KeyBlock, PlaceGate, Span, TokenForm, token_rules
from pipeline.text.undone import decoded, decoding, goes_on, undone

# A script rule beat three language libraries on mixed error text (recall 0.996 for Chinese on 2,000 segments).
MIN_SCRIPT_CHARACTERS = 2
MIN_HAN_SHARE = 0.12

_CONTROL_BYTES = bytes(sorted(set(range(32)) - {9, 10})) + b"\x7f"
_ASCII_BYTES = bytes(range(128))
#: Each control character to one of them, so that a search for one byte finds any.
_ONE_CONTROL = bytes(1 if byte in _CONTROL_BYTES else byte for byte in range(256))
_ANSI = warm.pattern(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)"
    r"|[PX^_][^\x1b\n]{0,512}\x1b\\|[ -/]{0,4}[0-~])"
)
# Zero-width and bidirectional controls, soft hyphen, fillers and blanks without a width of their own, variation
# selectors, interlinear marks, private use, tags, C1: what a reader does not see may hold an order or hide a word.
# The zero-width joiner goes too: it hides words in an identifier more often than it holds an emoji together.
_HIDDEN_CLASS = (
    "\x80-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff"
)
_HIDDEN = warm.pattern(f"[{_HIDDEN_CLASS}]")
# An icon of a terminal's font alone on its line leaves no blank line, which would part what stands around it.
_HIDDEN_LINE = warm.pattern(f"^[ \\t]*[{_HIDDEN_CLASS}][ \\t{_HIDDEN_CLASS}]*\\n", re.MULTILINE)
_HIDDEN_OR_LINE_END = warm.pattern(f"[{_HIDDEN_CLASS}\x85\u2028\u2029]")
_LINE_ENDS = warm.pattern("\r\n?|[\x85\u2028\u2029]")
_SURROGATE = warm.pattern("[\ud800-\udfff]")
_CONTROL = dict.fromkeys(_CONTROL_BYTES)

_HAN = warm.pattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = warm.pattern("[\u3040-\u30ff\u31f0-\u31ff]")
_HANGUL = warm.pattern("[\uac00-\ud7af\u1100-\u11ff]")
_LATIN_WORD = warm.pattern("[A-Za-z]+")


def is_clean(text: str, unquoted: bytes | None = None) -> bool:
    """True if :func:`clean` would give `text` back unchanged; much faster than cleaning.

    `unquoted`: :func:`bare` of it, if that is known already.
    """
    if "\r" in text:  # which `bare` leaves out
        return False
    if b"\1" in (text.encode("utf-8", "replace").translate(_ONE_CONTROL) if unquoted is None else unquoted):
        return False
    if text.isascii():
        return True
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    # what hides is not ASCII: most of a text need not be searched for it
    return not _HIDDEN_OR_LINE_END.search(encoded.translate(None, _ASCII_BYTES).decode("utf-8"))


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: 1 document, 2 documents."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def written_day(day: str) -> str:
    """An ISO date as Chinese writes it: "2026-03-11" -> "2026 年 3 月 11 日"; what is none stays."""
    parts = day.split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        return day
    year, month, date = map(int, parts)
    return f"{year} 年 {month} 月 {date} 日"


def clean(text: str) -> str:
    """`text` without what a reader cannot see: escape sequences, control, bidi and zero-width characters.

    Every line end becomes one newline, and a line of what is invisible alone goes with its own. Half surrogates, which
    no file can hold, become U+FFFD.
    """
    if is_clean(text):
        return text
    text = _SURROGATE.sub("\ufffd", text)
    text = _LINE_ENDS.sub("\n", text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _HIDDEN.sub("", _HIDDEN_LINE.sub("", text.translate(_CONTROL)))


def hidden_count(text: str) -> int:
    """How many characters :func:`clean` takes out of `text` because nobody sees them; line ends do not count."""
    return 0 if text.isascii() else len(_HIDDEN.findall(text))


Rule = TokenForm | KeyBlock | Setting | Header | Person
#: What is left out of a text where keywords are looked for: escapes, quotes, line ends and what stands around them.
_QUOTING = b"\\\n\r\"'`\t >|*]"
#: Both begin with one character, which is faster than what they begin with otherwise.
_BREAK = warm.pattern(r"<w?br ?/?>(?:&nbsp;|\s){0,20}")
_ESCAPED_LINE_END, _JOINED = (
    warm.pattern(r"\\(?:(?:r\\)?n|u(?:200[b-fB-F]|2060|feff|FEFF|00ad|00AD))"),
    warm.pattern(r"\+(?<=[\"'] \+)"),
)
#: So many keywords are looked for in each part of a text before a rule is tried on it; a pattern is faster than more.
_FEW = 4


class Suspects(NamedTuple):
    """The redaction rules that can act on a text or on a part of it."""

    rules: tuple[Rule, ...]
    quoted: tuple[TokenForm | KeyBlock | Header, ...]  # those of which a secret stands in quotes or over lines
    is_coded: bool = False  # characters of it are coded as in URLs, HTML and strings


_NONE = Suspects((), ())
#: Where none of these stands in :func:`bare` of a text, no character is coded but such as are in no secret.
_CODED = (
    *("%3A", "%3a", "%3D", "%3d", "%2F", "%2f", "%40", "%22", "%7B", "%7b", "%2D", "%2d", "%5F", "%5f", "%2B", "%26"),
    *(
        "u003",
        "u002",
        "x3a",
        "x3A",
        "x3d",
        "x3D",
        "x22",
        "x2d",
        "x2D",
        "&#",
        "&quot;",
        "&lt;",
        "&lowbar;",
        "&sol;",
        "&equals;",
    ),
    *("&colon;", "&nbsp;", "<wbr", "=3D"),
)
_CODED_SIGNS = frozenset(_CODED)


@cache
def redaction_rules() -> tuple[Rule, ...]:
    """The rules of data/secrets/, in the order in which they act."""
    return (*token_rules(), *setting_rules(), *people_rules())


@cache
def _numbers() -> dict[str, tuple[tuple[int, PlaceGate | None], ...]]:
    """The rules of each keyword as :func:`bare` leaves it, by their numbers, with what has to hold at its place."""
    numbers: dict[str, tuple[tuple[int, PlaceGate | None], ...]] = {}
    for number, rule in enumerate(redaction_rules()):
        for sign in dict.fromkeys(bare(keyword).decode() for keyword in rule.keywords):
            gate = rule.place_gate(sign) if isinstance(rule, TokenForm | Header | Setting | Folder | Column) else None
            numbers[sign] = (*numbers.get(sign, ()), (number, gate))
    return numbers


def redaction_keywords() -> tuple[str, ...]:
    """What :func:`suspects` wants to know of a text: where these stand in :func:`bare` of it."""
    return (*_numbers(), *_CODED)


@cache
def _signs() -> Signs:
    return Signs(redaction_keywords())


def bare(text: str) -> bytes:
    """The text in UTF-8 without blanks, line ends, quotes and escapes: a keyword stands there however it is quoted.

    Control characters, which :func:`clean` takes out, are all the same there.
    """
    if "\\" in text:
        text = _ESCAPED_LINE_END.sub("", text)
    if "+" in text:  # strings joined in code
        text = _JOINED.sub("", text)
    return text.encode("utf-8", "surrogatepass").translate(_ONE_CONTROL, _QUOTING)


def suspects(text: str, unquoted: bytes | None = None, places: Seen | None = None) -> Suspects:
    """The redaction rules whose gate opens for `text`.

    `unquoted`: :func:`bare` of it; `places`: where keywords stand in that; if they are known already.
    """
    if unquoted is None:
        unquoted = bare(text)
    if places is None:
        places = _signs().places(unquoted)
    asked = _asked(unquoted, places)
    plain = text if places.keys().isdisjoint(_CODED_SIGNS) else _plain(text)
    if plain is not text:
        unquoted = bare(plain)
        asked |= _asked(unquoted, _signs().places(unquoted))
    if not asked:
        return _NONE
    joined = ""
    is_open: dict[re.Pattern[str], bool] = {}
    open_rules: list[Rule] = []
    quoted: list[TokenForm | KeyBlock | Header] = []
    for rule in map(redaction_rules().__getitem__, sorted(asked)):
        if isinstance(rule, TokenForm | KeyBlock | Header):
            joined = joined or unquoted.decode("utf-8", "surrogatepass")
            if rule.gate and not rule.gate.search(plain if isinstance(rule, Header) else joined):
                continue
            if rule.is_quoted(text, joined):
                quoted.append(rule)
        elif rule.gate:  # several have the same
            if rule.gate not in is_open:
                is_open[rule.gate] = rule.gate.search(text) is not None
            if not is_open[rule.gate]:
                continue
        open_rules.append(rule)
    return Suspects(tuple(open_rules), tuple(quoted), plain is not text)


def _asked(unquoted: bytes, places: Seen) -> set[int]:
    """The numbers of the rules that have a keyword in the text, at a place where they may act."""
    numbers = _numbers()
    asked: set[int] = set()
    for keyword, starts in places.items():
        for number, gate in numbers.get(keyword, ()):
            if number not in asked and (gate is None or any(gate(unquoted, start) for start in starts)):
                asked.add(number)
    return asked


def _without_coded(text: str, rules: Sequence[Rule]) -> str:
    """The text without secrets that are told only where characters that are coded, as in URLs and HTML, are read."""
    view = decoding(text)
    if view is None:
        return text
    found = [
        (*view.span(start, end), written)
        for rule in rules
        if isinstance(rule, TokenForm | Setting | Header)
        for start, end, written in _whole(view.text, rule, rule.spans(view.text))
        if view.is_joined(max(0, start - _NEAR), end)
    ]
    return _replaced(text, sorted(found))


#: Characters in front of a secret in which a code may keep its name from being read.
_NEAR = 80


def redact(text: str, *, rules: Suspects | None = None) -> str:
    """`text` with secrets, mail addresses, and names of people replaced by neutral words.

    `rules` may be what :func:`suspects` gave for a longer text of which this one is a part.
    """
    asked = suspects(text) if rules is None else rules
    if asked.quoted:
        text = _without_quoted(text, asked.quoted, is_coded=asked.is_coded)
    if asked.is_coded:
        text = _without_coded(text, asked.rules)
    for rule in asked.rules:
        keywords = rule.keywords
        if (
            len(keywords) > _FEW
            or isinstance(rule, Header)
            or keywords[0] in text
            or any(keyword in text for keyword in keywords[1:])
        ):
            text = _replaced(text, _whole(text, rule, rule.spans(text)))
    return text


def _whole(text: str, rule: Rule, spans: Iterable[Span]) -> Iterable[Span]:
    """The places of secrets with what is broken off them."""
    if not isinstance(rule, TokenForm | Setting | Header):
        return spans
    is_told = isinstance(rule, TokenForm)
    return ((start, goes_on(text, end, is_told=is_told), written) for start, end, written in spans)


def _plain(text: str) -> str:
    """The text with what is coded decoded, and without tags that only say where a line may be broken."""
    return decoded(_BREAK.sub("", text))


def _without_quoted(text: str, rules: Sequence[TokenForm | KeyBlock | Header], *, is_coded: bool) -> str:
    unquoted = bare(_plain(text) if is_coded else text).decode("utf-8", "surrogatepass")
    near = [rule for rule in rules if rule.is_quoted(text, unquoted)]
    for rule in near:
        if isinstance(rule, KeyBlock):
            text = _replaced(text, rule.spans(text))
    if not near:
        return text
    view = undone(text)
    found = [span for rule in near for span in _whole(text, rule, rule.joined_spans(view))]
    found += [span for rule in near if isinstance(rule, TokenForm) for span in _whole(text, rule, rule.spans(text))]
    # of two that begin together the longer: where lines are joined, a time or a number of a line may end a token
    return _replaced(text, sorted(found, key=lambda span: (span[0], -span[1])))


def _replaced(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, written in spans:
        if start >= done:
            parts += (text[done:start], written)
        done = max(done, end)
    return "".join(parts) + text[done:] if parts else text


def safe(text: str) -> str:
    """`text` as a document holds it: cleaned and redacted."""
    return redact(clean(text))


_WEB_ADDRESS = warm.pattern(r"https?://[^\s<>\"\\]{3,2000}", re.IGNORECASE)


def is_web_address(text: str) -> bool:
    """Whether `text` is an http or https address: what a browser opens and does not run, as it does `javascript:`."""
    return _WEB_ADDRESS.fullmatch(text) is not None


def language_of(sentence: str) -> str:
    """The language of one sentence outside code by its scripts: "zh", "ja", "ko", "en" or "und"."""
    if sentence.isascii():
        return "en" if _LATIN_WORD.search(sentence) else "und"
    if len(_KANA.findall(sentence)) >= MIN_SCRIPT_CHARACTERS:
        return "ja"
    if len(_HANGUL.findall(sentence)) >= MIN_SCRIPT_CHARACTERS:
        return "ko"
    han = len(_HAN.findall(sentence))
    words = len(_LATIN_WORD.findall(sentence))
    if han >= MIN_SCRIPT_CHARACTERS and han / (han + words) > MIN_HAN_SHARE:
        return "zh"
    return "en" if words else "und"
