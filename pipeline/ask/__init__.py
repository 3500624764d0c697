"""From a text to its label or its entry: extract, normalise, cluster, joined for texts that are not in raw.

`group_texts` compares texts with each other, a `Matcher` compares one with the entries of a bundle. What only some
answers need (numpy, rapidfuzz) is imported when it is needed: `errmine match` is asked once and has to be quick.
"""

from pipeline.ask.digest import Digest, Fix, Remedy, Saying, Thread, digest, evidence_by_weight, standing
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

__all__ = [
    "Answer",
    "Digest",
    "Finding",
    "Findings",
    "Fix",
    "Gap",
    "Label",
    "Matcher",
    "Pasted",
    "Reading",
    "Remedy",
    "Saying",
    "Thread",
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
