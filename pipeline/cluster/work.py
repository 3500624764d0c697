"""What the steps of grouping share: templates in order of rank, and the group and rule that each has so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.cluster.candidates import bare
from pipeline.cluster.shapes import Shape, shape
from pipeline.records import Template


@dataclass(slots=True)
class Work:
    """Templates in order of rank; a position is a place in that order."""

    templates: list[Template]
    shapes: list[Shape]
    is_complete: list[bool]  # whether the gate of a template alone identifies its error
    group: list[int]  # position of the group's leader
    rule: list[str]
    refused: list[tuple[int, int, float, str]] = field(default_factory=list)  # see leaders.Groups
    why: dict[int, str] = field(default_factory=dict)  # what people said about a template's group

    def words(self, position: int) -> str:
        """The text by which an error of a place is found: none where the gate alone is the error."""
        return "" if self.is_complete[position] else self.shapes[position].text

    def members(self) -> dict[int, list[int]]:
        """The positions of each group in order of rank, by leader."""
        found: dict[int, list[int]] = {}
        for position, leader in enumerate(self.group):
            found.setdefault(leader, []).append(position)
        return found

    def longest_first(self, cut: Iterable[int]) -> list[int]:
        """The positions of cut texts, the longest first: a shorter one may be the beginning of it."""
        return sorted(cut, key=lambda place: (-len(bare(self.templates[place].gate, self.shapes[place]).text), place))

    def of(self, positions: Sequence[int]) -> Work:
        """The work on the templates at `positions`, which are in order, as if it were never begun."""
        return _begun(
            [self.templates[place] for place in positions],
            [self.shapes[place] for place in positions],
            [self.is_complete[place] for place in positions],
        )

    def take(self, positions: Sequence[int], done: Work) -> None:
        """Nothing; what was `done` with the templates at `positions` stands here then."""
        for place, position in enumerate(positions):
            self.group[position] = positions[done.group[place]]
            self.rule[position] = done.rule[place]
        self.refused += [(positions[one], positions[other], score, why) for one, other, score, why in done.refused]
        self.why.update({positions[place]: why for place, why in done.why.items()})


def work(templates: Sequence[Template]) -> Work:
    """The work on distinct templates before its first step."""
    ranked = sorted(templates, key=rank)
    complete = {template.gate for template in ranked if template.is_gate_complete}
    return _begun(ranked, [shape(template) for template in ranked], [one.gate in complete for one in ranked])


def _begun(templates: list[Template], shapes: list[Shape], is_complete: list[bool]) -> Work:
    return Work(templates, shapes, is_complete, list(range(len(templates))), ["founder"] * len(templates))


def rank(template: Template) -> tuple[object, ...]:
    """What is compared to tell which template comes first."""
    return (template.gate, template.is_truncated, -template.count, template.text, template.signature_id)
