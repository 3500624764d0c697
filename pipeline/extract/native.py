"""Native diagnostics: placeholder until its owner's version lands."""

from __future__ import annotations

from pipeline.records import Event


def events(text: str, spans: list[tuple[int, int]]) -> list[Event]:
    """The native diagnostics of a text."""
    return []
