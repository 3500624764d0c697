"""A regular expression for a cluster, made of what all its texts share: literals, and bounded gaps between them.

The language is what RE2 and Python have in common. RE2 takes linear time on any text; gaps are bounded and few, so
that Python's matcher stays within a fixed factor of the length too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import LCSseq

from pipeline.cluster.shapes import SLOT

#: Characters that a gap may span: what lay there in the texts seen, rounded up to one of these. RE2 allows 1000.
GAPS = (200, 500, 1000)
#: Gaps in one expression; each multiplies what a matcher may have to try. Longer texts give their best stretch.
MOST_GAPS = 6
#: Letters and digits that an expression must name, and those of its longest literal: less says nothing.
LEAST_NAMED, LEAST_LITERAL = 8, 4
#: Expressions joined by "|" where the members share too little. Chosen: more is a list, not a pattern.
MOST_ALTERNATIVES = 4
#: Share of the first text's named characters that must survive before another text gets an alternative of its own.
KEPT_RATIO = 0.5
#: The same for a second try, where the first matched texts of other clusters.
STRICT_RATIO = 0.95
#: Parts of a text that are looked at, and characters of a part that may be a literal: a word of 100 kB is a value,
#: and a literal of that length makes RE2 quadratic.
MOST_TOKENS, MOST_CHARACTERS = 100, 60
#: Slots whose value never holds a space.
ATOMS = frozenset({"<n>", "<hex>", "<version>", "<dtype>", "<arch>", "<uuid>", "<name>", "<addr>"})
_ATOM_GAP = r"\S{1,80}"
#: What stands for values that are numbers in every text seen, where an atom would match other errors too.
_NUMBER_GAP = r"[-+]?\d[\w.,+-]{0,60}"
#: The begin and the end of a line, where every text seen has its first or last literal there.
_LINE_BEGIN, _LINE_END = r"(?m:^)[ \t]{0,40}", r"[ \t]{0,40}(?m:$)"
#: What may lie between the parts of one literal.
TIGHT = ("", r"\s+", r"\s*")

_PART = re.compile(rf"{SLOT.pattern}|\w+|[^\w\s]")
_SIDES = re.compile(r"(?<!\\)\|")
_GAP = re.compile(r"(?:\\s\*)?(?:(?:\[\^\\n\]|\[\\s\\S\]|\\S)\{\d+,\d+\}|\[-\+\]\?\\d\[\\w\.,\+-\]\{0,60\})(?:\\s\*)?")
_EDGES = re.compile(r"\(\?m:\^\)\[ \\t\]\{0,40\}|\[ \\t\]\{0,40\}\(\?m:\$\)")
_NUMBER = re.compile(r"[-+]?\d[\w.,+-]{0,60}", re.ASCII)
_SPACES = re.compile(r"\\s[+*]")
_ESCAPED = re.compile(r"\\(.)")
_WHOLE = re.compile(r"(?<![\w\x01])[A-Za-z0-9_]+(?![\w\x01])", re.ASCII)
_MARKS = frozenset("'\"`")
_QUOTES = "['\"`]"
_SPECIAL = re.compile(r"([\\.+*?()\[\]{}^$|])")


@dataclass(frozen=True, slots=True)
class Text:
    """A text in parts (words, slots, single marks), with where each begins and ends."""

    text: str
    parts: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


def parted(text: str) -> Text:
    """The parts of a text, at most MOST_TOKENS."""
    found = [match for match, _ in zip(_PART.finditer(text), range(MOST_TOKENS), strict=False)]
    return Text(text, tuple(match.group() for match in found), tuple(match.span() for match in found))


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression and the whole words that every text it matches must hold."""

    regex: str
    words: frozenset[str]


def known(regex: str) -> Pattern:
    """An expression that this module made before, with the whole words that it demands read from it."""
    sides = [_whole_words(side) for side in _SIDES.split(regex)]
    return Pattern(regex, frozenset.intersection(*sides))


def anywhere(pattern: Pattern) -> Pattern:
    """An expression without the demand that a line begins with it: logs put ranks, times and types before messages."""
    return Pattern(pattern.regex.removeprefix(_LINE_BEGIN), pattern.words)


def sides_of(regex: str) -> list[Pattern]:
    """The alternatives of an expression, each with the words that it demands by itself."""
    return [Pattern(side, _whole_words(side)) for side in _SIDES.split(regex)]


def _whole_words(regex: str) -> frozenset[str]:
    """The words of an expression without "|" that no gap touches: any text it matches holds them as words."""
    text = _GAP.sub("\x01", _EDGES.sub("", regex))
    text = _SPACES.sub(" ", text).replace(r"\b", "\x02")
    return frozenset(_WHOLE.findall(f"\x01{_ESCAPED.sub(chr(92) + '1', text)}\x01"))


def alternatives(texts: Sequence[str], *, kept_ratio: float = KEPT_RATIO, is_exact: bool = False) -> Pattern | None:
    """An expression that matches all texts, the first of which is the best known; None where they share too little.

    An exact one also says where it must begin or end a line and where a number must stand, as far as all texts agree.
    """
    rest = [parted(text) for text in texts]
    made: list[Pattern] = []
    while rest and len(made) < MOST_ALTERNATIVES:
        one, rest = _covering(rest, kept_ratio, is_exact=is_exact)
        if one is None:
            return None
        made.append(one)
    if rest or not made:
        return None
    if len(made) == 1:
        return made[0]
    return Pattern("|".join(one.regex for one in made), frozenset.intersection(*(one.words for one in made)))


def _covering(texts: Sequence[Text], kept_ratio: float, *, is_exact: bool) -> tuple[Pattern | None, list[Text]]:
    """An expression for the first text and all that share enough with it, and the other texts."""
    first = texts[0]
    kept = {
        place: [first.spans[place]]
        for place, part in enumerate(first.parts)
        if len(part) <= MOST_CHARACTERS and not SLOT.fullmatch(part)
    }
    least = kept_ratio * _named(first, kept)
    covered, rest = [first], []
    for text in texts[1:]:
        common = _common(first, text, kept)
        if _named(first, common) >= least:
            kept = common
            covered.append(text)
        else:
            rest.append(text)
    return _pattern(covered, kept, is_exact=is_exact), rest


def _common(first: Text, other: Text, kept: dict[int, list[tuple[int, int]]]) -> dict[int, list[tuple[int, int]]]:
    """The kept parts of the first text that the other has too, in order, with their spans in every text so far."""
    found: dict[int, list[tuple[int, int]]] = {}
    for block in LCSseq.opcodes(first.parts, other.parts):
        if block.tag != "equal":
            continue
        for offset in range(block.src_end - block.src_start):
            place = block.src_start + offset
            if place in kept:
                found[place] = [*kept[place], other.spans[block.dest_start + offset]]
    return found


def _named(text: Text, kept: dict[int, list[tuple[int, int]]]) -> int:
    return sum(len(text.parts[place]) for place in kept if text.parts[place][0].isalnum())


def _pattern(texts: Sequence[Text], kept: dict[int, list[tuple[int, int]]], *, is_exact: bool) -> Pattern | None:
    """The expression of the kept parts: literals with what lies between them in any of the texts."""
    literals: list[tuple[str, frozenset[str]]] = []
    gaps: list[str] = []
    places = sorted(kept)
    run, joints = places[:1], [""]
    for left, right in pairwise(places):
        joint = _between(texts, kept[left], kept[right], is_exact=is_exact)
        if joint not in TIGHT:
            literals.append(_literal(texts, kept, run, joints))
            gaps.append(joint)
            run, joints = [], []
        run.append(right)
        joints.append(joint if joint in TIGHT else "")
    if run:
        literals.append(_literal(texts, kept, run, joints))
    edges = _edges(texts, kept[places[0]], kept[places[-1]]) if is_exact and places else ("", "")
    return _best_stretch(literals, gaps, edges)


def _edges(texts: Sequence[Text], first: Sequence[tuple[int, int]], last: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """Where the first part begins a line and where the last ends one in every text."""
    before = (text.text[:start].rpartition("\n")[2] for text, (start, _) in zip(texts, first, strict=True))
    behind = [text.text[end:].partition("\n")[0].strip(" \t") for text, (_, end) in zip(texts, last, strict=True)]
    begin = "" if any(part.strip(" \t") for part in before) else _LINE_BEGIN
    if all(_NUMBER.fullmatch(part) for part in behind):
        return begin, rf"\s*{_NUMBER_GAP}{_LINE_END}"
    return begin, "" if any(behind) else _LINE_END


def _literal(
    texts: Sequence[Text], kept: dict[int, list[tuple[int, int]]], run: Sequence[int], joints: Sequence[str]
) -> tuple[str, frozenset[str]]:
    r"""The expression of parts that follow one another, and its whole words; \b guards a word at either end."""
    parts = texts[0].parts
    pieces = [joint + _escaped(parts[place]) for place, joint in zip(run, joints, strict=True)]
    glued = {place for place in (run[0], run[-1]) if _is_glued(texts, kept[place])}
    words = frozenset(parts[place] for place in run if _is_word(parts[place]) and place not in glued)
    if parts[run[0]] in words:
        pieces[0] = r"\b" + pieces[0]
    if parts[run[-1]] in words:
        pieces[-1] += r"\b"
    return "".join(pieces), words


def _escaped(part: str) -> str:
    """A part as it stands; a quotation mark as any of them, since `normalise` writes them all alike."""
    return _QUOTES if part in _MARKS else _SPECIAL.sub(r"\\\1", part)


def _is_word(part: str) -> bool:
    return part.isascii() and (part[0].isalnum() or part[0] == "_")


def _is_glued(texts: Sequence[Text], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a slot touches the part in any text: "sm_<n>" is "sm_90" in a message, no word ends between."""
    return any(
        text.text[max(0, start - 1) : start] == ">" or text.text[end : end + 1] == "<"
        for text, (start, end) in zip(texts, spans, strict=True)
    )


def _between(
    texts: Sequence[Text], left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]], *, is_exact: bool
) -> str:
    """What may lie between two kept parts: nothing, space, one atom, or a gap wide enough for what was seen."""
    seen = {text.text[one[1] : other[0]] for text, one, other in zip(texts, left, right, strict=True)}
    if seen == {""}:
        return ""
    if all(not between.strip() for between in seen):
        return r"\s*" if "" in seen else r"\s+"
    stripped = {between.strip() for between in seen}
    if is_exact and all(_NUMBER.fullmatch(between) for between in stripped):
        return rf"\s*{_NUMBER_GAP}\s*"
    if stripped <= ATOMS:
        return rf"\s*{_ATOM_GAP}\s*"
    longest = max(map(len, seen))
    width = next((gap for gap in GAPS if gap >= 2 * longest), GAPS[-1])
    kind = r"[^\n]" if not any("\n" in between for between in seen) else r"[\s\S]"
    return f"{kind}{{0,{width}}}"


def _best_stretch(
    literals: Sequence[tuple[str, frozenset[str]]], gaps: Sequence[str], edges: tuple[str, str]
) -> Pattern | None:
    """The run of literals with at most MOST_GAPS gaps that names most; None if that is too little."""
    sizes = [sum(map(str.isalnum, literal.replace(r"\b", "").replace(r"\s", ""))) for literal, _ in literals]
    best = max(
        range(len(literals)), default=None, key=lambda start: (sum(sizes[start : start + MOST_GAPS + 1]), -start)
    )
    if best is None:
        return None
    end = min(len(literals), best + MOST_GAPS + 1)
    if sum(sizes[best:end]) < LEAST_NAMED or max(sizes[best:end]) < LEAST_LITERAL:
        return None
    pieces = [edges[0] if best == 0 else "", literals[best][0]]
    for place in range(best + 1, end):
        pieces += [gaps[place - 1], literals[place][0]]
    pieces.append(edges[1] if end == len(literals) else "")
    return Pattern("".join(pieces), frozenset().union(*(literals[place][1] for place in range(best, end))))
