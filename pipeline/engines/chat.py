"""A language model behind an OpenAI-compatible endpoint: llama.cpp, vLLM, Ollama, or hosted.

The model is asked for one JSON object. Servers differ in how they are told so: first with the schema, and where that is
refused with HTTP 400 for "a JSON object", then for nothing. What comes back is read here and believed nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pipeline.engines.answers import Answer, Answers, question_id
from pipeline.engines.http import TIMEOUT_SECONDS, Budget, JsonService, Refused, Tally
from pipeline.records import MODEL_RULES

_THOUGHT = re.compile(r"^.{0,200000}?</think>", re.DOTALL)
#: Objects that are tried in an answer with words around it.
_MOST_OBJECTS = 20


@dataclass(frozen=True, slots=True)
class Task:
    """What a model is asked to do, the same for every text. A change of any part is a new `version`."""

    version: str  # part of provenance and of every question's id, such as "enrich-1"
    system: str
    schema: Mapping[str, object]
    most_tokens: int


@dataclass(frozen=True, slots=True)
class Said:
    """The JSON object of an answer, and who said it: "llm:<model>@<host>#<task>"."""

    value: Mapping[str, object]
    name: str


class Service(Protocol):
    """What a question is put to: an endpoint, or a file of questions or answers."""

    tally: Tally

    @property
    def host(self) -> str:
        """Names the service in provenance."""

    def ask(self, payload: Mapping[str, object], *, question: str = "", shelf: str = "") -> Answer | Refused:
        """The answer to the question of that id, or why there is none."""


@dataclass(slots=True)
class ChatModel:
    """Asks `service`, whose URL ends in /chat/completions, to do `task`."""

    service: Service
    model: str
    task: Task
    tokens: int = field(default=0, init=False)  # so many were asked with this task
    _format: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """The model's name in provenance."""
        return self._name(self.service.host)

    def ask(self, text: str, *, shelf: str = "") -> Said | Refused:
        """What the model says to `text`, or why it says nothing that can be used; the answer is kept on `shelf`."""
        before = self.service.tally.tokens
        try:
            return self._ask(text, shelf)
        finally:
            self.tokens += self.service.tally.tokens - before

    def _ask(self, text: str, shelf: str) -> Said | Refused:
        messages = [{"role": "system", "content": self.task.system}, {"role": "user", "content": text}]
        question = question_id("chat", self.model, self.task.version, messages)
        asked = {"model": self.model, "messages": messages, "temperature": 0, "seed": 0}
        asked["max_tokens"] = self.task.most_tokens
        refused = Refused("not asked")
        formats = self._formats()
        for number in range(self._format, len(formats)):
            answer = self.service.ask({**asked, **formats[number]}, question=question, shelf=shelf)
            if isinstance(answer, Answer):
                self._format = self._format if answer.is_kept else number
                return self._counted(self._read(answer))
            refused = answer
            if refused.status != 400:
                break
        return refused

    def _counted(self, found: Said | Refused) -> Said | Refused:
        """`found`; that an answer was no use is told like any other missing answer."""
        if isinstance(found, Refused):
            self.service.tally.refused[found.why] += 1
        return found

    def _formats(self) -> tuple[Mapping[str, object], ...]:
        """From strict to lenient; the first that a server takes is remembered."""
        schema = {"name": "answer", "strict": True, "schema": self.task.schema}
        return (
            {"response_format": {"type": "json_schema", "json_schema": schema}},
            {"response_format": {"type": "json_object"}},
            {},
        )

    def _read(self, answer: Answer) -> Said | Refused:
        choice = _first(answer.body.get("choices"))
        if choice.get("finish_reason") == "length":
            return Refused("the answer was cut off", why="answer_unusable")
        message = choice.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        value = object_in(content, set(_required(self.task.schema))) if isinstance(content, str) else None
        if value is None:
            return Refused("the answer has not the asked form", why="answer_unusable")
        return Said(value, self._name(answer.host))

    def _name(self, host: str) -> str:
        return f"{MODEL_RULES}{self.model}@{host}#{self.task.version}"


def endpoint(
    base_url: str, *, api_key: str, budget: Budget, answers: Answers | None, timeout_seconds: float = TIMEOUT_SECONDS
) -> JsonService:
    """The service at an address such as "http://localhost:8080/v1"; the edge reads the key from the environment."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    url = f"{base_url.rstrip('/')}/chat/completions"
    return JsonService(url, headers=headers, budget=budget, answers=answers, timeout_seconds=timeout_seconds)


def object_in(content: str, keys: set[str]) -> Mapping[str, object] | None:
    """The JSON object with exactly `keys` in an answer, its thoughts, fences and words around it left out."""
    text = _THOUGHT.sub("", content, count=1)
    decoder, at = json.JSONDecoder(), text.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            return None
        try:
            found, _end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and set(found) == keys:
            return found
        at = text.find("{", at + 1)
    return None


def _required(schema: Mapping[str, object]) -> list[str]:
    names = schema.get("required")
    return [str(name) for name in names] if isinstance(names, list | tuple) else []


def _first(choices: object) -> Mapping[str, object]:
    found = choices[0] if isinstance(choices, list) and choices else None
    return found if isinstance(found, dict) else {}
