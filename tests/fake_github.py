"""A GitHub of our own on real sockets: it keeps state, counts quotas, refuses, breaks off, changes under the reader.

It speaks what errmine uses: repository, listing with cursors (or numbered pages that end at 422), single threads,
comments, timelines, pull requests, reviews, search counts, GraphQL; ETags per token; primary and secondary limits.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

Json = dict[str, Any]
TOKEN = "ghx_" + "a" * 24  # no real prefix: it is no secret
OTHER_TOKEN = "ghx_" + "b" * 24
PULL_KEYS = ("number", "html_url", "title", "state", "created_at", "updated_at", "body")
SOURCE_KEYS = ("number", "html_url", "pull_request")


@dataclass
class Fault:
    """What goes wrong with one request."""

    kind: str  # "status", "cut", "slow", "html", "drop", "secondary", "abroad", "reshape", "garbage"
    status: int = 502
    retry_after: str | None = None
    seconds: float = 0.0
    reshape: Callable[[Any], Any] = lambda value: value


@dataclass
class Asked:
    """One request as it came in, and the status that it got."""

    method: str
    path: str
    token: str | None
    headers: dict[str, str]
    status: int = 0


@dataclass
class Thread:
    """One issue or pull request with all that belongs to it."""

    issue: Json
    comments: list[Json] = field(default_factory=list)
    timeline: list[Json] = field(default_factory=list)
    pull: Json | None = None
    reviews: list[Json] = field(default_factory=list)
    review_comments: list[Json] = field(default_factory=list)
    closing: list[Json] = field(default_factory=list)
    fate: tuple[str, Any] | None = None  # ("transferred", (repo id, number)) | ("deleted", None) | ("private", None)


@dataclass
class Repo:
    """A repository: threads by number."""

    name: str
    id: int
    threads: dict[int, Thread] = field(default_factory=dict)
    releases: list[Json] = field(default_factory=list)  # newest first


class FakeGithub:
    """The server. `url` is the base of its REST API; `asked` is everything that was asked of it."""

    def __init__(self, *, paging: str = "cursor", page_cap: int = 100) -> None:
        self.repos: dict[str, Repo] = {}
        self.renamed: dict[str, int] = {}
        self.asked: list[Asked] = []
        self.paging, self.page_cap = paging, page_cap
        self.tokens = {TOKEN, OTHER_TOKEN}
        self.limit, self.anonymous_limit = 5000, 60
        self.windows: dict[tuple[str | None, str], tuple[int, float]] = {}
        self.has_graphql = True
        self.graphql_error: Json | None = None
        self.fault: Callable[[int, Asked], Fault | None] = lambda _count, _asked: None
        self.after: Callable[[int, Asked], None] = lambda _count, _asked: None
        self.skew_seconds = 0.0
        self.ticks = 0.0  # what slow answers took by the clock that a client is given, without anybody's waiting
        self.web = "https://github.com"
        self._lock = threading.RLock()
        fake = self

        class Handler(_Handler):
            github = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up in the middle
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}/api/v3"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> FakeGithub:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    # ------------------------------------------------------------ what a test sees and does

    def now(self) -> float:
        """The server's time; `sleep` moves it on."""
        return time.time() + self.skew_seconds

    def clock(self) -> float:
        """The clock for a client's deadlines."""
        return time.monotonic() + self.ticks

    def sleep(self, seconds: float) -> None:
        """What a client under test is given to sleep with: the server's clock moves, nobody waits."""
        self.skew_seconds += seconds

    def repo(self, name: str) -> Repo:
        """The repository of that name, made if there is none."""
        return self.repos.setdefault(name.lower(), Repo(name, 1000 + len(self.repos)))

    def add(self, name: str, number: int, *, pull: bool = False, **values: Any) -> Thread:
        """A new thread; `values` override what its object says."""
        repo = self.repo(name)
        kind = "pull" if pull else "issues"
        issue: Json = {
            "id": repo.id * 100_000 + number,
            "node_id": f"T_{repo.id}_{number}",
            "number": number,
            "url": f"{self.url}/repos/{name}/issues/{number}",
            "html_url": f"{self.web}/{name}/{kind}/{number}",
            "title": f"Thread {number}",
            "user": {"login": "fixture-author", "type": "User"},
            "labels": [],
            "state": "open",
            "state_reason": None,
            "author_association": "NONE",
            "comments": 0,
            "created_at": stamp(1_700_000_000 + number * 60),
            "updated_at": stamp(1_700_000_000 + number * 60),
            "closed_at": None,
            "body": f"RuntimeError: fixture {number} failed",
            "reactions": {"+1": 0, "-1": 0},
            **values,
        }
        if pull:
            issue.setdefault("pull_request", {"merged_at": None, "url": f"{self.url}/repos/{name}/pulls/{number}"})
        thread = repo.threads[number] = Thread(issue)
        if pull:
            thread.pull = {
                **{key: issue[key] for key in PULL_KEYS},
                "merged": False,
                "merged_at": None,
                "merge_commit_sha": None,
                "review_comments": 0,
                "draft": False,
                "head": {"sha": "a" * 40},
                "base": {"sha": "b" * 40},
            }
        return thread

    def release(self, name: str, tag: str, notes: str | None, *, at: float, **values: Any) -> Json:
        """A new release, listed before those that there are."""
        repo = self.repo(name)
        made: Json = {
            "id": repo.id * 1000 + len(repo.releases) + 1,
            "html_url": f"{self.web}/{name}/releases/tag/{tag}",
            "tag_name": tag,
            "name": tag,
            "body": notes,
            "draft": False,
            "prerelease": False,
            "created_at": stamp(at),
            "published_at": stamp(at),
            "author": {"login": "fixture-releaser"},
            "assets": [{"name": "pond.whl", "download_count": 0}],
            **values,
        }
        repo.releases.insert(0, made)
        return made

    def touch(self, name: str, number: int, at: float | None = None) -> None:
        """Moves the thread's date of change to now, or to `at`."""
        self.repo(name).threads[number].issue["updated_at"] = stamp(self.now() if at is None else at)

    def comment(self, name: str, number: int, body: str, *, at: float | None = None, quiet: bool = False) -> Json:
        """A new comment, as GitHub keeps it: in the list, in the count, in the timeline, in the date of change."""
        thread = self.repo(name).threads[number]
        made = self.now() if at is None else at
        comment = {
            "id": number * 10_000 + len(thread.comments) + 1,
            "html_url": f"{thread.issue['html_url']}#issuecomment-{number * 10_000 + len(thread.comments) + 1}",
            "issue_url": thread.issue["url"],
            "user": {"login": f"commenter-{len(thread.comments) % 7}", "type": "User"},
            "author_association": "NONE",
            "created_at": stamp(made),
            "updated_at": stamp(made),
            "body": body,
        }
        thread.comments.append(comment)
        thread.timeline.append({"event": "commented", **comment})
        thread.issue["comments"] = len(thread.comments)
        if not quiet:
            self.touch(name, number, made)
        return comment

    def cross_reference(self, name: str, number: int, source: Thread, *, at: float | None = None) -> None:
        """Another thread refers to this one: its timeline grows, its date of change stays."""
        event = {
            "event": "cross-referenced",
            "created_at": stamp(self.now() if at is None else at),
            "source": {"type": "issue", "issue": {key: source.issue.get(key) for key in SOURCE_KEYS}},
        }
        self.repo(name).threads[number].timeline.append(event)

    def load(self, lines: Iterable[Json]) -> int:
        """The number of threads taken from records of the corpus or the sample."""
        count = 0
        for line in lines:
            name, number = line.get("repo"), line.get("number")
            match = re.search(r"/([^/]+/[^/]+)/(issues|pull)/(\d+)$", str(line.get("html_url")))
            if match:
                name, number = match[1], int(match[3])
            if not name or not number or not line.get("title") or not line.get("created_at"):
                continue
            pull = line.get("kind") == "pull" or bool(match and match[2] == "pull") or bool(line.get("pull_request"))
            values = {
                key: line[key]
                for key in ("title", "body", "state", "created_at", "updated_at", "closed_at")
                if line.get(key) is not None
            }
            values.setdefault("body", None)
            values.setdefault("updated_at", values["created_at"])
            values["labels"] = [x if isinstance(x, dict) else {"name": x} for x in line.get("labels") or []]
            self.add(str(name), int(number), pull=pull, **values)
            comments = line.get("comments")
            for comment in comments if isinstance(comments, list) else ():
                at = datetime.fromisoformat(comment.get("created_at") or values["created_at"]).timestamp()
                self.comment(str(name), int(number), comment.get("body") or "", at=at, quiet=True)
            count += 1
        return count

    def statuses(self, since: int = 0) -> dict[int, int]:
        """How many requests got which status."""
        found: dict[int, int] = {}
        for asked in self.asked[since:]:
            found[asked.status] = found.get(asked.status, 0) + 1
        return found

    def paths(self, since: int = 0) -> list[str]:
        """The paths asked for, below the base, without their queries."""
        return [urlsplit(asked.path).path.removeprefix("/api/v3").removeprefix("/api") for asked in self.asked[since:]]

    # ------------------------------------------------------------ answers

    def answer(self, asked: Asked, payload: bytes) -> tuple[int, dict[str, str], Any]:
        """Status, headers and value of the answer to a request."""
        with self._lock:
            if asked.token is not None and asked.token not in self.tokens:
                return 401, {}, {"message": "Bad credentials"}
            parts = urlsplit(asked.path)
            path = parts.path.removeprefix("/api/v3")
            query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
            resource = "graphql" if path.endswith("/graphql") else "search" if "/search/" in path else "core"
            remaining, reset = self._window(asked.token, resource)
            limit = self.limit if asked.token else self.anonymous_limit
            rates = {"X-RateLimit-Limit": str(limit), "X-RateLimit-Reset": str(int(reset))}
            rates["X-RateLimit-Resource"] = resource
            if remaining <= 0:
                return 403, {**rates, "X-RateLimit-Remaining": "0"}, {"message": "API rate limit exceeded"}
            status, headers, value = self._route(path, query, asked, payload)
            if status == 200 and asked.method == "GET":
                body = json.dumps(value).encode()
                etag = 'W/"' + hashlib.sha256(f"{asked.token}".encode() + body).hexdigest() + '"'
                headers["ETag"] = etag
                headers["Vary"] = "Accept, Authorization, Cookie"
                if asked.headers.get("if-none-match") == etag:
                    status, value = 304, None
                    headers.pop("Link", None)
            spent = 0 if status == 304 and asked.token else 1
            self.windows[asked.token, resource] = (remaining - spent, reset)
            rates["X-RateLimit-Remaining"] = str(remaining - spent)
            return status, {**headers, **rates}, value

    def _window(self, token: str | None, resource: str) -> tuple[int, float]:
        limit = self.limit if token else self.anonymous_limit
        remaining, reset = self.windows.get((token, resource), (limit, self.now() + 3600))
        if reset <= self.now():
            remaining, reset = limit, self.now() + 3600
        return remaining, reset

    def _route(self, path: str, query: dict[str, str], asked: Asked, payload: bytes) -> tuple[int, dict[str, str], Any]:
        if path.endswith("/graphql"):
            return self._graphql(asked, payload)
        if path == "/search/issues":
            return self._search(query["q"])
        match = re.fullmatch(r"/repos/([^/]+/[^/]+)(/.*)?", path)
        by_id = re.fullmatch(r"/repositories/(\d+)(/.*)?", path)
        if match and match[1].lower() in self.renamed:
            return 301, {"Location": f"{self.url}/repositories/{self.renamed[match[1].lower()]}{match[2] or ''}"}, {}
        if match:
            repo = self.repos.get(match[1].lower())
            rest = match[2] or ""
        else:
            repo = next((r for r in self.repos.values() if by_id and r.id == int(by_id[1])), None)
            rest = (by_id[2] or "") if by_id else ""
        if repo is None:
            return 404, {}, {"message": "Not Found"}
        if not rest:
            return 200, {}, {"id": repo.id, "full_name": repo.name, "html_url": f"{self.web}/{repo.name}"}
        if rest == "/issues":
            return self._listing(repo, path, query)
        if rest == "/releases":
            return self._numbered(repo.releases, path, query)
        return self._of_thread(repo, path, rest, query)

    def _of_thread(self, repo: Repo, path: str, rest: str, query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        match = re.fullmatch(r"/(issues|pulls)/(\d+)(?:/(comments|timeline|reviews))?", rest)
        thread = repo.threads.get(int(match[2])) if match else None
        if match is None or thread is None:
            return 404, {}, {"message": "Not Found"}
        if thread.fate:
            return self._away(thread, is_itself=match[3] is None)
        if match[1] == "issues":
            lists = {"comments": thread.comments, "timeline": thread.timeline}
        elif thread.pull is None:
            return 404, {}, {"message": "Not Found"}
        else:
            lists = {"comments": thread.review_comments, "reviews": thread.reviews}
        if match[3] is None:
            return 200, {}, thread.issue if match[1] == "issues" else thread.pull
        return self._numbered(lists.get(match[3], []), path, query)

    def _away(self, thread: Thread, *, is_itself: bool) -> tuple[int, dict[str, str], Any]:
        assert thread.fate is not None
        kind, where = thread.fate
        if kind == "deleted":
            return 410, {}, {"message": "This issue was deleted"}
        if kind == "transferred" and is_itself:
            return 301, {"Location": f"{self.url}/repositories/{where[0]}/issues/{where[1]}"}, {"message": "Moved"}
        return 404, {}, {"message": "Not Found"}

    def _numbered(self, items: list[Json], path: str, query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        headers = {}
        if page * size < len(items):
            headers["Link"] = f'<{self._base()}{path}?per_page={size}&page={page + 1}>; rel="next", <x>; rel="last"'
        return 200, headers, items[(page - 1) * size : page * size]

    def _listing(self, repo: Repo, path: str, query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        items = self._selected(repo, query)
        size = int(query.get("per_page", 30))
        if self.paging == "offset" or "page" in query:
            page = int(query.get("page", 1))
            if page >= self.page_cap:
                return 422, {}, {"message": "Pagination with the page parameter is not supported for large datasets"}
            rest, extra = items[(page - 1) * size :], {"page": str(page + 1)}
        else:
            after = json.loads(base64.urlsafe_b64decode(query["after"])) if "after" in query else ["", 0]
            rest = [item for item in items if [item["updated_at"], item["number"]] > after]
            last = rest[:size][-1] if rest else None
            cursor = json.dumps([last["updated_at"], last["number"]]) if last else ""
            extra = {"after": base64.urlsafe_b64encode(cursor.encode()).decode()}
        headers = {}
        if len(rest) > size:
            following = "&".join(f"{key}={quote(value)}" for key, value in {**query, **extra}.items())
            headers["Link"] = f'<{self._base()}{path}?{following}>; rel="next"'
        return 200, headers, rest[:size]

    def _selected(self, repo: Repo, query: dict[str, str]) -> list[Json]:
        assert query["sort"] == "updated"
        assert query["direction"] == "asc"
        wanted = set(query["labels"].split(",")) if "labels" in query else set()
        items = [
            thread.issue
            for thread in repo.threads.values()
            if thread.fate is None
            and query.get("state", "open") in ("all", thread.issue["state"])
            and wanted <= {label["name"] for label in thread.issue["labels"]}
            and thread.issue["updated_at"] >= query.get("since", "")
        ]
        return sorted(items, key=lambda item: (item["updated_at"], item["number"]))

    def _search(self, words: str) -> tuple[int, dict[str, str], Any]:
        terms = dict(part.split(":", 1) for part in words.split())
        repo = self.repos.get(terms["repo"].lower())
        threads = [t for t in repo.threads.values() if t.fate is None] if repo else []
        is_pull = terms["is"] == "pr"
        since = terms.get("updated", ">=").removeprefix(">=")
        count = sum((t.pull is not None) == is_pull and t.issue["updated_at"] >= since for t in threads)
        return 200, {}, {"total_count": count, "incomplete_results": False, "items": []}

    def _graphql(self, asked: Asked, payload: bytes) -> tuple[int, dict[str, str], Any]:
        if asked.token is None:
            return 401, {}, {"message": "This endpoint requires you to be authenticated."}
        if not self.has_graphql:
            return 404, {}, {"message": "Not Found"}
        if self.graphql_error:
            return 200, {}, {"data": None, "errors": [self.graphql_error]}
        request = json.loads(payload)
        variables = request["variables"]
        repo = self.repos[f"{variables['owner']}/{variables['name']}".lower()]
        kind = "issues" if "threads: issues(" in request["query"] else "pullRequests"
        threads = [
            thread
            for _, thread in sorted(repo.threads.items())
            if thread.fate is None and (thread.pull is None) == (kind == "issues")
        ]
        start = int(variables["after"] or 0)
        page = threads[start : start + 100]
        more = start + 100 < len(threads)
        nodes = [
            {
                "number": thread.issue["number"],
                "createdAt": thread.issue["created_at"],
                "crossings": {
                    "nodes": [
                        {"createdAt": event["created_at"]}
                        for event in thread.timeline
                        if event["event"] == "cross-referenced"
                    ][-50:]
                },
                "closing": {"nodes": thread.closing},
            }
            for thread in page
        ]
        info = {"hasNextPage": more, "endCursor": str(start + 100) if more else None}
        return 200, {}, {"data": {"repository": {"threads": {"pageInfo": info, "nodes": nodes}}}}

    def _base(self) -> str:
        return self.url


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    github: FakeGithub
    timeout = 20
    disable_nagle_algorithm = True
    wbufsize = 65536

    def log_message(self, *_: object) -> None:
        """Keeps quiet."""

    def do_GET(self) -> None:
        """A REST request."""
        self._respond(b"")

    def do_POST(self) -> None:
        """A GraphQL request."""
        self._respond(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _respond(self, payload: bytes) -> None:
        fake = self.github
        bearer = self.headers.get("Authorization")
        token = bearer.removeprefix("Bearer ") if bearer else None
        asked = Asked(self.command, self.path, token, {k.lower(): v for k, v in self.headers.items()})
        with fake._lock:
            fake.asked.append(asked)
            count = len(fake.asked)
        fault = fake.fault(count, asked)
        if fault is not None and fault.kind == "drop":
            self.close_connection = True
            return
        if fault is not None and fault.kind == "altered":
            from tests.fake_faults import Altered, send

            assert isinstance(fault, Altered)
            try:
                send(self, fake, asked, fault, fake.answer(asked, payload))
            except OSError:
                self.close_connection = True
            fake.after(count, asked)
            return
        if fault is not None and fault.kind in ("status", "secondary", "abroad", "html", "garbage"):
            asked.status, headers, body = _broken(fault)
        else:
            asked.status, headers, value = fake.answer(asked, payload)
            if fault is not None and fault.kind == "reshape":
                value = fault.reshape(value)
                headers.pop("ETag", None)
            body = b"" if asked.status == 304 else json.dumps(value).encode()
            headers.setdefault("Content-Type", "application/json; charset=utf-8")
        self._send(asked.status, headers, body, fault=fault)
        fake.after(count, asked)

    def _send(self, status: int, headers: dict[str, str], body: bytes, *, fault: Fault | None) -> None:
        try:
            self.send_response_only(status)
            self.send_header("Date", formatdate(self.github.now(), usegmt=True))
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if fault is not None and fault.kind == "cut":
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True
            elif fault is not None and fault.kind == "slow":
                self.wfile.write(body[:1])
                self.wfile.flush()
                time.sleep(fault.seconds)
                self.wfile.write(body[1:])
            else:
                self.wfile.write(body)
            self.wfile.flush()
        except OSError:
            self.close_connection = True


def _broken(fault: Fault) -> tuple[int, dict[str, str], bytes]:
    json_type = {"Content-Type": "application/json"}
    if fault.kind == "status":
        return fault.status, json_type, b'{"message": "broken"}'
    if fault.kind == "secondary":
        after = {"Retry-After": fault.retry_after} if fault.retry_after is not None else {}
        message = b'{"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}'
        return fault.status, {**json_type, **after}, message
    if fault.kind == "abroad":
        return 302, {"Location": "http://127.0.0.2:9/elsewhere", **json_type}, b"{}"
    if fault.kind == "garbage":
        return 200, json_type, b'[{"number": 1'
    return 200, {"Content-Type": "text/html"}, b"<html><title>Unicorn!</title></html>"


def stamp(seconds: float) -> str:
    """GitHub's way to write a time."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def small_world(fake: FakeGithub, name: str = "errmine-fixtures/pond", *, threads: int = 40) -> None:
    """A repository with everything in it: comments, pull requests with reviews, references, a long thread."""
    for number in range(1, threads + 1):
        is_pull = number % 4 == 0
        thread = fake.add(name, number, pull=is_pull)
        base = 1_700_000_000 + number * 60
        for count in range(number % 3):
            fake.comment(name, number, f"Also seen here, number {count}", at=base + count, quiet=True)
        if is_pull and thread.pull is not None:
            review = {"id": 7000 + number, "state": "COMMENTED", "body": "Why so?", "submitted_at": stamp(base + 5)}
            thread.reviews.append({**review, "user": {"login": "reviewer"}, "author_association": "MEMBER"})
            thread.timeline.append({"event": "reviewed", **review})
            note = {"id": 8000 + number, "body": "This line leaks", "created_at": stamp(base + 6), "path": "a.cc"}
            thread.review_comments.append({**note, "user": {"login": "reviewer"}, "diff_hunk": "@@"})
            thread.pull["review_comments"] = 1
            target = fake.repo(name).threads[number - 1]
            fake.cross_reference(name, number - 1, thread, at=base)
            url = thread.issue["html_url"]
            target.closing.append({"number": number, "url": url, "merged": False})
            thread.closing.append({"number": number - 1, "url": target.issue["html_url"]})
    for count in range(230):
        fake.comment(name, 1, f"Long talk {count}", at=1_700_000_100 + count, quiet=True)
