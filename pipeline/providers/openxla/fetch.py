"""OpenXLA's error pages, live: from the docs site as HTML, or from its repository as Markdown with commits and dates.

The index page names the pages; nothing is guessed. What is not built as expected is kept in raw all the same and ends
the run with :class:`SourceChanged` after everything else has been fetched.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup
from bs4.element import Tag

from pipeline.lexicon import catalogues
from pipeline.providers.http import DELAY_SECONDS, TRIES, Get, Response, Session, page_if_new
from pipeline.providers.openxla import DocsSource, fetch_github, recognise
from pipeline.providers.provider import Job, Raw, kept
from pipeline.records import RawPage, Skipped
from pipeline.records.errors import SourceChanged, SourceError, SourceUnreachable
from pipeline.records.summary import Fetched
from pipeline.text import markup

SOURCE = "xla"
INDEX_URL = "https://openxla.org/xla/error_codes"
# Pages of one run that could not be had: the site is down, not the page.
MOST_UNREACHABLE = 3
_PAGE_URL = re.compile(r"(https?://[^/?#]+/[^?#]*errors/error_(\d{4}))(?:\.md|\.html)?/?(?:[?#].*)?")
_HEADING_CODE = re.compile(r"Error code:\s{0,3}E?(\d{4})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Known:
    """What the raw layer knows already: `validators` by URL, each the ETag or date that its page came with."""

    validators: Mapping[str, str] = field(default_factory=dict)
    fetched_at: datetime | None = None  # the time of this run


def bring(job: Job) -> Fetched:
    """What came of the pages that the section names; with the environment's token where GitHub is asked."""
    section = next((one for one in job.sections if isinstance(one, DocsSource)), DocsSource())
    token, api_url = job.environ.get("GITHUB_TOKEN"), job.environ.get("GITHUB_API_URL") or fetch_github.API_URL
    api, is_api = urlsplit(api_url), section.via == "github"
    credentials: Mapping[str, Mapping[str, str]] = {}
    if token and is_api:
        credentials = {f"{api.scheme}://{api.netloc}": {"Authorization": f"Bearer {token}"}}
    return ingest(
        job.raw,
        via=section.via,
        index_url=section.index_url or (api_url if is_api else None),
        fetched_at=job.fetched_at,
        credentials=credentials,
    )


def ingest(
    raw: Raw,
    *,
    via: str,
    index_url: str | None,
    fetched_at: datetime,
    credentials: Mapping[str, Mapping[str, str]],
    delay_seconds: float = DELAY_SECONDS,
) -> Fetched:
    """What came of the docs: new pages, unchanged ones, and what could not be had.

    `via` is "html" or "github"; `index_url` is the site's index page or the API's base; `credentials` are headers by
    "scheme://host". A failure in the middle keeps what came before it, and stands in `error`.
    """
    api = urlsplit(index_url or fetch_github.API_URL)
    session = Session(
        delay_seconds=delay_seconds,
        credentials=credentials,
        api_sites=frozenset({f"{api.scheme}://{api.netloc}"} if via == "github" else ()),
    )
    validators = {ref.url: ref.etag for ref in raw.refs() if ref.source == SOURCE and ref.url and ref.etag}
    failed: list[SourceError] = []

    def every() -> Iterator[RawPage | Skipped]:
        try:
            yield from pages(session.get, index_url=index_url, via=via, known=Known(validators, fetched_at))
        except SourceError as error:  # raised after the last page: what came must reach raw first
            failed.append(error)

    return kept("docs", raw, every(), failed)


def pages(
    get: Get, *, index_url: str | None = None, via: str = "html", known: Known = Known()
) -> Iterator[RawPage | Skipped]:
    """Every page of the catalogue that is new, and a `Skipped` for each one that is not or cannot be had.

    `via` is "html" (`index_url` is the docs site's index page) or "github" (it is the API's base); without `index_url`
    the public ones are asked.

    Raises:
        SourceChanged: after the last page, if the index or a page is not built as expected.
        SourceUnreachable: after the last page, if one could not be had; at once if several could not.
    """
    if via == "github":
        api_url = index_url or fetch_github.API_URL
        yield from fetch_github.pages(get, api_url=api_url, validators=known.validators, fetched_at=known.fetched_at)
        return
    index, urls = _listed(get, index_url or INDEX_URL)
    yield _raw(index, known.fetched_at)
    changed: list[str] = []
    away: list[SourceUnreachable] = []
    for url in urls:
        try:
            yield from _page(get, url, known, changed)
        except SourceChanged as error:
            changed.append(f"{url}: {error}")
        except SourceUnreachable as error:
            away.append(error)
            if len(away) >= MOST_UNREACHABLE:
                raise
    if away:
        raise away[0]
    if changed:
        first = changed[0].split(": ", 1)[0]
        raise SourceChanged(f"{len(changed)} page(s) changed: {'; '.join(changed)[:1000]}", url=first)


# ---------------------------------------------------------------- the index


def _listed(get: Get, index_url: str) -> tuple[Response, list[str]]:
    """The index page, and the error pages that it links to, on its own site, sorted."""
    for _ in range(TRIES - 1):
        try:
            index = _index(get, index_url)
            return index, _linked(index)
        except SourceChanged:
            pass  # a proxy's page, or half of one: the next may be right
    index = _index(get, index_url)
    return index, _linked(index)


def _index(get: Get, index_url: str) -> Response:
    response = get(f"{index_url}?hl=en")
    if response.status != 200 or response.content_type != "text/html":
        kind = response.content_type or "no type"
        raise SourceChanged(f"expected an HTML index page, got {response.status}, {kind}", url=response.url)
    language = _language(_soup(response))
    if language != "en":
        raise SourceChanged(f"expected the English index page, got {language!r}", url=response.url)
    return response


def _linked(index: Response) -> list[str]:
    soup = _soup(index)
    body = soup.find("div", class_="devsite-article-body")
    found: set[str] = set()
    for link in body.find_all("a", href=True) if isinstance(body, Tag) else ():
        match = _PAGE_URL.fullmatch(urljoin(index.url, str(link["href"])))
        if match and urlsplit(match[1]).netloc == urlsplit(index.url).netloc:
            found.add(match[1])
    if not found:
        raise SourceChanged("expected links to error pages in div.devsite-article-body", url=index.url)
    return sorted(found)


def _soup(response: Response) -> BeautifulSoup:
    """The page's tree. Tags that are begun and not ended make the parser slow beyond all patience."""
    soup = markup.soup(response.body.decode("utf-8-sig", "replace"))
    if soup is None:
        raise SourceChanged("expected markup that closes its tags", url=response.url)
    return soup


# ---------------------------------------------------------------- one page


def _page(get: Get, url: str, known: Known, changed: list[str]) -> Iterator[RawPage | Skipped]:
    validator = known.validators.get(url)
    response = page_if_new(get, url, asked=f"{url}?hl=en", validator=validator, is_right=lambda it: _is_right(it, url))
    if isinstance(response, Skipped):
        yield response
        return
    if response.status != 200:
        yield Skipped("ingest", url, "missing_page", f"status {response.status}")
        return
    if response.content_type != "text/html":
        raise SourceChanged(f"expected text/html, got {response.content_type or 'no type'}", url=url)
    soup = _soup(response)
    language = _language(soup)
    if language != "en":
        yield Skipped("ingest", url, "translated_page", language)
        return
    yield _raw(response, known.fetched_at)
    expected = _missing(soup, url)
    if expected:
        changed.append(f"{url}: expected {expected}")


def _is_right(response: Response, url: str) -> bool:
    """False where another try may give what was expected."""
    if response.status != 200:
        return True
    soup = markup.soup(response.body.decode("utf-8-sig", "replace")) if response.content_type == "text/html" else None
    return soup is not None and (_language(soup) != "en" or _missing(soup, url) is None)


def _language(soup: BeautifulSoup) -> str:
    """The language that a page was served in; a translation by machine is "translated"."""
    if soup.find(class_="devsite-banner-translated") is not None:
        return "translated"
    root = soup.find("html")
    stated = str(root.get("lang") or "en") if isinstance(root, Tag) else "en"
    return stated.lower().split("-")[0]


def _missing(soup: BeautifulSoup, url: str) -> str | None:
    """What an error page has and this one lacks; None if all is there."""
    title = soup.select_one("article.devsite-article h1.devsite-page-title")
    body = soup.select_one("article.devsite-article div.devsite-article-body")
    if title is None or body is None:
        return "article.devsite-article with h1.devsite-page-title and div.devsite-article-body"
    heading = _HEADING_CODE.search(title.get_text())
    number = f"E{url[-4:]}"
    if heading is None or _today(f"E{heading[1]}") != _today(number):
        return f"the heading 'Error code: {number}'"
    has_category = any(strong.get_text().strip().lower() == "category:" for strong in body.find_all("strong"))
    if not has_category or body.find("pre") is None:
        return "the label 'Category:' and a sample message"
    return None


def _today(number: str) -> str:
    """Today's number of a code that may have been renumbered."""
    return catalogues.xla_aliases().get(number, number)


def _raw(response: Response, fetched_at: datetime | None) -> RawPage:
    """The page as raw keeps it: under its canonical address, if that is an address of this very page."""
    sha256 = hashlib.sha256(response.body).hexdigest()
    url = response.url.split("?")[0]
    key = url.split("://", 1)[1]
    version = ""
    place = recognise.html_page(response.body.decode("utf-8-sig", "replace").lstrip(), sha256)
    if place is not None:
        version = place.version_at
        if place.url and place.document_key.rsplit("/", 1)[-1] == key.rsplit("/", 1)[-1]:
            key, url = place.document_key, place.url
    headers = response.headers
    return RawPage(
        sha256=sha256,
        source=SOURCE,
        url=url,
        form="xla-html",
        document_key=key,
        part="page:html",
        version_at=version,
        fetched_at=fetched_at,
        etag=headers.get("etag") or headers.get("last-modified"),
        body=response.body,
    )
