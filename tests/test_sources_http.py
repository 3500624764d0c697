"""The session of docs sites on real sockets: redirects, cut bodies, limits, robots.txt, credentials, distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.providers import http, robots
from pipeline.records.errors import RateLimited, SourceChanged, SourceUnreachable
from pipeline.transport import Bounds, NoReply, Reply, Transport, Why

HTML = "text/html; charset=utf-8"


@pytest.fixture
def session() -> Iterator[http.Session]:
    session = http.Session(delay_seconds=0.0)
    yield session
    session.close()


@pytest.fixture
def page(httpserver: HTTPServer) -> str:
    httpserver.expect_request("/robots.txt").respond_with_data("", status=404)
    return httpserver.url_for("/page")


def test_a_redirect_within_the_site_is_followed_and_one_to_another_site_is_not(
    httpserver: HTTPServer, session: http.Session, page: str
) -> None:
    httpserver.expect_request("/page").respond_with_data("", status=301, headers={"Location": "/new"})
    httpserver.expect_request("/new").respond_with_data("here")
    found = session.get(page)
    assert (found.url, found.body) == (httpserver.url_for("/new"), b"here")
    httpserver.expect_request("/away").respond_with_data("", status=302, headers={"Location": "https://b.example/"})
    with pytest.raises(SourceChanged, match="leads to another site"):
        session.get(httpserver.url_for("/away"))
    httpserver.expect_request("/round").respond_with_data("", status=302, headers={"Location": "/round"})
    with pytest.raises(SourceChanged, match="circles"):
        session.get(httpserver.url_for("/round"))


def test_a_cut_body_is_an_error_and_never_a_short_page(
    httpserver: HTTPServer, session: http.Session, page: str
) -> None:
    def cut(request: Request) -> Response:
        response = Response(iter([b"<html>half"]), content_type=HTML)
        response.headers["Content-Length"] = "5000"
        return response

    httpserver.expect_request("/page").respond_with_handler(cut)
    with pytest.raises(SourceUnreachable) as raised:
        session.get(page)
    assert raised.value.url == page


def test_failing_sites_and_limits_have_errors_of_their_own(
    httpserver: HTTPServer, session: http.Session, page: str
) -> None:
    for _ in range(http.TRIES):
        httpserver.expect_oneshot_request("/page").respond_with_data("", status=503)
    httpserver.expect_oneshot_request("/page").respond_with_data("", status=429, headers={"Retry-After": "7"})
    with pytest.raises(SourceUnreachable, match="503"):
        session.get(page)
    with pytest.raises(RateLimited) as raised:
        session.get(page)
    assert raised.value.wait_seconds == 7.0


def test_what_is_no_answer_once_is_asked_for_again(httpserver: HTTPServer, session: http.Session, page: str) -> None:
    def cut(_request: Request) -> Response:
        return Response(iter([b"<html>half"]), headers={"Content-Length": "5000"})

    httpserver.expect_oneshot_request("/page").respond_with_handler(cut)
    httpserver.expect_oneshot_request("/page").respond_with_data("x", headers={"Content-Encoding": "gzip"})
    httpserver.expect_request("/page").respond_with_data("whole")
    assert session.get(page).body == b"whole"


class Slow(Transport):
    """Redirects, each of which takes its time; nobody waits."""

    def __init__(self, seconds: float, target: str = "") -> None:
        self.now, self.seconds, self.given = 0.0, seconds, list[float]()
        self.target = target

    def send(
        self, method: str, url: str, *, bounds: Bounds, headers: Mapping[str, str], payload: bytes | None = None
    ) -> Reply:
        self.given.append(bounds.answer_seconds)
        if bounds.answer_seconds <= 0:
            raise NoReply(Why.SLOW)
        self.now += self.seconds
        return Reply(url, 302, {"Location": self.target or f"/{len(self.given)}"}, b"")


def test_redirects_share_one_deadline_and_our_own_pauses_are_not_in_it() -> None:
    slow = Slow(50.0)

    def sleep(seconds: float) -> None:
        slow.now += seconds

    site = "http://a.example"
    session = http.Session(
        delay_seconds=60.0, api_sites=frozenset({site}), sleep=sleep, clock=lambda: slow.now, _transport=slow
    )
    with pytest.raises(SourceUnreachable, match="takes longer"):
        session.get(f"{site}/page")
    assert slow.given == [120.0, 70.0, 20.0, -30.0] * http.TRIES


@pytest.mark.parametrize("target", ["http://[", "//[", "//[x]y/"])
def test_a_redirect_to_what_is_no_address_leads_to_nobodys_site(target: str) -> None:
    site = "http://a.example"
    session = http.Session(delay_seconds=0.0, api_sites=frozenset({site}), _transport=Slow(0.0, target))
    with pytest.raises(SourceChanged, match="leads to another site"):
        session.get(f"{site}/page")


def test_a_site_that_nobody_answers_for_is_unreachable_and_not_one_that_forbids() -> None:
    with pytest.raises(SourceUnreachable, match=r"127.0.0.1:9/robots.txt"):
        http.Session(delay_seconds=0.0).get("http://127.0.0.1:9/page")


def test_a_body_beyond_all_pages_is_given_up(
    httpserver: HTTPServer, session: http.Session, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_BODY_BYTES", 1000)
    httpserver.expect_request("/page").respond_with_data("x" * 2000)
    with pytest.raises(SourceChanged, match="larger than it may be"):
        session.get(page)


def test_requests_keep_their_distance_and_the_sites_own_wish_is_the_greater(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/robots.txt").respond_with_data("User-agent: *\nCrawl-delay: 5\n")
    httpserver.expect_request("/page").respond_with_data("here")
    now = [0.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    session = http.Session(delay_seconds=1.0, sleep=sleep, clock=lambda: now[0])
    for _ in range(3):
        session.get(httpserver.url_for("/page"))
    session.close()
    assert slept == [5.0, 5.0, 5.0]


def test_credentials_go_to_their_own_site_only_and_stand_in_no_description(httpserver: HTTPServer, page: str) -> None:
    httpserver.expect_request("/page").respond_with_data("here")
    token = {"Authorization": "Bearer fixture"}
    for owner, expected in ((httpserver.url_for("").rstrip("/"), "Bearer fixture"), ("https://other.example", None)):
        session = http.Session(delay_seconds=0.0, credentials={owner: token})
        session.get(page)
        session.close()
        assert "fixture" not in repr(session)
        assert httpserver.log[-1][0].headers.get("Authorization") == expected


@pytest.mark.parametrize(
    ("path", "is_allowed"),
    [
        ("/", True),
        ("/private", False),
        ("/private/open", True),
        ("/a/b.pdf", False),
        ("/a/b.pdf?x", True),
        ("/search?q=1", False),
        ("/tie", True),
    ],
)
def test_the_longest_rule_wins_and_allow_wins_a_tie(path: str, is_allowed: bool) -> None:
    text = (
        "User-agent: other\nDisallow: /\n\nUser-agent: one\nUser-Agent: ERRMINE/2\n# words\nDisallow: /private\n"
        "Allow: /private/open # said so\nDisallow: /*.pdf$\nDisallow: /search?\nDisallow: /tie\nAllow: /tie\n"
        "Disallow:\n"
    )
    assert robots.rules(text, "errmine").allows(path) is is_allowed


def test_an_api_is_made_for_programs_and_its_robots_txt_is_not_asked(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/page").respond_with_data("here")
    session = http.Session(delay_seconds=0.0, api_sites=frozenset({httpserver.url_for("").rstrip("/")}))
    assert session.get(httpserver.url_for("/page")).body == b"here"
    session.close()
    assert [request.path for request, _ in httpserver.log] == ["/page"]


def test_hostile_rules_are_read_quickly() -> None:
    rules = robots.rules("User-agent: *\nDisallow: " + "*a" * 50_000 + "\n" + "Disallow: /*a*b\n" * 20_000, "errmine")
    assert rules.allows("/" + "a" * 2_000)
    assert robots.rules("", "errmine").allows("/x")


@pytest.mark.parametrize("status", [404, 403, 410])
def test_a_missing_robots_txt_allows(httpserver: HTTPServer, session: http.Session, status: int) -> None:
    httpserver.expect_request("/robots.txt").respond_with_data("x", status=status)
    httpserver.expect_request("/page").respond_with_data("here")
    assert session.get(httpserver.url_for("/page")).body == b"here"


@pytest.mark.parametrize(("status", "error"), [(500, SourceUnreachable), (503, SourceUnreachable), (429, RateLimited)])
def test_a_failing_site_is_asked_for_no_page_and_called_failing(
    httpserver: HTTPServer, session: http.Session, status: int, error: type[Exception]
) -> None:
    httpserver.expect_request("/robots.txt").respond_with_data("x", status=status)
    with pytest.raises(error):
        session.get(httpserver.url_for("/page"))
    assert {request.path for request, _ in httpserver.log} == {"/robots.txt"}
