"""The errors that a bundle knows, made ready gate by gate: a single question is answered without reading the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipeline import normalise
from pipeline.records import Assignment, Cluster, Signature, Template, short_class
from pipeline.text import frames

if TYPE_CHECKING:
    from pipeline.cluster import Abstention, Index, Match

Gate = tuple[tuple[str, str], ...]
Row = Mapping[str, Any]

#: Errors compared to name the nearest one of a single abstention: an index of all 7,000 takes 0.25 s, of these 5 ms.
NEAREST_ROWS = 100


class KnownErrors:
    """The clusters of a bundle's index. Clustering never crosses a hard gate, so the errors of those are enough."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = [row for row in rows if row["cluster_id"] is not None]
        self._equal: dict[str, str] = {}
        self._of_gate: dict[Gate, dict[int, list[Row]]] = {}
        self._indexes: dict[tuple[Gate, ...], Index] = {}
        for place, row in enumerate(self._rows):
            for member in row["templates"]:
                self._equal[member["signature_id"]] = row["cluster_id"]
                gate = tuple([(name, value) for name, value in member["gate"]])
                self._of_gate.setdefault(gate, {}).setdefault(place, []).append(member)

    @cached_property
    def classes(self) -> frozenset[str]:
        """The short names of the classes of known errors."""
        named = (row["exception_type"] for row in self._rows)
        return frozenset(short_class(kind) for kind in named if kind)

    def classes_of(self, cluster_id: str) -> tuple[str, ...]:
        """The classes that reports of a cluster name and that say what went wrong, in order."""
        row = self._row_of[cluster_id]
        named = {row["exception_type"], *(member["exception_type"] for member in row["templates"])}
        return tuple(sorted(kind for kind in named if kind and normalise.is_specific(kind)))

    @cached_property
    def _row_of(self) -> dict[str, Row]:
        return {row["cluster_id"]: row for row in self._rows}

    def same(self, signature: Signature) -> str | None:
        """The cluster that holds this very signature."""
        return self._equal.get(signature.signature_id)

    def assign(self, signature: Signature) -> Match | Abstention:
        """The cluster of a signature, or why it has none, with what comes nearest in the whole bundle."""
        from pipeline.cluster import Match  # noqa: PLC0415  numpy and rapidfuzz, not needed for an equal answer

        if normalise.is_elsewhere(signature):
            there = self._anywhere(signature)
            if there:
                return _of_words(signature, there)
        found = self._assigned(signature)
        if not isinstance(found, Match) and normalise.is_arisen(signature) and (there := self._anywhere(signature)):
            return self._arising(signature) or _of_words(signature, there)
        return found

    def _arising(self, signature: Signature) -> Match | None:
        """The only cluster of these words that arise in this function, of a text that does not say whose it is."""
        from pipeline.cluster import Match  # noqa: PLC0415  as above

        owner, function = frames.parted(dict(signature.gate)[normalise.PLACE])
        there = self._anywhere(signature, function=function) if function and not owner else []
        if len(there) != 1:
            return None
        told = "Any program of the language prints these words; one entry has them from this function."
        return Match(there[0], 100.0, "gate", told, None)

    def _anywhere(self, signature: Signature, *, function: str = "") -> list[str]:
        """The clusters of a run time's words, wherever they arise or in a function, in order."""
        named = self._of_words.get(_placeless(signature.gate), ())
        return sorted(
            {
                cluster
                for cluster, text, place in named
                if (signature.is_gate_complete or text == signature.text)
                and (not function or frames.parted(place)[1] == function)
            }
        )

    @cached_property
    def _of_words(self) -> dict[Gate, list[tuple[str, str, str]]]:
        """By what their gates are but for the place: the clusters that have one, with their texts and places."""
        found: dict[Gate, list[tuple[str, str, str]]] = {}
        for gate, numbers in self._of_gate.items():
            where = dict(gate).get(normalise.PLACE)
            if where is not None:
                every = [(self._rows[number]["cluster_id"], own) for number, own in numbers.items()]
                rows = [(cluster, one["text"], where) for cluster, own in every for one in own]
                found.setdefault(_placeless(gate), []).extend(rows)
        return found

    def _assigned(self, signature: Signature) -> Match | Abstention:
        from pipeline.cluster import Match, hard  # noqa: PLC0415  as above

        if "_everything" in self.__dict__:
            return self._everything.assign(signature)
        if signature.gate in self._of_gate and not signature.is_truncated:
            found = self._index(signature.gate).assign(signature)
            if isinstance(found, Match):
                return found
        kin = self._kin.get(hard(signature.gate))
        if kin is not None:
            found = self._index(*kin).assign(signature)
            if isinstance(found, Match) or found.nearest is not None:
                return found
        return self._alike(signature.text).assign(signature)  # no match here either, but something to name

    def prepare(self) -> None:
        """Nothing; every question costs the same from now on. Worth its time where many will be asked."""
        _ = self._everything

    @cached_property
    def _kin(self) -> dict[Gate, list[Gate]]:
        """The gates that differ only by what comes from words: a cut or quoted text may join across them."""
        from pipeline.cluster import hard  # noqa: PLC0415

        kin: dict[Gate, list[Gate]] = {}
        for gate in self._of_gate:
            kin.setdefault(hard(gate), []).append(gate)
        return kin

    def _index(self, *gates: Gate) -> Index:
        """The index of the errors of these gates."""
        if gates not in self._indexes:
            members: dict[int, list[Row]] = {}
            for gate in gates:
                for place, own in self._of_gate[gate].items():
                    members.setdefault(place, []).extend(own)
            self._indexes[gates] = _index([(self._rows[place], members[place]) for place in sorted(members)])
        return self._indexes[gates]

    def _alike(self, text: str) -> Index:
        """An index of the errors that share most words with `text`: enough to name the nearest of other gates."""
        words = set(text.lower().split())
        shared = [len(words.intersection(row["signature"].lower().split())) for row in self._rows]
        ranked = sorted(range(len(shared)), key=lambda place: (-shared[place], place))[:NEAREST_ROWS]
        return _index([(self._rows[place], self._rows[place]["templates"]) for place in sorted(ranked)])

    @cached_property
    def _everything(self) -> Index:
        return _index([(row, row["templates"]) for row in self._rows])


def _placeless(gate: Gate) -> Gate:
    return tuple(pair for pair in gate if pair[0] != normalise.PLACE)


def _of_words(signature: Signature, there: Sequence[str]) -> Match | Abstention:
    """The answer to a run time's words of which the text does not say where they arise, or that arise elsewhere.

    One entry is theirs only where they name something and the text shows no other place.
    """
    from pipeline.cluster import Abstention, Candidate, Match  # noqa: PLC0415  as above

    is_unshown = normalise.is_elsewhere(signature) and not signature.frame_key
    if len(there) == 1 and normalise.is_named(signature) and is_unshown:
        told = "Any program of the language prints these words; one entry has them, and the text shows no other place."
        return Match(there[0], 100.0, "gate", told, None)
    how_many = f"{len(there)} entries have these words" if len(there) > 1 else "one entry has these words"
    where = dict(signature.gate).get(normalise.PLACE)
    shown = f"none of them arises in {where}" if where else "no stack shows where they arise"
    if not where and signature.frame_key:
        shown = f"none of them is known to arise in {signature.frame_key.rpartition(' > ')[2]}"
    reason = f"{how_many}, which any program of the language prints; they are told apart by where they arise: {shown}"
    return Abstention(reason, Candidate(there[0], 0.0))


def _index(rows: Sequence[tuple[Row, Sequence[Row]]]) -> Index:
    """The index of these clusters; made from plain rows, because checking 50,000 of them would take seconds."""
    from pipeline import cluster  # noqa: PLC0415

    templates, clusters, assignments = [], [], []
    for row, members in rows:
        own = [_template(member) for member in members]
        templates += own
        names = tuple(member.signature_id for member in own)
        clusters.append(
            Cluster(
                row["cluster_id"],
                row["medoid"],
                row["exception_type"],
                row["signature"],
                gate=(),
                members=names,
                regex=row["regex"] or "",
                lowest_score=row["lowest_score"],
            )
        )
        assignments += [Assignment(name, row["cluster_id"], "equal", 100.0, "") for name in names]
    return cluster.Index(cluster.Partition(tuple(clusters), tuple(assignments), ()), templates)


def _template(row: Row) -> Template:
    return Template(
        signature_id=row["signature_id"],
        exception_type=row["exception_type"],
        text=row["text"],
        gate=tuple([(name, value) for name, value in row["gate"]]),
        is_gate_complete=row["is_gate_complete"],
        is_truncated=row["is_truncated"],
        count=row["count"],
        first_seen=row["first_seen"],
    )
