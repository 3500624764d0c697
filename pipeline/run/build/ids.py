"""Ids of entries: `domain/slug`, given once. Who held an id is in the registry; merges leave aliases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.records.bundle import BUNDLE_VERSION, Published, Registry, named, registry_of
from pipeline.run.build import keyed
from pipeline.run.build.registry import Registered

if TYPE_CHECKING:
    from pipeline.run.build import changes

#: A slug is part of a file name and of links that people paste.
_SLUG_CHARACTERS = 80
#: Digits of the cluster's id behind a slug that another cluster has: 24 bits tell apart the few that collide.
_HASH_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Wanted:
    """A cluster that is to be published, with the name that it would like."""

    cluster_id: str
    domain: str
    slug: str
    medoid: str
    members: tuple[str, ...]
    weight: int  # documents: of two that want one new name the weightier gets it
    longer_slugs: tuple[str, ...] = ()  # to be taken one after the other where others have the slug
    name: str = ""  # what people call it: the slug of its id, also where it had another
    name_reason: str = ""
    page_id: str = ""  # the whole id that its official page gives it, "" if it has none
    set_aside: tuple[str, ...] = ()  # signatures of the cluster that people ignore: ids given for them stay with it


#: Clusters and what stands beside each: their ids, or their representatives.
_IDS = pa.schema([("cluster_id", pa.string()), ("entry_id", pa.string())])
MEDOIDS = pa.schema([("cluster_id", pa.string()), ("medoid", pa.string())])


class Ids(Mapping[str, str]):
    """By cluster its id: those that are given now, and in columns those that stand."""

    def __init__(self, given: Mapping[str, str], standing: pa.Table) -> None:
        """Of `standing` as `_IDS` has them."""
        self._given, self._standing = given, standing

    def __getitem__(self, cluster_id: str) -> str:
        if cluster_id in self._given:
            return self._given[cluster_id]
        at = pc.index(self._standing["cluster_id"], cluster_id).as_py()
        if at < 0:
            raise KeyError(cluster_id)
        return str(self._standing["entry_id"][at].as_py())

    def __iter__(self) -> Iterator[str]:
        return chain(self._given, self._standing["cluster_id"].to_pylist())

    def __len__(self) -> int:
        return len(self._given) + len(self._standing)

    def several(self, clusters: Set[str]) -> dict[str, str]:
        """The ids of some clusters, of those that have one: those that stand are looked through once."""
        asked = pa.array(list(clusters - self._given.keys()), pa.string())
        found = self._standing.filter(pc.is_in(self._standing["cluster_id"], value_set=asked))
        given = {one: self._given[one] for one in clusters if one in self._given}
        return dict(zip(*(column.to_pylist() for column in found.columns), strict=True)) | given

    def column(self, clusters: pa.ChunkedArray) -> pa.Array:
        """The ids of some clusters, "" of one that has none."""
        standing = keyed.whole(self._standing["cluster_id"])
        found = keyed.whole(self._standing["entry_id"]).take(pc.index_in(keyed.whole(clusters), value_set=standing))
        others = keyed.whole(clusters).filter(pc.is_null(found)).to_pylist()
        given = pa.array([self._given.get(one, "") for one in others], pa.string())
        return pc.replace_with_mask(found, pc.is_null(found), given)


@dataclass(frozen=True)
class Assigned:
    """The id of every cluster, and the registry that the next export needs."""

    ids: Ids  # cluster id -> entry id
    registry: Registered
    journal: tuple[changes.JournalNote, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)  # former id -> id

    def aliases_of(self, entry_id: str) -> list[str]:
        """Former ids that lead to `entry_id`, sorted."""
        return sorted(self._former.get(entry_id, ()))

    def led_to(self) -> list[str]:
        """The ids that former ones lead to."""
        return list(self._former)

    @cached_property
    def _former(self) -> Mapping[str, Sequence[str]]:
        former: dict[str, list[str]] = defaultdict(list)
        for old, new in self.aliases.items():
            former[new].append(old)
        return former


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Clusters that are to be published, and of which nobody says anything anew; people named none of them."""

    medoids: pa.Table  # `MEDOIDS`: of each the representative
    page_ids: Mapping[str, str]  # cluster id -> the whole id that its official page gives it, where it has one
    holders: Callable[[Collection[str]], Collection[str]]  # of some signatures the clusters that hold them now
    wanted: Callable[[pa.ChunkedArray], Iterable[Wanted]]  # what those want that are none of some


#: Every cluster is told of anew.
NONE_UNCHANGED = Unchanged(MEDOIDS.empty_table(), {}, lambda _signatures: (), lambda _clusters: ())


@dataclass(slots=True)
class Taken:
    """Names, to which others may come, and those that somebody else knows."""

    names: set[str]
    beside: Callable[[str], bool]

    def __contains__(self, name: object) -> bool:
        return name in self.names or self.beside(str(name))

    def add(self, *names: str) -> None:
        """Nothing; these are among them."""
        self.names.update(names)


def assign(wanted: Iterable[Wanted], registry: Registered, rest: Unchanged = NONE_UNCHANGED) -> Assigned:
    """The ids of `wanted` and of the `rest`: those they were published under, else new ones that nobody ever had.

    Two things move a published id, and leave an alias: the name that an official page or people give. Who takes a name
    back has the id back that the entry had without it. Of ids that stand as they are no record is made.
    """
    standing, others = _standing(rest, registry)
    known, of_few = registry.several(others), {*others}
    few = registry_of(known[name] for name in others)
    ordered = sorted(chain(wanted, rest.wanted(standing["cluster_id"])), key=lambda one: (-one.weight, one.cluster_id))

    def stands(name: str) -> bool:
        return name not in of_few and name in registry

    given, after, notes = _assigned(ordered, few, stands)
    made = registry.with_those_of({one.name: one for one in named(after)}, gone=others)
    return Assigned(Ids(given, standing), made, notes, after.aliases)


def _assigned(
    ordered: Sequence[Wanted], registry: Registry, stands: Callable[[str], bool]
) -> tuple[dict[str, str], Registry, tuple[changes.JournalNote, ...]]:
    """(by cluster its id, the registry after that, what happened to ids): of all names but those of which it `stands`
    who has them.
    """
    heirs = _heirs(ordered, {**registry.merged, **registry.ids}.items(), registry)
    before = {cluster_id: claims[0] for cluster_id, claims in heirs.items()}
    before |= _new_ids([one for one in ordered if one.cluster_id not in before], Taken(_taken(registry), stands))
    own, ids = _chosen(ordered, heirs, before, registry, stands=stands)
    renamed = {before[one]: ids[one] for one in ids if before[one] != ids[one]}
    merged = {old: ids[cluster_id] for cluster_id, claims in heirs.items() for old in claims[1:]}
    shared = {cluster_id for cluster_id, claims in heirs.items() if len(claims) > 1}
    published = {
        ids[want.cluster_id]: _published(want, before, own, ids, registry=registry, is_shared=want.cluster_id in shared)
        for want in ordered
    }
    held = {entry_id for claims in heirs.values() for entry_id in claims}
    withdrawn = sorted({*registry.withdrawn, *(registry.ids.keys() - held)} - {*held, *published})
    living = {**{name: registry.ids[name] for name in withdrawn if name in registry.ids}, **published}
    known = {old: registry.ids.get(old) or registry.merged[old] for old in sorted({*registry.merged, *merged})}
    former = {old: was for old, was in known.items() if old not in living}
    moved = {**renamed, **merged}
    after = registry.model_copy(
        update={
            "ids": dict(sorted(living.items())),
            "merged": former,
            "aliases": _aliases(registry, Taken({*living}, stands), told=living, former=former, moved=moved),
            "withdrawn": withdrawn,
            "schema_version": BUNDLE_VERSION,
        }
    )
    reasons = {ids[want.cluster_id]: _why_renamed(want, ids[want.cluster_id]) for want in ordered}
    renames = {old: new for old, new in renamed.items() if old in held}
    from pipeline.run.build import changes  # noqa: PLC0415  (who asks for ids alone compares nothing)

    return ids, after, tuple(changes.id_notes(registry, after, merged=merged, renamed=renames, reasons=reasons))


def _standing(rest: Unchanged, registry: Registered) -> tuple[pa.Table, list[str]]:
    """(`_IDS` of those of the rest that keep theirs whatever others want, the names that are none of these ids).

    The registry has one id for such an error, which it always had, with this cluster and representative, and no other
    error that the registry names is of the cluster now.
    """
    rows = registry.of_names().combine_chunks()
    is_plain = np.logical_and.reduce(list(_rules(rows, rest).values()))
    counts = pc.value_counts(keyed.whole(rows["cluster_id"].filter(pa.array(is_plain))))
    several = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    is_plain &= ~keyed.is_in(rows["cluster_id"], several)
    is_plain &= ~keyed.is_in(rows["cluster_id"], _claimed(rows.filter(pa.array(~is_plain)), rest))
    found = rows.filter(pa.array(is_plain)).select(["cluster_id", "name"]).rename_columns(_IDS.names)
    return found, rows["name"].filter(pa.array(~is_plain)).to_pylist()


def _rules(rows: pa.Table, rest: Unchanged) -> dict[str, keyed.Mask]:
    """Which ids are the only one that their error ever had, which is as it was, and no page gives it another; by the
    rule that says so.
    """
    clusters = keyed.whole(rows["cluster_id"])
    at = pc.index_in(clusters, value_set=keyed.whole(rest.medoids["cluster_id"]))
    same = pc.equal(keyed.whole(rows["medoid"]), keyed.whole(rest.medoids["medoid"]).take(at))
    is_paged = keyed.is_in(clusters, rest.page_ids)
    has_page = ~is_paged
    for place in np.flatnonzero(is_paged).tolist():
        has_page[place] = rest.page_ids[clusters[place].as_py()] == rows["name"][place].as_py()
    return {
        "standing": keyed.numbers(pc.and_(pc.equal(rows["state"], "standing"), pc.is_null(rows["leads_to"]))),
        "unchanged": keyed.numbers(pc.is_valid(at)),
        "representative": keyed.numbers(pc.fill_null(same, fill_value=False)),
        "own id": keyed.numbers(pc.fill_null(pc.equal(rows["own_id"], rows["name"]), fill_value=False)),
        "former ids": keyed.numbers(pc.equal(pc.list_value_length(rows["renamed_from"]), 0)),
        "page": has_page,
    }


def _claimed(others: pa.Table, rest: Unchanged) -> set[str]:
    """The clusters to which other errors may belong now."""
    clusters, medoids = ({*others[name].drop_null().to_pylist()} for name in ("cluster_id", "medoid"))
    return clusters.union(rest.holders(medoids) if len(rest.medoids) else ())


def _heirs(
    ordered: Sequence[Wanted], named: Iterable[tuple[str, Published]], registry: Registry
) -> dict[str, list[str]]:
    """Cluster -> ids published for errors that it holds now; it keeps the first: the one that people ask for, else that
    of its official page, else one that was not merged away before. `named` are the ids that it may be.
    """
    names = {want.cluster_id: want.name for want in ordered if want.name}
    pages = {want.cluster_id: want.page_id for want in ordered if want.page_id}
    cluster_of = {
        member: want.cluster_id for want in ordered for member in (*want.set_aside, *want.members, want.medoid)
    }
    clusters = {want.cluster_id for want in ordered}
    claims: dict[str, list[tuple[bool, bool, bool, bool, str]]] = defaultdict(list)
    for entry_id, was in sorted(named):
        now = cluster_of.get(was.medoid, was.cluster_id)  # a representative that is gone leaves the cluster's own id
        if now in clusters:
            is_other = entry_id.partition("/")[2] != names.get(now)
            is_pageless = entry_id != pages.get(now)
            is_former, is_moved = entry_id not in registry.ids, now != was.cluster_id
            claims[now].append((is_other, is_pageless, is_former, is_moved, entry_id))
    return {cluster_id: [entry_id for *_, entry_id in sorted(found)] for cluster_id, found in claims.items()}


def _taken(registry: Registry) -> set[str]:
    """Every id that some error has, had, or has back as soon as people rename it no more."""
    reserved = {was.own_id for was in (*registry.ids.values(), *registry.merged.values()) if was.own_id}
    return {*registry.ids, *registry.aliases, *registry.withdrawn, *registry.merged, *reserved}


def _new_ids(newcomers: Sequence[Wanted], taken: Taken) -> dict[str, str]:
    ids: dict[str, str] = {}
    for want in sorted(newcomers, key=lambda want: not want.page_id):
        names = [f"{want.domain}/{slug_form(slug)}" for slug in (want.slug, *want.longer_slugs)]
        digits = want.cluster_id.rpartition(":")[2]
        hashed = [f"{names[0]}-{digits[:length]}" for length in (_HASH_DIGITS, len(digits))]
        counted = (f"{hashed[-1]}-{number}" for number in count(2))
        candidates = chain(filter(None, [want.page_id]), [*names, *hashed], counted)
        given = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(given)
        ids[want.cluster_id] = given
    return ids


def _chosen(
    ordered: Sequence[Wanted],
    heirs: Mapping[str, Sequence[str]],
    before: Mapping[str, str],
    registry: Registry,
    *,
    stands: Callable[[str], bool],
) -> tuple[dict[str, str], dict[str, str]]:
    """(the id of every cluster where no row of overrides.toml names it, the id that it gets); no two are equal, and
    none is one that `stands`.
    """
    taken, given = Taken({*_taken(registry), *before.values()}, stands), Taken({*before.values()}, stands)
    own: dict[str, str] = {}
    ids: dict[str, str] = {}
    for want in ordered:
        first = before[want.cluster_id]
        if _is_plain(want, first, registry):  # nearly all: nobody else can have been given it
            own[want.cluster_id] = ids[want.cluster_id] = first
            continue
        had = {name for entry_id in heirs.get(want.cluster_id, ()) for name in _names_of(entry_id, registry)}
        had = {name for name in had if name == first or name not in given}
        mine = [name for name in (want.page_id, _first_id(first, want, registry)) if name in had or name not in taken]
        own[want.cluster_id] = next(filter(None, mine), first)
        named = f"{own[want.cluster_id].partition('/')[0]}/{want.name}" if want.name else ""
        is_free = named and (named in had or named not in taken)
        ids[want.cluster_id] = named if is_free else own[want.cluster_id]
        for names in (given, taken):
            names.add(own[want.cluster_id], ids[want.cluster_id])
    return own, ids


def _is_plain(want: Wanted, first: str, registry: Registry) -> bool:
    """Whether nothing names a cluster but the id that its entry has and always had."""
    was = None if want.name or want.page_id else registry.ids.get(first)
    return was is not None and was.own_id == first and not was.renamed_from


def _first_id(now: str, want: Wanted, registry: Registry) -> str:
    was = _record_of(now, registry)
    if was is None:
        return now
    # a registry from before `own_id`: a name in force that took the place of one id took it from that one
    if was.own_id is None and len(was.renamed_from) == 1 and want.name == now.partition("/")[2]:
        return was.renamed_from[0]
    return was.own_id or now


def _record_of(entry_id: str, registry: Registry) -> Published | None:
    return registry.ids.get(entry_id) or registry.merged.get(entry_id)


def _names_of(entry_id: str, registry: Registry) -> set[str]:
    """The ids that an entry has and had: of all that were ever given, those that it may be given again."""
    was = _record_of(entry_id, registry)
    return {entry_id, *was.renamed_from, *([was.own_id] if was.own_id else [])} if was else {entry_id}


def _published(
    want: Wanted,
    before: Mapping[str, str],
    own: Mapping[str, str],
    ids: Mapping[str, str],
    *,
    registry: Registry,
    is_shared: bool,
) -> Published:
    old, new = before[want.cluster_id], ids[want.cluster_id]
    was = _record_of(old, registry)
    names = {*was.renamed_from, old} - {new} if was else set()
    # where other ids were merged into this one, the representative may be of their errors: the id stays with its own
    is_home = was is not None and is_shared and was.medoid in {*want.members, *want.set_aside}
    cells = (want.cluster_id, was.medoid if was and is_home else want.medoid, sorted(names), own[want.cluster_id])
    if was is not None and (was.cluster_id, was.medoid, was.renamed_from, was.own_id) == cells:
        return was  # nearly all: one record for both registries
    cluster_id, medoid, renamed_from, own_id = cells
    return Published(cluster_id=cluster_id, medoid=medoid, renamed_from=renamed_from, own_id=own_id)


def _why_renamed(want: Wanted, entry_id: str) -> str:
    if want.name and entry_id.partition("/")[2] == want.name:
        return f'people named it in overrides.toml: "{want.name_reason}"'
    if entry_id == want.page_id:
        return "it has the name of its official page"
    return "overrides.toml names it no longer: it has the id back that it had without"


def _aliases(
    registry: Registry,
    living: Container[str],
    *,
    told: Mapping[str, Published],
    former: Mapping[str, Published],
    moved: Mapping[str, str],
) -> dict[str, str]:
    """Every id that no entry has any more -> the entry that it leads to; `told` are the living that ever had others."""
    found = {old: moved.get(old, moved.get(new, new)) for old, new in registry.aliases.items()}
    found |= {old: new for old, new in moved.items() if old in former}
    for target, error in [*((found[old], error) for old, error in former.items() if old in found), *told.items()]:
        found |= dict.fromkeys(error.renamed_from, target)
    return {old: new for old, new in sorted(found.items()) if old not in living}


def slug_form(words: str) -> str:
    """`words` as a slug: lower case, digits and single dashes, cut at a dash where it is long."""
    slug = re.sub(r"[^a-z0-9._]+", "-", words.lower()).strip("-._")
    if len(slug) > _SLUG_CHARACTERS:
        slug = slug[: _SLUG_CHARACTERS + 1].rpartition("-")[0][:_SLUG_CHARACTERS] or slug[:_SLUG_CHARACTERS]
    return slug.strip("-._") or "unnamed"
