"""Ids of entries: `domain/slug`, given once. Who held an id is in the registry; merges leave aliases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.bundle import Published, Registry

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


@dataclass(frozen=True, slots=True)
class JournalNote:
    """Something that happened to an id."""

    action: str  # new, renamed, merged, withdrawn
    entry_id: str
    other_id: str | None
    detail: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """The id of every cluster, and the registry that the next export needs."""

    ids: Mapping[str, str]  # cluster id -> entry id
    registry: Registry
    journal: tuple[JournalNote, ...]

    def aliases_of(self, entry_id: str) -> list[str]:
        """Former ids that lead to `entry_id`, sorted."""
        return sorted(old for old, new in self.registry.aliases.items() if new == entry_id)


def assign(wanted: Iterable[Wanted], registry: Registry) -> Assigned:
    """The ids of `wanted`: those they were published under, else new ones that nobody ever had."""
    ordered = sorted(wanted, key=lambda want: (-want.weight, want.cluster_id))
    heirs = _heirs(ordered, registry)
    ids = {cluster_id: claims[0] for cluster_id, claims in heirs.items()}
    merged = {old: claims[0] for claims in heirs.values() for old in claims[1:]}
    held = {entry_id for claims in heirs.values() for entry_id in claims}
    withdrawn = sorted({*registry.withdrawn, *(set(registry.ids) - held)} - held)
    ids |= _new_ids([want for want in ordered if want.cluster_id not in ids], _taken(registry))
    published = {ids[want.cluster_id]: Published(cluster_id=want.cluster_id, medoid=want.medoid) for want in ordered}
    gone = {name: registry.ids[name] for name in withdrawn if name in registry.ids}
    aliases = {old: merged.get(new, new) for old, new in {**registry.aliases, **merged}.items()}
    after = Registry(
        ids=dict(sorted({**gone, **published}.items())), aliases=dict(sorted(aliases.items())), withdrawn=withdrawn
    )
    return Assigned(ids, after, tuple(_journal(registry, after, merged)))


def _heirs(ordered: Sequence[Wanted], registry: Registry) -> dict[str, list[str]]:
    """Cluster -> ids published for errors that it holds now, the one it keeps first."""
    cluster_of = {member: want.cluster_id for want in ordered for member in (*want.members, want.medoid)}
    claims: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    for entry_id, was in sorted(registry.ids.items()):
        now = cluster_of.get(was.medoid)
        if now is not None:
            claims[now].append((now != was.cluster_id, entry_id))
    return {cluster_id: [entry_id for _, entry_id in sorted(found)] for cluster_id, found in claims.items()}


def _taken(registry: Registry) -> set[str]:
    return {*registry.ids, *registry.aliases, *registry.withdrawn}


def _new_ids(newcomers: Sequence[Wanted], taken: set[str]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for want in newcomers:
        name = f"{want.domain}/{slug_form(want.slug)}"
        if name in taken:
            digits = want.cluster_id.rpartition(":")[2]
            candidates = (f"{name}-{digits[:length]}" for length in (_HASH_DIGITS, len(digits)))
            # a withdrawn entry of this very cluster may hold even the long one: then its id is its own again
            name = next((candidate for candidate in candidates if candidate not in taken), f"{name}-{digits}")
        taken.add(name)
        ids[want.cluster_id] = name
    return ids


def slug_form(words: str) -> str:
    """`words` as a slug: lower case, digits and single dashes, cut at a dash where it is long."""
    slug = re.sub(r"[^a-z0-9._]+", "-", words.lower()).strip("-._")
    if len(slug) > _SLUG_CHARACTERS:
        slug = slug[: _SLUG_CHARACTERS + 1].rpartition("-")[0][:_SLUG_CHARACTERS] or slug[:_SLUG_CHARACTERS]
    return slug.strip("-._") or "unnamed"


def _journal(before: Registry, after: Registry, merged: Mapping[str, str]) -> Iterable[JournalNote]:
    for entry_id in sorted(set(after.ids) - set(before.ids)):
        yield JournalNote("new", entry_id, None, "published for the first time")
    for old, new in sorted(merged.items()):
        yield JournalNote("merged", old, new, "its error is now part of the other entry's cluster")
    for entry_id in sorted(set(after.withdrawn) - set(before.withdrawn)):
        yield JournalNote("withdrawn", entry_id, None, "no document shows the error any more")
