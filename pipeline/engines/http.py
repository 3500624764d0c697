"""One question to an HTTP service: retries that respect Retry-After, a budget, a cache by content, an end to trying.

A refusal is a value with a reason from a short list, because a build goes on without the answer.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit

from pipeline.engines.answers import Answer, Answers, json_object, question_id
from pipeline.transport import Bounds, NoReply, Reply, Transport, Why

#: What may be better in a moment. 401 and 403 are not here: a wrong key stays wrong.
RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
#: Wrong address or key: the next question would fare no better.
HOPELESS = frozenset({401, 403, 404, 405})
MOST_TRIES = 3
#: So many questions in a row without an answer, and the service is not asked again in this run.
MOST_FAILURES = 5
#: Longest wait that a server may ask of us, in seconds; beyond it the question stays without an answer.
LONGEST_WAIT = 60.0
#: Wait before another try where the server names none, in seconds.
DEFAULT_WAIT = 1.0
#: Longest silence of a server, in seconds; a language model on a CPU thinks long before its first byte.
TIMEOUT_SECONDS = 120.0
#: Longest that one answer may take, from the look-up of the host's name to its last byte.
ANSWER_SECONDS = 300.0
#: Answers are small; a larger one is not read.
MOST_ANSWER_BYTES = 1_000_000
#: Characters a token where a server does not count: a cautious figure for English and code; Chinese has fewer.
CHARACTERS_A_TOKEN = 3

#: Why there is no answer.
WhyNot = Literal["budget_spent", "endpoint_unreachable", "endpoint_refused", "answer_unusable", "batched"]


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


@dataclass(slots=True)
class Tally:
    """What was asked of a service in this run."""

    calls: int = 0  # requests over the network, tries included
    kept: int = 0  # questions answered from the cache
    tokens: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # questions without an answer, by why


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer, and why; `status` is the HTTP status if there was one."""

    reason: str
    status: int | None = None
    why: WhyNot = "endpoint_refused"


SPENT = Refused("the budget is spent", why="budget_spent")


@dataclass(slots=True)
class JsonService:
    """One HTTP service that is asked with JSON and answers with JSON; `secrets` go with each question and nowhere else.

    `headers` are secret too: neither they nor `secrets` are part of a question's id, a message or a representation.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)  # members of the JSON object, as an api_key
    budget: Budget = field(default_factory=Budget)
    answers: Answers | None = None
    timeout_seconds: float = TIMEOUT_SECONDS
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    tally: Tally = field(default_factory=Tally, init=False)
    _transport: Transport = field(default_factory=Transport, init=False, repr=False)
    _failures: int = field(default=0, init=False)
    _gone: Refused | None = field(default=None, init=False)

    @property
    def host(self) -> str:
        """Host and port of the service, for provenance; never a path, a user name or a key."""
        return host_of(self.url)

    def ask(self, payload: Mapping[str, object], *, question: str = "", shelf: str = "") -> Answer | Refused:
        """The service's answer, from the cache if `question` was answered before.

        `question` names what is asked (see `question_id`); the default is the address and the payload, so a payload
        that may change its form without changing its meaning should be named.
        """
        name = question or question_id(self.url, payload)
        kept = self.answers.kept(name, shelf=shelf) if self.answers else None
        if kept is not None:
            self.tally.kept += 1
            return kept
        answer = self._gone or self._ask_within_budget(payload)
        if isinstance(answer, Refused):
            self.tally.refused[answer.why] += 1
            self._note_failure(answer)
        else:
            self._failures = 0
            if self.answers is not None:
                self.answers.keep(name, answer, shelf=shelf)
        return answer

    def _note_failure(self, refused: Refused) -> None:
        """A service that nobody runs, that refuses us, or that failed often enough in a row is not asked again."""
        if refused.why == "budget_spent":
            return
        self._failures += 1
        is_nobody = refused.why == "endpoint_unreachable" and refused.status is None
        if is_nobody or refused.status in HOPELESS or self._failures >= MOST_FAILURES:
            self._gone = refused

    def _ask_within_budget(self, payload: Mapping[str, object]) -> Answer | Refused:
        refused = SPENT
        for number in range(MOST_TRIES):
            if self.budget.is_spent():
                return refused
            started = self.clock()
            answer, wait = self._try(payload)
            tokens = _tokens(payload, answer)
            self.budget.spend(tokens=tokens, seconds=self.clock() - started)
            self.tally.calls += 1
            self.tally.tokens += tokens
            if isinstance(answer, Answer) or wait is None:
                return answer
            refused = answer
            if wait > LONGEST_WAIT:
                return Refused(f"the server asks to wait {wait:.0f} s", answer.status, answer.why)
            if number + 1 < MOST_TRIES:
                self.budget.seconds -= wait
                self.sleep(wait)
        return refused

    def _try(self, payload: Mapping[str, object]) -> tuple[Answer | Refused, float | None]:
        """One attempt, and how long to wait before another; None: another is no use."""
        patience = max(1.0, min(self.timeout_seconds, self.budget.seconds))
        bounds = Bounds(patience, patience, max(1.0, min(ANSWER_SECONDS, self.budget.seconds)), MOST_ANSWER_BYTES)
        headers = {"Content-Type": "application/json", **self.headers}
        body = json.dumps({**payload, **self.secrets}).encode()
        try:
            return self._read(self._transport.send("POST", self.url, bounds=bounds, headers=headers, payload=body))
        except NoReply as error:
            if error.why in (Why.LARGE, Why.SLOW):  # another would be no smaller
                return Refused(f"no answer: {error}", why="answer_unusable"), None
            is_nobody = error.why is Why.UNREACHABLE
            why: WhyNot = "endpoint_unreachable" if is_nobody else "endpoint_refused"
            return Refused(f"no answer: {error}", why=why), DEFAULT_WAIT

    def _read(self, reply: Reply) -> tuple[Answer | Refused, float | None]:
        status = reply.status
        if status in RETRIED:
            return Refused(f"HTTP {status}", status), _retry_after(reply.headers)
        if status != HTTPStatus.OK:
            return Refused(f"HTTP {status}", status), None
        body = json_object(reply.body.decode("utf-8-sig", "replace"))
        if body is None:  # a proxy's page with status 200 is as good as a 502
            return Refused("the answer is not a JSON object", status, "answer_unusable"), DEFAULT_WAIT
        return Answer(body, self.host), None


def host_of(url: str) -> str:
    """Host and port of an address, "" if it has none."""
    parts = urlsplit(url)
    return parts.hostname + (f":{parts.port}" if parts.port else "") if parts.hostname else ""


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that the server asks us to wait: a number, or a date against the answer's own date."""
    value = headers.get("Retry-After", "")
    if value.isdecimal() and len(value) < 7:
        return float(value)
    try:
        until = parsedate_to_datetime(value)
        return max(0.0, (until - parsedate_to_datetime(headers.get("Date", ""))).total_seconds())
    except (ValueError, TypeError):
        return DEFAULT_WAIT


def _tokens(payload: Mapping[str, object], answer: Answer | Refused) -> int:
    """What the server says that the answer cost; an estimate from the lengths where it does not say."""
    if isinstance(answer, Refused):
        return 0
    usage = answer.body.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    if isinstance(total, int) and total > 0:
        return total
    return (len(str(payload)) + len(str(answer.body))) // CHARACTERS_A_TOKEN
