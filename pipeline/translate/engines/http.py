"""JSON over HTTP for engines: retries that respect Retry-After, a budget, and a cache by content."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import requests

#: What may be better in a moment. 401 and 403 are not here: a wrong key stays wrong.
RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
MOST_TRIES = 3
#: Longest wait that a server may ask of us, in seconds; beyond it the text stays untranslated.
LONGEST_WAIT = 60.0
TIMEOUT_SECONDS = 60.0
#: An answer to one sentence is small; a larger one is not read.
MOST_ANSWER_BYTES = 1_000_000


@dataclass(slots=True)
class Budget:
    """What an engine may still spend in this run. Answers from the cache cost nothing."""

    calls: int = 1_000
    tokens: int = 1_000_000
    seconds: float = 1_800.0

    def is_spent(self) -> bool:
        """Whether nothing may be asked any more."""
        return self.calls <= 0 or self.tokens <= 0 or self.seconds <= 0

    def spend(self, *, tokens: int, seconds: float) -> None:
        """Takes one call off the budget."""
        self.calls -= 1
        self.tokens -= tokens
        self.seconds -= seconds


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's JSON object."""

    body: Mapping[str, object]
    is_cached: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer, and why; `status` is the HTTP status if there was one."""

    reason: str
    status: int | None = None


@dataclass(slots=True)
class JsonService:
    """One HTTP service that is asked with JSON and answers with JSON."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    cache: Path | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    @property
    def host(self) -> str:
        """Host and port of the service, for provenance; never a user name or a key."""
        parts = urlsplit(self.url)
        return parts.hostname + (f":{parts.port}" if parts.port else "") if parts.hostname else ""

    def ask(self, payload: Mapping[str, object]) -> Answer | Refused:
        """The service's answer to `payload`, from the cache if the same was asked before."""
        path = self._cache_path(payload)
        if path is not None and path.is_file():
            body = _object(path.read_text(encoding="utf-8"))
            if body is not None:
                return Answer(body, is_cached=True)
        answer = self._ask_within_budget(payload)
        if path is not None and isinstance(answer, Answer):
            _write_whole(path, json.dumps(answer.body, ensure_ascii=False, sort_keys=True))
        return answer

    def _ask_within_budget(self, payload: Mapping[str, object]) -> Answer | Refused:
        refused = Refused("the budget is spent")
        for _ in range(MOST_TRIES):
            if self.budget.is_spent():
                return refused
            started = self.clock()
            answer, wait = self._try(payload)
            tokens = _tokens(answer.body) if isinstance(answer, Answer) else 0
            self.budget.spend(tokens=tokens, seconds=self.clock() - started)
            if isinstance(answer, Answer) or wait is None:
                return answer
            refused = answer
            if wait > LONGEST_WAIT:
                return Refused(f"the server asks to wait {wait:.0f} s", answer.status)
            self.budget.seconds -= wait
            self.sleep(wait)
        return refused

    def _try(self, payload: Mapping[str, object]) -> tuple[Answer | Refused, float | None]:
        """One attempt, and how long to wait before another; None: another is no use."""
        try:
            response = requests.post(
                self.url, json=payload, headers=dict(self.headers), timeout=TIMEOUT_SECONDS, allow_redirects=False
            )
        except requests.RequestException as error:
            return Refused(f"no answer: {type(error).__name__}"), 1.0
        if response.status_code in RETRIED:
            return Refused(f"HTTP {response.status_code}", response.status_code), _retry_after(response)
        if response.status_code != requests.codes.ok:
            return Refused(f"HTTP {response.status_code}", response.status_code), None
        body = _object(response.text) if len(response.content) <= MOST_ANSWER_BYTES else None
        if body is None:
            return Refused("the answer is not a JSON object", response.status_code), None
        return Answer(body, is_cached=False), None

    def _cache_path(self, payload: Mapping[str, object]) -> Path | None:
        if self.cache is None:
            return None
        asked = json.dumps([self.url, payload], ensure_ascii=False, sort_keys=True)
        return self.cache / f"{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()}.json"


def _retry_after(response: requests.Response) -> float:
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else 1.0


def _object(text: str) -> dict[str, object] | None:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _tokens(body: Mapping[str, object]) -> int:
    usage = body.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and total > 0 else 0


def _write_whole(path: Path, text: str) -> None:
    """The file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as handle:
        handle.write(text)
    os.replace(handle.name, path)
