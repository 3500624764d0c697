"""A text as those read it who follow it: without what hides a command, and cut into pieces of code and prose."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from pipeline.lexicon.advice.tables import table
from pipeline.records import warm
from pipeline.text import clean


@cache
def _alike() -> dict[int, int | str | None]:
    """Letters that look like a Latin one -> that one."""
    return {ord(one): letter for letter, listed in table("confusables")["letters"].items() for one in listed}


_QUOTES = str.maketrans("‘’“”‚„‹›«»′″＇＂，。、！？", "''\"\"'\"''\"\"'\"'\"     ")
_DASHES = warm.pattern("[–—−‒―]")
#: What a reader cannot see and `clean` leaves: variation selectors, blank letters, private use.
_BLANK = warm.pattern(
    "[\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\U000e0100-\U000e01ef\ue000-\uf8ff\U000f0000-\U0010fffd\u1cbb\u00ad]"
)
_TAG = warm.pattern(
    r"</?(?:code|pre|b|i|em|strong|span|kbd|tt|a|samp|var|sub|sup|font|u|s|mark|ins|del)(?:\s[^<>]{0,200})?>", re.I
)
_BREAK = warm.pattern(r"</?(?:br|p|div|li|ul|ol|tr|td|h\d|details|summary|table)\s?/?(?:\s[^<>]{0,200})?>", re.I)
_HAN = "\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_BORDER = warm.pattern(f"(?<=[{_HAN}])(?=[!-~])|(?<=[!-~])(?=[{_HAN}])")
_CONTINUED = warm.pattern(r"[ \t]?(?:\\|\^)[ \t]{0,8}\n[ \t]{0,8}(?:>[ \t]?)?")
_PIPED = warm.pattern(r"[ \t]{0,8}\n[ \t>]{0,8}(?=\|(?!\s?-)|&&)|(?<=[|&])[ \t]{0,8}\n[ \t>]{0,8}")
_GAP = warm.pattern(r"\$(?:\{IFS[^{}\n]{0,20}\}|IFS(?:\$\d|\b))")
_EXPANDED = warm.pattern(r"(?<![$\w}])\{([^{}\s$]{1,300},[^{}\s]{0,300})\}")
_SPLIT_WORD = warm.pattern(r"(?<=[A-Za-z])(?:''|\"\"|[`^](?=[A-Za-z]))+(?=[A-Za-z])")
_APOSTROPHE = warm.pattern(r"(?<=[A-Za-z])'(?=(?:s|t|re|ve|ll|d|m)\b)|(?<=s)'(?=\s[a-z])")
_CODE = warm.pattern(r"(`{1,8}|~{3,8})(?:([a-zA-Z0-9+#_-]{1,20})\n)?(.{1,4000}?)\1", re.S)
_EMPHASIS = warm.pattern(r"\*\*(?=[A-Za-z~])|(?<=[\w/.~)])\*\*(?![\w/.*])")


def plain(text: str) -> str:
    """`text` with full-width and look-alike letters, references, quotes and joined lines as a shell would get them."""
    if "&" in text:
        text = html.unescape(text)
    text = _DASHES.sub("-", unicodedata.normalize("NFKC", _BLANK.sub("", clean(text)).translate(_QUOTES)))
    if not text.isascii():
        text = _BORDER.sub(" ", text).translate(_alike())
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text))
    text = _PIPED.sub(" ", _CONTINUED.sub(" ", text))
    text = _EXPANDED.sub(lambda found: found[1].replace(",", " "), _GAP.sub(" ", text))
    return _APOSTROPHE.sub("", _SPLIT_WORD.sub("", _EMPHASIS.sub("", text)))


#: `<secret>`, `<your token>`: what a reader puts something else for. Redaction leaves them too.
_PLACEHOLDER = warm.pattern(r"<(?![\s=(&<-])([^<>\n|;&`$()]{1,60})(?<!\s)>")
_MAIL = "somebody@placeholder.invalid"


def readings(text: str) -> Iterator[str]:
    """`text` made plain; and once more with words for its placeholders, in which a shell would see redirections."""
    yield plain(text)
    named = _PLACEHOLDER.sub(lambda found: _MAIL if found[1] == "email" else "placeholder", text)
    if named != text:
        yield plain(named)


def folded(word: str) -> str:
    """A word as the name of a program: without quotes, backslashes, folder, ending, version and marks around it."""
    if _DRIVE.match(word):
        word = word.rpartition("\\")[2]
    if word in (".", "%", "!"):
        return word
    name = word.translate(_NO_QUOTES).rstrip(".,:!?)]}*;`").lstrip("([{*`!%:")
    name = name.rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd").removesuffix(".com")
    name = "mkfs" if name.startswith("mkfs.") else name
    return _VERSION.sub(r"\1", name) if name[-1:].isdigit() else name


_DRIVE = warm.pattern(r"['\"]?[A-Za-z]:\\")
_NO_QUOTES = str.maketrans("", "", "'\"\\")
_VERSION = warm.pattern(r"^(python|pip|perl|ruby|lua|php|pypy|node)[\d.]{1,8}$")


def pieces(text: str) -> Iterator[tuple[str, bool, str]]:
    """(piece, whether it is marked as code, the language that its fence names or "") in the order of a text that is
    `plain`.
    """
    done = 0
    for found in _CODE.finditer(text):
        if text[done : found.start()].strip():
            yield text[done : found.start()], False, ""
        yield found[3], True, found[2] or ""
        done = found.end()
    if text[done:].strip():
        yield text[done:], False, ""
