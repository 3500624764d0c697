"""Documents from raw pages: the reader of their form makes them, each provider's own, all giving the same record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.providers import PROVIDERS, tombstone
from pipeline.providers.provider import Provider
from pipeline.records import Document, RawPage, Skipped

#: Form -> provider; of several pages of one document the first form here is read.
FORMS: Mapping[str, Provider] = {form: row for row in PROVIDERS for form in row.forms}

_RANK = {form: rank for rank, form in enumerate(FORMS)}


def document(pages: Sequence[RawPage]) -> Document | Skipped:
    """The document that `pages` make: the current pages of one document key, in any order."""
    there = tombstone.living(pages)
    if isinstance(there, Skipped):
        return there
    ordered = sorted(there, key=lambda page: (_RANK.get(page.form, len(_RANK)), page.part, page.sha256))
    first = ordered[0]
    provider = FORMS.get(first.form)
    if provider is None:
        return Skipped("document", first.document_key, "no_reader", first.form)
    return provider.reader(first.form)(ordered)
