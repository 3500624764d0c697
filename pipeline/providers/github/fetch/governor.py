"""The one governor of a token: it reads every rate header, and decides how long to wait and when to give up.

GitHub names the wait itself: `Retry-After` first; else the reset time where nothing is left; else, for a secondary
limit without a header, a minute that doubles each time, with jitter. All waiting of a run together has a limit.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pipeline.records.errors import RateLimited

# GitHub's documentation: without a header wait at least a minute, and longer each time.
FIRST_BACKOFF_SECONDS = 60.0
MAX_BACKOFF_SECONDS = 3600.0
# So that clients that were stopped together do not come back together.
JITTER_RATIO = 0.25
# The reset time is a whole second; one more and the new window has surely begun.
AFTER_RESET_SECONDS = 1.0
DEFAULT_MAX_WAIT_SECONDS = 3900.0
# Clocks of machines are wrong by minutes, or by whole hours where the time zone is; a `Date` further off is no clock's.
MAX_SKEW_SECONDS = 86_400.0
# Refusals in a row that are believed in what they ask; a server that says "a second" for ever is not.
BELIEVED_IN_A_ROW = 3
_LIMIT_WORDS = (b"rate limit", b"abuse detection")

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Quota:
    """What GitHub said last about one resource ("core", "graphql", "search")."""

    limit: int
    remaining: int
    reset_at: float


class Governor:
    """Paces the requests of one token; the clock and the sleep are given, so that tests need not wait."""

    def __init__(
        self,
        *,
        max_wait_seconds: float = DEFAULT_MAX_WAIT_SECONDS,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.max_wait_seconds = max_wait_seconds
        self.waited_seconds = 0.0
        self.quotas: dict[str, Quota] = {}
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._skew = 0.0
        self._in_a_row = 0

    def now(self) -> float:
        """The time by GitHub's clock, as far as its `Date` headers tell; our own clock may be wrong."""
        return self._clock() + self._skew

    def own_moment(self) -> datetime:
        """The time by this machine's own clock, to the second."""
        return datetime.fromtimestamp(self._clock(), UTC).replace(microsecond=0)

    def moment(self) -> datetime:
        """The earlier of the two clocks' times, to the second: no mark may be set later than either has it.

        One answer with a `Date` in the future would hide all that changes until then.
        """
        return datetime.fromtimestamp(min(self.now(), self._clock()), UTC).replace(microsecond=0)

    def before(self, resource: str, url: str) -> None:
        """Waits for the reset if nothing is left, instead of making a request that must be refused."""
        quota = self.quotas.get(resource)
        if quota is not None and quota.remaining <= 0 and quota.reset_at > self.now():
            self._wait(quota.reset_at - self.now() + AFTER_RESET_SECONDS, url)

    def saw(self, headers: Headers) -> None:
        """Takes note of the rate headers and the date of an answer, whatever its status."""
        served_at = _http_date(headers.get("Date"))
        if served_at is not None and abs(served_at - self._clock()) <= MAX_SKEW_SECONDS:
            self._skew = served_at - self._clock()
        limit, remaining, reset = (_number(headers.get(f"X-RateLimit-{n}")) for n in ("Limit", "Remaining", "Reset"))
        if remaining is not None and reset is not None:
            resource = headers.get("X-RateLimit-Resource", "core")
            self.quotas[resource] = Quota(int(limit or 0), int(remaining), reset)

    def accepted(self) -> None:
        """An answer that was no refusal: the next secondary limit begins at a minute again."""
        self._in_a_row = 0

    def back_off(self, headers: Headers, url: str) -> None:
        """Waits as long as the refusal asks.

        Raises:
            RateLimited: the run would have waited longer than it may.
        """
        beyond = self._in_a_row - BELIEVED_IN_A_ROW
        least = min(FIRST_BACKOFF_SECONDS * 2.0**beyond, MAX_BACKOFF_SECONDS) if beyond >= 0 else 0.0
        self._wait(max(self._asked(headers), least), url)
        self._in_a_row += 1

    def _asked(self, headers: Headers) -> float:
        after = headers.get("Retry-After")
        seconds = _number(after)
        if seconds is None and (date := _http_date(after)) is not None:
            seconds = date - self.now()
        if seconds is not None:
            return max(seconds, 1.0)
        reset = _number(headers.get("X-RateLimit-Reset"))
        if headers.get("X-RateLimit-Remaining") == "0" and reset is not None:
            return max(reset - self.now(), 0.0) + AFTER_RESET_SECONDS
        backoff = min(FIRST_BACKOFF_SECONDS * 2.0**self._in_a_row, MAX_BACKOFF_SECONDS)
        return backoff * (1 + JITTER_RATIO * self._jitter())

    def _wait(self, seconds: float, url: str) -> None:
        if self.waited_seconds + seconds > self.max_wait_seconds:
            message = (
                f"{url}: GitHub asks to wait {seconds:,.0f} s; this run waited {self.waited_seconds:,.0f} s and may "
                f"wait {self.max_wait_seconds:,.0f} s in all"
            )
            raise RateLimited(message, url=url, wait_seconds=seconds)
        self.waited_seconds += seconds
        self._sleep(seconds)


def is_limit(status: int, headers: Headers, body: bytes) -> bool:
    """True for a refusal that waiting cures: 429, or a 403 that speaks of a limit. Any other 403 is a denial."""
    if status == 429:
        return True
    if status != 403:
        return False
    if "Retry-After" in headers or headers.get("X-RateLimit-Remaining") == "0":
        return True
    text = body[:4096].lower()
    return any(words in text for words in _LIMIT_WORDS)


def _number(value: str | None) -> float | None:
    """The whole number that a header states; None for anything else, which then is as if it were absent."""
    return float(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 16 else None


def _http_date(value: str | None) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp() if value else None
    except (ValueError, TypeError, OverflowError):
        return None
