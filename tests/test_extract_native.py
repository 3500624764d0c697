"""Native diagnostics: every form is found with its type, message, place and codes, and nothing else is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import extract
from pipeline.extract import foreign, native
from pipeline.extract.rule import PLACE
from pipeline.records import Frame
from pipeline.text import prefixes
from tests import event_cases, linear
from tests.each import each

CASES = sorted((Path(__file__).parent / "cases" / "extract-native").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_case_gives_the_expected_events(case: Path) -> None:
    found = native.events((case / "input.txt").read_text("utf-8"))
    event_cases.check(case, found, frame=lambda one: [one.file, one.line, one.function])


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_events_are_sorted_apart_and_inside_the_text(case: Path) -> None:
    text = (case / "input.txt").read_text("utf-8") * 2
    last = 0
    for event in native.events(text):
        assert last <= event.start < event.end <= len(text)
        shown = "\n".join(line[prefixes.carrier_width(line) :] for line in text[event.start : event.end].split("\n"))
        begun = event.detail[:80].partition("\n")[0]  # of a row of a pack it is the message, without what announces it
        assert text[event.start : event.end].startswith(begun) or begun in shown
        last = event.end


@pytest.mark.parametrize("prefix", ["[rank0]: ", "> ", "2025-01-02T03:04:05.678Z ", "worker-1  | "])
def test_prefixed_lines_give_the_same_message(prefix: str) -> None:
    line = "python: a.cpp:41: int ring(int): Assertion `rank < world' failed."
    (event,) = native.events(f"text before\n{prefix}{line}\n")
    assert event.message == "Assertion `rank < world' failed."
    assert event.frames[-1].file == "a.cpp"


def test_two_failures_far_apart_stay_two() -> None:
    line = "ptxas fatal   : Unknown option '-fixture'\n"
    assert len(native.events(line + "some talk\n" * 40 + line)) == 2


def test_a_fence_between_two_diagnostics_keeps_them_apart() -> None:
    line = "ptxas fatal   : Unknown option '-fixture'\n"
    assert len(native.events(f"```\n{line}```\nand later\n```\n{line}```\n")) == 2


def test_detail_of_a_long_block_is_bounded() -> None:
    line = "k.cu:9: f: block: [0,0,0], thread: [1,0,0] Assertion `x` failed.\n"
    (event,) = native.events(line * 500)
    assert len(event.detail) <= 4000
    assert event.end >= len(line) * 499


HOSTILE = (
    "a:1: " * 20_000,
    "x.cpp:1: f(" * 9_000 + "Assertion `",
    "Assertion `" * 9_000,
    "a.cu:1: block: [0,0,0], thread: [0,0,0] Assertion `a" * 1_000,
    ('a:1: assertion "a' * 340 + "Assertion `x\n") * 20,
    "terminate called after throwing an instance of '" * 2_000,
    "CMake Error at " * 7_000,
    "loc(" * 20_000 + "): error: ",
    ": error: " * 11_000,
    "a(1): error: " * 8_000,
    "E0912 11:59:01.94 741969 a.cc:5] " * 3_000,
    "OpenCV Error: in in , file , line " * 3_000,
    "\n    at f (" * 9_000,
    "Error: x\n    at f (a.js:1:2)\n" * 3_000,
    "#0 " * 30_000,
    "abort in a::" * 8_000,
    "a::" * 33_000,
    "what(): " * 12_000,
    "\tat a.b(C.java:1)\n" * 5_000,
    "panicked at " * 8_000,
    "\n" * 100_000 + "Aborted",
    "terminate called without an active exception\n" + "\n" * 90_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:24]))
def test_hostile_text_stays_fast(text: str) -> None:
    linear.within(1.5, native.events, text)  # 100 kB; the slowest takes a fraction of it


@settings(deadline=None)  # the first text has the expressions of all packs compiled
@given(st.text(alphabet="aE0:.()[]`' \nfailed#", max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for event in native.events(f"{text}\nx.cc:5] Check failed: {text}\n{text}"):
        assert event.message == event.message.strip()


@pytest.mark.shared
def test_every_native_gpu_run_gives_an_event() -> None:
    path = Path(__file__).parents[2] / "shared" / "corpus" / "gpu_runs.jsonl.gz"
    if not path.exists():
        pytest.skip("the internal corpus is not here")
    import gzip

    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = [row["text"] for row in rows if "Traceback" not in row["text"]]
    assert texts
    assert [text for text in texts if not native.events(text)] == []


def test_a_place_is_looked_for_once_in_a_run_of_letters() -> None:
    place = re.compile(PLACE)
    run = "include/kiln/fire.cc"
    assert place.match(run)
    assert not place.match(run, 3)  # each place tried costs the whole run
    assert [found[0] for found in place.finditer(f"C:/{run}(7)")] == [f"C:/{run}", "7"]


#: How a line begins that a rule for diagnostics takes.
LINES = {
    "anyone's": "node-1:12:34 [0] NCCL WARN ",
    "glog-line": "2024-01-02 03:04:05.678901: E kiln/fire.cc:54] ",
    "error-line": "ERROR: ",
}


@each("row", foreign.remarks("chatter"))
def test_chatter_is_no_failure_and_its_look_alike_is_one(row: foreign.Remark) -> None:
    for rule in row.rules or {"anyone's"}:
        events = native.events(f"{LINES[rule]}{row.example}\n")
        assert [event.severity for event in events] == ([] if row.rules else ["warning"])
        assert [event.severity for event in native.events(f"{LINES[rule]}{row.counter}\n")] == ["error"]


@each("row", foreign.remarks("announcing"))
def test_a_line_that_announces_another_exception_is_told_from_its_look_alike(row: foreign.Remark) -> None:
    assert foreign.announces(row.example)
    assert not foreign.announces(row.counter)


def test_a_compiler_that_fails_shows_what_it_was_reading_and_where_in_itself() -> None:
    (event,) = extract.events("fire/kiln.c:12:3: internal compiler error: in heat_kiln, at heat.c:1882\n")
    assert event.frames == (Frame("fire/kiln.c", 12, None), Frame("heat.c", 1882, "heat_kiln"))
    (event,) = extract.events("go1: internal compiler error: in heat_kiln, at heat.c:1882\n")
    assert event.frames == (Frame("heat.c", 1882, "heat_kiln"),)


def test_a_place_may_begin_with_a_variable() -> None:
    (event,) = extract.events('${GOPATH}/clay/fire.go:9:2: cannot find package "clay/heat" in any of:\n')
    assert event.frames == (Frame("${GOPATH}/clay/fire.go", 9, None),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("error: Failed to fetch: `https://kiln.test/simple/lid/`", "Failed to fetch: `https://kiln.test/simple/lid/`"),
        ("`/usr/bin/ld: cannot find -llid`", "cannot find -llid"),
        ("`lid.o: undefined reference to `shut()'`", "undefined reference to `shut()'"),
    ],
)
def test_the_mark_that_closes_a_quote_at_the_end_of_a_message_stays(line: str, message: str) -> None:
    (event,) = extract.events(f"It is cold.\n\n{line}\n")
    assert event.message == message
