"""From a text to its label or its entry: extract, normalise, cluster, joined for texts that are not in raw.

`group_texts` compares texts with each other, a `Matcher` compares one with the entries of a bundle, `digest` says what
people want first of an entry. What only some of them need (the reading of texts, numpy) is imported when it is needed:
commands are asked once and have to be quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.ask.digesting import (
        Digest,
        Fix,
        Lead,
        Remedy,
        Reply,
        Saying,
        Thread,
        answers,
        digest,
        evidence_by_weight,
        standing,
    )
    from pipeline.ask.findings import Finding, Findings
    from pipeline.ask.matcher import Answer, Matcher, nearest_case
    from pipeline.ask.pasting import Gap, Pasted, pasted
    from pipeline.ask.reading import (
        Label,
        Reading,
        group_texts,
        read,
        read_overrides,
        read_pasted,
        read_signature,
        template_of,
    )

_MODULES = {
    "digesting": (
        "Digest", "Fix", "Lead", "Remedy", "Reply", "Saying", "Thread", "answers", "digest", "evidence_by_weight",
        "standing",
    ),
    "findings": ("Finding", "Findings"),
    "matcher": ("Answer", "Matcher", "nearest_case"),
    "pasting": ("Gap", "Pasted", "pasted"),
    "reading": (
        "Label", "Reading", "group_texts", "read", "read_overrides", "read_pasted", "read_signature", "template_of",
    ),
}  # fmt: skip

__all__ = [
    "Answer",
    "Digest",
    "Finding",
    "Findings",
    "Fix",
    "Gap",
    "Label",
    "Lead",
    "Matcher",
    "Pasted",
    "Reading",
    "Remedy",
    "Reply",
    "Saying",
    "Thread",
    "answers",
    "digest",
    "evidence_by_weight",
    "group_texts",
    "nearest_case",
    "pasted",
    "read",
    "read_overrides",
    "read_pasted",
    "read_signature",
    "standing",
    "template_of",
]


def __getattr__(name: str) -> object:
    """A name of `__all__`, from the module that has it."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
