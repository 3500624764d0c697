"""What a cluster is called: the words of its representative that hold for all that its documents print.

A member may differ from the representative in a word that no mask knew: another class, another type of numbers, another
function. Such words stand as slots in the title. A document has one vote for each text, however often it prints it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pipeline.cluster import spelling
from pipeline.cluster.differing import Said, Says, Worded, compared, worded
from pipeline.cluster.shapes import SLOT
from pipeline.lexicon import codes
from pipeline.records import Cluster, Title

#: Of the documents that say something in the place of a word so many may say something else there.
TOLERATED = 0.1
#: So many may say it in other words: that makes the representative's own not wrong.
TOLERATED_WORDING = 0.5
#: A type is shown if so many of the documents that print one print it, and so many of all.
TYPED, TYPED_OF_ALL = 0.9, 0.5
#: A title has so many words of its own, or it is the representative's, marked as one of several.
LEAST_WORDS = 2
#: Texts of a cluster that are looked at, those of most documents first; of equal ones the ids, which are hashes, draw.
MOST_TEXTS = 120
#: Between two places where others use other words stand so many that all say, or both are one place.
LEAST_BETWEEN = 2
#: So many words that others say otherwise, and fewer that they say alike, are one place up to the end, behind so many
#: words that all say.
LEAST_TAIL, LEAST_HEAD = 3, 4
#: A beginning of which so many words more are said by fewer documents than are said by so many is left out.
LEAST_UNSAID, SAID = 2, 0.5


@dataclass(frozen=True, slots=True)
class Print:
    """What one document prints of an error once."""

    document_id: str
    signature_id: str
    exception_type: str | None
    text: str
    is_truncated: bool


def title(cluster: Cluster, prints: Iterable[Print]) -> Title:
    """What holds for all documents of `cluster`, whose errors are `prints`.

    A word that differs only in how it is spelt is no other word: in case, in punctuation, in its plural or its ending,
    in the packages before a name. Nor does it contradict a word that a text is cut before it, begins behind it, or
    leaves it out where it is no name or value. Words that the gate names hold for all.
    """
    texts: dict[tuple[str, bool], set[str]] = defaultdict(set)
    first: dict[tuple[str, bool], str] = {}
    types: dict[str, set[str]] = defaultdict(set)
    for one in prints:
        key = (one.text, one.is_truncated)
        texts[key].add(one.document_id)
        first[key] = min(first.get(key, one.signature_id), one.signature_id)
        says_type = one.exception_type == cluster.exception_type or not spelling.is_any_type(
            one.exception_type or "Error"
        )
        types[one.document_id].update([one.exception_type] if one.exception_type and says_type else [])
    own = cluster.exception_type
    is_given = own is not None and dict(cluster.gate).get("exception") == own.rpartition(".")[2]
    kind, usual = (own, own) if is_given else (_type(own, types), _usual_type(own, types))
    text = cluster.text if kind == cluster.exception_type or "exception" in dict(cluster.gate) else _untyped(cluster)
    if all(one == cluster.text for one, _ in texts):
        return Title(text, kind, usual, is_one_of_several=False)
    votes = _Votes(worded(text), _given([*cluster.gate, ("type", kind or "")], text))
    for key in sorted(texts, key=lambda key: (-len(texts[key]), first[key], key))[:MOST_TEXTS]:
        votes.add(worded(key[0], is_truncated=key[1]), len(texts[key]))
    shown = votes.title()
    if kind and (short := kind.rpartition(".")[2]) in text and short not in shown:
        kind = None  # others print another one in its place
    if shown == text or sum(map(bool, worded(shown).keys)) >= LEAST_WORDS:
        is_one = votes.is_one_of_several and "code" not in dict(cluster.gate)
        return Title(shown, kind, usual, is_one_of_several=is_one)
    return Title(text, kind, usual, is_one_of_several=True)


def _type(own: str | None, types: Mapping[str, Collection[str]]) -> str | None:
    """The representative's type, or a printed one that it is a kind of, if nearly all documents print it or a kind of
    it, as far as they print any; by the types of each.
    """
    if own is None or not types:
        return own
    printed = sorted({one for found in types.values() for one in found if one != own and spelling.is_type(own, one)})
    typed = sum(bool(found) for found in types.values())
    for kind in dict.fromkeys((own, spelling.of_any(own), *printed)):
        same = _printing(kind, types)
        if same >= TYPED * typed and same >= TYPED_OF_ALL * len(types):
            return kind
    return None


def _usual_type(own: str | None, types: Mapping[str, Collection[str]]) -> str | None:
    """The representative's type, if half of the documents print it or a kind of it."""
    return own if own and _printing(own, types) >= TYPED_OF_ALL * len(types) else None


def _printing(kind: str, types: Mapping[str, Collection[str]]) -> int:
    """How many documents print a type or a kind of it."""
    return sum(any(one == kind or spelling.is_type(one, kind) for one in found) for found in types.values())


def _untyped(cluster: Cluster) -> str:
    """The representative's text without its type in front."""
    kind = cluster.exception_type or ""
    return cluster.text.removeprefix(f"{kind}: ").removeprefix(f"{kind.rpartition('.')[2]}: ") if kind else cluster.text


def _given(gate: Iterable[tuple[str, str]], text: str) -> frozenset[str]:
    """The words of a gate, and those that name its code in the text: all members have them, however they say it."""
    own = dict(gate).get("code")
    named = (text[one.start : one.end] for _, one in codes.mentions(text) if one.code == own) if own else ()
    values = chain(
        filter(spelling.WORD.fullmatch, named),
        (part for _, value in gate for part in (value, value.rpartition(":")[2])),
    )
    return frozenset(spelling.key(word) for value in values for word in spelling.WORD.findall(value))


class _Votes:
    """How many documents say each word of the representative, and what the others say there."""

    def __init__(self, own: Worded, given: Collection[str]) -> None:
        self._own = own
        self._given = [key in given for key in own.keys]
        self._said: list[Counter[Said]] = [Counter() for _ in own.words]
        self._near = self._far = 0

    def add(self, other: Worded, votes: int) -> None:
        """Nothing; so many documents print the text."""
        found = compared(self._own, other)
        if found is None:
            self._far += votes
            return
        self._near += votes
        for place, said in enumerate(found):
            self._said[place][said] += votes

    @property
    def is_one_of_several(self) -> bool:
        """Whether too many documents say it in words that have little to do with the representative's."""
        return self._far > TOLERATED * (self._far + self._near)

    def title(self) -> str:
        """The representative's text with slots for what others say otherwise."""
        begin = self._beginning()
        pieces, end = [], self._start(begin)
        for run in self._runs(begin):
            start, stop = self._span(run)
            pieces += [self._own.text[end:start], self._slot(run)]
            end = stop
        return "".join([*pieces, self._own.text[end:]])

    def _count(self, place: int, *what: Says) -> int:
        return sum(votes for said, votes in self._said[place].items() if said.what in what)

    def _is_contradicted(self, place: int) -> bool:
        if self._given[place]:
            return False
        other, same = self._count(place, Says.OTHER), self._count(place, Says.SAME)
        reworded = self._count(place, Says.WORDING)
        told = other + same + reworded
        return other > TOLERATED * told or other + reworded > TOLERATED_WORDING * told

    def _beginning(self) -> int:
        """The place behind a beginning of which most words are said by few, where enough words are left; else 0."""
        telling = [place for place, key in enumerate(self._own.keys) if key]
        best, unsaid, begin = LEAST_UNSAID - 1, 0, 0
        for place in telling[: 1 - LEAST_HEAD]:
            is_said = self._given[place] or self._count(place, Says.SAME) >= SAID * self._near
            if is_said and unsaid > best:
                best, begin = unsaid, place
            unsaid += -1 if is_said else 1
        return begin

    def _start(self, begin: int) -> int:
        """Where the title begins: with the marks that open the word at a place."""
        if begin == 0:
            return 0
        start = self._own.spans[begin][0]
        return start - len(_OPENING.search(self._own.text[:start])[0])  # type: ignore[index]

    def _runs(self, begin: int) -> list[list[int]]:
        """The places from one on that are contradicted, those together that no word of the title parts."""
        runs: list[list[int]] = []
        for place in filter(self._is_contradicted, range(begin, len(self._own.words))):
            if runs and place in runs[-1]:
                continue
            if runs and self._is_one_place(runs[-1][-1], place):
                runs[-1].append(place)
            else:
                runs.append([place])
            if spelling.is_negation(self._own.words[place]) and place + 1 < len(self._own.words):
                runs[-1].append(place + 1)
        return self._with_tail(runs, begin)

    def _with_tail(self, runs: list[list[int]], begin: int) -> list[list[int]]:
        """The same, as one from the first on behind which others say more otherwise than alike."""
        end, gone = len(self._own.words), 0
        for number, run in enumerate(runs):
            before = sum(map(bool, self._own.keys[begin : run[0]])) - gone
            gone += len(run)
            against = sum(map(len, runs[number:]))
            telling = sum(map(bool, self._own.keys[run[0] :]))
            if before >= LEAST_HEAD and against >= LEAST_TAIL and 2 * against > telling:
                return [*runs[:number], list(range(run[0], end))]
        return runs

    def _is_one_place(self, one: int, other: int) -> bool:
        between = self._own.text[self._own.spans[one][1] : self._own.spans[other][0]]
        if any(self._own.values[place] for place in (one, other)) or _MARKS.search(between):
            return not between.strip()
        return sum(map(bool, self._own.keys[one + 1 : other])) < LEAST_BETWEEN

    def _span(self, run: Sequence[int]) -> tuple[int, int]:
        return self._own.spans[run[0]][0], self._own.spans[run[-1]][1]

    def _slot(self, run: Sequence[int]) -> str:
        """What stands in the title instead of the words of a run."""
        start, stop = self._span(run)
        slot = "<words>" if len(run) > 1 else self._slot_of_one(run[0])
        is_quoted = self._own.text[max(0, start - 1) : start] + self._own.text[stop : stop + 1] in _QUOTES
        return "<quoted>" if is_quoted and slot in ("<word>", "<words>") else slot

    def _slot_of_one(self, place: int) -> str:
        """A slot for one word: the one that others have there, or what of the word all have."""
        word = self._own.words[place]
        said: Counter[str] = Counter()
        for one, votes in self._said[place].items():
            if one.what in (Says.OTHER, Says.WORDING) and one.words:
                said[_nearest(word, one.words)] += votes
        best = min(said, key=lambda one: (-said[one], one), default="")
        if SLOT.fullmatch(best) and best != "<quoted>" and 2 * said[best] > said.total():
            return best
        if SLOT.search(best) and not SLOT.fullmatch(best) and spelling.is_same(best, word):
            return best
        if 2 * sum(votes for one, votes in said.items() if " " in one) > said.total():
            return "<words>"
        if all(_NUMBER.fullmatch(one) for one in (word, *said)):
            return "<n>"
        return "<word>" if not said or any(" " in one for one in said) else _partly(word, list(said))


def _nearest(word: str, said: Sequence[str]) -> str:
    """Which of the words that others say in the place of a word is another of its kind; all of them if none is."""
    begin = _PART.split(word)[0]
    alike = [one for one in said if _NAMED.search(begin) and _PART.split(one)[0] == begin]
    return alike[0] if alike else " ".join(said)


def _partly(word: str, others: Sequence[str]) -> str:
    """A slot with the parts of a name before and behind it that all have."""
    parts = [_PART.split(one) for one in (word, *others)]
    shortest = min(map(len, parts))
    head = next((i for i in range(shortest) if len({tuple(one[: i + 1]) for one in parts}) > 1), shortest - 1)
    tail = next((i for i in range(shortest - head) if len({tuple(one[len(one) - i - 1 :]) for one in parts}) > 1), 0)
    head, tail = head - head % 2, tail - tail % 2
    before, behind = "".join(parts[0][:head]), "".join(parts[0][len(parts[0]) - tail :])
    before, behind = (part if _NAMED.search(part) else "" for part in (before, behind))
    middle = {one[len(before) : len(one) - len(behind)] for one in (word, *others)}
    slot = "<n>" if all(map(_NUMBER.fullmatch, middle)) else "<word>"
    return f"{before}{slot}{behind}"


#: A part of a name says something with so many letters.
_NAMED = re.compile(r"[^\W\d_]{2}")
_OPENING = re.compile(r"[\"'`‘“(\[]*\Z")
_QUOTES = ("''", '""', "``", "‘’", "“”", "`'")
#: Parts of a sentence: what stands in brackets or quotes is no part of what stands before them.
_MARKS = re.compile(r"[^\w\s<>,]")
_NUMBER = re.compile(r"[-+]?\d[\d.,_]*", re.ASCII)
_PART = re.compile(r"(\.|::|[/@$_-])")
