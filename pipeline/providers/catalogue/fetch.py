"""Pages that list error codes, live: jax.errors, CUDA's enumerations, NCCL's results, PyTorch's graph breaks, others.

One page is fetched as it is and kept whole; each code on it becomes a document that shares the page's bytes. A page
that is not built as its parser expects is kept in raw all the same, and ends the run with :class:`SourceChanged`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pipeline.providers.catalogue import CatalogueSource
from pipeline.providers.catalogue import pages as catalogue_pages
from pipeline.providers.catalogue.pages import Catalogue, Row
from pipeline.providers.http import DELAY_SECONDS, Get, Response, Session, page_if_new
from pipeline.providers.provider import Job, Raw, kept
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceChanged, SourceError
from pipeline.records.summary import Fetched

SOURCE = "docs"
# A catalogue grows; CUDA's lost none of 245 in a year. A page with fewer than this share of the codes that it had is
# built otherwise, or is another page.
LEAST_KEPT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Known:
    """What the raw layer knows of a page already."""

    validators: Mapping[str, str] = field(default_factory=dict)  # ETag or date by URL
    contents: Mapping[str, str] = field(default_factory=dict)  # sha256 by document key
    fetched_at: datetime | None = None  # the time of this run


def bring(job: Job) -> Fetched:
    """What came of the pages that the sections name.

    Raises:
        ConfigError: a catalogue is unknown, or not whole.
    """
    sections = [section for section in job.sections if isinstance(section, CatalogueSource)]
    wanted = [catalogue_pages.wanted(one.name, **one.model_dump(exclude={"name"})) for one in sections]
    return ingest(job.raw, wanted, fetched_at=job.fetched_at)


def ingest(
    raw: Raw, catalogues: Sequence[Catalogue], *, fetched_at: datetime, delay_seconds: float = DELAY_SECONDS
) -> Fetched:
    """What came of the pages that list error codes, one after the other.

    One that fails does not keep the others from being read; the first failure stands in `error`.
    """
    session = Session(delay_seconds=delay_seconds)
    refs = [ref for ref in raw.refs() if ref.source == SOURCE]  # the newest of a key comes last
    known = Known(
        validators={ref.url: ref.etag for ref in sorted(refs, key=lambda ref: ref.version_at) if ref.url and ref.etag},
        contents={ref.document_key: ref.sha256 for ref in refs},
        fetched_at=fetched_at,
    )
    failed: list[SourceError] = []

    def every() -> Iterator[RawPage | Skipped]:
        for catalogue in catalogues:
            try:
                yield from pages(session.get, catalogue, known=known)
            except SourceError as error:
                failed.append(error)

    try:
        return kept("catalogues", raw, every(), failed)
    finally:
        session.close()


def pages(get: Get, catalogue: Catalogue, *, known: Known = Known()) -> Iterator[RawPage | Skipped]:
    """The catalogue's page and each code on it if the page is new; a `Skipped` if it is not or may not be had.

    Codes that the page listed once and lists no longer are `Skipped` too: what raw has of them stays.

    Raises:
        SourceChanged: the address gives no page, or one that is not built as expected; a page is yielded before.
    """
    url = catalogue.url
    before = _codes_before(catalogue, known)
    validator = known.validators.get(url) if before else None  # a page that gave nothing is asked for again
    response = page_if_new(get, url, validator=validator, is_right=lambda found: _is_right(found, catalogue))
    if isinstance(response, Skipped):
        yield response
        return
    _check(response, catalogue)
    sha256 = hashlib.sha256(response.body).hexdigest()
    if before and known.contents.get(catalogue_pages.key_of(url)) == sha256:
        yield Skipped("ingest", url, "unchanged_page")
        return
    yield _raw(catalogue, response, sha256, known.fetched_at)
    rows = _rows(catalogue, response, known=len(before))
    for row in rows:
        code = f"{catalogue.family}:{row.name}"
        yield _raw(catalogue, response, sha256, known.fetched_at, code=code)
    for code in sorted(before - {f"{catalogue.family}:{row.name}" for row in rows}):
        yield Skipped("ingest", catalogue_pages.key_of(url, code), "unlisted_code")


def _codes_before(catalogue: Catalogue, known: Known) -> frozenset[str]:
    """The codes of the page that raw holds."""
    page = catalogue_pages.key_of(catalogue.url)
    keys = (key for key in known.contents if key.startswith(f"{page}#"))
    return frozenset(code for key in keys if (code := catalogue_pages.code_of_key(key)))


def _is_right(response: Response, catalogue: Catalogue) -> bool:
    """False where another try may give what was expected."""
    if response.status != 200:
        return True
    is_page = response.content_type == catalogue_pages.PARSERS[catalogue.parser].content_type
    return is_page and not isinstance(catalogue_pages.selected(catalogue, response.body), str)


def _check(response: Response, catalogue: Catalogue) -> None:
    expected = catalogue_pages.PARSERS[catalogue.parser].content_type
    if response.status != 200 or response.content_type != expected:
        kind = response.content_type or "no type"
        message = f"{catalogue.name}: expected {expected} from {catalogue.url}, got {response.status}, {kind}"
        raise SourceChanged(message, url=catalogue.url)


def _rows(catalogue: Catalogue, response: Response, *, known: int) -> tuple[Row, ...]:
    found = catalogue_pages.selected(catalogue, response.body)
    if isinstance(found, str):
        raise SourceChanged(f"{catalogue.name}: expected {found} on {catalogue.url}", url=catalogue.url)
    if len(found) < LEAST_KEPT_SHARE * known:
        message = f"{catalogue.name}: expected about {known} codes on {catalogue.url}, found {len(found)}"
        raise SourceChanged(message, url=catalogue.url)
    return found


def _raw(
    catalogue: Catalogue, response: Response, sha256: str, fetched_at: datetime | None, *, code: str = ""
) -> RawPage:
    """The page as raw keeps it, under its own key or that of one of its codes.

    Such pages do not say how new they are: the time of the run that first saw these bytes is their version.
    """
    return RawPage(
        sha256=sha256,
        source=SOURCE,
        url=catalogue.url,
        form=f"{catalogue_pages.FORM_PREFIX}{catalogue.parser}",
        document_key=catalogue_pages.key_of(catalogue.url, code),
        part="page",
        version_at=fetched_at.isoformat(timespec="seconds") if fetched_at else "",
        fetched_at=fetched_at,
        etag=response.headers.get("etag") or response.headers.get("last-modified"),
        body=response.body,
    )
