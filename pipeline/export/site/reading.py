"""What the page of an entry says, in one language: words with theirs, who said so, what is counted. No markup here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.export.charts import Bar
from pipeline.export.site import paths
from pipeline.export.statements import is_block, kind_of, outcomes, standing_of
from pipeline.lexicon import headings
from pipeline.records.entry import (
    STANDINGS,
    Case,
    CaseStatement,
    DeadEnd,
    Evidence,
    KnowledgeEntry,
    Lead,
    Reply,
    Workaround,
)

#: What a page shows of each kind of evidence, of threads, of versions; the entry's JSON has all.
MOST_QUOTES, MOST_THREADS, MOST_VERSIONS, MOST_VALUES = 30, 8, 10, 6
#: Evidence by what it tells: who says what helped comes before where it was seen.
_WEIGHT = (
    "worked", "failed", "fix", "cause", "workaround", "official", "occurrence", "link", "version", "environment",
)  # fmt: skip
#: What evidence says of the error itself; a version or a card named in a thread is counted, and shown last.
_MINOR = {"version", "environment"}
_MOST_MINOR = 8
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z]{2,8})*")

#: The Chinese of a sentence of an official page, or None.
Official = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Said:
    """Words in the page's language where there are some, and those that they were made from."""

    text: str
    lang: str  # of `text`, as HTML names it
    original: str = ""  # where `text` is a translation
    original_lang: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Who said something, when and where."""

    who: str
    day: str
    place: str
    url: str | None
    quote: str
    quote_lang: str
    role: str
    outcome: str = ""  # how it ended there, a label of headings.toml; of what helped some and did not help others


@dataclass(frozen=True, slots=True)
class Remedy:
    """What somebody did or advises against the error."""

    said: Said
    how: str  # the block that the action announces
    condition: str
    why_fails: str
    worked: int
    failed: int
    tier: str
    sources: tuple[Source, ...]
    kind: str = ""  # of a case's statement: cause, workaround, suggested, dead_end
    cause_type: str = ""  # of a cause: of which kind it is, an id of a closed vocabulary
    replies: tuple[Source, ...] = ()  # what the next posts answer to it


@dataclass(frozen=True, slots=True)
class Hint:
    """A lead: what somebody may have said."""

    kind: str  # a label of headings.toml
    share: int
    source: Source
    led: str  # the sentence before the quote that it needs
    passage: str  # what the quote announces


@dataclass(frozen=True, slots=True)
class Place:
    """A case: where it was met, and what is said there."""

    where: tuple[str, ...]
    document_count: int
    statements: tuple[Remedy, ...]


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread that reports the error."""

    place: str
    url: str | None
    state: str
    day: str


@dataclass(frozen=True, slots=True)
class Quotes:
    """The evidence of one kind."""

    role: str
    shown: tuple[Source, ...]
    left_out: int


def html_language(lang: str) -> str:
    """A language as HTML names it: "zh" is "zh-Hans"; what is no name of one is "und"."""
    return paths.TAGS.get(lang) or (lang if _LANGUAGE.fullmatch(lang) else "und")


def said(english: str | None, chinese: str | None, lang: str, *, english_lang: str = "en") -> Said | None:
    """The words of a field for a page in `lang`; None where nobody said anything."""
    if lang == "zh" and chinese:
        is_same = not english or english == chinese
        return Said(chinese, "zh-Hans", "" if is_same else english or "", html_language(english_lang))
    if english:
        return Said(english, html_language(english_lang))
    return Said(chinese, "zh-Hans") if chinese else None


def signature(entry: KnowledgeEntry, lang: str) -> Said:
    """What the error is called."""
    return said(entry.signature, entry.signature_zh, lang) or Said(entry.id, "en")


def cause(entry: KnowledgeEntry, lang: str, by_id: Mapping[str, Evidence]) -> Remedy | None:
    """Why it happens, with who said so."""
    words = said(entry.root_cause, entry.root_cause_zh, lang)
    if words is None:
        return None
    sources = _sources(entry.root_cause_evidence, by_id, lang, said=(entry.root_cause or "",))
    return Remedy(
        words, "", "", "", 0, 0, "", sources, kind=entry.root_cause_type or "", cause_type=entry.cause_type or ""
    )


def remedies(
    entry: KnowledgeEntry, lang: str, by_id: Mapping[str, Evidence], official: Official
) -> dict[str, list[Remedy]]:
    """What helped ("confirmed"), official words, fixes of the project, what a reply confirms, advice, what failed."""
    made: dict[str, list[Remedy]] = {kind: [] for kind in (*STANDINGS, "dead_ends")}
    for one, chinese in zip(entry.workarounds, entry.workarounds_zh, strict=True):
        made[standing_of(one)].append(_remedy(one, chinese, lang, by_id, official))
    for other, chinese in zip(entry.dead_ends, entry.dead_ends_zh, strict=True):
        made["dead_ends"].append(_remedy(other, chinese, lang, by_id, official))
    return made


def _remedy(
    one: Workaround | DeadEnd, chinese: str | None, lang: str, by_id: Mapping[str, Evidence], official: Official
) -> Remedy:
    words = said(one.action, chinese, lang, english_lang=one.action_lang) or Said(one.action, "und")
    how = one.how or "" if isinstance(one, Workaround) else ""
    block = ((lang == "zh" and official(how)) or how) if is_block(one.action, how) else ""
    return Remedy(
        words,
        block,
        one.condition or "",
        one.why_fails or "" if isinstance(one, DeadEnd) else "",
        one.worked,
        one.failed,
        one.tier if isinstance(one, Workaround) else "",
        _sources(one.evidence, by_id, lang, said=(one.action, block and how), of=one),
        replies=_replies(one.replies, lang) if isinstance(one, Workaround) else (),
    )


def case(one: Case, lang: str, by_id: Mapping[str, Evidence]) -> Place:
    """A case: without a frame it is one thread, and is called so."""
    project = one.repo if one.frame else next(iter(one.documents), one.repo)
    where = tuple(name.removeprefix("github.com/") for name in (project, one.frame, one.library) if name)
    return Place(where, len(one.documents), tuple(_statement(said_, lang, by_id) for said_ in one.statements))


def _statement(one: CaseStatement, lang: str, by_id: Mapping[str, Evidence]) -> Remedy:
    words = said(one.text, one.text_zh, lang, english_lang=one.text_lang) or Said(one.text, "und")
    how = one.how or ""
    block = how if is_block(one.text, how) else ""
    return Remedy(
        words,
        block,
        one.condition or "",
        one.why_fails or "",
        one.worked,
        one.failed,
        one.tier,
        _sources(one.evidence, by_id, lang, said=(one.text, block), of=one),
        kind=kind_of(one),
        cause_type=one.cause_type or "",
        replies=_replies(one.replies, lang),
    )


def _replies(replies: Sequence[Reply], lang: str) -> tuple[Source, ...]:
    """What the next posts answer to an act, in their words."""
    return tuple(replace(_shown(one, lang), outcome=headings.label("replies", one.outcome, lang)) for one in replies)


def _sources(
    ids: Iterable[str],
    by_id: Mapping[str, Evidence],
    lang: str,
    *,
    said: Iterable[str],
    of: Workaround | DeadEnd | CaseStatement | None = None,
) -> tuple[Source, ...]:
    """Who stands behind a statement, one for each post, those who say that it worked first; each with how it ended.

    A quote that only repeats what was `said`, there or by another, is left to the evidence.
    """
    found = sorted((by_id[one] for one in ids if one in by_id), key=lambda piece: _weight(piece.role))
    ended = outcomes(of, found) if of else {}
    shown = [_plain(words) for words in said if words]
    by_post: dict[str, Source] = {}
    for piece in found:
        if piece.url not in by_post:
            outcome = headings.label("roles", ended[piece.url], lang) if piece.url in ended else ""
            told, words = replace(source(piece, lang), outcome=outcome), _plain(piece.quote)
            by_post[piece.url] = replace(told, quote="") if words in shown else told
            shown.append(words)
    return tuple(by_post.values())


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".…")


def _weight(role: str) -> int:
    return _WEIGHT.index(role) if role in _WEIGHT else len(_WEIGHT)


def source(piece: Evidence, lang: str) -> Source:
    """One piece of evidence as a page names it."""
    who = headings.table("authors", lang).get(piece.author_role or "", "")
    if piece.role == "official" or piece.kind == "doc":
        who = headings.label("words", "official", lang)
    return Source(
        who,
        headings.written_day((piece.posted_at or "")[:10], lang),
        place(piece),
        paths.address(piece.url),
        piece.quote,
        html_language(piece.quote_lang),
        piece.role,
    )


@dataclass(frozen=True, slots=True)
class Meant:
    """What documentation says that the error means, in the page's language: both are originals."""

    text: str
    checks: tuple[str, ...]
    url: str | None
    name: str  # of the place
    lang: str


def documentation(entry: KnowledgeEntry, lang: str) -> Meant | None:
    """What documentation says that the error means."""
    told = entry.documentation
    if told is None:
        return None
    is_chinese = lang == "zh"
    url = paths.address(told.url)
    return Meant(
        told.text_zh if is_chinese else told.text,
        tuple(one.text_zh if is_chinese else one.text for one in told.checks),
        url,
        (url or told.url).partition("://")[2].partition("/")[0],
        paths.TAGS[lang],
    )


def leads(entry: KnowledgeEntry, lang: str) -> list[Hint]:
    """What people may have said, by a trained reader alone, in their words."""
    return [_hint(one, lang) for one in entry.leads]


def _hint(one: Lead, lang: str) -> Hint:
    words = one.passage.text if one.passage is not None else ""
    led, passage = (words, "") if one.is_led else ("", words)
    return Hint(headings.label("leads", one.kind, lang), one.share, _shown(one, lang), led, passage)


def _shown(one: Lead | Reply, lang: str) -> Source:
    """Words that are shown and count for nothing."""
    return Source(
        headings.table("authors", lang).get(one.author_role or "", ""),
        headings.written_day((one.posted_at or "")[:10], lang),
        place(one),
        paths.address(one.url),
        one.quote,
        html_language(one.quote_lang),
        "",
    )


def place(piece: Evidence | Lead | Reply) -> str:
    """Where a quote stands, in a few characters: `owner/repo#5`, or the page's address without its scheme."""
    if piece.repo and piece.number is not None:
        return f"{piece.repo}#{piece.number}"
    url = paths.address(piece.url)
    return url.partition("://")[2].partition("#")[0] if url else piece.document_id


def quotes(entry: KnowledgeEntry, lang: str) -> list[Quotes]:
    """All evidence by its kind, the most telling kind first; the same words of one post once."""
    groups: dict[str, dict[tuple[str, str], Evidence]] = {}
    for piece in entry.evidence:
        groups.setdefault(piece.role, {}).setdefault((piece.url, piece.quote), piece)
    made = []
    for role in sorted(groups, key=_weight):
        pieces = sorted(groups[role].values(), key=lambda one: (one.posted_at or "", one.url, one.start), reverse=True)
        most = _MOST_MINOR if role in _MINOR else MOST_QUOTES
        shown = tuple(source(piece, lang) for piece in pieces[:most])
        made.append(Quotes(role, shown, max(0, len(pieces) - most)))
    return made


def threads(entry: KnowledgeEntry, lang: str) -> tuple[list[Thread], int]:
    """(the newest threads of its evidence, how many there are with those that it does not show)."""
    first: dict[str, Evidence] = {}
    reported = (piece for piece in entry.evidence if piece.kind != "doc")
    for piece in sorted(reported, key=lambda one: (one.role != "occurrence", one.posted_at or "", one.url)):
        first.setdefault(piece.document_id, piece)
    newest = sorted(first.values(), key=lambda one: (one.posted_at or "", one.url), reverse=True)
    made = [
        Thread(
            place(piece),
            paths.address(piece.url),
            piece.state or "",
            headings.written_day((piece.posted_at or "")[:10], lang),
        )
        for piece in newest[:MOST_THREADS]
    ]
    documents = len({piece.document_id for piece in entry.evidence if piece.kind == "doc"})
    return made, entry.evidence_count - documents


def months(entry: KnowledgeEntry) -> Counter[str]:
    """Month -> reports: each document in the month of the oldest post of it that shows the error."""
    oldest: dict[str, str] = {}
    for piece in entry.evidence:
        if piece.role == "occurrence" and piece.posted_at:
            oldest[piece.document_id] = min(oldest.get(piece.document_id, piece.posted_at), piece.posted_at)
    return Counter(day[:7] for day in oldest.values())


def versions(entry: KnowledgeEntry, lang: str) -> list[Bar]:
    """The versions that most reports name; where it is fixed first."""
    states = headings.table("version_states", lang)
    found = sorted(entry.versions, key=lambda one: (one.status != "fixed", -one.count, one.version))
    return [
        Bar(one.version if one.status == "affected" else f"{one.version} ({states.get(one.status, one.status)})",
            one.count, "fixed" if one.status == "fixed" else "")
        for one in found[:MOST_VERSIONS]
    ]  # fmt: skip


def environment(entry: KnowledgeEntry) -> list[tuple[str, str]]:
    """(name, its values, most reported first) of what the error was seen on."""
    values: dict[str, list[tuple[int, str]]] = {}
    for fact in entry.environment:
        values.setdefault(fact.name, []).append((-fact.count, fact.value))
    return [(name, _listed([value for _, value in sorted(found)])) for name, found in values.items()]


def _listed(values: Sequence[str]) -> str:
    rest = f" … +{len(values) - MOST_VALUES}" if len(values) > MOST_VALUES else ""
    return ", ".join(values[:MOST_VALUES]) + rest


def parameters(entry: KnowledgeEntry, lang: str) -> list[tuple[str, str]]:
    """(name and unit, its values as printed) of what varied between occurrences."""
    return [(_measure(one.name, one.unit, lang), _listed(one.values)) for one in entry.parameters if one.values]


def _measure(name: str, unit: str | None, lang: str) -> str:
    """A value's name with its unit; a name that is only the program's word stays as it is."""
    label = headings.label("values", name, lang)
    if not unit:
        return label
    behind = headings.label("values", unit, lang)
    return f"{label}（{behind}）" if lang == "zh" else f"{label} ({behind})"
