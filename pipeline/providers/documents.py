"""Documents from raw pages: the reader of their form makes them, each provider's own, all giving the same record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.providers import PROVIDERS, tombstone
from pipeline.providers.provider import Reader
from pipeline.records import Document, RawPage, Skipped

#: Form -> reader; of several pages of one document the first form here is read.
READERS: Mapping[str, Reader] = {form: reader for row in PROVIDERS for form, reader in row.readers.items()}

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
