"""What a sentence cites. "See the heroku ticket: https://..." and "pip install https://..." both name a program, then
an address.

What lies between the two decides: a command has verbs and options there, a sentence its own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from pipeline.lexicon.advice import understood
from pipeline.lexicon.advice.installs import INSTALLERS, VERBS
from pipeline.lexicon.advice.spelling import folded
from pipeline.lexicon.advice.tables import table, words
from pipeline.records import warm

_ASKED = warm.pattern(r"--?[A-Za-z]|/[a-zA-Z]$")
#: What ends a sentence, and what ends a clause, opens a bracket or announces an address.
_ENDED = warm.pattern(r"[.!?;][)\"'\]]{0,2}$")
_MARKED = warm.pattern(r"[:,)\]]$|^[(\[]|^[->=|]+$")
_NO_LETTER = warm.pattern(r"[^\w'#-]+")
_ADDRESS = warm.pattern(r"\b[a-z]{2,10}://(?:[^\s|<>;`$&]|&(?=\w))*", re.IGNORECASE)
#: `src=https://...`
_ATTRIBUTE = warm.pattern(r"\w=[\"']?[a-z]{2,10}://", re.IGNORECASE)
#: What is done with what an address gives.
_FED = warm.pattern(r"://\S*\s{0,3}(?:[|;>]|&&)\s{0,3}[\w.~/$(]")
_SENTENCE_WORD = warm.pattern(r"[(\[]?[\w'#-]+[])]?[.,:;]?|[-(\[]")
#: A name and an address, nothing between.
_ALONE = 2
#: What only a shell has in a line.
_SIGNS = warm.pattern(r"[|<>;`$]|&(?!\w)")
_APART = warm.pattern(r"\s+|(?<=\])(?=\()")
#: The last two words of what stands in front of a program's name.
_LEAD = warm.pattern(r"(?:([\w'-]{1,20})[\s\"'(*_\[]{1,3})?([\w'-]{1,20})[\s\"'(*_\[]{1,3}$")
#: So far back they are looked for.
_BACK = 50


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a sentence says from the name of a program on, and in front of it."""

    line: str
    lead: str

    @classmethod
    def at(cls, text: str, start: int, length: int) -> Sentence:
        """The sentence in `text` whose program's name begins at `start`, as far as its line or `length` goes."""
        return cls(text[start : start + length].partition("\n")[0], text[max(0, start - _BACK) : start])

    def is_of(self, name: str) -> bool:
        """True if it begins with the name of that program."""
        return bool(self.line) and folded(_APART.split(self.line, maxsplit=1)[0]) == name

    def is_about(self, name: str) -> bool:
        """True if it runs nothing: the program is what a ticket, a page or a statement at an address is about."""
        found = _ADDRESS.search(self.line)
        if found is None or _SIGNS.search(_ADDRESS.sub("", self.line)):
            return False
        said = [*_APART.split(self.line[: found.start()].strip()), found[0]]
        is_announced = len(said) == _ALONE and _MARKED.search(said[0]) is not None
        is_subject = _bare(said[1]) in _listed("cites") | _listed("of") and all(
            map(_SENTENCE_WORD.fullmatch, said[1:-1])
        )
        return (is_announced or is_subject) and self.cites(name, said)

    def cites(self, name: str, said: Sequence[str]) -> bool:
        """True if an address behind the name of a program is one to read.

        Args:
            name: the program, as the tables have it.
            said: the words from its name to the address, as a shell has them.
        """
        found = _ADDRESS.search(said[-1])
        place = self.line.find(found[0]) if found else -1
        called, *between = _APART.split(self.line[:place].strip()) if place > 0 else said[:-1]
        if _ATTRIBUTE.search(said[-1]) or _FED.search(self.line):
            return False
        if any(_ENDED.search(one) for one in (called, *between)):
            return True
        plain = {_NO_LETTER.sub("", one) for one in between} - _listed("cites") - _listed("of")
        if not plain.isdisjoint(_verbs(name)) or any(_ASKED.match(one) for one in between):
            return False
        bare = {_bare(one) for one in between}
        told = bare - _listed("cites")
        if told != bare or name in _everyday():
            return True
        lead = _LEAD.search(self.lead.lower())
        before = {one for one in lead.groups() if one} if lead else set()
        is_marked = any(_MARKED.search(one) for one in (called, *between))
        if is_marked and not before.isdisjoint(_listed("leads")):
            return True
        if name in _takers():
            return False
        is_noun = lead is not None and lead[2] in _listed("articles")
        return is_marked or is_noun or not told.isdisjoint(words("commands", "sentence"))


def _bare(word: str) -> str:
    return _NO_LETTER.sub("", word).lower()


@cache
def _listed(row: str) -> frozenset[str]:
    return frozenset(table("prose")["cited"][row])


@cache
def _verbs(name: str) -> frozenset[str]:
    """What a program is asked to do, and what any that installs is."""
    own = (word for row in understood.rows().get(name, ()) for verb in row.verbs for word in verb)
    return VERBS | _listed("takes") | frozenset(own)


@cache
def _everyday() -> frozenset[str]:
    """Programs whose names are words of any sentence, and what none takes: "this code, https://...", "go to https://..."."""
    taking = VERBS | _listed("takes") | words("programs", "fetchers") | words("programs", "evaluators")
    return (words("commands", "ambiguous") | words("wake", "everyday")) - taking


@cache
def _takers() -> frozenset[str]:
    """Programs whose names are said for what they do: "wget it: https://...", "npm this package, https://..."."""
    rows = ("fetchers", "forge_names", "copiers")
    return INSTALLERS | frozenset(name for row in rows for name in words("programs", row)) | {"git", "hg", "svn"}
