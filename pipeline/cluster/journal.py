"""What changed between two partitions: rows of the append-only journal, and the aliases that resolve for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened to one cluster."""

    kind: str  # "new" | "grown" | "merged" | "split" | "withdrawn" | "renamed"
    old_ids: tuple[str, ...]  # sorted; empty for "new"
    new_ids: tuple[str, ...]  # sorted; empty for "withdrawn"
    reason: str  # one sentence, with the numbers of signatures


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[Change]:
    """What happened to each cluster between two maps of signature id to cluster id, sorted; nothing where nothing did.

    Of clusters that hold the same signatures in both they need not tell.

    An old cluster that shares signatures with several new ones was split, several old ones that share them with one
    were merged, and one that shares them with one of another id was renamed.
    """
    touched = {cluster_id for _, cluster_id in old.items() ^ new.items()}  # of no other cluster anything differs
    old, new = ({one: cluster_id for one, cluster_id in each.items() if cluster_id in touched} for each in (old, new))
    flows = Counter((old[one], new[one]) for one in old.keys() & new.keys())
    targets, sources = _ends(flows)
    sizes = Counter(new.values()), Counter(old.values())
    found = [Change("new", (), (one,), _first(sizes[0][one])) for one in sizes[0] if one not in sources]
    found += [Change("withdrawn", (one,), (), _gone(sizes[1][one])) for one in sizes[1] if one not in targets]
    found += [
        Change("split", (one,), tuple(sorted(ends)), _flowing(one, ends, flows, is_source=True))
        for one, ends in targets.items()
        if len(ends) > 1
    ]
    found += [
        Change("merged", tuple(sorted(ends)), (one,), _flowing(one, ends, flows, is_source=False))
        for one, ends in sources.items()
        if len(ends) > 1
    ]
    for (before, after), shared in flows.items():
        if len(targets[before]) == 1 and len(sources[after]) == 1:
            found += _continued(before, after, sizes[0][after] - shared)
    return sorted(found, key=lambda change: (change.kind, change.old_ids, change.new_ids))


def _ends(flows: Iterable[tuple[str, str]]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    targets: dict[str, set[str]] = {}
    sources: dict[str, set[str]] = {}
    for before, after in flows:
        targets.setdefault(before, set()).add(after)
        sources.setdefault(after, set()).add(before)
    return targets, sources


def _first(count: int) -> str:
    return f"first seen, with {_signatures(count)}"


def _gone(count: int) -> str:
    return f"none of its {_signatures(count)} is left"


def _signatures(count: int) -> str:
    return f"{count} signature{'' if count == 1 else 's'}"


def _flowing(one: str, ends: Iterable[str], flows: Mapping[tuple[str, str], int], *, is_source: bool) -> str:
    parts = sorted(ends)
    counts = [flows[(one, end) if is_source else (end, one)] for end in parts]
    way, verb = ("to", "went") if is_source else ("from", "came")
    listed = ", ".join(f"{count} {way} {end}" for end, count in zip(parts, counts, strict=True))
    return f"signatures {verb}: {listed}"


def _continued(before: str, after: str, added: int) -> list[Change]:
    found = []
    if before != after:
        found.append(Change("renamed", (before,), (after,), "its earliest template is another one now"))
    if added > 0:
        found.append(Change("grown", (before,), (after,), f"{_signatures(added)} more"))
    return found


def aliases(
    known: Mapping[str, str], old: Mapping[str, str], new: Mapping[str, str], standing: Container[str] = ()
) -> dict[str, str]:
    """The map of every id that is no cluster any more to the one that has most of its signatures, old aliases kept.

    Both maps are those of `changes`; `standing` are clusters of which they do not tell, because they are as they were.
    A withdrawn id with nothing to resolve to stays out, and so does an alias of it; an id that lives again is no alias.
    """
    flows: dict[str, Counter[str]] = {}
    living = set(new.values())
    gone = set(old.values()) - living
    for one, before in old.items() if gone else ():
        if before in gone and one in new:
            flows.setdefault(before, Counter())[new[one]] += 1
    found = {before: _main(after) for before, after in flows.items()}
    for alias, target in known.items():
        if alias not in living and alias not in standing:
            end = target if target in living or target in standing else found.get(target, target)
            found.setdefault(alias, end)
    return dict(sorted(found.items()))


def _main(ends: Counter[str]) -> str:
    return min(ends, key=lambda end: (-ends[end], end))


def resolved(cluster_id: str, known: Mapping[str, str]) -> str:
    """The id that a cluster id means today: itself unless it is an alias. Rings, which should not be, end."""
    seen = set()
    while cluster_id in known and cluster_id not in seen:
        seen.add(cluster_id)
        cluster_id = known[cluster_id]
    return cluster_id


def dry_run(old: Mapping[str, str], new: Mapping[str, str]) -> list[tuple[str, str, str, bool]]:
    """Rows (signature id, original cluster, new cluster, same?) of every signature in a cluster that changed."""
    touched = {one for change in changes(old, new) for one in (*change.old_ids, *change.new_ids)}
    rows = []
    for signature_id in sorted(old.keys() | new.keys()):
        before, after = old.get(signature_id, ""), new.get(signature_id, "")
        if before in touched or after in touched:
            rows.append((signature_id, before, after, before == after))
    return rows
