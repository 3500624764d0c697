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

from pipeline.providers.github.fetch.answers import (
    DEFAULT_TUNING,
    Answer,
    Figures,
    Refused,
    Tuning,
    checked_json,
    message,
    origin,
)
from pipeline.providers.github.fetch.governor import Governor, is_limit
from pipeline.records.errors import ConfigError, SourceChanged, SourceUnreachable
from pipeline.transport import REDIRECTS, Bounds, NoReply, Reply, Transport, Why

DEFAULT_API_URL = "https://api.github.com"
MAX_BODY_BYTES = 64 * 1024 * 1024
# More tries of one question, whatever was wrong with its answer: 502, a cut, HTML, another shape.
RETRIES = 3
MAX_REDIRECTS = 3
_NEXT = re.compile(r'<([^<>]{1,4000})>;[^,<]{0,200}?rel="next"')
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_log = logging.getLogger(__name__)


Report = Callable[[Figures], None]
#: Raises SourceChanged for an answer that is not what it must be; then it is asked for again.
Check = Callable[[Answer], object]


def _silent(_figures: Figures) -> None:
    """Tells nobody."""


class Elsewhere(SourceChanged):
    """It leads to another host: nobody's mistake, so it is not asked again."""


def _anything(_answer: Answer) -> None:
    """Finds nothing wrong."""


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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.api_url = _checked_base(api_url, token)
        self.graphql_url = graphql_url or _graphql_url(self.api_url)
        self.governor = governor or Governor()
        self.figures = Figures()
        self.report: Report = _silent
        self._token = _checked_token(token)
        self._tuning = tuning
        self._origins = {origin(self.api_url), origin(self.graphql_url)}
        self._clock = clock
        self._transport = Transport(clock=clock)
        self._asked_seconds = 0.0  # from requests to the ends of their answers; waits between them do not count

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
        return Answer(url, url, 200, b"", None, None, self.governor.moment())

    def get(self, url: str, *, etag: str | None = None, check: Check = _anything) -> Answer:
        """The checked answer to a GET; status 304 if `etag` still holds.

        Raises:
            Refused: 4xx that no waiting cures.
            RateLimited: the run may not wait any longer.
            SourceUnreachable: no whole answer could be had.
            SourceChanged: the answer is not JSON, leads to another host, or `check` finds it wrong.
        """
        headers = {"If-None-Match": etag} if etag else {}
        return self._tried(lambda until: self._checked(self._followed(url, headers, until), url, etag), check)

    def graphql(self, query: str, variables: Mapping[str, object], *, check: Check = _anything) -> Answer:
        """The checked answer to a GraphQL query; what it says is for the caller to check.

        Raises:
            SourceError: as for `get`.
        """
        self.figures.graphql += 1
        url, payload = self.graphql_url, json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json"}
        return self._tried(
            lambda until: self._checked(self._answered("POST", url, headers, until, payload=payload), url), check
        )

    def _tried(self, ask: Callable[[float], Answer], check: Check) -> Answer:
        """The first answer that is what it must be; `ask` is given the end of its time, in seconds spent on asking.

        What was wrong with an answer does not matter: a proxy's page with status 200 is as good as a 502.
        """
        tuning = self._tuning
        until = self._asked_seconds + tuning.tries_seconds
        for attempt in range(1, RETRIES + 2):
            try:
                answer = ask(min(until, self._asked_seconds + tuning.answer_seconds))
                check(answer)
            except (SourceUnreachable, SourceChanged) as error:
                if isinstance(error, Elsewhere):
                    raise
                if attempt > RETRIES or self._asked_seconds >= until:
                    error.args = (f"{error} (try {attempt})",)
                    raise
                _log.info("%s; asked again", error)
            else:
                return answer
            self.figures.retried += 1
            time.sleep(tuning.retry_seconds * 2 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")

    def _followed(self, url: str, headers: Mapping[str, str], until: float) -> Reply:
        """The answer after redirects, all of them within one time."""
        asked = url
        for _ in range(MAX_REDIRECTS + 1):
            reply = self._answered("GET", url, headers, until)
            if reply.status not in REDIRECTS:
                return reply
            url = self._redirect(reply, url)
        raise SourceChanged(f"{asked}: more than {MAX_REDIRECTS} redirects", url=asked)

    def _answered(
        self, method: str, url: str, headers: Mapping[str, str], until: float, *, payload: bytes | None = None
    ) -> Reply:
        """The first answer that is no limit."""
        if origin(url) not in self._origins:
            raise Elsewhere(f"{url}: leads away from {self.api_url}; it was not followed", url=url)
        resource = "graphql" if payload is not None else "search" if "/search/" in url else "core"
        while True:
            self.governor.before(resource, url)
            reply = self._whole(method, url, headers, until, payload=payload)
            self._note(reply)
            if not is_limit(reply.status, reply.headers, reply.body):
                self.governor.accepted()
                return reply
            _log.warning("%s: limited (%s)", url, reply.status)
            self.governor.back_off(reply.headers, url)

    def _whole(
        self, method: str, url: str, headers: Mapping[str, str], until: float, *, payload: bytes | None
    ) -> Reply:
        """An answer that came to its end."""
        bounds = Bounds(*self._tuning.timeout_seconds, until - self._asked_seconds, MAX_BODY_BYTES)
        begun = self._clock()
        self.figures.requests += 1
        try:
            return self._transport.send(
                method, url, bounds=bounds, headers={**self._headers, **headers}, payload=payload
            )
        except NoReply as error:
            if error.why is Why.LARGE:
                raise SourceChanged(f"{url}: the answer is larger than {MAX_BODY_BYTES:,} bytes", url=url) from error
            raise SourceUnreachable(f"{url}: no answer: {error}", url=url) from error
        finally:
            self._asked_seconds += self._clock() - begun

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
        try:
            target = urljoin(url, reply.headers.get("Location", ""))
        except ValueError:
            target = ""
        if "Location" not in reply.headers or origin(target) != origin(url):
            message = f"{url}: redirected to another host ({origin(target)}); it was not followed"
            raise Elsewhere(message, url=url)
        return target

    def _checked(self, reply: Reply, asked: str, etag: str | None = None) -> Answer:
        status = reply.status
        if status == 408:
            raise SourceUnreachable(f"{asked}: {status}", url=asked)
        if 400 <= status < 500:
            raise Refused(f"{asked}: {status} {message(reply.body)}".rstrip(), url=asked, status=status)
        if status >= 500:
            raise SourceUnreachable(f"{asked}: {status}", url=asked)
        if status != 200 and (status != 304 or etag is None):
            raise SourceChanged(
                f"{asked}: status {status} where {'200 or 304' if etag else '200'} was expected", url=asked
            )
        body = checked_json(reply.headers.get("Content-Type", ""), reply.body, asked) if status == 200 else b""
        return Answer(
            url=asked,
            final_url=reply.url or asked,
            status=status,
            body=body,
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
            raise Elsewhere(f"{asked}: its next page is on another host", url=asked)
        return match[1]

    def _served_at(self, reply: Reply) -> datetime:
        """When GitHub says that it answered, and never later than this machine's own time."""
        try:
            stated = parsedate_to_datetime(reply.headers["Date"]).astimezone(UTC)
        except (KeyError, ValueError, TypeError, OverflowError):
            return self.governor.moment()
        return min(stated, self.governor.own_moment())

    @property
    def _headers(self) -> dict[str, str]:
        """What goes with every request."""
        token = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        return {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", **token}


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
