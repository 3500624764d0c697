"""What is wrong in a home's own small files is named by file and line, and ends no command."""

from __future__ import annotations

import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline import run
from pipeline.records import Skipped
from pipeline.records.summary import Summary
from pipeline.run.home import locking, recording
from tests import cli, golden

OLD = {
    "run_id": "run-of-long-ago", "flow": "build", "status": "completed",
    "started_at": "2026-01-01T00:00:00+00:00", "ended_at": None,
    "detail": {"stages": [{"stage": "a", "taken": 2, "given": 1, "skipped": 1, "reasons": {"x": 1}}]},
}  # fmt: skip
#: Lines that are JSON and no record of a run; the first forms were written for the tests, the others came from flips.
NO_RUNS = (
    "5", "null", "[]", "{}", '"run"', "[" * 100_000,
    json.dumps({**OLD, "run_id": None}), json.dumps({**OLD, "flow": 5}), json.dumps({**OLD, "more": 1}),
    json.dumps({**OLD, "started_at": "yesterday"}), json.dumps({**OLD, "started_at": 5}),
    json.dumps({**OLD, "started_at": "2026-01-01T00:00:00"}),
    json.dumps({**OLD, "started_at": "0001-01-01T00:00:00+05:00"}),
    json.dumps({**OLD, "detail": []}), json.dumps({**OLD, "detail": {"stages": 7}}),
    json.dumps({**OLD, "detail": {"stages": [{"stage": "a"}]}}), json.dumps({**OLD, "detail": {"x": float("nan")}}),
    json.dumps({**OLD, "run_id": "\ud800"}), json.dumps({**OLD, "detail": {"error": "\udce4"}}),
    json.dumps({**OLD, "sha256": "0" * 64}), json.dumps({**OLD, "sha256": 5}),
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two runs on record, of which one names what it did."""
    for flow in ("import", "build"):
        with run.recorded(tmp_path, flow) as record:
            record.summary = run.import_files(tmp_path / "raw", [golden.SAMPLE / "issues.jsonl"])
    return tmp_path


def ledger(home: Path) -> Path:
    return home / ".errmine" / "runs.jsonl"


@pytest.mark.parametrize("line", [b"\xff\xfe\x00", b'{"run_id": "half', *(line.encode() for line in NO_RUNS)])
def test_a_line_that_is_no_run_is_named_and_put_aside_and_the_others_stay(line: bytes, home: Path) -> None:
    first, last = ledger(home).read_bytes().splitlines()
    ledger(home).write_bytes(b"\n".join([first, line, last]) + b"\n")
    assert [row.flow for row in recording.rows(home)] == ["import", "build"]
    word = f"{ledger(home)} line 2: is no record of a run, and passed over"
    done = cli.run("status", "--home", home)
    assert (done.code, word in done.err) == (0, True)
    with run.recorded(home, "export"):
        pass
    assert recording.put_aside(home) == (word,)
    assert ledger(home).with_name("runs.jsonl.damaged").read_bytes() == line + b"\n"
    assert [row.flow for row in recording.rows(home)] == ["import", "build", "export"]
    assert recording.damaged(home) == recording.put_aside(home) == ()


def test_no_flipped_bit_ends_a_command_or_is_believed(home: Path) -> None:
    whole = ledger(home).read_bytes()
    runs = recording.rows(home)
    places = random.Random(5).sample(range(len(whole)), 150)
    for place in places:
        body = bytearray(whole)
        body[place] ^= 1 << place % 8
        ledger(home).write_bytes(body)
        assert set(map(repr, recording.rows(home))) <= set(map(repr, runs)), place
        assert len(recording.rows(home)) < 2 or body[place : place + 1].isspace() or place == len(whole) - 1, place
        run.status(home)


def test_lines_of_before_have_no_sum_and_are_runs(home: Path) -> None:
    ledger(home).write_text(json.dumps(OLD) + "\n", encoding="utf-8")
    (row,) = recording.rows(home)
    assert (row.run_id, row.started_at) == ("run-of-long-ago", datetime(2026, 1, 1, tzinfo=UTC))
    assert recording.damaged(home) == ()


@pytest.mark.parametrize(
    "note",
    [b"\xff", b"{", b"5", b'{"run_id": "r", "flow": "build", "pid": 1, "started_at": "yesterday"}',
     b'{"run_id": "r", "flow": "build", "pid": 1, "started_at": 5}',
     b'{"run_id": "\\ud800", "flow": "build", "pid": 1, "started_at": "2026-01-01T00:00:00+00:00"}'],
)  # fmt: skip
def test_a_lock_whose_note_is_damaged_is_a_lock(note: bytes, home: Path) -> None:
    (home / ".errmine" / "lock").write_bytes(note)
    with run.recorded(home, "export"):
        pass
    assert [row.flow for row in recording.rows(home)] == ["import", "build", "export"]
    assert locking.here("r", "f", now=datetime.now(UTC)).pid == os.getpid()


def test_a_file_whose_name_is_no_utf8_is_skipped_by_name_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in (b"bad-\xe4\xff.jsonl", b"good.jsonl"):
        with open(os.fsencode(folder) + b"/" + name, "wb") as file:
            file.write((golden.SAMPLE / "issues.jsonl").read_bytes().splitlines()[0] + b"\n")
    os.mkdir(os.fsencode(folder) + b"/sub-\xe4")
    done = cli.run("import", folder, "--home", tmp_path / "home", "--json")
    told = json.loads(done.out)
    assert (done.code, told["new_pages"]) == (0, 1)
    names = [(item["item_id"], item["reason"]) for item in told["examples"]]
    assert names == [(f"{folder}/bad-\\xe4\\xff.jsonl", "name_not_utf8"), (f"{folder}/sub-\\xe4", "name_not_utf8")]
    assert "bad-" in cli.run("import", folder, "--home", tmp_path / "home").err
    assert [row.status for row in recording.rows(tmp_path / "home")] == ["completed"] * 2


def test_what_is_wrong_in_a_file_with_such_a_name_is_said_with_a_readable_one(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad-\xe4.jsonl"))
    path.write_bytes(b'{"no": "thread"}\n')
    (item,) = run.import_files(tmp_path / "raw", [path]).examples
    assert (item.item_id, item.reason) == (f"{tmp_path}/bad-\\xe4.jsonl:1", "unknown_json")


def test_a_record_from_which_a_forgotten_thread_was_erased_is_a_record(tmp_path: Path) -> None:
    gap = Skipped("import", "github.com/errmine-fixtures/a#7", "invalid_json")
    with run.recorded(tmp_path, "import") as record:
        record.summary = Summary(examples=(gap,))
    run.forget(tmp_path, tmp_path / "raw", "https://github.com/errmine-fixtures/a/issues/7")
    (row,) = recording.rows(tmp_path)
    assert (row.flow, row.detail["examples"], recording.damaged(tmp_path)) == ("import", [], ())
