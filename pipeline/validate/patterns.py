"""Rules about the regex: RE2, bounded, quick, and right about members and strangers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import duckdb

from pipeline.validate.problem import Context, Finding, Raw, Rule, text

#: Escapes that match one character of a wide class: repeated without bound they run over whole logs.
_WIDE_ESCAPES = frozenset("SDWNX")
#: Hostile text: 100 kB of the regex's own words.
_HOSTILE_CHARACTERS = 100_000
#: RE2 needs 2 ms for the longest of our regexes on a loaded machine; a hundred times that is no accident.
_MOST_SECONDS = 0.5
_SLOT = re.compile(r"<[a-z_]+>")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|\(\?[a-zA-Z:<>=!-]*|.", re.DOTALL)
_LITERAL = re.compile(r"[A-Za-z][A-Za-z0-9 :,_]{2,80}")


@lru_cache(maxsize=1)
def _engine() -> duckdb.DuckDBPyConnection:
    """DuckDB in memory: its regexp functions are RE2."""
    return duckdb.connect(":memory:", config={"threads": 1})


def _matches(regex: str, texts: tuple[str, ...]) -> list[bool]:
    sql = "SELECT regexp_matches(t, $regex) FROM (SELECT unnest($texts::VARCHAR[]) AS t)"
    return [found for (found,) in _engine().execute(sql, {"regex": regex, "texts": list(texts)}).fetchall()]


@lru_cache(maxsize=4096)
def _examined(regex: str) -> tuple[str | None, float]:
    """(why RE2 refuses `regex` or None, seconds spent on hostile text): one compilation for both questions."""
    began = time.process_time()  # a rule may look at how long it takes; the time itself goes nowhere
    try:
        _matches(regex, (hostile(regex),))
    except duckdb.Error as error:
        return str(error).splitlines()[0].removeprefix("Invalid Input Error: "), 0.0
    return None, time.process_time() - began


def compile_error(regex: str) -> str | None:
    """Why RE2 refuses `regex`, None if it takes it."""
    return _examined(regex)[0]


def _usable(raw: Raw, context: Context) -> str | None:
    regex = text(raw, "regex")
    is_good = regex in context.proven or (bool(regex) and compile_error(regex or "") is None)
    return regex if is_good else None


def _compiles(raw: Raw, context: Context) -> Iterator[Finding]:
    regex = text(raw, "regex")
    if regex is None or regex in context.proven:
        return
    reason = "an empty regex matches everything" if not regex else compile_error(regex)
    if reason:
        yield "regex", f"RE2 refuses it: {reason}"


def _bounded(raw: Raw, _context: Context) -> Iterator[Finding]:
    for gap in unbounded_gaps(text(raw, "regex") or ""):
        yield "regex", f"{gap} has no bound; write {{0,200}} or less"


def unbounded_gaps(regex: str) -> list[str]:
    """The parts of `regex` that can run over any length of text: wide classes and groups, repeated without bound."""
    gaps = []
    tokens = _TOKEN.findall(regex)
    for atom, repeat in pairwise(tokens):
        is_open = repeat in ("*", "+") or (repeat.startswith("{") and repeat.endswith(",}"))
        if is_open and _is_wide(atom):
            gaps.append(atom + repeat)
    return gaps


def _is_wide(atom: str) -> bool:
    if atom in (".", ")"):  # a group may hold a gap or a repeat
        return True
    if atom.startswith("[^"):
        return True
    return len(atom) == 2 and atom[0] == "\\" and atom[1] in _WIDE_ESCAPES


def _quick(raw: Raw, context: Context) -> Iterator[Finding]:
    regex = text(raw, "regex")
    if regex is None or regex in context.proven or _usable(raw, context) is None:
        return
    spent = _examined(regex)[1]
    if spent > _MOST_SECONDS:
        yield "regex", f"took {spent:.1f} s on {_HOSTILE_CHARACTERS // 1000} kB of hostile text"


def hostile(regex: str) -> str:
    """100 kB of the words that `regex` looks for, so that it begins to match everywhere and ends nowhere."""
    words = " ".join(_LITERAL.findall(regex)[:-1]) or "a"
    return (words * (_HOSTILE_CHARACTERS // len(words) + 1))[:_HOSTILE_CHARACTERS]


def _members(raw: Raw, context: Context) -> Iterator[Finding]:
    regex, signature = _usable(raw, context), text(raw, "signature")
    if regex is None:
        return
    own = () if signature is None or context.members or _SLOT.search(signature) else (signature,)
    wanted = own + context.members
    for message, found in zip(wanted, _matches(regex, wanted) if wanted else [], strict=True):
        if not found:
            yield "regex", f"it does not match its own {message[:120]!r}"


def _strangers(raw: Raw, context: Context) -> Iterator[Finding]:
    regex = _usable(raw, context) if context.foreign else None
    if regex is None:
        return
    for message, found in zip(context.foreign, _matches(regex, context.foreign), strict=True):
        if found:
            yield "regex", f"it matches another error: {message[:120]!r}"


RULES = (
    Rule("regex_compiles", "The regex is one that RE2 takes.", _compiles),
    Rule("regex_bounded", "No gap of the regex is unbounded.", _bounded),
    Rule("regex_linear", "The regex takes linear time on hostile text.", _quick),
    Rule("regex_matches_members", "The regex matches every member.", _members),
    Rule("regex_no_strangers", "The regex matches no other cluster's member.", _strangers),
)
