"""Ids of entries: `domain/slug`, given once. Who held an id is in the registry; merges leave aliases.

The registry is the one thing of a bundle that raw does not hold. So it is kept twice: as registry.json, which the
manifest names, and beside the shards by the export that wrote it; the database has it as the last build left it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import export as bundle
from pipeline import store
from pipeline.records import kept, leaves
from pipeline.records.bundle import BUNDLE_VERSION, Published, Registry, parsed
from pipeline.records.errors import ExportError, StoreError
from pipeline.records.kept import Damaged, KeptFile, KeptKind, Verdict
from pipeline.records.leaves import Opened

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


@dataclass(frozen=True)
class Assigned:
    """The id of every cluster, and the registry that the next export needs."""

    ids: Mapping[str, str]  # cluster id -> entry id
    registry: Registry
    journal: tuple[changes.JournalNote, ...]

    def aliases_of(self, entry_id: str) -> list[str]:
        """Former ids that lead to `entry_id`, sorted."""
        return sorted(self._former.get(entry_id, ()))

    def led_to(self) -> list[str]:
        """The ids that former ones lead to."""
        return list(self._former)

    @cached_property
    def _former(self) -> Mapping[str, Sequence[str]]:
        former: dict[str, list[str]] = defaultdict(list)
        for old, new in self.registry.aliases.items():
            former[new].append(old)
        return former


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Clusters that are to be published, and of which nobody says anything anew; people named none of them."""

    medoids: Mapping[str, str]  # cluster id -> representative
    page_ids: Mapping[str, str]  # cluster id -> the whole id that its official page gives it, where it has one
    holders: Callable[[Collection[str]], Collection[str]]  # of some signatures the clusters that hold them now
    wanted: Callable[[Collection[str]], Iterable[Wanted]]  # what those want that are none of some


#: Every cluster is told of anew.
NONE_UNCHANGED = Unchanged({}, {}, lambda _signatures: (), lambda _clusters: ())


def assign(wanted: Iterable[Wanted], registry: Registry, rest: Unchanged = NONE_UNCHANGED) -> Assigned:
    """The ids of `wanted` and of the `rest`: those they were published under, else new ones that nobody ever had.

    Two things move a published id, and leave an alias: the name that an official page or people give. Who takes a name
    back has the id back that the entry had without it.
    """
    standing = _standing(rest, registry)
    ordered = sorted(chain(wanted, rest.wanted(standing)), key=lambda want: (-want.weight, want.cluster_id))
    heirs = _heirs(ordered, _but(standing, registry), registry)
    before = {cluster_id: claims[0] for cluster_id, claims in heirs.items()}
    before |= _new_ids([want for want in ordered if want.cluster_id not in before], _taken(registry))
    own, ids = _chosen(ordered, heirs, before, registry, given={*standing.values(), *before.values()})
    renamed = {before[one]: ids[one] for one in ids if before[one] != ids[one]}
    merged = {old: ids[cluster_id] for cluster_id, claims in heirs.items() for old in claims[1:]}
    shared = {cluster_id for cluster_id, claims in heirs.items() if len(claims) > 1}
    published = {
        ids[want.cluster_id]: _published(want, before, own, ids, registry=registry, is_shared=want.cluster_id in shared)
        for want in ordered
    }
    held = {*standing.values(), *(entry_id for claims in heirs.values() for entry_id in claims)}
    withdrawn = sorted({*registry.withdrawn, *(registry.ids.keys() - held)} - {*held, *published})
    gone = {name: registry.ids[name] for name in withdrawn if name in registry.ids}
    living = {**{one: registry.ids[one] for one in standing.values()}, **gone, **published}
    known = {old: registry.ids.get(old) or registry.merged[old] for old in sorted({*registry.merged, *merged})}
    former = {old: was for old, was in known.items() if old not in living}
    after = registry.model_copy(
        update={
            "ids": dict(sorted(living.items())),
            "merged": former,
            "aliases": _aliases(
                registry, living, told={**gone, **published}, former=former, moved={**renamed, **merged}
            ),
            "withdrawn": withdrawn,
            "schema_version": BUNDLE_VERSION,
        }
    )
    reasons = {ids[want.cluster_id]: _why_renamed(want, ids[want.cluster_id]) for want in ordered}
    renames = {old: new for old, new in renamed.items() if old in held}
    from pipeline.run.build import changes  # noqa: PLC0415  (an export reads the registry, and compares nothing)

    return Assigned(
        {**standing, **ids},
        after,
        tuple(changes.id_notes(registry, after, merged=merged, renamed=renames, reasons=reasons)),
    )


def _standing(rest: Unchanged, registry: Registry) -> dict[str, str]:
    """Cluster -> id, of those of the rest that keep theirs whatever others want.

    The registry has one id for such an error, which it always had, with this cluster and representative, and no other
    error that the registry names is of the cluster now.
    """
    if not rest.medoids:
        return {}
    plain = {was.cluster_id: entry_id for entry_id, was in registry.ids.items() if _keeps(entry_id, was, rest)}
    claimed = _claimed([was for _, was in _but(plain, registry)], rest)
    return {cluster_id: entry_id for cluster_id, entry_id in plain.items() if cluster_id not in claimed}


def _keeps(entry_id: str, was: Published, rest: Unchanged) -> bool:
    """Whether an id is the only one that its error ever had, which is as it was, and no page gives it another."""
    return (
        rest.medoids.get(was.cluster_id) == was.medoid
        and was.own_id == entry_id
        and not was.renamed_from
        and rest.page_ids.get(was.cluster_id, entry_id) == entry_id
    )


def _claimed(others: Sequence[Published], rest: Unchanged) -> set[str]:
    """The clusters to which other errors may belong now."""
    return {was.cluster_id for was in others}.union(rest.holders({was.medoid for was in others}))


def _but(standing: Mapping[str, str], registry: Registry) -> list[tuple[str, Published]]:
    """The ids of the registry that stand for none of some clusters, with their errors."""
    every = {**registry.merged, **registry.ids} if registry.merged else registry.ids
    return [(entry_id, was) for entry_id, was in every.items() if standing.get(was.cluster_id) != entry_id]


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


def _new_ids(newcomers: Sequence[Wanted], taken: set[str]) -> dict[str, str]:
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
    given: set[str],
) -> tuple[dict[str, str], dict[str, str]]:
    """(the id of every cluster where no row of overrides.toml names it, the id that it gets); no two are equal, and
    none is one of those that are `given` already.
    """
    taken = {*_taken(registry), *before.values()}
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
        new = {own[want.cluster_id], ids[want.cluster_id]}
        given |= new
        taken |= new
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
    living: Collection[str],
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


# ---------------------------------------------------------------- the registry of the last bundle

#: The parts of a registry that name entries: of now, of before, of errors that are gone, of errors that were merged.
_NAMED = ("ids", "aliases", "withdrawn", "merged")
_CURE = "`errmine build` restores it from a copy, or says what to do."


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the registry of a home is kept."""

    curated: Path
    copy: Path  # by the last export
    database: Path
    is_gone: Callable[[str], bool] | None  # of ids that went with a forgotten thread, and are to be nowhere

    @property
    def path(self) -> Path:
        """Of registry.json; a bundle of several leaves has one in each."""
        return self.curated / bundle.REGISTRY

    def published(self) -> tuple[Registry, tuple[KeptFile, ...]]:
        """The ids published so far, none where there is no bundle yet; and what of the registry was restored for it.

        Raises:
            ExportError: what is there is not what was published, and no copy is.
        """
        try:
            listing = kept.Listing.of_bundle(self.curated)
        except Damaged as error:
            return self._without_manifest(error)
        prefixes = leaves.prefixes(listing.sums) or [""]
        bodies: dict[str, bytes] = {}
        damaged: list[Damaged] = []
        for path in (leaves.path(prefix, bundle.REGISTRY) for prefix in prefixes):
            try:
                bodies[path] = listing.read(path)
            except Damaged as error:
                damaged.append(error)
        if damaged:
            return self._restored(listing, prefixes, damaged)
        registry = self._parsed(bodies)
        self._check_whole(registry)
        return registry, ()

    def _restored(
        self, listing: kept.Listing, prefixes: Sequence[str], damaged: Sequence[Damaged]
    ) -> tuple[Registry, tuple[KeptFile, ...]]:
        """The registry of the copy that the list means, with the files that were written anew of it."""
        for copy in self._copies():
            bodies = _files(copy, prefixes)
            if all(kept.sha256(body) == listing.sums.get(path) for path, body in bodies.items()):
                for path in (str(one.path.relative_to(self.curated)) for one in damaged):
                    kept.write(self.curated / path, bodies[path])
                return copy, tuple(KeptFile(one.path, KeptKind.REGISTRY, one.verdict, _CURE) for one in damaged)
        raise self._refused(str(damaged[0]), damaged[0].path) from damaged[0]

    def keep(self, registry: Registry) -> None:
        """Nothing; the copy is that of the bundle that was just written."""
        try:
            kept.write(self.copy, kept.sealed_json({"registry": registry.model_dump_json()}))
        except OSError as error:
            raise ExportError(f"cannot write {self.copy}: {error.strerror or error}", path=self.copy) from error

    def check_successor(self, registry: Registry) -> None:
        """Nothing; every id that was ever published is in `registry`, which is about to be.

        Raises:
            ExportError: some are not: the database is older than the bundle that it would replace.
        """
        published = {*self._listed(), *self._copied()}
        if lost := self._lost(published, registry):
            raise ExportError(
                f"{self.database} does not know {len(lost):,} ids that were published, such as {', '.join(lost[:3])}",
                path=self.database,
                hint="It is older than the bundle: run `errmine build`, then `errmine export`.",
            )

    def kept_files(self) -> Iterator[KeptFile]:
        """The copy, with what a look at it says; registry.json is among the files of the bundle."""
        if self.copy.exists():
            verdict = Verdict.OK if self._own_copy() else Verdict.DAMAGED
            yield KeptFile(self.copy, KeptKind.REGISTRY, verdict, "`errmine export` makes it anew.")

    def _without_manifest(self, missing: Damaged) -> tuple[Registry, tuple[KeptFile, ...]]:
        """The manifest is missing or damaged: what it would say, the copies have to."""
        copies = list(self._copies())
        manifest = KeptFile(missing.path, KeptKind.BUNDLE, missing.verdict, "`errmine export` makes the bundle anew.")
        there = [self.path, *sorted(self.curated.glob(leaves.path("*", bundle.REGISTRY)))]
        bodies = {str(path.relative_to(self.curated)): path.read_bytes() for path in there if path.is_file()}
        if not bodies:
            own = self._own_copy()
            if own is None and missing.verdict == Verdict.MISSING:
                return Registry(), ()  # nothing was ever exported here
            if (found := own or next(iter(copies), None)) is None:
                raise self._refused("it is missing, and the manifest is damaged")
            return found, (manifest, KeptFile(self.path, KeptKind.REGISTRY, Verdict.MISSING, _CURE))
        prefixes = leaves.prefixes(bodies)
        is_known = any(_files(copy, prefixes) == bodies for copy in copies)
        if not is_known and (copies or missing.verdict == Verdict.DAMAGED):
            raise self._refused("no manifest says what it has to be, and no copy is the same")
        return self._parsed(bodies), (manifest,)

    def _check_whole(self, registry: Registry) -> None:
        """Nothing, or an error: a bundle took the place of the last one that knows less than it did."""
        own = self._own_copy()
        if own is not None and (lost := self._lost(_known(own), registry)):
            raise ExportError(
                f"{self.path} does not know {len(lost):,} ids that this home published, such as {', '.join(lost[:3])}",
                path=self.path,
                hint=f"`errmine export` puts the newer bundle back; to go on from this one, delete {self.copy}.",
            )

    def _lost(self, published: Iterable[str], registry: Registry) -> list[str]:
        return sorted(name for name in {*published} - _known(registry) if not (self.is_gone and self.is_gone(name)))

    def _copies(self) -> Iterator[Registry]:
        """What the registry was, or is to be, as far as copies tell."""
        if own := self._own_copy():
            yield own
        try:
            yield parsed(store.meta(self.database)["registry"], Registry)
        except (StoreError, KeyError, ValueError):
            return

    def _own_copy(self) -> Registry | None:
        try:
            return parsed(str(kept.unsealed_json(self.copy)["registry"]), Registry)
        except (Damaged, KeyError):
            return None
        except ValueError as error:
            raise self._refused(str(error)) from error

    def _copied(self) -> set[str]:
        """The names in the copy; no record is made of any."""
        try:
            told = json.loads(str(kept.unsealed_json(self.copy)["registry"]))
            return {name for part in _NAMED for name in told.get(part, ())}
        except (Damaged, KeyError):
            return set()
        except (AttributeError, TypeError, ValueError) as error:
            raise self._refused(str(error)) from error

    def _listed(self) -> set[str]:
        """The ids of the entries that the bundle has, as far as it can be read."""
        try:
            return Opened.of(self.curated).published()
        except (Damaged, ValueError, KeyError, TypeError):
            return set()

    def _parsed(self, bodies: Mapping[str, bytes]) -> Registry:
        return bundle.registry_of((self.curated / path, body) for path, body in bodies.items())

    def _refused(self, reason: str, path: Path | None = None) -> ExportError:
        return ExportError(
            f"cannot read {path or self.path}: {reason}",
            path=path or self.path,
            hint="`errmine export` makes the bundle anew from the database; else restore it from a backup.",
        )


def _files(registry: Registry, prefixes: Sequence[str]) -> dict[str, bytes]:
    """Path -> bytes of the files in which a bundle of these leaves has a registry."""
    texts = bundle.registry_texts(registry, prefixes)
    return {leaves.path(prefix, bundle.REGISTRY): text.encode() for prefix, text in texts.items()}


def _known(registry: Registry) -> set[str]:
    return {name for part in _NAMED for name in getattr(registry, part)}
