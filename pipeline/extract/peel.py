"""Prefixes that log collectors, launchers and quoting put before a line: found as typed spans, so offsets stay true."""

from __future__ import annotations

import re
from typing import NamedTuple

#: A line carries at most this many prefixes in a row (the corpus shows up to six).
MOST_PREFIXES = 8

#: What is looked at for prefixes; longer ones were not seen in 22,694 threads.
WIDEST_PREFIX = 400


class Prefix(NamedTuple):
    """One prefix of a line: `line[start:end]` and what kind of thing it is."""

    kind: str
    start: int
    end: int


_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
_ZONE = r"(?:\s?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
_LEVEL = r"(?:INFO|WARN|WARNING|ERROR|ERR|DEBUG|CRITICAL|CRIT|FATAL|TRACE|NOTICE|SEVERE)"

_WORKER = (
    r"\([^()\n]{0,80}\b(?:pid|rank|ip|node_id)=[^()\n]{1,100}\)"
    r"(?:(?:\x1b|\ufffd)?\[[0-9;]{0,8}m)?\s?"  # its colour may end before the blank behind it
)
_TIME = (
    rf"\[?(?:[A-Z][a-z]{{2}},? )?{_DAY}[T _-]{_CLOCK}{_ZONE}(?=[\]\s:,|>-]|$)"
    r"(?: (?:TP|DP|PP|EP)\d{1,4}){0,4}\]?[:,]?\s?"
)
_THREAD = (
    r"\[(?:MainThread|Thread-\d{1,6}|[\w.-]{1,60}:(?:error|warn|info)|pid \d{1,9}(?::tid \d{1,20})?"
    r"|(?:remote|client) [\d.:a-f]{1,50})\]\s?"
)

# One rule a line, tried in this order at the current column. All are anchored and bounded.
_RULES: tuple[tuple[str, str], ...] = (
    ("ansi", r"(?:\x1b|\ufffd|\^\[)\[[0-9;?]{0,16}[A-Za-z]"),
    ("ansi", r"\[[0-9]{1,2}(?:;[0-9]{1,3}){0,3}m"),
    ("quote", r">(?!>>)(?=[ \t>]|$)[ \t]?"),
    ("mpi", r"\[\d{1,5},\d{1,5}\](?:<std(?:err|out)>)?:\s?"),
    ("rank", r"\[(?:rank|default|default_rank|local_rank|r|gpu|worker|GPU|Rank|RANK)[ _:]?\d{1,6}\]:?\s?"),
    ("worker", _WORKER),
    (
        "syslog",
        rf"[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} {_CLOCK} [\w.-]{{1,64}} [\w./@-]{{1,64}}(?:\[\d{{1,8}}\])?:\s?",
    ),
    ("time", _TIME),
    ("time", rf"\[?(?:[A-Z][a-z]{{2}} )?[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} {_CLOCK}(?: \d{{4}})?\]?:?\s?"),
    ("time", rf"\d{{2}}[-/]\d{{2}}[ T]{_CLOCK}\s?"),
    ("time", rf"\[{_CLOCK}(?: ?[AP]M)?\]:?\s?"),
    ("time", rf"{_CLOCK}{_ZONE}(?: ?[AP]M)?(?=[\s|\]])\s?"),
    ("glog", rf"\[?[IWEF]\d{{3,4}} {_CLOCK} {{1,8}}(?:\d{{1,9}} {{1,4}})?[\w./-]{{1,120}}:\d{{1,6}}\]\s?"),
    ("level", rf"\[\s?{_LEVEL}\s{{0,3}}\][:\s]?"),
    ("level", rf"{_LEVEL}(?=[ :|\]\t-]|$)\s{{0,8}}[:|-]?\s?(?=\S|$)"),
    ("thread", _THREAD),
    ("place", r"\[?[\w./<>-]{1,120}\.(?:py|cc|cpp|cu|h|go|rs|c):\d{1,6}\]?:?\s?"),
    ("place", r"\[[\w./ -]{1,80}(?:[:#]\w{1,60}){0,3}:\d{1,6}\]:?\s?"),
    ("logger", r"\[[A-Za-z_][\w.]{2,80}\]\s(?=\S)"),
    ("build", r"#\d{1,4} \d{1,6}\.\d{1,4} ?"),
    ("container", r"[A-Za-z][\w./-]{0,63} {0,24}\|(?: |$)"),
    ("pytest", r"INTERNALERROR> ?"),
    ("pipe", r"[|\xa0] ?(?=\d{4}-|[\xa0|])"),
    ("dash", r"(?:--|-|\|) (?=\S)"),
)
#: These are prefixes only behind another one: alone at the head of a line they are lists, code, prose.
_NEVER_FIRST = frozenset(("dash", "logger"))
_CARRIERS = frozenset(("ansi", "quote", "mpi", "rank", "worker", "syslog", "time", "container", "build"))
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _RULES)
#: All rules at once: most lines have no prefix, and one attempt tells.
_ANY = re.compile("|".join(pattern for _, pattern in _RULES))

# A line whose first character is none of these has no prefix that the grammar knows.
_FIRST = re.compile(r"[\x1b\ufffd^\[>(#|A-Z0-9a-z\xa0]")


def prefixes(line: str) -> tuple[Prefix, ...]:
    """The prefixes at the head of one line, in order; none for most lines."""
    if not line or not _FIRST.match(line):
        return ()
    found: list[Prefix] = []
    column = 0
    while len(found) < MOST_PREFIXES and column < WIDEST_PREFIX:
        step = _next(line, column)
        if step is None:
            break
        found.append(step)
        column = step.end
    return tuple(found)


def _next(line: str, column: int) -> Prefix | None:
    if _ANY.match(line, column) is None:
        return None
    for kind, rule in _COMPILED:
        if column == 0 and kind in _NEVER_FIRST:
            continue
        hit = rule.match(line, column)
        if hit is not None and hit.end() > column:
            return Prefix(kind, column, hit.end())
    return None


def width(line: str) -> int:
    """How many characters of the line are prefixes."""
    found = prefixes(line)
    return found[-1].end if found else 0


def carrier_width(line: str) -> int:
    """How much of the line was put before it by whoever carried it: a log collector, a launcher, a quoting reader.

    Levels, loggers and places in source files are the program's own words and end it.
    """
    end = 0
    for one in prefixes(line):
        if one.kind not in _CARRIERS:
            break
        end = one.end
    return end


# What tells one stream of a log from another keeps its digits; all other digits (times, line numbers) may vary.
_IDENTITY = re.compile(r"(?:rank|default|pid|Rank|RANK|TP|DP|PP|worker|Worker|GPU)[ =_:]{0,2}\d+|\[\d+,\d+\]")
_VARIES = re.compile(r"\d+|[A-Za-z]*(?:ERROR|WARNING|INFO|CRITICAL|DEBUG) *|\s+|[^\d\s]")


#: A name and its number and nothing else (`worker-3:`, `0:`): two lines with the same one are of the same stream.
_NUMBERED = re.compile(r"[\[(<]{0,2}[A-Za-z_. -]{0,24}\d{1,5}[\])>:| ]{0,3}$")


def shape(prefix: str, *, is_fixed: bool = False) -> re.Pattern[str]:
    """A pattern for lines of the same stream: as `prefix`, with other times, line numbers and paddings.

    `is_fixed`: two lines of the stream were seen to carry the very same one.
    """
    core = prefix.rstrip()
    trail = re.escape(prefix[len(core) :])  # exact: what follows it is indentation
    if is_fixed and _NUMBERED.match(core):
        return re.compile(re.escape(core) + trail)
    out: list[str] = []
    at = 0
    for kept in _IDENTITY.finditer(core):
        out += _loosen(core[at : kept.start()])
        out.append(re.escape(kept.group()))
        at = kept.end()
    out += _loosen(core[at:])
    return re.compile("".join(out) + trail)


def _loosen(piece: str) -> list[str]:
    out: list[str] = []
    for token in _VARIES.findall(piece):
        if token.isdigit():
            out.append(r"\d{1,20}")
        elif token.isspace():
            out.append(f"[ \\t]{{1,{len(token) + 12}}}" if len(token) > 1 else re.escape(token))
        else:
            out.append(re.escape(token))
    return out
