"""What the notes of a release name: reports and changes of the same project, each with the line that names it.

That a release has something fixed is claimed of nothing but what its notes name by number or address. Whether that is
the report, or what closed it, is for `reduce` to say: no other document is looked at here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pipeline.distil import tables
from pipeline.distil.claims.claiming import STAGE, claim_at, passed_on
from pipeline.distil.claims.prose import MAX_QUOTE
from pipeline.distil.material import Reading
from pipeline.records import Claim, ClaimKind, Document, DocumentKind, Fact, LinkKind, PostKind, Skipped, content_id
from pipeline.text import language_of

RULE = "fix.release_notes"
#: Threads that the notes of one release may name. GitHub takes notes of 125,000 characters: with 50 a line, 2,500.
MOST_NAMED = 2500
# As Git forbids most other signs in a tag; what is none is of nobody's making.
_TAG = re.compile(r"[\w.+/@-]{1,100}", re.ASCII)
_BULLET = re.compile(r"[ \t>]{0,20}(?:[-*+•] {0,4}|\d{1,4}[.)] {1,4})?")
_HEADING = re.compile(r" {0,3}#{1,6} \S|[ \t]{0,8}\*\*[^*\n]{1,200}\*\*:?[ \t]*\Z|\S[^\n]{0,80}:[ \t]*\Z")


def read(document: Document) -> Reading:
    """The claims of a release: one for each thread of its own project that its notes name, whose id is its key."""
    told: list[Claim | Skipped] = []
    tag = document.title or ""
    if document.kind == DocumentKind.RELEASE and document.repo and _TAG.fullmatch(tag):
        found = list(_claims(document, tag))
        told = [passed_on(document, claim) for claim in found[:MOST_NAMED]]
        if len(found) > MOST_NAMED:
            detail = f"{len(found) - MOST_NAMED:,} more are left out"
            told.append(Skipped(STAGE, document.document_id, "too_many_names", detail))
    claims = {one.claim_id: one for one in told if isinstance(one, Claim)}
    refused = {(one.item_id, one.reason, one.detail): one for one in told if isinstance(one, Skipped)}
    return Reading(tuple(claims.values()), tuple(refused[key] for key in sorted(refused)))


def _claims(document: Document, tag: str) -> Iterator[Claim]:
    own = f"{document.document_id.rpartition('/releases/')[0]}#"
    template = "fix.prerelease_notes" if document.state == "prerelease" else "fix.release_notes"
    lines = _lines(document)
    starts, said = [line.start for line in lines], dict[int, bool]()
    for link in document.links:
        place = bisect_right(starts, link.start) - 1 if link.start is not None else -1
        if link.kind != LinkKind.TEXT_MENTION or link.start is None or place < 0 or not link.target.startswith(own):
            continue
        line = lines[place]
        if place not in said:
            said[place] = _says_fixed(document.text, line)
        if not said[place]:
            continue
        span = (line.start, line.end) if line.end - line.start <= MAX_QUOTE else (link.start, link.end or link.start)
        change = f"{document.repo}#{link.target.rpartition('#')[2]}"
        fact = Fact(template, (("change", change), ("repo", document.repo or ""), ("version", tag)))
        claim = claim_at(document, ClaimKind.RELEASE, RULE, fact=fact, span=span, about=())
        yield replace(claim, claim_id=content_id("claim", claim.claim_id, link.target), key=link.target)


class _Line(NamedTuple):
    start: int  # behind its bullet
    end: int
    heading: str  # that it stands under


def _lines(document: Document) -> list[_Line]:
    """The lines of the notes, each with its heading; a name and a tag are no notes."""
    notes = next((post for post in document.posts if post.kind == PostKind.BODY), None)
    found: list[_Line] = []
    at, heading = (notes.start, "") if notes else (0, "")
    for line in document.text[notes.start : notes.end].split("\n") if notes else ():
        bullet = _BULLET.match(line)
        lead = bullet.end() if bullet else 0
        found.append(_Line(at + min(lead, len(line.rstrip())), at + len(line.rstrip()), heading))
        if _HEADING.match(line):
            heading = line
        at += len(line) + 1
    return found


def _says_fixed(text: str, line: _Line) -> bool:
    words = text[line.start : line.end]
    lang = "zh" if language_of(words) == "zh" else "en"  # a line of names alone is of no language
    if _refused().search(words) or tables.hedges(lang, "fix").search(words):
        return False
    return not _headings().search(line.heading)


@cache
def _refused() -> re.Pattern[str]:
    return re.compile("|".join(row["pattern"] for row in tables.table("releases.toml")["refuse"]), re.IGNORECASE)


@cache
def _headings() -> re.Pattern[str]:
    return re.compile(tables.table("releases.toml")["headings"]["pattern"], re.IGNORECASE)
