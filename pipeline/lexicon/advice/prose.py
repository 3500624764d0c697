"""Dangerous advice in words, and settings and words that switch a check off, wherever they stand.

What is done to what is told by rows of `data/advice/prose.toml`, what a check is called by `settings.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from pipeline.lexicon.advice.tables import table
from pipeline.records import warm
from pipeline.text.needed import late

#: What may stand between an act and its object, in one clause.
_GAP = r"([^\n.;!?]{0,60}?)"
#: So far in front of an act a negation of the same clause stands.
_NEGATED = 40


#: Where a sentence ends.
_ENDS = warm.pattern(r"(?<=[.!?;])\s|\n|[。！？；]")
#: What stands in front of a sentence's first word.
_MARKS = " \t*_>#-+.)0123456789\"'`"
#: What stands between a name and its value: `x=0`, `x: 0`, `x 0`, `["x"] = "0"`, `"x", "0"`, `x => 0`.
_VALUE = (
    r"""["'`\]\)]{0,3}[ \t]{0,8}(?P<sign>=>|:=|==?|:|,|->)?[ \t]{0,8}(?P<open>["'`]?)(?P<value>[^\s"'`,;&)\]}]{0,80})"""
)
_FLAGS = ("checks-off", "security-off", "safeguards-off")


@cache
def rows() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """(kind, pattern) of each row."""
    return tuple((row["kind"], late("|".join(_forms(row)), re.IGNORECASE)) for row in table("prose")["row"])


def _forms(row: dict[str, Sequence[str]]) -> Iterator[str]:
    if "act" in row:
        act, thing = "|".join(row["act"]), "|".join(row["object"])
        yield rf"\b(?:{act})\b{_GAP}(?<!\w)(?:{thing})(?!\w)"
        if row.get("reversed"):
            passive = r"\b(?:is|are|was|be|been|being|get|gets)\b"
            yield rf"(?<!\w)(?:{thing})(?!\w)[^\n.;!?]{{0,24}}?{passive}[^\n.;!?]{{0,12}}?(?:{act}|off)\b"
            turn = r"\b(?:turn|switch|shut)\w{0,5}\b"
            yield rf"{turn}[^\n.;!?]{{0,24}}?(?<!\w)(?:{thing})(?!\w)[^\n.;!?]{{0,12}}?\boff\b"
    yield from row.get("pattern", ())


@cache
def _negation() -> re.Pattern[str]:
    listed = "|".join(table("prose")["negations"])
    return warm.pattern(
        rf"(?:\b(?:{listed})\b|(?:不要|切勿|请勿|禁止|无需|不需要|不必|别|不能|不应|没有|避免))[^,;.:!?\n，。；]{{0,30}}$",
        re.IGNORECASE,
    )


def is_negated(text: str, start: int) -> bool:
    """True if what begins at `start` is what the clause says not to do."""
    return _negation().search(text, max(0, start - _NEGATED), start) is not None


def faults(text: str) -> Iterator[str]:
    """The kinds of what `text`, made plain, tells people to do or to set."""
    for kind, pattern in rows():
        if any(not (is_negated(text, found.start()) or _is_against(found)) for found in pattern.finditer(text)):
            yield kind


def _is_against(found: re.Match[str]) -> bool:
    """True if what stands between an act and its object turns it round: "stored in git, so no secrets there"."""
    between = found[found.lastindex] if found.lastindex else ""
    return bool(between) and _negation().search(between) is not None


@cache
def _loose(name: str) -> re.Pattern[str]:
    return _words(table("prose")["loose"][name])


@cache
def _pairs() -> tuple[tuple[tuple[str, ...], re.Pattern[str], re.Pattern[str], re.Pattern[str]], ...]:
    """(parts of which a thing has one, thing, act of advice, act that counts where it helped) of each pair."""
    asked = table("prose")["loose"]["advice"]
    lead, did, opens, taken = ("|".join(asked[name]) for name in ("lead", "did", "opens", "object"))
    made = []
    for row in table("prose")["loose"]["pair"]:
        order, past, state = ("|".join(row.get(name, ())) or "(?!)" for name in ("order", "past", "state"))
        act = rf"(?:(?:^|[,:(\-]|\b(?:{lead})\b)\W{{0,4}}(?P<order>{order})|\b(?:{did}) (?P<past>{past}))(?![a-z0-9])"
        act += rf"|^(?:{opens})\b[^\n]{{1,60}}? (?P<placed>{order}) (?:{taken})\b"
        act += rf"|(?<![a-z0-9])(?P<state>{state})(?![a-z0-9])"
        made.append((tuple(row["words"]), _words(row["thing"]), late(act, re.IGNORECASE), _words([past])))
    return tuple(made)


def _words(listed: Sequence[str]) -> re.Pattern[str]:
    return late(rf"(?<![a-z0-9])(?:{'|'.join(listed)})(?![a-z0-9])", re.IGNORECASE)


@cache
def _helped() -> re.Pattern[str]:
    return _words(table("prose")["loose"]["advice"]["helped"])


def _gives_away(text: str) -> bool:
    """True if a sentence of advice hands over, opens, weakens or ignores a sensitive thing."""
    folded = text.lower()
    pairs = [pair[1:] for pair in _pairs() if any(word in folded for word in pair[0]) and pair[1].search(text)]
    if not pairs:
        return False
    helped = _helped().search(text) is not None
    for sentence in (part.lstrip(_MARKS) for part in _ENDS.split(text)):
        for thing, act, past in pairs:
            if thing.search(sentence) is None:
                continue
            starts = [found.start(found.lastgroup or 0) for found in act.finditer(sentence)]
            starts += [found.start() for found in past.finditer(sentence)] if helped else []
            if not all(is_negated(sentence, start) for start in starts):
                return True
    return False


def is_doubtful(text: str) -> bool:
    """True if a sentence does to what should be kept what may open it, show it, end it or give it away."""
    return _is_done(text) or _gives_away(text)


def _is_done(text: str) -> bool:
    thing, done = _loose("thing"), _loose("done")
    if thing.search(text) is None or done.search(text) is None:
        return False
    for sentence in _ENDS.split(text):
        found = done.search(sentence)
        if found is not None and thing.search(sentence) is not None and not is_negated(sentence, found.start()):
            return True
    return False


@cache
def _names() -> tuple[re.Pattern[str], Mapping[str, tuple[str, frozenset[str]]]]:
    rows = {
        name.lower(): (kind, frozenset(values)) for kind in _FLAGS for name, values in table("settings")[kind].items()
    }
    listed = "|".join(re.escape(name) for name in sorted(rows, key=len, reverse=True))
    return warm.pattern(rf"(?<![\w])(?P<name>{listed})(?![\w-]){_VALUE}", re.IGNORECASE), rows


@cache
def _options() -> re.Pattern[str]:
    rows = table("settings")["options"]
    groups = (f"(?P<{kind.replace('-', '_')}>{'|'.join(map(re.escape, rows[kind]))})" for kind in _FLAGS)
    return warm.pattern(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])", re.IGNORECASE)


@cache
def _worded() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = table("settings")["words"]
    return tuple((kind, warm.pattern("|".join(patterns), re.IGNORECASE)) for kind, patterns in rows.items())


def switched_off(text: str) -> Iterator[str]:
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
        if any(not is_negated(text, found.start()) for found in worded.finditer(text)):
            yield kind
    yield from faults(text)


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
