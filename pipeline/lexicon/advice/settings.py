"""Settings and words that switch a check off, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from pipeline.lexicon.advice import prose
from pipeline.lexicon.advice.tables import table

#: What stands between a name and its value: `x=0`, `x: 0`, `x 0`, `["x"] = "0"`, `"x", "0"`, `x => 0`.
_VALUE = (
    r"""["'`\]\)]{0,3}[ \t]{0,8}(?P<sign>=>|:=|==?|:|,|->)?[ \t]{0,8}(?P<open>["'`]?)(?P<value>[^\s"'`,;)\]}]{0,80})"""
)
_FLAGS = ("checks-off", "security-off", "safeguards-off")


@cache
def _names() -> tuple[re.Pattern[str], Mapping[str, tuple[str, frozenset[str]]]]:
    rows = {
        name.lower(): (kind, frozenset(values)) for kind in _FLAGS for name, values in table("settings")[kind].items()
    }
    listed = "|".join(re.escape(name) for name in sorted(rows, key=len, reverse=True))
    return re.compile(rf"(?<![\w])(?P<name>{listed})(?![\w-]){_VALUE}", re.IGNORECASE), rows


@cache
def _options() -> re.Pattern[str]:
    rows = table("settings")["options"]
    groups = (f"(?P<{kind.replace('-', '_')}>{'|'.join(map(re.escape, rows[kind]))})" for kind in _FLAGS)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])", re.IGNORECASE)


@cache
def _worded() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = table("settings")["words"]
    return tuple((kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, patterns in rows.items())


def faults(text: str) -> Iterator[str]:
    """The kinds of checks that `text`, made plain, switches off."""
    pattern, rows = _names()
    for found in pattern.finditer(text):
        kind, off = rows[found["name"].lower()]
        if _is_off(found, off, text):
            yield kind
    option = _options().search(text)
    if option is not None:
        yield str(option.lastgroup).replace("_", "-")
    low = text.lower()
    yield from (kind for kind, listed in table("settings")["names"].items() if any(name in low for name in listed))
    for kind, worded in _worded():
        if any(not prose.is_negated(text, found.start()) for found in worded.finditer(text)):
            yield kind
    yield from prose.faults(text)


def _is_off(found: re.Match[str], off: frozenset[str], text: str) -> bool:
    """True if the value behind a name is one that switches the check off."""
    value, sign = found["value"].lower().rstrip(".:"), found["sign"] or ""
    if sign == "=" and not found["open"] and re.match(r"=\s|=$", text[found.end("name") : found.end("name") + 2]):
        value = ""  # `export X= next`: a shell's, which has no space before the sign
    if "*" in off and (value or sign):
        return True
    if not value:
        return "" in off and (sign == "=" or bool(found["open"]))
    return value in off and not (found["name"] == "verify" and not sign)


def short_option_faults(words: list[str]) -> Iterator[str]:
    """`curl -k` and its like: letters that mean it for one program only; `words` are a command's, its name first."""
    name, *options = words
    for place, one in enumerate(options):
        if not re.match(r"-[a-zA-Z#-]+", one):
            continue
        if (name == "curl" and re.match(r"--(?:proxy-)?insec", one)) or (
            name.startswith("wget") and one.startswith("--no-check")
        ):
            yield "checks-off"
        if name == "curl" and "k" in _flags(one, "oHdFAbceTXuwxrymQtzKEC"):
            yield "checks-off"
        if name in ("http", "https") and one == "-k":
            yield "checks-off"
        if (
            name == "ssh"
            and one == "-o"
            and re.match(r"stricthostkeychecking=no", " ".join(options[place + 1 :]).lower())
        ):
            yield "checks-off"
        if name in ("npm", "yarn") and one == "-k":
            yield "checks-off"


def _flags(cluster: str, taking: str) -> str:
    """The letters of `-sSkL` that are options: what stands behind one that takes a value is its value."""
    letters = cluster[1:]
    for place, letter in enumerate(letters):
        if letter in taking:
            return letters[: place + 1]
    return letters
