"""An OpenAI-compatible server of our own that says what a test wants it to say, and a small home with threads to read.

It proves the client and the gates. It says nothing about how well any model reads or translates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug.wrappers import Request, Response

from pipeline import run

#: What stands between a window and what would be stated of it.
STATEMENTS = "\nStatements:\n"
#: What a test plays: claims for a thread's text, or a whole response.
Play = Callable[[str], "Sequence[Mapping[str, Any]] | Response"]


@dataclass
class Model:
    """The server: `play` answers each question; `failing` responses are used up first."""

    server: HTTPServer
    play: Play = lambda _text: []
    agree: Callable[[str], str] = lambda _text: "yes"  # the answer to the second question
    judge: Callable[[str], str] = lambda _text: "stands"  # the verdict on each statement, by its line
    verdicts: Callable[[str], Response] | None = None  # a whole response in their place
    failing: list[Response] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._answer)

    @property
    def url(self) -> str:
        return self.server.url_for("/v1")

    def _answer(self, request: Request) -> Response:
        asked = json.loads(request.get_data())
        self.asked.append(asked)
        self.keys.append(request.headers.get("Authorization"))
        if self.failing:
            return self.failing.pop(0)
        text = asked["messages"][1]["content"]
        if text.startswith("<passages"):
            return said({"answer": self.agree(text)})
        if STATEMENTS in text:
            return self.verdicts(text) if self.verdicts else said(judged(text, self.judge))
        found = self.play(text)
        return found if isinstance(found, Response) else said({"claims": [pointed(text, one) for one in found]})


def said(content: Any, *, finish: str = "stop", tokens: int = 100) -> Response:
    """A completion whose message is `content`, as JSON if it is no string."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    choice = {"finish_reason": finish, "message": {"role": "assistant", "content": text}}
    body = {"choices": [choice], "usage": {"total_tokens": tokens}}
    return Response(json.dumps(body), content_type="application/json")


def judged(text: str, judge: Callable[[str], str] = lambda _line: "stands") -> dict[str, Any]:
    """The verdict on each statement of a question."""
    lines = text.partition(STATEMENTS)[2].splitlines()
    return {"verdicts": [{"statement": number, "verdict": judge(line)} for number, line in enumerate(lines, 1)]}


def cut(body: str) -> Response:
    """A response that promises more bytes than it sends."""
    response = Response(body, content_type="application/json")
    response.automatically_set_content_length = False
    response.headers["Content-Length"] = str(len(body) + 1000)
    return response


def claim(
    quote: str, *, kind: str = "cause", of: str = "", error: int = 1, sure: str = "said", statement: str = "It says so."
) -> dict[str, Any]:
    """One claim, by words instead of numbers; a relation without `of` answers itself."""
    return {"quote": quote, "kind": kind, "of": of or quote, "error": error, "sure": sure, "statement": statement}


def pointed(text: str, told: Any) -> Any:
    """The claim with the numbers that its words have in a question; what has no words goes as it is."""
    if not isinstance(told, dict) or "quote" not in told:
        return told
    unit = unit_of(text, told["quote"])
    of = unit_of(text, told["of"]) if told["kind"] in {"worked", "failed", "refuted"} else -1
    kept = {key: value for key, value in told.items() if key != "quote"}
    return {"until": unit, **kept, "unit": unit, "of": of}


def unit_of(text: str, words: str) -> int:
    """The number of the unit of a question that begins with the words."""
    found = re.search(rf"^\[(\d+)\] (?:\{{\w+\}} )?{re.escape(words[:60])}", text, re.MULTILINE)
    assert found is not None, f"no unit begins with {words!r}"
    return int(found[1])


TRACEBACK = """Traceback (most recent call last):
  File "/srv/plan/mesh.py", line 41, in place
    raise MeshError("{message}")
tilelab.mesh.MeshError: {message}
"""


def thread(number: int, message: str, *comments: tuple[str, str]) -> dict[str, Any]:
    """An issue as GitHub's API gives it: an error, and comments as (author_association, words)."""
    api = "https://api.github.com/repos/errmine-fixtures/tilelab/issues"
    page = f"https://github.com/errmine-fixtures/tilelab/issues/{number}"
    day = f"2026-03-{number:02d}T10:00:00Z"
    row: dict[str, Any] = {
        "url": f"{api}/{number}",
        "html_url": page,
        "id": 9_100_000 + number,
        "number": number,
        "title": f"mesh report {number}",
        "user": {"login": "reporter", "type": "User"},
        "labels": [],
        "state": "open",
        "author_association": "NONE",
        "created_at": day,
        "updated_at": day,
        "body": f"It ends with\n\n```\n{TRACEBACK.format(message=message)}```\n",
    }
    row["comments"] = [
        {
            "id": 100 * number + place,
            "html_url": f"{page}#issuecomment-{100 * number + place}",
            "issue_url": f"{api}/{number}",
            "user": {"login": f"person{place}", "type": "User"},
            "author_association": role,
            "created_at": day,
            "updated_at": day,
            "body": words,
        }
        for place, (role, words) in enumerate(comments, 1)
    ]
    return row


def home_with(folder: Path, rows: Sequence[Mapping[str, Any]], settings: str = "") -> Path:
    """A home whose raw layer has `rows`, with `settings` as its errmine.toml."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "threads.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run.import_files(folder / "raw", [source])
    if settings:
        (folder / "errmine.toml").write_text(settings, encoding="utf-8")
    return folder
