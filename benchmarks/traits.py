"""What a unit of a thread looks like to a linear reader: its words, its neighbours' words, its place, who says it.

Traits are short strings ("w:fixed by", "by:reporter"), so that the weights that a training gave them can be read by
people. Names, numbers and addresses are replaced by their kind: a reader learns how people say things, not about what.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pipeline.records import MAINTAINER_ROLES, Document, Event, PostKind
from pipeline.text.units import Unit, UnitKind

#: Kinds of units in which people speak.
SPOKEN = frozenset({UnitKind.SENTENCE, UnitKind.ITEM})

_TOKEN = re.compile(
    r"(?P<code>`[^`\n]{1,200}`)|(?P<url>(?:https?://|www\.)[^\s)>\]]{1,300})|(?P<ref>(?:[\w.-]{1,40}/[\w.-]{1,60})?#\d{1,7}\b)"
    r"|(?P<who>@[\w-]{1,40})|(?P<sha>\b(?=[a-f]*\d)[0-9a-f]{7,40}\b)|(?P<ver>\bv?\d+(?:\.\d+)+[\w.+-]*)"
    r"|(?P<num>\b\d[\d,]*\b)|(?P<flag>--?[a-z][\w-]+=?)|(?P<path>[\w.~-]*(?:/[\w.~-]+){2,}|[A-Za-z]:\\[^\s]+)"
    r"|(?P<env>\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b)|(?P<call>\b[\w.]+\(\)?)"
    r"|(?P<name>\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+_\w+|\w+\.\w+(?:\.\w+)*)\b)"
    r"|(?P<word>[A-Za-z]+(?:['’][a-z]+)?)|(?P<han>[\u4e00-\u9fff]+)|(?P<mark>[?!:]|==?>)"
)
#: So many tokens of a unit are looked at, and of a neighbour.
_MOST, _MOST_BESIDE = 60, 40
_WORD = re.compile(r"[A-Za-z_][\w.]{3,}")


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
        if len(found) >= _MOST:
            break
    return found


class View:
    """A thread with its units, seen trait by trait."""

    def __init__(self, document: Document, events: Sequence[Event], units: Sequence[Unit]) -> None:
        self.units = units
        self._document = document
        self._tokens: dict[int, list[str]] = {}
        self._words = frozenset(
            w.lower() for e in events for w in _WORD.findall(f"{e.exception_type or ''} {e.message[:400]}")
        )
        self._shown = sorted({document.post_at(e.start) for e in events})
        posts = document.posts
        self._reporter = next((p.author_hash for p in posts if p.kind == PostKind.BODY), None)
        spoken = [n for n, p in enumerate(posts) if not p.is_bot]
        self._place = {number: place for place, number in enumerate(spoken)}
        self._order = spoken
        self._first: dict[int, int] = {}
        self._count: dict[int, int] = {}
        for unit in units:
            self._first.setdefault(unit.post, unit.number)
            self._count[unit.post] = self._count.get(unit.post, 0) + 1

    def tokens(self, number: int) -> list[str]:
        """The tokens of one unit."""
        known = self._tokens.get(number)
        if known is None:
            unit = self.units[number]
            known = tokens(self._document.text[unit.start : min(unit.end, unit.start + 600)])
            self._tokens[number] = known
        return known

    def traits(self, number: int) -> list[str]:
        """Every trait of one unit, each once, in no order that means anything."""
        unit = self.units[number]
        words = self.tokens(number)
        found = {f"w:{word}" for word in words}
        found.update(f"w:{a} {b}" for a, b in pairwise(words))
        found.update(_begin(words))
        found.update(self._beside(unit, words))
        found.update(self._placed(unit, words))
        return sorted(found)

    def _beside(self, unit: Unit, words: Sequence[str]) -> Iterable[str]:
        for name, number in (("p", unit.number - 1), ("n", unit.number + 1)):
            if not 0 <= number < len(self.units):
                continue
            other = self.units[number]
            if other.post != unit.post:
                continue
            yield f"{name}:{other.kind.value}"
            if other.kind in SPOKEN:
                beside = self.tokens(number)[:_MOST_BESIDE]
                yield from (f"{name}:{word}" for word in beside)
        at = self._place.get(unit.post)
        if at is None:
            return
        for name, place in (("P", at - 1), ("N", at + 1)):
            if 0 <= place < len(self._order):
                first = self._first.get(self._order[place])
                if first is not None and self.units[first].kind in SPOKEN:
                    yield from (f"{name}:{word}" for word in self.tokens(first)[:12])

    def _placed(self, unit: Unit, words: Sequence[str]) -> Iterable[str]:
        posts = self._document.posts
        post = posts[unit.post] if unit.post >= 0 else None
        yield f"kind:{unit.kind.value}"
        yield f"len:{_size(len(words))}"
        count = self._count[unit.post]
        at = unit.number - self._first[unit.post]
        yield f"of:{_size(count)}"
        yield "at:only" if count == 1 else "at:first" if at == 0 else "at:last" if at == count - 1 else "at:mid"
        overlap = len(
            self._words.intersection(w.lower() for w in _WORD.findall(self._document.text[unit.start : unit.end]))
        )
        yield f"names:{min(3, overlap)}"
        if post is None:
            return
        place = self._place.get(unit.post, 0)
        far = len(self._order) - 1 - place
        who = "maintainer" if post.author_role in MAINTAINER_ROLES else "other"
        if post.author_hash is not None and post.author_hash == self._reporter:
            who = "reporter"
        yield f"by:{who}"
        yield f"post:{post.kind.value}"
        yield f"place:{min(place, 5)}"
        yield f"from end:{min(far, 3)}"
        yield f"posts:{_size(len(self._order))}"
        yield f"by:{who} post:{post.kind.value}"
        yield f"state:{self._document.state} end:{min(far, 2)}"
        since = min((unit.post - shown for shown in self._shown if shown <= unit.post), default=-1)
        yield f"since:{min(since, 4)}"
        if words and words[-1] == "?":
            yield "asks"
        if at > 0 and unit.post >= 0:
            yield f"by:{who} at:later"


def _begin(words: Sequence[str]) -> Iterable[str]:
    if words:
        yield f"^:{words[0]}"
        yield f"^:{' '.join(words[:2])}"
        yield f"$:{words[-1]}"


def _size(count: int) -> int:
    """0, 1, 2, 4, 8, ...: the power of two at or below."""
    return 1 << (count.bit_length() - 1) if count > 0 else 0
