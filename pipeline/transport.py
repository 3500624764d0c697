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
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from http.cookiejar import DefaultCookiePolicy
from urllib.parse import urlsplit

import requests
import urllib3

from pipeline import __version__
from pipeline.deadline import BoundedAdapter, Deadline

AGENT = f"errmine/{__version__} (+https://pypi.org/project/errmine/)"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS  # zlib's way to say that it is gzip's form


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long an answer may take, and how large it may be."""

    connect_seconds: float  # to each address of the host, and for TLS
    silence_seconds: float  # before its first byte, and between two pieces of it
    answer_seconds: float  # for all of it, from the look-up of the host's name to the last byte
    most_bytes: int  # of the body, unpacked


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
    """Connections that are kept open between requests, which are made one at a time; nothing is asked twice.

    The clock is given, so that tests need not wait. It runs evenly: a wall clock that is set would move the deadline.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._deadline = Deadline(clock)
        self._session = _Session()
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        adapter = BoundedAdapter(self._deadline)
        self._session.mount("https://", adapter)
        self._session.mount("http://", adapter)

    def send(
        self, method: str, url: str, *, bounds: Bounds, headers: Mapping[str, str], payload: bytes | None = None
    ) -> Reply:
        """The answer of `url`, whatever its status.

        Raises:
            NoReply: there is none, or not the whole of it within `bounds`.
        """
        self._deadline.begin(bounds.answer_seconds, silence_seconds=bounds.silence_seconds)
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
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:  # requests lets some of those out
            why = Why.SLOW if self._deadline.is_over() else _why(error)
            raise NoReply(why, type(error).__name__) from None  # its request holds the secrets of `headers`
        with response:
            body = self._body(response, bounds)
            return Reply(response.url or url, response.status_code, response.headers, body)

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def _body(self, response: requests.Response, bounds: Bounds) -> bytes:
        """The whole body: urllib3 compares its length with the one promised, and what is packed ends as it must."""
        body = _Body(response.headers.get("Content-Encoding", ""), bounds.most_bytes)
        try:
            # what has come by now, not a full piece: a body that drips would be waited for without a look at the clock
            while piece := response.raw.read1(_PIECE, decode_content=False):
                body.add(piece)
                if self._deadline.is_over():
                    raise NoReply(Why.SLOW)
        except urllib3.exceptions.HTTPError as error:
            is_silent = isinstance(error, urllib3.exceptions.ReadTimeoutError)
            why = Why.SLOW if self._deadline.is_over() else Why.SILENT if is_silent else Why.CUT
            raise NoReply(why, type(error).__name__) from None
        return body.whole()


class _Body:
    """A body as it comes, unpacked. urllib3 unpacks too, and takes a stream that breaks off in the middle for whole."""

    def __init__(self, coding: str, most_bytes: int) -> None:
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip"):  # gzip is what was asked for
            raise NoReply(Why.UNUSABLE, f"Content-Encoding: {coding[:40]!r}")
        self._most_bytes = most_bytes
        self._is_packed = coding.endswith("gzip")
        self._stream = zlib.decompressobj(_GZIP)
        self._is_begun = False
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        """Takes what came.

        Raises:
            NoReply: that is more than it may be, or no gzip.
        """
        self._is_begun = True
        if not self._is_packed:
            self._put(piece)
        while self._is_packed and piece:
            if self._stream.eof:  # RFC 1952: a file may have several members
                self._stream = zlib.decompressobj(_GZIP)
            try:
                self._put(self._stream.decompress(piece, self._most_bytes - self._size + 1))
            except zlib.error:
                raise NoReply(Why.UNUSABLE, "gzip") from None
            piece = self._stream.unused_data

    def whole(self) -> bytes:
        """All of it.

        Raises:
            NoReply: what is packed did not come to its end.
        """
        if self._is_packed and self._is_begun and not self._stream.eof:
            raise NoReply(Why.CUT, "gzip")
        return b"".join(self._pieces)

    def _put(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._most_bytes:
            raise NoReply(Why.LARGE)


def origin(url: str) -> str:
    """Scheme and host with port, without a user name: what must be the same for an address to be of one site."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rsplit('@', 1)[-1].lower()}"


def _why(error: requests.RequestException | urllib3.exceptions.HTTPError) -> Why:
    if isinstance(error, requests.ConnectionError):
        return Why.UNREACHABLE
    return Why.SILENT if isinstance(error, requests.Timeout) else Why.UNUSABLE


class _Session(requests.Session):
    """A session that never looks where a redirect leads: requests does so even if told not to follow, and trips."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """None: nowhere."""
        return None


class _Headers(requests.auth.AuthBase):
    """The given headers, set last: without it requests would put a password of ~/.netrc in the place of a key."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = {"User-Agent": AGENT, "Accept-Encoding": "gzip", **headers}

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(self._headers)
        return request

    def __repr__(self) -> str:
        return "_Headers(…)"
