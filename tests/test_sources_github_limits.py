"""The governor and the client by themselves: how long is waited, what is followed, what is never sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.providers.github import fetch as github
from pipeline.providers.github.fetch.conditional_pages import elements
from pipeline.providers.github.fetch.governor import Governor, is_limit
from pipeline.records.errors import ConfigError, RateLimited, SourceChanged, SourceError
from tests.fake_faults import Altered
from tests.fake_github import TOKEN, FakeGithub, Fault, small_world
from tests.github_home import REPO, Place, client

NOW = 1_800_000_000.0
Waits = list[float]


def governed(**values: float) -> tuple[Governor, Waits]:
    waits: Waits = []
    jitter: Callable[[], float] = lambda: values.pop("jitter", 0.0)  # noqa: E731
    limit = values.pop("max_wait_seconds", 1e9)
    return Governor(max_wait_seconds=limit, clock=lambda: NOW, sleep=waits.append, jitter=jitter), waits


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "30", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 900)}, 30),
        ({"Retry-After": formatdate(NOW + 45, usegmt=True)}, 45),
        ({"Retry-After": "0"}, 1),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 900)}, 901),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) - 900)}, 1),
        ({"X-RateLimit-Remaining": "17", "X-RateLimit-Reset": str(int(NOW) + 900)}, 60),
        ({}, 60),
        ({"Retry-After": "-5"}, 60),
        ({"Retry-After": "soon"}, 60),
        ({"Retry-After": "９"}, 60),
    ],
)
def test_retry_after_comes_first_then_the_reset_then_a_minute(headers: dict[str, str], seconds: float) -> None:
    governor, waits = governed()
    governor.back_off(headers, "url")
    assert waits == [seconds]


def test_without_a_header_the_wait_doubles_until_an_answer_is_accepted() -> None:
    governor, waits = governed()
    for _ in range(8):
        governor.back_off({}, "url")
    governor.accepted()
    governor.back_off({}, "url")
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 60]


def test_jitter_makes_the_wait_longer_never_shorter() -> None:
    governor, waits = governed(jitter=1.0)
    governor.back_off({}, "url")
    assert waits == [75]


def test_all_waiting_together_has_a_limit() -> None:
    governor, waits = governed(max_wait_seconds=100)
    governor.back_off({"Retry-After": "60"}, "url")
    with pytest.raises(RateLimited) as raised:
        governor.back_off({"Retry-After": "60"}, "https://api.example/x")
    assert waits == [60]
    assert (raised.value.wait_seconds, raised.value.url, raised.value.exit_code) == (60, "https://api.example/x", 3)


def test_nothing_left_is_waited_for_before_the_request() -> None:
    governor, waits = governed()
    governor.saw({"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "60", "X-RateLimit-Reset": str(int(NOW) + 10)})
    governor.before("search", "url")
    assert waits == []
    governor.before("core", "url")
    assert waits == [11]


def test_a_wrong_clock_of_ours_changes_no_wait() -> None:
    governor, waits = governed()
    served = NOW + 7200
    governor.saw({"Date": formatdate(served, usegmt=True)})
    governor.back_off({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(served) + 20)}, "url")
    assert waits == [21]


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["Retry-After", "Date", "X-RateLimit-Remaining", "X-RateLimit-Reset"]), st.text())
)
def test_whatever_the_headers_say_a_wait_is_positive_and_finite(headers: dict[str, str]) -> None:
    governor, waits = governed()
    governor.saw(headers)
    governor.back_off(headers, "url")
    assert waits[0] >= 1
    assert waits[0] < 1e17


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (429, {}, b"", True),
        (403, {"Retry-After": "9"}, b"", True),
        (403, {"X-RateLimit-Remaining": "0"}, b"", True),
        (403, {}, b'{"message": "You have exceeded a secondary rate limit"}', True),
        (403, {}, b'{"message": "Resource not accessible by integration"}', False),
        (403, {"X-RateLimit-Remaining": "12"}, b'{"message": "Forbidden"}', False),
        (404, {"Retry-After": "9"}, b"rate limit", False),
        (200, {"X-RateLimit-Remaining": "0"}, b"", False),
    ],
)
def test_a_limit_is_told_from_a_denial(status: int, headers: dict[str, str], body: bytes, expected: bool) -> None:
    assert is_limit(status, headers, body) is expected


@pytest.mark.parametrize(
    ("api", "graphql"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://github.example.org/api/v3", "https://github.example.org/api/graphql"),
        ("https://github.example.org/api/v3/", "https://github.example.org/api/graphql"),
    ],
)
def test_graphql_lies_beside_the_api(api: str, graphql: str) -> None:
    assert github.Client(api_url=api).graphql_url == graphql


@pytest.mark.parametrize("url", ["", "api.github.com", "ftp://x", "https://user:word@x", "https://x/?a=1"])
def test_what_is_no_api_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="GITHUB_API_URL"):
        github.Client(api_url=url)


def test_a_token_is_not_sent_over_plain_http() -> None:
    with pytest.raises(ConfigError, match="plain http"):
        github.Client(TOKEN, api_url="http://github.example.org/api/v3")


@pytest.mark.parametrize("token", ["ab cd efgh", "short", "line\nbreak-in-it", "ghx_ümlaut_token"])
def test_a_token_that_cannot_be_one_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(ConfigError) as raised:
        github.Client(token, api_url="https://api.github.com")
    assert token not in str(raised.value)


@pytest.mark.parametrize("repo", ["", "a", "a/b/c", "../b", "a/..", "a/b?c", "a b/c", "https://github.com/a/b"])
def test_what_is_no_repository_is_refused(repo: str) -> None:
    with pytest.raises(ConfigError):
        github.checked_repo(repo)


def test_a_next_page_on_another_host_is_not_followed(tmp_path: Path) -> None:
    with FakeGithub() as fake:
        for number in range(1, 150):
            fake.add(REPO, number)
        fake._base = lambda: "http://127.0.0.2:9/api/v3"  # type: ignore[method-assign]
        done = Place(tmp_path, fake).ingest()
        assert isinstance(done.error, SourceChanged)
        assert "another host" in str(done.error)
        assert all("127.0.0.2" not in asked.headers["host"] for asked in fake.asked)


@pytest.mark.parametrize("header", [{"Location": "http://["}, {"Location": "//["}, {"Link": '<http://[>; rel="next"'}])
def test_an_address_that_is_none_is_an_error_of_the_source(tmp_path: Path, header: dict[str, str]) -> None:
    with FakeGithub() as fake:
        small_world(fake, threads=1)
        status = 302 if "Location" in header else 200
        fake.fault = lambda _n, a: Altered(status=status, headers=lambda *_: header) if "/issues?" in a.path else None
        assert isinstance(Place(tmp_path, fake).ingest().error, SourceChanged)


def test_a_foreign_address_is_never_asked() -> None:
    with FakeGithub() as fake, pytest.raises(SourceChanged, match="leads away"):
        client(fake).get("http://127.0.0.2:9/repos/a/b")
    assert fake.asked == []


def test_an_exception_holds_no_request(tmp_path: Path) -> None:
    with FakeGithub() as fake:
        small_world(fake, threads=1)
        fake.fault = lambda _n, _a: Fault("drop")
        done = Place(tmp_path, fake).ingest()
    error: BaseException | None = done.error
    assert isinstance(error, SourceError)
    while error is not None:
        assert getattr(error, "request", None) is None
        assert TOKEN not in repr(vars(error))
        error = error.__cause__


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.none(), max_size=3), max_size=5))
def test_the_elements_of_a_list_are_cut_at_their_own_bytes(values: list[dict[str, object]]) -> None:
    for indent in (None, 2):
        body = json.dumps(values, indent=indent).encode()
        found = list(elements(body))
        assert [json.loads(element) for element in found] == values
        assert all(element in body for element in found)
