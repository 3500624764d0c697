"""One error code as the official page that lists it describes it: name, address, meaning."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.lexicon import catalogues
from pipeline.providers.assemble import Piece, assembled, page_document, safe
from pipeline.providers.catalogue import pages as catalogue_pages
from pipeline.providers.catalogue.pages import Row
from pipeline.records import DocRecord, Document, DocumentKind, PostKind, RawPage, Skipped


def read(pages: Sequence[RawPage]) -> Document | Skipped:
    """The document of one code; none for the page as a whole, nor for a code of which it says nothing."""
    page = pages[0]
    found = catalogue_pages.rows(page.form.removeprefix(catalogue_pages.FORM_PREFIX), page.body)
    if isinstance(found, str):
        return Skipped("document", page.document_key, "source_changed", f"expected {found}")
    code = catalogue_pages.code_of_key(page.document_key)
    if not code:
        return Skipped("document", page.document_key, "not_an_error_page", f"{len(found)} names")
    row = next((row for row in found if row.name == code.partition(":")[2]), None)
    if row is None:
        return Skipped("document", page.document_key, "source_changed", "expected the code among the page's names")
    return _document(page, code, row) if row.description else Skipped("document", page.document_key, "no_text", code)


def _document(page: RawPage, code: str, row: Row) -> Document | Skipped:
    url = _url(page, code, row)
    title = f"{row.name}: {row.title}" if row.title else row.name
    text, posts, hidden = assembled(
        [Piece(PostKind.TITLE, title, url), Piece(PostKind.SECTION, row.description, url)], page.document_key
    )
    summary = text[posts[-1].start : posts[-1].end]
    record = DocRecord(
        code=code,
        name=catalogues.code_name(code) or row.name,
        title=safe(title),
        phase=None,
        category=None,
        backends=(),
        status_code=None,
        summary=summary,
        samples=(),
        templates=(),
        scenarios=(),
        remedies=(),
        links=(),
        first_seen=None,
        last_updated=None,
        is_lossy=False,
    )
    return page_document(
        page,
        kind=DocumentKind.DOC,
        url=url,
        title=safe(title),
        text=text,
        posts=posts,
        hidden_count=hidden,
        record=record,
    )


def _url(page: RawPage, code: str, row: Row) -> str:
    """The place of the code on its page; where it has none there, the catalogue's address of the code."""
    own = page.url or f"https://{page.document_key.partition('#')[0]}"
    return f"{own}#{row.anchor}" if row.anchor else catalogues.official_url(code) or own


READERS = dict.fromkeys((f"{catalogue_pages.FORM_PREFIX}{name}" for name in catalogue_pages.PARSERS), read)
