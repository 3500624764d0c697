"""The translation memory: sentences that people translated, found again where only numbers and names differ.

`memory/zh_Hans.po` is meant to be extended by hand. A sentence is keyed with its code, numbers and identifiers masked;
only an exact match of the masked sentence counts. In the file a masked place is written `{1}`, `{2}`, ... in the order
of the English sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline import gates
from pipeline.translate import typography
from pipeline.translate.engines import Offer

_MASKED = re.compile(rf"\{{\d\}}|{gates.PROTECTED.pattern}|\d+(?:[.,]\d+)*", re.ASCII)
_PLACE = re.compile(r"\{(\d)\}")
_STRING = re.compile(r'^(msgctxt|msgid|msgstr)? ?"(.*)"$')
_ESCAPE = re.compile(r"\\(.)")


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
        marked = _PLACE.sub(typography.MARK, remembered)
        order = [int(number) - 1 for number in _PLACE.findall(remembered)]
        if any(index >= len(spans) for index in order):
            return None
        text = typography.restore(typography.set_marks(marked), [spans[index] for index in order])
        return Offer(text, "tm_exact", "tm")


def key(sentence: str) -> str:
    """What is compared: code, numbers and identifiers masked, case, spaces and the last full stop left out."""
    return " ".join(_MASKED.sub(" {} ", sentence).lower().split()).rstrip(" .。!")


def memory(po: str) -> Memory:
    """The memory that a PO text holds; fuzzy and empty entries are left out."""
    return Memory({key(english): chinese for english, chinese in _entries(po) if english and chinese})


def _entries(po: str) -> list[tuple[str, str]]:
    """(msgid, msgstr) of a PO text: the subset that has single-line keywords and continued strings."""
    found = []
    for block in re.split(r"\n[ \t]*\n", po):
        fields = {"msgid": "", "msgstr": "", "msgctxt": ""}
        name = "msgctxt"
        for line in block.splitlines():
            match = _STRING.match(line.strip())
            if match:
                name = match.group(1) or name
                fields[name] += _ESCAPE.sub(_unescaped, match.group(2))
        if not re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE):
            found.append((fields["msgid"], fields["msgstr"]))
    return found


def _unescaped(escape: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(escape.group(1), escape.group(1))


@cache
def shipped_memory() -> Memory:
    """The memory that comes with the package."""
    path = files("pipeline") / "translate" / "memory" / "zh_Hans.po"
    return memory(path.read_text(encoding="utf-8"))
