"""What extract reads from Python's, IPython's, pytest's and other tools' way of printing exceptions."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import extract
from pipeline.extract import lines
from pipeline.records import Event
from tests import linear
from tests.each import each
from tests.rings import one_in

CASES = sorted((Path(__file__).parent / "cases" / "extract-python").iterdir())
SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def _text(case: Path) -> str:
    return (case / "input.txt").read_bytes().decode()


def _shown(text: str, event: Event) -> dict[str, object]:
    return {
        "dialect": event.dialect,
        "exception_type": event.exception_type,
        "message": event.message,
        "detail_lines": event.detail.count("\n") + 1 if event.detail else 0,
        "frames": [[one.file, one.line, one.function] for one in event.frames],
        "chain": [[one.link, one.exception_type, one.message, one.frame_count] for one in event.chain],
        "is_truncated": event.is_truncated,
        "severity": event.severity,
        "starts": text[event.start : event.start + 24],
        "ends": text[max(event.start, event.end - 24) : event.end],
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_reads_as_written_beside_it(case: Path) -> None:
    text = _text(case)
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    assert [_shown(text, event) for event in extract.events(text)] == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_words_around_a_case_move_its_events_and_nothing_else(case: Path) -> None:
    text = _text(case)
    lead = "Hello, my kiln stops after a while.\n\n```\n"
    if case.name.startswith(("line-in-title", "header-lost", "syntax-error")):
        pytest.skip("the first line of a text is read as its title, or its start as a cut")
    moved = extract.events(f"{lead}{text}\n```\n\nWhat can I do?\n")
    before = extract.events(text)
    if not before:  # in a block of code talk may be taken for what was printed; a guess says that it is one
        moved = [one for one in moved if one.dialect != extract.GENERIC]
    if case.name.startswith(("line-", "talk", "warning-line", "several", "helion", "tail")):
        assert [one.exception_type for one in moved] == [one.exception_type for one in before]
        return
    assert [(one.exception_type, one.message, len(one.frames), one.start - len(lead)) for one in moved] == [
        (one.exception_type, one.message, len(one.frames), one.start) for one in before
    ]


def test_all_cases_in_one_text_give_events_in_order_that_do_not_overlap() -> None:
    text = "\n\n".join(_text(case) for case in CASES)
    events = extract.events(text)
    assert len(events) > 60
    assert all(one.end <= other.start for one, other in pairwise(events))
    assert all(0 <= one.start < one.end <= len(text) for one in events)
    assert all(len(one.detail) <= 4000 for one in events)


def test_a_text_without_failure_has_no_event() -> None:
    assert extract.events("The kiln works. `raise` is a keyword, Errors are not shown here.\n" * 50) == []
    assert extract.events("") == []


def test_a_mention_of_the_header_is_no_traceback() -> None:
    assert extract.events("It prints 'Traceback (most recent call last):' and then nothing else.") == []


def test_boilerplate_stays_out_of_the_message_but_in_the_block() -> None:
    text = _text(next(case for case in CASES if case.name == "cuda-trailer"))
    (event,) = extract.events(text)
    assert "asynchronously" not in event.detail
    assert "DSA" not in event.detail
    assert text[event.start : event.end].endswith("device-side assertions.")


def test_a_native_diagnostic_inside_a_traceback_gives_it_its_codes() -> None:
    text = _text(next(case for case in CASES if case.name == "cuda-trailer"))
    (event,) = extract.events(text)
    assert event.codes == ("cuda:cudaErrorIllegalAddress",)


def test_the_same_exception_named_again_is_no_second_event() -> None:
    trace = _text(next(case for case in CASES if case.name == "plain"))
    again = trace.rstrip().rsplit("\n", 1)[-1]
    assert len(extract.events(f"{again}\n\n```\n{trace}```\n\n{again}\n")) == 1


def test_a_signal_right_below_a_dump_is_its_end() -> None:
    text = _text(next(case for case in CASES if case.name == "faulthandler"))
    (event,) = extract.events(text)
    assert event.codes == ("signal:SIGSEGV",)


HOSTILE = {
    "file": 'File "',
    "frame-on-one-line": 'File "a", line 3, in f ',
    "frames": '  File "a", line 3, in f\n',
    "brackets": "[",
    "nested-prefixes": "[rank0]: 2024-01-01 00:00:00 INFO ",
    "headers": "Traceback (most recent call last):\n",
    "headers-on-one-line": "Traceback (most recent call last): ",
    "names-on-one-line": "ValueError: ",
    "names": "ValueError: x\n",
    "dots": "a.",
    "pytest": "E   assert x\n",
    "arrows": "---> 12 x\n",
    "notebook": "a.py in f(x)\n---> 1 x\n\n",
    "notebook-headers": "ValueError      Traceback (most recent call last)\n",
    "groups": '  + Exception Group Traceback (most recent call last):\n  |   File "x", line 3, in f\n',
    "dumps": "Thread 0x00 (most recent call first):\n",
    "debugger": "Exception has occurred: X\n",
    "escaped": 'Traceback (most recent call last):\\n  File \\"x\\", line 3\\n',
    "entities": "File &quot;",
    "ranks": "[rank0]: Traceback (most recent call last):\n[rank1]: Traceback (most recent call last):\n",
    "notebook-behind-pytest": "E   ValueError   Traceback (most recent call last)\n",
    "wrapped": f'  File "/{"x" * 70}\n',
    "escaped-twice": 'Traceback (most recent call last):\\\\n  File "x", line 3\\\\n',
    "wrappers": "KilnError: Traceback (most recent call last):\n",
    "quotes": "> \n",
    "blank": " \n",
}


@pytest.mark.parametrize("name", one_in(5, sorted(HOSTILE)))
def test_twice_the_hostile_text_takes_no_more_than_three_times_as_long(name: str) -> None:
    linear.check(extract.events, HOSTILE[name])


_PIECES = st.sampled_from(
    [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        "    x = 1",
        "ValueError: x",
        "",
        "During handling of the above exception, another exception occurred:",
        "[rank0]: ",
        "  | ",
        "  +-+---------------- 1 ----------------",
        "E   ",
        "----> 1 x",
        "<ipython-input-1-a> in f()",
        "```",
        "a.py:1: ValueError",
        "\\n",
        "> ",
        "...",
        "Fatal Python error: Aborted",
        "Exception has occurred: X",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(_PIECES, st.sampled_from(["\n", "", " "])), max_size=40))
def test_any_mixture_of_pieces_gives_events_in_order(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + end for piece, end in pieces)
    events = extract.events(text)
    assert events == extract.events(text)
    place = 0
    for event in events:
        assert place <= event.start < event.end <= len(text)
        place = event.end


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for event in extract.events(text):
        assert 0 <= event.start < event.end <= len(text)


@pytest.mark.shared
def test_the_real_helion_issue_gives_three_failures_and_an_interruption() -> None:
    if not SHARED.is_dir():
        pytest.skip("../shared is absent")
    text = next((SHARED / "seeds").glob("001_*")).read_text(encoding="utf-8")
    raised = [one for one in extract.events(text) if one.frames]
    assert [(one.exception_type or "").rsplit(".", 1)[-1] for one in raised if one.severity == "error"] == [
        "OutOfResources"
    ] * 3
    assert [one.exception_type for one in raised if one.severity == "interruption"] == ["KeyboardInterrupt"]


def test_of_an_exception_in_a_sentence_and_on_a_line_of_its_own_the_line_is_the_event() -> None:
    line = "AttributeError: module 'kiln.fire' has no attribute 'register_the_shape_of_clay'"
    text = f"I got {line} error\n\n```\n{line}\n```\n"
    (found,) = extract.events(text)
    assert (text[found.start : found.end], found.message) == (line, line.partition(": ")[2])
    (told,) = extract.events(f"{line}\n\nThat is, I got {line} again\n")
    assert told.start == 0


BROKEN = 'Traceback (most recent call last):\n  File "pour.py", line 3, in pour\n    fill(cup)\nCupError: bad cup 3'


@pytest.mark.parametrize(
    "behind",
    [
        "".join(f"all fine now, step {step} of the run\n" for step in range(100)),
        "".join(f"{step}/100 loss 0.{step}37 in {step * 2}.5 s\n" for step in range(5)),
    ],
    ids=["steps", "losses"],
)
def test_what_the_program_goes_on_to_print_is_no_part_of_the_message(behind: str) -> None:
    text = f"start\n{BROKEN}\n{behind}end\n"
    (event,) = extract.events(text)
    assert text[event.start : event.end] == BROKEN
    assert (event.message, event.detail) == ("bad cup 3", "bad cup 3")


@pytest.mark.parametrize(
    "message",
    [
        ":\n" + "".join(f"row {row} holds {row * 3}\n" for row in range(9)),  # it says that a list follows
        "\n" + "".join(f"row {row}: invalid length {row * 3}\n" for row in range(9)),
        "\n" + "".join(f"  row {row} holds {row * 3}\n" for row in range(9)),
        "\n" + "".join(f"row {row} holds {row * 3}\n" for row in range(4)),
        "\n" + "row 3 holds 9\n" * 9,
    ],
    ids=["announced", "of failures", "deeper", "few", "the same"],
)
def test_rows_that_may_be_the_messages_own_stay_in_it(message: str) -> None:
    text = BROKEN + message
    (event,) = extract.events(text)
    assert event.end == len(text.rstrip("\n"))


@each(
    "line",
    [
        "clay.errors.TrayStuck: tray 3 is stuck in kiln B",
        "2026-01-02 10:00:00 ERROR clay.errors.TrayStuck: tray 3 is stuck in kiln B",
        "firing failed: clay.exceptions.TrayStuck: tray 3 is stuck in kiln B",
        "> `clay.exc.TrayStuck: tray 3 is stuck in kiln B`",
        "clay.TrayNotFound: tray 3 is stuck in kiln B",
    ],
)
def test_a_class_of_a_package_of_errors_is_one_whatever_its_name_says(line: str) -> None:
    (event,) = extract.events(f"heating\n{line}\n")
    assert (event.dialect, event.message) == ("exception-line", "tray 3 is stuck in kiln B")
    assert event.exception_type is not None
    assert event.exception_type.startswith("clay.")


@each(
    "line",
    [
        "org.clay.Kiln: tray 3 is stuck in kiln B",
        "org.clay.errors.TrayHandler: tray 3 is stuck in kiln B",
        "2026-01-02 10:00:00 INFO org.clay.Kiln: heating tray 3",
        "std::cout: heating tray 3",
        '{"clay.errors.TrayStuck": "tray 3"}',
        "clay.errors.TrayStuck: 3",
        ":raises clay.errors.TrayStuck: the tray is stuck",
        "import clay.errors.TrayStuck",
        "TrayNotFound: tray 3",
        "clay.errors.TRAY: tray 3 of the kiln",
    ],
)
def test_loggers_settings_and_documentation_name_no_error(line: str) -> None:
    assert extract.events(f"heating\n{line}\n") == []


@each("before", ["", "firing kiln_7 failed : Trace: ", "2026-01-02 10:00:00 ERROR clay.Kiln: fire went out "])
def test_a_trace_of_a_jvm_on_one_line_may_have_no_message(before: str) -> None:
    (event,) = extract.events(
        f"{before}org.clay.HeatException at org.clay.Kiln.heat(Kiln.java:12) at a.B.run(B.java:3)"
    )
    assert (event.exception_type, event.message) == ("org.clay.HeatException", "")
    assert [frame.line for frame in event.frames] == [3, 12]
    assert extract.events("the HeatException at org.clay.Kiln.heat(Kiln.java:12) is mine") == []


@each(
    "text, plain",
    [
        ("`fire()`\n`cool()`\n", " fire() \n cool() \n"),
        ("  `fire()`  \n\t{{cool()}}\nlid\n`\n", "   fire()   \n\t  cool()  \nlid\n`\n"),
        ("{{fire()}}\n`cool()`\n{{lid()}}", "  fire()  \n cool() \n  lid()  "),
        ("`fire()`\nthen `cool()`\n`lid()`\n", "`fire()`\nthen `cool()`\n`lid()`\n"),
        ("```\nfire()\n```\n```\ncool()\n```\n", "```\nfire()\n```\n```\ncool()\n```\n"),
        ("{{{\nfire()\n}}}\n{{{\ncool()\n}}}\n", "{{{\nfire()\n}}}\n{{{\ncool()\n}}}\n"),
    ],
)
def test_marks_of_code_around_lines_in_a_row_are_blanks(text: str, plain: str) -> None:
    assert lines.without_marks(text) == plain
