"""The rules of counts, the list of all rules, and the verdict on an entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from pipeline.records import MAINTAINER_ROLES
from pipeline.records.entry import KnowledgeEntry
from pipeline.records.shown import MOST_EVIDENCE
from pipeline.text import is_web_address
from pipeline.validate import problem, wording
from pipeline.validate.problem import (
    Context,
    Finding,
    Problem,
    Raw,
    Rule,
    items,
    names,
    number,
    omitted,
    shown,
    statements,
    text,
    values,
)

# Rules about numbers: each is counted from evidence that is really there.

#: Rates are published with three or four digits.
_TOLERANCE = 0.001
#: A list of remedies shorter than this was not cut, so that the entry's own rate can be counted again.
_WHOLE_LIST = 30
_LONGEST_QUOTE = 300
_BY_ITS_BYTES = re.compile(r"urn:sha256:[0-9a-f]{64}")

#: Weights and z of the documented formula (README, "Confidence"); counted again here on purpose, not imported.
_OFFICIAL_WEIGHT, _MAINTAINER_WEIGHT, _Z = 9, 3, 1.959964
_SUPPORTING = frozenset({"cause", "fix", "worked"})


def _documents(raw: Raw) -> set[str]:
    pieces = (piece for _, piece in items(raw, "evidence"))
    return {text(piece, "document_id") or text(piece, "url") or "" for piece in pieces} - {""}


def _evidence_count(raw: Raw, _context: Context) -> Iterator[Finding]:
    claimed, found = number(raw, "evidence_count"), len(_documents(raw))
    more = omitted(raw)  # pieces that are not shown are of as many documents at most
    if claimed is not None and not found <= claimed <= found + more:
        and_more = f" and {more} pieces are omitted" if more else ""
        yield "evidence_count", f"says {claimed:g}, but evidence holds {found} documents{and_more}"
    if more and len(values(raw, "evidence")) < MOST_EVIDENCE:
        yield "evidence_omitted", f"nothing is omitted of an entry that shows fewer than {MOST_EVIDENCE} pieces"


def _evidence_quoted(raw: Raw, _context: Context) -> Iterator[Finding]:
    for place, piece in (*items(raw, "evidence"), *shown(raw)):
        if not _is_address(text(piece, "url") or ""):
            yield f"{place}.url", "no address at which the quote can be checked"
        quote = text(piece, "quote") or ""
        if not quote.strip():
            yield f"{place}.quote", "there is no quote"
        elif len(quote) > _LONGEST_QUOTE:
            yield f"{place}.quote", f"the quote is longer than {_LONGEST_QUOTE} characters"


def _is_address(url: str) -> bool:
    """Whether it is on the web, or the name of a page whose address is unknown."""
    return is_web_address(url) or _BY_ITS_BYTES.fullmatch(url) is not None


def _addresses(raw: Raw, _context: Context) -> Iterator[Finding]:
    official = text(raw, "official_doc_url")
    if official is not None and not is_web_address(official):
        yield "official_doc_url", "is no http or https address"
    for place, item in (*items(raw, "workarounds"), *items(raw, "dead_ends"), *statements(raw)):
        for number_, source in enumerate(names(item, "sources")):
            if not _is_address(source):
                yield f"{place}.sources[{number_}]", "is no http or https address"


def _evidence_offsets(raw: Raw, context: Context) -> Iterator[Finding]:
    for place, piece in (*items(raw, "evidence"), *shown(raw)):
        start, end, quote = number(piece, "start"), number(piece, "end"), text(piece, "quote") or ""
        if start is None or end is None or not 0 <= start < end:
            yield f"{place}.start", "start and end do not enclose a quote"
        elif end - start != len(quote):
            yield f"{place}.end", f"{end - start:g} characters lie between start and end, the quote has {len(quote)}"
        elif context.texts is not None:
            whole = context.texts(text(piece, "document_id") or "")
            if whole is None:
                yield f"{place}.document_id", "the document is not in raw"
            elif whole[int(start) : int(end)] != quote:
                yield f"{place}.quote", "the document does not say this at start"


#: As what an entry cites words that it also says; the rest shows where the error was seen, and on what.
_SAYING = frozenset({"cause", "workaround", "worked", "failed", "fix", "official"})


def _leads(raw: Raw, _context: Context) -> Iterator[Finding]:
    cited = [piece for _, piece in items(raw, "evidence") if text(piece, "role") in _SAYING]
    for place, lead in items(raw, "leads"):
        start, end = number(lead, "start") or 0, number(lead, "end") or 0
        for piece in cited:
            is_there = text(piece, "document_id") == text(lead, "document_id")
            if is_there and start < (number(piece, "end") or 0) and (number(piece, "start") or 0) < end:
                yield place, f"{text(piece, 'evidence_id')} cites these words: what is said is no lead"


def _occurrences(raw: Raw, _context: Context) -> Iterator[Finding]:
    pieces = (piece for _, piece in items(raw, "evidence") if text(piece, "role") == "occurrence")
    documents = {text(piece, "document_id") for piece in pieces}
    claimed = number(raw, "occurrence_count")
    if claimed is not None and claimed < len(documents):
        yield "occurrence_count", f"says {claimed:g}, but {len(documents)} documents show the error"


def _rate(worked: float, failed: float) -> float | None:
    return worked / (worked + failed) if worked + failed else None


def _differs(claimed: float | None, counted: float | None) -> bool:
    if claimed is None or counted is None:
        return claimed is not counted
    return abs(claimed - counted) > _TOLERANCE


def _rates(raw: Raw, _context: Context) -> Iterator[Finding]:
    for name, rate, good in (("workarounds", "success_rate", "worked"), ("dead_ends", "fail_rate", "failed")):
        for place, item in items(raw, name):
            worked, failed = number(item, "worked") or 0, number(item, "failed") or 0
            claimed, counted = number(item, rate), _rate(worked, failed)
            if counted is not None and good == "failed":
                counted = 1 - counted
            if _differs(claimed, counted):
                counts = f"{worked:g} worked and {failed:g} failed" if worked + failed else "no counts stand behind it"
                yield f"{place}.{rate}", f"says {_shown(claimed)}, but {counts}"


def _fix_rate(raw: Raw, _context: Context) -> Iterator[Finding]:
    remedies = [item for name in ("workarounds", "dead_ends") for _, item in items(raw, name)]
    # entries of older builds have what helped some and failed others in both lists
    distinct = {(text(item, "action"), text(item, "how")): item for item in remedies}.values()
    worked = sum(number(item, "worked") or 0 for item in distinct)
    failed = sum(number(item, "failed") or 0 for item in distinct)
    claimed, counted = number(raw, "fix_success_rate"), _rate(worked, failed)
    is_cut = max(len(values(raw, "workarounds")), len(values(raw, "dead_ends"))) >= _WHOLE_LIST
    if _differs(claimed, counted) and not (is_cut and claimed is not None and counted is not None):
        counts = f"{worked:g} worked and {failed:g} failed" if worked + failed else "no counts stand behind it"
        yield "fix_success_rate", f"says {_shown(claimed)}, but {counts}"


def _shown(rate: float | None) -> str:
    return "null" if rate is None else f"{rate:g}"


def _remedy_evidence(raw: Raw, _context: Context) -> Iterator[Finding]:
    pieces = {text(piece, "evidence_id"): piece for _, piece in items(raw, "evidence")}
    for place, item in (*items(raw, "workarounds"), *items(raw, "dead_ends"), *statements(raw)):
        cited = [pieces[evidence] for evidence in names(item, "evidence") if evidence in pieces]
        for outcome in ("worked", "failed"):
            claimed = number(item, outcome) or 0
            threads = {text(piece, "document_id") for piece in cited if text(piece, "role") == outcome}
            if claimed > len(threads) + omitted(raw):
                yield f"{place}.{outcome}", f"says {claimed:g}, but quotes of {len(threads)} documents say so"


def _confidence(raw: Raw, _context: Context) -> Iterator[Finding]:
    claimed, most = number(raw, "confidence"), _supported(raw)
    if claimed is not None and claimed > most + _TOLERANCE:
        yield "confidence", f"says {claimed:g}; the formula over its evidence allows {most:.3f} at most"


def _supported(raw: Raw) -> float:
    """Wilson's lower bound over weighted documents; 0 without any. Of evidence that is not shown it takes the best."""
    official: set[str | None] = set()
    maintained: set[str | None] = set()
    users: set[str | None] = set()
    against: set[str | None] = set()
    for _, piece in items(raw, "evidence"):
        document, role = text(piece, "document_id") or text(piece, "url"), text(piece, "role")
        if text(piece, "kind") == "doc" or role == "official":
            official.add(document)
        if role in _SUPPORTING:
            (maintained if text(piece, "author_role") in MAINTAINER_ROLES else users).add(document)
        elif role == "failed":
            against.add(document)
    by_maintainers = len(maintained) + omitted(raw)
    support = _OFFICIAL_WEIGHT * len(official) + _MAINTAINER_WEIGHT * by_maintainers + len(users - maintained)
    total = support + len(against)
    if not total:
        return 0.0
    share, squared = support / total, _Z * _Z
    spread = _Z * sqrt(share * (1 - share) / total + squared / (4 * total * total))
    return max(0.0, (share + squared / (2 * total) - spread) / (1 + squared / total))


COUNTING = (
    Rule("evidence_count", "evidence_count is the number of distinct documents in evidence.", _evidence_count),
    Rule("evidence_quoted", "Every piece of evidence has an address and a verbatim quote.", _evidence_quoted),
    Rule("addresses_of_the_web", "Sources and official pages are http or https addresses.", _addresses),
    Rule("evidence_offsets", "Every quote stands in its document at its offsets.", _evidence_offsets),
    Rule("leads_apart", "No lead stands in words that the entry cites for what it says.", _leads),
    Rule("occurrence_count", "There are at least as many occurrences as documents that show one.", _occurrences),
    Rule("rates_counted", "A remedy's rate is counted from worked and failed, and null where both are 0.", _rates),
    Rule(
        "outcomes_quoted",
        "Every worked and failed that is counted is quoted, each from a document of its own.",
        _remedy_evidence,
    ),
    Rule("fix_rate_counted", "fix_success_rate is counted from all remedies, and null without counts.", _fix_rate),
    Rule("confidence_counted", "Confidence is not above the documented formula over the evidence.", _confidence),
)


# Every integrity rule, in the order in which problems are reported.

RULES: tuple[Rule, ...] = (
    *problem.NAMING,
    *COUNTING,
    *problem.DATING,
    *wording.PATTERNS,
    *wording.WORDING,
    *wording.CHINESE,
)


def broken(raw: Raw, context: Context) -> Iterator[Problem]:
    """Every problem that the rules find in `raw`."""
    entry_id = raw.get("id")
    name = entry_id if isinstance(entry_id, str) else ""
    for rule in RULES:
        for place, message in rule.check(raw, context):
            yield Problem(rule.rule_id, place, message, name)


# The verdict on one of our own entries: a value, never an exception.


@dataclass(frozen=True, slots=True)
class Accepted:
    """The entry keeps every rule."""

    entry: KnowledgeEntry


@dataclass(frozen=True, slots=True)
class Rejected:
    """The entry breaks at least one rule and is not published."""

    entry_id: str
    reasons: tuple[Problem, ...]


Verdict = Accepted | Rejected

_NOTHING_KNOWN = Context()


def verdict(entry: KnowledgeEntry, context: Context = _NOTHING_KNOWN) -> Verdict:
    """`Accepted` or `Rejected`, after every rule has looked at `entry`."""
    reasons = tuple(broken(entry.model_dump(), context))
    return Rejected(entry.id, reasons) if reasons else Accepted(entry)
