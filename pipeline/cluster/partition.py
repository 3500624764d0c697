"""The partition of templates into clusters: a pure function of the multiset of templates, whatever their order.

Gates first: templates with different gates never meet. A complete gate is one cluster. Inside other gates texts are
ranked by (count, text) and `edges` are found among all of them; `families` are what edges connect, and each family
elects its groups as if it were alone (`election`). A cluster is named after its earliest template, so that later
members do not rename it. What each row of overrides.toml means, and which rows do nothing, is the partition compared
with the one without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from pipeline.cluster import leaders, neighbours
from pipeline.cluster.candidates import placeless
from pipeline.cluster.election import Said, edges, elect
from pipeline.cluster.people import NONE, Meaning, Override, Overrides, apart_pairs, bonds, ignored_positions
from pipeline.cluster.proofs import NO_PROOFS, Proof, Proofs, Standing, on_templates
from pipeline.cluster.shapes import merged
from pipeline.cluster.work import Work
from pipeline.cluster.work import work as begun
from pipeline.records import Assignment, Cluster, Neighbour, Template, content_id

#: Rules of members whose words are not the error's alone; they never represent a cluster.
BORROWED = frozenset({"quote", "untyped", "place"})


class SetAside(NamedTuple):
    """A template that people ignore: it is in no cluster, and the one that it would be in is as if it had it."""

    signature_id: str
    cluster_id: str  # where it would be; may have other members or none
    reason: str


@dataclass(frozen=True, slots=True)
class Partition:
    """Every template in one cluster (or set aside by people), why, and what it nearly joined. All sorted by id."""

    clusters: Sequence[Cluster]
    assignments: Sequence[Assignment]
    neighbours: tuple[Neighbour, ...]
    names: tuple[tuple[str, str], ...] = ()  # cluster id, name that people gave it
    ignored: tuple[SetAside, ...] = ()
    proofs: Mapping[str, Proof] = field(default_factory=dict, compare=False)  # by cluster, for the next partition

    def cluster_of(self) -> dict[str, str]:
        """The cluster id of each signature id: what `changes` compares."""
        return {one.signature_id: one.cluster_id for one in self.assignments}


def partition(templates: Sequence[Template], *, overrides: Overrides = NONE, kept: Standing = NO_PROOFS) -> Partition:
    """The clusters of templates, an assignment for each template, and the neighbours of each cluster.

    `kept` are the proofs of the last partition by cluster: what they prove still is not proven again.

    Raises:
        ConfigError: two rows of the overrides contradict each other.
    """
    work = begun(merged(templates))
    meaning = Meaning(work.templates if overrides.rows else (), overrides.read)
    apart = apart_pairs(overrides, meaning)
    said = Said(apart, bonds(overrides, meaning, apart))
    elect(work, edges(work), said)
    # what people ignore goes last, so that the others stand as they stood with it
    found = drawn(work, ignored_positions(overrides, meaning))
    names = _names(work, overrides, meaning)
    made = Partition(
        clusters=tuple(sorted(found.clusters, key=lambda cluster: cluster.cluster_id)),
        assignments=tuple(sorted(found.assignments, key=lambda one: one.signature_id)),
        neighbours=neighbours.neighbours(work, found.id_of, found.medoid_of),
        names=tuple(sorted((found.id_of[leader], name) for leader, name in names.items() if leader in found.id_of)),
        ignored=tuple(sorted(found.ignored)),
    )
    known = {template.signature_id: template for template in work.templates}
    del work, found  # its shapes are larger than all that is proven
    proofs = on_templates(made.clusters, known, kept)
    proven = tuple(one.proven(proofs[one.cluster_id].regex) for one in made.clusters)
    return replace(made, clusters=proven, proofs=Proofs(proofs))


def _names(work: Work, overrides: Overrides, meaning: Meaning) -> dict[int, str]:
    return {
        work.group[position]: row.name
        for row in reversed(overrides.of("rename"))
        for side in meaning.sides(row)
        for position in side
    }


def founder(members: Sequence[Template]) -> Template:
    """The template that names a cluster: the earliest seen full text (undated last), then the least text."""
    return min(
        members,
        key=lambda one: (one.is_truncated, not one.first_seen, one.first_seen, one.text, one.signature_id),
    )


@dataclass(frozen=True, slots=True)
class Drawn:
    """Groups as clusters, without expressions."""

    clusters: list[Cluster]
    assignments: list[Assignment]
    ignored: list[SetAside]
    id_of: dict[int, str]  # by leader the id of its cluster, where one is left
    medoid_of: dict[int, int]  # and the position of its representative


def drawn(work: Work, ignored: Mapping[int, str] = MappingProxyType({})) -> Drawn:
    """The groups of `work` as clusters; `ignored` are positions that people set aside, with the reason."""
    clusters: list[Cluster] = []
    assignments: list[Assignment] = []
    set_aside: list[SetAside] = []
    id_of: dict[int, str] = {}
    medoid_of: dict[int, int] = {}
    for leader, every in work.members().items():
        named_after = founder([work.templates[position] for position in every]).signature_id
        id_of[leader] = content_id("cluster", named_after)
        set_aside += [
            SetAside(work.templates[position].signature_id, id_of[leader], ignored[position])
            for position in every
            if position in ignored
        ]
        ranked = [position for position in every if position not in ignored]
        if not ranked:
            continue
        members = sorted(ranked, key=lambda position: _represents(work, position))
        found = _medoid(work, members)
        cluster = _cluster(work, id_of[leader], members, found)
        clusters.append(cluster)
        assignments.extend(_assignments(work, cluster, members, found, named_after=named_after))
        medoid_of[leader] = found.position
    here = {leader: id_of[leader] for leader in medoid_of}
    return Drawn(clusters, assignments, set_aside, here, medoid_of)


def _represents(work: Work, position: int) -> tuple[bool, bool, bool]:
    """How well a template may stand for its error, the best first: a page's own words, whole words, its own words."""
    template = work.templates[position]
    return not template.is_official, template.is_truncated, work.rule[position] in BORROWED


def _medoid(work: Work, members: Sequence[int]) -> leaders.Medoid:
    if len(members) == 1:  # nine of ten clusters: they need no look at who may represent whom
        return leaders.Medoid(members[0], (100.0,))
    counts = [work.templates[position].count for position in members]
    ranks = [_represents(work, position) for position in members]
    has_page = not ranks[0][0]
    full = sum(not of_nobody if has_page else not (is_cut or is_borrowed) for of_nobody, is_cut, is_borrowed in ranks)
    strict = work.rule[members[0]] != "gate"
    return leaders.medoid(members, work.shapes, counts, able=max(1, full), strict=strict)


def _cluster(work: Work, cluster_id: str, members: Sequence[int], found: leaders.Medoid) -> Cluster:
    templates = [work.templates[position] for position in members]
    medoid = work.templates[found.position]
    return Cluster(
        cluster_id=cluster_id,
        medoid=medoid.signature_id,
        exception_type=medoid.exception_type,
        text=medoid.text,
        gate=medoid.gate,
        members=tuple(sorted(template.signature_id for template in templates)),
        regex="",
        lowest_score=min(found.scores),
    )


def _assignments(
    work: Work, cluster: Cluster, members: Sequence[int], found: leaders.Medoid, *, named_after: str
) -> list[Assignment]:
    made = []
    for position, score in zip(members, found.scores, strict=True):
        template = work.templates[position]
        rule = work.rule[position]
        if template.signature_id == named_after and rule != "review":
            rule = "founder"
        elif rule == "founder":
            rule = "leader"
        sentence = neighbours.sentence(rule, score, template=template, cluster=cluster)
        sentence = f"{sentence} {work.why[position]}" if position in work.why else sentence
        made.append(Assignment(template.signature_id, cluster.cluster_id, rule, score, sentence))
    return made


@dataclass(frozen=True, slots=True)
class Ruling:
    """A row of overrides.toml, applied."""

    override: Override
    sides: tuple[tuple[str, ...], ...]  # signature ids that each of its texts means
    problem: str  # why the row, or a part of it, does nothing now; "" if all of it acts


def rulings(overrides: Overrides, templates: Sequence[Template]) -> tuple[Ruling, ...]:
    """Every row with what it means, in the order of the rows."""
    if not overrides.rows:
        return ()
    known = merged(templates)
    meaning = Meaning(known, overrides.read)
    sides = [meaning.sides(row) for row in overrides.rows]
    # clusters never cross a gate but for its place, so the gates that are spoken of are enough
    gates = {placeless(known[position].gate) for row in sides for side in row for position in side}
    without = partition([template for template in known if placeless(template.gate) in gates]).cluster_of()
    made = []
    for row, places in zip(overrides.rows, sides, strict=True):
        names = tuple(tuple(known[position].signature_id for position in side) for side in places)
        made.append(Ruling(row, names, _problem(row, names, without)))
    return tuple(made)


def _problem(row: Override, sides: Sequence[Sequence[str]], cluster_of: Mapping[str, str]) -> str:
    missing = [text for text, side in zip(row.texts, sides, strict=True) if not side]
    if missing:
        more = f", nor {len(missing) - 1} other of its texts" if len(missing) > 1 else ""
        return f"nothing in raw reads as {missing[0][:80]!r}{more}"
    if row.kind == "split" and len({one for side in sides for one in side}) < sum(map(len, sides)):
        return "two of its texts are one template: only values differ between them"
    clusters = [{cluster_of[signature_id] for signature_id in side} for side in sides]
    every = set().union(*clusters)
    if row.kind == "merge" and len(every) == 1:
        return "its texts are one cluster without it"
    if row.kind == "split" and sum(map(len, clusters)) == len(every):
        return "its texts are different clusters without it"
    if row.kind == "rename" and len(every) > 1:
        return f"its texts are {len(every)} clusters, and a name is one cluster's"
    return ""
