"""Statuses of absl, as gRPC, TensorFlow and XLA print them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from pipeline.lexicon import catalogues
from pipeline.lexicon.codes.mention import Mention, Way, starts_word

_BEFORE = frozenset(" \t\n:]\"'(`;>*")
#: The old spelling counts behind a log prefix, an exception name or "failed: ", or at the start of a line.
_OLD_BEFORE = re.compile(r"(?:\.(?:cc|h|cpp|cu):\d{1,6}(?:\]|\))?:? |failed[:,] |Error: |[Ss]tatus: |(?P<bare>^|\n))$")
#: Statuses that are everybody's words: no status where they begin a line, no class without TensorFlow's module.
_EVERYDAY = frozenset(("UNKNOWN", "NOT_FOUND", "INTERNAL", "CANCELLED", "ABORTED", "UNAVAILABLE", "OUT_OF_RANGE"))
_EVERYDAY_CLASSES = _EVERYDAY | {"ALREADY_EXISTS", "PERMISSION_DENIED", "DATA_LOSS", "UNAUTHENTICATED"}
#: Statuses that nobody printed in words.
_NEVER_IN_WORDS = frozenset(("PERMISSION_DENIED", "UNAUTHENTICATED"))


def _names() -> list[str]:
    return [row.name for row in catalogues.absl_statuses().values()]


def _words(name: str) -> str:
    """The spelling of 2016-2020: "Resource exhausted"."""
    return name.replace("_", " ").capitalize()


@cache
def _pattern() -> re.Pattern[str]:
    # `NAME: text`; what may stand before it is looked at afterwards
    return re.compile(rf"({'|'.join(_names())})(?::(?=[ \t]{{0,2}}\S)|(?![A-Za-z0-9_]))")


@cache
def _by_words() -> Mapping[str, str]:
    return MappingProxyType({_words(name): name for name in _names() if name not in _NEVER_IN_WORDS})


@cache
def _words_pattern() -> re.Pattern[str]:
    return re.compile(rf"({'|'.join(_by_words())}): ?(?=\S)")


@cache
def _by_class() -> Mapping[str, str]:
    return MappingProxyType({str(row.string): row.name for row in catalogues.absl_statuses().values()})


@cache
def _class_pattern() -> re.Pattern[str]:
    return re.compile(rf"({'|'.join(_by_class())})Error(?=[:\s)\"'`]|$)")


def _constants(text: str) -> Iterator[Mention]:
    for match in _pattern().finditer(text):
        at = match.start()
        if match[0].endswith(":"):
            is_status = at == 0 or text[at - 1] in _BEFORE or text[at - 2 : at] == "\\n"
        else:
            is_status = text[max(at - 11, 0) : at] == "StatusCode."  # as gRPC prints it
        if is_status:
            yield Mention(f"absl:{match[1]}", at, match.end(1))


def _in_words(text: str) -> Iterator[Mention]:
    for match in _words_pattern().finditer(text):
        name = _by_words()[match[1]]
        before = _OLD_BEFORE.search(text[max(match.start() - 16, 0) : match.start()])
        if before and not (before["bare"] is not None and name in _EVERYDAY):
            yield Mention(f"absl:{name}", match.start(), match.end(1))


def _classes(text: str) -> Iterator[Mention]:
    for match in _class_pattern().finditer(text):
        at, name = match.start(), _by_class()[match[1]]
        in_module = text[max(at - 12, 0) : at].endswith(("errors.", "errors_impl."))
        if in_module or (name not in _EVERYDAY_CLASSES and starts_word(text, at)):
            yield Mention(f"absl:{name}", at, match.end())


def ways() -> tuple[Way, ...]:
    """How absl's statuses are named. A status is a wrapper of many errors: none of these decides."""
    return (
        Way("absl: constant", tuple(name.lower() for name in _names()), _constants),
        Way("absl: words", tuple(f"{words.lower()}: " for words in _by_words()), _in_words),
        Way("absl: class", tuple(f"{name.lower()}error" for name in _by_class()), _classes),
    )
