"""Ids of entries: `domain/slug`, given once. Who held an id is in the registry; merges leave aliases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.records.bundle import Published, Registry

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
    name: str = ""  # what people call it: the slug of its id, also where it had another
    name_reason: str = ""


@dataclass(frozen=True, slots=True)
class JournalNote:
    """Something that happened to an id."""

    action: str  # new, renamed, merged, split, withdrawn
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
    """The ids of `wanted`: those they were published under, else new ones that nobody ever had; people's names win."""
    ordered = sorted(wanted, key=lambda want: (-want.weight, want.cluster_id))
    heirs = _heirs(ordered, registry)
    before = {cluster_id: claims[0] for cluster_id, claims in heirs.items()}
    before |= _new_ids([want for want in ordered if want.cluster_id not in before], _taken(registry))
    ids = _named(ordered, before, registry)
    renamed = {before[one]: ids[one] for one in ids if before[one] != ids[one]}
    merged = {old: ids[cluster_id] for cluster_id, claims in heirs.items() for old in claims[1:]}
    published = {ids[want.cluster_id]: _published(want, before, ids, registry) for want in ordered}
    held = {entry_id for claims in heirs.values() for entry_id in claims}
    withdrawn = sorted({*registry.withdrawn, *(set(registry.ids) - held)} - held)
    gone = {name: registry.ids[name] for name in withdrawn if name in registry.ids}
    known = {**registry.merged, **registry.ids}
    former = {old: known[old] for old in sorted({*registry.merged, *merged}) if old not in {**published, **gone}}
    after = registry.model_copy(
        update={
            "ids": dict(sorted({**gone, **published}.items())),
            "merged": former,
            "aliases": _aliases(registry, {**gone, **published}, former=former, moved={**renamed, **merged}),
            "withdrawn": withdrawn,
        }
    )
    reasons = {ids[want.cluster_id]: want.name_reason for want in ordered}
    renames = {old: new for old, new in renamed.items() if old in held}
    return Assigned(ids, after, tuple(_journal(registry, after, merged=merged, renamed=renames, reasons=reasons)))


def _heirs(ordered: Sequence[Wanted], registry: Registry) -> dict[str, list[str]]:
    """Cluster -> ids published for errors that it holds now; it keeps the first: the one that people ask for, else one
    that was not merged away before.
    """
    names = {want.cluster_id: want.name for want in ordered if want.name}
    cluster_of = {member: want.cluster_id for want in ordered for member in (*want.members, want.medoid)}
    claims: dict[str, list[tuple[bool, bool, bool, str]]] = defaultdict(list)
    for entry_id, was in sorted({**registry.merged, **registry.ids}.items()):
        now = cluster_of.get(was.medoid)
        if now is not None:
            is_other = entry_id.partition("/")[2] != names.get(now)
            claims[now].append((is_other, entry_id not in registry.ids, now != was.cluster_id, entry_id))
    return {cluster_id: [entry_id for *_, entry_id in sorted(found)] for cluster_id, found in claims.items()}


def _taken(registry: Registry) -> set[str]:
    return {*registry.ids, *registry.aliases, *registry.withdrawn, *registry.merged}


def _new_ids(newcomers: Sequence[Wanted], taken: set[str]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for want in newcomers:
        name = f"{want.domain}/{want.name or slug_form(want.slug)}"
        if name in taken:
            digits = want.cluster_id.rpartition(":")[2]
            candidates = (f"{name}-{digits[:length]}" for length in (_HASH_DIGITS, len(digits)))
            # a withdrawn entry of this very cluster may hold even the long one: then its id is its own again
            name = next((candidate for candidate in candidates if candidate not in taken), f"{name}-{digits}")
        taken.add(name)
        ids[want.cluster_id] = name
    return ids


def _named(ordered: Sequence[Wanted], before: Mapping[str, str], registry: Registry) -> dict[str, str]:
    """The ids with those names that people gave, where no other entry has or had them."""
    taken = {*_taken(registry), *before.values()}
    ids = dict(before)
    for want in ordered:
        now = before[want.cluster_id]
        name = f"{now.partition('/')[0]}/{want.name}"
        if want.name and (name not in taken or name in _names_of(now, registry)):
            taken.add(name)
            ids[want.cluster_id] = name
    return ids


def _names_of(entry_id: str, registry: Registry) -> list[str]:
    was = registry.ids.get(entry_id) or registry.merged.get(entry_id)
    return was.renamed_from if was else []


def _published(want: Wanted, before: Mapping[str, str], ids: Mapping[str, str], registry: Registry) -> Published:
    old, new = before[want.cluster_id], ids[want.cluster_id]
    was_published = old in registry.ids or old in registry.merged
    names = {*_names_of(old, registry), *([old] if was_published else [])} - {new}
    return Published(cluster_id=want.cluster_id, medoid=want.medoid, renamed_from=sorted(names))


def _aliases(
    registry: Registry, living: Mapping[str, Published], *, former: Mapping[str, Published], moved: Mapping[str, str]
) -> dict[str, str]:
    """Every id that no entry has any more -> the entry that it leads to."""
    found = {old: moved.get(old, moved.get(new, new)) for old, new in registry.aliases.items()}
    found |= {old: new for old, new in moved.items() if old in former}
    for target, error in [*((found[old], error) for old, error in former.items() if old in found), *living.items()]:
        found |= dict.fromkeys(error.renamed_from, target)
    return {old: new for old, new in sorted(found.items()) if old not in living}


def slug_form(words: str) -> str:
    """`words` as a slug: lower case, digits and single dashes, cut at a dash where it is long."""
    slug = re.sub(r"[^a-z0-9._]+", "-", words.lower()).strip("-._")
    if len(slug) > _SLUG_CHARACTERS:
        slug = slug[: _SLUG_CHARACTERS + 1].rpartition("-")[0][:_SLUG_CHARACTERS] or slug[:_SLUG_CHARACTERS]
    return slug.strip("-._") or "unnamed"


def _journal(
    before: Registry,
    after: Registry,
    *,
    merged: Mapping[str, str],
    renamed: Mapping[str, str],
    reasons: Mapping[str, str],
) -> Iterable[JournalNote]:
    returned = sorted(set(after.ids) & set(before.merged))
    for entry_id in sorted(set(after.ids) - set(before.ids) - set(returned) - set(renamed.values())):
        yield JournalNote("new", entry_id, None, "published for the first time")
    for entry_id in returned:
        old = before.aliases.get(entry_id)
        yield JournalNote("split", entry_id, old, "its error is a cluster of its own again, and has its id back")
    for old, new in sorted(renamed.items()):
        yield JournalNote("renamed", old, new, f'people named it in overrides.toml: "{reasons[new]}"')
    for old, new in sorted(merged.items()):
        if old in before.ids:
            yield JournalNote("merged", old, new, "its error is now part of the other entry's cluster")
    for entry_id in sorted(set(after.withdrawn) - set(before.withdrawn)):
        yield JournalNote("withdrawn", entry_id, None, "no document shows the error any more")
