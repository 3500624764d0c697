"""A statement's commands, scripts, settings and sentences, each asked what it does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pipeline.lexicon.advice import origins, places, prose, scripts
from pipeline.lexicon.advice.effects import Effects
from pipeline.lexicon.advice.spelling import pieces
from pipeline.records import warm

#: Backticks that are a shell's, not Markdown's.
_SUBSTITUTED = warm.pattern(r"(?:[\s=(][\"']|=|\b(?:eval|exec|echo|source)\s|-c\s|<<<\s?)`[^`\n]")
_WRITTEN = warm.pattern(r">{1,2}\s{0,4}[\"']?([/~$][^\s\"'`;|&)]{2,200})")
_INDEX = warm.pattern(r"\b(?:extra[-_])?index[-_]url\b[\"'\]\s]{0,4}[=:]\s{0,4}[\"']?(\S{4,200})", re.IGNORECASE)
#: Prose that tells to take something from an address; one that is cited for reading is none.
_FROM_THERE = warm.pattern(
    r"\b(?:install|download|clon|fetch|replac|switch|point(?!\w{0,3} (?:me|us|you|out)\b)|patch|pull|execut|sett?)"
    r"(?:s|e|ed|es|ing)?\b(?:[^\n.]|\.(?=\w)){0,80}"
    r"\b(?:from|with|to|at|is)\b[^\n]{0,30}?(\b\w{2,10}://\S{1,200})"
    r"|(?:下载|安装|换成|改成|设为|设置为|替换|执行|运行)[^\n。]{0,30}?(\b\w{2,10}://\S{1,200})|(\b\w{2,10}://\S{1,200})[^\n。]{0,8}(?:下载|安装|执行)",
    re.IGNORECASE,
)
#: Where builds of the JVM take packages and plugins from.
_JVM = warm.pattern(
    r"<(?:repository|pluginRepository|mirror|snapshotRepository)>[^`]{0,300}?<url>\s{0,8}(\S{4,200}?)\s{0,8}</url>"
    r"|\b(?:maven|ivy)\s?\{[^}]{0,200}?\burl\s?=?\s?(?:uri)?\(?\s?[\"'](\S{4,200}?)[\"']"
    r"|\bresolvers\s?\+=?[^\n]{0,80}?\bat\s?\"(\S{4,200}?)\""
)


_DOWNLOADS = warm.pattern(
    r"\b(?:irm|iwr|invoke-restmethod|invoke-webrequest|downloadstring|downloadfile|downloaddata|webclient|curl|wget"
    r"|start-bitstransfer|xmlhttp|winhttp)\b", re.IGNORECASE
)  # fmt: skip
_EVALUATES = warm.pattern(
    r"\b(?:iex|invoke-expression)\b|\[scriptblock\]::create|(?:^|[\s;|(])&\s?\(|invoke-command\b.*-scriptblock",
    re.IGNORECASE,
)
_HIDES = warm.pattern(
    r"frombase64string|-e(?:nc|ncodedcommand)\s+[A-Za-z0-9+/=]{12,}|-join\s?\(|\[char\]", re.IGNORECASE
)


def act(text: str, owners: Collection[str]) -> str | None:
    """The first kind of act in `text`, made plain, that is never passed on."""
    return next(_acts(text, owners), None)


def _acts(text: str, owners: Collection[str]) -> Iterator[str]:
    yield from prose.switched_off(text)
    yield from bracketed(text)
    for target in _WRITTEN.findall(text):
        if places.is_door(target) or places.is_of_the_system(target):
            yield "security-off"
    if _takes_from_strangers(text, owners):
        yield "foreign-source"
    effects = Effects(owners)
    found = [(piece, is_code) for piece, is_code, _ in pieces(text)]
    if _SUBSTITUTED.search(text):
        found.append((text, False))
    for piece, is_code in found:
        is_cited = not is_code or (" " not in piece.strip() and "=" not in piece.partition("://")[0])
        if not is_cited and next(origins.strangers(piece, owners), None):
            yield "foreign-source"
        effects.read(piece, is_code=is_code)
        yield from effects.faults
        if scripts.is_script(piece):
            yield from scripts.faults(piece, effects)
            yield from effects.faults


def _takes_from_strangers(text: str, owners: Collection[str]) -> bool:
    """True if a setting or a sentence takes software from an address of somebody who is not known."""
    indexes = (link.strip("'\"`,") for link in _INDEX.findall(text) if "://" in link)
    if any(not origins.is_known(link, owners) for link in indexes):
        return True
    told = [found[0] for found in _FROM_THERE.finditer(text)]
    told += [link for found in _JVM.finditer(text) for link in found.groups() if link and "://" in link]
    return any(next(origins.strangers(words, owners), None) for words in told)


def bracketed(text: str) -> list[str]:
    """What a line of PowerShell does beyond what a shell's reader sees."""
    if not _EVALUATES.search(text):
        return []
    if _DOWNLOADS.search(text):
        return ["runs-the-network"]
    return ["hidden-code"] if _HIDES.search(text) else []
