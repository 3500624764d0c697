"""Error pages of OpenXLA's docs: Markdown, devsite HTML or plain text, one record whichever it was.

A page of which a part is missing that every error page has is skipped whole, with what was expected. Its landing dates
come from a companion page of form "xla-history", where the source knows them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from urllib.parse import urljoin, urlsplit

from pipeline.lexicon import catalogues
from pipeline.providers.assemble import Piece, assembled, page_document, utc
from pipeline.providers.openxla import header as xla_header
from pipeline.providers.openxla import markdown as xla_markdown
from pipeline.providers.openxla import plain_text as xla_text
from pipeline.providers.openxla import record as xla_record
from pipeline.providers.openxla import remedies as xla_remedies
from pipeline.providers.openxla.blocks import Builder, Section, anchor_of, sections
from pipeline.providers.saved.thread import page_text
from pipeline.records import DocRecord, DocRemedy, Document, DocumentKind, Post, PostKind, RawPage, Skipped

# loaded where a page is HTML; an installation without it is to say so before the work
if find_spec("bs4") is None:
    raise ModuleNotFoundError("No module named 'bs4'", name="bs4")

_INDEXES = ("/xla/error_codes", "/xla/errors_overview")
_HISTORY = "xla-history"
_MARKDOWN_ENDING = re.compile(r"\.md(?=$|#)")


def read_markdown(pages: Sequence[RawPage]) -> Document | Skipped:
    """The error page that a Markdown source holds."""
    page = _newest([page for page in pages if page.form == pages[0].form], pages)
    built = xla_markdown.blocks(page_text(page), _resolver(_url(page, None)))
    return _document([page, *pages], built)


def read_html(pages: Sequence[RawPage]) -> Document | Skipped:
    """The error page that devsite HTML shows, without the site's own words."""
    from pipeline.providers.openxla import devsite  # noqa: PLC0415  (its parser takes an eighth of a command's start)

    read = devsite.page(page_text(pages[0]), _resolver(_url(pages[0], None)))
    if isinstance(read, str):
        return _changed(pages[0], read)
    if read.language != "en":
        return Skipped("document", pages[0].document_key, "translated_page", read.language)
    return _document(pages, read.content, stated_at=read.updated_on)


def read_text(pages: Sequence[RawPage]) -> Document | Skipped:
    """The error page that was saved as text: what text loses stays lost."""
    return _document(pages, xla_text.blocks(page_text(pages[0])))


def read_catalogue(pages: Sequence[RawPage]) -> Document | Skipped:
    """No document: a row of the list of codes is no page. The reason says whether the code should have one."""
    page = pages[0]
    if page.document_key.endswith("/error/error_codes"):
        return _header(page)
    number = page.document_key[-4:]
    known = catalogues.xla_codes().get(f"E{number}")
    detail = f"{known.name}, documented: {str(known.is_documented).lower()}" if known else "the list of codes"
    return Skipped("document", page.document_key, "catalogue_only", detail)


def _header(page: RawPage) -> Skipped:
    """What the list of codes in XLA's source says otherwise than the shipped catalogue."""
    found = xla_header.rows(page_text(page))
    if not found:
        return _changed(page, "XLA_ERROR_CODE_LIST with rows X(code, name, status)")
    notes = xla_header.drift(found)
    reason = "catalogue_drift" if notes else "catalogue_only"
    return Skipped("document", page.document_key, reason, "; ".join(notes)[:300] or f"{len(found)} codes, as shipped")


def read_history(pages: Sequence[RawPage]) -> Document | Skipped:
    """No document: dates alone."""
    return Skipped("document", pages[0].document_key, "catalogue_only", "landing dates without their page")


# ---------------------------------------------------------------- from blocks to the document


def _document(pages: Sequence[RawPage], built: Builder, *, stated_at: str | None = None) -> Document | Skipped:
    page = pages[0]
    if page.document_key.endswith(_INDEXES):
        return Skipped("document", page.document_key, "not_an_error_page")
    parts = sections(built.blocks)
    heading = parts[0].heading if parts else None
    facts = xla_record.facts(parts)
    if isinstance(facts, str):
        return _changed(page, facts)
    code = xla_record.code(page.document_key, heading.text if heading else "", facts.title)
    if code is None:
        return _changed(page, "a heading 'Error code: E...'")
    found = xla_remedies.remedies(parts)
    if not found and page.form != "xla-text":
        return _changed(page, "a remedy below a heading 'Debugging'")
    url = _url(page, code)
    text, posts, _ = assembled(_pieces(parts, url), page.document_key)
    placed = [_placed(remedy, parts, text, posts) for remedy in found]
    dates = _dates(pages, stated_at)
    record = DocRecord(
        code=code,
        name=catalogues.code_name(code),
        title=facts.title,
        phase=facts.phase,
        category=facts.category,
        backends=facts.backends,
        status_code=facts.status_code,
        summary=facts.summary,
        samples=facts.samples,
        templates=facts.templates,
        scenarios=facts.scenarios,
        remedies=tuple(remedy for remedy in placed if remedy is not None),
        links=tuple(built.links),
        first_seen=dates.first,
        last_updated=dates.last,
        is_lossy=page.form == "xla-text" or None in placed,
    )
    return _with_record(page, record, url=url, text=text, posts=posts)


def _with_record(page: RawPage, record: DocRecord, *, url: str, text: str, posts: tuple[Post, ...]) -> Document:
    return page_document(
        page,
        kind=DocumentKind.DOC,
        url=url,
        title=text[posts[0].start : posts[0].end] if posts[0].kind == PostKind.TITLE else None,
        text=text,
        posts=posts,
        opened_at=_time(record.first_seen),
        updated_at=_time(record.last_updated),
        record=record,
        is_lossy=record.is_lossy,
    )


def _pieces(parts: Sequence[Section], url: str) -> list[Piece]:
    """The title, what stands below it, and each later section, with its own address."""
    first = parts[0]
    title = first.heading.text if first.heading else ""
    pieces = [Piece(PostKind.TITLE, title, url), Piece(PostKind.SECTION, first.text[len(title) :], url)]
    for section in parts[1:]:
        heading = section.heading
        anchor = (heading.anchor or anchor_of(heading.text)) if heading else ""
        pieces.append(Piece(PostKind.SECTION, section.text, f"{url}#{anchor}" if url.startswith("http") else url))
    return pieces


def _placed(found: xla_remedies.Found, parts: Sequence[Section], text: str, posts: Sequence[Post]) -> DocRemedy | None:
    """The remedy with its place in the document; None if its words are not there as they were read."""
    section = parts[found.section]
    start, end = section.spans[found.first][0], section.spans[found.last][1]
    if found.row is not None:
        start, end = start + found.row[0], start + found.row[1]
    words = section.text[start:end]
    post = next((p for p in posts if text.startswith(section.text, p.start)), None)
    at = post.start + start if post else text.find(words)
    if at < 0:
        return None
    return DocRemedy(found.heading, found.title, words, xla_remedies.flags(words), at, at + len(words))


def _changed(page: RawPage, expected: str) -> Skipped:
    return Skipped("document", page.document_key, "source_changed", f"expected {expected}")


# ---------------------------------------------------------------- addresses and dates


def _url(page: RawPage, code: str | None) -> str:
    """The canonical address: the page's own host, else the catalogue's address of its code."""
    if not page.document_key.startswith("page:"):
        return f"https://{page.document_key}"
    official = catalogues.official_url(code) if code else None
    return official or f"urn:sha256:{page.sha256}"


def _resolver(base: str) -> Callable[[str], str | None]:
    """What makes a link absolute; links inside the page and other schemes lead nowhere."""
    own = urlsplit(base)

    def resolve(link: str) -> str | None:
        if not link or link.startswith("#"):
            return None
        try:
            url = urljoin(base if base.startswith("http") else "", link)
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme not in ("http", "https") or not parts.netloc or url.split("#")[0] == base:
            return None
        if parts.netloc == own.netloc:  # the site shows its Markdown files without their ending
            url = _MARKDOWN_ENDING.sub("", url)
        return url

    return resolve


def _newest(versions: Sequence[RawPage], pages: Sequence[RawPage]) -> RawPage:
    """The version that the page's history names as its last, else the one that says it is newest."""
    named = {str(_history_row(page).get("sha256")) for page in pages if page.form == _HISTORY}
    return max(versions, key=lambda page: (page.sha256 in named, page.version_at, page.sha256))


@dataclass(frozen=True, slots=True)
class _Dates:
    first: str | None
    last: str | None


def _dates(pages: Sequence[RawPage], stated_at: str | None) -> _Dates:
    """The page's landing dates from its history; else the day that the page itself states as its last."""
    known = _Dates(None, stated_at)
    for page in pages:
        if page.form == _HISTORY:
            row = _history_row(page)
            first, last = (row.get(name) for name in ("first_seen", "last_updated"))
            known = replace(known, first=_day(first), last=_day(last) or known.last)
    return known


def _history_row(page: RawPage) -> Mapping[str, object]:
    """What a history says about this page: it is of one page, or of a whole repository."""
    try:
        value = json.loads(page.body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    files = value.get("files")
    if not isinstance(files, dict):
        return value
    name = f"/{page.document_key.rsplit('/', 1)[-1]}.md"
    return next((row for path, row in files.items() if path.endswith(name) and isinstance(row, dict)), {})


def _day(value: object) -> str | None:
    """The day, in UTC, of an ISO time."""
    time = utc(value)
    return time.date().isoformat() if time else None


def _time(day: str | None) -> datetime | None:
    return utc(day) if day else None


READERS = {
    "xla-md": read_markdown,
    "xla-html": read_html,
    "xla-text": read_text,
    "xla-catalog": read_catalogue,
    "xla-history": read_history,
}
