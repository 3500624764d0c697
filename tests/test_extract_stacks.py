"""Stacks of other languages: every form's rows, whole stacks with their chains, and what a stack beats."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import extract, normalise, packs
from pipeline.extract import stacks
from pipeline.extract.stacks.table import Form
from tests import event_cases, linear
from tests.each import each
from tests.rings import one_in

CASES = sorted((Path(__file__).parent / "cases" / "extract-stacks").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_case_gives_the_expected_events(case: Path) -> None:
    found = extract.events((case / "input.txt").read_text("utf-8"))
    event_cases.check(case, found, frame=list)


@each("form", stacks.FORMS.rows())
def test_a_form_knows_its_examples_and_none_of_its_lookalikes(form: Form) -> None:
    hits = stacks.FORMS.hits
    assert hits is not None
    for example in form.examples:
        assert [one.name for one in hits(example)] == [form.name], example
        found = extract.events(f"Before.\n\n{example}\n\nBehind.\n")
        assert found or form.inside, example  # frames below a diagnostic are no event by themselves
        for event in found:
            assert 8 < event.start < event.end <= 9 + len(example) + 1
    for text in form.lookalikes:
        assert form.name not in [one.name for one in hits(text)], text


PREFIXES = (
    "web_1  | ",
    "#8 1.234 ",
    "0 1.927 ",
    "Oct 16 02:07:00 node-3 kilnd[812]: ",
    "2024-11-20T18:12:40.4552278Z ",
    "E/AndroidRuntime( 4508): ",
    "12-20 11:39:41.299: W/System.err(4508): ",
    "12-20 11:39:41.299  4508  4510 E AndroidRuntime: ",
    "[ERROR] ",
    "> ",
    "│ ",
)
PREFIXED = (
    ("java.io.IOException: no fire\n\tat kiln.Fire.heat(Fire.java:12)\n\tat kiln.Main.main(Main.java:3)", 2),
    ("TypeError: no fire\n    at heat (/srv/kiln/fire.js:12:3)\n    at main (/srv/kiln/main.js:3:1)", 2),
    ("panic: no fire\n\ngoroutine 1 [running]:\nmain.heat({0x1, 0x2})\n\t/srv/kiln/fire.go:12 +0x1d", 1),
)


@each("prefix, stack, frames", [(prefix, *stack) for prefix in PREFIXES for stack in PREFIXED])
def test_lines_behind_a_prefix_are_read_as_those_without(prefix: str, stack: str, frames: int) -> None:
    (event,) = extract.events("\n".join(prefix + line for line in stack.split("\n")))
    assert (event.message, len(event.frames)) == ("no fire", frames)
    assert event.frames[-1].line == 12


def test_a_stack_beats_the_exception_line_above_it() -> None:
    text = (
        "java.lang.IllegalStateException: boom\n\tat a.b.C.d(C.java:1)\nCaused by: java.io.IOException: x\n\t... 1 more"
    )
    (event,) = extract.events(text)
    assert event.exception_type == "java.io.IOException"
    assert [tuple(one) for one in event.frames] == [("C.java", 1, "a.b.C.d")]


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        (
            "{} see inner exception.\n ---> Kiln.LidException: open\n   at Kiln.Lid.Shut(String door)",
            ["Kiln.FireException"],
        ),
        (
            (
                "Kiln[0]\n   {} cold\n    ---> Kiln.OvenException: a\n    ---> Kiln.LidException: open\n"
                "      at Kiln.Lid.Shut(String door)"
            ),
            ["Kiln.FireException", "Kiln.OvenException"],
        ),
        # another program's line above, and none
        ("12:00 [lid] {} cold\n ---> Kiln.LidException: open\n   at Kiln.Lid.Shut(String door)", []),
        ("The kiln is cold\n ---> Kiln.LidException: open\n   at Kiln.Lid.Shut(String door)", []),
    ],
)
def test_an_exception_above_its_inner_one_is_of_one_error_with_it(text: str, chain: list[str]) -> None:
    event = extract.events(text.format("Kiln.FireException: no fire,"))[-1]
    assert (event.dialect, event.exception_type, event.message) == ("dotnet", "Kiln.LidException", "open")
    assert [one.exception_type for one in event.chain] == chain
    assert [one.function for one in event.frames] == ["Kiln.Lid.Shut"]


def test_a_stack_in_a_string_of_json_is_read_as_it_was_before() -> None:
    text = (
        r'[2026-05-06 07:08:09] kiln.ERROR: no "fire" {"exception":"[object] (Kiln\\LidError(code: 0): no \"fire\" at'
        r" C:\\kiln\\Lid.php:12)"
        "\n[stacktrace]\n"
        r"#0 C:\\kiln\\Lid.php(12): Illuminate\\Foundation\\Bootstrap\\HandleExceptions->handleError()"
        "\n"
        r"#1 C:\\kiln\\Oven.php(3): Kiln\\Lid->shut(\"door\")"
        '\n"}'
    )
    (event,) = extract.events(text)
    assert (event.exception_type, event.message) == (r"Kiln\LidError", 'no "fire"')
    assert [tuple(one) for one in event.frames] == [
        (r"C:\kiln\Oven.php", 3, r"Kiln\Lid->shut"),
        (r"C:\kiln\Lid.php", 12, None),
    ]


def test_the_frames_of_a_cause_end_with_those_that_it_shares() -> None:
    text = (
        "a.B: outer\n\tat x.A.a(A.java:1)\n\tat x.B.b(B.java:2)\n\tat x.C.c(C.java:3)\n"
        "Caused by: a.C: inner\n\tat x.D.d(D.java:4)\n\t... 2 more"
    )
    (event,) = extract.events(text)
    assert [one.line for one in event.frames] == [3, 2, 4]


def test_a_message_that_a_terminal_cut_in_a_box_is_whole() -> None:
    message = "the kiln of the second shop cannot be lit: its burner (number 412 of all that were bought) is broken"
    wide = 70
    lines = [message[at : at + wide] for at in range(0, len(message), wide)]
    (event,) = extract.events("In Fire.php line 12:\n\n" + "".join(f"  {line.rstrip()}\n" for line in lines))
    assert event.message == message
    (event,) = extract.events("In Fire.php line 12:\n\n  no fire\n  see the door\n\nsee below\n")
    assert event.message == "no fire see the door"


def test_the_same_error_again_right_below_is_one() -> None:
    line = "thread '<unnamed>' panicked at src/a.rs:1:2:\nno fire on door 3\n"
    assert len(extract.events(line + line.replace("3", "4"))) == 1
    assert len(extract.events(line + line.replace("fire", "clay"))) == 2


def test_a_debuggers_frame_goes_on_below() -> None:
    text = (
        "Program received signal SIGSEGV, Segmentation fault.\n"
        '#0  0x000000000040 in heat (door=0x7ffd "kiln", \n    degrees=3)\n    at /src/fire.c:966\n'
        "#1  main () at m.c:2\n"
    )
    (event,) = extract.events(text)
    assert [(one.file, one.line) for one in event.frames] == [("m.c", 2), ("/src/fire.c", 966)]


def test_every_frame_of_a_debuggers_stack_is_read_not_those_alone_whose_number_begins_with_one() -> None:
    frames = "".join(
        f"#{at}  0x00007f1200001{at:03} in kiln::fire_{at} (this=0x0) at fire.cc:{at + 1}\n" for at in range(24)
    )
    (event,) = extract.events(f"Program received signal SIGSEGV, Segmentation fault.\n{frames}")
    assert [frame.line for frame in event.frames] == list(range(24, 0, -1))


def test_where_gdb_stopped_stands_between_the_signal_and_the_stack() -> None:
    text = (
        'Thread 1 "kiln" received signal SIGSEGV, Segmentation fault.\n'
        "Kiln::heat (this=this@entry=0x55555b826470)\n    at ../../kiln/heat.h:61\n"
        "61      ../../kiln/heat.h: No such file or directory.\n\n(gdb) where\n"
        "#0  Kiln::heat (this=this@entry=0x55555b826470)\n    at ../../kiln/heat.h:61\n"
        "#1  0x00007ffff6682b97 in Kiln::fire (this=0x55555b82b3e0) at fire.cpp:634\n"
    )
    (event,) = extract.events(text)
    assert [frame.line for frame in event.frames] == [634, 61]


def test_of_a_stop_that_a_debugger_shows_twice_the_whole_stack_is_read() -> None:
    stop = "* thread #1, name = 'kiln', stop reason = signal SIGSEGV: invalid address (fault address: 0x38)\n"
    inner = "frame #0: 0x00007ffff72e1fa0 libkiln.so`heat\n"
    outer = "    frame #1: 0x00005555555ea443 kiln`Kiln::fire(this=0x28) at fire.cpp:748\n"
    (event,) = extract.events(f"{stop}    {inner}(lldb) bt\n{stop}  * {inner}{outer}")
    assert [frame.line for frame in event.frames] == [748, None]


def test_blanks_that_do_not_break_indent_frames_as_blanks_do() -> None:
    text = (
        "kiln.LidException: no lid\n\xa0 \xa0 at kiln.Lid.open(Lid.java:7)\n\xa0 \xa0 at kiln.Main.main(Main.java:3)\n"
    )
    (event,) = extract.events(text)
    assert len(event.frames) == 2
    assert text[event.start : event.end].startswith("kiln.LidException")


def test_a_logger_line_that_names_the_exception_belongs_to_its_stack() -> None:
    text = (
        "2024-05-06 07:08:09 INFO kiln: failed; cause: kiln.ColdException: x\n"
        "kiln.ColdException: x\n\tat kiln.A.b(A.java:1)"
    )
    (event,) = extract.events(text)
    assert (event.start, event.exception_type, len(event.frames)) == (0, "kiln.ColdException", 1)


def test_a_message_of_paragraphs_keeps_its_name() -> None:
    text = "Error: only one kiln\n\nThe kiln is cold.\n\nThe door is open.\n    at heat (a.js:1:2)\n    at b (a.js:3:4)"
    (event,) = extract.events(text)
    assert (event.exception_type, event.message) == ("Error", "only one kiln")


def test_a_python_traceback_keeps_its_own_reader() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n    at f (a.js:1:2)\n'
    (event,) = extract.events(text)
    assert (event.dialect, event.exception_type) == ("python", "ValueError")


def test_different_err_values_are_different_errors() -> None:
    def signed(value: str) -> str:
        text = f"thread 'main' panicked at src/a.rs:1:2:\ncalled `Result::unwrap()` on an `Err` value: {value}\n"
        return normalise.signature(extract.events(text)[0], text).text

    assert signed("InvalidSignature") != signed("NoSuchKiln")
    assert signed("Cold { door: 3 }") == signed("Cold { door: 4 }")


HOSTILE = (
    "    at a(b.js:1:2)\n",
    "\tat a.b(C.java:1)\n",
    "java.lang.E: x\n\tat a.b(C.java:1)\n",
    "Caused by: a.B: x\n",
    "\tat a.b(C.java:1)\n\n",
    "fatal error: x\ngoroutine 1 [running]:\n",
    "panic: x\n",
    "goroutine 1 [running]:\nmain.f(",
    "panicked at ",
    "thread 'a' panicked at 'x\n",
    "error[E0001]: x\n",
    " --> a.rs:1:2\n",
    "System.E: x ---> ",
    "   at A.B(C c) in ",
    "  at A.B (C) [0x",
    "Uncaught exception 'A' with message '",
    "Fatal error: a in b",
    "#0 a(1): b()\n",
    "[object] (A(code: 0): x at ",
    "x@http://a:1:2\n",
    "web_1 |   at a (b.js:1:2)\n",
    "\n  at ",
)


@pytest.mark.parametrize("unit", one_in(5, HOSTILE), ids=lambda unit: repr(unit[:24]))
def test_hostile_text_takes_time_in_proportion(unit: str) -> None:
    linear.check(extract.events, unit)


@each("form", stacks.FORMS.rows(), parts=8)
def test_a_forms_own_lines_without_end_take_time_in_proportion(form: Form) -> None:
    linear.check(extract.events, "".join(f"{line}\n{line} " for line in form.examples[0].split("\n")), size=20_000)


def test_a_wrapped_line_is_joined_with_no_more_than_one_line_holds() -> None:
    head = "x" * 70 + " FATAL ERROR: \n"
    linear.check(lambda text: extract.events(head + text), "FATAL ERROR: ", size=80_000)


def test_a_line_that_a_terminal_wrapped_is_read_whole() -> None:
    text = "FATAL ERROR: " + "x" * 70 + " Reached \nheap limit\n"
    assert extract.events(text)[0].message.endswith("Reached heap limit")


@pytest.mark.parametrize("said", ["invalid array length", "Check failed: x", "OldSpace x", "node::f"])
def test_a_fatal_error_of_v8_is_known_by_its_words(said: str) -> None:
    assert [(one.dialect, one.message) for one in extract.events(f"FATAL ERROR: {said}")] == [("js", said)]


def test_what_is_inside_a_message_needs_a_type_and_a_message(tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text('name = "kiln"\ntitle = "Kiln"\nversion = "1"\nsummary = "A kiln."\n')
    (tmp_path / "stacks.toml").write_text(
        "[[row]]\nname = 'cold'\ndialect = 'kiln'\nliterals = ['kiln: ']\nstart = ['kiln: (?P<message>.+)']\n"
        "inner = ' ---> (?P<message>.+)'\nexamples = ['kiln: a ---> b']\nlookalikes = ['kiln']\n"
    )
    with pytest.raises(packs.PackError, match="inner: no group type") as refused, packs.using(tmp_path):
        extract.events("kiln: a ---> b")
    assert refused.value.problems[0].line == 6


FLAT = (
    "Error: org.fixture.kiln.LidError: lid is open in fetcher#9 at org.fixture.kiln.Lid.run(Lid.java:134)"
    " at org.fixture.kiln.Main.go(Main.java:7) Caused by: java.lang.IllegalStateException: heat"
    " at org.fixture.Heat.up(Heat.java:9)"
)


def test_a_trace_whose_lines_were_run_together_is_read_with_the_class_behind_the_word_error() -> None:
    (found,) = extract.events(FLAT.partition(" Caused by")[0])
    assert (found.exception_type, found.message) == ("org.fixture.kiln.LidError", "lid is open in fetcher#9")
    named = [(one.file, one.line) for one in found.frames]
    assert named == [("Main.java", 7), ("Lid.java", 134)]


def test_the_cause_of_such_a_trace_is_the_error_as_it_is_of_one_with_its_lines() -> None:
    (found,) = extract.events(f"{FLAT} ... 1 more")
    assert (found.exception_type, found.message) == ("java.lang.IllegalStateException", "heat")
    assert [(one.exception_type, one.message) for one in found.chain] == [
        ("org.fixture.kiln.LidError", "lid is open in fetcher#9")
    ]
    assert [(one.file, one.line) for one in found.frames] == [("Main.java", 7), ("Heat.java", 9)]


def test_the_word_error_alone_stays_a_type() -> None:
    (found,) = extract.events("Error: the lid is open: close it")
    assert (found.exception_type, found.message) == ("Error", "the lid is open: close it")


def test_a_stack_with_each_line_marked_as_code_is_read_as_one() -> None:
    for left, right in (("{{", "}}"), ("`", "`")):
        lines = ("org.kiln.ClayException: no clay", "at org.kiln.Fire.heat(Fire.java:3)", "at org.kiln.A.go(A.java:7)")
        text = "The trace:\n" + "\n".join(f"{left}{line}{right}" for line in lines) + "\nthe rest\n"
        (found,) = extract.events(text)
        assert (found.exception_type, found.message) == ("org.kiln.ClayException", "no clay")
        assert [one.line for one in found.frames] == [7, 3]
        assert "the rest" not in text[found.start : found.end]


def test_where_a_debugger_stands_when_a_signal_comes_is_the_frame_and_the_stack_below_it_is_better() -> None:
    stop = "Program received signal SIGSEGV, Segmentation fault.\n0x00005f12 in fire (heat=0) at fire.c:21\n"
    assert [(one.file, one.line) for one in extract.events(stop)[0].frames] == [("fire.c", 21)]
    below = f"{stop}\n21\t  x;\n\n#0  0x00005f12 in fire () at fire.c:21\n#1  0x00005f90 in main () at main.c:4\n"
    assert len(extract.events(below)[0].frames) == 2
    asked = f"{stop}(gdb) bt\n#0  0x00005f12 in fire (heat=0) at fire.c:21\n#1  0x00005f90 in main () at main.c:4\n"
    assert [(one.file, one.line) for one in extract.events(asked)[0].frames] == [("main.c", 4), ("fire.c", 21)]


@pytest.mark.parametrize("fence", ["```", "..."])
def test_a_stack_without_its_first_lines_is_the_error_that_its_cause_names(fence: str) -> None:
    text = (
        f"Oven fails\n\n{fence}\n\tat x.A.a(A.java:1)\n\tat x.B.b(B.java:2)\n"
        "Caused by: a.LidException: open\n\tat x.D.d(D.java:4)\n\t... 1 more\n"
    )
    (event,) = extract.events(text)
    assert (event.exception_type, event.message, event.chain) == ("a.LidException", "open", ())
    assert [one.line for one in event.frames] == [2, 4]


def test_frames_that_nobody_names_are_no_error() -> None:
    assert extract.events("It is cold\n\n```\n\tat x.A.a(A.java:1)\n\tat x.B.b(B.java:2)\n```\n") == []
