"""HTTP for all that speak it: one request, and its whole answer within bounds. How to ask politely is not its business.

::

    providers.http                  pages of documentation sites: robots.txt, a pause, redirects within the site
    providers.github.fetch.client   GitHub's API: quota and waits, validators, more tries
    engines.http                    model endpoints: a budget, an end to trying

No redirect is followed here: where one leads is for those to judge. Certificates are checked, no cookie is kept, and no
password of ~/.netrc is sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from http.cookiejar import DefaultCookiePolicy
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from pipeline import __version__

AGENT = f"errmine/{__version__} (+https://pypi.org/project/errmine/)"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long an answer may take, and how large it may be."""

    connect_seconds: float
    silence_seconds: float  # before its first byte, and between two pieces of it
    answer_seconds: float  # from the request to the last byte, headers included; the silence starts anew each time
    most_bytes: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer: its body came to the end that its headers promise."""

    url: str
    status: int
    headers: Mapping[str, str]  # names in any case
    body: bytes


class Why(Enum):
    """Why there is no whole answer."""

    UNREACHABLE = "nobody answers"
    SILENT = "nothing comes for too long"
    SLOW = "the whole of it takes longer than it may"
    CUT = "it breaks off"
    LARGE = "it is larger than it may be"
    UNUSABLE = "it is no HTTP that can be read"


class NoReply(Exception):
    """No whole answer could be had, and why; `cause` is the library's name for it. No header is in it."""

    def __init__(self, why: Why, cause: str = "") -> None:
        super().__init__(f"{why.value} ({cause})" if cause else why.value)
        self.why = why
        self.cause = cause


class Transport:
    """Connections that are kept open between requests; the clock is given, so that tests need not wait."""

    def __init__(self, *, adapter: HTTPAdapter | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._session = requests.Session()
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        if adapter is not None:
            self._session.mount("https://", adapter)
            self._session.mount("http://", adapter)

    def send(
        self, method: str, url: str, *, bounds: Bounds, headers: Mapping[str, str], payload: bytes | None = None
    ) -> Reply:
        """The answer of `url`, whatever its status.

        Raises:
            NoReply: there is none, or not the whole of it within `bounds`.
        """
        until = self._clock() + bounds.answer_seconds
        try:
            response = self._session.request(
                method,
                url,
                data=payload,
                auth=_Headers(headers),
                timeout=(bounds.connect_seconds, bounds.silence_seconds),
                allow_redirects=False,
                stream=True,
            )
        except requests.RequestException as error:
            raise NoReply(_why(error), type(error).__name__) from None  # its request holds the secrets of `headers`
        with response:
            body = self._body(response, bounds, until)
            return Reply(response.url or url, response.status_code, response.headers, body)

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def _body(self, response: requests.Response, bounds: Bounds, until: float) -> bytes:
        """The whole body: urllib3 compares its length with the one promised."""
        pieces: list[bytes] = []
        size = 0
        try:
            # what has come by now, not a full piece: a body that drips would be waited for without a look at the clock
            while piece := response.raw.read1(_PIECE, decode_content=True):
                pieces.append(piece)
                size += len(piece)
                if size > bounds.most_bytes:
                    raise NoReply(Why.LARGE)
                if self._clock() > until:
                    raise NoReply(Why.SLOW)
        except urllib3.exceptions.HTTPError as error:
            is_garbled = isinstance(error, urllib3.exceptions.DecodeError)
            raise NoReply(Why.UNUSABLE if is_garbled else Why.CUT, type(error).__name__) from None
        return b"".join(pieces)


def origin(url: str) -> str:
    """Scheme and host with port, without a user name: what must be the same for an address to be of one site."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rsplit('@', 1)[-1].lower()}"


def _why(error: requests.RequestException) -> Why:
    if isinstance(error, requests.ConnectionError):
        return Why.UNREACHABLE
    return Why.SILENT if isinstance(error, requests.Timeout) else Why.UNUSABLE


class _Headers(requests.auth.AuthBase):
    """The given headers, set last: without it requests would put a password of ~/.netrc in the place of a key."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = {"User-Agent": AGENT, **headers}

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(self._headers)
        return request

    def __repr__(self) -> str:
        return "_Headers(…)"
