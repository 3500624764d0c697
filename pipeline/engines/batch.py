"""Questions as a file, answers as a file: OpenAI's batch format, which hosted batch APIs and `vllm run-batch` take.

Both stand where the network service stands, so what is asked, checked and kept is the same either way: `Questions`
writes down what is not answered yet, `Replies` answers from the file that came back.

https://platform.openai.com/docs/guides/batch: one JSON object a line with custom_id, method, url and body; the output
has custom_id, response {status_code, body} and error, in any order.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pipeline.engines.answers import Answer, Answers, json_object
from pipeline.engines.http import CHARACTERS_A_TOKEN, Refused, Tally
from pipeline.records import disk
from pipeline.records.errors import ConfigError

#: Names the service in provenance where the settings have no endpoint.
NO_HOST = "batch"
_URL = "/v1/chat/completions"
_OK = 200


@dataclass(slots=True)
class Questions:
    """Writes each question that has no kept answer into `file`, once."""

    file: IO[str]
    answers: Answers
    host: str
    tally: Tally = field(default_factory=Tally, init=False)
    asked: set[str] = field(default_factory=set, init=False)
    most_answered: int = field(default=0, init=False)  # tokens that the answers may have at most

    def ask(self, payload: Mapping[str, object], *, question: str = "", shelf: str = "") -> Answer | Refused:
        """The kept answer; else the question goes into the file and has none yet."""
        kept = self.answers.kept(question, shelf=shelf)
        if kept is not None:
            self.tally.kept += 1
            return kept
        if question not in self.asked:
            self.asked.add(question)
            line = {"custom_id": question, "method": "POST", "url": _URL, "body": payload}
            self.file.write(json.dumps(line, sort_keys=True) + "\n")
            self.tally.tokens += len(str(payload.get("messages"))) // CHARACTERS_A_TOKEN
            most = payload.get("max_tokens")
            self.most_answered += most if isinstance(most, int) else 0
        return Refused("the question is in the batch file", why="batched")


@dataclass(slots=True)
class Replies:
    """Answers from `bodies`, custom_id -> the completion; each that is used is kept."""

    bodies: Mapping[str, Mapping[str, object]]
    answers: Answers
    host: str
    tally: Tally = field(default_factory=Tally, init=False)
    used: set[str] = field(default_factory=set, init=False)

    def ask(self, payload: Mapping[str, object], *, question: str = "", shelf: str = "") -> Answer | Refused:
        """The answer of the file or the kept one, whichever is there."""
        del payload  # the question's id stands for it
        body = self.bodies.get(question)
        if body is not None:
            self.used.add(question)
            answer = Answer(body, self.host)
            self.answers.keep(question, answer, shelf=shelf)
            return answer
        kept = self.answers.kept(question, shelf=shelf)
        if kept is not None:
            self.tally.kept += 1
            return kept
        return Refused("no answer came back", why="batched")


@dataclass(frozen=True, slots=True)
class Results:
    """A results file as read: the completions by custom_id, and a word on each line without one."""

    bodies: Mapping[str, Mapping[str, object]]
    unusable: tuple[str, ...]


def results(path: Path) -> Results:
    """The completions of a results file.

    Raises:
        ConfigError: the file cannot be read, or none of its lines is of the form.
    """
    bodies: dict[str, Mapping[str, object]] = {}
    unusable: list[str] = []
    try:
        with io.TextIOWrapper(disk.opened(path, pipes=True), encoding="utf-8-sig", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    name, body = _completion(line)
                    if isinstance(body, str):
                        unusable.append(f"{path}:{number}: {body}")
                    else:
                        bodies[name] = body
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}", hint="Give the batch's output file.") from error
    if unusable and not bodies:
        hint = "Give the output file of the batch (its error file holds no answers)."
        raise ConfigError(f"{unusable[0]}; no line of the file holds an answer", hint=hint)
    return Results(bodies, tuple(unusable))


def _completion(line: str) -> tuple[str, Mapping[str, object] | str]:
    """(custom_id, the completion or why there is none)."""
    row = json_object(line)
    name = (row or {}).get("custom_id")
    if row is None or not isinstance(name, str):
        return "", "no JSON object with a custom_id"
    response = row.get("response")
    if not isinstance(response, dict):
        return name, f"no response: {str(row.get('error'))[:120]}"
    body = response.get("body")
    if response.get("status_code", _OK) != _OK or not isinstance(body, dict):
        return name, f"status {str(response.get('status_code'))[:20]}"
    return name, body
