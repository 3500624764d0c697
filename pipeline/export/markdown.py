"""The bundle as pages for people and language models: one Markdown page an entry, a list of them, and llms.txt.

Words of bug reports are hostile input: outside code they are escaped, so that none of them becomes a link, an image,
a heading or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from pipeline.export import content
from pipeline.export.statements import is_block, kind_of, outcomes, standing_of
from pipeline.lexicon import headings, vocabulary
from pipeline.records.bundle import answers
from pipeline.records.entry import (
    Case,
    CaseStatement,
    DeadEnd,
    Evidence,
    KnowledgeEntry,
    Lead,
    Reply,
    Standing,
    Workaround,
    is_answered,
)
from pipeline.text import clean, counted

#: Quotes that a page shows; the entry's JSON has them all.
MOST_QUOTES = 20
#: A longer signature is cut in lists.
_LINE_CHARACTERS = 120
_SPECIAL = re.compile(r"[\\`*_\[\]#!|~&$]")
#: What GitHub's Markdown turns into a link by itself.
_BARE_LINK = re.compile(r"(?i)\b(https?|ftp)://|\b(www)\.")
#: What may stand in the target of a link.
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`\\]{1,2000}")

#: What llms.txt says of the pages besides those of entries that have an answer.
_PAGES = (("Every entry, most reported first in each domain", "README.md"),)


def pages(entries: Sequence[KnowledgeEntry]) -> Iterator[tuple[str, str]]:
    """(path, text) of every file: `<domain>/<slug>.md`, `README.md`, `llms.txt`."""
    ordered = sorted(entries, key=lambda entry: entry.id)
    for entry in ordered:
        yield f"{entry.id}.md", page(entry)
    yield "README.md", _contents("Known errors", ordered)
    answered = [(*_named(entry), _reported(entry)) for entry in ordered if is_answered(entry)]
    yield content.LLMS, content.llms(answers(ordered), pages=_PAGES, beside=answered)


def page(entry: KnowledgeEntry) -> str:
    """One entry in both languages, with its counts and where each quote can be read."""
    causes = [_optional(entry.root_cause), _optional(entry.root_cause_zh), _picked(entry)]
    parts = [
        f"# {escaped(entry.signature)}",
        code_block(entry.signature),
        _optional(entry.signature_zh),
        _facts(entry),
        _section(headings.both("words", "documentation"), _documentation(entry)),
        _section(headings.both("words", "causes"), causes),
        _section(headings.both("words", "confirmed"), [_workarounds(entry, "confirmed")]),
        _section(headings.both("words", "documented"), [_workarounds(entry, "documented")]),
        _section(headings.both("words", "fixed"), [_workarounds(entry, "fixed")]),
        _section(headings.both("words", "replied"), [_workarounds(entry, "replied")]),
        _section(headings.both("words", "suggested"), [_workarounds(entry, "suggested")]),
        _section(headings.both("words", "dead_ends"), [_dead_ends(entry)]),
        _section(headings.both("words", "cases"), [_case(entry, case) for case in entry.cases]),
        _section(headings.both("words", "leads"), ["\n".join(map(_lead, entry.leads))]),
        _section(headings.both("words", "evidence"), [_evidence(entry.evidence)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """`text` on one line, with nothing in it that Markdown or HTML would read, or that nobody would see."""
    plain = _SPECIAL.sub(r"\\\g<0>", " ".join(clean(text).split())).replace("<", "&lt;").replace(">", "&gt;")
    return _BARE_LINK.sub(lambda found: f"{found[1]}\\://" if found[1] else f"{found[2]}\\.", plain)


def code_block(text: str) -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _optional(text: str | None) -> str:
    return escaped(text) if text else ""


def _section(title: str, parts: Sequence[str]) -> str:
    body = "\n\n".join(part for part in parts if part)
    return f"## {title}\n\n{body}" if body else ""


def _picked(entry: KnowledgeEntry) -> str:
    """The warning at a cause that only a language model picked."""
    if entry.root_cause_type != "model":
        return ""
    return f"({vocabulary.label('root_cause_types', 'model', 'en')})"


def _documentation(entry: KnowledgeEntry) -> list[str]:
    """What documentation says that the error means, and what to look at first."""
    told = entry.documentation
    if told is None:
        return []
    label = headings.both("words", "check_first")
    checks = [f"- {label}: {escaped(one.text)}\n  {escaped(one.text_zh)}" for one in told.checks]
    return [escaped(told.text), escaped(told.text_zh), "\n".join(checks), link("documentation", told.url)]


def _facts(entry: KnowledgeEntry) -> str:
    seen = f"{counted(entry.evidence_count, 'document')}, {counted(entry.occurrence_count, 'occurrence')}"
    dates = f"{entry.first_seen or 'unknown'} to {entry.last_confirmed or 'unknown'}"
    rows = [
        ("id", f"`{entry.id}`"),
        ("kind", f"{entry.domain} / {entry.category}"),
        ("stands on", f"{entry.verification_tier.replace('_', ' ')}: {seen}"),
        ("seen", dates),
        ("codes", ", ".join(f"`{code}`" for code in entry.codes)),
        ("official page", link("official page", entry.official_doc_url)),
    ]
    return "\n".join(f"- {name}: {value}" for name, value in rows if value)


def _workarounds(entry: KnowledgeEntry, wanted: Standing) -> str:
    """The remedies that are wanted: what nobody confirmed does not stand where what helped stands."""
    both = zip(entry.workarounds, entry.workarounds_zh, strict=True)
    pairs = [pair for pair in both if standing_of(pair[0]) == wanted]
    return _remedies(entry, [one for one, _ in pairs], [zh for _, zh in pairs])


def _dead_ends(entry: KnowledgeEntry) -> str:
    return _remedies(entry, entry.dead_ends, entry.dead_ends_zh)


def _remedies(entry: KnowledgeEntry, remedies: Sequence[Workaround | DeadEnd], chinese: Sequence[str | None]) -> str:
    lines = []
    for remedy, zh in zip(remedies, chinese, strict=True):
        sources = _linked(entry, remedy)
        counts = f"worked {remedy.worked}, failed {remedy.failed}{_unconfirmed(remedy)}"
        lines.append(f"- {escaped(remedy.action)} ({counts}) {sources}".rstrip())
        if zh and zh != remedy.action:
            lines.append(f"  {escaped(zh)}")
        if isinstance(remedy, Workaround):
            lines += [*_block(remedy.action, remedy.how), *map(_reply, remedy.replies)]
    return "\n".join(lines)


def _linked(entry: KnowledgeEntry, remedy: Workaround | DeadEnd | CaseStatement) -> str:
    """Links to who says so, numbered; behind all of what did not help some who tried what helped others."""
    ended = outcomes(remedy, entry.evidence)
    apart = {url for url, outcome in ended.items() if outcome == "failed"}
    numbered = [(url, link(str(n), url)) for n, url in enumerate(remedy.sources, 1)]
    links = " ".join(shown for url, shown in numbered if shown and url not in apart)
    against = " ".join(shown for url, shown in numbered if shown and url in apart)
    return " ".join(filter(None, (links, f"{headings.both('roles', 'failed')}: {against}" if against else "")))


def _block(action: str, how: str | None) -> list[str]:
    """The block that the action announces, as code; quoted words that say the act once more are in the evidence."""
    if not how or not is_block(action, how):
        return []
    return ["", within_item(how), ""]


def within_item(block: str) -> str:
    """A block as code that belongs to an item of a list."""
    return "\n".join(f"  {line}".rstrip() for line in code_block(block).split("\n"))


def _case(entry: KnowledgeEntry, case: Case) -> str:
    """What one project says of it: nobody else's error need be the same."""
    project = case.repo if case.frame else next(iter(case.documents), case.repo)  # without a frame it is one thread
    where = ", ".join(f"`{name}`" for name in (project, case.frame, case.library) if name and "`" not in name)
    lines = [f"In {where} ({counted(len(case.documents), 'document')}):", ""]
    for said in case.statements:
        sources = _linked(entry, said)
        counts = f"worked {said.worked}, failed {said.failed}{_unconfirmed(said)}"
        lines.append(
            f"- {headings.both('said', kind_of(said)).lower()}: {escaped(said.text)} ({counts}) {sources}".rstrip()
        )
        if said.text_zh and said.text_zh != said.text:
            lines.append(f"  {escaped(said.text_zh)}")
        lines += _block(said.text, said.how)
        if said.condition:
            lines.append(f"  {headings.both('words', 'condition').lower()}: {escaped(said.condition)}")
        lines += map(_reply, said.replies)
    return "\n".join(lines)


def _reply(one: Reply) -> str:
    """What somebody answers to an act, below it: nothing here counts it."""
    return f"  - {headings.both('replies', one.outcome)}: “{escaped(one.quote)}” {_where(one)}".rstrip()


def _lead(one: Lead) -> str:
    """What somebody may have said: a machine picked it, and nothing here counts it."""
    label = f"{headings.both('leads', one.kind)} ({one.share} % of such are right)"
    beside = one.passage
    words = f"{beside.text} {one.quote}" if beside is not None and one.is_led else one.quote
    line = f"- {label}: “{escaped(words)}” {_where(one)}".rstrip()
    return line if beside is None or one.is_led else f"{line}\n\n{within_item(beside.text)}\n"


def _where(one: Lead | Reply | Evidence) -> str:
    """Where a quote can be read, when it was written, by somebody of which role."""
    day = (one.posted_at or "")[:10]
    return " ".join(filter(None, (link(one.document_id, one.url), day, (one.author_role or "").lower())))


def _unconfirmed(remedy: Workaround | DeadEnd | CaseStatement) -> str:
    """The warning at a remedy behind which only a machine stands."""
    if isinstance(remedy, DeadEnd) or remedy.tier != "ai_generated":
        return ""
    return f"; {vocabulary.label('tiers', remedy.tier, 'en')}"


def _evidence(evidence: Sequence[Evidence]) -> str:
    lines = [_quote(piece) for piece in evidence[:MOST_QUOTES]]
    if len(evidence) > MOST_QUOTES:
        lines.append(f"- and {len(evidence) - MOST_QUOTES} more in the entry's JSON")
    return "\n".join(lines)


def _quote(piece: Evidence) -> str:
    return f"- {piece.role}: “{escaped(piece.quote)}” {_where(piece)}".rstrip()


def link(name: str, url: str | None) -> str:
    """A link of that name, "" where `url` is no plain address."""
    return f"[{escaped(name)}]({url})" if url and _ADDRESS.fullmatch(url) else ""


def _contents(title: str, ordered: Sequence[KnowledgeEntry]) -> str:
    parts = [f"# {title}", f"{len(ordered)} entries, most reported first in each domain."]
    for domain, members in groupby(ordered, key=lambda entry: entry.id.partition("/")[0]):
        ranked = sorted(members, key=lambda entry: (-entry.evidence_count, entry.id))
        parts.append(f"## {domain}\n\n" + "\n".join(map(_line, ranked)))
    return "\n\n".join(parts) + "\n"


def _line(entry: KnowledgeEntry) -> str:
    name, address = _named(entry)
    return f"- [{name}]({address}): {_reported(entry)}"


def _named(entry: KnowledgeEntry) -> tuple[str, str]:
    """The message of an entry as the name of a link, and where its page is."""
    signature = " ".join(entry.signature.split())
    short = signature if len(signature) <= _LINE_CHARACTERS else signature[: _LINE_CHARACTERS - 1] + "…"
    return escaped(short), f"{entry.id}.md"


def _reported(entry: KnowledgeEntry) -> str:
    return counted(entry.evidence_count, "document")
