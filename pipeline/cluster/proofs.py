"""Proof by trying: an expression is kept only if it matches every text of its cluster and none of another.

Which of the others' texts it could match is told by their words. Many such questions are answered by an index of words,
which takes as long as some fifty clusters take to be proven. Few are answered by reading: the texts lie one behind the
other, and the longest word is looked for in them.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cache, lru_cache, partial
from itertools import accumulate, chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from pipeline.cluster import patterns
from pipeline.cluster.patterns import Pattern
from pipeline.records import Cluster, Template

if TYPE_CHECKING:
    import duckdb


#: Words of an expression whose texts are intersected, the rarest first, before the expression itself is tried.
_RAREST_WORDS = 4
#: Texts are read where no more than one owner for so many of them is asked about.
_TEXTS_A_READING = 64
_WORD = re.compile(r"\w+")
#: Bits of a mask: as many as a number of a column has beside its sign.
_BITS = 63
#: No word holds it.
_BETWEEN = "\0"


#: All that a cluster is but its expression: `repr` of a record takes three times as long as of these.
_BARE = attrgetter(*(one.name for one in fields(Cluster) if one.name != "regex"))
#: Texts of a cluster that its expression is made from, the representative first; it is tried on all of them.
MOST_TEXTS = 120
Item = TypeVar("Item")
#: Clusters whose tries are held at once: those of 10,700 took 25 MB.
_TRIED_AT_ONCE = 1000


def words_of(text: str) -> set[str]:
    """The distinct words of a text."""
    return set(_WORD.findall(text))


def mask(words: Iterable[str]) -> int:
    """The bits of some words: a text that holds all of them has all of these bits, and few others have."""
    found = 0
    for word in words:
        found |= 1 << zlib.crc32(word.encode("utf-8", "surrogatepass")) % _BITS
    return found


class Lying(Protocol):
    """Texts that nobody changed, each with its owner, where they lie: none is made Python's own before it is found."""

    def __len__(self) -> int: ...

    def holding(self, words: frozenset[str], but: frozenset[str]) -> Iterable[tuple[str, str]]:
        """Owner and text of those that hold all of these words, in any order; none of some owners."""

    def __iter__(self) -> Iterator[tuple[str, str]]: ...


class Foreigners:
    """Texts with their owners, for who asks which texts of others an expression could match."""

    def __init__(self, texts: Iterable[tuple[str, str]], *, asked: int, lying: Lying | None = None) -> None:
        """For one that is asked about so many of the owners; of texts that are `lying` those of others than these."""
        self._owners: list[str] = []
        self._texts: list[str] = []
        for owner, text in texts:
            self._owners.append(owner)
            self._texts.append(text)
        is_few = asked * _TEXTS_A_READING < len(self._texts) + (0 if lying is None else len(lying))
        self._lying = lying if is_few else None
        known = frozenset(self._owners)
        for owner, text in () if lying is None or is_few else lying:
            if owner not in known:
                self._owners.append(owner)
                self._texts.append(text)
        self._known = known
        self._finder: _Finder = _Reading(self._texts) if is_few else _Index(self._texts)

    def could_match(self, pattern: Pattern, owner: str) -> list[tuple[str, str]]:
        """Owner and text of those of others that hold all words of an expression, in their order."""
        if not pattern.words:
            every = chain(zip(self._owners, self._texts, strict=True), self._others(self._lying or ()))
            return [one for one in every if one[0] != owner]
        found, is_sure = self._finder.holding(pattern.words)
        there = [
            (self._owners[place], self._texts[place])
            for place in found
            if self._owners[place] != owner and (is_sure or pattern.words <= words_of(self._texts[place]))
        ]
        if self._lying is not None:
            there += [one for one in self._lying.holding(pattern.words, self._known) if one[0] != owner]
        return there

    def _others(self, texts: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
        return (one for one in texts if one[0] not in self._known)


def longest(words: Iterable[str]) -> str:
    """The longest of some words: it is in the fewest texts."""
    return max(words, key=lambda word: (len(word), word))


class _Finder(Protocol):
    """Finds the texts that hold words."""

    def holding(self, words: frozenset[str]) -> tuple[Sequence[int], bool]:
        """The places of all texts that hold these words, and whether each of them does."""


class _Reading:
    """Looks through all texts for the longest of the words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._every = _BETWEEN.join(texts)
        self._starts = array("Q", accumulate((len(text) + 1 for text in texts), initial=0))

    def holding(self, words: frozenset[str]) -> tuple[Sequence[int], bool]:
        """See `_Finder`."""
        return list(self._with(longest(words))), False

    def _with(self, word: str) -> Iterator[int]:
        start = self._every.find(word)
        while start >= 0:
            place = bisect_right(self._starts, start) - 1
            yield place
            start = self._every.find(word, self._starts[place + 1])


class _Index:
    """Knows of every word the places of the texts that hold it, those of one word after those of another."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._numbers: dict[str, int] = {}
        numbers, places = array("I"), array("I")
        for place, text in enumerate(texts):
            for word in words_of(text):
                numbers.append(self._numbers.setdefault(word, len(self._numbers)))
                places.append(place)
        words = np.frombuffer(numbers, np.uint32) if numbers else np.empty(0, np.uint32)
        order = np.argsort(words, kind="stable")
        self._places = np.frombuffer(places, np.uint32)[order] if places else words
        self._ends = np.bincount(words, minlength=len(self._numbers)).cumsum() if numbers else words

    def holding(self, words: frozenset[str]) -> tuple[Sequence[int], bool]:
        """See `_Finder`."""
        lists = sorted(map(self._of, words), key=len)[:_RAREST_WORDS]
        return sorted(set(lists[0]).intersection(*lists[1:])), len(words) <= _RAREST_WORDS

    def _of(self, word: str) -> list[int]:
        number = self._numbers.get(word)
        if number is None:
            return []
        start = int(self._ends[number - 1]) if number else 0
        found: list[int] = self._places[start : int(self._ends[number])].tolist()
        return found


class Witness(NamedTuple):
    """A text that refuted a try."""

    owner: str
    told: str  # digest of it


@dataclass(frozen=True, slots=True)
class Proof:
    """How the expression of a cluster was found, so that the next build can tell whether it would find the same.

    It would, if the cluster's own texts are as they were, whoever refuted an earlier try still stands where it stood,
    and no text that came since is found by the try that was chosen. What went from one cluster to another was foreign
    to all others before, and the two have other members now.
    """

    cluster_id: str
    own: str  # digest of all that the tries are made from, and of the cluster's own texts
    regex: str  # "" where no try was proven
    chosen: str  # the last try that no foreign text refuted, proven or not; "" where all were
    witnesses: tuple[Witness, ...]  # of each try that was refuted
    anchors: tuple[str, ...] = ()  # of each alternative of the chosen try a word that a text it finds must hold; or ""
    masks: tuple[int, ...] = ()  # of each the bits of all words that such a text must hold


def digest(*parts: object) -> str:
    """A digest of parts that have a text of their own."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class Standing(Protocol):
    """The proofs of the last build."""

    def get(self, owner: str, /) -> Proof | None:
        """That of a cluster, if it has one."""

    def refuted_by(self, owners: Set[str], /) -> Iterable[Proof]:
        """Those of which a try was refuted by a text of one of these clusters."""

    def that_may_find(self, came: Came, /) -> Iterable[Proof]:
        """Those of whose chosen try an alternative may find one of the texts that came, and perhaps a few others."""


class Came:
    """Texts that came, each with its owner, for who asks which of them an expression finds."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._texts = [(owner, text, words_of(text)) for owner, text in texts]
        self._bits = [mask(words) for _, _, words in self._texts]
        self.words = frozenset[str]().union(*(words for _, _, words in self._texts)) | ({""} if self._texts else set())
        self.masks = sorted({*self._bits})

    def found_by(self, proofs: Iterable[Proof]) -> set[str]:
        """The owners of those expressions of which an alternative finds a text of another."""
        filed: dict[str, list[tuple[Proof, int]]] = {}
        for proof in proofs:
            for place, anchor in enumerate(proof.anchors):
                if anchor in self.words:
                    filed.setdefault(anchor, []).append((proof, place))
        found: set[str] = set()
        for (owner, text, words), bits in zip(self._texts, self._bits, strict=True):
            for proof, place in (one for word in ("", *words) for one in filed.get(word, ())):
                asked = proof.cluster_id not in found and proof.cluster_id != owner
                if asked and not proof.masks[place] & ~bits and _is_found(proof, place, text, words):
                    found.add(proof.cluster_id)
        return found


def _is_found(proof: Proof, place: int, text: str, words: Set[str]) -> bool:
    side = patterns.sides_of(proof.chosen)[place]
    return side.words <= words and _search(side.regex)(text) is not None


class Proofs(dict[str, Proof]):
    """Proofs by cluster, each of which is looked at."""

    @classmethod
    def of(cls, every: Iterable[Proof]) -> Proofs:
        """By their clusters."""
        return cls((one.cluster_id, one) for one in every)

    def refuted_by(self, owners: Set[str], /) -> Iterable[Proof]:
        """See `Standing`."""
        return [one for one in self.values() if any(witness.owner in owners for witness in one.witnesses)]

    def that_may_find(self, came: Came, /) -> Iterable[Proof]:
        """See `Standing`."""
        return [one for one in self.values() if not came.words.isdisjoint(one.anchors)]


#: Of no build.
NO_PROOFS = Proofs()


@dataclass(frozen=True, slots=True)
class Untouched:
    """The clusters that nobody touched since the last build: each has the texts, and the proof, that it had."""

    gone: Set[str]  # clusters that had a proof and are not among these, whether they are touched or gone
    clusters: Callable[[Sequence[str]], Iterable[Cluster]]  # of ids, in their order
    texts: Lying
    came: Sequence[tuple[str, str]]  # whose it is, and a text, of all that the last build did not have


Own = Mapping[str, tuple[str, Sequence[str]]]  # by cluster: digest, and texts


def _standing(kept: Standing, own: Own, rest: Untouched | None) -> tuple[dict[str, Proof], list[str]]:
    """The proofs of the clusters `own` that would be found again, and the other clusters whose proofs would not."""
    same = {owner: proof for owner, (told, _) in own.items() if (proof := kept.get(owner)) and proof.own == told}
    every = ((owner, text) for owner, (_, texts) in own.items() if owner not in same for text in texts)
    came = Came(every if rest is None else rest.came)
    touched = own.keys() | (frozenset() if rest is None else rest.gone)

    def holds(proof: Proof) -> bool:
        return all((rest is not None and one.owner not in touched) or _is_there(one, own) for one in proof.witnesses)

    held = {owner: proof for owner, proof in same.items() if holds(proof)}
    again: set[str] = set()
    filed: dict[str, Proof] = {}
    if rest is not None:
        doubted = (one for one in kept.refuted_by(touched) if one.cluster_id not in touched)
        again.update(one.cluster_id for one in doubted if not holds(one))
        filed = {one.cluster_id: one for one in kept.that_may_find(came) if one.cluster_id not in touched}
    refuted = came.found_by([*held.values(), *filed.values()])
    again |= refuted & filed.keys()
    return {owner: proof for owner, proof in held.items() if owner not in refuted}, sorted(again)


def _filed(chosen: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The anchors and the masks of a proof."""
    sides = patterns.sides_of(chosen) if chosen else []
    return tuple(longest(side.words) if side.words else "" for side in sides), tuple(mask(one.words) for one in sides)


def _is_there(witness: Witness, own: Own) -> bool:
    return witness.owner in own and any(digest(text) == witness.told for text in own[witness.owner][1])


def on_templates(
    clusters: Sequence[Cluster],
    templates: Mapping[str, Template],
    kept: Standing,
    rest: Untouched | None = None,
) -> dict[str, Proof]:
    """By cluster how its expression was proven on signature texts, which is "" where none could be.

    `kept` are the proofs of the last build, `rest` the clusters that nobody touched since: of these there are those
    alone whose proof does not stand any more. Without them `clusters` are all that there are.
    """

    def told(one: Cluster) -> tuple[str, Sequence[str]]:
        members = [templates[member] for member in one.members]
        return digest(_BARE(one), [(m.text, m.is_truncated) for m in members]), [m.text for m in members]

    own = {one.cluster_id: told(one) for one in clusters}
    found, again = _standing(kept, own, rest)
    new = [one for one in clusters if one.cluster_id not in found]
    new += rest.clusters(again) if rest is not None else []
    if new:
        touched = ((owner, text) for owner, (_, every) in own.items() for text in every)
        foreigners = Foreigners(touched, asked=len(new), lying=None if rest is None else rest.texts)
        own |= {one.cluster_id: told(one) for one in new if one.cluster_id not in own}
        for some in _batches(new):
            found |= _proven_on_templates(some, templates, foreigners, own)
    return found


def _batches(every: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """So many at a time that what is tried for them takes little room."""
    return (every[start : start + _TRIED_AT_ONCE] for start in range(0, len(every), _TRIED_AT_ONCE))


def _proven_on_templates(
    clusters: Sequence[Cluster],
    templates: Mapping[str, Template],
    foreigners: Foreigners,
    own: Own,
) -> dict[str, Proof]:
    tried: dict[str, tuple[str, Sequence[str]]] = {}
    witnesses: dict[str, list[Witness]] = {}
    for cluster in clusters:
        texts = [cluster.text, *(templates[member].text for member in cluster.members if member != cluster.medoid)]
        full = [text for text, cut in zip(texts, _cuts(cluster, templates), strict=True) if not cut] or texts
        against = witnesses.setdefault(cluster.cluster_id, [])
        for ratio in (patterns.KEPT_RATIO, patterns.STRICT_RATIO) if len(full) > 1 else (patterns.KEPT_RATIO,):
            pattern = patterns.alternatives(full[:MOST_TEXTS], kept_ratio=ratio)
            if pattern is None:
                continue
            witness = _witness(pattern, foreigners, cluster.cluster_id)
            if witness is None:
                tried[cluster.cluster_id] = (pattern.regex, full)
                break
            against.append(witness)
    good = proven_on(tried)
    return {
        one.cluster_id: Proof(
            one.cluster_id,
            own[one.cluster_id][0],
            tried[one.cluster_id][0] if one.cluster_id in good else "",
            tried.get(one.cluster_id, ("", ()))[0],
            tuple(witnesses[one.cluster_id]),
            *_filed(tried.get(one.cluster_id, ("", ()))[0]),
        )
        for one in clusters
    }


def _cuts(cluster: Cluster, templates: Mapping[str, Template]) -> list[bool]:
    members = [cluster.medoid, *(member for member in cluster.members if member != cluster.medoid)]
    return [templates[member].is_truncated for member in members]


def _witness(pattern: Pattern, foreigners: Foreigners, owner: str) -> Witness | None:
    """Whose text an expression matches although it should not, and a digest of that text; None if there is none.

    Each alternative is tried on the few texts that hold its words.
    """
    for side in patterns.sides_of(pattern.regex):
        texts = foreigners.could_match(side, owner)
        search = _search(side.regex) if texts else None
        for other, text in texts:
            if search is not None and search(text):
                return Witness(other, digest(text))
    return None


def _search(regex: str) -> Callable[[str], object]:
    return re.compile(regex, re.ASCII).search


def proven_on(expressions: Mapping[str, tuple[str, Sequence[str]]]) -> frozenset[str]:
    """The keys whose expression is found in each of its texts, by Python; and by RE2 in the longest of them.

    The language of `patterns` means the same to both, with ASCII classes; RE2 must still accept and compile each
    expression, which costs most of the time, so it sees one text.
    """
    return _found_by_re2({key: each for key, each in expressions.items() if _finds(*each)})


def _found_by_re2(expressions: Mapping[str, tuple[str, Sequence[str]]]) -> frozenset[str]:
    """The keys whose expression RE2 finds in the longest of its texts."""
    import duckdb  # noqa: PLC0415  50 ms that `errmine match` does not have

    held = {key: max(texts, key=len) for key, (_, texts) in expressions.items() if texts}
    if not held:
        return frozenset()
    keys, regexes = list(held), [expressions[key][0] for key in held]
    texts = [held[key] for key in keys]
    with _engine().cursor() as connection:
        try:
            found = _matched(connection, regexes, texts)
        except duckdb.Error:  # one expression that RE2 refuses spoils the whole query: find it
            found = [_is_matched_alone(connection, regex, text) for regex, text in zip(regexes, texts, strict=True)]
    return frozenset(key for key, is_found in zip(keys, found, strict=True) if is_found)


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """DuckDB in memory, whose regexp functions are RE2; a build asks three times, and to start it takes 30 ms."""
    import duckdb  # noqa: PLC0415  50 ms that `errmine match` does not have

    made = duckdb.connect(config={"threads": 1})
    made.execute("SET enable_progress_bar = false")
    return made


def _finds(regex: str, texts: Iterable[str]) -> bool:
    try:
        search = _compiled(regex).search
    except re.error:
        return False
    return all(search(text) for text in texts)


#: To make one takes half a millisecond, and each is asked for twice: on templates, then on messages, which those of
#: 100,000 threads (32,012) outlast. All take 60 MB.
@lru_cache(maxsize=1 << 15)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.ASCII)


def _matched(connection: duckdb.DuckDBPyConnection, regexes: Sequence[str], texts: Sequence[str]) -> list[bool]:
    rows = connection.execute(
        "SELECT regexp_matches(text, regex) FROM (SELECT unnest(?::VARCHAR[]) AS regex, unnest(?::VARCHAR[]) AS text)",
        [list(regexes), list(texts)],
    ).fetchall()
    return [bool(row[0]) for row in rows]


def _is_matched_alone(connection: duckdb.DuckDBPyConnection, regex: str, text: str) -> bool:
    import duckdb  # noqa: PLC0415  50 ms that `errmine match` does not have

    try:
        return _matched(connection, [regex], [text])[0]
    except duckdb.Error:
        return False


def regexes_for(
    clusters: Iterable[Cluster],
    messages: Mapping[str, Sequence[str]],
    kept: Standing = NO_PROOFS,
    rest: Untouched | None = None,
) -> dict[str, Proof]:
    """By cluster how its expression was proven on its messages; those of other clusters are foreign.

    See `on_templates`; `messages` are asked of `clusters`, and of others where their proof does not stand.
    """

    def told(one: Cluster, words: Sequence[str]) -> tuple[str, Sequence[str]]:
        said = list(dict.fromkeys(words))
        return digest((one.regex, _BARE(one)), said), said

    every = {one.cluster_id: one for one in clusters}
    own = {owner: told(one, messages.get(owner, ())) for owner, one in every.items()}
    found, again = _standing(kept, own, rest)
    new = [owner for owner in every if owner not in found] + again
    if new:
        touched = ((owner, text) for owner, (_, said) in own.items() for text in said)
        foreigners = Foreigners(touched, asked=len(new), lying=None if rest is None else rest.texts)
        every |= {one.cluster_id: one for one in rest.clusters(again)} if rest is not None else {}
        own |= {owner: told(every[owner], messages[owner]) for owner in again}
        for some in _batches(new):
            found |= _proven({owner: (every[owner], list(own[owner][1])) for owner in some}, foreigners, own)
    _compiled.cache_clear()  # nobody asks for them again
    return found


def _proven(
    work: Mapping[str, tuple[Cluster, list[str]]],
    foreigners: Foreigners,
    own: Own,
) -> dict[str, Proof]:
    """Each try that Python accepts goes to RE2, all clusters in one query; the first that both accept is kept.

    Tries are made one at a time: most clusters keep the first, which costs nothing to make.
    """
    against: dict[str, list[Witness]] = {owner: [] for owner in work}
    chosen = dict.fromkeys(work, "")
    found = dict.fromkeys(work, "")
    waiting = {
        owner: _held_tries(cluster, members, partial(_witness, foreigners=foreigners, owner=owner), against[owner])
        for owner, (cluster, members) in work.items()
    }
    while tried := {owner: pattern for owner, tries in waiting.items() if (pattern := next(tries, None)) is not None}:
        first = {owner: (one.regex, [*_printed(work[owner][0]), *work[owner][1]]) for owner, one in tried.items()}
        good = _found_by_re2(first)  # Python found each in these texts, or it were no try
        chosen.update({owner: regex for owner, (regex, _) in first.items()})
        found.update({owner: first[owner][0] for owner in good})
        waiting = {owner: waiting[owner] for owner in tried if owner not in good}
    proven = {owner: chosen[owner] if found[owner] else "" for owner in work}
    return {
        owner: Proof(owner, own[owner][0], found[owner], proven[owner], tuple(against[owner]), *_filed(proven[owner]))
        for owner in work
    }


def _held_tries(
    cluster: Cluster,
    members: Sequence[str],
    witness_of: Callable[[Pattern], Witness | None],
    against: list[Witness],
) -> Iterator[Pattern]:
    """The expressions that hold on `members` and on no foreigner, the cluster's own first.

    Who refutes one before is put into `against`.
    """
    seen: set[str] = set()
    texts = [*_printed(cluster), *members]
    for make in (_known, _loose, _strict, _ended, _exact):
        pattern = make(cluster, members)
        if pattern is None or pattern.regex in seen:
            continue
        seen.add(pattern.regex)
        if all(map(_compiled(pattern.regex).search, texts)):
            witness = witness_of(pattern)
            if witness is None:
                yield pattern
            else:
                against.append(witness)


def _known(cluster: Cluster, _members: Sequence[str]) -> Pattern | None:
    return patterns.known(cluster.regex) if cluster.regex else None


def _loose(cluster: Cluster, members: Sequence[str]) -> Pattern | None:
    return patterns.alternatives([cluster.text, *members[:MOST_TEXTS]], kept_ratio=patterns.KEPT_RATIO)


def _strict(cluster: Cluster, members: Sequence[str]) -> Pattern | None:
    return patterns.alternatives([cluster.text, *members[:MOST_TEXTS]], kept_ratio=patterns.STRICT_RATIO)


def _ended(cluster: Cluster, members: Sequence[str]) -> Pattern | None:
    made = _exact(cluster, members)
    return made and patterns.anywhere(made)


def _exact(cluster: Cluster, members: Sequence[str]) -> Pattern | None:
    """For errors whose words also stand in others: with numbers as numbers, at the begin or end of a line.

    Only one that all members share: exact alternatives would list the members one by one.
    """
    made = patterns.alternatives([_printed(cluster)[0], *members[:MOST_TEXTS]], is_exact=True)
    return made if made is not None and len(patterns.sides_of(made.regex)) == 1 else None


def _printed(cluster: Cluster) -> tuple[str, str]:
    """The signature text as a message could print it, bare and as a traceback ends: a number where its slot is."""
    return cluster.text.replace("<n>", "0"), cluster.headline.replace("<n>", "0")
