"""What the documentation of a project says an error means: part of an entry, and no statement of any thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

#: One or two sentences.
Sentences = Annotated[str, Field(min_length=20, max_length=600)]
Chinese = Annotated[str, Field(min_length=8, max_length=300)]
Address = Annotated[str, Field(pattern=r"^https://[^\s]{3,400}$")]
#: More is a manual: it stands at the address.
MOST_CHECKS = 2


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FirstCheck(_Part):
    """Where to look first, as the documentation says; nobody counted whether it helped."""

    text: Sentences
    text_zh: Chinese


class Documentation(_Part):
    """What the code or the message means wherever it is printed, in errmine's words; both languages are originals."""

    text: Sentences
    text_zh: Chinese
    checks: Annotated[list[FirstCheck], Field(max_length=MOST_CHECKS)] = Field(
        description="What to look at first; no remedy, and counted nowhere."
    )
    url: Address = Field(description="The page of the project on which it can be read.")
    row: str = Field(description='The row of a pack that says it, "system/sigsegv".')


def is_documented(entry: object) -> bool:
    """Whether documentation says what the error of an entry, or of its JSON, means."""
    told: Mapping[str, Any] = entry if isinstance(entry, Mapping) else vars(entry)
    return bool(told.get("documentation")) or told["root_cause_type"] == "documented"
