"""Documents from raw pages: one reader a form, all giving the same record.

To add a form: write a reader in a module of its own and name it in `READERS`. A reader gets the current pages of one
document, of its own form and of others, and gives back the document, or why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pipeline.providers import tombstone
from pipeline.providers.catalogue import pages as catalogue_pages
from pipeline.providers.catalogue import read as code_page
from pipeline.providers.entry import read as foreign_entry
from pipeline.providers.github import read as github
from pipeline.providers.openxla import read as xla
from pipeline.providers.saved import html_page, markdown_page, text_page
from pipeline.records import Document, RawPage, Skipped

Reader = Callable[[Sequence[RawPage]], Document | Skipped]

#: Form -> reader, the form that loses least first: of several pages of one document the first form here is read.
READERS: Mapping[str, Reader] = {
    **dict.fromkeys(github.FORMS, github.read),
    "issue-markdown": markdown_page.read,
    "github-html": html_page.read,
    "github-text": text_page.read_thread,
    "plain-text": text_page.read_plain,
    "entry": foreign_entry.read,
    "xla-md": xla.read_markdown,
    "xla-html": xla.read_html,
    "xla-text": xla.read_text,
    "xla-catalog": xla.read_catalogue,
    "xla-history": xla.read_history,
    **dict.fromkeys((f"{catalogue_pages.FORM_PREFIX}{name}" for name in catalogue_pages.PARSERS), code_page.read),
}

_RANK = {form: rank for rank, form in enumerate(READERS)}


def document(pages: Sequence[RawPage]) -> Document | Skipped:
    """The document that `pages` make: the current pages of one document key, in any order."""
    there = tombstone.living(pages)
    if isinstance(there, Skipped):
        return there
    ordered = sorted(there, key=lambda page: (_RANK.get(page.form, len(_RANK)), page.part, page.sha256))
    first = ordered[0]
    reader = READERS.get(first.form)
    if reader is None:
        return Skipped("document", first.document_key, "no_reader", first.form)
    return reader(ordered)
