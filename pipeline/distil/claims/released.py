"""What the notes of a release name: reports and changes of the same project, each with the line that names it.

That a release has something fixed is claimed of nothing but what its notes name by number or address. Whether that is
the report, or what closed it, is for `reduce` to say: no other document is looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from pipeline.distil import tables
from pipeline.distil.claims.prose import MAX_QUOTE
from pipeline.distil.claims.reading import claim_at, passed_on
from pipeline.distil.material import Reading
from pipeline.records import Claim, ClaimKind, Document, DocumentKind, Fact, LinkKind, PostKind, Skipped, content_id
from pipeline.text import language_of

RULE = "fix.release_notes"
# As Git forbids most other signs in a tag; what is none is of nobody's making.
_TAG = re.compile(r"[\w.+/@-]{1,100}", re.ASCII)
_BULLET = re.compile(r"[ \t>]{0,20}(?:[-*+•] {0,4}|\d{1,4}[.)] {1,4})?")
_HEADING = re.compile(r" {0,3}#{1,6} \S|[ \t]{0,8}\*\*[^*\n]{1,200}\*\*:?[ \t]*\Z|\S[^\n]{0,80}:[ \t]*\Z")
#: Lines above a name in which its heading is looked for.
_LINES_ABOVE = 400


def read(document: Document) -> Reading:
    """The claims of a release: one for each thread of its own project that its notes name, whose id is its key."""
    told: list[Claim | Skipped] = []
    tag = document.title or ""
    if document.kind == DocumentKind.RELEASE and document.repo and _TAG.fullmatch(tag):
        told = [passed_on(document, claim) for claim in _claims(document, tag)]
    claims = {one.claim_id: one for one in told if isinstance(one, Claim)}
    refused = {(one.item_id, one.reason, one.detail): one for one in told if isinstance(one, Skipped)}
    return Reading(tuple(claims.values()), tuple(refused[key] for key in sorted(refused)))


def _claims(document: Document, tag: str) -> Iterator[Claim]:
    own = f"{document.document_id.rpartition('/releases/')[0]}#"
    template = "fix.prerelease_notes" if document.state == "prerelease" else "fix.release_notes"
    notes = next((post for post in document.posts if post.kind == PostKind.BODY), None)
    for link in document.links if notes else ():
        if link.kind != LinkKind.TEXT_MENTION or link.start is None or not link.target.startswith(own):
            continue
        start, end = _line(document.text, link.start)
        if notes is None or link.start < notes.start or not _says_fixed(document.text, start, end, notes.start):
            continue
        span = (start, end) if end - start <= MAX_QUOTE else (link.start, link.end or link.start)
        change = f"{document.repo}#{link.target.rpartition('#')[2]}"
        fact = Fact(template, (("change", change), ("repo", document.repo or ""), ("version", tag)))
        claim = claim_at(document, ClaimKind.RELEASE, RULE, fact=fact, span=span, about=())
        yield replace(claim, claim_id=content_id("claim", claim.claim_id, link.target), key=link.target)


def _line(text: str, at: int) -> tuple[int, int]:
    """The line around a place, without its bullet."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    bullet = _BULLET.match(text, start, at)
    return (bullet.end() if bullet else start), end - (len(text[start:end]) - len(text[start:end].rstrip()))


def _says_fixed(text: str, start: int, end: int, notes: int) -> bool:
    line = text[start:end]
    lang = "zh" if language_of(line) == "zh" else "en"  # a line of names alone is of no language
    if _refused().search(line) or tables.hedges(lang, "fix").search(line):
        return False
    above = text[max(notes, text.rfind("\n", 0, start) - 40 * _LINES_ABOVE) : start].split("\n")
    heading = next((one for one in reversed(above[-_LINES_ABOVE:-1]) if _HEADING.match(one)), "")
    return not _headings().search(heading)


@cache
def _refused() -> re.Pattern[str]:
    return re.compile("|".join(row["pattern"] for row in tables.table("releases.toml")["refuse"]), re.IGNORECASE)


@cache
def _headings() -> re.Pattern[str]:
    return re.compile(tables.table("releases.toml")["headings"]["pattern"], re.IGNORECASE)
