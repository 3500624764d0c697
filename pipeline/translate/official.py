"""The Chinese of official pages, sentence by sentence: `memory/official_zh_Hans.po`, written and reviewed by hand.

A page's English is not ours to ship, so a sentence is known by the first 16 hex digits of its sha256 (`key`), never by
its words. A text is translated if every one of its sentences is known; one that the page changed is not, and takes no
other statement with it. Which sentences the pages had when they were translated is in
`memory/openxla_sentences.json`; `python -m tests.official` writes that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from pipeline.lexicon import catalogues, gates
from pipeline.records import warm
from pipeline.text.sentences import plain, sentences
from pipeline.translate import rendering
from pipeline.translate.engines import Offer

#: Why an official text has no Chinese where its page is one that was translated; the sentence follows.
CHANGED = "source changed"
#: Characters of a changed sentence that its reason shows.
_SHOWN = 80
_DIGITS = 16
_WORD = warm.pattern(r"[A-Za-z][a-z]{2}|\b[a-z]{2}")


def key(sentence: str) -> str:
    """What a sentence is known by."""
    return hashlib.sha256(plain(sentence).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def is_prose(sentence: str) -> bool:
    """Whether there is something to translate: a word outside code that is no acronym."""
    return _WORD.search(gates.PROTECTED.sub(" ", sentence)) is not None


@cache
def memory() -> Mapping[str, str]:
    """Chinese by key."""
    path = files("pipeline") / "translate" / "memory" / "official_zh_Hans.po"
    return dict(rendering.pairs(path.read_text(encoding="utf-8")))


@cache
def pages() -> Mapping[str, frozenset[str]]:
    """The keys of the sentences that each page had when it was translated, by the page's address."""
    text = (files("pipeline") / "translate" / "memory" / "openxla_sentences.json").read_text(encoding="utf-8")
    rows = json.loads(text)["pages"].items()
    return {url: frozenset(keys) for code, keys in rows if (url := catalogues.official_url(f"xla:{code}"))}


def unknown(text: str, known: Mapping[str, str] | None = None) -> Iterator[str]:
    """The sentences of `text` that have no Chinese, in order."""
    said = memory() if known is None else known
    for span in sentences(text):
        sentence = text[span.start : span.end]
        if is_prose(sentence) and key(sentence) not in said:
            yield sentence


def chinese(text: str, known: Mapping[str, str] | None = None) -> str | None:
    """`text` in Chinese, its lines and the marks of its items as they are; None if a sentence is not known."""
    said = memory() if known is None else known
    parts: list[str] = []
    end = 0
    for span in sentences(text):
        sentence = text[span.start : span.end]
        made = said.get(key(sentence)) or (None if is_prose(sentence) else sentence)
        if made is None:
            return None
        between = text[end : span.start]
        parts += ("" if parts and not between.strip() and "\n" not in between else between, made)
        end = span.end
    return "".join(parts) if any(part.strip() for part in parts) else None


def offer(text: str) -> Offer | None:
    """The reviewed Chinese of an official text, None if one of its sentences is not known."""
    made = chinese(text)
    return None if made is None or made == text else Offer(made, "reviewed", "tm/official")


def change(text: str, urls: Iterable[str]) -> str | None:
    """The first sentence that a translated page did not have, as a reason says it; None if none of `urls` is such a
    page.
    """
    if not any(url.partition("#")[0] in pages() for url in urls):
        return None
    sentence = next(unknown(text), None)
    return None if sentence is None else f"{CHANGED}: {plain(sentence)[:_SHOWN]}"
