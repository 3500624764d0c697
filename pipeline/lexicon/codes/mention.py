"""A code where a text names it, and the ways of finding one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """A code and the words of a text that name it."""

    code: str  # "cuda:cudaErrorIllegalAddress", as the catalogue spells it
    start: int
    end: int
    values: tuple[tuple[str, str], ...] = ()  # amounts that the words give, by name


Reader = Callable[[str], Iterable[Mention]]


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which programs name their codes."""

    name: str
    signs: tuple[str, ...]  # literals in lower case: without one of them the text names nothing in this way
    read: Reader
    decides: bool = False  # whether the code says alone which error a message is
    reach: int | None = None  # how far into a message it does; further down the words belong to something else


def lowered(text: str) -> str:
    """The text in lower case, every letter in its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def starts_word(text: str, at: int) -> bool:
    """Whether no identifier runs into `at`; the letter of an escaped line break is none.

    Cheaper after the match than as a look-behind, which hides the first letter from the engine.
    """
    if at == 0:
        return True
    before = text[at - 1]
    if not (before.isascii() and (before.isalnum() or before == "_")):
        return True
    return before in "nrt" and at > 1 and text[at - 2] == "\\"


def is_compared(text: str, at: int) -> bool:
    """Whether the name is an operand of a printed condition (`e == cudaErrorCudartUnloading`), not the outcome."""
    return text[max(at - 3, 0) : at].rstrip().endswith(("==", "!="))
