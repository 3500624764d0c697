"""Whether a match begins a word: cheaper after the match than as a look-behind, which hides the first letter."""

from __future__ import annotations


def starts_word(text: str, at: int) -> bool:
    """Whether no identifier runs into `at`; the letter of an escaped line break is none."""
    if at == 0:
        return True
    before = text[at - 1]
    if not (before.isascii() and (before.isalnum() or before == "_")):
        return True
    return before in "nrt" and at > 1 and text[at - 2] == "\\"
