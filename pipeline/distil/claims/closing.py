"""What closed a report, by the word of its tracker, the API or a merged pull request, and which errors that fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.distil import tables
from pipeline.distil.claims.claiming import claim_at, owners, refused
from pipeline.distil.claims.prose import MAX_QUOTE, Prose
from pipeline.distil.claims.subjects import Pair, is_titled, reported
from pipeline.lexicon import advice
from pipeline.records import (
    Claim,
    ClaimKind,
    DocLink,
    Document,
    DocumentKind,
    Event,
    Fact,
    LinkKind,
    Post,
    PostKind,
    Skipped,
    content_id,
)

#: A report that shows so many different errors is about none of them by itself: of 17 fix versions of reports of four
#: errors or more that were read three were wrong, of 17 of reports of three errors again three, of 270 others six.
_SEVERAL = 3
#: So many digits of a revision name it.
_SHORT = 12
#: How the rules begin whose word is that of a tracker, the API or a merged pull request.
BY_TRACKER = "fix.closed_by_"


def unfixed(document: Document, errors: Sequence[Pair], about: tuple[str, ...], fact: Fact | None) -> str | None:
    """The reason for which what fixed the report is not said to fix its errors, None if it is."""
    if not fixable(document, errors, about):
        return "of_a_test"
    if any(tables.of_words().search(label) for label in document.labels):
        return "no_cure"
    if tables.no_cure().search(document.title or "") or tables.wants_words().search(_report(document)):
        return "no_cure"
    if tables.no_fix().search(document.text):
        return "contested"
    # of 7 fixes of bare lines that were read three had fixed something else, of 87 of errors with a class five
    shown = [e for e, s in errors if s.signature_id in about]
    if not any(e.exception_type or e.frames or e.codes for e in shown):
        return "bare_line"
    version = dict(fact.slots).get("version") if fact else None
    is_met = version is not None and re.search(rf"(?<![\w.]){re.escape(version)}(?![\w]|\.\d)", document.title or "")
    return "affected" if is_met else None


def _report(document: Document) -> str:
    """What the report itself says, without its comments."""
    return "\n".join(document.text[post.start : post.end] for post in document.posts if post.kind == PostKind.BODY)


def fixable(document: Document, errors: Sequence[Pair], about: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the errors that what fixed the report fixes; of a report of a failing test, what the test itself raises.

    Of 24 fix versions of a tracker that were read seven were of such reports: four had changed the test, and the error
    that it had met ("too many open files") came as before.
    """
    reports_test, own = tables.of_a_test()
    if not reports_test.search(document.title or ""):
        return about
    raised = {s.signature_id for e, s in errors if own.search(e.exception_type or "")}
    return tuple(one for one in about if one in raised)


def closed(document: Document, errors: list[Pair]) -> Iterator[Claim | Skipped]:
    """The change that closed the report by the API's word; the quote is the title, which names what was closed.

    It closed what the report opened with, not what others pasted below: where the report itself shows no error it says
    of none. The API says so, not who wrote the title: the claim has no author's role.
    """
    title = _title(document)
    about = reported(document, errors, title.start, title.end) if title else ()
    fixed = fixable(document, errors, about)
    closers = [link for link in document.links if link.kind == LinkKind.CLOSED_BY]
    versions = _versions_with_fix(document)
    revision = _revision(document)
    if title is None or not about or not is_fixed(document.state, document.state_reason):
        return
    fault = unfixed(document, errors, about, None)
    if fault is not None:
        if closers or revision or versions is not None:
            yield refused(document, title.start, fault, "fix.closed_by")
        return
    span = (title.start, title.end)
    sure = _meant(document, errors, fixed) if versions is not None else ()
    if versions is not None and not sure:
        yield refused(document, title.start, "untitled", "fix.closed_by_tracker")
    if versions is not None and sure:
        claim = claim_at(document, ClaimKind.FIX, "fix.closed_by_tracker", fact=versions, span=span, about=sure)
        yield replace(claim, quote=replace(claim.quote, author_role=None))
    if revision is not None and not closers:
        yield _by_revision(document, errors, revision, _meant(document, errors, fixed))
    for link in closers:
        fact = _closer(document, link.target.removeprefix("github.com/"), link.title)
        claim = claim_at(document, ClaimKind.FIX, "fix.closed_by_api", fact=fact, span=span, about=fixed)
        yield replace(claim, quote=replace(claim.quote, author_role=None))


def _revision(document: Document) -> re.Match[str] | None:
    """The words by which the tracker that a thread was taken over from says which revision fixed it, said last.

    None where the thread was opened again, which it says too.
    """
    found = list(tables.closed_by_revision().finditer(document.text))
    return found[-1] if found and not tables.opened_again().search(document.text, found[-1].end()) else None


def _by_revision(
    document: Document, errors: Sequence[Pair], said: re.Match[str], about: tuple[str, ...]
) -> Claim | Skipped:
    """The claim that the revision fixes those of the errors that have a class.

    A compiler's plain words may be what a report asks to have changed: of 22 revisions that were read with their
    reports four fixed something else, all of such lines.
    """
    rule = BY_TRACKER + "revision"
    if not about:
        return refused(document, said.start(), "untitled", rule)
    classed = {signature.signature_id for event, signature in errors if event.exception_type}
    sure = tuple(one for one in about if one in classed)
    if not sure:
        return refused(document, said.start(), "bare_line", rule)
    change = said["sha"][:_SHORT]
    fact = _closer(document, f"{document.repo}@{change}" if document.repo else change, None)
    claim = claim_at(document, ClaimKind.FIX, rule, fact=fact, span=said.span(), about=sure)
    return replace(claim, quote=replace(claim.quote, author_role=None))


def _meant(document: Document, errors: Sequence[Pair], about: tuple[str, ...]) -> tuple[str, ...]:
    """Those of a report's errors that the report is about, as far as its title and what it shows can tell.

    A tracker speaks of the report. Of 300 fix versions that were read 91 were of an error that the title does not name
    and that stands beside others or is one that programs meet: 15 of those were wrong and 19 half right, of the other
    209 five and eight.
    """
    if len({s.signature_id for _, s in errors}) >= _SEVERAL:
        return ()
    shown = [(e, s) for e, s in errors if s.signature_id in about]
    named = [s.signature_id for e, s in shown if is_titled(document.title or "", e)]
    if named or len(about) > 1:
        return tuple(dict.fromkeys(named))
    is_met = any(tables.met().search(f"{e.exception_type or ''}: {e.message}") for e, _ in shown)
    return () if is_met else about


def _versions_with_fix(document: Document) -> Fact | None:
    """What the tracker's field names: one statement, however many lines of releases have the fix; None for no field.

    A later version of another line may lack it ("2.8.2, 3.0.0-alpha4" says nothing of 3.0.0-alpha3), so that one of
    several is not said to be enough.
    """
    if not document.repo or document.state != "closed" or not document.fixed_in:
        return None
    versions = sorted(document.fixed_in, key=_release_order)
    template = "fix.tracked_in_repo" if len(versions) == 1 else "fix.tracked_in_lines"
    return Fact(template, (("repo", document.repo), ("version", ", ".join(versions))))


def _release_order(version: str) -> tuple[tuple[int, int, str], ...]:
    """Versions by their numbers, and what is no number before any: 2.9.0-alpha1, 2.9.0, 2.10.0."""
    parts = re.split(r"[.+_-]", version)
    return (*((1, int(part), "") if part.isdecimal() else (-1, 0, part) for part in parts), (0, 0, ""))


def _closer(document: Document, change: str, title: str | None) -> Fact:
    """The change that closed a report, with what it is called, if that is known and may be passed on."""
    slots = [("pr", change)]
    if title and advice.refusal(title, owners=owners(document)) is None:
        slots.append(("title", title))
    return Fact("fix.closed_by", tuple(slots))


def is_fixed(state: str | None, reason: str | None) -> bool:
    """True if what closed a thread may have fixed it: it was not reopened, nor closed for another reason."""
    return state != "open" and reason not in {"not_planned", "duplicate"}


def closings(document: Document, events: Sequence[Event]) -> Iterator[Claim]:
    """What a merged pull request closed, by GitHub's own rule: a keyword in its description, or the API's word.

    `reduce` puts each to the errors of the report closed, whose id is the claim's key.
    """
    links = [link for link in document.links if link.kind == LinkKind.CLOSES]
    if not links or document.kind != DocumentKind.PULL or not document.is_merged or document.repo is None:
        return
    text = Prose(document, events)
    fact = _closer(document, f"{document.repo}#{document.number}", document.title)
    for link in links:
        span = _keyword(text, link)
        if span is not None:
            claim = claim_at(document, ClaimKind.CLOSING, "fix.closed_by_pull", fact=fact, span=span, about=())
            claim_id = content_id("claim", claim.claim_id, link.target)
            yield replace(claim, claim_id=claim_id, key=link.target)


def _keyword(text: Prose, link: DocLink) -> tuple[int, int] | None:
    """The words that close: the sentence around the reference, the title where the API says so; None in a comment."""
    if link.start is None or link.end is None:
        title = _title(text.document)
        return (title.start, title.end) if title else None
    sentence = text.sentence(link.start)
    if sentence is None:
        return None
    return (sentence.start, sentence.end) if sentence.end - sentence.start <= MAX_QUOTE else (link.start, link.end)


def _title(document: Document) -> Post | None:
    return next((post for post in document.posts if post.kind == PostKind.TITLE and post.end > post.start), None)
