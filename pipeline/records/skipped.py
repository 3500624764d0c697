"""From any stage: an item that could not go on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that could not go on. Counted, reported, never silent: in = out + skipped."""

    stage: str
    item_id: str  # file and place, or a record's id
    reason: str  # one of the reasons in data/skip_reasons.toml
    detail: str = ""  # for people, bounded, no secrets


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of the items given: in = new + known + skipped."""

    new: int
    known: int
    skipped: tuple[Skipped, ...]
