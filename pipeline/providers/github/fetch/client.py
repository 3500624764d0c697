"""One GitHub API, spoken to politely: a serial session whose every answer is checked before anyone sees it."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from pipeline import __version__
from pipeline.providers.github.fetch.answers import (
    DEFAULT_TUNING,
    Answer,
    Figures,
    Refused,
    Tuning,
    check_json,
    message,
    origin,
)
from pipeline.providers.github.fetch.governor import Governor, is_limit
from pipeline.records.errors import ConfigError, SourceChanged, SourceUnreachable

DEFAULT_API_URL = "https://api.github.com"
MAX_BODY_BYTES = 64 * 1024 * 1024
RETRIES = 3
MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NEXT = re.compile(r'<([^<>]{1,4000})>;[^,<]{0,200}?rel="next"')
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_log = logging.getLogger(__name__)


Report = Callable[[Figures], None]


def _silent(_figures: Figures) -> None:
    """Tells nobody."""


class Client:
    """The session with one API under one token (or none)."""

    def __init__(
        self,
        token: str | None = None,
        *,
        api_url: str = DEFAULT_API_URL,
        graphql_url: str | None = None,
        governor: Governor | None = None,
        tuning: Tuning = DEFAULT_TUNING,
    ) -> None:
        self.api_url = _checked_base(api_url, token)
        self.graphql_url = graphql_url or _graphql_url(self.api_url)
        self.governor = governor or Governor()
        self.figures = Figures()
        self.report: Report = _silent
        self._token = _checked_token(token)
        self._tuning = tuning
        self._origins = {origin(self.api_url), origin(self.graphql_url)}
        self._session = self._new_session()

    @property
    def has_token(self) -> bool:
        """True if requests are made under a token."""
        return self._token is not None

    @property
    def fingerprint(self) -> str:
        """What names the token without giving it away: validators of one token are worth nothing to another."""
        if self._token is None:
            return "anonymous"
        return hashlib.sha256(f"errmine\x1f{self._token}".encode()).hexdigest()[:16]

    def url(self, path: str) -> str:
        """The address of a path of the API."""
        return f"{self.api_url}/{path.lstrip('/')}"

    def unanswered(self, url: str) -> Answer:
        """What stands for an answer where a page is made from a refusal: address, and time by GitHub's clock."""
        served_at = datetime.fromtimestamp(self.governor.now(), UTC).replace(microsecond=0)
        return Answer(url, url, 200, b"", None, None, served_at)

    def get(self, url: str, *, etag: str | None = None) -> Answer:
        """The checked answer to a GET; status 304 if `etag` still holds.

        Raises:
            Refused: 4xx that no waiting cures.
            RateLimited: the run may not wait any longer.
            SourceUnreachable: no whole answer could be had.
            SourceChanged: the answer is not JSON, or leads to another host.
        """
        headers = {"If-None-Match": etag} if etag else {}
        asked = url
        for _ in range(MAX_REDIRECTS + 1):
            response, body = self._answered("GET", url, headers=headers)
            if response.status_code not in _REDIRECTS:
                return self._checked(response, body, asked=asked)
            url = self._redirect(response, url)
        raise SourceChanged(f"{asked}: more than {MAX_REDIRECTS} redirects", url=asked)

    def graphql(self, query: str, variables: Mapping[str, object]) -> Answer:
        """The checked answer to a GraphQL query; what it says is for the caller to check."""
        self.figures.graphql += 1
        payload = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json"}
        response, body = self._answered("POST", self.graphql_url, headers=headers, payload=payload)
        return self._checked(response, body, asked=self.graphql_url)

    def _answered(
        self, method: str, url: str, *, headers: Mapping[str, str], payload: bytes | None = None
    ) -> tuple[requests.Response, bytes]:
        """The first answer that is no limit, with its whole body."""
        if origin(url) not in self._origins:
            raise SourceChanged(f"{url}: leads away from {self.api_url}; it was not followed", url=url)
        resource = "graphql" if payload is not None else "search" if "/search/" in url else "core"
        while True:
            self.governor.before(resource, url)
            response, body = self._whole(method, url, headers=headers, payload=payload)
            self._note(response)
            if not is_limit(response.status_code, response.headers, body):
                self.governor.accepted()
                return response, body
            _log.warning("%s: limited (%s)", url, response.status_code)
            self.governor.back_off(response.headers, url)

    def _whole(
        self, method: str, url: str, *, headers: Mapping[str, str], payload: bytes | None
    ) -> tuple[requests.Response, bytes]:
        """An answer whose body came to its end. 5xx and failed connections were tried again by urllib3 already."""
        reason = ""
        for attempt in range(RETRIES + 1):
            if attempt:
                self.figures.retried += 1
                time.sleep(self._tuning.retry_seconds * 2 ** (attempt - 1))
            with self._sent(method, url, headers=headers, payload=payload) as response:
                try:
                    return response, self._body(response, url)
                except requests.exceptions.RequestException as error:  # cut short
                    reason = type(error).__name__
        raise SourceUnreachable(f"{url}: cut short {RETRIES + 1} times ({reason})", url=url)

    def _sent(self, method: str, url: str, *, headers: Mapping[str, str], payload: bytes | None) -> requests.Response:
        self.figures.requests += 1
        try:
            return self._session.request(
                method,
                url,
                headers=dict(headers),
                data=payload,
                timeout=self._tuning.timeout_seconds,
                allow_redirects=False,
                stream=True,
            )
        except requests.exceptions.RequestException as error:
            # The request inside would carry the token into whatever prints the exception.
            error.request = error.response = None
            raise SourceUnreachable(f"{url}: no answer ({type(error).__name__})", url=url) from error

    def _body(self, response: requests.Response, url: str) -> bytes:
        deadline = time.monotonic() + self._tuning.max_body_seconds
        parts: list[bytes] = []
        size = 0
        for part in response.iter_content(65536):
            parts.append(part)
            size += len(part)
            if size > MAX_BODY_BYTES:
                raise SourceChanged(f"{url}: the answer is larger than {MAX_BODY_BYTES:,} bytes", url=url)
            if time.monotonic() > deadline:
                raise SourceUnreachable(f"{url}: the answer took more than its time", url=url)
        return b"".join(parts)

    def _note(self, response: requests.Response) -> None:
        self.governor.saw(response.headers)
        figures, core = self.figures, self.governor.quotas.get("core")
        figures.not_modified += response.status_code == 304
        figures.waited_seconds = self.governor.waited_seconds
        if core is not None:
            figures.quota_left, figures.quota_reset_at = core.remaining, core.reset_at
        _log.debug("%s: %s", response.url, response.status_code)
        self.report(figures)

    def _redirect(self, response: requests.Response, url: str) -> str:
        target = urljoin(url, response.headers.get("Location", ""))
        if "Location" not in response.headers or origin(target) != origin(url):
            message = f"{url}: redirected to another host ({origin(target)}); it was not followed"
            raise SourceChanged(message, url=url)
        return target

    def _checked(self, response: requests.Response, body: bytes, *, asked: str) -> Answer:
        status = response.status_code
        if 400 <= status < 500:
            raise Refused(f"{asked}: {status} {message(body)}".rstrip(), url=asked, status=status)
        if status >= 500:
            raise SourceUnreachable(f"{asked}: {status} after {RETRIES + 1} attempts", url=asked)
        if status not in (200, 304):
            raise SourceChanged(f"{asked}: status {status} where 200 or 304 was expected", url=asked)
        if status == 200:
            check_json(response.headers.get("Content-Type", ""), body, asked)
        return Answer(
            url=asked,
            final_url=response.url or asked,
            status=status,
            body=body,
            etag=response.headers.get("ETag"),
            next_url=self._next(response, asked),
            served_at=self._served_at(response),
        )

    def _next(self, response: requests.Response, asked: str) -> str | None:
        """The address that follows, exactly as GitHub wrote it."""
        match = _NEXT.search(response.headers.get("Link", ""))
        if match is None:
            return None
        if origin(match[1]) != origin(self.api_url):
            raise SourceChanged(f"{asked}: its next page is on another host", url=asked)
        return match[1]

    def _served_at(self, response: requests.Response) -> datetime:
        try:
            return parsedate_to_datetime(response.headers["Date"]).astimezone(UTC)
        except (KeyError, ValueError, TypeError):
            return datetime.fromtimestamp(self.governor.now(), UTC).replace(microsecond=0)

    def _new_session(self) -> requests.Session:
        retry = Retry(
            total=RETRIES,
            backoff_factor=self._tuning.retry_seconds,
            backoff_jitter=self._tuning.retry_seconds / 2,
            status_forcelist=(500, 502, 503, 504),
            allowed_methods=frozenset({"GET", "POST"}),
            respect_retry_after_header=False,  # the governor's business: it has the run's limit in view
            raise_on_status=False,
            redirect=0,
        )
        session = requests.Session()
        for scheme in ("https://", "http://"):
            session.mount(scheme, _CountedAdapter(self.figures, max_retries=retry))
        session.headers.update(
            {
                "Accept": "application/vnd.github+json",
                "User-Agent": f"errmine/{__version__} (+https://pypi.org/project/errmine/)",
                "X-GitHub-Api-Version": "2022-11-28",
            }
        )
        session.auth = _Bearer(self._token)  # also keeps ~/.netrc from adding another identity
        return session


class _CountedAdapter(HTTPAdapter):
    """Counts the attempts that urllib3 makes by itself."""

    def __init__(self, figures: Figures, *, max_retries: Retry) -> None:
        self._figures = figures
        super().__init__(max_retries=max_retries)

    def build_response(self, req, resp):  # type: ignore[no-untyped-def]
        """The response, after its history of retries was counted."""
        history = getattr(resp.retries, "history", ())
        self._figures.retried += len(history)
        self._figures.requests += len(history)
        return super().build_response(req, resp)


class _Bearer(requests.auth.AuthBase):
    def __init__(self, token: str | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def __repr__(self) -> str:
        return "_Bearer(…)"


def _graphql_url(api_url: str) -> str:
    """`/graphql` beside the REST API: GHES has it at /api/graphql, beside /api/v3."""
    return f"{api_url.removesuffix('/v3')}/graphql"


def _checked_base(api_url: str, token: str | None) -> str:
    parts = urlsplit(api_url)
    if parts.scheme not in ("https", "http") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise ConfigError("GITHUB_API_URL: not the address of an API", hint="Such as https://api.github.com")
    if parts.scheme == "http" and token and parts.hostname not in _LOOPBACK:
        raise ConfigError("GITHUB_API_URL: a token is not sent over plain http", hint="Use https.")
    return api_url.rstrip("/")


def _checked_token(token: str | None) -> str | None:
    token = (token or "").strip()
    if not token:
        return None
    if not re.fullmatch(r"[!-~]{8,1024}", token):
        raise ConfigError("GITHUB_TOKEN: holds characters that no token has", hint="Set it anew.")
    return token
