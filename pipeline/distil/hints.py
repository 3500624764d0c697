"""What the failing program itself advises, found inside the text of an error event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.distil import tables
from pipeline.records import Event, Fact

#: A hint that stands on the lines after the event's last line is still the program's (torch prints three such lines).
_AFTER = 400
_DIRECTIONS = {"increas": "increase", "decreas": "decrease", "reduc": "decrease"}


@dataclass(frozen=True, slots=True)
class Hinted:
    """A hint of one event."""

    rule: str
    fact: Fact
    start: int
    end: int


def hinted(text: str, event: Event, *, until: int) -> Iterator[Hinted]:
    """The hints of one event; `until` is where the next event or the post ends."""
    end = min(event.end + _AFTER, until)
    if end <= event.start:
        return
    block = text[event.start : end]
    for hint in tables.hints():
        if hint.stem not in block:
            continue
        at = max(0, block.rfind("\n", 0, block.find(hint.stem)) - 300)
        found = hint.pattern.search(block, at)
        if found is None:
            continue
        fact = _fact(hint, found.groupdict())
        if fact is not None:
            yield Hinted(hint.rule, fact, event.start + found.start(), event.start + found.end())


def _fact(hint: tables.Hint, groups: dict[str, str | None]) -> Fact | None:
    slots = []
    for name, value in hint.slots:
        filled = groups.get(value[1:]) if value.startswith("$") else value
        if filled is None:
            return None
        slots.append((name, filled.removeprefix("==")))
    template = hint.template
    if "$direction" in template:
        template = template.replace("$direction", _DIRECTIONS.get((groups.get("direction") or "").lower(), ""))
    return Fact(template, tuple(sorted(slots)))
