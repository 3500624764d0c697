"""What an answer shows: the digest of an entry cut to a size, without what a reader cannot see, and with its evidence.

Everything here came out of reports by strangers. Text stays text: it is cleaned, cut, and never put together into more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.agents.answers import Brief, Documented, Entry, Fix, Lead, Quote, Remedy, Reply, Thread
from pipeline.ask import Digest, Saying, standing
from pipeline.ask import Lead as ToldLead
from pipeline.ask import Remedy as Told
from pipeline.ask import Reply as ToldReply
from pipeline.text import clean


@dataclass(frozen=True, slots=True)
class Measure:
    """How much of an entry is shown."""

    remedies: int  # of each kind
    sayings: int  # of each remedy and cause
    leads: int
    threads: int
    characters: int  # of one text; quotes have 300 at most
    values: int  # of the environment, of each name


#: From what `get_entry` shows to what is left of an entry whose texts are all as long as they may be.
WIDE = Measure(remedies=10, sayings=5, leads=3, threads=10, characters=1500, values=5)
USUAL = Measure(remedies=4, sayings=2, leads=3, threads=5, characters=800, values=3)
NARROW = Measure(remedies=2, sayings=1, leads=1, threads=3, characters=300, values=1)
LEAST = Measure(remedies=1, sayings=1, leads=0, threads=1, characters=150, values=0)
MEASURES = (WIDE, USUAL, NARROW, LEAST)

#: Names, ids and addresses; an id may be that long, an address too.
_NAME_CHARACTERS = 300


def brief(told: Digest, measure: Measure) -> Brief:
    """The first lines of an entry."""
    return Brief(**_first_lines(told, measure))


def entry(told: Digest, measure: Measure, *, is_matched: bool = False) -> Entry:
    """An entry within a measure; as the answer to a log it has leads only where nothing else is known."""
    kinds: dict[str, tuple[Told, ...]] = {
        "confirmed": told.confirmed,
        "official": told.official,
        "suggested": told.suggested,
        "dead_ends": told.dead_ends,
    }
    leads = told.leads if told.is_bare or not is_matched else ()
    remedies: dict[str, Any] = {
        name: [_remedy(one, measure) for one in own[: measure.remedies]] for name, own in kinds.items()
    }
    return Entry(
        **_first_lines(told, measure),
        category=told.category,
        standing_zh=standing(told, "zh"),
        documentation=documented(told.documentation, measure),
        cause=_text(told.cause or told.cause_zh, measure),
        cause_lang="en" if told.cause else "zh" if told.cause_zh else None,
        cause_zh=_text(told.cause_zh, measure),
        cause_evidence=_quotes(told.cause_said, measure),
        **remedies,
        fixed_in=[
            Fix(version=_name(one.version), evidence=_quotes(one.said, measure))
            for one in told.fixed_in[: measure.threads]
        ],
        leads=[_lead(one, measure) for one in leads[: measure.leads]],
        official_url=_name(told.official_url) if told.official_url else None,
        environment={
            _name(name): [_name(value) for value in values[: measure.values]]
            for name, values in told.environment[: 2 * measure.values]
        },
        threads=[
            Thread(
                url=_name(one.url),
                name=_name(one.name),
                state=_name(one.state) if one.state else None,
                posted_at=one.posted_at,
                is_answering=one.is_answering,
            )
            for one in told.threads[: measure.threads]
        ],
        left_out={
            name: len(own) - most
            for name, own, most in (
                *((name, own, measure.remedies) for name, own in kinds.items()),
                ("leads", leads, measure.leads),
                ("threads", told.threads, measure.threads),
            )
            if len(own) > most
        },
    )


def documented(found: Mapping[str, Any] | None, measure: Measure) -> Documented | None:
    """What documentation says that an error means, within a measure; None where it says nothing."""
    if found is None:
        return None
    return Documented(
        text=cut(found["text"], measure.characters),
        text_zh=cut(found["text_zh"], measure.characters),
        look_at_first=[cut(one["text"], measure.characters) for one in found["checks"]],
        url=_name(found["url"]),
    )


def _first_lines(told: Digest, measure: Measure) -> dict[str, Any]:
    return {
        "entry_id": told.entry_id,
        "signature": cut(told.signature, measure.characters),
        "signature_zh": _text(told.signature_zh, measure),
        "domain": _name(told.domain),
        "tier": _name(told.tier),
        "documents": told.document_count,
        "occurrences": told.occurrence_count,
        "first_seen": told.first_seen,
        "last_seen": told.last_seen,
        "standing": standing(told),
        "evidence_urls": _addresses(told, measure),
    }


def _addresses(told: Digest, measure: Measure) -> list[str]:
    urls = [one.url for one in told.threads]
    urls += [told.official_url] if told.official_url else []
    return [_name(url) for url in dict.fromkeys(urls)][: measure.threads]


def _remedy(one: Told, measure: Measure) -> Remedy:
    return Remedy(
        action=cut(one.action, measure.characters),
        action_zh=_text(one.action_zh, measure),
        how=_text(one.how, measure),
        condition=_text(one.condition, measure),
        worked=one.worked,
        failed=one.failed,
        tier=_name(one.tier) if one.tier else None,
        only_in=_name(" · ".join(filter(None, (one.repo, one.frame)))) if one.repo else None,
        evidence=_quotes(one.said, measure),
        replies=[
            Reply(outcome=_name(reply.outcome), **_uncounted(reply, measure))
            for reply in one.replies[: measure.sayings]
        ],
    )


def _lead(one: ToldLead, measure: Measure) -> Lead:
    passage = _text(one.passage, measure)
    return Lead(kind=_name(one.kind), share=one.share, passage=passage, **_uncounted(one, measure))


def _uncounted(one: ToldLead | ToldReply, measure: Measure) -> dict[str, Any]:
    """Words that are shown and count for nothing, and who said them where."""
    return {
        "url": _name(one.url),
        "author_role": _name(one.author_role) if one.author_role else None,
        "posted_at": one.posted_at,
        "text": cut(one.quote, measure.characters),
    }


def _quotes(said: Sequence[Saying], measure: Measure) -> list[Quote]:
    return [
        Quote(
            url=_name(one.url),
            role=_name(one.role),
            author_role=_name(one.author_role) if one.author_role else None,
            posted_at=one.posted_at,
            text=cut(one.quote, measure.characters),
        )
        for one in said[: measure.sayings]
    ]


def cut(text: str, characters: int) -> str:
    """`text` without what a reader cannot see, and no longer than that."""
    seen = clean(text)
    return seen if len(seen) <= characters else f"{seen[: characters - 1]}…"


def _text(text: str | None, measure: Measure) -> str | None:
    return cut(text, measure.characters) if text else None


def _name(text: str) -> str:
    return cut(text, _NAME_CHARACTERS)
