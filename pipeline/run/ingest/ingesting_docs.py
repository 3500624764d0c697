"""Official pages into raw: OpenXLA's from their site or their repository, and pages that list the codes of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from pipeline import raw
from pipeline.providers import http
from pipeline.providers.catalogue import fetch as code_pages
from pipeline.providers.catalogue.pages import Catalogue
from pipeline.providers.openxla import fetch as xla
from pipeline.providers.openxla import fetch_github
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceError
from pipeline.run.home.summary import MOST_EXAMPLES, Summary, count
from pipeline.run.ingest.importing import Fetched


def ingest_docs(
    raw_path: Path,
    *,
    via: str,
    index_url: str | None,
    fetched_at: datetime,
    credentials: Mapping[str, Mapping[str, str]],
    delay_seconds: float = http.DELAY_SECONDS,
) -> Fetched:
    """What came of the docs: new pages, unchanged ones, and what could not be had.

    `via` is "html" or "github"; `index_url` is the site's index page or the API's base; `credentials` are headers by
    "scheme://host". A failure in the middle keeps what came before it, and stands in `error`.
    """
    layer = raw.RawLayer(raw_path)
    api = urlsplit(index_url or fetch_github.API_URL)
    session = http.Session(
        delay_seconds=delay_seconds,
        credentials=credentials,
        api_sites=frozenset({f"{api.scheme}://{api.netloc}"} if via == "github" else ()),
    )
    validators = {ref.url: ref.etag for ref in layer.refs() if ref.source == xla.SOURCE and ref.url and ref.etag}
    failed: list[SourceError] = []

    def pages() -> Iterator[RawPage | Skipped]:
        known = xla.Known(validators, fetched_at)
        try:
            yield from xla.pages(session.get, index_url=index_url, via=via, known=known)
        except SourceError as error:  # raised after the last page: what came must reach raw first
            failed.append(error)

    return _kept("docs", layer, pages(), failed)


def ingest_catalogues(
    raw_path: Path,
    catalogues: Sequence[Catalogue],
    *,
    fetched_at: datetime,
    delay_seconds: float = http.DELAY_SECONDS,
) -> Fetched:
    """What came of the pages that list error codes, one after the other.

    One that fails does not keep the others from being read; the first failure stands in `error`.
    """
    layer = raw.RawLayer(raw_path)
    session = http.Session(delay_seconds=delay_seconds)
    refs = [ref for ref in layer.refs() if ref.source == code_pages.SOURCE]  # the newest of a key comes last
    known = code_pages.Known(
        validators={ref.url: ref.etag for ref in sorted(refs, key=lambda ref: ref.version_at) if ref.url and ref.etag},
        contents={ref.document_key: ref.sha256 for ref in refs},
        fetched_at=fetched_at,
    )
    failed: list[SourceError] = []

    def pages() -> Iterator[RawPage | Skipped]:
        for catalogue in catalogues:
            try:
                yield from code_pages.pages(session.get, catalogue, known=known)
            except SourceError as error:
                failed.append(error)

    try:
        return _kept("catalogues", layer, pages(), failed)
    finally:
        session.close()


def _kept(
    stage_name: str, layer: raw.RawLayer, pages: Iterator[RawPage | Skipped], failed: Sequence[SourceError]
) -> Fetched:
    """What became of the pages; `failed` is filled while they come."""
    done = layer.append(pages)
    given = done.new + done.known
    stage = count(stage_name, taken=given + len(done.skipped), given=given, lost=done.skipped)
    summary = Summary([stage], done.skipped[:MOST_EXAMPLES], {"new_pages": done.new, "known_pages": done.known})
    return Fetched(summary, failed[0] if failed else None)
