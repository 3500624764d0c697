"""What people decided, carried out on groups: complete gates are split, groups bound together, each with the reason.

What is kept apart stays apart: where a bond would bring such a pair together, only what people named is moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rapidfuzz import fuzz

if TYPE_CHECKING:
    from pipeline.cluster.overrides import Bond, Override
    from pipeline.cluster.partition import Work

Apart = Mapping[tuple[int, int], "Override"]


def split_gate(work: Work, members: Sequence[int], apart: Apart) -> None:
    """Give each template of a complete gate the group of the nearest text that it is not kept apart from."""
    named = {position: row for (position, _), row in apart.items()}
    groups: list[list[int]] = []  # of each the templates that people named, or the first one
    for position in sorted(members, key=lambda place: (place not in named, place)):
        free = [group for group in groups if not _clash([position], group, apart)]
        group = max(free, key=lambda one: (_likeness(work, position, one), -one[0]), default=None)
        if group is None:
            groups.append([position])
        elif position in named:
            group.append(position)
        work.group[position] = position if group is None else group[0]
    if len(groups) > 1:
        for position in members:
            reason = named[work.group[position]].reason
            work.why[position] = f'People split this gate in overrides.toml: "{reason}".'


def _likeness(work: Work, position: int, group: Sequence[int]) -> float:
    text = work.shapes[position].text
    return max(fuzz.ratio(text, work.shapes[other].text) for other in group)


def part_cut(work: Work, position: int, leader: int, apart: Apart) -> bool:
    """Whether a cut text may not join the group of a leader."""
    return bool(apart) and _clash([position], [place for place, of in enumerate(work.group) if of == leader], apart)


def bind(work: Work, bonds: Sequence[Bond], apart: Apart) -> None:
    """Make one group of all groups that the templates of each bond are in."""
    bound_with = {position: bond.positions for bond in bonds for position in bond.positions}
    for bond in bonds:
        groups = {work.group[position] for position in bond.positions}
        members = [position for position, leader in enumerate(work.group) if leader in groups]
        joined = _joined(bond.positions, members, bound_with, apart)
        told = "; ".join(row.reason for row in bond.rows)
        if len(groups) > 1:
            _mark(work, bond.positions, joined, f'Merged by overrides.toml: "{told}".')
        _regroup(work, groups, joined)


def _joined(
    core: Sequence[int], members: Sequence[int], bound_with: Mapping[int, Sequence[int]], apart: Apart
) -> set[int]:
    """The members that come together: the core, and whatever is kept apart from none of them."""
    joined, tried = set(core), set(core)
    present = set(members)
    for position in members:
        if position in tried:
            continue
        together = [other for other in bound_with.get(position, (position,)) if other in present]
        tried.update(together)
        if not _clash(together, joined, apart):
            joined.update(together)
    return joined


def _mark(work: Work, core: Sequence[int], joined: Iterable[int], why: str) -> None:
    """Write the reason down at what people named and at what followed it into another group."""
    home = work.group[min(core)]
    for position in joined:
        if work.group[position] != home:
            work.rule[position] = "override"
        if position in core or work.group[position] != home:
            work.why[position] = why


def _regroup(work: Work, groups: Iterable[int], joined: set[int]) -> None:
    for group in groups:
        left = [position for position, leader in enumerate(work.group) if leader == group and position not in joined]
        for position in left:
            work.group[position] = left[0]
    for position in joined:
        work.group[position] = min(joined)


def _clash(some: Iterable[int], others: Iterable[int], apart: Apart) -> bool:
    known = list(others)
    return bool(apart) and any((one, other) in apart for one in some for other in known)
