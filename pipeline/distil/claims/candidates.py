"""What a reader that was trained takes for a cause, a remedy, a fix or a failure: candidates, no statements.

A small network over the units of a thread, which learned from labels and from what a larger model says of
threads that nobody labelled (`benchmarks/learning`). It cannot tell surely enough for an entry which error a unit is
about and whether what it says stood; so each candidate carries the share of labelled units of such a score that were
right, and people choose; the surest are an entry's leads (`drafts.leads`). What a rule takes for
a cause or for advice and this reader does not is no statement either (`doubts`).

The network takes words and traits of every unit of a thread, and gives a score for each kind: two convolutions over the
words of a unit, their greatest values, the sum of its traits, three convolutions over the units of the thread, so that
what is answered and what is said later counts, and one linear layer. Everything is whole numbers
(`data/distil/reader.npz`): weights in units of 2^-12, what layers pass on in units of 2^-10. Products and their sums
stay under 2^53, so float64 holds them exactly, in whatever order a machine adds them up: the same words have the same
score everywhere.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.distil.claims.rules import Finding
from pipeline.distil.claims.subjects import Pair, opening, subject
from pipeline.records import MAINTAINER_ROLES, Claim, ClaimKind, Document, Outcome, PostKind
from pipeline.text.units import Unit, UnitKind

Numbers = NDArray[np.float64]

#: Units of what layers pass on, and of weights.
ACTIVE, WEIGHT = 1 << 10, 1 << 12
#: So many words of a unit are read, and so many traits.
MOST_WORDS, MOST_TRAITS = 40, 48
#: How far apart the units are that a convolution over the thread sees: itself, and two on each side at this distance.
DILATIONS = (1, 2, 4)
#: A head says no more than this, in units of a logit.
_HEAD = (-8.0, 4.0)


#: Kinds of units in which people speak.
SPOKEN = frozenset({UnitKind.SENTENCE, UnitKind.ITEM})


class CandidateKind(StrEnum):
    """What a unit can be, in the order of the weights."""

    CAUSE = "cause"
    REMEDY = "remedy"
    FIX = "fix"
    FAILURE = "failure"


KINDS = tuple(CandidateKind)
#: The rule of a candidate is this and its kind.
RULE = "reader."
#: Threads with more units are logs that were pasted line by line; of 1,138 labelled ones the longest has 590.
_MOST_UNITS = 1_000
_TOKEN = re.compile(
    r"(?P<code>`[^`\n]{1,200}`)|(?P<url>(?:https?://|www\.)[^\s)>\]]{1,300})|(?P<ref>(?:[\w.-]{1,40}/[\w.-]{1,60})?#\d{1,7}\b)"
    r"|(?P<who>@[\w-]{1,40})|(?P<word>[A-Za-z]+(?:['’][a-z]+)?(?![\w./@:#+-]*[\w/#]))|(?P<han>[\u4e00-\u9fff]+)"
    r"|(?P<mark>[?!:](?!\S)|==?>)|(?P<ver>v?\d+(?:\.\d+)+[\w.+-]*)|(?P<num>\d[\d,]*\b)|(?P<flag>--?[A-Za-z][\w-]+=?)|(?P<name>[\w./\\:@+#-]{2,80})"
)
#: So many tokens of a unit are looked at.
_MOST_TOKENS = 40
#: So many characters of a unit.
_MOST_CHARACTERS = 400
_WORD = re.compile(r"[A-Za-z_][\w.]{3,}")
#: Units that are read: what stands further down is of another error too often, what is shorter, or asks, says nothing.
#: Of 48,395 units of labelled threads these are 31,000, with 80 % of what was right.
LAST_POST, _LEAST_CHARACTERS = 10, 25
#: Behind the third comment threads drift, and the reader does not see it as clearly as people do: of 29 finds there
#: with a share from 50 on 11 were wrong, of 91 before 7, by readers of whole threads; the four surest were right.
#: Fixes stand: of six that name where they are four were right, of nine that rules found so far on seven.
_FIRST_POSTS, _SUREST, _LATE_SHARE = 4, 70, 30
_OF_NOTHING: Mapping[str, tuple[str, ...]] = dict.fromkeys(KINDS, ())
#: Seconds between a post and the end of the thread, and their name.
_CLOSED = ((-60.0, "before"), (60.0, "now"), (3_600.0, "hour"), (86_400.0, "day"), (604_800.0, "week"))


@dataclass(frozen=True, slots=True)
class Network:
    """Weights as they are kept, and which word and trait has which row; row 1 of the words is for unknown ones."""

    words: Mapping[str, int]
    traits: Mapping[str, int]
    steps: Mapping[str, Sequence[tuple[int, int]]]  # by kind: (least score, share), rising
    weights: Mapping[str, Numbers]


@cache
def network() -> Network:
    """The network that is shipped."""
    folder = resources.files("pipeline").joinpath("data", "distil")
    table: dict[str, Any] = json.loads(folder.joinpath("reader.json").read_text("utf-8"))
    with folder.joinpath("reader.npz").open("rb") as file, np.load(file, allow_pickle=False) as kept:
        weights = {name: kept[name].astype(np.float64) for name in kept.files}
    return Network(
        {word: row for row, word in enumerate(table["words"], start=2)},
        {trait: row for row, trait in enumerate(table["traits"], start=1)},
        {kind: tuple((least, share) for least, share in steps) for kind, steps in table["steps"].items()},
        weights,
    )


def scores(net: Network, words: Sequence[Sequence[str]], traits: Sequence[Iterable[str]]) -> list[list[int]]:
    """The score of each unit for each kind, in hundredths of a logit; `words` and `traits` are by unit, in order."""
    if not words:
        return []
    known = [sorted({net.traits[t] for t in mine if t in net.traits})[:MOST_TRAITS] for mine in traits]
    units = _units(net, words, known)
    heads = _heads(net.weights, units)
    told = heads @ net.weights["last.heads"] + np.stack([net.weights["last.traits"][rows].sum(0) for rows in known]) * (
        ACTIVE
    )
    told += net.weights["last.bias"] * ACTIVE
    return [[int(score) for score in row] for row in np.floor(told * 100 / (ACTIVE * WEIGHT))]


def _units(net: Network, words: Sequence[Sequence[str]], traits: Sequence[Sequence[int]]) -> Numbers:
    """(units, channels): what each unit says by itself. All units stand in one row, a word of nothing between two."""
    flat, starts = [0], []
    for mine in words:
        starts.append(len(flat))
        flat += [net.words.get(word, 1) for word in mine[:MOST_WORDS]]
        flat.append(0)
    rows = np.array(flat)
    is_word = (rows > 0)[:, None]
    said = net.weights["words"][rows] * (ACTIVE / WEIGHT)
    for name in ("first", "second"):
        said = _active(_beside(np.floor(said + 0.5), (-1, 0, 1)), net.weights, name) * is_word
    most = np.maximum.reduceat(said, starts)
    # what is kept of the traits is a quarter of their weights
    told = np.stack([net.weights["traits"][mine].sum(0) for mine in traits]) / 4 + net.weights["traits.bias"]
    told = np.maximum(np.floor(told * (ACTIVE / WEIGHT) + 0.5), 0)
    return _active(np.hstack([most, told]), net.weights, "unit")


def _heads(weights: Mapping[str, Numbers], units: Numbers) -> Numbers:
    thread = units
    for number, apart in enumerate(DILATIONS):
        thread = thread + _active(_beside(thread, tuple(apart * n for n in range(-2, 3))), weights, f"thread.{number}")
    told = np.hstack([units, thread]) @ weights["heads"] + weights["heads.bias"] * ACTIVE
    return np.clip(np.floor(told / WEIGHT + 0.5), _HEAD[0] * ACTIVE, _HEAD[1] * ACTIVE)


def _beside(rows: Numbers, offsets: Sequence[int]) -> Numbers:
    """Each row with those that stand so far from it, nought where there is none."""
    most = max(map(abs, offsets))
    wide = np.pad(rows, ((most, most), (0, 0)))
    return np.hstack([wide[most + offset : most + offset + len(rows)] for offset in offsets])


def _active(rows: Numbers, weights: Mapping[str, Numbers], name: str) -> Numbers:
    told = rows @ weights[name] + weights[f"{name}.bias"] * ACTIVE
    active: Numbers = np.maximum(np.floor(told / WEIGHT + 0.5), 0)
    return active


def kind_of(claim: Claim) -> str:
    """What a candidate or a statement is: one of `CandidateKind`, or another kind of claim."""
    if claim.kind == ClaimKind.CANDIDATE:
        return claim.rule.removeprefix(RULE)
    if claim.kind == ClaimKind.REMEDY:
        return CandidateKind.FAILURE if claim.outcome == Outcome.FAILED else CandidateKind.REMEDY
    return claim.kind.value


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that may say something about an error."""

    unit: Unit
    kind: CandidateKind
    share: int  # of a hundred labelled units with such a score so many were right
    about: tuple[str, ...]  # signatures


class Reader:
    """What the network says of the units of one thread; it is asked once, and only where somebody wants to know."""

    def __init__(
        self, document: Document, units: Sequence[Unit], errors: Sequence[Pair], findings: Sequence[Finding]
    ) -> None:
        self._thread = (document, units, errors, findings)

    @cached_property
    def _seen(self) -> list[Seen]:
        """Every unit of the thread, once the reader is asked."""
        return list(seen(*self._thread))

    def candidates(self) -> Iterator[Candidate]:
        """The units that may say something about an error, in the order of the text, kinds in that of `KINDS`."""
        if not any(one.is_read for one in self._seen):
            return
        for one, shares in zip(self._seen, self._shares, strict=True):
            for kind, share in zip(KINDS, shares, strict=True):
                if share and one.is_read and one.about[kind]:
                    yield Candidate(one.unit, kind, _placed(one.unit, kind, share), one.about[kind])

    def share(self, kind: str, start: int, end: int) -> int:
        """Of a hundred units with such a score for `kind` as the one at a span so many were right; 0: too few."""
        over = ((min(end, one.unit.end) - max(start, one.unit.start), -n) for n, one in enumerate(self._seen))
        most, place = max(over, default=(0, 0))
        return self._shares[-place][KINDS.index(kind)] if most > 0 else 0

    @cached_property
    def _shares(self) -> list[list[int]]:
        """By unit and kind."""
        net = network()
        told = scores(net, [one.words for one in self._seen], [one.traits for one in self._seen])
        steps = [net.steps[kind] for kind in KINDS]
        return [[_share(mine, score) for mine, score in zip(steps, scored, strict=True)] for scored in told]


def _placed(unit: Unit, kind: CandidateKind, share: int) -> int:
    """The share of a find, for where it stands; that a report is fixed is said at its end."""
    is_late = unit.post > _FIRST_POSTS and share < _SUREST and kind != CandidateKind.FIX
    return min(share, _LATE_SHARE) if is_late else share


def _share(steps: Sequence[tuple[int, int]], score: int) -> int:
    step = bisect_right(steps, (score, 100)) - 1
    return steps[step][1] if step >= 0 else 0


# Words, in which names, numbers and addresses are replaced by their kind: a reader learns how people say things, not
# about what. And traits: short strings ("by:reporter comment"), so that people can read what the weights say.


@dataclass(frozen=True, slots=True)
class Seen:
    """A unit as the reader sees it."""

    unit: Unit
    about: Mapping[str, tuple[str, ...]]  # by kind: the errors that it would be about
    is_read: bool  # a person speaks in it of an error; what is not is seen for its neighbours' sake
    words: list[str]
    traits: list[str]


def seen(
    document: Document, units: Sequence[Unit], errors: Sequence[Pair], findings: Sequence[Finding]
) -> Iterator[Seen]:
    """Every unit of a thread that shows an error, in order."""
    if not errors or len(units) > _MOST_UNITS:
        return
    thread = _Thread(document, units, errors, findings)
    for unit in units:
        is_spoken = unit.kind in SPOKEN
        about = thread.about(unit) if is_spoken else _OF_NOTHING
        text = document.text[unit.start : min(unit.end, unit.start + _MOST_CHARACTERS)]
        words = tokens(text)
        is_read = is_spoken and _is_read(document, unit) and any(about.values())
        yield Seen(unit, about, is_read, words, thread.traits(unit, text, len(words), about["cause"]))


def _is_read(document: Document, unit: Unit) -> bool:
    is_asked = document.text.endswith(("?", "？"), unit.start, unit.end)
    return unit.post <= LAST_POST and unit.end - unit.start >= _LEAST_CHARACTERS and not is_asked


def tokens(text: str) -> list[str]:
    """The words of `text` in small letters, everything that is a name replaced by its kind; Han by pairs."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind in {"word", "mark"}:
            found.append(match.group().lower().replace("’", "'"))
        elif kind == "han":
            run = match.group()
            found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        else:
            found.append(f"<{kind}>")
        if len(found) >= _MOST_TOKENS:
            break
    return found


class _Thread:
    """What the traits of a unit are taken from."""

    def __init__(
        self, document: Document, units: Sequence[Unit], errors: Sequence[Pair], findings: Sequence[Finding]
    ) -> None:
        self._document, self._units, self._errors = document, units, errors
        posts = document.posts
        self._spoken = [n for n, post in enumerate(posts) if not post.is_bot]
        self._place = {number: place for place, number in enumerate(self._spoken)}
        self._reporter = next((p.author_hash for p in posts if p.kind == PostKind.BODY), None)
        self._shown = sorted({document.post_at(event.start) for event, _ in errors})
        self._first: dict[int, int] = {}
        self._count: dict[int, int] = {}
        for unit in units:
            self._first.setdefault(unit.post, unit.number)
            self._count[unit.post] = self._count.get(unit.post, 0) + 1
        self._rules: dict[int, set[str]] = {}  # post -> kinds of what the rules find in it
        self._found: dict[int, set[str]] = {}  # unit -> the rules
        starts = [unit.start for unit in units]
        for finding in findings:
            self._rules.setdefault(finding.sentence.post, set()).add(finding.cue.rule.partition(".")[0])
            if starts:
                at = max(0, bisect_right(starts, finding.start) - 1)
                self._found.setdefault(at, set()).add(finding.cue.rule)
        self._message = {s.signature_id: _named(f"{e.exception_type or ''} {e.message[:400]}") for e, s in errors}
        self._title = _named(document.title or "")
        self._report = tuple(sorted(opening(document, errors)))
        self._posts: dict[int, tuple[str, ...]] = {}
        self._meant: dict[int, str | None] = {}

    def about(self, unit: Unit) -> dict[str, tuple[str, ...]]:
        """The errors that the unit is about: those of the report if it is a fix."""
        one = self._subject(unit)
        meant = (one,) if one else ()
        return {kind: self._report if kind == "fix" and unit.post > 1 else meant for kind in KINDS}

    def _subject(self, unit: Unit) -> str | None:
        if len(self._message) > 1:
            return subject(self._document, self._errors, unit.start, unit.end)
        known = self._meant.get(unit.post, "")
        if known == "":  # there is one error: whatever words name, it is that or none
            known = self._meant[unit.post] = subject(self._document, self._errors, unit.start, unit.start)
        return known

    def traits(self, unit: Unit, text: str, length: int, about: tuple[str, ...]) -> list[str]:
        """Every trait of one unit, each once, in no order that means anything; `length` is that of its words."""
        found = {f"rule:{rule}" for rule in self._found.get(unit.number, ())}
        known = self._posts.get(unit.post)
        if known is None:
            known = self._posts[unit.post] = (*self._of_post(unit.post), *self._answered(unit.post))
        found.update(known)
        found.update(self._of_unit(unit, text, length, about))
        return list(found)

    def _of_unit(self, unit: Unit, text: str, length: int, about: tuple[str, ...]) -> Iterator[str]:
        """Its place in its post, its neighbours, and how well it names the error."""
        named = _named(text)
        yield f"names:{min(3, len(named & self._message[about[0]])) if about else 'none'}"
        yield f"title:{min(3, len(named & self._title))}"
        yield f"kind:{unit.kind.value}"
        yield f"len:{_size(length)}"
        count, at = self._count[unit.post], unit.number - self._first[unit.post]
        yield "at:only" if count == 1 else "at:first" if at == 0 else "at:last" if at == count - 1 else "at:mid"
        for name, number in (("p", unit.number - 1), ("n", unit.number + 1)):
            if 0 <= number < len(self._units) and self._units[number].post == unit.post:
                yield f"{name}:{self._units[number].kind.value}"
                for rule in self._found.get(number, ()):
                    yield f"{name}:{rule.partition('.')[0]}"

    def _of_post(self, number: int) -> Iterator[str]:
        """Who says it, where in the thread, and which errors were shown before."""
        yield f"of:{_size(self._count[number])}"
        yield f"errors:{min(len(self._message), 4)}"
        yield f"shown:{min(len(self._shown), 3)}"
        if number in self._shown:
            yield "shows"
        yield f"since:{min(min((number - post for post in self._shown if post <= number), default=-1), 4)}"
        if number < 0:
            return
        post, place = self._document.posts[number], self._place[number]
        far = len(self._spoken) - 1 - place
        who = "maintainer" if post.author_role in MAINTAINER_ROLES else "other"
        if post.author_hash is not None and post.author_hash == self._reporter:
            who = "reporter"
        yield f"by:{who} {post.kind}"
        yield f"place:{min(place, 5)}"
        yield f"from end:{min(far, 3)}"
        yield f"state:{self._document.state} end:{min(far, 2)}"
        if post.posted_at and self._document.closed_at:
            passed = (self._document.closed_at - post.posted_at).total_seconds()
            yield f"closed:{next((name for least, name in _CLOSED if passed < least), 'later')}"

    def _answered(self, number: int) -> Iterator[str]:
        """What the next posts say, by the rules, and whether the one before asks."""
        place = self._place.get(number)
        if place is None:
            return
        for post in self._spoken[place + 1 : place + 3]:
            yield from (f"soon:{kind}" for kind in self._rules.get(post, ()))
            if post in self._shown:
                yield "soon:shows"
        before = self._document.posts[self._spoken[place - 1]] if place else None
        if before is not None and self._document.text.endswith("?", before.start, before.end):
            yield "asked"


def _named(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _size(count: int) -> int:
    """0, 1, 2, 4, 8, ...: the power of two at or below."""
    return 1 << (count.bit_length() - 1) if count > 0 else 0
