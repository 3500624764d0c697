"""One polite session for documentation sites: robots.txt, a pause between requests, checked answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from pipeline.providers import robots
from pipeline.records import Skipped
from pipeline.records.errors import RateLimited, SourceChanged, SourceError, SourceUnreachable
from pipeline.transport import REDIRECTS, Bounds, NoReply, Transport, Why, origin

#: What robots.txt calls us.
AGENT = "errmine"
CONNECT_SECONDS, SILENCE_SECONDS = 10.0, 30.0
#: A site's own pages come one a second at most; sites that ask for more in robots.txt get more.
DELAY_SECONDS = 1.0
# The largest page of OpenXLA's docs has 0.2 MB.
MAX_BODY_BYTES = 16 * 1024 * 1024
# One page, redirects and all; the pauses between requests do not count.
ANSWER_SECONDS = 120.0
MAX_REDIRECTS = 5
# How often a page is asked for at most, where a site fails or gives what it cannot mean.
TRIES = 3


class Disallowed(SourceError):  # named by what its catcher does
    """The site's robots.txt asks programs to leave this page alone."""

    advice = "Leave the page out, or ask the site's owner."


class _Elsewhere(SourceChanged):
    """It leads to another site: nobody's mistake, so it is not asked again."""


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer. Statuses below 500 are left to the caller; the body is complete."""

    url: str  # that answered, after redirects within the same site
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    @property
    def content_type(self) -> str:
        """The media type without its parameters, lower case."""
        return self.headers.get("content-type", "").split(";", 1)[0].strip().lower()


class Get(Protocol):
    """What a docs source is given to fetch with."""

    def __call__(self, url: str, *, headers: Mapping[str, str] | None = None) -> Response:
        """The answer of `url`."""
        ...


@dataclass(slots=True)
class Session:
    """Fetches pages one after the other; sleep and clock are given, so that tests need not wait.

    `credentials` are headers for one site, by its "scheme://host": they are sent nowhere else. `api_sites` are made for
    programs: their robots.txt, written for crawlers of pages, is not asked.
    """

    delay_seconds: float = DELAY_SECONDS
    credentials: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    api_sites: frozenset[str] = frozenset()
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _transport: Transport = field(default_factory=Transport, repr=False)
    _rules: dict[str, robots.Rules] = field(default_factory=dict)
    _asked_at: dict[str, float] = field(default_factory=dict)

    def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> Response:
        """The answer of `url`, if its site lets programs have it.

        Raises:
            Disallowed: robots.txt forbids it.
            SourceUnreachable: nothing answered, the answer broke off, or the site is failing; robots.txt included.
            RateLimited: the site asks us to come back later.
            SourceChanged: it leads to another site, or is larger than any page.
        """
        site = origin(url)
        if site not in self._rules:
            self._rules[site] = robots.ALLOW_ALL if site in self.api_sites else self._robots(site)
        parts = urlsplit(url)
        if not self._rules[site].allows(f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"):
            raise Disallowed(f"robots.txt of {site} disallows {url}", url=url)
        return self._whole(url, headers or {})

    def _whole(self, url: str, headers: Mapping[str, str]) -> Response:
        """The answer of `url` after redirects, of a site that is neither failing nor asking us to wait.

        A failure is tried again after a pause that grows, because it may be one machine of many.
        """
        for attempt in range(1, TRIES):
            try:
                return self._once(url, headers)
            except _Elsewhere:
                raise
            except (SourceUnreachable, SourceChanged):
                self.sleep(self.delay_seconds * attempt)
        return self._once(url, headers)

    def _once(self, url: str, headers: Mapping[str, str]) -> Response:
        response = self._followed(url, headers)
        if response.status == 429:
            wait = _seconds(response.headers.get("retry-after", ""))
            raise RateLimited(f"{url} asks us to wait", url=url, wait_seconds=wait)
        if response.status >= 500:
            raise SourceUnreachable(f"{url} answers {response.status}", url=url)
        return response

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def _robots(self, site: str) -> robots.Rules:
        """RFC 9309: no robots.txt allows everything; nothing is fetched from a site that cannot say.

        Where the network or the site fails, that is what went wrong, and not a wish of the site.
        """
        try:
            response = self._whole(f"{site}/robots.txt", {})
        except SourceChanged:
            return robots.DISALLOW_ALL
        if response.status != 200:
            return robots.ALLOW_ALL
        return robots.rules(response.body.decode("utf-8", "replace"), AGENT)

    def _followed(self, url: str, headers: Mapping[str, str]) -> Response:
        """The answer after redirects, none of which may leave the site."""
        asked, left = url, ANSWER_SECONDS
        for _ in range(MAX_REDIRECTS + 1):
            self._pause(origin(asked))
            begun = self.clock()
            response = self._asked(asked, headers, left)
            left -= self.clock() - begun
            target = response.headers.get("location")
            if response.status not in REDIRECTS or not target:
                return response
            following = _joined(asked, target)
            if origin(following) != origin(url):
                raise _Elsewhere(f"{url} leads to another site: {following[:200]}", url=url)
            asked = following
        raise SourceChanged(f"{url} leads round in circles", url=url)

    def _asked(self, url: str, headers: Mapping[str, str], seconds: float) -> Response:
        own = {**self.credentials.get(origin(url), {}), **headers}
        bounds = Bounds(CONNECT_SECONDS, SILENCE_SECONDS, seconds, MAX_BODY_BYTES)
        try:
            reply = self._transport.send("GET", url, bounds=bounds, headers=own)
        except NoReply as error:
            is_odd = error.why in (Why.LARGE, Why.UNUSABLE)
            raise (SourceChanged if is_odd else SourceUnreachable)(f"{url}: {error}", url=url) from error
        return Response(url, reply.status, _lower(reply.headers), reply.body)

    def _pause(self, site: str) -> None:
        """Wait until the site's last request is long enough ago."""
        rules = self._rules.get(site)
        delay = max(self.delay_seconds, rules.delay_seconds if rules else 0.0)
        if site in self._asked_at:
            waiting = self._asked_at[site] + delay - self.clock()
            if waiting > 0:
                self.sleep(waiting)
        self._asked_at[site] = self.clock()


def page_if_new(
    get: Get, url: str, *, is_right: Callable[[Response], bool], asked: str = "", validator: str | None = None
) -> Response | Skipped:
    """The answer to `asked` (else `url`), if the site has another page there than that of `validator` and gives it.

    One that `is_right` does not take is asked for again; the last is the answer, whatever it is. What names the page in
    a `Skipped` is `url`.
    """
    for attempt in range(1, TRIES + 1):
        try:
            response = get(asked or url, headers=condition(validator))
        except Disallowed as error:
            return Skipped("ingest", url, "robots_disallowed", str(error))
        if response.status == 304:
            return Skipped("ingest", url, "unchanged_page")
        if attempt == TRIES or is_right(response):
            break
    return response


def _joined(url: str, target: str) -> str:
    """Where `target` leads from `url`; an address that is none leads to nobody's site."""
    try:
        following = urljoin(url, target)
        urlsplit(following)
    except ValueError:
        return f"invalid:{target[:200].replace('[', '').replace(']', '')}"
    return following


def condition(validator: str | None) -> dict[str, str]:
    """The header that asks for a page only if it is another one than that of `validator`, an ETag or a date."""
    if not validator:
        return {}
    is_tag = validator.startswith(('"', "W/"))
    return {"If-None-Match" if is_tag else "If-Modified-Since": validator}


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _seconds(retry_after: str) -> float:
    """Seconds of a Retry-After header; a minute where it gives a date or nothing."""
    return float(retry_after) if retry_after.isdecimal() and len(retry_after) < 7 else 60.0
