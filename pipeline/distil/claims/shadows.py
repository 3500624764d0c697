"""What leads to words that are not passed on: who reads "that got rid of it" follows the link to the command.

A post that orders models to do something gives nothing at all. Of a post with advice that is refused, and of an answer
to it, what names no act of its own goes: it can only speak of what was refused. An act of its own is one that is typed,
or one done to what the refused words do not name. A cause stays, it says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from pipeline.distil import actions, tables
from pipeline.distil.claims.candidates import kind_of
from pipeline.distil.claims.claiming import HOSTILE, OPENING, is_hostile, owners, refused
from pipeline.lexicon import advice
from pipeline.records import Claim, ClaimKind, Document, Quote, Skipped

#: Reasons for which advice is refused, whatever it says of the error.
_REFUSED = frozenset({"unsafe_action", "addresses_models", "not_understood"})
#: Words are compared by so many letters: "webhooks" is of "validatingwebhookconfigurations".
_STEM = 5
_WORD = re.compile(r"[\w-]{2,40}\.\w{1,5}\b|[A-Za-z]{4,}|[\u4e00-\u9fff]{2}")
#: So much of a post is looked at for words that warn of advice: they stand at its beginning.
_MOST_WARNING = 200
#: A name of two words, as packages have: "installing cert-manager".
_COMPOUND = re.compile(
    r"(?: the| a| my)? (?!command-|one-|third-|work-|built-|well-|so-)[a-z][a-z0-9]+(?:-[a-z0-9]{2,})+\b", re.IGNORECASE
)
_LINE = re.compile(r"\n|(?<=[.!?])\s|(?<=[。！？])")
#: What leads to advice: of these a claim without an act of its own is a shadow.
_LEADING = frozenset({ClaimKind.REMEDY, ClaimKind.FIX, ClaimKind.CANDIDATE})


def lifted(document: Document, made: Iterable[Claim | Skipped]) -> list[Claim | Skipped]:
    """The claims, those that lead to refused words replaced by the reason."""
    told = list(made)
    posts = _Posts(document, (one for one in told if isinstance(one, Skipped)))
    return [posts.judged(one) if isinstance(one, Claim) else one for one in told]


class _Posts:
    """The posts of a document, asked only where a claim stands in them."""

    def __init__(self, document: Document, skipped: Iterable[Skipped]) -> None:
        self._document = document
        places = (int(one.item_id.rpartition("@")[2]) for one in skipped if one.reason in _REFUSED)
        self._refused = frozenset(map(document.post_at, places))
        self.is_hostile = cache(self._is_hostile)
        self.is_refused = cache(self._is_refused)

    def judged(self, claim: Claim) -> Claim | Skipped:
        """The claim, or why its words are not passed on."""
        quotes = [quote for quote in (claim.quote, claim.outcome_quote, claim.passage) if quote is not None]
        start = claim.quote.start
        if any(self.is_hostile(self._post_of(quote)) for quote in quotes):
            return refused(self._document, start, *HOSTILE)
        if not _names_an_act(claim):
            number = self._post_of(claim.quote)
            beside = [one for one in (number, self._answered(number)) if self.is_refused(one)]
            words = claim.quote.text
            is_apart = self._is_of_its_own(words, number, beside) or self._is_against(words, number, beside)
            if beside and not is_apart:
                return refused(self._document, start, "beside_refused", claim.rule)
        return claim

    def _is_against(self, words: str, number: int, beside: Iterable[int]) -> bool:
        """True if a post warns of what the one before advises, and the words do not point at that."""
        if number < 0 or number in beside:
            return False
        post = self._document.posts[number]
        warns, points = tables.warns_of_advice()
        is_warning = warns.match(self._document.text, post.start, min(post.end, post.start + _MOST_WARNING)) is not None
        return is_warning and points.search(words) is None and warns.match(words) is None

    def _is_of_its_own(self, words: str, number: int, beside: Iterable[int]) -> bool:
        """True if another post tells of an act on something that has a name, and the refused words do not say it."""
        act = tables.tells_an_act().match(words) if number not in beside else None
        if act is None or not (actions.has_object(words) or _COMPOUND.match(words, act.end())):
            return False
        told = [line for one in beside for line in self._refused_lines(one)]
        # what the thread is about is named by everybody in it
        titled = {word.lower()[:_STEM] for word in _WORD.findall(self._document.title or "")}
        named = {word.lower()[:_STEM] for word in _WORD.findall(words)} - _said_of_any() - titled
        return bool(told and named) and not any(stem in line for line in told for stem in named)

    def _refused_lines(self, number: int) -> list[str]:
        """The sentences of a post that are not passed on, in small letters; all of it where none is so by itself."""
        post = self._document.posts[number]
        whose = owners(self._document)
        lines = [line for line in _LINE.split(self._document.text[post.start : post.end]) if line]
        bad = [line for line in lines if advice.is_awake(line) and advice.danger(line, owners=whose) is not None]
        return [line.lower() for line in bad or lines]

    def _post_of(self, quote: Quote) -> int:
        return self._document.post_at(quote.start)

    def _answered(self, number: int) -> int:
        """The comment of somebody else right before a post, -1 if there is none."""
        posts = self._document.posts
        author = posts[number].author_hash
        earlier = (n for n in range(number - 1, -1, -1) if not posts[n].is_bot)
        return next((n for n in earlier if author is None or posts[n].author_hash != author), -1)

    def _is_hostile(self, number: int) -> bool:
        return number >= 0 and is_hostile(self._document, number)

    def _is_refused(self, number: int) -> bool:
        """True if words of an answer are not passed on, whether they are a claim or stand beside one."""
        if number < 0 or self._document.posts[number].kind in OPENING:
            return number in self._refused
        post = self._document.posts[number]
        words = self._document.text[post.start : post.end]
        return (
            number in self._refused
            or self.is_hostile(number)
            or (advice.is_awake(words) and advice.danger(words, owners=owners(self._document)) is not None)
        )


@cache
def _said_of_any() -> frozenset[str]:
    """The beginnings of words that tell what was done and that it helped, of whatever."""
    fragments = tables.table_fragments()
    words = _WORD.findall(
        " ".join((*fragments.values(), "error issue problem thanks thank after here with from again"))
    )
    return frozenset(word.lower()[:_STEM] for word in words)


def _names_an_act(claim: Claim) -> bool:
    """True for what says by itself what is to be done, or why the error comes."""
    if claim.kind not in _LEADING or kind_of(claim) == "cause" or claim.fact is not None:
        return True
    return actions.action(claim.quote.text) is not None
