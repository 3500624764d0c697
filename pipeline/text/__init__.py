"""Pure text tools that several rooms share: make a text safe to show, take private parts out, tell its language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pipeline.text.literals import Signs

# A script rule beat three language libraries on mixed error text (recall 0.996 for Chinese on 2,000 segments).
MIN_SCRIPT_CHARACTERS = 2
MIN_HAN_SHARE = 0.12
# The longest name in front of an @ that mail allows.
MAX_NAME = 64

_CONTROL_BYTES = bytes(sorted(set(range(32)) - {9, 10})) + b"\x7f"
_ASCII_BYTES = bytes(range(128))
#: Each byte to 1 if it is a control character, else to 0: three times as fast as deleting them and counting.
_IS_CONTROL = bytes(byte in _CONTROL_BYTES for byte in range(256))
_ANSI = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)"
    r"|[PX^_][^\x1b\n]{0,512}\x1b\\|[ -/]{0,4}[0-~])"
)
# Zero-width and bidirectional controls, soft hyphen, interlinear marks, tags, C1.
# The zero-width joiner goes too: it hides words in an identifier more often than it holds an emoji together.
_HIDDEN_CLASS = (
    "\x80-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f"
)
_HIDDEN = re.compile(f"[{_HIDDEN_CLASS}]")
_HIDDEN_OR_LINE_END = re.compile(f"[{_HIDDEN_CLASS}\x85\u2028\u2029]")
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = dict.fromkeys(_CONTROL_BYTES)

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff]")
_HANGUL = re.compile("[\uac00-\ud7af\u1100-\u11ff]")
_LATIN_WORD = re.compile("[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of private text, from data/secrets.toml."""

    name: str
    keywords: tuple[str, ...]  # the pattern runs only where one of them stands,
    gate: re.Pattern[str] | None  # and where this one matches, which costs less
    before: str  # characters of the part in front of the match that goes too, "" if none
    keep: frozenset[str]  # parts in front that stay: they name nobody
    pattern: re.Pattern[str]
    replacement: str

    def apply(self, text: str) -> str:
        """`text` with every match replaced."""
        if not any(keyword in text for keyword in self.keywords):
            return text
        if not self.before:
            return self.pattern.sub(self.replacement, text)
        pieces: list[str] = []
        done = 0
        for match in self.pattern.finditer(text):
            head = text[max(done, match.start() - MAX_NAME) : match.start()]
            name = head[len(head.rstrip(self.before)) :]
            if name and name not in self.keep:
                pieces += (text[done : match.start() - len(name)], self.replacement)
                done = match.end()
        return "".join(pieces) + text[done:] if pieces else text


@cache
def redaction_rules() -> tuple[Rule, ...]:
    """The rules of data/secrets.toml, in their order."""
    table = tomllib.loads(resources.files("pipeline").joinpath("data/secrets.toml").read_text("utf-8"))
    return tuple(
        Rule(
            name=row["name"],
            keywords=tuple(row["keywords"]),
            gate=re.compile(row["gate"]) if "gate" in row else None,
            before=row.get("before", ""),
            keep=frozenset(row.get("keep", ())),
            pattern=re.compile(row["pattern"]),
            replacement=row["replacement"],
        )
        for row in table["rule"]
    )


def is_clean(text: str) -> bool:
    """True if :func:`clean` would give `text` back unchanged; much faster than cleaning."""
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    if b"\1" in encoded.translate(_IS_CONTROL):
        return False
    # what hides is not ASCII: most of a text need not be searched for it
    return text.isascii() or not _HIDDEN_OR_LINE_END.search(encoded.translate(None, _ASCII_BYTES).decode("utf-8"))


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: 1 document, 2 documents."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def clean(text: str) -> str:
    """`text` without what a reader cannot see: escape sequences, control, bidi and zero-width characters.

    Every line end becomes one newline; half surrogates, which no file can hold, become U+FFFD.
    """
    if is_clean(text):
        return text
    text = _SURROGATE.sub("\ufffd", text)
    text = _LINE_ENDS.sub("\n", text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _HIDDEN.sub("", text.translate(_CONTROL))


def redaction_keywords() -> tuple[str, ...]:
    """What :func:`suspects` wants to know of a text: which of these stand in it."""
    return tuple(keyword for rule in redaction_rules() for keyword in rule.keywords)


@cache
def _keywords() -> Signs:
    return Signs(redaction_keywords())


def suspects(text: str, present: Set[str] | None = None) -> tuple[Rule, ...]:
    """The redaction rules whose gate opens for `text`: the only ones that can act on it or on a part of it.

    `present`: which of the keywords stand in the text, if that is known already.
    """
    if present is None:
        present = _keywords().present(text)
    rules = [rule for rule in redaction_rules() if not present.isdisjoint(rule.keywords)]
    is_open = {rule.gate: rule.gate.search(text) is not None for rule in rules if rule.gate}
    return tuple(rule for rule in rules if rule.gate is None or is_open[rule.gate])


def redact(text: str, *, rules: tuple[Rule, ...] | None = None) -> str:
    """`text` with secrets, e-mail addresses and home-folder names replaced by neutral words of the same place.

    `rules` may be what :func:`suspects` gave for a longer text of which this one is a part.
    """
    for rule in suspects(text) if rules is None else rules:
        text = rule.apply(text)
    return text


@cache
def _unsafe() -> tuple[tuple[str, re.Pattern[str]], ...]:
    table = tomllib.loads(resources.files("pipeline").joinpath("data/unsafe.toml").read_text("utf-8"))
    return tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in table.items())


def unsafe(words: str) -> str | None:
    """The name of the act in `words` that is never passed on, from data/unsafe.toml; None if there is none."""
    return next((name for name, pattern in _unsafe() if pattern.search(words)), None)


def safe(text: str) -> str:
    """`text` as a document holds it: cleaned and redacted."""
    return redact(clean(text))


_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"\\]{3,2000}", re.IGNORECASE)


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
