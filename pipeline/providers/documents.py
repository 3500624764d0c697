"""Documents from raw pages: the reader of their form makes them, each provider's own, all giving the same record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pipeline.lexicon import repositories
from pipeline.providers import PROVIDERS
from pipeline.providers.provider import Provider
from pipeline.records import Document, RawPage, Skipped

# What a source said last about a document that is away: transferred, deleted, or out of sight.
#
# Its evidence is withdrawn, not forgotten: raw keeps the pages, the document becomes a `Skipped` with the reason, and
# the entries that stood on it lose it at the next build. A later page may say that it has returned.

FORM = "github-tombstone"


def living(pages: Sequence[RawPage]) -> Sequence[RawPage] | Skipped:
    """The pages without tombstones, or why the document is not there any more."""
    tombstone = next((page for page in pages if page.form == FORM), None)
    if tombstone is None:
        return pages
    try:
        value = json.loads(tombstone.body)
    except (ValueError, RecursionError):
        return Skipped("document", tombstone.document_key, "unreadable_page", "tombstone")
    state = value.get("state") if isinstance(value, dict) else None
    if state == "transferred" and repositories.current_key(str(value.get("to"))) == tombstone.document_key:
        state = "returned"  # to the name under which it stands here
    if state == "returned":
        return [page for page in pages if page.form != FORM] or _gone(tombstone, "returned without a page")
    if state == "transferred":
        return Skipped("document", tombstone.document_key, "transferred", f"to {value.get('to')}"[:300])
    return _gone(tombstone, str(state))


def _gone(tombstone: RawPage, detail: str) -> Skipped:
    return Skipped("document", tombstone.document_key, "withdrawn", detail[:300])


# Documents from raw pages: the reader of their form makes them, each provider's own, all giving the same record.

#: Form -> provider; of several pages of one document the first form here is read.
FORMS: Mapping[str, Provider] = {form: row for row in PROVIDERS for form in row.forms}

_RANK = {form: rank for rank, form in enumerate(FORMS)}


def document(pages: Sequence[RawPage]) -> Document | Skipped:
    """The document that `pages` make: the current pages of one document key, in any order."""
    there = living(pages)
    if isinstance(there, Skipped):
        return there
    ordered = sorted(there, key=lambda page: (_RANK.get(page.form, len(_RANK)), page.part, page.sha256))
    first = ordered[0]
    provider = FORMS.get(first.form)
    if provider is None:
        return Skipped("document", first.document_key, "no_reader", first.form)
    return provider.reader(first.form)(ordered)
