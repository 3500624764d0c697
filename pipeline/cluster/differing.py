"""Where a text says something else than another one of its cluster, word by word.

Both are aligned by the words that they share in order. What stands between two shared words of one and not of the other
is another value, if it is short on both sides, or another wording, of which only names and values are another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from rapidfuzz.distance import LCSseq

from pipeline.cluster import spelling
from pipeline.cluster.shapes import SLOT

#: Two texts of which the shorter shares less with the other tell it in other words.
SHARED = 0.5
#: Unless both begin with so many words that are the same.
BEGINNING = 3
#: In one place stand so many words at most, or it is another wording.
VALUE_WORDS = 2


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
    found = [one for one in spelling.WORD.finditer(text) if SLOT.fullmatch(one[0]) or spelling.is_telling(one[0])]
    return Worded(
        text,
        tuple(one[0] for one in found),
        tuple(one.span() for one in found),
        tuple("" if SLOT.fullmatch(one[0]) else spelling.key(one[0]) for one in found),
        tuple(spelling.is_value(one[0], text[max(0, one.start() - 40) : one.start()]) for one in found),
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
        mate = next((one for one in rest if (one == word if is_slot else spelling.is_same(word, one))), None)
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
