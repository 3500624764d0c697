"""The docs source against a real server on a real socket: index, pages, robots.txt, conditions, what goes wrong."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.providers import documents, http
from pipeline.providers.openxla import fetch as xla
from pipeline.providers.openxla import fetch_github
from pipeline.records import Document, RawPage, Skipped
from pipeline.records.errors import SourceChanged, SourceError, SourceUnreachable
from pipeline.transport import AGENT

SAMPLE = Path(__file__).parents[1] / "raw" / "sample" / "docs"
MARKDOWN = Path(__file__).parent / "cases" / "xla" / "layout_b_markdown" / "input.md"
HEADER = Path(__file__).parent / "cases" / "xla" / "header_h" / "input.h"
HTML = "text/html; charset=utf-8"
INDEX = """<!doctype html><html lang="en"><head></head><body>
<nav class="devsite-book-nav"><a href="/xla/errors/error_3001">not from the menu</a></nav>
<article class="devsite-article"><h1 class="devsite-page-title">Codes</h1><div class="devsite-article-body"><ul>
<li><a href="./errors/error_1001">E1001</a></li><li><a href="./errors/error_1000.md">E1000</a></li>
<li><a href="/xla/errors/error_1001?hl=en#debugging">again</a></li>
<li><a href="https://elsewhere.example/xla/errors/error_0100">another site</a></li>
<li><a href="/xla/guide">a guide</a></li>
</ul></div></article></body></html>"""


NOTHING = xla.Known()


@pytest.fixture
def session() -> Iterator[http.Session]:
    session = http.Session(delay_seconds=0.0)
    yield session
    session.close()


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    """A small docs site: an index and the sample's two pages."""
    httpserver.expect_request("/robots.txt").respond_with_data("Not here", status=404)
    httpserver.expect_request("/xla/error_codes", query_string={"hl": "en"}).respond_with_data(INDEX, content_type=HTML)
    return httpserver


def serve(server: HTTPServer, number: str, answer: Callable[[Request], Response] | None = None) -> None:
    """Serve a page of the sample, or what `answer` makes."""
    body = (SAMPLE / f"error_{number}.html").read_bytes()

    def plain(request: Request) -> Response:
        return Response(body, content_type=HTML, headers={"ETag": f'"tag-{number}"'})

    expected = server.expect_request(f"/xla/errors/error_{number}", query_string={"hl": "en"})
    expected.respond_with_handler(answer or plain)


def collected(
    server: HTTPServer, session: http.Session, known: xla.Known = NOTHING
) -> tuple[list[RawPage], list[Skipped], SourceError | None]:
    """All pages, all that was skipped, and the error that ended it."""
    found: list[RawPage | Skipped] = []
    error = None
    try:
        found.extend(xla.pages(session.get, index_url=server.url_for("/xla/error_codes"), known=known))
    except SourceError as raised:
        error = raised
    skipped = [item for item in found if isinstance(item, Skipped)]
    return [item for item in found if isinstance(item, RawPage)], skipped, error


def test_the_index_gives_the_list_and_each_page_comes_under_its_canonical_address(
    site: HTTPServer, session: http.Session
) -> None:
    serve(site, "1001")
    serve(site, "1000")
    pages, skipped, error = collected(site, session)
    host = "docs.errmine-fixtures.example/xla/errors"
    assert [page.document_key for page in pages[1:]] == [f"{host}/error_1000", f"{host}/error_1001"]
    assert (skipped, error) == ([], None)
    last = pages[-1]
    assert (last.form, last.part, last.source, last.version_at, last.etag) == (
        "xla-html",
        "page:html",
        "xla",
        "2026-04-20",
        '"tag-1001"',
    )
    assert last.url == f"https://{host}/error_1001"
    assert last.sha256 == hashlib.sha256(last.body).hexdigest()
    assert isinstance(documents.document([last]), Document)
    agents = {request.headers["User-Agent"] for request, _ in site.log}
    assert agents == {AGENT}


def test_a_page_that_did_not_change_is_asked_for_with_its_validator_and_not_kept_again(
    site: HTTPServer, session: http.Session
) -> None:
    seen: list[str | None] = []

    def unchanged(request: Request) -> Response:
        seen.append(request.headers.get("If-None-Match") or request.headers.get("If-Modified-Since"))
        return Response(status=304)

    serve(site, "1001", unchanged)
    serve(site, "1000", unchanged)
    day = "Sat, 18 Apr 2026 00:00:00 GMT"
    url = site.url_for("/xla/errors/error_")
    pages, skipped, error = collected(site, session, xla.Known({f"{url}1001": '"tag-1001"', f"{url}1000": day}))
    assert len(pages) == 1
    assert error is None
    assert [item.reason for item in skipped] == ["unchanged_page"] * 2
    assert seen == [day, '"tag-1001"']


def test_robots_txt_is_asked_once_and_obeyed(httpserver: HTTPServer, session: http.Session) -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: errmine\nAllow: /xla/\nDisallow: /xla/errors/*_1000\n"
    httpserver.expect_ordered_request("/robots.txt").respond_with_data(rules)
    httpserver.expect_request("/xla/error_codes").respond_with_data(INDEX, content_type=HTML)
    serve(httpserver, "1001")
    pages, skipped, error = collected(httpserver, session)
    assert [page.document_key[-4:] for page in pages[1:]] == ["1001"]
    assert [(item.item_id[-4:], item.reason) for item in skipped] == [("1000", "robots_disallowed")]
    assert error is None
    assert [request.path for request, _ in httpserver.log].count("/robots.txt") == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("devsite-page-title", "new-title"), "h1.devsite-page-title"),
        (("Error code: E1001", "Error code: E1000"), "Error code: E1001"),
        (("Category:", "Kind:"), "Category:"),
        (("<pre", "<div"), "sample message"),
    ],
)
def test_a_page_of_another_structure_is_kept_and_reported_after_the_others(
    site: HTTPServer, session: http.Session, change: tuple[str, str], expected: str
) -> None:
    body = (SAMPLE / "error_1001.html").read_text("utf-8").replace(*change)
    serve(site, "1000")
    serve(site, "1001", lambda _: Response(body, content_type=HTML))
    pages, _, error = collected(site, session)
    assert [page.document_key[-4:] for page in pages[1:]] == ["1000", "1001"]
    assert isinstance(error, SourceChanged)
    assert expected in str(error)
    assert error.url.endswith("/xla/errors/error_1001")


def test_a_page_that_is_wrong_once_is_asked_for_again_and_one_that_fails_costs_itself_only(
    site: HTTPServer, session: http.Session
) -> None:
    wrong = iter(
        [Response("<html>Unicorn!</html>", content_type=HTML), Response("{}", content_type="application/json")]
    )
    body = (SAMPLE / "error_1001.html").read_bytes()
    serve(site, "1001", lambda _request: next(wrong, Response(body, content_type=HTML)))
    serve(site, "1000", lambda _request: Response(status=502))
    pages, _, error = collected(site, session)
    assert [page.url.rpartition("/")[2] for page in pages if page.url] == ["error_codes", "error_1001"]
    assert isinstance(error, SourceUnreachable)
    assert error.url.startswith(site.url_for("/xla/errors/error_1000"))


def test_an_index_that_is_wrong_once_is_asked_for_again(httpserver: HTTPServer, session: http.Session) -> None:
    httpserver.expect_request("/robots.txt").respond_with_data("Not here", status=404)
    httpserver.expect_oneshot_request("/xla/error_codes").respond_with_data("<html>Unicorn!</html>", content_type=HTML)
    httpserver.expect_oneshot_request("/xla/error_codes").respond_with_data("{}", content_type="application/json")
    httpserver.expect_request("/xla/error_codes").respond_with_data(INDEX, content_type=HTML)
    serve(httpserver, "1001")
    serve(httpserver, "1000")
    pages, _, error = collected(httpserver, session)
    assert (len(pages), error) == (3, None)


def test_a_canonical_address_of_another_page_is_not_believed(site: HTTPServer, session: http.Session) -> None:
    body = (SAMPLE / "error_1001.html").read_text("utf-8").replace("errors/error_1001", "errors/error_0100")
    serve(site, "1000")
    serve(site, "1001", lambda _: Response(body, content_type=HTML))
    pages, _, _ = collected(site, session)
    assert pages[-1].document_key == f"{site.host}:{site.port}/xla/errors/error_1001"


def test_translations_are_refused_and_missing_pages_told(site: HTTPServer, session: http.Session) -> None:
    body = (SAMPLE / "error_1000.html").read_text("utf-8").replace('lang="en"', 'lang="zh-cn"')
    serve(site, "1000", lambda _: Response(body, content_type=HTML))
    serve(site, "1001", lambda _: Response("gone", status=404))
    pages, skipped, error = collected(site, session)
    assert len(pages) == 1
    assert [item.reason for item in skipped] == ["translated_page", "missing_page"]
    assert error is None


def test_an_answer_of_another_type_is_an_error_with_its_address(site: HTTPServer, session: http.Session) -> None:
    serve(site, "1000", lambda _: Response("{}", content_type="application/json"))
    serve(site, "1001")
    pages, _, error = collected(site, session)
    assert [page.document_key[-4:] for page in pages[1:]] == ["1001"]
    assert "expected text/html, got application/json" in str(error)


@pytest.mark.parametrize(
    ("index", "content_type", "expected"),
    [
        ("<html lang=en><div class=devsite-article-body></div></html>", HTML, "links to error pages"),
        (INDEX.replace('lang="en"', 'lang="fr"'), HTML, "English index"),
        ("{}", "application/json", "HTML index page"),
        ("<a " * 2_000, HTML, "closes its tags"),
    ],
)
def test_an_index_that_cannot_be_read_stops_the_run(
    httpserver: HTTPServer, session: http.Session, index: str, content_type: str, expected: str
) -> None:
    httpserver.expect_request("/robots.txt").respond_with_data("", status=404)
    httpserver.expect_request("/xla/error_codes").respond_with_data(index, content_type=content_type)
    _, _, error = collected(httpserver, session)
    assert isinstance(error, SourceChanged)
    assert expected in str(error)


# ---------------------------------------------------------------- the repository


def github(server: HTTPServer, *, size_off_by: int = 0) -> None:
    """GitHub's contents API for one page and the list of codes."""
    base = "/repos/openxla/xla"
    server.expect_request("/robots.txt").respond_with_data("", status=404)
    listing = [
        {"name": name, "path": f"docs/errors/{name}", "type": "file"}
        for name in ("error_3000.md", "OWNERS", "_toc.yaml")
    ]
    server.expect_request(f"{base}/contents/docs/errors").respond_with_json(listing)
    for path, file in (("docs/errors/error_3000.md", MARKDOWN), ("xla/error/error_codes.h", HEADER)):
        body = file.read_bytes()
        answer = {
            "path": path,
            "sha": hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest(),
            "size": len(body) + size_off_by,
            "encoding": "base64",
            "content": base64.encodebytes(body).decode(),
            "html_url": f"https://github.com/openxla/xla/blob/main/{path}",
        }
        server.expect_request(f"{base}/contents/{path}").respond_with_json(answer)
        dates = ("2026-03-12T03:00:00Z", "2026-02-01T00:00:00Z"), ("2026-01-05T20:00:00Z",)
        for number, part in enumerate(dates):
            commits = [{"sha": str(number) * 40, "commit": {"committer": {"date": date, "name": "x"}}} for date in part]
            query = {"path": path, "per_page": "100"} | ({"page": "2"} if number else {})
            after = server.url_for(f"{base}/commits?path={path}&per_page=100&page=2")
            link = {} if number else {"Link": f'<{after}>; rel="next"'}
            server.expect_request(f"{base}/commits", query_string=query).respond_with_json(commits, headers=link)


def test_the_repository_gives_markdown_with_its_landing_dates_and_the_list_of_codes(
    httpserver: HTTPServer, session: http.Session
) -> None:
    github(httpserver)
    items = list(xla.pages(session.get, index_url=httpserver.url_for("/"), via="github"))
    pages = [item for item in items if isinstance(item, RawPage)]
    assert [(page.form, page.part) for page in pages] == [
        ("xla-md", "main"),
        ("xla-history", "history"),
        ("xla-catalog", "main"),
        ("xla-history", "history"),
    ]
    assert pages[0].body == MARKDOWN.read_bytes()
    assert pages[0].version_at == "2026-03-12T03:00:00+00:00"
    assert "name" not in json.loads(pages[1].body)["commits"][0]
    found = documents.document(pages[:2])
    assert isinstance(found, Document)
    assert found.record is not None
    assert (found.document_id, found.url) == (
        "openxla.org/xla/errors/error_3000",
        "https://openxla.org/xla/errors/error_3000",
    )
    assert (found.record.first_seen, found.record.last_updated) == ("2026-01-05", "2026-03-12")
    drift = documents.document(pages[2:])
    assert isinstance(drift, Skipped)
    assert drift.reason == "catalogue_drift"


def test_a_file_that_did_not_change_is_asked_for_with_its_tag(httpserver: HTTPServer, session: http.Session) -> None:
    path = "/repos/openxla/xla/contents/docs/errors/error_3000.md"
    tag = {"If-None-Match": '"kept"'}
    httpserver.expect_request(path, headers=tag).respond_with_data(status=304)
    github(httpserver)
    url = "https://github.com/openxla/xla/blob/main/docs/errors/error_3000.md"
    items = list(
        xla.pages(session.get, index_url=httpserver.url_for("/"), via="github", known=xla.Known({url: '"kept"'}))
    )
    assert [item.reason for item in items if isinstance(item, Skipped)] == ["unchanged_page"]
    assert [item.form for item in items if isinstance(item, RawPage)] == ["xla-catalog", "xla-history"]


def test_a_file_that_is_not_what_its_sha_names_is_an_error(httpserver: HTTPServer, session: http.Session) -> None:
    github(httpserver, size_off_by=1)
    with pytest.raises(SourceChanged, match="not the file that its sha names"):
        list(xla.pages(session.get, index_url=httpserver.url_for("/"), via="github"))


@pytest.mark.parametrize(
    "answer", ['{"message": "x"}', "[]", '[{"name": "a"}]', "[", '[{"name": 5, "path": 1, "type": 2}]']
)
def test_a_listing_of_another_shape_is_an_error_with_its_address(
    httpserver: HTTPServer, session: http.Session, answer: str
) -> None:
    httpserver.expect_request("/robots.txt").respond_with_data("", status=404)
    path = "/repos/openxla/xla/contents/docs/errors"
    httpserver.expect_request(path).respond_with_data(answer, content_type="application/json")
    with pytest.raises(SourceChanged) as raised:
        list(xla.pages(session.get, index_url=httpserver.url_for("/"), via="github"))
    assert raised.value.url == httpserver.url_for(path)


def test_commits_that_lead_round_in_circles_come_to_an_end(httpserver: HTTPServer, session: http.Session) -> None:
    commits = json.dumps([{"sha": "c" * 40, "commit": {"committer": {"date": "2026-03-18T00:00:00Z"}}}])
    turns: list[str] = []

    def turn(request: Request) -> Response:
        turns.append(request.url)
        following = httpserver.url_for(f"/commits?turn={2 if request.args.get('turn') == '1' else 1}")
        return Response(commits, content_type="application/json", headers={"Link": f'<{following}>; rel="next"'})

    httpserver.expect_request("/robots.txt").respond_with_data("", status=404)
    httpserver.expect_request("/commits").respond_with_handler(turn)
    with pytest.raises(SourceChanged, match="circles"):
        fetch_github._commits(session.get, httpserver.url_for("/commits?turn=1"))
    assert len(turns) < 10


def test_a_byte_order_mark_and_a_wrong_answer_once_cost_nothing(httpserver: HTTPServer, session: http.Session) -> None:
    page = httpserver.url_for("/listing")
    listing = b'\xef\xbb\xbf[{"name": "error_0100.md", "path": "docs/errors/error_0100.md", "type": "file"}]'
    httpserver.expect_oneshot_request("/listing").respond_with_data("<html>", content_type=HTML)
    httpserver.expect_oneshot_request("/listing").respond_with_data("{}", content_type="application/json")
    httpserver.expect_request("/listing").respond_with_data(listing, content_type="application/json")
    session = http.Session(delay_seconds=0.0, api_sites=frozenset({httpserver.url_for("").rstrip("/")}))
    found = fetch_github._asked(session.get, page, fetch_github._LISTING)
    assert fetch_github._checked(found, fetch_github._LISTING)[0].path == "docs/errors/error_0100.md"
    session.close()
