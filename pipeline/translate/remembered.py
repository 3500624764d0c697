"""The translation memory: sentences that people translated, found again where only numbers and names differ.

`memory/zh_Hans.po` is meant to be extended by hand. A sentence is keyed with its code, numbers and identifiers
masked; only an exact match of the masked sentence counts. In the file a masked place is written `{1}`, `{2}`, ...
in the order of the English sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline.lexicon import gates
from pipeline.translate import rendering
from pipeline.translate.engines import Offer
from pipeline.translate.rendering import pairs

_MASKED = re.compile(rf"\{{\d\}}|{gates.PROTECTED.pattern}|\d+(?:[.,]\d+)*", re.ASCII)
_PLACE = re.compile(r"\{(\d)\}")


@dataclass(frozen=True, slots=True)
class Memory:
    """Masked English sentences with their Chinese."""

    pairs: Mapping[str, str]

    def offer(self, source: str) -> Offer | None:
        """The remembered translation of the sentence with its own numbers and names, None if it is not known."""
        spans = [match.group() for match in _MASKED.finditer(source)]
        remembered = self.pairs.get(key(source))
        if remembered is None:
            return None
        marked = _PLACE.sub(rendering.MARK, remembered)
        order = [int(number) - 1 for number in _PLACE.findall(remembered)]
        if any(index >= len(spans) for index in order):
            return None
        text = rendering.restore(rendering.set_marks(marked), [spans[index] for index in order])
        return Offer(text, "tm_exact", "tm")


def key(sentence: str) -> str:
    """What is compared: code, numbers and identifiers masked, case, spaces and the last full stop left out."""
    return " ".join(_MASKED.sub(" {} ", sentence).lower().split()).rstrip(" .。!")


def memory(po: str) -> Memory:
    """The memory that a PO text holds."""
    return Memory({key(english): chinese for english, chinese in pairs(po)})


@cache
def shipped_memory() -> Memory:
    """The memory that comes with the package."""
    path = files("pipeline") / "translate" / "memory" / "zh_Hans.po"
    return memory(path.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Accepted:
    """What people translated for one home and its gates accepted: Chinese by (context, text)."""

    texts: Mapping[tuple[str, str], str]

    def offer(self, source: str) -> Offer | None:
        """The Chinese that somebody wrote for a statement, None if nobody did."""
        return self._offer("statement", source)

    def explanation(self, signature: str) -> Offer | None:
        """The Chinese that somebody wrote for an error message, None if nobody did."""
        return self._offer("signature", signature)

    def _offer(self, context: str, source: str) -> Offer | None:
        text = self.texts.get((context, source))
        return None if text is None else Offer(text, "human", "tm/home")
