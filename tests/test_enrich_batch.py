"""`errmine enrich prompts`, `answers`: the same questions and answers as over the network, in OpenAI's batch format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import knowledge
from pipeline import extract, raw, run, store
from pipeline.providers import documents
from pipeline.records import Document
from pipeline.run import Places
from pipeline.text.units import units
from tests import cli, golden
from tests.model_server import STATEMENTS, claim, home_with, judged, pointed, thread

ACT = "Set `PLAN_ROWS=64` in the launcher and start again."
HELPED = "I did that on all hosts of the second rack, and the mesh stands since yesterday."
CAUSE = "The planner counts padded rows twice, so its plan is larger than the mesh."
ROWS = [
    thread(1, "shard 7 does not fit the mesh", ("MEMBER", ACT), ("NONE", HELPED)),
    thread(2, "ring of 3 hosts is broken", ("MEMBER", CAUSE)),
    thread(3, "axis 2 has no name"),
]
SETTINGS = '[enrich]\nmodel = "m1"\n'  # no url: nobody is asked over a network
QUIET = ("--quiet",)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = home_with(tmp_path / "home", ROWS, SETTINGS)
    build(made)
    return made


def build(home: Path) -> dict[str, Any]:
    done = cli.run("build", "--home", home, "--workers", "1", "--json")
    assert done.code == 0
    run.export(Places.of(home))
    return dict(json.loads(done.out))


def written(home: Path, file: Path, *more: str) -> list[dict[str, Any]]:
    """The lines of the batch file."""
    assert cli.run("enrich", "prompts", "--out", file, "--home", home, *more).code == 0
    return [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]


def replied(file: Path, lines: list[dict[str, Any]]) -> Path:
    """A results file in which a reader of the prompts says what is so, last question first."""
    with file.open("w", encoding="utf-8") as out:
        for line in reversed(lines):
            body = {"choices": [{"finish_reason": "stop", "message": {"content": json.dumps(answer(line))}}]}
            row = {"id": "b", "custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}}
            out.write(json.dumps({**row, "error": None}) + "\n")
    return file


def answer(line: dict[str, Any]) -> dict[str, Any]:
    text = line["body"]["messages"][1]["content"]
    if text.startswith("<passages"):
        return {"answer": "yes"}
    if STATEMENTS in text:
        return judged(text)
    told = []
    if ACT in text:
        told = [claim(ACT, kind="remedy"), claim(HELPED, kind="worked", of=ACT)]
    if CAUSE in text:
        told = [claim(CAUSE)]
    return {"claims": [pointed(text, one) for one in told]}


@pytest.mark.long
def test_a_build_names_no_thread_that_waits_for_an_answer(tmp_path: Path) -> None:
    made = home_with(tmp_path / "home", ROWS, SETTINGS)
    done = cli.run("build", "--home", made, "--workers", "1")
    assert done.code == 0
    assert "batch file" not in done.err
    assert "batched 3" in done.out  # the table counts them


@pytest.mark.long
def test_two_rounds_of_files_say_what_the_network_would_have_said(home: Path, tmp_path: Path) -> None:
    first = written(home, tmp_path / "first.jsonl")
    assert len(first) == 3
    assert {line["url"] for line in first} == {"/v1/chat/completions"}
    assert {line["body"]["model"] for line in first} == {"m1"}
    done = cli.run("enrich", "answers", replied(tmp_path / "out.jsonl", first), "--home", home, "--json")
    told = json.loads(done.out)
    assert (told["taken"], told["claims"], told["unknown"]) == (3, 0, 0)
    assert told["waiting"] == 3  # the cause and the act for their verdicts, and whether it helped
    second = written(home, tmp_path / "second.jsonl")
    asked = [line["body"]["messages"][1]["content"] for line in second]
    assert sorted((text.startswith("<passages"), STATEMENTS in text) for text in asked) == [
        (False, True),
        (False, True),
        (True, False),
    ]
    assert cli.run("enrich", "answers", replied(tmp_path / "out.jsonl", second), "--home", home).code == 0
    assert written(home, tmp_path / "third.jsonl") == []
    build(home)
    claims = "SELECT kind, outcome, rule FROM claims WHERE contains(rule, 'llm:') ORDER BY kind, outcome"
    assert store.query(Places.of(home).database, claims).rows == [
        ("cause", None, "llm:m1@batch#enrich-4+judge-1"),
        ("remedy", "worked", "checked:llm:m1@batch#enrich-4+check-1+judge-1"),
    ]
    bundle = golden.bundle_bytes(home / "curated")
    build(home)
    assert golden.bundle_bytes(home / "curated") == bundle
    entries = [json.loads(line) for line in (home / "curated" / "entries.jsonl").read_text("utf-8").splitlines()]
    (entry,) = [entry for entry in entries if entry["workarounds"]]
    (remedy,) = entry["workarounds"]
    assert (remedy["worked"], remedy["tier"]) == (1, "maintainer_confirmed")  # a maintainer advised it, a user confirms
    assert {piece["quote"] for piece in entry["evidence"]} >= {ACT, HELPED}
    assert cli.run("validate", home / "curated").code == 0


@pytest.mark.long
def test_a_second_reading_goes_by_files_and_its_cost_is_told_before(tmp_path: Path) -> None:
    home = home_with(tmp_path / "home", ROWS[1:2], SETTINGS + "passes = 2\n")
    build(home)
    file = tmp_path / "first.jsonl"
    told = json.loads(cli.run("enrich", "prompts", "--out", file, "--home", home, "--json").out)
    assert (told["prompts"], told["tokens_of_second_readings"]) == (1, told["tokens"])
    assert "second readings of these" in cli.run("enrich", "prompts", "--out", file, "--home", home).out
    first = written(home, file)
    cli.run("enrich", "answers", replied(tmp_path / "out.jsonl", first), "--home", home)
    asked = written(home, file)
    texts = [line["body"]["messages"][1]["content"] for line in asked]
    assert [STATEMENTS in text for text in texts].count(True) == 1
    assert any(text.endswith("Named already:\ncause [3], error 1") for text in texts)
    assert cli.run("enrich", "answers", replied(tmp_path / "out.jsonl", asked), "--home", home).code == 0
    assert written(home, file) == []
    build(home)
    assert store.query(Places.of(home).database, "SELECT rule FROM claims WHERE contains(rule, 'llm:')").rows == [
        ("llm:m1@batch#enrich-4+judge-1",)  # it named the same again
    ]


@pytest.mark.long
def test_a_benchmark_reads_the_figures_of_a_home_from_its_kept_answers(home: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        lines = written(home, tmp_path / f"{name}.jsonl")
        cli.run("enrich", "answers", replied(tmp_path / "out.jsonl", lines), "--home", home)
    build(home)
    layer = raw.RawLayer(Places.of(home).raw)
    threads = [_labelled(documents.document(layer.read(refs.refs))) for refs in layer.documents()]
    told = {
        name: {
            (" ".join(one.document.text[slice(*_span(one, unit))].split()), kind)
            for one in threads
            for unit, kind in reader(one)
        }
        for name, reader in knowledge.of_home(home).items()
    }
    found = {(ACT, "remedy"), (CAUSE, "cause")}
    names = ("home, answers", "home, claims", "home, published", "home, shown")
    assert told == {**dict.fromkeys(names, found), "home, leads": set()}


def _labelled(document: object) -> knowledge.Thread:
    assert isinstance(document, Document)
    events = extract.events(document.text)
    return knowledge.Thread(document, events, units(document, events), "tune", [], None)


def _span(thread: knowledge.Thread, unit: int) -> tuple[int, int]:
    return thread.units[unit].start, thread.units[unit].end


@pytest.mark.long
def test_the_most_useful_threads_come_first_and_the_same_file_twice(home: Path, tmp_path: Path) -> None:
    (one,) = written(home, tmp_path / "one.jsonl", "--threads", "1")
    assert ACT in one["body"]["messages"][1]["content"]  # somebody replied, and most
    whole = written(home, tmp_path / "a.jsonl")
    assert one in whole
    written(home, tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.long
def test_lines_that_answer_nothing_are_named_and_the_rest_is_taken(home: Path, tmp_path: Path) -> None:
    file = replied(tmp_path / "out.jsonl", written(home, tmp_path / "first.jsonl"))
    more = [
        "no json",
        json.dumps({"custom_id": "x" * 64, "response": {"status_code": 200, "body": {"choices": []}}, "error": None}),
        json.dumps({"custom_id": "y", "response": {"status_code": 429, "body": {}}, "error": None}),
        json.dumps({"custom_id": "z", "response": None, "error": {"message": "expired"}}),
        json.dumps([1]),
    ]
    file.write_text("\ufeff" + "\n".join([*more, file.read_text("utf-8")]), encoding="utf-8")
    done = cli.run("enrich", "answers", file, "--home", home)
    assert done.code == 0
    for part in (f"{file}:1: no JSON", f"{file}:3: status 429", f"{file}:4: no response", "answers nothing that is"):
        assert part in done.err
    assert "3 answers taken, 4 unusable, 1 unknown" in done.out


@pytest.mark.long
def test_a_file_without_any_answer_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{}\n", encoding="utf-8")
    done = cli.run("enrich", "answers", tmp_path / "bad.jsonl", "--home", home)
    assert done.code == 2
    assert "bad.jsonl:1" in done.err
    done = cli.run("enrich", "answers", tmp_path / "none.jsonl", "--home", home)
    assert done.code == 2
    assert "none.jsonl" in done.err
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    assert cli.run("enrich", "answers", tmp_path / "empty.jsonl", "--home", home).code == 1


@pytest.mark.long
def test_without_the_section_the_commands_say_what_to_add(home: Path, tmp_path: Path) -> None:
    (home / "errmine.toml").unlink()
    done = cli.run("enrich", "prompts", "--out", tmp_path / "p.jsonl", "--home", home)
    assert done.code == 2
    assert "[enrich]" in done.err


def test_before_a_build_there_is_nothing_to_read_and_it_says_so(tmp_path: Path) -> None:
    made = home_with(tmp_path / "home", ROWS, SETTINGS)
    done = cli.run("enrich", "prompts", "--out", tmp_path / "p.jsonl", "--home", made)
    assert "errmine build" in done.err
    assert (tmp_path / "p.jsonl").read_text("utf-8") == ""
