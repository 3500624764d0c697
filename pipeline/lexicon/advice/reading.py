"""A statement's commands, scripts, settings and sentences, each asked what it does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pipeline.lexicon.advice import origins, places, powershell, scripts, settings
from pipeline.lexicon.advice.effects import Effects
from pipeline.lexicon.advice.spelling import pieces

#: Backticks that are a shell's, not Markdown's.
_SUBSTITUTED = re.compile(r"(?:[\s=(][\"']|=|\b(?:eval|exec|echo|source)\s|-c\s|<<<\s?)`[^`\n]")
_WRITTEN = re.compile(r">{1,2}\s{0,4}[\"']?([/~$][^\s\"'`;|&)]{2,200})")
_INDEX = re.compile(r"\b(?:extra[-_])?index[-_]url\b[\"'\]\s]{0,4}[=:]\s{0,4}[\"']?(\S{4,200})", re.IGNORECASE)


def act(text: str, owners: Collection[str]) -> str | None:
    """The first kind of act in `text`, made plain, that is never passed on."""
    return next(_acts(text, owners), None)


def _acts(text: str, owners: Collection[str]) -> Iterator[str]:
    yield from settings.faults(text)
    yield from powershell.faults(text)
    for target in _WRITTEN.findall(text):
        if places.is_door(target) or places.is_of_the_system(target):
            yield "security-off"
    for link in _INDEX.findall(text):
        if "://" in link and not origins.is_known(link.strip("'\"`,"), owners):
            yield "foreign-source"
    effects = Effects(owners)
    found = list(pieces(text))
    if _SUBSTITUTED.search(text):
        found.append((text, False))
    for piece, is_code in found:
        effects.read(piece, is_code=is_code)
        yield from effects.faults
        if scripts.is_script(piece):
            yield from scripts.faults(piece, effects)
            yield from effects.faults
