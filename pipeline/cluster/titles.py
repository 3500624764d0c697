"""What a cluster is called: the words of its representative that hold for all that its documents print.

A member may differ from the representative in a word that no mask knew: another class, another type of numbers, another
function. Such words stand as slots in the title. A document has one vote for each text, however often it prints it.

Texts are aligned by the words that they share in order, however those are spelt. What stands between two shared words
of one and not of the other is another value, if it is short on both sides, or another wording, of which only names and
values are another.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, lru_cache
from itertools import chain

from rapidfuzz.distance import LCSseq

from pipeline.cluster.shapes import SLOT
from pipeline.cluster.words import is_deciding, is_variant, weight
from pipeline.lexicon import codes
from pipeline.records import Cluster, Title

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PIECE = rf"(?:{SLOT.pattern}|[^\W{_CJK}]+)"
#: A name is one word with all its parts: `torch.nn.Linear`, `sm_<n>`, `compare-and-swap`.
WORD = re.compile(rf"[{_CJK}]|{_PIECE}(?:(?:\.|::|[/@$-])?{_PIECE})*")
_JOINTS = re.compile(r"\.|::|[/@$-]")
_SENTENCE = re.compile(r"(?:\A|[.:;!?)\]>]\s*)[\W_]*\Z")
#: A word with such a letter is a name or a value, no word of a sentence.
_OF_NAMES = re.compile(r"[\d_]|[^\W_](?:\.|::|[/@$])[^\W_]|\w[A-Z]")
#: A type before the message that begins with a word, without a blank: "ImportErrorNo".
_TYPE_BEFORE = re.compile(r"\w{0,60}(?:Error|Exception)")


_NEGATIONS = frozenset(("no", "not", "non", "never", "without", "cannot"))
#: Any error is of such a type: to show it would say nothing.
_BROAD = (object, BaseException, Exception)
_ANY = frozenset(("Error", "Exception", "error"))
#: Two texts of which the shorter shares less with the other tell it in other words.
SHARED = 0.5
#: Unless both begin with so many words that are the same.
BEGINNING = 3
#: In one place stand so many words at most, or it is another wording.
VALUE_WORDS = 2
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
#: A part of a name says something with so many letters.
_NAMED = re.compile(r"[^\W\d_]{2}")
_OPENING = re.compile(r"[\"'`‘“(\[]*\Z")
_QUOTES = ("''", '""', "``", "‘’", "“”", "`'")
#: Parts of a sentence: what stands in brackets or quotes is no part of what stands before them.
_MARKS = re.compile(r"[^\w\s<>,]")
_NUMBER = re.compile(r"[-+]?\d[\d.,_]*", re.ASCII)
_PART = re.compile(r"(\.|::|[/@$_-])")


def key(word: str) -> str:
    """What a word is compared by: its letters and digits, in lower case, without slots."""
    return re.sub(r"[\W_]+", "", SLOT.sub("", word.casefold())) or word


def is_telling(word: str) -> bool:
    """Whether a word says something: neither a slot, nor a word that any sentence has, nor a single letter."""
    return (
        SLOT.fullmatch(word) is None
        and (len(word) > 1 or not word.isascii())
        and bool(weight(frozenset([word.lower()])))
    )


def is_value(word: str, before: str) -> bool:
    """Whether a word behind `before` is a name or a value: by its letters, or because it stands in quotes."""
    if _OF_NAMES.search(word) or before.endswith(("'", '"', "`", "‘", "“")):
        return True
    return word[0].isupper() and _SENTENCE.search(before) is None


def is_negation(word: str) -> bool:
    """Whether a word turns the one behind it round."""
    return word.lower() in _NEGATIONS


@lru_cache(maxsize=4096)
def is_same(one: str, other: str) -> bool:
    """Whether two words are one: in another case or with other marks, an inflection, a slip of one letter, a name
    behind its packages or before its members, or a value where the first has a slot in it.
    """
    if key(one) == key(other):
        return True
    short, long = sorted((one, other), key=len)
    if long.endswith(short) and _TYPE_BEFORE.fullmatch(long.removesuffix(short)):
        return True
    short, long = short.casefold(), long.casefold()
    if long.startswith(f"{short}.") or (long.endswith(short) and _JOINTS.fullmatch(long[: -len(short)][-1:])):
        return True
    if SLOT.search(one):
        return _form(one).fullmatch(other) is not None
    if _OF_NAMES.search(one) or _OF_NAMES.search(other) or is_deciding(short) or is_deciding(long):
        return False  # of names one letter is another name
    return is_variant(short, long)


@cache
def _form(word: str) -> re.Pattern[str]:
    """What a word with slots may stand for."""
    return re.compile(r"\S{1,120}".join(map(re.escape, SLOT.split(word))), re.IGNORECASE)


def is_any_type(kind: str) -> bool:
    """Whether the name of a type says no more than that something failed."""
    return kind in _ANY


def is_type(one: str, other: str) -> bool:
    """Whether an exception of type `one` is one of type `other`: the same behind its packages, or a kind of it."""
    if other in (one, of_any(one)) or one.rpartition(".")[2] == other.rpartition(".")[2]:
        return True
    mine, its = (getattr(builtins, name.removeprefix("builtins."), None) for name in (one, other))
    return isinstance(mine, type) and isinstance(its, type) and its not in _BROAD and issubclass(mine, its)


def of_any(kind: str) -> str:
    """A type without what it wraps: `RayTaskError(ValueError)` is a `RayTaskError`."""
    return kind.partition("(")[0]


class Says(Enum):
    """What a text says in the place of a word of another."""

    SAME = auto()
    NOTHING = auto()
    OTHER = auto()  # another value
    WORDING = auto()  # the same in other words, as far as one can see


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says in the place of a word, and in which words."""

    what: Says
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Worded:
    """The words of a text that tell something, and its slots, in order with their places."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    keys: tuple[str, ...]  # what they are compared by; "" of slots
    values: tuple[bool, ...]  # which of them are names and values
    is_truncated: bool


def worded(text: str, *, is_truncated: bool = False) -> Worded:
    """The words of a text."""
    found = [one for one in WORD.finditer(text) if SLOT.fullmatch(one[0]) or is_telling(one[0])]
    return Worded(
        text,
        tuple(one[0] for one in found),
        tuple(one.span() for one in found),
        tuple("" if SLOT.fullmatch(one[0]) else key(one[0]) for one in found),
        tuple(is_value(one[0], text[max(0, one.start() - 40) : one.start()]) for one in found),
        is_truncated,
    )


_SAME, _NOTHING = Said(Says.SAME), Said(Says.NOTHING)


def compared(own: Worded, other: Worded) -> list[Said] | None:
    """What the other text says in the place of each word of the own one; None if it has little to do with it."""
    found = [_SAME] * len(own.words)
    for mine, its in _unshared(own, other):
        for place, said in _between(own, other, mine, its):
            found[place] = said
    telling = [place for place, key in enumerate(own.keys) if key]
    same = sum(found[place] is _SAME for place in telling)
    begins_alike = len(telling) >= BEGINNING and own.keys[:BEGINNING] == other.keys[:BEGINNING]
    is_near = begins_alike or same >= SHARED * min(len(telling), sum(map(bool, other.keys)))
    return found if is_near else None


def _unshared(own: Worded, other: Worded) -> Iterator[tuple[range, range]]:
    """The places of both sides between the words that they share in order.

    Words of sentences come first: "expected Matt, got Gloss" and "expected Gloss, got Matt" share "expected" and "got".
    """
    everything = range(len(own.words)), range(len(other.words))
    for mine, its in _parted(everything, [_plain(one) for one in (own, other)]):
        yield from _parted((mine, its), [own.keys, other.keys])


def _plain(one: Worded) -> list[str]:
    return ["" if is_value else key for key, is_value in zip(one.keys, one.values, strict=True)]


def _parted(within: tuple[range, range], keys: Sequence[Sequence[str]]) -> Iterator[tuple[range, range]]:
    """The places between those of equal keys; nothing is equal to "", a slot: that both have values aligns nothing."""
    here, there = within
    mine, its = here.start, there.start
    one = [keys[0][place] or "\0" for place in here]
    for block in LCSseq.opcodes(one, [keys[1][place] or "\1" for place in there]):
        if block.tag == "equal":
            yield range(mine, here.start + block.src_start), range(its, there.start + block.dest_start)
            mine, its = here.start + block.src_end, there.start + block.dest_end
    yield range(mine, here.stop), range(its, there.stop)


def _between(own: Worded, other: Worded, mine: range, its: range) -> Iterator[tuple[int, Said]]:
    """What the words `its` of the other text say in the places `mine`, where they are not the same."""
    rest = [other.words[place] for place in its]
    left: list[int] = []
    last = mine.start - 1  # place that is the same
    for place in mine:
        word = own.words[place]
        is_slot = not own.keys[place]
        mate = next((one for one in rest if (one == word if is_slot else is_same(word, one))), None)
        if mate is None and is_slot and not left:
            mate = next((one for one in rest if not SLOT.fullmatch(one)), None)  # its value
        if mate is not None:
            rest.remove(mate)
            last = place
        elif not is_slot:
            left.append(place)
    begins, ends = mine.start == 0 and not rest, mine.stop == len(own.words)
    at_end = its.stop == len(other.words)
    is_cut = other.is_truncated and at_end
    for number, place in enumerate(left):
        words = tuple(rest[number:] if number == len(left) - 1 else rest[number : number + 1])
        if 0 < other.keys.count(own.keys[place]) < own.keys.count(own.keys[place]):
            yield place, _NOTHING  # it says the word less often
        elif not words:
            is_left_out = begins or (ends and place > last) or not own.values[place]
            yield place, _NOTHING if is_left_out else Said(Says.OTHER)
        elif len(rest) == number + 1 and (is_cut or (at_end and own.words[place].startswith(rest[-1]))):
            yield place, _NOTHING
        elif max(len(left), len(rest)) <= VALUE_WORDS or own.values[place]:
            yield place, Said(Says.OTHER, words)
        else:
            yield place, Said(Says.WORDING, words)


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
        says_type = one.exception_type == cluster.exception_type or not is_any_type(one.exception_type or "Error")
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
    printed = sorted({one for found in types.values() for one in found if one != own and is_type(own, one)})
    typed = sum(bool(found) for found in types.values())
    for kind in dict.fromkeys((own, of_any(own), *printed)):
        same = _printing(kind, types)
        if same >= TYPED * typed and same >= TYPED_OF_ALL * len(types):
            return kind
    return None


def _usual_type(own: str | None, types: Mapping[str, Collection[str]]) -> str | None:
    """The representative's type, if half of the documents print it or a kind of it."""
    return own if own and _printing(own, types) >= TYPED_OF_ALL * len(types) else None


def _printing(kind: str, types: Mapping[str, Collection[str]]) -> int:
    """How many documents print a type or a kind of it."""
    return sum(any(one == kind or is_type(one, kind) for one in found) for found in types.values())


def _untyped(cluster: Cluster) -> str:
    """The representative's text without its type in front."""
    kind = cluster.exception_type or ""
    return cluster.text.removeprefix(f"{kind}: ").removeprefix(f"{kind.rpartition('.')[2]}: ") if kind else cluster.text


def _given(gate: Iterable[tuple[str, str]], text: str) -> frozenset[str]:
    """The words of a gate, and those that name its code in the text: all members have them, however they say it."""
    own = dict(gate).get("code")
    named = (text[one.start : one.end] for _, one in codes.mentions(text) if one.code == own) if own else ()
    values = chain(
        filter(WORD.fullmatch, named),
        (part for _, value in gate for part in (value, value.rpartition(":")[2])),
    )
    return frozenset(key(word) for value in values for word in WORD.findall(value))


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
            if is_negation(self._own.words[place]) and place + 1 < len(self._own.words):
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
        if SLOT.search(best) and not SLOT.fullmatch(best) and is_same(best, word):
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
