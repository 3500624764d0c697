"""The words that commands print around what is known, in English, Chinese or both, from data/headings.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.ask import Digest, Lead, Remedy, Reply, Saying, Thread


#: Threads that are named where nobody reported a fix.
_THREADS = 3


class Language(StrEnum):
    """In which language an entry is printed."""

    BOTH = "both"
    EN = "en"
    ZH = "zh"

    @property
    def each(self) -> Sequence[str]:
        """The languages that are printed, in their order."""
        return ("en", "zh") if self is Language.BOTH else (self.value,)


def word(key: str, lang: Language, table: str = "words") -> str:
    """What data/headings.toml has for `key` of a table; in both languages with a dot between."""
    from pipeline.lexicon import headings

    return headings.both(table, key) if lang is Language.BOTH else headings.label(table, key, lang.value)


def small(key: str, lang: Language, table: str) -> str:
    """The same as a label within a line: English in lower case."""
    return word(key, lang, table).lower()


def one_of(lang: Language) -> Language:
    """The language of what is printed once: English where both are asked for."""
    return Language.ZH if lang is Language.ZH else Language.EN


def colon(lang: Language) -> str:
    """What stands between a label and what it labels."""
    return "：" if lang is Language.ZH else ": "


def bracketed(text: str, lang: Language) -> str:
    """What stands behind a word in brackets, with the space before them; "" where there is nothing to say."""
    if not text:
        return ""
    return f"（{text}）" if lang is Language.ZH else f" ({text})"


def day(time: str | None, lang: Language) -> str:
    """The day of an ISO time as the language writes it, "" where it is unknown."""
    from pipeline.text import written_day

    return written_day((time or "")[:10]) if lang is Language.ZH else (time or "")[:10]


def threads_to_read(known: Digest, lang: Language) -> list[tuple[Thread, str]]:
    """The first threads of an error, each with its state and day: those with an answer first, then the newest."""
    told = []
    for thread in known.threads[:_THREADS]:
        facts = (word(thread.state, lang, "states") if thread.state else "", day(thread.posted_at, lang))
        told.append((thread, bracketed(", ".join(filter(None, facts)), lang)))
    return told


def tried(worked: int, failed: int, lang: Language) -> str:
    """In how many threads somebody said that it worked, and that it did not."""
    return f"有效 {worked}，无效 {failed}" if lang is Language.ZH else f"worked {worked}, failed {failed}"


def who(said: Saying | Lead | Reply, lang: Language) -> str:
    """Who said something, as far as the source tells, and when."""
    one = one_of(lang)
    role = _authors(one).get(said.author_role or "", "")
    return _listed((role, day(said.posted_at, one)), lang)


def who_of(remedy: Remedy | None, said: Saying, lang: Language) -> str:
    """The same of a remedy; what helped some and did not help others, with how it ended for whom."""
    is_told = remedy is not None and remedy.is_contested and said.role in ("worked", "failed")
    return _listed((small(said.role, lang, "roles") if is_told else "", who(said, lang)), lang)


def _listed(words: Sequence[str], lang: Language) -> str:
    return ("，" if lang is Language.ZH else ", ").join(filter(None, words))


def _authors(lang: Language) -> Mapping[str, str]:
    from pipeline.lexicon import headings

    return headings.table("authors", lang.value)
