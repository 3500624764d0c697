"""GitHub's own contract: Prism, mocking the published description, accepts every request that an ingest makes.

Needs Node and `npm install --prefix tests/contract` (200 packages, half a minute), which `make test` does where there
is npm; skipped where they are not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from pipeline.providers.github import fetch as github
from pipeline.providers.github.fetch import references, shapes
from tests.fake_github import FakeGithub, small_world, stamp
from tests.github_home import REPO, Place, client
from tests.rings import first_alone

MODULES = Path(os.environ.get("ERRMINE_NODE_MODULES", Path(__file__).parent / "contract" / "node_modules"))
DESCRIPTION = MODULES / "@octokit" / "openapi" / "generated" / "api.github.com.json"
PRISM = MODULES / ".bin" / "prism"
START_SECONDS = 30
THREAD = "/repos/{owner}/{repo}/issues/{issue_number}"
PULL = "/repos/{owner}/{repo}/pulls/{pull_number}"
#: What is asked, and the shape that its published example must have.
USED: dict[str, Any] = {
    "/repos/{owner}/{repo}": shapes.Repository,
    "/repos/{owner}/{repo}/issues": shapes.Thread,
    THREAD: shapes.Thread,
    f"{THREAD}/comments": shapes.Comment,
    f"{THREAD}/timeline": shapes.TimelineEvent,
    PULL: shapes.Pull,
    f"{PULL}/reviews": shapes.Review,
    f"{PULL}/comments": shapes.ReviewComment,
    "/repos/{owner}/{repo}/releases": shapes.Release,
    "/search/issues": shapes.Count,
}

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not PRISM.exists() or not DESCRIPTION.exists(),
    reason="needs Node and `npm install --prefix tests/contract`",
)


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The published description, cut down to the paths in use: the whole of it takes Prism half a minute."""
    whole = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    whole.pop("x-webhooks", None)
    whole["paths"] = {path: {"get": whole["paths"][path]["get"]} for path in USED}
    whole["servers"] = [{"url": "http://127.0.0.1"}]
    path = tmp_path_factory.mktemp("contract") / "github.json"
    # Requests are held to the contract: some published examples break their own schema, and Prism answers 500.
    answers = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
    paths = {name: {"get": {**value["get"], "responses": answers}} for name, value in whole["paths"].items()}
    path.write_text(json.dumps({**whole, "paths": paths}))
    return path, whole


@pytest.fixture(scope="module")
def prism(description: tuple[Path, dict[str, Any]]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(PRISM), "mock", "--port", str(port), "--errors", str(description[0])]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < deadline:
            try:
                requests.get(url, timeout=2)
                break
            except requests.exceptions.ConnectionError:
                time.sleep(0.2)
        else:
            pytest.skip(f"Prism did not start within {START_SECONDS} s")
        yield url
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Every kind of REST request that full, incremental, narrowed, anonymous and planned runs make, with headers."""
    with FakeGithub() as fake:
        small_world(fake, threads=12)
        fake.limit = fake.anonymous_limit = 100_000
        place = Place(tmp_path_factory.mktemp("home"), fake)
        place.ingest()
        fake.repo(REPO).threads[2].fate = ("deleted", None)
        fake.comment(REPO, 8, "once more")
        place.ingest()
        place.ingest(token=None, since=stamp(1_700_000_000), state="open", labels=("bug", "type: crash"))
        github.plan(client(fake), github.Wanted(REPO, since=stamp(1_700_000_000)), github.read_progress(Path("none")))
        found = {}
        for request in fake.asked:
            path = request.path.removeprefix("/api/v3")
            if request.method == "GET" and "after=" not in path and "&page=" not in path:  # as GitHub's Link has it
                found[path] = {k: v for k, v in request.headers.items() if k not in ("host", "connection")}
        return found


@pytest.mark.long
def test_prism_accepts_every_request(prism: str, asked: dict[str, dict[str, str]]) -> None:
    kinds = {re.sub(r"\d+", "N", urlsplit(path).path) for path in asked}
    assert len(kinds) == len(USED)
    for path, headers in asked.items():
        # GitHub's docs ask for application/vnd.github+json; its description names the same content application/json.
        answer = requests.get(prism + path, headers={**headers, "accept": "application/json"}, timeout=10)
        assert answer.status_code in (200, 304), (path, answer.text[:500])
        assert "sl-violations" not in answer.headers, (path, answer.headers["sl-violations"])


@pytest.mark.long
def test_prism_would_refuse_what_is_not_allowed(prism: str) -> None:
    for path in ("/repos/a/b/issues?state=alle", "/repos/a/b/issues?since=yesterday", "/repos/a/b/issues/x/timeline"):
        assert requests.get(prism + path, timeout=10).status_code in (400, 422), path


def test_every_parameter_is_one_that_github_publishes(
    description: tuple[Path, dict[str, Any]], asked: dict[str, dict[str, str]]
) -> None:
    whole = description[1]
    for path in asked:
        parts = urlsplit(path)
        template = next(used for used in USED if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", used), parts.path))
        allowed = {resolved(whole, one)["name"] for one in whole["paths"][template]["get"]["parameters"]}
        assert set(parse_qs(parts.query)) <= allowed, path


@pytest.mark.skipif(not (MODULES / "@octokit" / "graphql-schema").exists(), reason="an older tests/contract")
@pytest.mark.parametrize(("kind", "faults"), first_alone([("issues", 0), ("pullRequests", 0), ("discussionsOfOld", 1)]))
def test_githubs_graphql_schema_accepts_the_query(kind: str, faults: int) -> None:
    query = references.query("issues").replace("issues(first", f"{kind}(first") if faults else references.query(kind)
    script = (
        f'import {{ validate }} from "{(MODULES / "@octokit" / "graphql-schema" / "index.js").as_uri()}";'
        "console.log(JSON.stringify(validate(process.argv[1]).map((error) => error.message)));"
    )
    command = ["node", "--input-type=module", "--eval", script, query]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert len(json.loads(done.stdout)) == faults, done.stdout


@pytest.mark.parametrize("path", sorted(USED))
def test_the_published_examples_have_the_shapes_that_are_demanded(
    description: tuple[Path, dict[str, Any]], path: str
) -> None:
    whole = description[1]
    content = whole["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    examples = [resolved(whole, example)["value"] for example in content["examples"].values()]
    assert examples
    for value in examples:
        example = resolved(whole, value) if isinstance(value, dict) else value
        if isinstance(example, dict) and "value" in example:  # an example of an example
            example = example["value"]
        body, check = json.dumps(example).encode(), shapes.many if isinstance(example, list) else shapes.one
        assert check(USED[path], body, path)


def resolved(whole: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """What a reference in the description stands for."""
    while "$ref" in value:
        found: Any = whole
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        value = found
    return value
