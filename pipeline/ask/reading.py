"""What is read of a text: decided here, once, for `extract`, `group`, `match` and `build` alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from pipeline import extract, normalise
from pipeline.records import Event, Severity, Signature
from pipeline.text import safe

#: Longer messages say something.
_MOST_EMPTY = 200


@dataclass(frozen=True)
class Reading:
    """The failures of a text, and what each of them is."""

    text: str
    events: tuple[Event, ...]  # everything that was seen, by place

    @cached_property
    def errors(self) -> tuple[Event, ...]:
        """The events that are grouped: a warning, an interruption or a wrapper's last words are none."""
        return tuple(event for event in self.events if event.severity == Severity.ERROR)

    def signature(self, event: Event) -> Signature:
        """What an error of the text is."""
        return normalise.signature(event, self.text)

    def signed(self) -> list[tuple[Event, Signature | None]]:
        """Every event with what it is, None where it is not grouped: what a build keeps of a document."""
        return [(event, self.signature(event) if event.severity == Severity.ERROR else None) for event in self.events]

    @cached_property
    def main(self) -> Event | None:
        """The error that the text tells of if it tells of one; None where it tells of none."""
        return normalise.main_event(self.text, self.errors)

    @cached_property
    def whole(self) -> Signature:
        """What the text is if it tells of one error: for a text that stands for itself, not for a thread."""
        return normalise.signature_of_text(self.text, self.errors or self.events)


def read(text: str) -> Reading:
    """The failures of the text of a document."""
    return Reading(text, tuple(_weighed(event, text) for event in extract.events(text)))


def _weighed(event: Event, text: str) -> Event:
    """The event, of severity "empty" if it says that something failed and not what."""
    if event.severity != Severity.ERROR or len(event.message) > _MOST_EMPTY:
        return event
    return replace(event, severity=Severity.EMPTY) if normalise.is_empty(normalise.signature(event, text)) else event


def read_pasted(text: str) -> Reading:
    """The failures of a text that is no document yet: it is made safe as theirs are, and offsets count in that."""
    return read(safe(text))
