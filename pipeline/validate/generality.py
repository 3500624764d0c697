"""What stands for many sentences says none of them: an explanation that would fit other messages as well is refused.

That is known when all entries are made, not of one alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.records.entry import KnowledgeEntry

#: A Chinese sentence that stands for more English ones than this names too little of them.
MOST_SENTENCES = 2
GENERAL = "too general: it would fit other messages as well"


def too_general(shapes: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """The ids of entries whose explanation, made from words, is that of more than two different English messages.

    `shapes` has of each entry by its id what `translate.shape_of` says. Measured on the home itself: messages differ
    if their words differ, values aside.
    """
    messages_of: dict[str, set[str]] = {}
    entries_of: dict[str, list[str]] = {}
    for entry_id, shape in shapes.items():
        if shape:
            said, words = shape
            messages_of.setdefault(said, set()).add(words)
            entries_of.setdefault(said, []).append(entry_id)
    many = (said for said, found in messages_of.items() if len(found) > MOST_SENTENCES)
    return frozenset(entry_id for said in many for entry_id in entries_of[said])


def without_general(entry: KnowledgeEntry) -> KnowledgeEntry:
    """An entry whose explanation says too little: it is null and says why."""
    made = entry.translations["signature_zh"]
    refused = made.model_copy(update={"status": "untranslated", "engine": None, "gates": {}, "reason": GENERAL})
    told = {**entry.translations, "signature_zh": refused}
    return entry.model_copy(update={"signature_zh": None, "translations": told})
