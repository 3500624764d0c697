"""What packs add to the rules of this stage: known errors by their words, and names that changed and mean one thing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from pipeline import packs
from pipeline.records import warm

#: What may tell one error from another of the same words; closed, because clusters, titles and Chinese read them.
GATE_KEYS = frozenset(
    (
        *("resource", "space", "backend", "library", "assertion", "module", "symbol", "op", "status", "exception"),
        *("polarity", "feature", "tool", "errno", "signal", "code"),
    )
)
_FILLED = warm.pattern(r"\{(\w+)\}")

Kind = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,79}$")]
Words = Annotated[str, Field(min_length=2, max_length=400)]


def _small(words: str) -> str:
    if words != words.lower():
        raise ValueError(f"{words!r} is not in small letters; it is looked for in the text so written")
    return words


Need = Annotated[str, Field(min_length=3, max_length=200), AfterValidator(_small)]


Tier = Literal["tool", "early", "root", "head", "late", "wrapper"]
#: A sentence, or its wordings of one error, the present one first.
Sentence = Words | tuple[Words, ...]


class Message(BaseModel):
    """One error among the messages of a program: its sentence, and what differs from the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    says: Sentence
    tier: Tier | None = None
    gate: dict[str, Words] = {}


class Known(packs.Row):
    """Known errors by their words: a sentence with holes (`says`), many (`messages`), or an expression (`pattern`)."""

    kind: Kind | None = Field(default=None, description="Rows of one kind are one error; else the row's own name.")
    says: tuple[Words, ...] = Field(default=(), description="Wordings as printed, {} or {name} for what varies.")
    need: tuple[Need, ...] = Field(
        default=(), description="In small letters: words of which one must occur before `pattern` is tried."
    )
    pattern: packs.Expression | None = Field(default=None, description="Searched in the message, with named groups.")
    messages: tuple[Sentence | Message, ...] = Field(
        default=(),
        description="As `says`, each an error of its own: all that a program prints. A list holds wordings of one; "
        "`{ says = …, tier = …, gate = … }` is one that is asked elsewhere.",
    )
    tier: Tier = Field(
        default="root", description="When it is asked: a tool's own words first, what only wraps another error last."
    )
    gate: dict[str, Words] = Field(default={}, description="What tells one such error from another: key -> {group}.")
    unit: str | dict[str, str] | None = Field(
        default=None,
        description="Of the groups `required` and `limit` where no unit is printed; by resource, if several.",
    )
    keep: tuple[str, ...] = Field(default=(), description="Groups whose words the template keeps.")
    complete: bool = Field(default=True, description="The words alone say which error it is.")
    typed: bool = Field(default=False, description="The words are nothing without the exception's type.")

    @model_validator(mode="after")
    def _is_whole(self, info: ValidationInfo) -> Known:
        if packs.is_shipped(info):
            return self
        if [bool(self.says), bool(self.messages), bool(self.pattern)].count(True) != 1:
            raise ValueError("a row has `says` or `pattern`, not both, or `messages`")
        if self.pattern and not self.need:
            raise ValueError("a row with `pattern` has `need`: words of which one must occur")
        gates = [self.gate, *(one.gate for one in self.messages if isinstance(one, Message))]
        if odd := sorted({key for gate in gates for key in gate} - GATE_KEYS):
            raise ValueError(f"gate: {odd[0]!r} is none of {', '.join(sorted(GATE_KEYS))}")
        if self.pattern:
            groups = packs.compiled(self.pattern).groupindex
            wanted = {name for words in self.gate.values() for name in _FILLED.findall(words)} | set(self.keep)
            if missing := sorted(wanted - set(groups)):
                raise ValueError(f"the pattern has no group {missing[0]!r}: write (?P<{missing[0]}>...)")
        return self


class Renamed(packs.Row):
    """An exception that had other names: in another version, in another module."""

    now: Words = Field(description="Its present name, whole.")
    was: tuple[Words, ...] = Field(min_length=1, description="Its other names, whole.")


FAMILIES = packs.Table("families", Known)
EQUIVALENCES = packs.Table("equivalences", Renamed)
