"""Secrets that are told by the name of what they are the value of; the names are data.

`name: value`, `name=value`, JSON, YAML, headers, URLs, options of a command line (settings.toml). What counts as
a value depends on the name: behind `password` nearly anything, behind `token` only what looks random.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from pipeline.records import warm
from pipeline.text.needed import Literals, late
from pipeline.text.tokens import SECRET, PlaceGate, Span, placed
from pipeline.text.undone import (
    LEAST_KEY,
    LEAST_VARIABLE,
    Undone,
    is_key,
    is_password,
    is_strong,
    is_token,
    looks_random,
    undone,
)

#: A value is looked at this far; longer ones are tokens with a form of their own.
_LONGEST_VALUE = 500
_LEAST_PASSWORD = 4
#: Different characters of a header's value or of a password in a URL; `***`, `xxx` are written in the place of one.
_LEAST_VARIED = 3

# What stands between a name and its value: quotes, a type, a colon, an equals sign, `is`, the end of a line that goes
# on; and the quote that opens it.
_AROUND = r"""[\\"'`’”*_\])]{0,6}(?:&quot;|&\#3[49];)?[ \t]{0,30}"""
_SEPARATOR = (
    r"(?:[:,]?\s{0,40}+[{\"']{0,2}+\s{0,40}+(?:[Vv]alue|default)[\"']?[ \t]?[=:]"
    r"|:\s?(?:&(?:'\w{1,10}\s)?str|str|[Ss]tring|Optional\[str\])(?:\s?\|\s?None)?\s?=|=>|:=|:{1,2}|={1,2}|[：＝]|\\u003[dDaA]"
    r"|(?<=[ \t])is:?(?=[ \t])|->(?=[ \t]?[\w\"'])|是|为|は|,\s?(?=[\"'])(?<=[\"'],\s|.[\"'],))"
    r"[ \t]{0,4}(?:\*{1,2}[ \t]?)?(?:(?:![\w-]{1,20}[ \t])?[|>]-?\s{1,8}|\n[ \t]{1,40}(?=[\"'])|\\\n[ \t]{0,40}"
    r"|\(\s{1,40}(?=[fbr]?[\"'])|\[\s{0,20}(?=[\"'])"
    # alone in its line below the name
    r"|(?<=[:：=])\n{1,3}[ \t]{0,20}(?:- )?(?=[^\s\"'`<>]{16,500}[ \t]{0,20}(?:\n|\Z)))?"
)
# What a value in quotes is wrapped in; any other call is given a name, not the value: getenv("DB_PASSWORD").
_WRAPPER = (
    r"(?:(?:new[ ])?(?:Some|Just|[Ss]tring(?:::from|\.valueOf)?|&?str|bytes|\[\]byte"
    r"|Secret(?:Str|String)?(?:::(?:new|from))?|SecureString|Optional\.of|Buffer\.from)\([ ]?(?=[fbru$]?[\"'`]))?"
)
_OPENING = r"""(?P<opening>[fbru$]?\\{0,4}(?:"{3}|'{3}|["'`“‘「『«»„])|&quot;|&\#3[49];)?"""
_VALUE_FOLLOWS = warm.pattern(_AROUND + "+" + _SEPARATOR + _WRAPPER + _OPENING)
_VARIABLE_FOLLOWS = warm.pattern(r"""\\{0,4}["'`]?\]?[ ]?[=:：＝][ ]{0,2}""" + _OPENING)
# A value of keys in a text without quoting, behind what parts it from its name; it has a digit.
_DIGIT_FOLLOWS = warm.pattern(
    rb"[=:]*(?:Optional\[str)?(?:[A-Za-z.:&\[\]]{0,30}\()?[$\x80-\xff]*[A-Za-z_.+/=~@!%:&#;-]{0,100}[0-9]"
)
#: What ends each keyword for the pass over whole texts, where quotes and blanks are left out.
_ENDS = (":", "=", "：", "＝", "->", "value=", "value:", ",value:", ":value:", "{default=", "是", "为", "は")
#: Those that stand in every text; behind a word and one of the others what is in front of the word is not looked for.
_COMMON_ENDS = frozenset((":", "="))
#: Letters of a name that are looked for: fewer stand in every text, more cost a tenth of a second for 100 MB each.
_SHORT = 5
#: Heads of so many letters are written in capitals before small letters too.
_ACRONYM = 3
#: Characters in front of a last word that are looked at for its heads.
_LONGEST_HEAD = 20
_PROSE_ENDS = ("is", ",")
_CLOSING = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": "”",
    "‘": "’",
    "「": "」",
    "『": "』",
    "«": "»",
    "»": "«",
    "„": "“",
    ";": "&",
}
_UNQUOTED = warm.pattern(r"""[^\s"'`<>“”‘’，。；、（）【】「」！？]{1,500}""")
# Where a value without quotes ends, and what is cut from its end.
_STOPS = {
    "passwords": warm.pattern(r";|&(?=[\w.-]{1,40}=|amp;|$)|(?<=[^/])</"),
    "elsewhere": warm.pattern(r"[^!-~]|[,;&(){}\[\]|\\]"),
}
_STOPS["keys elsewhere"] = _STOPS["elsewhere"]
_STOP = warm.pattern(r"[,;&(){}\[\]|\\]")
_TAIL = ".,:!?)]}*_\\"
# `Blue.horse508` is none: names of code end in one digit at most.
_EXPRESSION = warm.pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$(?<![0-9]{2})|[A-Za-z_][\w.]*[(\[]")
#: `N0rthern.Pike`, in quotes, or alone behind a name of a file of settings; there `k8s.Client` is none.
_DIGIT_INSIDE = warm.pattern(r"[A-Za-z][0-9][a-z]")
_DIGIT_IN_A_WORD = warm.pattern(r"(?=[A-Za-z0-9]{4})[A-Za-z]{1,20}[0-9][a-z]")
_ALONE, _OF_A_FILE = warm.pattern(r"[ \t]*(?:\n|\Z)"), warm.pattern(r":[ \t]\Z|=\Z")
_PATH = warm.pattern(r"(?:\.{0,2}/|~|[A-Za-z]:[\\/]|https?:)")
_FIRST_OF_NONE = "<$%{[(*…^@&|\\"


@dataclass(frozen=True, slots=True)
class Setting:
    """Names of one group, and how a value of them is told."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    places: Callable[[str], Iterable[tuple[int, str]]]  # where last words of the names stand in a text, and which
    heads: Mapping[str, tuple[str, ...]]  # a last word, in small letters -> what has to stand before it
    follows: re.Pattern[str]
    public: tuple[str, ...]  # what before a name says that everybody may know its value
    none: frozenset[str]  # values that are no secret
    signs: Mapping[str, tuple[tuple[str, int], ...]]  # keyword -> last words that it may end, and where they begin

    def place_gate(self, keyword: str) -> PlaceGate | None:
        """What has to stand at a place of the keyword in a text without quoting: a last word, with one of its heads."""
        if keyword not in self.signs:
            return None
        words = [
            (form.encode(), begins, tuple(head.encode() for head in self.heads[form.lower()]))
            for form, begins in self.signs[keyword]
        ]

        length = len(keyword.encode())

        def is_name(bare: bytes, start: int) -> bool:
            if self.name == "keys" and not _DIGIT_FOLLOWS.match(bare, start + length):
                return False
            for form, begins, heads in words:
                word = start + begins
                if word >= 0 and bare.startswith(form, word):
                    before = bare[max(0, word - _LONGEST_HEAD) : word]
                    if not heads or before.rstrip(b"_-.").lower().endswith(heads):
                        return True
            return False

        return is_name

    def spans(self, text: str) -> Iterator[Span]:
        """The places of values that are secrets."""
        done = 0
        for at, name in self.places(text):
            if (
                at < done
                or not (match := self.follows.match(text, at + len(name)))
                or not self._is_named(text, at, name)
            ):
                continue
            start, end = self._value(text, match)
            if end > start:
                done = end
                yield (start, end, SECRET)

    def _is_named(self, text: str, at: int, name: str) -> bool:
        heads = self.heads.get(name.lower())
        before = text[max(0, at - _LONGEST_HEAD) : at].rstrip(" _-.\\").lower()
        return not before.endswith(self.public) and (not heads or before.endswith(heads))

    def _value(self, text: str, match: re.Match[str]) -> tuple[int, int]:
        """The place of the secret behind a name and what parts it from its value; an empty one if that is none."""
        start, opening = match.end(), match["opening"] or ""
        end = self._end(text, start, opening)
        if _IS_QUOTED.match(text[start : end + 2]) or _GOES_ON.match(text, end):
            view = undone(text[start : start + _WINDOW])
            joined = self._end(view.text, 0, opening)
            lines = view.line_starts(0, joined) if joined else []
            joined = next((border for border in lines if not looks_random(view.text[border:joined])), joined)
            if (
                joined
                and view.is_joined(0, joined)
                and self._is_secret(view.text[:joined], match, view.text[joined : joined + 1])
            ):
                return start, start + view.span(0, joined)[1]
        return (start, end) if end > start and self._is_secret(text[start:end], match, text[end : end + 1]) else (0, 0)

    def _end(self, text: str, start: int, opening: str) -> int:
        if opening:
            line_end = text.find("\n", start, start + _LONGEST_VALUE)
            end = text.find(_CLOSING[opening[-1]], start, line_end if line_end >= 0 else start + _LONGEST_VALUE)
            if end >= 0:
                return start + len(text[start:end].rstrip("\\"))
        found = _UNQUOTED.match(text, start)
        if found is None:
            return start
        stop = _STOPS.get(self.name, _STOP).search(found[0])
        return start + len(found[0][: stop.start() if stop else None].rstrip(_TAIL))

    def _is_secret(self, value: str, match: re.Match[str], after: str) -> bool:
        opening = match["opening"]
        if len(value) < _LEAST_PASSWORD or value[0] in _FIRST_OF_NONE or len(set(value[:50])) == 1:
            return False
        if (
            value.lower() in self.none
            or value[:4].lower() == "xxxx"
            or "..." in value
            or "==" in value.rstrip("=")
            or len(value.strip("xX*")) < _LEAST_PASSWORD
        ):
            return False
        is_alone = _ALONE.match(match.string, match.end() + len(value)) and _OF_A_FILE.search(match[0])
        has_digit = _DIGIT_INSIDE.search(value) if opening else is_alone and _DIGIT_IN_A_WORD.search(value)
        is_expression = _EXPRESSION.match(value) and not has_digit
        if after in ("(", "[") or is_expression or _PATH.match(value):
            return False
        if self.name == "passwords" and not opening and _IS_BELOW.search(match[0]):
            return is_key(value, least=LEAST_KEY)
        if self.name == "passwords":
            return is_password(value, is_quoted=bool(opening))
        if self.name == "elsewhere":
            return is_strong(value, is_quoted=bool(opening)) if match["join"] else value.isascii()
        if self.name == "keys elsewhere":
            return is_key(value, least=LEAST_KEY)
        if self.name == "variables":
            return is_key(value, least=LEAST_VARIABLE)
        return is_key(value, least=LEAST_KEY) or (bool(opening) and looks_random(value) and is_key(value, least=8))


#: The value stands in the line below its name.
_IS_BELOW = warm.pattern(r"[:：=]\n{1,3}[ \t]{0,20}(?:- )?\Z")
#: A value is looked at this far for what goes on behind quotes and line ends.
_WINDOW = 600
_IS_QUOTED = warm.pattern(r"[^\\&]{0,200}(?:\\[^\\]|\\{2}|&[a-z#])")
_GOES_ON = warm.pattern(
    r"[\\\"'_]{0,3}[ \t]{0,4}[+.&\\=]?[ \t]{0,4}\n[ \t]{0,40}(?:>[ \t]?){0,3}"
    # the next setting's name; what is followed by no value ends in the padding of base64
    r"(?![\w.-]{1,60}(?:[ \t]{0,4}:|[ \t]{1,4}=|=(?!=?[\"'`]?[ \t]{0,4}(?:[\n,;)}<\\]|\Z))))"
    r"[A-Za-z0-9+/\"']"
    r"|_?[\"'][ \t]{1,3}[+.&]?[ \t]{0,3}[\"']|\\{1,4}n"
)


@dataclass(frozen=True, slots=True)
class Header:
    """Headers of HTTP, and parameters of a URL: what stands behind their names is secret whatever it says."""

    name: str
    keywords: tuple[str, ...]
    gate: re.Pattern[str] | None
    pattern: re.Pattern[str]
    start: re.Pattern[bytes] | None = None  # what stands where a keyword does, in a text without quoting
    is_judged: bool = False  # the value has to look drawn by chance
    none: frozenset[str] = frozenset()  # values that are no secret

    def place_gate(self, keyword: str) -> PlaceGate | None:
        """What has to stand at a place of the keyword in a text without quoting; None if anything may."""
        return placed(self.start)

    def spans(self, text: str) -> Iterator[Span]:
        """The places of the values."""
        for match in self.pattern.finditer(text):
            group = match.lastgroup or 0
            if (
                len(set(match[group])) >= _LEAST_VARIED
                and "..." not in match[group]
                and match[group].lower() not in self.none
                and not (self.is_judged and not is_token(match[group]))
            ):
                yield (*match.span(group), SECRET)

    def is_quoted(self, text: str, bare: str) -> bool:
        """Whether `bare`, the text without quoting, seems to hold a value that the text does not."""
        return any(match[match.lastgroup or 0] not in text for match in self.pattern.finditer(bare))

    def joined_spans(self, view: Undone) -> Iterator[Span]:
        """The places, in the text, of values that are whole only where quoting is undone."""
        for start, end, secret in self.spans(view.text):
            lines = view.line_starts(start, end)
            end = next((at for at in lines if not looks_random(view.text[at:end])), end)  # noqa: PLW2901
            if end > start and view.is_joined(start, end):
                yield (*view.span(start, end), secret)


def _ascii_places(words: Iterable[str]) -> Callable[[str], Iterable[tuple[int, str]]]:
    literals = Literals(words)
    return lambda text: sorted((at, word) for word, found in literals.seen(text).items() for at in found)


def _as_json(name: str) -> str:
    return name.encode("ascii", "backslashreplace").decode()


def _places(words: Iterable[str]) -> Callable[[str], Iterable[tuple[int, str]]]:
    """What finds words of any script; a pattern of all of them would be tried at each letter."""
    every = tuple(words)
    # of an escape any number of backslashes
    last = {word: word.rpartition("\\u")[2] if word.startswith("\\u") else word for word in every}

    def places(text: str) -> list[tuple[int, str]]:
        present = tuple(word for word in every if last[word] in text)
        return [(match.start(), match[0]) for match in _any_of(present).finditer(text)] if present else []

    return places


@lru_cache(maxsize=200)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return warm.pattern("|".join(re.escape(word).replace("\\\\", r"\\{1,4}") for word in words))


def _last_words(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The last words of the names -> the words before them, one of which has to stand there; none if any may."""
    heads: dict[str, tuple[str, ...]] = {}
    for name in names:
        *before, last = name.split()
        heads[last] = (*heads.get(last, ()), *before) if before and heads.get(last) != () else ()
    return heads


def _last_letters(heads: tuple[str, ...], form: str) -> set[str]:
    """The last letters of what stands before a last word, with what joins them."""
    letters = {head[-1].upper() if form.isupper() else head[-1] for head in heads}
    letters |= {head[-1].upper() for head in heads if len(head) <= _ACRONYM}  # `API key`, with a small `key`
    return letters | {"_", "-", "."} if heads else {""}


def _signs(heads: Mapping[str, tuple[str, ...]], ends: Iterable[str]) -> dict[str, tuple[tuple[str, int], ...]]:
    """The keywords of last words, and which words each may end, with where they begin.

    The last letters are looked for: the automaton that does is as large as what it looks for.
    """
    signs: dict[str, tuple[tuple[str, int], ...]] = {}
    for word, before in heads.items():
        for form in _forms(word):
            letters = _last_letters(before, form)
            for last, end in ((a, b) for b in ends for a in (letters if b in _COMMON_ENDS else ("",))):
                name = (last + form)[-_SHORT:]
                signs[name + end] = (*signs.get(name + end, ()), (form, len(name) - len(form)))
    return signs


def _forms(word: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((word, word.capitalize(), word.upper())))


def _settings(table: Mapping[str, Any]) -> Iterator[Setting]:
    none = frozenset(table["values_that_are_none"])
    for group in ("passwords", "keys"):
        heads = _last_words(table[group])
        signs = _signs(heads, (*_ENDS, *_PROSE_ENDS) if group == "passwords" else (*_ENDS, "is"))
        yield Setting(
            name=group,
            keywords=tuple(signs),
            gate=None,
            places=_ascii_places(form for word in heads for form in _forms(word)),
            heads=heads,
            follows=_VALUE_FOLLOWS,
            public=tuple(table["public"]),
            none=none,
            signs=signs,
        )
    elsewhere, others = table["passwords_elsewhere"], table["keys_elsewhere"]
    follows_elsewhere = _follows_elsewhere(table["joins"])
    for group, names, follows in (
        ("variables", table["variables"], _VARIABLE_FOLLOWS),
        ("elsewhere", [*elsewhere, *map(_as_json, elsewhere)], follows_elsewhere),
        ("keys elsewhere", [*others, *map(_as_json, others)], follows_elsewhere),
    ):
        keywords = tuple(name + end for name in names for end in "=:：") if group == "variables" else tuple(names)
        before: dict[str, tuple[str, ...]] = {name.lower(): () for name in names}
        places = _ascii_places(names) if group == "variables" else _places(names)
        yield Setting(group, keywords, None, places, before, follows, tuple(table["public"]), none, {})


def _follows_elsewhere(joins: Iterable[str]) -> re.Pattern[str]:
    """What stands between a name that is written as it is and its value: a colon, a word of `joins`, a blank.

    Up to five words, or six characters of a script without blanks, say in front of that whose it is.
    """
    words = "|".join(sorted(map(re.escape, joins), key=len, reverse=True))
    between = r"(?:(?:[ \t_-][^\W\d_]{1,20}){1,5}?|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,6}?)"
    joined = rf"[ \t]{{0,2}}(?:{words})[ \t：:]{{1,3}}|[ \t]{{0,2}}(?:是|为|為|成|は|が|を|는|은|가|이)[ \t：:]{{0,3}}"
    join = rf"(?P<join>{between}?(?:[ \t]{{0,4}}{_SEPARATOR}|{joined})|[ \t]{{1,4}})"
    return warm.pattern(rf"{_AROUND}(?:（[^（）\n]{{1,20}}）)?(?:{_SEPARATOR}|{join}){_OPENING}")


def _headers(table: Mapping[str, Any]) -> Iterator[Header]:
    names = [form for name in table["headers"] for form in dict.fromkeys((name, name.lower(), name.upper()))]
    written = "|".join(name.replace("-", r"\\?-") for name in names)
    yield Header(
        "header",
        tuple(name + end for name in names for end in (":", "=", "：", ",")),
        None,
        warm.pattern(
            rf"""(?:{written})\\{{0,4}}["'`*]{{0,3}}(?:\s?(?:=>|[:=：])|(?<=["']),)\s{{0,2}}\\{{0,4}}[fb]?["'`]?"""
            r"(?:(?:[Bb]asic|BASIC|[Bb]earer|BEARER|[Tt]oken|[Aa]pi[Kk]ey|SSWS|[Dd]igest|AWS4-HMAC-SHA256|KakaoAK|Negotiate|NTLM)\s)?"
            r"(?P<secret>(?![$<*{(\[%]|username=[\"'])(?=[^\n\d\"'<>]{0,200}[0-9=])"
            r"[^\n\"'<>`\\ \u3000-\u9fff，；。]{7,4000}"
            r"(?:[;,] [\w.%-]{1,60}=[^\n\"'<>`\\;, ]{0,2000}){0,60})"
        ),
    )
    yield Header(
        "cookie",
        ("Cookie:", "cookie:", "Cookie=", "Cookie："),
        None,
        warm.pattern(
            r"""[Cc]ookie\\{0,4}["']?\s?[:：]\s?\\{0,4}["'](?P<secret>[^"'\n]{7,4000})"""
            r"""|[Cc]ookie\s?[:：]\s?(?P<other>(?=[^\n]{0,300}?=[^\s;=&]{8})(?=[^\n]{0,300}?[0-9])[\w.%-]{1,80}=[^\n'<>`\\]{4,4000})"""
        ),
    )
    yield Header(
        "bearer",
        ("earer ", "EARER "),
        None,
        warm.pattern(r"(?:[Bb]earer|BEARER) (?P<secret>(?=[A-Za-z_.+/=-]{0,100}[0-9])[A-Za-z0-9_.+/=~-]{16,4000})"),
    )
    queries = "|".join(sorted(map(re.escape, table["queries"]), key=len, reverse=True))
    yield Header(
        "signed URL",
        tuple(f"{mark}{name}=" for name in table["queries"] for mark in ("?", "&", "amp;", "u0026")),
        None,
        warm.pattern(
            rf"(?:[?&]|&amp;|u0026)(?:{queries})=(?P<secret>(?![<$*{{])"
            r"(?=[^\s&\"'<>]{0,60}[0-9])[A-Za-z0-9_.+/=~%*!-]{12,3000})"
        ),
    )
    schemes = "|".join(sorted(map(re.escape, table["data_schemes"]), key=len, reverse=True))
    # What is written in the place of a password is none: user:password@, root:root@.
    nobody = (
        r"(?!(?i:user|username|login|root|<user>):(?i:pass|password|passwd|pwd|secret|root|x{2,20}|\*{2,20}|\.{3})@|guest:guest@|"
        r"[\w.-]{0,60}:[$%][{(]?\w{1,60}[)}%]?@)"
    )
    yield Header(
        "password in URL",
        ("://",),
        warm.pattern(r":(?:\\{0,4}/){2}[^\s/@]{0,60}:[^\s@]{1,200}@"),
        warm.pattern(
            rf"(?::(?:\\{{0,4}}/){{2}}{nobody}(?P<secret>[A-Za-z0-9._%+-]{{0,60}}:[^\s/:@<>\"'|]{{1,100}})@(?=[A-Za-z0-9\[])"
            rf"|(?:{schemes})(?:\+[a-z0-9]{{1,20}})?:(?:\\{{0,4}}/){{2}}{nobody}"
            r"(?P<other>[^\s/:@<>\"']{0,60}:(?!\d{1,5}/)[^\s<>\"'`，。]{1,200})@(?=[A-Za-z0-9\[]))"
        ),
        warm.pattern(rb"://[^\s/@]{0,240}:[^\s@]{0,800}@"),
    )
    for row in table["command"]:
        yield Header(
            "command",
            tuple(row["keywords"]),
            late(row["gate"]) if "gate" in row else None,
            late(row["pattern"]),
            late(row["start"].encode()) if "start" in row else None,
            is_judged=row.get("judged", False),
            none=frozenset(table["values_that_are_none"]),
        )


@cache
def setting_rules() -> tuple[Setting | Header, ...]:
    """The groups of settings.toml."""
    table = warm.table(resources.files("pipeline").joinpath("data/secrets/settings.toml").read_text("utf-8"))
    return (*_headers(table), *_settings(table))
