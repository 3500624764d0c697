"""An entry for people, the most useful first: does anybody know, what helped, what is only suggested, who said so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pipeline.ask import Digest, Lead, Remedy, Reply, Saying, digest, evidence_by_weight
from pipeline.ask.digesting import answers
from pipeline.cli.labels import Language, bracketed, colon, day, small, tried, who, who_of, word
from pipeline.cli.output import place_of_case, print_block, print_lines, say
from pipeline.records.entry import statement_label
from pipeline.text import counted, language_of, written_day

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Most:
    """How much of each part is printed."""

    remedies: int
    tried: int
    said: int
    leads: int
    cases: int
    values: int
    evidence: int
    roles: frozenset[str]


_TELLING = frozenset({"worked", "fix", "official", "workaround", "failed", "cause", "occurrence", "link"})
_EVERY = 1_000_000
#: Around words of people.
QUOTES = ("“", "”")
#: Before the English of an act: a sentence for what people said, in whatever language, and no quote of theirs.
_ENGLISH = "英文："


class Depth(Enum):
    """How much of an entry is printed."""

    BRIEF = _Most(3, 2, 1, 1, 0, 3, 0, frozenset())
    NORMAL = _Most(10, 5, 3, 3, 5, 4, 8, _TELLING)
    ALL = _Most(_EVERY, _EVERY, _EVERY, _EVERY, _EVERY, _EVERY, _EVERY, _TELLING | {"version", "environment"})


def print_entry(
    entry: Row,
    *,
    lang: Language = Language.BOTH,
    depth: Depth = Depth.NORMAL,
    nearest: int | None = None,
    titles: Mapping[str, str] | None = None,
) -> None:
    """Print an entry. `nearest` is the number of the reader's own case; `titles` are those of threads, by their ids."""
    told, most = digest(entry), depth.value
    _print_head(entry, told, lang)
    print_documentation(told.documentation, lang)
    groups = remedy_groups(told, nearest, most.remedies, most.tried)
    if most.cases:  # what single projects say stands below, with its place
        groups = [(key, [one for one in group if one.case is None], limit) for key, group, limit in groups]
    for key, group, limit in groups:
        if key == "dead_ends" and told.fixed_in:
            _print_fixes(told, lang, most.said)
        print_remedies(word(key, lang), group[:limit], lang, said=most.said, left=len(group) - limit)
    _print_cause(entry, told, lang, most.said)
    _print_cases(entry, told, nearest, lang, most)
    print_leads(told.leads[: most.leads], lang)
    _print_facts(entry, told, lang, most)
    if most.evidence:
        _print_evidence(entry, lang, most, titles or {})


def print_documentation(found: Mapping[str, Any] | None, lang: Language) -> None:
    """Print what documentation says that an error means, and what to look at first; nothing where it says nothing."""
    if found is None:
        return
    say(f"\n{word('documentation', lang)}", style="bold")
    print_pair(found["text"], found["text_zh"], lang, lead="  ", mark=_ENGLISH)
    for check in found["checks"]:
        lead = f"  - {small('check_first', lang, 'words')}{colon(lang)}"
        print_pair(check["text"], check["text_zh"], lang, lead=lead, mark=_ENGLISH)
    say(f"    {found['url']}", style="dim")


def remedy_groups(known: Digest, case: int | None, most: int, tried: int) -> list[tuple[str, list[Remedy], int]]:
    """(label, remedies, how many are shown) of each group; what helped the reader's own project helped, not others'.

    Of what other projects suggest and nobody confirmed one is shown, behind all that is said of the error itself.
    """

    def parted(remedies: Sequence[Remedy]) -> tuple[list[Remedy], list[Remedy]]:
        own = [one for one in remedies if one.case is None or one.case == case]
        return sorted(own, key=lambda one: one.case is None), [one for one in remedies if one not in own]

    own, others = parted(known.confirmed)
    (fixed, fixed_elsewhere), (replied, replied_elsewhere), (said, said_elsewhere) = (
        parted([one for one in known.suggested if one.standing == kind]) for kind in ("fixed", "replied", "suggested")
    )
    return [
        ("confirmed", own, most),
        ("documented", list(known.official), most),
        ("fixed", fixed, most),
        ("replied", replied, most),
        ("suggested", said, most),
        ("confirmed_one", others, most),
        ("fixed_one", fixed_elsewhere, min(most, 1)),
        ("replied_one", replied_elsewhere, min(most, 1)),
        ("suggested_one", said_elsewhere, min(most, 1)),
        ("dead_ends", list(known.dead_ends), tried),
    ]


def print_pair(
    source: str | None, chinese: str | None, lang: Language, *, lead: str = "", behind: str = "", mark: str = "原文："
) -> None:
    """Print words in their languages: English then Chinese, or Chinese and below it the other, behind its `mark`."""
    if lang is Language.EN:
        chinese = None if source else chinese
    first, second = (chinese or source, source) if lang is Language.ZH else (source or chinese, chinese)
    if not first:
        return
    is_chinese = lang is Language.EN and language_of(first) == "zh"  # and there is no English
    words = f"{word('in_chinese', lang, 'lines')}{colon(lang)}" if is_chinese else ""
    say(f"{lead}{words}{' '.join(first.split())}{behind}")
    if second and second != first:
        mark = mark if lang is Language.ZH else ""
        say(f"{' ' * (len(lead) - len(lead.lstrip()) + 2 if lead else 0)}{mark}{' '.join(second.split())}", style="dim")


def print_remedies(title: str, remedies: Sequence[Remedy], lang: Language, *, said: int, left: int = 0) -> None:
    """Print remedies under a heading, each with who said so and where; nothing where there are none."""
    if not remedies:
        return
    say(f"\n{title}", style="bold")
    for one in remedies:
        told, place = counts(one, lang), f"  {word('in', lang, 'lines')} {one.repo}" if one.repo else ""
        behind = f"{f'  [{told}]' if told else ''}{place}"
        print_pair(one.action, one.action_zh, lang, lead="  - ", behind=behind, mark=_ENGLISH)
        print_block(one.action, one.how)
        if one.condition:
            say(f"    {small('condition', lang, 'words')}{colon(lang)}{one.condition}", style="dim")
        print_sayings(one.said, lang, most=said, of=one)
        print_replies(one.replies, lang)
    if left > 0:
        say(f"  {more(left, lang)}", style="dim")


def print_replies(replies: Sequence[Reply], lang: Language) -> None:
    """Print what the next posts answer to an act, in their words, with who and when."""
    for one in replies:
        who_said = bracketed(who(one, lang), lang)
        label = f"{word(one.outcome, lang, 'replies')}{who_said}{colon(lang)}"
        say(f"    {label}{' '.join(one.quote.split()).join(QUOTES)}")
        say(f"      {one.url}", style="dim")


def print_sayings(
    said: Sequence[Saying], lang: Language, *, most: int, indent: str = "    ", of: Remedy | None = None
) -> None:
    """Print who said something and where, an address a line; of a remedy that is contested, how it ended for each."""
    places: dict[str, str] = {}
    for one in said:
        places.setdefault(one.url, who_of(of, one, lang))
    for url, name in list(places.items())[:most]:
        say(f"{indent}{f'{name}{colon(lang)}' if name else ''}{url}", style="dim")
    if len(places) > most:
        say(f"{indent}{more_places(len(places) - most, lang)}", style="dim")


def print_leads(leads: Sequence[Lead], lang: Language) -> None:
    """Print what somebody may have said, in their words, under a heading that says who picked it."""
    if not leads:
        return
    say(f"\n{word('leads', lang)}", style="bold")
    for one in leads:
        lead = f"  - {word(one.kind, lang, 'leads')}{bracketed(share(one, lang), lang)}{colon(lang)}"
        say(f"{lead}{' '.join(one.words.split()).join(QUOTES)}")
        if one.block is not None:
            print_lines(one.block)
        name = who(one, lang)
        say(f"    {f'{name}{colon(lang)}' if name else ''}{one.url}", style="dim")


def share(one: Lead, lang: Language) -> str:
    """How often such words were right."""
    return f"同类约 {one.share}% 属实" if lang is Language.ZH else f"{one.share} % of such are right"


def more(number: int, lang: Language) -> str:
    """That there are more than are shown."""
    return f"另有 {number:,} 条（--all）" if lang is Language.ZH else f"… and {number:,} more (--all)"


def more_places(number: int, lang: Language) -> str:
    """That it was said in more places than are shown."""
    return f"另有 {number:,} 处（--all）" if lang is Language.ZH else f"… and {counted(number, 'more place')} (--all)"


def counts(one: Remedy, lang: Language) -> str:
    """How often it worked and failed, and the warning where nobody but a model picked it; "" where nobody tried."""
    model = word("by_model", lang, "lines") if one.is_by_model else ""
    return "; ".join(filter(None, (tried(one.worked, one.failed, lang) if one.worked or one.failed else "", model)))


def _print_head(entry: Row, told: Digest, lang: Language) -> None:
    say(told.entry_id, style="bold")
    print_pair(told.signature, told.signature_zh, lang)
    say(" · ".join(filter(None, _facts(entry, told, lang))), style="dim")
    for one in lang.each:
        say(_sentence(answers(told, one)), style="bold")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _facts(entry: Row, told: Digest, lang: Language) -> list[str]:
    from pipeline.lexicon import vocabulary

    days = dict.fromkeys(one for one in (told.first_seen, told.last_seen) if one)
    one = "zh" if lang is Language.ZH else "en"
    rows = (("domains", told.domain), ("categories", told.category), ("tiers", told.tier))
    labels = [vocabulary.label(table, name, one) or name for table, name in rows]
    if lang is Language.ZH:
        seen = f"{told.document_count:,} 份文档，出现 {told.occurrence_count:,} 次"
        return [*labels, seen, " 至 ".join(map(written_day, days))]
    seen = f"{counted(told.document_count, 'document')}, {counted(told.occurrence_count, 'occurrence')}"
    return [*labels, seen, " – ".join(days)]


def _print_fixes(told: Digest, lang: Language, most: int) -> None:
    say(f"\n{word('fixed_in', lang)}", style="bold")
    for fix in told.fixed_in:
        say(f"  - {fix.version}")
        print_sayings(fix.said, lang, most=most)


def _print_cause(entry: Row, told: Digest, lang: Language, most: int) -> None:
    if not (told.cause or told.cause_zh):
        return
    from pipeline.lexicon import vocabulary

    one = "zh" if lang is Language.ZH else "en"
    picked = vocabulary.label("root_cause_types", told.cause_type or "", one)
    is_told = lang is Language.ZH or told.cause_type == "model"
    kind = vocabulary.label("cause_types", entry.get("cause_type") or "", one)
    labels = ("；" if lang is Language.ZH else "; ").join(filter(None, (kind, picked if is_told else "")))
    say(f"\n{word('causes', lang)}{bracketed(labels, lang)}", style="bold")
    print_pair(told.cause, told.cause_zh, lang, lead="  ")
    print_sayings(told.cause_said, lang, most=most)


def _print_cases(entry: Row, told: Digest, nearest: int | None, lang: Language, most: _Most) -> None:
    cases = entry.get("cases", ())
    ordered = sorted(range(len(cases)), key=lambda number: number != nearest)[: most.cases]
    if not ordered:
        return
    kinds = {"cause": told.causes, "workaround": (*told.confirmed, *told.official, *told.suggested)}
    kinds["dead_end"] = told.dead_ends
    say(f"\n{word('cases', lang)}", style="bold")
    for number in ordered:
        say(f"  {place_of_case(cases[number])}{'  ' + word('yours', lang, 'lines') if number == nearest else ''}")
        for kind, remedies in kinds.items():
            for one in remedies:
                if one.case == number:
                    _print_statement(kind, one, lang, most.said)
    if len(cases) > len(ordered):
        say(f"  {more(len(cases) - len(ordered), lang)}", style="dim")


def _print_statement(kind: str, one: Remedy, lang: Language, most: int) -> None:
    label = statement_label(kind, one.worked, one.tier)
    told = counts(one, lang)
    lead = f"  - {small(label, lang, 'said')}{colon(lang)}"
    mark = "原文：" if kind == "cause" else _ENGLISH
    print_pair(one.action, one.action_zh, lang, lead=lead, behind=f"  [{told}]" if told else "", mark=mark)
    print_block(one.action, one.how)
    if one.condition:
        say(f"    {small('condition', lang, 'words')}{colon(lang)}{one.condition}")
    print_sayings(one.said, lang, most=most, of=one)
    print_replies(one.replies, lang)


def _print_facts(entry: Row, told: Digest, lang: Language, most: _Most) -> None:
    if told.official_url:
        section = _section(told.official_section or "", lang)
        say(f"\n{word('official', lang)}{colon(lang)}{told.official_url}{bracketed(section, lang)}")
    machines = [f"{name} {', '.join(_some(values, most.values))}" for name, values in told.environment]
    if machines:
        between = "；" if lang is Language.ZH else "; "
        say(f"\n{word('environment', lang)}{colon(lang)}{between.join(machines)}", style="dim")
    named = [row["version"] for row in sorted(entry["versions"], key=lambda row: -row["count"])]
    if named:
        say(f"{word('versions', lang)}{colon(lang)}{', '.join(_some(named, 2 * most.values))}", style="dim")


def _some(values: Sequence[str], most: int) -> list[str]:
    return [*values[:most], *(["…"] if len(values) > most else [])]


def _section(text: str, lang: Language) -> str:
    """A heading of an official page, in Chinese where it was translated."""
    if not text or lang is not Language.ZH:
        return text
    from pipeline.translate import official

    return official.chinese(text) or text


def _print_evidence(entry: Row, lang: Language, most: _Most, titles: Mapping[str, str]) -> None:
    pieces = [piece for piece in evidence_by_weight(entry) if piece["role"] in most.roles]
    if not pieces:
        return
    say(f"\n{word('evidence', lang)}", style="bold")
    for piece in pieces[: most.evidence]:
        say(f"  {small(piece['role'], lang, 'roles')}{colon(lang)}{' '.join(piece['quote'].split()).join(QUOTES)}")
        title = titles.get(piece["document_id"], "")
        where = " · ".join(filter(None, (title, day(piece["posted_at"], lang))))
        say(f"    {f'{where} · ' if where else ''}{piece['url']}", style="dim")
    hidden = len(evidence_by_weight(entry)) - len(pieces[: most.evidence])
    if hidden and most is not Depth.ALL.value:
        rest = f"另有 {hidden:,} 条" if lang is Language.ZH else f"… and {counted(hidden, 'more quote')}"
        say(f"  {rest}{colon(lang)}`errmine show {entry['id']} --all`", style="dim")
