"""How much of a log is read: whole as people have them, first and last of one that never ends, in bounded time."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest

from pipeline.ask import pasted
from pipeline.cli import texts
from tests import golden
from tests.cli import run
from tests.rings import first_alone

ERROR = """Traceback (most recent call last):
  File "/srv/bench/attention.py", line 88, in <module>
    kernel[grid](q, k, v)
triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 999424, Hardware limit: 232448. \
Reducing block sizes or `num_stages` may help.
"""
OTHER = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'lamp'\n"
LINE = "2026-03-04T10:00:00Z INFO gateway: request served in 12 ms\n"


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.copied(sample_home, tmp_path_factory.mktemp("home"))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of 1 and 3 MiB, so that a test needs no log of 64."""
    monkeypatch.setattr(pasted, "__kwdefaults__", {"most": 4 << 20, "first": 1 << 20})


def test_a_log_is_read_whole_up_to_the_limit() -> None:
    body = LINE.encode() * 100
    assert pasted(io.BytesIO(body), most=len(body), first=1000).gap is None
    assert pasted(io.BytesIO(body), most=len(body), first=1000).text == LINE * 100
    assert pasted(io.BytesIO(b"")).text == ""


def test_of_a_longer_log_first_and_last_are_read_in_whole_lines() -> None:
    lines = [f"line {number} of the log\n" for number in range(1, 400_001)]
    body = "".join(lines).encode()
    read_ = pasted(io.BytesIO(body), most=4 << 20, first=1 << 20)
    gap = read_.gap
    assert gap is not None
    before, after = read_.text[: gap.at - 1].splitlines(), read_.text[gap.at :].splitlines()
    assert before == [line.rstrip() for line in lines[: len(before)]]
    assert after == [line.rstrip() for line in lines[-len(after) :]]
    assert gap.lines == len(lines) - len(before) - len(after)
    assert gap.bytes == len(body) - len(read_.text.encode()) + 1
    assert 3 << 20 <= len(read_.text) <= 5 << 20
    # a place in what was read is the line of the log that stands there
    shown = read_.text.splitlines()
    for number in (1, len(before), len(before) + 2, len(shown)):
        assert shown[number - 1] == f"line {read_.line(number)} of the log"


@pytest.mark.parametrize("body", [b"x" * 9_000_000, "长".encode() * 3_000_000, b"\n" * 9_000_000, b"\xff" * 9_000_000])
def test_a_log_without_lines_or_characters_is_cut_all_the_same(body: bytes) -> None:
    read_ = pasted(io.BytesIO(body), most=4 << 20, first=1 << 20)
    assert read_.gap is not None
    assert len(read_.text) <= 6 << 20


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
def test_a_log_of_utf16_is_read_with_its_lines_and_characters(code: str) -> None:
    text = "开始\r\n" + OTHER.replace("\n", "\r\n")
    body = ("\ufeff" + text).encode(code)
    assert pasted(io.BytesIO(body)).text == text
    assert pasted(io.BytesIO(body), most=1 << 20, first=41).text == text  # cut within a character
    lines = [f"line {number} of the log\r\n" for number in range(1, 200_001)]
    long = pasted(io.BytesIO(("\ufeff" + "".join(lines)).encode(code)), most=4 << 20, first=1 << 20)
    shown = long.text.splitlines()
    assert long.gap is not None
    for number in (1, len(shown) - 1, len(shown)):
        assert shown[number - 1] == f"line {long.line(number)} of the log"


class Endless(io.RawIOBase):
    """More than fits: 1 GiB of a line, then an error."""

    def __init__(self) -> None:
        self.left = 1 << 30

    def read(self, size: int = -1) -> bytes:
        if self.left <= 0:
            return b""
        self.left -= size
        return b"\n" * size


@pytest.mark.long
def test_a_log_of_a_gigabyte_takes_the_memory_of_what_is_read() -> None:
    import tracemalloc

    tracemalloc.start()
    try:
        assert pasted(Endless(), most=4 << 20, first=1 << 20).gap is not None  # type: ignore[arg-type]
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_match_names_the_lines_of_a_log_of_utf16(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(f"start\n{OTHER}end\n".replace("\n", "\r\n").encode("utf-16"))
    told = json.loads(run("match", "--home", home, "--json", path).out)
    assert told["findings"][0]["lines"][0][0] == 2
    assert told["findings"][0]["spans"][0][0] == len("start\n")


@pytest.mark.usefixtures("small")
def test_match_finds_what_ended_a_log_that_is_longer_than_may_be_read(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "ci.log"
    log.write_text(OTHER + LINE * 150_000 + ERROR)
    done = run("match", log, "--home", home)
    assert done.code == 0
    first = 3 + 150_000 + 1
    assert f"lines {first}–{first + 3}" in done.out
    assert f"{log}: " in done.err
    assert "bytes behind line" in done.err
    assert "were left out" in done.err
    told = json.loads(run("match", log, "--home", home, "--json").out)
    assert told["left_out"]["bytes"] > 3_000_000
    events = json.loads(run("extract", log, "--json").out)
    assert [event["exception_type"] for event in events["events"]] == ["KeyError", told["entry"]["exception_type"]]
    assert events["events"][0]["start"] < events["left_out"]["at"] < events["events"][1]["start"]


def test_nothing_is_left_out_of_a_log_that_fits(home: Path) -> None:
    assert json.loads(run("match", "--home", home, "--json", stdin=LINE + ERROR).out)["left_out"] is None
    assert json.loads(run("extract", "--json", stdin=ERROR).out)["left_out"] is None


@pytest.mark.parametrize("command", first_alone(["extract", "match"]))
def test_a_text_that_takes_too_long_is_stopped_and_says_what_to_do(home: Path, command: str) -> None:
    dense = "".join(f"ValueError: the lamp{number:x} of thing{number} is broken\n" for number in range(40_000))
    begun = time.monotonic()
    place = ["--home", home] if command == "match" else []
    done = run(command, *place, "--seconds", "0.5", stdin=dense)
    assert time.monotonic() - begun < 10
    assert done.code == 3
    assert "0.5 s" in done.err
    assert "tail" in done.err


def test_a_line_that_takes_too_long_or_is_too_long_costs_that_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST_LINE_BYTES", 3_000_000)
    dense = "".join(f"ValueError: the lamp{number:x} of thing{number} is broken\n" for number in range(40_000))
    rows = [{"id": "a", "text": ERROR}, {"id": "b", "text": dense}, {"id": "c", "text": "x" * 7_000_000}]
    lines = "\n".join(json.dumps(row) for row in [*rows, {"id": "d", "text": ERROR}]) + "\n" + "[" * 100_000
    done = run("extract", "--jsonl", "--seconds", "1", stdin=lines)
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["a", "d"]
    assert "b: the text was read for 1 s" in done.err
    assert "standard input:3: longer than" in done.err
    assert "standard input:5" in done.err


def test_a_path_with_a_nul_is_a_wrong_argument() -> None:
    assert run("extract", "a\0b").code == 2
