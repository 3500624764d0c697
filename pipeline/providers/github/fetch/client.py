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

from requests.adapters import HTTPAdapter
from urllib3.util import Retry

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
from pipeline.transport import REDIRECTS, Bounds, NoReply, Reply, Transport, Why

DEFAULT_API_URL = "https://api.github.com"
MAX_BODY_BYTES = 64 * 1024 * 1024
RETRIES = 3
MAX_REDIRECTS = 3
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
        self._transport = self._new_transport()

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
            reply = self._answered("GET", url, headers=headers)
            if reply.status not in REDIRECTS:
                return self._checked(reply, asked=asked)
            url = self._redirect(reply, url)
        raise SourceChanged(f"{asked}: more than {MAX_REDIRECTS} redirects", url=asked)

    def graphql(self, query: str, variables: Mapping[str, object]) -> Answer:
        """The checked answer to a GraphQL query; what it says is for the caller to check."""
        self.figures.graphql += 1
        payload = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json"}
        reply = self._answered("POST", self.graphql_url, headers=headers, payload=payload)
        return self._checked(reply, asked=self.graphql_url)

    def _answered(self, method: str, url: str, *, headers: Mapping[str, str], payload: bytes | None = None) -> Reply:
        """The first answer that is no limit."""
        if origin(url) not in self._origins:
            raise SourceChanged(f"{url}: leads away from {self.api_url}; it was not followed", url=url)
        resource = "graphql" if payload is not None else "search" if "/search/" in url else "core"
        while True:
            self.governor.before(resource, url)
            reply = self._whole(method, url, headers=headers, payload=payload)
            self._note(reply)
            if not is_limit(reply.status, reply.headers, reply.body):
                self.governor.accepted()
                return reply
            _log.warning("%s: limited (%s)", url, reply.status)
            self.governor.back_off(reply.headers, url)

    def _whole(self, method: str, url: str, *, headers: Mapping[str, str], payload: bytes | None) -> Reply:
        """An answer that came to its end. 5xx and failed connections were tried again by urllib3 already."""
        tuning = self._tuning
        bounds = Bounds(*tuning.timeout_seconds, tuning.max_body_seconds, MAX_BODY_BYTES)
        cause = ""
        for attempt in range(RETRIES + 1):
            if attempt:
                self.figures.retried += 1
                time.sleep(tuning.retry_seconds * 2 ** (attempt - 1))
            self.figures.requests += 1
            try:
                return self._transport.send(
                    method, url, bounds=bounds, headers={**self._headers, **headers}, payload=payload
                )
            except NoReply as error:
                if error.why is Why.LARGE:
                    raise SourceChanged(
                        f"{url}: the answer is larger than {MAX_BODY_BYTES:,} bytes", url=url
                    ) from error
                if error.why not in (Why.CUT, Why.UNUSABLE):
                    raise SourceUnreachable(f"{url}: no answer ({error})", url=url) from error
                cause = error.cause
        raise SourceUnreachable(f"{url}: cut short {RETRIES + 1} times ({cause})", url=url)

    def _note(self, reply: Reply) -> None:
        self.governor.saw(reply.headers)
        figures, core = self.figures, self.governor.quotas.get("core")
        figures.not_modified += reply.status == 304
        figures.waited_seconds = self.governor.waited_seconds
        if core is not None:
            figures.quota_left, figures.quota_reset_at = core.remaining, core.reset_at
        _log.debug("%s: %s", reply.url, reply.status)
        self.report(figures)

    def _redirect(self, reply: Reply, url: str) -> str:
        target = urljoin(url, reply.headers.get("Location", ""))
        if "Location" not in reply.headers or origin(target) != origin(url):
            message = f"{url}: redirected to another host ({origin(target)}); it was not followed"
            raise SourceChanged(message, url=url)
        return target

    def _checked(self, reply: Reply, *, asked: str) -> Answer:
        status = reply.status
        if 400 <= status < 500:
            raise Refused(f"{asked}: {status} {message(reply.body)}".rstrip(), url=asked, status=status)
        if status >= 500:
            raise SourceUnreachable(f"{asked}: {status} after {RETRIES + 1} attempts", url=asked)
        if status not in (200, 304):
            raise SourceChanged(f"{asked}: status {status} where 200 or 304 was expected", url=asked)
        if status == 200:
            check_json(reply.headers.get("Content-Type", ""), reply.body, asked)
        return Answer(
            url=asked,
            final_url=reply.url or asked,
            status=status,
            body=reply.body,
            etag=reply.headers.get("ETag"),
            next_url=self._next(reply, asked),
            served_at=self._served_at(reply),
        )

    def _next(self, reply: Reply, asked: str) -> str | None:
        """The address that follows, exactly as GitHub wrote it."""
        match = _NEXT.search(reply.headers.get("Link", ""))
        if match is None:
            return None
        if origin(match[1]) != origin(self.api_url):
            raise SourceChanged(f"{asked}: its next page is on another host", url=asked)
        return match[1]

    def _served_at(self, reply: Reply) -> datetime:
        try:
            return parsedate_to_datetime(reply.headers["Date"]).astimezone(UTC)
        except (KeyError, ValueError, TypeError):
            return datetime.fromtimestamp(self.governor.now(), UTC).replace(microsecond=0)

    @property
    def _headers(self) -> dict[str, str]:
        """What goes with every request."""
        token = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        return {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", **token}

    def _new_transport(self) -> Transport:
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
        return Transport(adapter=_CountedAdapter(self.figures, max_retries=retry))


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
