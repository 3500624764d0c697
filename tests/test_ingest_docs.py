"""Official pages from a site into raw, and from there into an entry; and again, for nothing but a question."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline import raw, run, store
from pipeline.providers.openxla import fetch as fetch_docs
from pipeline.run import Fetched, Places
from tests import cli
from tests.golden import SAMPLE

NOW = datetime(2026, 5, 4, tzinfo=UTC)
INDEX = """<!doctype html><html lang="en"><body><article class="devsite-article">
<h1 class="devsite-page-title">Codes</h1>
<div class="devsite-article-body"><p><a href="./errors/error_1000">E1000</a> <a href="./errors/error_1001">E1001</a></p>
</div></article></body></html>"""


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    """A docs site with an index and the sample's two pages, each with a validator."""

    def page(request: Request) -> Response:
        name = request.path.rsplit("/", 1)[-1]
        if request.headers.get("If-None-Match") == f'"{name}"':
            return Response(status=304)
        own = httpserver.url_for("").rstrip("/").encode()
        body = (SAMPLE / "docs" / f"{name}.html").read_bytes().replace(b"https://docs.errmine-fixtures.example", own)
        return Response(body, content_type="text/html; charset=utf-8", headers={"ETag": f'"{name}"'})

    httpserver.expect_request("/robots.txt").respond_with_data("", status=404)
    httpserver.expect_request("/xla/error_codes").respond_with_data(INDEX, content_type="text/html")
    for name in ("error_1000", "error_1001"):
        httpserver.expect_request(f"/xla/errors/{name}").respond_with_handler(page)
    return httpserver


def fetch(site: HTTPServer, home: Path) -> Fetched:
    return fetch_docs.ingest(
        raw.RawLayer(Places.of(home).raw),
        via="html",
        index_url=site.url_for("/xla/error_codes"),
        fetched_at=NOW,
        credentials={},
        delay_seconds=0,
    )


def test_pages_of_a_site_become_official_entries(site: HTTPServer, tmp_path: Path) -> None:
    fetched = fetch(site, tmp_path)
    assert fetched.error is None
    places = Places.of(tmp_path)
    run.build(places, workers=1, partition_documents=100)
    rows = store.query(places.database, "SELECT code FROM official_docs ORDER BY code").rows
    assert rows == [("xla:E1000",), ("xla:E1001",)]
    tiers = store.query(places.database, "SELECT DISTINCT verification_tier FROM entries").rows
    assert tiers == [("documented",)]


def test_unchanged_pages_are_not_fetched_again(site: HTTPServer, tmp_path: Path) -> None:
    fetch(site, tmp_path)
    again = fetch(site, tmp_path)
    assert dict(again.summary.stages[0].reasons) == {"unchanged_page": 2}
    assert again.summary.figures["new_pages"] == 0


def test_a_site_that_fails_in_the_middle_keeps_what_came_before(site: HTTPServer, tmp_path: Path) -> None:
    site.clear()
    site.expect_request("/robots.txt").respond_with_data("", status=404)
    site.expect_request("/xla/error_codes").respond_with_data(INDEX, content_type="text/html")
    page = (SAMPLE / "docs" / "error_1000.html").read_text(encoding="utf-8")
    site.expect_request("/xla/errors/error_1000").respond_with_data(page, content_type="text/html")
    site.expect_request("/xla/errors/error_1001").respond_with_data("{}", content_type="application/json")
    fetched = fetch(site, tmp_path)
    assert fetched.error is not None
    assert "error_1001" in str(fetched.error)
    assert fetched.summary.figures["new_pages"] == 2


@pytest.mark.long
def test_docs_without_a_network_say_so_and_do_not_blame_robots_txt(tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text('[sources.docs]\nindex_url = "http://127.0.0.1:9/xla/error_codes"\n')
    done = cli.run("ingest", "docs", "--home", tmp_path)
    assert done.code == 3
    assert "127.0.0.1:9/robots.txt" in done.err
    assert "Check the network" in done.err
    assert "asks programs" not in done.err
