"""Engines that may offer a Chinese text for English prose, asked in order; each offer must pass the gates.

The order for one string: Chinese source, template, translation memory, configured language model, configured machine
translation, nothing. The first two need no engine: `assembly` has the fact or the quote at hand. Language model and
machine translation are off unless the user configures them, because they send text to another program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.lexicon import advice, gates
from pipeline.records.entry import TranslationStatus
from pipeline.text import is_clean


@dataclass(frozen=True, slots=True)
class Offer:
    """What an engine proposes, before the gates have seen it."""

    text: str
    status: TranslationStatus
    engine: str


@dataclass(frozen=True, slots=True)
class NoOffer:
    """Why an engine that was asked has no proposal."""

    engine: str
    reason: str


class Engine(Protocol):
    """Something that can put English prose into Chinese."""

    def offer(self, source: str) -> Offer | NoOffer | None:
        """A proposal for the text; NoOffer with a reason; None if it simply does not know the text."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The first offer that passed, with what the gates said; or none, with why."""

    offer: Offer | None
    gates: dict[str, bool]
    reason: str | None


def first_passing(source: str, engines: Sequence[Engine]) -> Checked:
    """The first engine's offer that passes every gate."""
    refused: list[str] = []
    for engine in engines:
        offer = engine.offer(source)
        if offer is None:
            continue
        if isinstance(offer, NoOffer):
            refused.append(f"{offer.engine}: {offer.reason}")
            continue
        if not is_clean(offer.text):
            refused.append(f"{offer.engine} put in characters that nobody can see")
            continue
        if advice.refusal(offer.text) is not None:
            refused.append(f"{offer.engine} put in what is never passed on")
            continue
        said = gates.check(source, offer.text)
        failed = sorted(name for name, passed in said.items() if not passed)
        if not failed:
            return Checked(offer, said, None)
        refused.append(f"{offer.engine} failed {', '.join(failed)}")
    return Checked(None, {}, "; ".join(refused) or "prose, and no engine has a translation")
