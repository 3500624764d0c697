"""Proof by trying: an expression is kept only if it matches every text of its cluster and none of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pipeline.cluster import patterns
from pipeline.cluster.patterns import Pattern
from pipeline.records import Cluster, Template

if TYPE_CHECKING:
    import duckdb

#: Words of an expression whose texts are intersected, the rarest first, before the expression itself is tried.
_RAREST_WORDS = 4
#: Texts of a cluster that its expression is made from, the representative first; it is tried on all of them.
MOST_TEXTS = 120
_WORD = re.compile(r"\w+")


class Foreigners:
    """All texts by their words: the few that could match an expression are found without trying it on the rest."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        self._texts = texts  # owner, text
        self._places: dict[str, list[int]] = {}
        for place, (_, text) in enumerate(texts):
            for word in set(_WORD.findall(text)):
                self._places.setdefault(word, []).append(place)

    def could_match(self, pattern: Pattern, owner: str) -> list[str]:
        """The texts of other owners that hold the rarest words of an expression."""
        lists = sorted((self._places.get(word, []) for word in pattern.words), key=len)[:_RAREST_WORDS]
        if not lists:
            return [text for other, text in self._texts if other != owner]
        places = set(lists[0]).intersection(*lists[1:])
        return [self._texts[place][1] for place in sorted(places) if self._texts[place][0] != owner]


def with_regexes(clusters: Sequence[Cluster], templates: Mapping[str, Template]) -> list[Cluster]:
    """The clusters with an expression each, "" where none could be proven on their signature texts."""
    texts = [(one.cluster_id, templates[member].text) for one in clusters for member in one.members]
    foreigners = Foreigners(texts)
    proven = {}
    for cluster in clusters:
        own = [cluster.text, *(templates[member].text for member in cluster.members if member != cluster.medoid)]
        full = [text for text, cut in zip(own, _cuts(cluster, templates), strict=True) if not cut] or own
        for ratio in (patterns.KEPT_RATIO, patterns.STRICT_RATIO) if len(full) > 1 else (patterns.KEPT_RATIO,):
            pattern = patterns.alternatives(full[:MOST_TEXTS], kept_ratio=ratio)
            if pattern is not None and _is_foreign_free(pattern, foreigners, cluster.cluster_id):
                proven[cluster.cluster_id] = (pattern.regex, full)
                break
    good = proven_on(proven)
    return [replace(one, regex=proven[one.cluster_id][0] if one.cluster_id in good else "") for one in clusters]


def _cuts(cluster: Cluster, templates: Mapping[str, Template]) -> list[bool]:
    members = [cluster.medoid, *(member for member in cluster.members if member != cluster.medoid)]
    return [templates[member].is_truncated for member in members]


def _is_foreign_free(pattern: Pattern, foreigners: Foreigners, owner: str) -> bool:
    """Whether no other owner's text matches; each alternative is tried on the few texts that hold its words."""
    for side in patterns.sides(pattern):
        texts = foreigners.could_match(side, owner)
        if texts:
            search = re.compile(side.regex, re.ASCII).search
            if any(search(text) for text in texts):
                return False
    return True


def proven_on(expressions: Mapping[str, tuple[str, Sequence[str]]]) -> frozenset[str]:
    """The keys whose expression is found in each of its texts, by Python; and by RE2 in the longest of them.

    The language of `patterns` means the same to both, with ASCII classes; RE2 must still accept and compile each
    expression, which costs most of the time, so it sees one text.
    """
    import duckdb  # noqa: PLC0415  50 ms that `errmine match` does not have

    held = {key: max(texts, key=len) for key, (regex, texts) in expressions.items() if texts and _finds(regex, texts)}
    if not held:
        return frozenset()
    keys, regexes = list(held), [expressions[key][0] for key in held]
    texts = [held[key] for key in keys]
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET enable_progress_bar = false")
        try:
            found = _matched(connection, regexes, texts)
        except duckdb.Error:  # one expression that RE2 refuses spoils the whole query: find it
            found = [_is_matched_alone(connection, regex, text) for regex, text in zip(regexes, texts, strict=True)]
    return frozenset(key for key, is_found in zip(keys, found, strict=True) if is_found)


def _finds(regex: str, texts: Iterable[str]) -> bool:
    try:
        search = _compiled(regex).search
    except re.error:
        return False
    return all(search(text) for text in texts)


@lru_cache(maxsize=8192)  # each is asked for three times; to make one costs more than to use it
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


def regexes_for(clusters: Iterable[Cluster], messages: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The proven expression of each cluster id, "" where there is none; messages of other clusters are foreign."""
    work = {one.cluster_id: (one, list(dict.fromkeys(messages.get(one.cluster_id, ())))) for one in clusters}
    texts = [(owner, text) for owner, (_, members) in work.items() for text in members]
    return _proven(work, Foreigners(texts))


def _proven(work: Mapping[str, tuple[Cluster, list[str]]], foreigners: Foreigners) -> dict[str, str]:
    """Each try that Python accepts goes to RE2, all clusters in one query; the first that both accept is kept.

    Tries are made one at a time: most clusters keep the first, which costs nothing to make.
    """
    found = dict.fromkeys(work, "")
    waiting = {owner: _held_tries(owner, cluster, members, foreigners) for owner, (cluster, members) in work.items()}
    while True:
        tried = {owner: pattern for owner, tries in waiting.items() if (pattern := next(tries, None)) is not None}
        if not tried:
            return found
        first = {owner: (one.regex, [*_printed(work[owner][0]), *work[owner][1]]) for owner, one in tried.items()}
        good = proven_on(first)
        found.update({owner: first[owner][0] for owner in good})
        waiting = {owner: waiting[owner] for owner in tried if owner not in good}


def _held_tries(owner: str, cluster: Cluster, members: Sequence[str], foreigners: Foreigners) -> Iterator[Pattern]:
    """The expressions that hold on `members` and on no foreigner, the cluster's own first."""
    seen: set[str] = set()
    for make in (_known, _loose, _strict, _ended, _exact):
        pattern = make(cluster, members)
        if pattern is not None and pattern.regex not in seen:
            seen.add(pattern.regex)
            if _is_held(pattern, owner, [*_printed(cluster), *members], foreigners):
                yield pattern


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
    return made if made is not None and len(patterns.sides(made)) == 1 else None


def _printed(cluster: Cluster) -> tuple[str, str]:
    """The signature text as a message could print it, bare and as a traceback ends: a number where its slot is."""
    return cluster.text.replace("<n>", "0"), cluster.headline.replace("<n>", "0")


def _is_held(pattern: Pattern, owner: str, members: Sequence[str], foreigners: Foreigners) -> bool:
    search = _compiled(pattern.regex).search
    return all(search(text) for text in members) and _is_foreign_free(pattern, foreigners, owner)
