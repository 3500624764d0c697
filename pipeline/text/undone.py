"""A text as it was before it was quoted: escapes undone, lines joined, with the way back to each place.

A token may stand in JSON inside of JSON, be escaped for Markdown, or be broken over lines by a mail, a terminal or an
editor. What finds it whole looks here, and acts on the text itself.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from pipeline.records import warm

#: Pieces shorter than this say too little to look random or not.
_LEAST_RANDOM = 6
#: How often the kind of letter changes from one to the next: 0.1 in words and names of code, 0.3 in base32, 0.47 in
#: hex, 0.62 in base64 (computed from their alphabets; 0.05 to 0.15 in the identifiers of 22,694 threads).
_RANDOM_CHANGES = 0.2
#: Characters of a key behind a name that says little, and behind one in capitals.
LEAST_KEY, LEAST_VARIABLE = 16, 8
#: Characters of a token behind a vendor's own beginning.
LEAST_TOKEN = 16
_FEW_VOWELS = 4
#: A password of letters alone, without quotes, has so many, and capitals and small ones follow each other so often.
_LONG_PASSWORD, _MIXED = 12, 0.35
#: Characters of a long value that are judged.
_JUDGED = 100
#: Behind a beginning that says what it is: 16 characters of hex have 2.5 bits and more (all but 1 of 1,000), capitals
#: with few digits change 0.1 times (all but 1 of 100).
_LEAST_TOKEN_ENTROPY, _TOKEN_CHANGES = 2.5, 0.1
_SIZES = warm.pattern(r"(?:[0-9]+x)+[0-9]+")
_CAMEL = warm.pattern(r"(?:[A-Z]|^)[a-z]+")
_WORDS, _DIGITS = warm.pattern(r"[A-Z]?[a-z]{4,}"), warm.pattern(r"[0-9]+")
_UUID = warm.pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
#: Bits a character (Shannon): hex of 16 characters has 3.0 to 3.7, base64 3.5 to 4, names of code 2.5 to 3.5.
_LEAST_ENTROPY = 2.8
#: The longest run of letters and digits of a random value has this many: between `/`, `-` and `.` stand names.
_LEAST_RUN = 10
_KEY_LETTERS = warm.pattern(r"[A-Za-z0-9_.+/=~@!%:-]+$")
_RUN = warm.pattern(r"[A-Za-z0-9]+")
_ADDRESS = warm.pattern(r"0x[0-9a-fA-F]{1,16}$|[\w.$]+@[0-9a-f]{1,16}$")
_A_DIGIT, _A_LETTER, _BLANK = warm.pattern(r"[0-9]"), warm.pattern(r"[A-Za-z]"), warm.pattern(r"\s")
_CALL = warm.pattern(r"[\w.]*[(\[{]")
_LETTERS_ALONE = warm.pattern(r"[a-z]{16}$")  # the same without its blanks
_GROUPS = warm.pattern(r"[a-z]{4}(?: [a-z]{4}){3}$")  # a password of an application, as Google shows it
_SYMBOL = warm.pattern(r"[!#$%^&*+?~@]")

#: What parts the cells of a table.
_CELL = "[|\u00a6\u2502\u2503\u2551]"
_TAG = r"</?(?:br|wbr|span|[bipu]|em|strong|code|td|tr|div|tt|font|mark|li)\b[^<>\n]{0,60}>"
_LINE_END = r"(?:\\{0,4}\r?\n|(?:\\{1,8}r)?\\{1,8}n)"
_QUOTED = warm.pattern(
    r"(?P<code>\\{1,4}(?:u00|x)(?P<json>[2-7][0-9a-fA-F])|&\#(?:(?P<decimal>[0-9]{2,3})|[xX](?P<hex>[2-7][0-9a-fA-F]));"
    r"|&(?P<name>quot|amp|lt|gt|apos|lowbar|sol|equals|colon|nbsp);"
    r"|%(?<=[\w:/}%?&=+.-]%)(?P<url>2[0-9A-Fa-f]|3[ABDFabdf]|40|5[BDFbdf]|7[BDEbde])(?!\s))"
    r"|(?P<joined>[\"'](?<=[A-Za-z0-9_+/=.-].)(?:[ \t]{0,8}[+.&][ \t]{0,8}|[ \t]{1,8}|[ \t]{0,8}[+.&\\]?[ \t]{0,8}"
    rf"{_LINE_END}[ \t]{{0,40}}[+.&]?[ \t]{{0,8}})[fbr]?[\"'](?=[A-Za-z0-9_+/=. -]))"
    rf"|(?P<line>{_LINE_END}[ \t]{{0,40}}(?:(?:>[ \t]?){{1,6}}|[|#*+][ \t]{{1,4}}|//[ \t]{{0,4}})?"
    # the next row of a table, in which the cells in front are empty
    rf"|{_CELL}[ \t]{{0,8}}\n[ \t>]{{0,8}}{_CELL}(?:[ \t]{{0,80}}{_CELL}){{0,4}}[ \t]{{0,40}})"
    r"|<w?br ?/?>(?:&nbsp;|\s){0,20}|\\{1,4}u(?:200[b-fB-F]|2060|[fF][eE][fF][fF]|00[aA][dD])"
    # letters that stand apart, one by one; a blank behind a dot or around a line in a token
    r"|[ ](?:(?<=[\s\"'`]\S[ ])(?=[\w.-](?:[\s\"'`.,]|\Z))|(?<=[A-Za-z0-9][._-][ ])(?=\w)|(?=_ \w)|(?<=\w _ ))"
    r"|\\{1,4}(?=[!-/:-@\[\]-`{-~])"
)
_NAMED = {
    "quot": '"',
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "apos": "'",
    "lowbar": "_",
    "sol": "/",
    "equals": "=",
    "colon": ":",
    "nbsp": " ",
}
_KINDS_OF_CODE = frozenset(("json", "decimal", "hex", "name", "url", "mail"))
_UPPER, _LOWER, _DIGIT = 1, 2, 3
_KINDS = {
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _UPPER),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", _LOWER),
    **dict.fromkeys("0123456789", _DIGIT),
}


#: Codes of single characters; in a URL's code the letter in front keeps formats (`%3d`) and names of HLO (`%20`) apart.
_CODES = (
    warm.pattern(r"\\{1,4}u00(?P<json>[2-7][0-9a-fA-F])"),
    warm.pattern(r"\\{1,4}x(?P<json>[2-7][0-9a-fA-F])"),
    warm.pattern(
        r"&(?:\#(?:(?P<decimal>[0-9]{2,3})|[xX](?P<hex>[2-7][0-9a-fA-F]))"
        r"|(?P<name>quot|amp|lt|gt|apos|lowbar|sol|equals|colon|nbsp));"
    ),
    warm.pattern(r"%(?<=[\w:/}%?&=+.-]%)(?P<url>2[0-9A-Fa-f]|3[ABDFabdf]|40|5[BDFbdf]|7[BDEbde])(?!\s)"),
    warm.pattern(r"=(?P<mail>[2-7][0-9A-F])"),  # quoted-printable
)
#: What each code begins with; a sign of equality in quoted-printable is coded, so that no such text is without one.
_FIRST = ("\\u00", "\\x", "&", "%", "=3D")


def decoded(text: str) -> str:
    """The text with the codes of single characters (JSON's, HTML's, those of URLs) as the characters."""
    for first, code in zip(_FIRST, _CODES, strict=True):
        if first in text:
            text = code.sub(_character, text)
    return text


def decoding(text: str) -> Undone | None:
    """`decoded` with the way back to each place; None if nothing is coded. Lines and quotes stay as they are."""
    found = sorted(
        (match.start(), match.end(), _character(match))
        for first, code in zip(_FIRST, _CODES, strict=True)
        if first in text
        for match in code.finditer(text)
    )
    if not found:
        return None
    pieces: list[Piece] = []
    parts: list[str] = []
    at = done = 0
    for start, end, character in found:
        if start > done:
            pieces.append(Piece(at, done, start, is_line=False))
            parts.append(text[done:start])
            at += start - done
        pieces.append(Piece(at, start, end, is_line=False))
        parts.append(character)
        at, done = at + 1, end
    if done < len(text):
        pieces.append(Piece(at, done, len(text), is_line=False))
        parts.append(text[done:])
    return Undone("".join(parts), tuple(pieces), tuple(piece.at for piece in pieces))


class Piece(NamedTuple):
    """A run of the text that stands in the undone text as it is, or one character for an escape."""

    at: int  # in the undone text
    start: int  # in the text
    end: int
    is_line: bool  # whether a line ended in front of it


class Undone(NamedTuple):
    """The text without its quoting: `text`, and where its pieces come from."""

    text: str
    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]  # `at` of each piece

    def piece_of(self, position: int) -> int:
        """The number of the piece that holds a position of the undone text."""
        return bisect_right(self.starts, position) - 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the text that the undone text between `start` and `end` comes from."""
        first, last = self.pieces[self.piece_of(start)], self.pieces[self.piece_of(end - 1)]
        is_escape = last.end - last.start != self._length(last)
        return first.start + start - first.at, last.end if is_escape else last.start + end - last.at

    def is_joined(self, start: int, end: int) -> bool:
        """Whether something was undone inside of the place."""
        return self.piece_of(start) != self.piece_of(end - 1)

    def is_border(self, position: int) -> bool:
        """Whether something was undone right in front of the position, so that what stands there begins a word."""
        return self.pieces[self.piece_of(position)].at == position if position < len(self.text) else True

    def line_starts(self, start: int, end: int) -> list[int]:
        """Where lines begin inside of the place."""
        first, last = self.piece_of(start), self.piece_of(end - 1)
        return [piece.at for piece in self.pieces[first + 1 : last + 1] if piece.is_line]

    def _length(self, piece: Piece) -> int:
        after = self.piece_of(piece.at) + 1
        return (self.starts[after] if after < len(self.starts) else len(self.text)) - piece.at


def undone(text: str) -> Undone:
    """The text as it was before it was quoted."""
    parts: list[str] = []
    pieces: list[Piece] = []
    at = done = 0
    is_line = False

    def take(start: int, end: int, written: str) -> None:
        nonlocal at
        if written:
            pieces.append(Piece(at, start, end, is_line))
            parts.append(written)
            at += len(written)

    for match in _QUOTED.finditer(text):
        written = text[done : match.start()]
        kind = match.lastgroup
        if match["line"] is not None:
            written = written.rstrip(" \t")
        if written:
            take(done, done + len(written), written)
            is_line = False
        if match["code"] is not None:
            take(match.start(), match.end(), _character(match))
            is_line = False
        elif match["line"] is not None:
            is_line = True
        elif kind == "joined":
            is_line = False
        done = match.end()
    take(done, len(text), text[done:])
    return Undone("".join(parts), tuple(pieces), tuple(piece.at for piece in pieces))


# What breaks a token where it was written, printed or copied: nothing but a break says so here ...
_BREAKS = warm.pattern(
    r"=\n"  # quoted-printable
    rf"|\s{{0,8}}(?:(?:{_TAG}|&nbsp;|&\#(?:160|10|13|[xX][aAdD]0?);)\s{{0,20}}){{1,12}}"
    r"|\\ |[*_]{1,3}\n[*_]{1,3}"
    r"|\\{0,4}[\"'`][ \t]{0,8}(?:[+.&~,^\\_`]|\.\.|<>|\|\||<<)?[ \t]{0,8}(?:_?\n[ \t]{0,60})?"
    r"(?:(?:[+.&~]|\.\.|\|\||<<)[ \t]{0,8})?[fbrLu@$]?\\{0,4}[\"'`]"  # strings that are joined
    r"|[ \t]{0,4}[\\^`\u21a9\u23ce\u21b5\u00ac\u2026\u2192\u00bb][ \t]{0,4}\n[ \t]{0,60}"
    r"|(?:%0[AaDd]|%20|=0[AD]|=20|\\{1,4}(?:u000[aAdD]|x0[aAdD]|u2028|u00[aA]0|xa0|[nrt]))+"
    r"|\u00a0"
)
_AFTER_TIME = r"std(?:out|err)[ ][FP][ ]|[A-Z]{4,8}[ ]|[^\s=]{1,60}[ ][^\s=]{1,60}:[ ]|[^\s=]{1,60}:[ ]"
# ... and here something else may have begun.
_PAUSES = tuple(
    warm.pattern(pause)
    for pause in (
        # the next row of a table
        rf"[ \t]{{0,80}}(?:{_CELL}[^\n|\u2502]{{0,80}}){{1,4}}\n[ \t>]{{0,20}}(?:{_CELL}[ \t]{{0,80}}){{1,6}}",
        # a line below, behind its time, number or stream, or its quotation
        rf"-?[ \t]{{0,20}}\n[^\n=]{{0,60}}?[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}\S{{0,40}}[ \t]{{1,4}}(?:{_AFTER_TIME})?",
        r"[ \t]{0,20}\n(?:[^\s=]{0,60}[ \t]{1,8}\|[ \t]{1,8}|[ \t]{0,8}[0-9]{1,6}[ \t|:\u2502]{1,6})",
        r"-?[ \t]{0,20}\n[ \t>|#*+/!;%$:.\u2502-]{0,40}",
        r"[ \t]{1,4}",
    )
)
_NEXT_PART = warm.pattern(r"[A-Za-z0-9_+/~-]{6,400}(?:\.[A-Za-z0-9_+/~-]{6,400}){0,2}")
_PADDING, _FOLDER = warm.pattern(r"={0,2}"), warm.pattern(r"(?:^|/)[a-z]{3,}(?:/|$)")
#: Behind the next setting, call, file or address.
_GOES_ELSEWHERE = warm.pattern(r"[ \t]{0,4}(?:={1,2}[^=\s\"'`,;)]|:[^\n]|=>)|=[\"'`]\w|\(|\.[A-Za-z]|[/\\]\w|@")
_MOST_PARTS = 8
#: Letters of a part that may have begun as something else.
_LEAST_PART = 10


def goes_on(text: str, end: int, *, is_told: bool) -> int:
    """Where a secret ends that is broken at `end`: behind its last part, `end` itself if it is whole.

    Of what `is_told` by a vendor's form all is taken that looks drawn by chance and begins below it, in the next cell
    or behind a blank; of a value behind a name only what is joined to it by something that does nothing else.
    """
    for _ in range(_MOST_PARTS):
        ways = (way.match(text, end) for way in ((_BREAKS, *_PAUSES) if is_told else (_BREAKS,)))
        parts = (_part(text, way.end(), is_sure=way.re is _BREAKS) for way in ways if way)
        part = next(filter(None, parts), 0)
        if not part:
            return end
        end = part
    return end


def _part(text: str, start: int, *, is_sure: bool) -> int:
    """Behind a part of a secret; 0 if what begins there is none."""
    found = _NEXT_PART.match(text, start)
    if found is None or _GOES_ELSEWHERE.match(text, found.end()):
        return 0
    word = found[0][:_JUDGED]
    if not looks_random(word) or _is_name(word) or is_address(word) or _FOLDER.search(word):
        return 0
    if not is_sure and not (is_key(word, least=_LEAST_PART) and entropy(word) >= _LEAST_ENTROPY):
        return 0
    return _PADDING.match(text, found.end()).end()  # type: ignore[union-attr]


def _character(match: re.Match[str]) -> str:
    kind, code = next((kind, code) for kind, code in match.groupdict().items() if code and kind in _KINDS_OF_CODE)
    if kind == "name":
        return _NAMED[code]
    number = int(code, 10 if kind == "decimal" else 16)
    return chr(number) if 32 <= number < 127 else " "


def looks_random(word: str, *, least: float = _RANDOM_CHANGES) -> bool:
    """Whether small letters, capitals and digits follow each other as by chance, as in no word and few names."""
    kinds = [kind for letter in word if (kind := _KINDS.get(letter))]
    if len(kinds) < _LEAST_RANDOM:
        return False
    changes = sum(one != other for one, other in pairwise(kinds))
    return changes >= least * (len(kinds) - 1)


def is_address(word: str) -> bool:
    """Whether a word is a place in memory, or an object with its place."""
    return _ADDRESS.match(word) is not None


def is_token(word: str) -> bool:
    """Whether what stands behind a vendor's own beginning was drawn by chance: no name, no words, no kernel's sizes.

    Either one run of letters and digits is long enough for that, or the parts of it together hold all three kinds.
    """
    if len(word) < LEAST_TOKEN or entropy(word) < _LEAST_TOKEN_ENTROPY:
        return False
    if _UUID.match(word):
        return True
    longest = max(_RUN.findall(_SIZES.sub("_", word)), key=len, default="")
    if len(longest) < LEAST_TOKEN:
        longest = "" if word.islower() or word.isupper() or not _A_DIGIT.search(word) else word
    if longest.islower() or longest.isupper():
        return len(_DIGITS.findall(longest)) > 1 and looks_random(longest, least=_TOKEN_CHANGES)
    return looks_random(longest) and not _is_name(longest)


def _is_name(run: str) -> bool:
    """Whether a run is made of words: long ones, or such as begin with a capital and have vowels, as English has."""
    if 2 * sum(map(len, _WORDS.findall(run))) > len(run):
        return True
    letters = [letter for letter in run if letter.isalpha()]
    vowels = sum(letter in "aeiouAEIOU" for letter in letters)
    return vowels > 0.3 * len(letters) and sum(map(len, _CAMEL.findall(run))) > 0.8 * len(letters)


def is_password(value: str, *, is_quoted: bool) -> bool:
    """Whether a value behind the name of a password is one; in quotes it may be any word that looks made."""
    if _BLANK.search(value) or not value.isprintable():
        return is_quoted and _GROUPS.match(value) is not None
    has_digit = _A_DIGIT.search(value) is not None
    if is_quoted:
        return has_digit or bool(_SYMBOL.search(value)) or (len(value) >= LEAST_VARIABLE and looks_random(value))
    if not value.isascii() or _CALL.match(value):
        return False
    if _LETTERS_ALONE.match(value):  # of 16 letters drawn by chance four are vowels, of English six
        return sum(letter in "aeiouy" for letter in value) <= _FEW_VOWELS
    if len(value) >= _LONG_PASSWORD and not has_digit and looks_random(value, least=_MIXED) and not _is_name(value):
        return True
    return (has_digit and (not value.isdigit() or len(value) >= 6)) or bool(_SYMBOL.search(value[1:]))


def is_strong(value: str, *, is_quoted: bool) -> bool:
    """Whether a word of prose behind the name of a password is one: in quotes, or of letters and digits."""
    if not is_password(value, is_quoted=is_quoted) or len(value) < _LEAST_RANDOM:
        return False
    return is_quoted or (_A_DIGIT.search(value) is not None and _A_LETTER.search(value) is not None)


def is_key(value: str, *, least: int) -> bool:
    """Whether a value of at least so many characters is a key: letters and digits, random if it may be a name."""
    if len(value) < least or not _KEY_LETTERS.match(value):
        return False
    if is_address(value):
        return False
    if not _A_DIGIT.search(value) or not _A_LETTER.search(value):
        return False
    if least < LEAST_KEY:
        return len(value) >= least
    if _UUID.match(value) or is_token(value[:_JUDGED]):
        return True
    longest = max(_RUN.findall(value), key=len, default="")
    return len(longest) >= _LEAST_RUN and looks_random(longest) and entropy(value) >= _LEAST_ENTROPY


def entropy(value: str) -> float:
    """Shannon's entropy of the characters of a value, in bits a character."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())
