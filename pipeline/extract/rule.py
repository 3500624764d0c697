"""What a rule for a native diagnostic is, and the block of text that one application of it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from sys import maxsize
from typing import Protocol, TypeVar

from pipeline.records import Frame, Severity, warm
from pipeline.text import needed


class Lazy:
    """An expression that is compiled when it is first tried: of two hundred rules a text asks for a few.

    `^` and `$` mean the ends of a line. What its methods do, those of `re.Pattern` do; where a text lacks a literal
    that the expression asks for, it is not searched at all.
    """

    __slots__ = ("_needed", "_tried", "flags", "pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags
        self._tried: re.Pattern[str] | None = None
        self._needed: tuple[needed.Clause, ...] | None = None

    def _compiled(self) -> re.Pattern[str]:
        self._tried = tried = warm.pattern(self.pattern, self.flags | re.MULTILINE)
        return tried

    def _may_match(self, text: str, start: int, end: int) -> bool:
        """Whether the literals stand there without which nothing matches."""
        if self._needed is None:
            self._needed = needed.clauses(self.pattern, self.flags)
        return needed.stand(self._needed, text, start, end)

    def search(self, text: str, start: int = 0, end: int = maxsize) -> re.Match[str] | None:
        """The first place."""
        if not self._may_match(text, start, end):
            return None
        return (self._tried or self._compiled()).search(text, start, end)

    def match(self, text: str, start: int = 0, end: int = maxsize) -> re.Match[str] | None:
        """At the start."""
        return (self._tried or self._compiled()).match(text, start, end)

    def finditer(self, text: str, start: int = 0, end: int = maxsize) -> Iterator[re.Match[str]]:
        """Every place."""
        if not self._may_match(text, start, end):
            return iter(())
        return (self._tried or self._compiled()).finditer(text, start, end)


class Where(StrEnum):
    """Where on its line what a rule finds may stand."""

    ANYWHERE = "anywhere"
    SHOWN = "shown"  # it begins the line, behind prefixes and marks, or words lead to it: `I get the error: `
    START = "start"  # it begins the line, behind prefixes and marks


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of diagnostic line is found and how far its block goes.

    `pattern` is searched in one line that holds a trigger. Its groups: `msg` the message (without it all that matched);
    where there are any `type`, `file`, `line`, `function`, and `source`, `source_line`: what a tool was reading when it
    failed at that place in itself. A tool that prints its error in several forms has a rule for
    each. `goes_on` is matched at the start of each following line: the block ends where it fails.
    """

    name: str
    dialect: str
    triggers: tuple[str, ...]
    pattern: Lazy
    message: str = ""  # the message made of groups, where no group is it: "GGML_ASSERT({condition}) failed"
    needs: tuple[str, ...] = ()  # one of these stands in the line, else the pattern is not tried (it is slower)
    goes_on: Lazy | None = None
    most_lines: int = 120  # of what goes on; longer stacks are cut
    says_more: Lazy | None = None  # searched in the block: group `msg` replaces the message, others are added
    named_above: Lazy | None = None  # the line before, where it may name the exception (`type`) or what failed (`msg`)
    joins: bool = False  # neighbours of this dialect are one failure (a compiler's list of errors)
    apart: bool = False  # where it joins: one of another code, or the first of another file, is an error of its own
    follows: Lazy | None = None  # of neighbours that join, only a message in which this is found goes on with one above
    exits: bool = False  # its program ends with it in good order: a crash below is another program's
    trails: bool = False  # only the end of another diagnostic where one stands right before (Aborted, ninja stopped)
    yields: bool = False  # gives way to a diagnostic that follows within a few lines
    severity: Severity = Severity.ERROR
    type: str = ""  # what the failure is called, made of groups, where no group is it: "TS{number}"
    codes: tuple[str, ...] = ()  # made of groups: "sqlstate:{code}"; one whose groups are empty is left out
    where: Where = Where.ANYWHERE
    is_of_pack: bool = False  # a row of a pack is the rule: nothing is known of its program but that row


#: Errors of one list that stand for themselves; whoever has more mends the first ones first.
MOST_APART = 5
#: What ends a list, what comes of an error above, what only says with which place that one has to do.
_CONCLUDES = warm.pattern(
    r"\b(?:LNK1120|LNK1169|C(?:1003|1903|2059|2064|2143|2146|2220|3536|4430)|CS1705|MSB\d{4}|NETSDK1194)\b"
    r"|too many errors"
    r"|^(?:candidates? (?:is|are)|(?:the )?previous|at this point|within this context|forward declaration|called from"
    r"|ambiguates|in expansion|instantiated|required from|initializing argument|internal error)\b|has a previous"
)
#: What is missing is another one each time: a header, a package, a module.
_LACKS = warm.pattern(
    r"No such file or directory|file not found|[Cc]annot find (?:module|package)|unresolved import|can't find crate"
    r"|undeclared crate|no required module|[Cc]annot open include file|package [\w.]{1,200} does not exist"
)
#: A code that begins a message.
_CODED = warm.pattern(r"[A-Z]{1,8}\d{3,5}(?=:)")


@dataclass(slots=True)
class Listed:
    """The errors of one compiler's list: a consequence of one above, or more of the same, is no error of its own."""

    codes: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    last: tuple[str, int] = ("", 0)  # file and line of the one that was told last
    count: int = 0  # of those that stand for themselves

    def tells(self, code: str, file: str, line: int, message: str) -> bool:
        """Whether an error of the list, which is taken in, stands for itself: of another code, file or package."""
        words = _QUOTED.sub("''", message)
        coded = _CODED.match(message)
        code = code or (coded[0] if coded is not None else "")
        is_near = file == self.last[0] and abs(line - self.last[1]) <= 1
        is_new = code not in self.codes if code else bool(file) and file not in self.files and words not in self.words
        is_new = is_new or (_LACKS.search(message) is not None and message not in self.words)
        is_apart = is_new and not is_near and self.count < MOST_APART and _CONCLUDES.search(message) is None
        self.codes.add(code)
        self.files.add(file)
        self.words.update((words, message))
        self.last, self.count = (file, line), self.count + is_apart
        return is_apart


class OfList(Protocol):
    """A block that may be one of a compiler's list."""

    listed: Listed | None


One = TypeVar("One", bound=OfList)


def is_apart(before: One, block: One, said: Callable[[One], tuple[str, str, int, str]]) -> bool:
    """Whether the next error of a list stands for itself; `said`: code, file, line and message of one."""
    if before.listed is None:
        before.listed = Listed()
        before.listed.tells(*said(before))
    block.listed = before.listed
    return before.listed.tells(*said(block))


_QUOTED = warm.pattern(r"['\"`‘“][^'\"`’”\n]{0,300}['\"`’”]|\d+")


@dataclass(slots=True)
class Block:
    """One application of a rule: offsets in the text, message and place."""

    rule: Rule
    start: int
    end: int
    message: str
    exception_type: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None
    source: Frame | None = None  # what the tool was reading as it failed at a place of its own
    at: int = 0  # where the pattern matched, behind the line's prefixes
    codes: tuple[str, ...] = ()
    said: int = 0  # where its own words end, if others of a list were joined to it
    listed: Listed | None = None  # what the list of which it is one has told


_IN_PATH = r"[^\s:()\"'`<>|,;=]"
#: A path as tools print it before a line number. Bounded, no blanks: Windows drives are allowed. It begins where its
#: run of letters does: tried at every letter of a line of data, it took 20 ms a line.
PLACE = rf"(?P<file>(?:[A-Za-z]:[\\/]|(?<!{_IN_PATH})){_IN_PATH}{{1,300}})"
