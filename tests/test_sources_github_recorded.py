"""What GitHub really answered once, replayed: Octokit's recordings of paging, a rename, redirects and refusals.

Needs `npm install --prefix tests/contract` (`make test` does it where there is npm); skipped where it is not.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from pipeline.providers.github import fetch as github
from pipeline.providers.github.fetch import Refused, shapes
from pipeline.records.errors import SourceChanged
from tests.fake_github import TOKEN

MODULES = Path(os.environ.get("ERRMINE_NODE_MODULES", Path(__file__).parent / "contract" / "node_modules"))
SCENARIOS = MODULES / "@octokit" / "fixtures" / "scenarios" / "api.github.com"
API = "https://api.github.com"
#: Headers that mean something to a client; the others are the transport's.
KEPT = ("content-type", "link", "location", "etag", "date", "retry-after")

pytestmark = pytest.mark.skipif(
    not SCENARIOS.is_dir(), reason="needs @octokit/fixtures: npm install --prefix tests/contract"
)


@dataclass
class Replay:
    """One scenario on a local server: each recorded answer once, in its order; what was not recorded is a 500."""

    server: HTTPServer
    records: list[dict[str, Any]]
    client: github.Client = field(init=False)

    def __post_init__(self) -> None:
        self.server.clear()
        self.server.expect_request(re.compile(r"/.*")).respond_with_handler(self.answer)
        self.client = github.Client(TOKEN, api_url=self.base, tuning=github.Tuning(retry_seconds=0))

    @property
    def base(self) -> str:
        return self.server.url_for("").rstrip("/")

    def path(self, status: int, method: str = "get") -> str:
        """The path of the first answer recorded with this status."""
        return next(str(one["path"]) for one in self.records if (one["status"], one["method"]) == (status, method))

    def asked(self) -> list[str]:
        return [self.of(request) for request, _ in self.server.log]

    def of(self, request: Request) -> str:
        query = request.query_string.decode()
        return f"{request.path}{f'?{query}' if query else ''}"

    def answer(self, request: Request) -> Response:
        wanted = (request.method.lower(), self.of(request))
        found = next((one for one in self.records if (one["method"], one["path"]) == wanted), None)
        if found is None:
            return Response("not recorded", status=500)
        self.records.remove(found)
        headers = {k: str(v).replace(API, self.base) for k, v in found["headers"].items()}
        kept = {k: v for k, v in headers.items() if k in KEPT or k.startswith("x-ratelimit-")}
        body = found["response"]
        text = body if isinstance(body, str) else json.dumps(body)
        return Response(text.replace(API, self.base), status=found["status"], headers=kept)


@pytest.fixture
def replay(httpserver: HTTPServer, request: pytest.FixtureRequest) -> Replay:
    """The scenario that the test's parameter names."""
    recorded = json.loads((SCENARIOS / request.param / "normalized-fixture.json").read_text(encoding="utf-8"))
    return Replay(httpserver, [one for one in recorded if one["scope"].startswith(API)])


@pytest.mark.parametrize("replay", ["paginate-issues"], indirect=True)
def test_a_recorded_listing_is_followed_page_by_page_as_github_wrote_its_links(replay: Replay) -> None:
    expected = [str(one["path"]) for one in replay.records]
    numbers: list[int] = []
    url: str | None = replay.client.url(expected[0])
    while url:
        answer = replay.client.get(url)
        numbers += [thread.number for thread in shapes.many(shapes.Thread, answer.body, url)]
        assert replay.client.figures.quota_left == 4999
        url = answer.next_url
    assert replay.asked() == expected
    assert numbers == list(range(13, 0, -1))


@pytest.mark.parametrize("replay", ["rename-repository"], indirect=True)
def test_a_recorded_rename_leads_to_the_repository_under_its_new_name(replay: Replay) -> None:
    old = replay.path(301)
    answer = replay.client.get(replay.client.url(old))
    found = shapes.one(shapes.Repository, answer.body, answer.final_url)
    assert replay.asked() == [old, f"/repositories/{found.id}"]
    assert urlsplit(answer.final_url).path == f"/repositories/{found.id}"
    assert f"/repos/{found.full_name}" != old
    assert found.full_name.startswith("octokit-fixture-org/")


@pytest.mark.parametrize("replay", ["get-archive"], indirect=True)
def test_a_recorded_redirect_to_another_host_is_not_followed(replay: Replay) -> None:
    path = replay.path(302)
    with pytest.raises(SourceChanged, match=r"another host .*codeload\.github\.com"):
        replay.client.get(replay.client.url(path))
    assert replay.asked() == [path]


@pytest.mark.parametrize("replay", ["branch-protection"], indirect=True)
def test_a_recorded_404_is_a_refusal_in_githubs_own_words_and_asked_once(replay: Replay) -> None:
    path = replay.path(404)
    with pytest.raises(Refused, match="Branch not protected") as raised:
        replay.client.get(replay.client.url(path))
    assert raised.value.status == 404
    assert replay.asked() == [path]


@pytest.mark.parametrize("replay", ["errors"], indirect=True)
def test_a_recorded_422_is_a_refusal_and_not_tried_again(replay: Replay) -> None:
    path = replay.path(422, "post")
    client = github.Client(TOKEN, api_url=replay.base, graphql_url=f"{replay.base}{path}")
    with pytest.raises(Refused, match="Validation Failed") as raised:
        client.graphql("{}", {})
    assert raised.value.status == 422
    assert replay.asked() == [path]


@pytest.mark.parametrize("replay", ["search-issues"], indirect=True)
def test_a_recorded_search_has_a_quota_of_its_own(replay: Replay) -> None:
    answer = replay.client.get(replay.client.url(replay.path(200)))
    assert shapes.one(shapes.Count, answer.body, answer.url).total_count > 0
    quotas = replay.client.governor.quotas
    assert set(quotas) == {"search"}
    assert quotas["search"].remaining < 30


@pytest.mark.parametrize("replay", ["get-repository"], indirect=True)
def test_a_recorded_repository_has_the_shape_that_is_demanded(replay: Replay) -> None:
    answer = replay.client.get(replay.client.url(replay.path(200)))
    assert shapes.one(shapes.Repository, answer.body, answer.url).full_name == "octokit-fixture-org/hello-world"
    assert answer.etag
