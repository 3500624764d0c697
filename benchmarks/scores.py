"""Figures of a partition against the truth. Quote them beside their floor: all singletons have a B-cubed F1 of 0.5."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

from benchmarks.truth import Item


@dataclass(frozen=True)
class Score:
    """The figures of one partition."""

    precision: float
    recall: float
    f1: float
    accuracy: float  # share of texts whose group is exactly their true one
    bcubed: float
    merged_alike: float  # share of pairs of one family and two labels that were merged
    alike: int
    groups: int

    def cells(self) -> str:
        """The figures as cells of a table."""
        return (
            f"{self.precision:.3f} | {self.recall:.3f} | {self.f1:.3f} | {self.accuracy:.3f} | {self.bcubed:.3f} "
            f"| {self.merged_alike:.2%} of {self.alike} | {self.groups}"
        )


HEAD = "P | R | F1 | GA | B3 F1 | look-alikes merged | groups"


def score(items: Sequence[Item], keys: Sequence[Hashable]) -> Score:
    """The figures of the partition that gives `items[i]` the group `keys[i]`."""
    seen: Counter[str] = Counter()
    for (one, left), (other, right) in combinations(zip(items, keys, strict=True), 2):
        if not is_debatable(one, other):
            is_true, is_found = int(one.label == other.label), int(left == right)
            is_alike = int(one.family == other.family and not is_true)
            seen.update(
                true=is_true, found=is_found, both=is_true * is_found, alike=is_alike, merged=is_alike * is_found
            )
    precision = seen["both"] / seen["found"] if seen["found"] else 1.0
    recall = seen["both"] / seen["true"] if seen["true"] else 1.0
    return Score(
        precision=precision,
        recall=recall,
        f1=_f1(precision, recall),
        accuracy=_accuracy(items, keys),
        bcubed=_bcubed(items, keys),
        merged_alike=seen["merged"] / max(1, seen["alike"]),
        alike=seen["alike"],
        groups=len(set(keys)),
    )


def is_debatable(one: Item, other: Item) -> bool:
    """Whether a pair counts neither way."""
    if one.group == other.group and one.label != other.label:
        return True
    return one.label == other.label and (one.is_ambiguous or other.is_ambiguous)


def confusions(items: Sequence[Item], keys: Sequence[Hashable]) -> list[str]:
    """A line for each label in several groups and each group of several labels, sorted."""
    groups: dict[str, set[Hashable]] = defaultdict(set)
    labels: dict[Hashable, dict[str, str]] = defaultdict(dict)
    for item, key in zip(items, keys, strict=True):
        groups[item.label].add(key)
        labels[key].setdefault(item.label, item.group)
    split = [f"split   {label} into {len(found)} groups" for label, found in groups.items() if len(found) > 1]
    merged = [f"merged  {' + '.join(sorted(found))}" for found in labels.values() if len(set(found.values())) > 1]
    return sorted(split) + sorted(merged)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _members(keys: Sequence[Hashable]) -> dict[Hashable, frozenset[int]]:
    found: dict[Hashable, set[int]] = defaultdict(set)
    for place, key in enumerate(keys):
        found[key].add(place)
    return {key: frozenset(members) for key, members in found.items()}


def _accuracy(items: Sequence[Item], keys: Sequence[Hashable]) -> float:
    found, true = _members(keys), _members([item.label for item in items])
    return sum(found[key] == true[item.label] for item, key in zip(items, keys, strict=True)) / len(items)


def _bcubed(items: Sequence[Item], keys: Sequence[Hashable]) -> float:
    found, true = _members(keys), _members([item.label for item in items])
    pairs = [(found[key], true[item.label]) for item, key in zip(items, keys, strict=True)]
    precision = sum(len(one & other) / len(one) for one, other in pairs) / len(pairs)
    recall = sum(len(one & other) / len(other) for one, other in pairs) / len(pairs)
    return _f1(precision, recall)
