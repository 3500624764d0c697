"""What comes back from GitHub: an answer that was checked, or a refusal; and what was counted on the way."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from pipeline.records.errors import SourceChanged, SourceError

#: Connect and read timeout of one request.
TIMEOUT_SECONDS = (5.0, 30.0)
# One answer, redirects and all: the read timeout alone starts anew with each byte.
ANSWER_SECONDS = 120.0
# All tries for one answer: two that take as long as they may, and one that is quicker. Waits for limits do not count.
TRIES_SECONDS = 300.0


class Refused(SourceError):
    """GitHub answered that we may not have this, or that it is not there; asking again changes nothing."""

    advice = "Check the name of the repository, and that GITHUB_TOKEN may read it."

    def __init__(self, message: str, *, url: str, status: int) -> None:
        super().__init__(message, url=url)
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer. `body` is whole and JSON if `status` is 200, empty if it is 304."""

    url: str  # that was asked for
    final_url: str  # that answered, after redirects within the same host
    status: int  # 200 or 304
    body: bytes
    etag: str | None
    next_url: str | None
    served_at: datetime


@dataclass(slots=True)
class Figures:
    """What the client did so far."""

    requests: int = 0
    not_modified: int = 0
    retried: int = 0
    graphql: int = 0
    waited_seconds: float = 0.0
    quota_left: int | None = None
    quota_reset_at: float | None = None
    threads: int = 0  # threads whose pages were brought


@dataclass(frozen=True, slots=True)
class Tuning:
    """What tests set to go fast; the defaults are right for GitHub."""

    retry_seconds: float = 1.0  # first pause after an answer that was none, doubled each time
    timeout_seconds: tuple[float, float] = TIMEOUT_SECONDS
    answer_seconds: float = ANSWER_SECONDS
    tries_seconds: float = TRIES_SECONDS


DEFAULT_TUNING = Tuning()


def checked_json(content_type: str, body: bytes, url: str) -> bytes:
    """`body` without a byte-order mark, if it is the JSON that its type must promise: UTF-8, as RFC 8259 has it.

    Raises:
        SourceChanged: it is not JSON, whatever its status said.
    """
    if content_type.partition(";")[0].strip().lower() not in ("application/json", "application/vnd.github+json"):
        raise SourceChanged(f"{url}: {content_type or 'no content type'} where JSON was expected", url=url)
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SourceChanged(f"{url}: the answer is not valid JSON", url=url) from error
    return body


def message(body: bytes) -> str:
    """GitHub's own word about a refusal, bounded."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    message = value.get("message") if isinstance(value, dict) else None
    return f"({message[:200]})" if isinstance(message, str) else ""


def origin(url: str) -> tuple[str, str]:
    """Scheme and host with port: what an address must share with the API to be followed."""
    try:
        parts = urlsplit(url)
    except ValueError:  # "http://[": of nobody
        return "", ""
    return parts.scheme, parts.netloc.lower()
