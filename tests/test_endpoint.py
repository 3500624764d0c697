"""The client of engines against a real HTTP server of our own: what it sends, keeps, waits for and gives up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug.wrappers import Response

from pipeline.engines import http
from pipeline.engines.answers import Answer, Answers, question_id
from pipeline.engines.chat import ChatModel, Said, Task, endpoint, object_in
from pipeline.engines.http import MOST_FAILURES, Budget, JsonService, Refused
from tests.model_server import Model, cut, said

SCHEMA = {"type": "object", "properties": {"claims": {"type": "array"}}, "required": ["claims"]}
TASK = Task("task-1", "Do it.", SCHEMA, 100)


@pytest.fixture
def model(httpserver: HTTPServer) -> Model:
    return Model(httpserver)


def chat(model: Model, *, answers: Path | None = None, **budget: float) -> ChatModel:
    """A client that never sleeps; what it would have slept is in `client.service.sleep.__self__`."""
    kept = Answers(answers) if answers else None
    service = endpoint(model.url, api_key="k", budget=Budget(**budget), answers=kept)  # type: ignore[arg-type]
    made = ChatModel(service, "m1", TASK)
    made.service.sleep = [].append
    return made


def test_an_answer_names_who_said_it_and_nothing_of_the_path(model: Model) -> None:
    found = chat(model).ask("text")
    assert isinstance(found, Said)
    assert found.name == f"llm:m1@localhost:{model.server.port}#task-1"
    assert found.value == {"claims": []}
    assert model.keys == ["Bearer k"]
    assert model.asked[0]["temperature"] == 0


def test_a_busy_server_is_asked_again_after_the_time_it_names(model: Model) -> None:
    model.failing = [Response("{}", 429, {"Retry-After": "3"}), Response("{}", 503)]
    client = chat(model)
    assert isinstance(client.ask("text"), Said)
    assert client.service.sleep.__self__ == [3.0, 1.0]  # type: ignore[attr-defined]
    assert client.service.tally.calls == 3


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("Sat, 21 Nov 2026 10:00:03 GMT", 3.0),
        ("Sat, 21 Nov 2026 09:00:00 GMT", 0.0),
        ("Sat, 21 Nov 2026 10:00:03 -0000", 1.0),
        ("soon", 1.0),
        ("", 1.0),
        ("9" * 400, 1.0),
    ],
)
def test_a_time_to_wait_is_a_number_or_a_date_by_the_servers_own_clock(header: str, seconds: float) -> None:
    headers = {"Retry-After": header, "Date": "Sat, 21 Nov 2026 10:00:00 GMT"}
    assert http._retry_after(headers) == seconds


def test_a_body_that_breaks_off_is_no_answer(model: Model) -> None:
    model.failing = [cut('{"choices": [') for _ in range(3)]
    found = chat(model).ask("text")
    assert isinstance(found, Refused)
    assert "no answer" in found.reason
    assert isinstance(chat(model).ask("text"), Said)


@pytest.mark.parametrize(
    "content",
    [
        'Sure! Here {is} the JSON:\n```json\n{"claims": []}\n```\nAnything {else}?',
        '<think>{"claims": ["no"]} or not?</think>{"claims": []}',
        '{"note": 1} {"claims": []}',
    ],
)
def test_the_object_is_found_among_other_words(model: Model, content: str) -> None:
    model.play = lambda _text: said(content)
    found = chat(model).ask("text")
    assert isinstance(found, Said)
    assert found.value == {"claims": []}


@pytest.mark.parametrize("content", ["no JSON", '{"claims": [}', "{" * 50_000, '{"claims": [], "run": "x"}', "[]", ""])
def test_words_without_the_object_are_no_answer(content: str) -> None:
    assert object_in(content, {"claims"}) is None


def test_a_cut_answer_is_not_used(model: Model) -> None:
    model.play = lambda _text: said({"claims": []}, finish="length")
    assert chat(model).ask("text") == Refused("the answer was cut off", why="answer_unusable")


def test_what_was_answered_once_is_kept_whatever_form_the_server_took(model: Model, tmp_path: Path) -> None:
    model.failing = [Response("{}", 400), Response("{}", 400)]  # neither a schema nor a JSON object
    assert isinstance(chat(model, answers=tmp_path).ask("text"), Said)
    forms = [asked.get("response_format", {}).get("type") for asked in model.asked]
    assert forms == ["json_schema", "json_object", None]
    again = chat(model, answers=tmp_path, calls=0)
    assert isinstance(again.ask("text"), Said)
    assert (len(model.asked), again.service.tally.kept, again.service.tally.calls) == (3, 1, 0)


def test_half_a_surrogate_in_an_answer_does_not_make_it_be_asked_again(model: Model, tmp_path: Path) -> None:
    model.play = lambda _text: said('{"claims": ["\\ud800 显存"]}')
    first = chat(model, answers=tmp_path).ask("text")
    assert chat(model, answers=tmp_path).ask("text") == first
    assert len(model.asked) == 1


def test_another_prompt_or_model_or_text_is_another_question(model: Model, tmp_path: Path) -> None:
    first = chat(model, answers=tmp_path)
    first.ask("text")
    for other in (
        ChatModel(first.service, "m2", TASK),
        ChatModel(first.service, "m1", Task("task-2", "Do it.", SCHEMA, 100)),
    ):
        other.ask("text")
    first.ask("text!")
    first.ask("text")
    assert len(model.asked) == 4


def test_a_kept_answer_stays_the_answer_of_the_host_that_gave_it(model: Model, tmp_path: Path) -> None:
    first = chat(model, answers=tmp_path).ask("text")
    moved = chat(model, answers=tmp_path)
    moved.service.url = "http://other.invalid/v1/chat/completions"
    assert moved.ask("text") == first
    assert "other.invalid" in moved.name


def test_a_damaged_answer_on_disk_is_asked_for_again(model: Model, tmp_path: Path) -> None:
    chat(model, answers=tmp_path).ask("text")
    (kept,) = tmp_path.rglob("*.json")
    for damage in ("{", "[]", '{"body": 1, "host": "h"}', '{"body": {}}'):
        kept.write_text(damage, encoding="utf-8")
        assert isinstance(chat(model, answers=tmp_path).ask("text"), Said)
    kept.write_bytes(b"\xff\xfe")
    assert isinstance(chat(model, answers=tmp_path).ask("text"), Said)
    assert len(model.asked) == 6


def test_a_key_is_neither_kept_nor_shown(model: Model, tmp_path: Path) -> None:
    service = JsonService(
        f"{model.url}/chat/completions",
        headers={"Authorization": "Bearer s3cret"},
        secrets={"api_key": "s3cret"},
        answers=Answers(tmp_path),
    )
    assert isinstance(service.ask({"messages": [{}, {"content": "x"}]}), Answer)
    assert model.asked[0]["api_key"] == "s3cret"
    assert "s3cret" not in repr(service)
    assert all("s3cret" not in path.read_text(encoding="utf-8") + path.name for path in tmp_path.rglob("*.json"))


def test_a_password_in_netrc_does_not_take_the_place_of_the_key(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine localhost login a password b\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    chat(model).ask("text")
    assert model.keys == ["Bearer k"]


def test_a_wrong_key_is_tried_once(model: Model) -> None:
    model.failing = [Response("{}", 401)] * 9
    client = chat(model)
    found = [client.ask(text) for text in "abc"]
    assert [one.reason for one in found if isinstance(one, Refused)] == ["HTTP 401"] * 3
    assert len(model.asked) == 1
    assert dict(client.service.tally.refused) == {"endpoint_refused": 3}


def test_where_nobody_listens_nobody_is_asked_twice() -> None:
    service = JsonService("http://127.0.0.1:9/v1", sleep=[].append)
    found = [service.ask({"q": text}) for text in "abc"]
    assert all(isinstance(one, Refused) and one.why == "endpoint_unreachable" for one in found)
    assert service.tally.calls == 3  # the tries of the first question


def test_a_server_that_only_fails_is_given_up(model: Model) -> None:
    model.failing = [Response("{}", 500)] * 100
    client = chat(model)
    for text in "abcdefgh":
        client.ask(text)
    assert len(model.asked) == 3 * MOST_FAILURES


def test_a_failure_now_and_then_gives_up_nothing(model: Model) -> None:
    client = chat(model)
    for number in range(2 * MOST_FAILURES):
        model.failing = [Response("{}", 422)]
        assert isinstance(client.ask(f"bad {number}"), Refused)
        assert isinstance(client.ask(f"good {number}"), Said)


def test_the_budget_counts_tokens_where_the_server_does_not(model: Model) -> None:
    body = {"choices": [{"finish_reason": "stop", "message": {"content": '{"claims": []}'}}]}
    model.play = lambda _text: Response(json.dumps(body), content_type="application/json")
    client = chat(model, tokens=200)
    assert isinstance(client.ask("text"), Said)
    assert client.service.tally.tokens > 50
    client.ask("more " * 200)
    assert client.ask("last") == Refused("the budget is spent", why="budget_spent")


def test_the_longest_wait_is_not_exceeded_and_counts_on_the_budget(model: Model) -> None:
    model.failing = [Response("{}", 429, {"Retry-After": "50"}), Response("{}", 429, {"Retry-After": "3600"})]
    client = chat(model, seconds=100)
    found = client.ask("text")
    assert isinstance(found, Refused)
    assert "asks to wait 3600 s" in found.reason
    assert client.service.budget.seconds < 50


def test_a_question_is_named_by_its_content_alone() -> None:
    assert question_id("a", {"x": 1, "y": 2}) == question_id("a", {"y": 2, "x": 1})
    assert question_id("a", "\ud800") != question_id("a", "?")
