"""Every error of a log for people: what it is, whether anybody knows, what to do and who said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.ask import standing
from pipeline.cli.entry_page import (
    Depth,
    print_documentation,
    print_leads,
    print_pair,
    print_remedies,
    print_sayings,
    remedy_groups,
)
from pipeline.cli.labels import Language, bracketed, colon, one_of, threads_to_read, word
from pipeline.cli.output import say
from pipeline.text import counted

if TYPE_CHECKING:
    from pipeline.ask import Digest
    from pipeline.ask.telling import Told, ToldFinding

#: Errors that are told of in full, then in a line; the rest is counted.
IN_FULL, IN_A_LINE = 5, 20
#: Characters of a message; of what only follows it, how many are named and how long.
MESSAGE = 300
FOLLOWING, FOLLOWING_MESSAGE = 3, 100
#: Classes that reports of an entry name, where that of the error is another.
OTHER_CLASSES = 4


def print_findings(told: Told, *, lang: Language, everything: bool) -> None:
    """Print all that is told of a text, most telling first."""
    if not told.findings:
        say(no_entry(told.answer.reason, lang))
        if told.answer.runner_up:
            likeness = bracketed(_reason(told.answer.runner_up_reason, lang), lang)
            say(f"{word('nearest', lang, 'lines')}{colon(lang)}{told.answer.runner_up}{likeness}")
        return
    shown = [one for one in told.findings if one.finding.status != "ignored"]
    aside = [one for one in told.findings if one.finding.status == "ignored"]
    if len(told.findings) > 1:
        say(headline(told, lang), style="bold")
    full = len(shown) if everything else IN_FULL
    for number, one in enumerate(shown[:full], 1):
        _print_finding(one, number if len(shown) > 1 else 0, lang, Depth.ALL if everything else Depth.BRIEF)
    if shown[full:]:
        say("")
    for number, one in enumerate(shown[full : full + IN_A_LINE], full + 1):
        say(f"{number}. {title(one)}  {places(one, lang)}")
    if len(shown) > full + IN_A_LINE:
        rest = len(shown) - full - IN_A_LINE
        say(f"另有 {rest:,} 个错误（--all）" if lang is Language.ZH else f"… and {counted(rest, 'more error')} (--all)")
    for one in aside:
        reason = f"{_reason(one.finding.answer.reason, lang)}{colon(lang)}"
        gap = "\n" if len(told.findings) > 1 else ""
        say(f"{gap}{reason}{one.finding.answer.signature}  {places(one, lang)}", style="dim")


def headline(told: Told, lang: Language) -> str:
    """How many errors a text shows, and how many of them are known."""
    known = sum(one.finding.status == "known" for one in told.findings)
    aside = sum(one.finding.status == "ignored" for one in told.findings)
    total = len(told.findings) - aside
    if lang is Language.ZH:
        return f"{total:,} 个错误，其中 {known:,} 个已知" + (f"；{aside:,} 个已被忽略" if aside else "")
    return f"{counted(total, 'error')}, {known:,} known" + (f"; {aside:,} set aside" if aside else "")


def title(one: ToldFinding) -> str:
    """The entry of a finding; its message where it has none."""
    return one.finding.answer.entry_id or message(one)


def message(one: ToldFinding) -> str:
    """What the log prints, on one line."""
    kind = one.finding.exception_type
    words = one.finding.message or one.finding.answer.signature
    return shortened(f"{kind}: {words}" if kind and not words.startswith(kind) else words, MESSAGE)


def shortened(words: str, most: int) -> str:
    """At most so many characters, on one line."""
    line = " ".join(words.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def places(one: ToldFinding, lang: Language) -> str:
    """Where in the log a finding stands, and how often."""
    first, last = one.lines[0]
    span = f"{first}–{last}" if last > first else f"{first}"
    times = one.finding.count
    if lang is Language.ZH:
        return f"第 {span} 行" + (f"，共 {times:,} 次" if times > 1 else "")
    return f"line{'s' if last > first else ''} {span}" + (f", {times:,} times" if times > 1 else "")


def class_differs(one: ToldFinding, lang: Language) -> str:
    """That reports of the entry name other classes, "" where they do not."""
    others = one.finding.answer.other_classes
    return f"{word('class', lang, 'lines')}{colon(lang)}{', '.join(others[:OTHER_CLASSES])}" if others else ""


def why_none(one: ToldFinding, lang: Language) -> str:
    """That a finding has no entry, and why."""
    return no_entry(one.finding.answer.reason, lang)


def no_entry(reason: str, lang: Language) -> str:
    """That there is no entry, and why."""
    return f"{word('unknown', one_of(lang), 'lines')}{colon(lang)}{_reason(reason, lang)}"


def _reason(reason: str, lang: Language) -> str:
    from pipeline.lexicon import headings

    return headings.reason(reason, one_of(lang).value)


def _print_finding(one: ToldFinding, number: int, lang: Language, depth: Depth) -> None:
    if number:
        say("")
    say(f"{f'{number}. ' if number else ''}{one.finding.answer.entry_id or why_none(one, lang)}", style="bold")
    say(f"{places(one, lang)}{colon(lang)}{message(one)}", style="dim")
    if one.known is None:
        if one.nearest is not None:
            likeness = bracketed(_reason(one.finding.answer.runner_up_reason, lang), lang)
            say(f"{word('nearest', lang, 'lines')}{colon(lang)}{one.nearest.entry_id}{likeness}")
            for lang_code in lang.each:
                say(f"  {standing(one.nearest, lang_code)}")
            print_threads(one.nearest, lang)
        print_documentation(one.finding.documentation, lang)
    else:
        if differs := class_differs(one, lang):
            say(differs)
        _print_known(one, one.known, lang, depth)
    for words in one.finding.followed_by[:FOLLOWING]:
        say(f"{word('follows', lang, 'lines')}{colon(lang)}{shortened(words, FOLLOWING_MESSAGE)}", style="dim")


def _print_known(one: ToldFinding, known: Digest, lang: Language, depth: Depth) -> None:
    if known.signature_zh and lang is not Language.EN:
        say(known.signature_zh)
    for lang_code in lang.each:
        say(standing(known, lang_code), style="bold" if known.standing == "confirmed" else "")
    print_documentation(known.documentation, lang)
    most = depth.value
    for key, group, limit in remedy_groups(known, one.case, most.remedies, most.tried):
        print_remedies(word(key, lang), group[:limit], lang, said=most.said, left=len(group) - limit)
    if known.fixed_in:
        say(f"\n{word('fixed_in', lang)}{colon(lang)}{', '.join(fix.version for fix in known.fixed_in)}", style="bold")
    if known.cause or known.cause_zh:
        say(f"\n{word('causes', lang)}", style="bold")
        print_pair(known.cause, known.cause_zh, lang, lead="  ")
        print_sayings(known.cause_said, lang, most=most.said)
    if known.official_url:
        say(f"\n{word('official', lang)}{colon(lang)}{known.official_url}")
    if known.is_bare:
        print_leads(known.leads[: most.leads], lang)
    if known.standing == "none":
        print_threads(known, lang)
    more = f"`errmine show {known.entry_id}`"
    say(f"{word('more', lang, 'lines')}{colon(lang)}{more}", style="dim")


def print_threads(known: Digest, lang: Language) -> None:
    """Print the threads to read where nobody reported a fix: those with an answer first, then the newest."""
    if not known.threads:
        return
    say(f"{word('threads', lang, 'lines')}{colon(lang).rstrip()}")
    for thread, facts in threads_to_read(known, lang):
        address = f"  {thread.url}" if thread.url != thread.name else ""
        say(f"  {thread.name}{facts}{address}")
