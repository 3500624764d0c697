"""What packs add to what is said of errors: a program's own advice, cues of sentences."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from pipeline import packs
from pipeline.lexicon import vocabulary

_LONGEST = 200
Literal_ = Annotated[str, Field(min_length=4, max_length=_LONGEST)]


def _small(stem: str) -> str:
    if stem != stem.lower():
        raise ValueError(f"{stem!r} is not in small letters; sentences are searched so")
    return stem


class Hint(packs.Row):
    """Advice that the program prints with its error; an example is the printed text."""

    stem: Literal_ = Field(description="Words that stand in it, as they are: the cheap test.")
    pattern: packs.Expression = Field(description="The words to quote; named groups fill the slots.")
    template: str = Field(
        description="What it says: a `remedy.` of pipeline/data/facts.toml; $direction as the group `direction` says."
    )
    slots: dict[str, str] = Field(default={}, description="Slot of the template -> a word, or $group.")
    is_guess: bool = Field(
        default=False, description="The program does not know whether it helps ('try', 'may'): no entry advises it."
    )

    @model_validator(mode="after")
    def _is_a_fact(self) -> Hint:
        facts = vocabulary.table()["facts"]
        templates = [self.template.replace("$direction", way) for way in ("increase", "decrease")]
        if not self.template.startswith("remedy.") or not set(templates) <= facts.keys():
            near = ", ".join(sorted(name for name in facts if name.startswith("remedy."))[:12])
            raise ValueError(f"template: {self.template!r} is no remedy of facts.toml; there are {near}, ...")
        wanted = {slot for one in templates for slot in facts[one].get("slots", {})}
        if wanted != set(self.slots):
            raise ValueError(f"slots: {self.template} has {', '.join(sorted(wanted)) or 'none'}")
        groups = packs.compiled(self.pattern).groupindex
        if odd := [value for value in self.slots.values() if value.startswith("$") and value[1:] not in groups]:
            raise ValueError(f"slots: the pattern has no group {odd[0][1:]!r}: write (?P<{odd[0][1:]}>...)")
        return self


class Cue(packs.Row):
    """How people say what causes or cures an error, in words of their field; an example is a sentence."""

    kind: Literal["cause", "remedy", "fix"] = Field(description="What such a sentence states.")
    stems: tuple[Annotated[Literal_, AfterValidator(_small)], ...] = Field(
        min_length=1, description="One of them stands in the sentence, in small letters."
    )
    pattern: packs.Expression = Field(description="Searched in the sentence, whatever the case of its letters.")
    refuse: packs.Expression | None = Field(default=None, description="A sentence with this says none of it.")
    outcome: Literal["worked", "failed"] | None = Field(default=None, description="Of a remedy, how it ended.")
    lang: Literal["en", "zh"] = Field(default="en", description="The language of the sentence.")
    needs: Literal["fact", "object", "words"] = Field(default="object", description="What must stand beside the cue.")


HINTS = packs.Table("hints", Hint)
CUES = packs.Table("cues", Cue)


@HINTS.tested
def _printed(text: str) -> list[Hint]:
    """The rows that find their words in the printed text."""
    return [row for row in HINTS.rows() if row.stem in text and packs.compiled(row.pattern).search(text)]


@CUES.tested
def _said(sentence: str) -> list[Cue]:
    """The rows by which the sentence would be read."""
    return [row for row in CUES.rows() if _holds(row, sentence)]


def _holds(row: Cue, sentence: str) -> bool:
    lowered = sentence.lower()
    if not any(stem in lowered for stem in row.stems) or not re.search(row.pattern, sentence, re.IGNORECASE):
        return False
    return row.refuse is None or not re.search(row.refuse, sentence, re.IGNORECASE)
