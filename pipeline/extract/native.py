"""Native diagnostics of a text: what compilers and runtimes print when they fail.

One cheap scan for literals gives candidate lines; the rules whose literal stood there are tried on that line in order,
the first that matches takes it; the block then grows over the stack or the notes below. What a compiler
lists is one failure; `Aborted (core dumped)` right below a diagnostic is its end, not another one. An error of another
program, or of which a row says that it stands for itself, is an error of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from pipeline import packs
from pipeline.extract import announced, bare, compiler, crash, foreign, glog, stacks, statusline
from pipeline.extract.rule import Block, Lazy, Rule, Where, is_apart
from pipeline.lexicon.codes import codes_in
from pipeline.records import Event, Frame, Severity, warm
from pipeline.text import prefixes
from pipeline.text.needed import Literals, Seen

#: What is looked at of one line: before the literal and behind it. Longer lines are data, not diagnostics.
_BEFORE, _BEHIND = 1500, 4000
_MOST_DETAIL = 4000
_MOST_MESSAGE = 1000
#: Of one line so many places are looked at that a pattern matches, each with so much of what stands before it.
_MOST_PLACES, _LEAD = 4, 400


#: Source code that writes such a message, tests that expect one, printf and stream placeholders.
_LISTING = warm.pattern(
    r"(?:printf|LOG\(|cerr|cout|throw |raise |assert\w*\(|CHECK(?:-\w+)?:|expected-error|std::|logger\."
    r"|print\(|RUN:|REQUIRE"
    r"|#define|re\.(?:compile|search|match)|grep|->| in str\(|except |if )[^\n]{0,300}$"
)
_PLACEHOLDER = warm.pattern(r"%(?:[sdlux]|ld|lu)\b|<<|\{\}|\$\{|\\\"|\"\s*\+(?!\")|\{\w{1,20}\}")
_FORMAT = warm.pattern(r"%[sdvq](?![A-Za-z\d])|\$\{\w|\" *\+ ?[\w\"]")
#: A log line that calls itself a warning or a remark.
_WARNING = warm.pattern(
    r"(?:: [WI] |\b[WI]\d{4} \d\d:\d\d:[\d.]{2,24} {1,8}\d{1,9} |^[WI] "
    r"|\[[WI]\d{4}-\d\d-\d\d [\d:.,]{8,18} {1,4}\d{1,9} "
    r"|\[W )[\w./-]{1,200}:\d{1,6}\]|\bNCCL INFO "
)
#: The same where Python's logging or a server printed the line: its level stands behind the time or before the logger.
_REMARK = warm.pattern(
    r"^[^\n]{0,80}?(?:\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t|:-]{1,6}|^)"
    r"\[?(?:INFO|DEBUG|WARN|WARNING)\]?(?:[ \t]?[|:-]|[ \t]+\[?[\w./-]{1,80}(?:\]|:\d))"
)
#: Dialects of loggers that print the exceptions of languages in which those are classes, and such a class.
_LOGS = frozenset({"java-log", "log", "android"})
_LOGGED = warm.pattern(
    r"(?<![\w.$])(?P<type>(?:[A-Za-z_$][\w$]{0,60}\.){0,12}[A-Z][\w$]{2,80}(?:Exception|Error))(?=: |[;.]? *$|; )"
)
#: A name between marks of quoting; where another mark closes it, as linkers have it, the last one is markup.
_QUOTED_END, _QUOTED = warm.pattern(r"`[^`'\n]{1,300}`\Z"), 302
_COLOUR_END = warm.pattern(r"\x1b\[[0-9;]{0,8}m\Z")
_WRAP = warm.pattern(r"\s*\n\s*")
_ESCAPED_BREAK = warm.pattern(r"\\{1,2}n")
_ESCAPED_MARK = warm.pattern(r"\\([\"'/\\])")
#: Lines that may stand between two diagnostics of one compiler run, or between a failure and its `Aborted`.
_JOIN_LINES, _JOIN_WIDTH = 12, 3000
_TRAIL_LINES = 4
#: A compiler counts the errors of one source: what follows is another source's.
_COUNTED = Lazy(r"\b\d{1,6} errors? (?:detected in the compilation of|generated)\b")
#: A command that somebody types between two errors: they are of two programs.
_COMMAND = warm.pattern(r"(?m)^(?:\([\w.-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}[: ][^\n$#]{0,80})?[$#] [\w./~]")


class _Rules(NamedTuple):
    """All rules in the order in which they are tried, and by the literals that call for them."""

    rules: tuple[Rule, ...]
    by_trigger: dict[str, frozenset[int]]


@packs.cached
def _rules() -> _Rules:
    rules = (
        *(*crash.RULES, *announced.of_natives(generic=False)),
        *(*glog.RULES, *compiler.RULES, *statusline.RULES, *announced.of_natives(generic=True)),
        *(*announced.rules(), *compiler.GENERIC),
    )
    by_trigger: dict[str, set[int]] = {}
    for index, rule in enumerate(rules):
        for trigger in rule.triggers:
            by_trigger.setdefault(trigger, set()).add(index)
    return _Rules(rules, {trigger: frozenset(numbers) for trigger, numbers in by_trigger.items()})


@packs.cached
def literals() -> tuple[str, ...]:
    """What `events` wants to have been looked for."""
    return (*_rules().by_trigger, *foreign.PROSE_LITERALS)


@packs.cached
def _alone() -> Literals:
    return Literals(literals())


def events(text: str, seen: Seen | None = None) -> list[Event]:
    """The native diagnostics of `text`, by start, not overlapping; `seen` tells where the literals stand."""
    return [event for event, _ in found(text, seen)]


def found(text: str, seen: Seen | None = None) -> list[tuple[Event, Rule]]:
    """The same with the rule that found each."""
    seen = _alone().seen(text) if seen is None else seen
    blocks = joined(text, sorted(_blocks(text, seen), key=lambda block: (block.start, -block.end)))
    return [(_event(text, block), block.rule) for block in blocks]


@announced.LINES.tested
def _hits(text: str) -> list[announced.Line]:
    return announced.named(rule.name for _, rule in found(text))


def _blocks(text: str, seen: Seen) -> Iterator[Block]:
    for start, stop, rules in _candidates(text, seen):
        line = text[start:stop]
        if line[-1:].isspace():
            line = line.rstrip()
        end = start + len(line)
        for rule in rules:
            if rule.needs and not _holds(line, rule.needs):
                continue
            match = _match(text, rule, start, end)
            if match and not _is_listing(text, match, rule):
                yield _block(text, rule, match)
                break
    yield from foreign.prose_blocks(text, seen)


def _match(text: str, rule: Rule, start: int, end: int) -> re.Match[str] | None:
    if rule.where == Where.ANYWHERE:
        return rule.pattern.search(text, start, end)
    for match in islice(rule.pattern.finditer(text, start, end), _MOST_PLACES):
        before = text[max(start, match.start() - _LEAD) : match.start()]
        if bare.is_first(before) or (rule.where == Where.SHOWN and (bare.is_led(before) or not start)):
            return match
    return None


def _holds(line: str, literals: Iterable[str]) -> bool:
    # a plain loop: this is asked of every line with a common word, and a generator costs more than the search
    for literal in literals:  # noqa: SIM110
        if literal in line:
            return True
    return False


def _candidates(text: str, seen: Seen) -> Iterator[tuple[int, int, tuple[Rule, ...]]]:
    """Lines that hold a literal, each once, with the rules to try on it in order."""
    lines: dict[int, tuple[int, frozenset[int]]] = {}
    by_trigger = _rules().by_trigger
    for trigger, places in seen.items():
        rules = by_trigger.get(trigger)
        if rules is None:
            continue
        end, skipped = -1, int(trigger[0] == "\n")
        for at in places:
            if at < end:
                continue
            first = at + skipped
            start = max(text.rfind("\n", max(first - _BEFORE, 0), first) + 1, first - _BEFORE, 0)
            known = lines.get(start)
            if known is not None and known[0] - start < _BEFORE:
                end = known[0]
            else:
                end = text.find("\n", first, first + _BEHIND)
                end = min(first + _BEHIND, len(text)) if end < 0 else end
            lines[start] = (end, rules) if known is None else (known[0], known[1] | rules)
    for start in sorted(lines):
        end, numbers = lines[start]
        yield start, end, _in_order(numbers)


@lru_cache(maxsize=8192)  # lines of a log call for the same ones
def _in_order(numbers: frozenset[int]) -> tuple[Rule, ...]:
    """The rules of those numbers, in the order in which they are tried."""
    return tuple(map(_rules().rules.__getitem__, sorted(numbers)))


def _is_listing(text: str, match: re.Match[str], rule: Rule) -> bool:
    """Whether the line is source code about the message rather than the message."""
    line = text.rfind("\n", max(match.start() - 300, 0), match.start()) + 1
    before = text[max(line, match.start() - 300) : match.start()]
    if _LISTING.search(before):
        return True
    if rule.is_of_pack:  # other languages' errors may hold braces and operators
        said = _said_at(match)
        return _FORMAT.search(text, said, min(match.end(), said + 200)) is not None  # a place may name a variable
    return bool(_PLACEHOLDER.search(match[0][:200]) and re.search(r"%[sd]\b|\{\}|<<|\" *\+(?!\")", match[0][:200]))


def _block(text: str, rule: Rule, match: re.Match[str]) -> Block:
    groups = match.groupdict(default="")
    start = _line_start(text, match.start())
    end = match.end()
    prefix = prefixes.carrier_width(text[start : match.start() + 1]) if rule.goes_on else 0
    if rule.goes_on:
        end = _grown(text, rule, end, is_prefixed=prefix > 0)
    message = _message(rule, match)
    if rule.says_more and (more := rule.says_more.search(*_said(text, match.start(), end, is_prefixed=prefix > 0))):
        told = more.groupdict()
        message = told.pop("msg", None) or _unescaped(told.pop("string", None) or "") or message
        groups |= {name: words for name, words in told.items() if words and not groups.get(name)}
    above: dict[str, str | None] = {}
    if named := _line_above(text, rule, start):
        above, start = named.groupdict(), named.start()
        message = above.get("msg") or message
        groups |= {name: words for name, words in above.items() if words and not groups.get(name)}
    return Block(
        rule=rule,
        start=start,
        at=_said_at(match),
        end=end,
        message=message,
        exception_type=above.get("type") or announced.filled(rule.type, groups) or groups.get("type") or None,
        file=groups.get("file") or groups.get("path") or None,
        line=_number(groups.get("line") or groups.get("row") or ""),
        function=groups.get("function") or None,
        source=Frame(groups["source"], _number(groups.get("source_line", "")), None) if groups.get("source") else None,
        codes=tuple(code for one in rule.codes if not (code := announced.filled(one, groups)).endswith(":") and code),
    )


def _number(digits: str) -> int | None:
    return int(digits) if digits.isdecimal() else None


def _line_above(text: str, rule: Rule, start: int) -> re.Match[str] | None:
    """What the line before `start` says, where the rule looks at it."""
    if not rule.named_above or not start:
        return None
    return rule.named_above.match(text, max(text.rfind("\n", 0, start - 1) + 1, start - 300), start)


def _message(rule: Rule, match: re.Match[str]) -> str:
    groups = match.groupdict(default="")
    said = groups.get("msg") or _unescaped(groups.get("string", "")) or match[0]
    return announced.filled(rule.message, groups) if rule.message else said


def _said_at(match: re.Match[str]) -> int:
    """Where the message begins."""
    return next((match.start(one) for one in ("msg", "string") if match.groupdict().get(one)), match.start())


def _unescaped(string: str) -> str:
    """What stands between the quotes of a string as JSON and Go print it; its line breaks stay escaped."""
    return _ESCAPED_MARK.sub(r"\1", string)


def _line_start(text: str, at: int) -> int:
    """Where the block begins: the start of its line, prefixes included, if the line begins near."""
    start = text.rfind("\n", max(at - 200, 0), at) + 1
    return start if start or at <= 200 else at


def _said(text: str, start: int, end: int, *, is_prefixed: bool) -> tuple[str, int, int]:
    """Where a block's words are searched: in the text, or in its lines without their prefixes."""
    if not is_prefixed:
        return text, start, end
    first, *rest = text[start:end].split("\n")
    plain = "\n".join([first, *(line[prefixes.carrier_width(line) :] for line in rest)])
    return plain, 0, len(plain)


def _grown(text: str, rule: Rule, end: int, *, is_prefixed: bool) -> int:
    """The end of the block: past each following line that goes on, behind its prefix where the first line has one."""
    assert rule.goes_on is not None
    kept = end
    for _ in range(rule.most_lines):
        at = text.find("\n", end)
        if at < 0 or not _goes_on(text, rule.goes_on, at + 1, is_prefixed=is_prefixed):
            break
        stop = text.find("\n", at + 1)
        end = len(text) if stop < 0 else stop
        if text[at + 1 : end].strip():
            kept = end
    return kept


def _goes_on(text: str, goes_on: Lazy, line: int, *, is_prefixed: bool) -> bool:
    if goes_on.match(text, line, min(line + 600, len(text))):
        return True
    prefix = prefixes.carrier_width(text[line : line + prefixes.WIDEST_PREFIX].partition("\n")[0]) if is_prefixed else 0
    # sliced, so that a rule's `^` stands behind the prefix
    return prefix > 0 and goes_on.match(text[line + prefix : line + 600]) is not None


def _event(text: str, block: Block) -> Event:
    whole = text[block.start : block.end]
    message = _clean(block.message)
    found = stacks.listed(whole)
    if not found and (block.file or block.function):
        found = (Frame(block.file, block.line, _clean(block.function) if block.function else None),)
    if block.source is not None:
        found = (block.source, *found)
    before = text[max(block.start, block.at - 200) : block.at]
    return Event(
        dialect=block.rule.dialect,
        exception_type=block.exception_type or _logged_class(block.rule, message),
        message=message,
        detail=_detail(_own(text, block), block, message)[:_MOST_DETAIL],
        frames=found,
        chain=(),
        codes=tuple(sorted({*codes_in(_own(text, block)[:_MOST_DETAIL]), *block.codes})),
        start=block.start,
        end=block.end,
        is_truncated=message.endswith(("...", "…")),
        severity=_severity(block, before, message),
    )


def _logged_class(rule: Rule, message: str) -> str | None:
    """The exception that a logger's words name before a colon or at their end: "no heat: kiln.ColdException"."""
    named = _LOGGED.search(message) if rule.dialect in _LOGS else None
    return named["type"] if named is not None else None


def _own(text: str, block: Block) -> str:
    """The block without the other errors of a list, where a pack's row announced it: each of them is its own."""
    is_list = block.said and block.rule.is_of_pack
    return text[block.start : block.said if is_list else block.end]


def _detail(whole: str, block: Block, message: str) -> str:
    """The block behind its prefixes; of a row of a pack the message, which is the error, and the lines below."""
    if block.rule.is_of_pack:
        _, newline, rest = _plain(whole, block).partition("\n")
        return f"{message}{newline}{_trimmed(rest)}".rstrip()
    return _trimmed(_plain(whole, block) if prefixes.carrier_width(whole[: block.at - block.start + 1]) else whole)


def _plain(whole: str, block: Block) -> str:
    """The lines of a block behind their prefixes."""
    return "\n".join(line[prefixes.carrier_width(line) :] for line in whole.split("\n"))


def _severity(block: Block, before: str, message: str) -> Severity:
    # a sanitizer calls what it found a warning: "WARNING: ThreadSanitizer: data race"
    # and what carries a phone's log to a desk calls all of it a remark
    is_known = block.rule.dialect == "sanitizer" or message.startswith("Fatal signal ") or before.endswith("ERROR: ")
    is_logged = not is_known and (_WARNING.search(before) or _REMARK.search(before))
    if is_logged or foreign.is_warning(message):
        return Severity.WARNING
    if block.rule.dialect == "glog" and foreign.is_progress(message):
        return Severity.PROGRESS
    return Severity.INTERRUPTION if "received signal SIGINT" in message else block.rule.severity


def _clean(message: str) -> str:
    """The message up to an escaped line break, without trailing blanks and marks."""
    first = _ESCAPED_BREAK.split(message, maxsplit=1)[0]
    words = _trimmed(first).strip()
    return (_WRAP.sub(" ", words) if "\n" in words else words)[:_MOST_MESSAGE]


def _trimmed(text: str) -> str:
    """The text without blanks, markup, colours and escaped line breaks at its end."""
    size = -1
    while size != len(text):
        size = len(text)
        text = text.rstrip()
        if text.endswith("`") and _QUOTED_END.search(text, max(0, len(text) - _QUOTED)) is None:
            text = text.rstrip("`")
        text = text.removesuffix("\\n")
        if text.endswith("m") and (colour := _COLOUR_END.search(text, max(0, len(text) - 12))):
            text = text[: colour.start()]
    return text


def _without_overlap(blocks: list[Block]) -> list[Block]:
    kept: list[Block] = []
    for block in blocks:
        if kept and block.start < kept[-1].end:
            kept[-1].end = max(kept[-1].end, block.end)
        else:
            kept.append(block)
    return kept


def joined(text: str, blocks: list[Block]) -> list[Block]:
    """The blocks, given by start, without overlap, and with one failure's parts made one."""
    joined: list[Block] = []
    for block in _without_overlap(blocks):
        if joined and _yields(text, joined[-1], block):
            joined[-1] = block
        elif joined and _belongs(text, joined[-1], block):
            joined[-1].said = joined[-1].said or joined[-1].end
            joined[-1].end = block.end
            if block.rule.trails:
                joined[-1].codes += tuple(codes_in(text[block.start : block.end]))
        else:
            joined.append(block)
    return joined


def _yields(text: str, before: Block, block: Block) -> bool:
    """Whether the earlier line only announced what follows."""
    if not before.rule.yields or block.rule.trails or block.start - before.end > _JOIN_WIDTH:
        return False
    if before.rule.is_of_pack and before.rule.name == block.rule.name:
        return False  # the next line of a log announces no more than this one
    return text.count("\n", before.end, block.start) <= _JOIN_LINES


def _belongs(text: str, before: Block, block: Block) -> bool:
    gap = text[before.end : block.start] if block.start - before.end <= _JOIN_WIDTH else "```"
    if "```" in gap or "\n\n\n" in gap or _COMMAND.search(gap):
        return False
    lines = gap.count("\n")
    if block.rule.trails:
        if before.rule.exits and block.rule.dialect == "signal":
            return False
        return lines <= (_JOIN_LINES if block.rule.dialect == "build" else _TRAIL_LINES)
    if _lists(before, block):
        is_one = lines <= _JOIN_LINES and not _COUNTED.search(
            text, max(before.start, block.start - _JOIN_WIDTH), block.start
        )
        return is_one and not (before.rule.apart and block.rule.apart and is_apart(before, block, _listed))
    return lines <= 2 and _masked(block.message) == _masked(before.message)


def _lists(before: Block, block: Block) -> bool:
    """Whether both may be of one list: of one program, of which no row says that the later one stands for itself."""
    if not (block.rule.joins and before.rule.joins) or block.rule.dialect != before.rule.dialect:
        return False
    if block.function != before.function and not (block.file or before.file):
        return False
    return block.rule.follows is None or block.rule.follows.search(block.message) is not None


def _listed(block: Block) -> tuple[str, str, int, str]:
    """Code, file, line and message of an error of a list."""
    code = next(iter((*block.codes, *codes_in(block.message))), "")
    return code, block.file or "", block.line or 0, block.message


def _masked(message: str) -> str:
    return re.sub(r"\d+|0x[0-9a-f]+", "0", message)
