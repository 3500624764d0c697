"""What a text must hold, and how it must begin, for an expression to match; nothing else is tried on it.

What is needed is read off the expression itself. `str.find` tells in a tenth of a microsecond that a line lacks a word;
an expression needs ten and more to fail. What is worked out here is never guessed: where an expression leaves it open,
nothing is needed.

Which of a hundred literals stand in a text, `Literals` finds in one pass: `str.find` once for each costs 0.05 s a
literal for 100 MB of text, five seconds in all. An automaton (Aho and Corasick 1975) takes one step a byte however many
literals there are: 0.4 s.

Expressions of tables are compiled when a text first asks for them (`late`): of hundreds, most texts need a few dozen,
and to compile them all took each process as long as to read fifty threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from sys import maxsize
from typing import Any, AnyStr, cast

from ahocorasick_rs import BytesAhoCorasick, Implementation

from pipeline.records import warm

#: One of these literals stands in whatever matches.
Clause = tuple[str, ...]

#: A literal of fewer letters stands in most texts; one of so many is as good as a longer one.
_SHORTEST, _LONG = 3, 12
#: The same where one line is asked, and its expressions are slow.
SHORTEST_OF_LINE = 2
#: A clause of more literals costs more than it saves; so many clauses are asked.
_WIDEST, _MOST_CLAUSES = 6, 2
#: What repeats a part of an expression, and what only groups it.
_REPEATS = frozenset((sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT))
#: What takes no letter and may stand between two of one literal.
_WIDTHLESS = frozenset((sre.AT, sre.ASSERT_NOT))
#: The letters that are told apart at the begin; all others are one.
LETTERS, _BEYOND = tuple(map(chr, range(128))), "\x80"

Node = tuple[Any, Any]


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
#: What is asked of an expression.
_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "groups", "groupindex")
Seen = Mapping[str, Sequence[int]]


@cache
def clauses(pattern: str, flags: int = 0, *, shortest: int = _SHORTEST) -> tuple[Clause, ...]:
    """Of each clause one literal stands in every text that the pattern matches; the most telling ones, at most two.

    None of their literals has fewer letters than `shortest`.
    """
    if flags & re.IGNORECASE:
        return ()
    parsed = parser.parse(pattern, flags)
    if parsed.state.flags & (re.IGNORECASE | re.VERBOSE):
        return ()
    found = {clause for clause in _clauses(list(parsed)) if len(clause) <= _WIDEST and _shortest(clause) >= shortest}
    return tuple(sorted(found, key=_merit, reverse=True)[:_MOST_CLAUSES])


def stand(every: Iterable[Clause], text: str, start: int = 0, end: int = maxsize) -> bool:
    """Whether of each clause a literal stands in that part of the text."""
    for clause in every:
        for literal in clause:
            if text.find(literal, start, end) >= 0:
                break
        else:
            return False
    return True


def _shortest(clause: Clause) -> int:
    return min(map(len, clause))


def _merit(clause: Clause) -> tuple[int, int, Clause]:
    return min(_shortest(clause), _LONG), -len(clause), clause


def _clauses(nodes: Sequence[Node]) -> Iterator[Clause]:
    """Every clause of a sequence."""
    run: list[str] = []
    for op, value in _flat(nodes):
        if op is sre.LITERAL:
            run.append(chr(value))
            continue
        if op in _WIDTHLESS:
            continue
        if run:
            yield ("".join(run),)
            run = []
        yield from _within(op, value)
    if run:
        yield ("".join(run),)


def _flat(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, where those of groups stand in the place of their groups."""
    for op, value in nodes:
        if op is sre.SUBPATTERN and not value[1] and not value[2]:
            yield from _flat(value[3])
        elif op is sre.ATOMIC_GROUP:
            yield from _flat(value)
        else:
            yield op, value


def _within(op: Any, value: Any) -> Iterator[Clause]:
    """The clauses of a node that is neither a letter nor a plain group."""
    if op is sre.BRANCH:
        best = [max(_clauses(list(branch)), key=_merit, default=None) for branch in value[1]]
        if all(one is not None for one in best):
            yield tuple(dict.fromkeys(literal for one in best if one is not None for literal in one))
    elif op in _REPEATS and value[0] >= 1:
        yield from _clauses(list(value[2]))
    elif op is sre.ASSERT and value[0] > 0:
        yield from _clauses(list(value[1]))


def begins(pattern: str) -> frozenset[str] | None:
    """The ASCII letters with which what matches may begin; None if it may begin with any letter, or with none.

    Letters beyond ASCII are never told apart: whoever asks tries the pattern at each of them.
    """
    parsed = parser.parse(pattern)
    if parsed.state.flags & (re.IGNORECASE | re.VERBOSE):
        return None
    letters, is_empty = _begins(list(parsed))
    return None if is_empty or letters is None else letters


def _begins(nodes: Sequence[Node]) -> tuple[frozenset[str] | None, bool]:
    """The first letters of a sequence, None if any, and whether it may take no letter at all."""
    every: set[str] = set()
    for op, value in _flat(nodes):
        if op in _WIDTHLESS or op is sre.ASSERT:
            continue
        letters, is_empty = _first(op, value)
        if letters is None:
            return None, False
        every |= letters
        if not is_empty:
            return frozenset(every), False
    return frozenset(every), True


def _first(op: Any, value: Any) -> tuple[frozenset[str] | None, bool]:
    """The first letters of one node."""
    if op is sre.LITERAL:
        return frozenset(chr(value)), False
    if op is sre.IN:
        return _class(value), False
    if op is sre.BRANCH:
        found = [_begins(list(branch)) for branch in value[1]]
        if any(letters is None for letters, _ in found):
            return None, False
        return frozenset().union(*(letters for letters, _ in found if letters)), any(empty for _, empty in found)
    if op in _REPEATS:
        letters, is_empty = _begins(list(value[2]))
        return letters, is_empty or value[0] == 0
    return None, False


def _class(items: Any) -> frozenset[str]:
    """The ASCII letters of a class of letters."""
    one = warm.pattern(_written(items))
    return frozenset(letter for letter in LETTERS if one.match(letter))


def _written(items: Iterable[Node]) -> str:
    """A class of letters as it is written."""
    parts: list[str] = []
    for op, value in items:
        if op is sre.NEGATE:
            parts.append("^")
        elif op is sre.LITERAL:
            parts.append(re.escape(chr(value)) if value != ord("^") else r"\^")
        elif op is sre.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(_CATEGORIES[value])
    return f"[{''.join(parts)}]"


class Alternatives:
    """Expressions of which the first that matches at a place is taken; tried are those that may begin as it does."""

    def __init__(self, expressions: Iterable[tuple[str, str]]) -> None:
        """Each expression is given plain, as `begins` reads it, and as it is tried, which may name a group."""
        self._expressions = tuple((begins(plain), tried) for plain, tried in expressions)
        self._by_letter: dict[str, re.Pattern[str] | None] = {}

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """What the first of them takes at that place."""
        letter = text[at : at + 1]
        try:
            pattern = self._by_letter[letter]
        except KeyError:
            pattern = self._compiled(letter)
        return pattern.match(text, at) if pattern is not None else None

    def _compiled(self, letter: str) -> re.Pattern[str] | None:
        """Those that may begin with the letter, as one expression; letters beyond ASCII are one."""
        known = letter if letter.isascii() else _BEYOND
        if known not in self._by_letter:
            every = known == _BEYOND
            fitting = [tried for letters, tried in self._expressions if letters is None or every or known in letters]
            self._by_letter[known] = warm.pattern("|".join(fitting)) if fitting else None
        return self._by_letter[known]


class _Late:
    """An expression that is compiled when something is first asked of it; from then on it costs what it cost before."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        """What is not there yet: it is asked for the first time."""
        if name not in _ASKED:
            raise AttributeError(name)
        compiled: re.Pattern[Any] = warm.pattern(cast("Any", self.pattern), self.flags)
        vars(self).update((each, getattr(compiled, each)) for each in _ASKED)
        return vars(self)[name]


@cache
def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression, not compiled yet; two of the same letters are one. Whether it can be is for a test to say."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))


def _automaton(literals: Iterable[str]) -> BytesAhoCorasick:
    # half a megabyte for our longest list. The DFA, 13, takes two thirds of the time where it stays in a processor's
    # cache, which it does not between other work: then it takes twice as long
    return BytesAhoCorasick([literal.encode() for literal in literals], implementation=Implementation.ContiguousNFA)


class Literals:
    """Literals whose places are wanted. A letter beyond ASCII is looked for as any such letter, and compared then.

    So what stands before and behind such letters decides how often one is compared: "' 不是" seldom, "不是" at each
    letter of a Chinese text.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = tuple(dict.fromkeys(literals))
        replaced = [literal.encode("ascii", "replace").decode() for literal in self._literals]
        self._compared = frozenset(number for number, literal in enumerate(replaced) if "?" in literal)
        self._automaton = _automaton(replaced)

    def seen(self, text: str) -> Seen:
        """The places of each literal in the text, in order; literals that do not occur are left out."""
        raw = text.encode("ascii", "replace")  # one byte a character, so that places are places in the text
        found: dict[int, list[int]] = {}
        for number, start, _ in self._automaton.find_matches_as_indexes(raw, overlapping=True):
            if number in found:
                found[number].append(start)
            else:
                found[number] = [start]
        literals = self._literals
        for number in self._compared.intersection(found):
            found[number] = [start for start in found[number] if text.startswith(literals[number], start)]
            if not found[number]:
                del found[number]
        return {literals[number]: starts for number, starts in found.items()}


class Signs:
    """Literals of any script of which is asked whether a text holds them, or where its bytes do."""

    def __init__(self, literals: Iterable[str]) -> None:
        every = dict.fromkeys(literals)
        self._bytes = {literal: literal.encode() for literal in every if len(literal.encode()) == 1}
        self._literals = tuple(literal for literal in every if literal not in self._bytes)
        self._automaton = _automaton(self._literals)

    def present(self, text: str) -> frozenset[str]:
        """The literals that stand in the text."""
        return frozenset(self.places(text.encode("utf-8", "surrogatepass")))

    def places(self, raw: bytes) -> Seen:
        """Where each literal that occurs stands in a text's bytes in UTF-8, in order; the first place of a single byte.

        One byte, which may stand anywhere, is found faster by itself than its places are written down.
        """
        found: dict[int, list[int]] = {}
        for number, start, _ in self._automaton.find_matches_as_indexes(raw, overlapping=True):
            if number in found:
                found[number].append(start)
            else:
                found[number] = [start]
        seen: dict[str, Sequence[int]] = {self._literals[number]: starts for number, starts in found.items()}
        for literal, byte in self._bytes.items():
            if (start := raw.find(byte)) >= 0:
                seen[literal] = (start,)
        return seen
