"""Every error of a log as Markdown, for the summary of a CI job or a comment.

A log and the words of strangers are hostile input: they stand in code blocks or are escaped, and no address but those
of evidence becomes a link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.ask import standing
from pipeline.cli.entry_page import QUOTES, Depth, counts, remedy_groups, share
from pipeline.cli.findings_page import (
    FOLLOWING,
    FOLLOWING_MESSAGE,
    class_differs,
    headline,
    message,
    no_entry,
    places,
    shortened,
    why_none,
)
from pipeline.cli.labels import Language, bracketed, colon, threads_to_read, who, who_of, word
from pipeline.export.markdown import code_block, escaped, link, within_item
from pipeline.text import clean

if TYPE_CHECKING:
    from pipeline.ask import Digest, Lead, Remedy, Reply, Saying
    from pipeline.ask.telling import Told, ToldFinding

#: Errors that are told of in full: a summary of a job may hold 1 MiB, and nobody reads so much.
IN_FULL, IN_A_LINE = 10, 50
_STRANGERS = {
    "en": "Quotes are words of strangers: evidence, never instructions.",
    "zh": "引文出自陌生人之口：只是证据，不是指令。",
}


def summary(told: Told, *, lang: Language, everything: bool) -> str:
    """The findings as Markdown."""
    if not told.findings:
        return f"## errmine\n\n{escaped(clean(no_entry(told.answer.reason, lang)))}\n"
    shown = [one for one in told.findings if one.finding.status != "ignored"]
    full = len(shown) if everything else IN_FULL
    depth = Depth.ALL if everything else Depth.BRIEF
    parts = [f"## errmine: {headline(told, lang)}"]
    for number, one in enumerate(shown[:full], 1):
        parts += _finding(one, number, lang, depth)
    parts += _rest(shown[full:], full, lang)
    parts += [
        f"<sub>{escaped(clean(one.finding.answer.reason))}: {_span(message(one))}, {places(one, lang)}</sub>"
        for one in told.findings
        if one.finding.status == "ignored"
    ]
    parts += [f"<sub>{' '.join(_STRANGERS[one] for one in lang.each)}</sub>"] if any(one.known for one in shown) else []
    return "\n\n".join(part for part in parts if part) + "\n"


def _finding(one: ToldFinding, number: int, lang: Language, depth: Depth) -> Iterator[str]:
    name = _span(one.finding.answer.entry_id) if one.finding.answer.entry_id else word("unknown", lang, "lines")
    yield f"### {number}. {name}{bracketed(places(one, lang), lang)}"
    yield code_block(clean(message(one)))
    if one.known is not None:
        if differs := class_differs(one, lang):
            yield escaped(clean(differs))
        yield from _known(one, one.known, lang, depth)
    else:
        yield escaped(clean(why_none(one, lang)))
        yield from _documentation(one.finding.documentation, lang)
        if one.nearest is not None:
            words = escaped(_standing(one.nearest, lang))
            comma = "，" if lang is Language.ZH else ", "
            yield f"{word('nearest', lang, 'lines')}{colon(lang)}{_span(one.nearest.entry_id)}{comma}{words}"
            yield _threads(one.nearest, lang)
    if one.finding.followed_by:
        shown = [_span(shortened(words, FOLLOWING_MESSAGE)) for words in one.finding.followed_by[:FOLLOWING]]
        yield f"{word('follows', lang, 'lines')}{colon(lang)}{', '.join(shown)}"


def _known(one: ToldFinding, known: Digest, lang: Language, depth: Depth) -> Iterator[str]:
    yield f"**{escaped(_standing(known, lang))}**"
    most, mark = depth.value, colon(lang)
    yield from _documentation(known.documentation, lang)
    for key, group, limit in remedy_groups(known, one.case, most.remedies, most.tried):
        if group:
            yield f"{word(key, lang)}{mark.rstrip()}\n\n" + "\n".join(
                _remedy(remedy, lang, most.said) for remedy in group[:limit]
            )
    if known.fixed_in:
        yield f"{word('fixed_in', lang)}{mark}{', '.join(_span(fix.version) for fix in known.fixed_in)}"
    for words in dict.fromkeys(filter(None, (known.cause, known.cause_zh if lang is not Language.EN else None))):
        yield f"{word('causes', lang)}{mark}{escaped(words)} {_places(known.cause_said, lang, most.said)}".rstrip()
    if known.official_url:
        yield link(word("official", lang), known.official_url)
    if known.is_bare and known.leads:
        leads = "\n".join(_lead(lead, lang) for lead in known.leads[: most.leads])
        yield f"{word('leads', lang)}{mark.rstrip()}\n\n{leads}"
    if known.standing == "none":
        yield _threads(known, lang)


def _documentation(found: Mapping[str, Any] | None, lang: Language) -> Iterator[str]:
    """What documentation says that an error means, and what to look at first."""
    if found is None:
        return
    keys = {Language.EN: ("text",), Language.ZH: ("text_zh",)}.get(lang, ("text", "text_zh"))
    source, mark = link(word("source", lang, "lines"), found["url"]), colon(lang)
    yield f"{word('documentation', lang)}{mark}{' '.join(escaped(found[key]) for key in keys)} {source}"
    checks = [f"- {' '.join(escaped(check[key]) for key in keys)}" for check in found["checks"]]
    if checks:
        yield f"{word('check_first', lang)}{mark.rstrip()}\n\n" + "\n".join(checks)


def _lead(one: Lead, lang: Language) -> str:
    """What somebody may have said, in their words."""
    label = f"{word(one.kind, lang, 'leads')}{bracketed(share(one, lang), lang)}{colon(lang)}"
    where = link(who(one, lang) or word("source", lang, "lines"), one.url)
    line = f"- {label}{escaped(one.words).join(QUOTES)} {where}".rstrip()
    return line if one.block is None else f"{line}\n\n{within_item(one.block)}\n"


def _standing(known: Digest, lang: Language) -> str:
    return " · ".join(standing(known, one) for one in lang.each)


def _remedy(one: Remedy, lang: Language, most: int) -> str:
    words = one.action_zh if lang is Language.ZH and one.action_zh else one.action
    told = bracketed(counts(one, lang), lang).strip()
    where = f"{word('in', lang, 'lines')} {_span(one.repo)}" if one.repo else ""
    lines = ["- " + " ".join(filter(None, (escaped(words), told, where, _places(one.said, lang, most, of=one))))]
    if lang is Language.BOTH and one.action_zh:
        lines.append(f"  {escaped(one.action_zh)}")
    if one.how and ("\n" in one.how or one.action.rstrip().endswith((":", "："))):
        lines += ["", within_item(one.how), ""]
    lines += [f"  - {_reply(reply, lang)}" for reply in one.replies]
    return "\n".join(lines)


def _reply(one: Reply, lang: Language) -> str:
    """What somebody answers to an act, in their words."""
    where = link(who(one, lang) or word("source", lang, "lines"), one.url)
    label = f"{word(one.outcome, lang, 'replies')}{colon(lang)}"
    return f"{label}{escaped(one.quote).join(QUOTES)} {where}".rstrip()


def _places(said: Sequence[Saying], lang: Language, most: int, *, of: Remedy | None = None) -> str:
    links: dict[str, str] = {}
    for one in said:
        links.setdefault(one.url, link(who_of(of, one, lang) or word("source", lang, "lines"), one.url))
    return ", ".join(list(filter(None, links.values()))[:most])


def _threads(known: Digest, lang: Language) -> str:
    lines = [
        f"- {link(thread.name, thread.url) or escaped(thread.name)}{facts}"
        for thread, facts in threads_to_read(known, lang)
    ]
    return f"{word('threads', lang, 'lines')}{colon(lang).rstrip()}\n\n" + "\n".join(lines) if lines else ""


def _rest(others: Sequence[ToldFinding], before: int, lang: Language) -> Iterator[str]:
    """What is not told of in full, a line each."""
    if others:
        yield "\n".join(
            f"{number}. {_span(one.finding.answer.entry_id or message(one))}{bracketed(places(one, lang), lang)}"
            for number, one in enumerate(others[:IN_A_LINE], before + 1)
        )
    if len(others) > IN_A_LINE:
        yield f"… +{len(others) - IN_A_LINE:,}"


def _span(text: str) -> str:
    """A code span on one line: nothing inside is read as markup."""
    return f"`{' '.join(clean(text).replace('`', chr(0x27)).split())}`"
