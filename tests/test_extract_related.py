"""Stacks that a debugger prints when it is asked, classes that a logger names, the place of a linker's symbol."""

from __future__ import annotations

import pytest

from pipeline import extract
from pipeline.text.frames import raising_package


def test_a_signal_has_the_stack_that_the_debugger_printed_when_it_was_asked() -> None:
    (event,) = extract.events(
        'it stops with `Thread 1 "kiln-qt" received signal SIGSEGV, Segmentation fault.`\n\nThe `bt` is:\n\n```\n'
        "#0  0x00005555558ba7b2 in Oven::heat (\n    this=0x0) at oven.cpp:14\n"
        "#1  0x00005555558bb001 in main () at main.cpp:7\n```\n"
    )
    assert [(frame.function or "").partition(" ")[0] for frame in event.frames] == ["main", "Oven::heat"]


def test_frames_far_below_are_no_signals() -> None:
    (event, *_) = extract.events(
        "Program received signal SIGSEGV, Segmentation fault.\n" + "\n" * 12 + "#0  heat () at a.cpp:1\n"
    )
    assert event.frames == ()


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Stream failed: KilnException", "KilnException"),
        ("could not heat: org.kiln.ColdException: no gas", "org.kiln.ColdException"),
        ("ErrorCount is 3", None),
        ("see KilnException for more", None),
    ],
)
def test_a_logger_names_the_class(words: str, kind: str | None) -> None:
    (event,) = extract.events(f"2025-03-04 09:12:01,118 ERROR kiln.input - {words}\n")
    assert event.exception_type == kind


def test_a_linker_says_where_the_symbol_is_asked_for() -> None:
    (event,) = extract.events("oven.c:(.text+0x1d): undefined reference to `glaze_fire'\n")
    assert [frame.file for frame in event.frames] == ["oven.c"]
    assert event.message == "undefined reference to `glaze_fire'"


def test_an_exception_of_dotnet_itself_is_named() -> None:
    (event,) = extract.events("System.Exception: no fire\n   at Kiln.Fire.Heat(String door) in /src/Fire.cs:line 12\n")
    assert (event.exception_type, event.message) == ("System.Exception", "no fire")


NESTED = """ValueError: in user code:

    /opt/kiln/training.py:855 train_function  *
        return step_function(self, iterator)
    <ipython-input-3-abc>:12 call  *
        x = self.kiln(x)

    TypeError: clay of layer kiln is incompatible with the layer
"""
TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()\n'


@pytest.mark.parametrize("above", ["", TRACEBACK])
@pytest.mark.parametrize("words", ["in user code:", "in converted code:"])
def test_the_error_behind_a_stack_that_stands_in_a_message_is_the_event(above: str, words: str) -> None:
    text = above + NESTED.replace("in user code:", words)
    (event,) = extract.events(text)
    assert (event.exception_type, event.message) == ("TypeError", "clay of layer kiln is incompatible with the layer")
    assert [(one.line, one.function) for one in event.frames[-2:]] == [(855, "train_function"), (12, "call")]
    assert (event.start, text[event.start : event.end].strip()) == (0, text.strip())


def test_a_layer_that_tells_the_nested_error_in_its_own_words_is_read_through() -> None:
    told = 'TypeError: Exception encountered when calling layer "oven" (type Oven).\n    \n    in user code:\n    \n'
    inner = '        File "/opt/oven.py", line 3, in call  *\n            z()\n    \n        KeyError: no gas\n'
    (event,) = extract.events(NESTED.partition("TypeError")[0] + told + inner)
    assert (event.exception_type, event.message, len(event.frames)) == ("KeyError", "no gas", 3)


def test_a_layer_that_begins_the_message_is_read_through_as_well() -> None:
    told = 'TypeError: Exception encountered when calling layer "oven" (type Oven).\n\nin user code:\n\n'
    inner = '    File "/opt/oven.py", line 3, in call  *\n        z()\n\n    KeyError: no gas\n\nCall arguments:\n'
    (event,) = extract.events(TRACEBACK + told + inner)
    assert (event.exception_type, event.message, len(event.frames)) == ("KeyError", "no gas", 2)


def test_an_error_below_such_a_stack_has_its_frames_and_below_code_it_has_none() -> None:
    (event,) = extract.events(NESTED.partition("\n")[2])
    assert [one.function for one in event.frames] == ["train_function", "call"]
    (event,) = extract.events("    kiln.fire(oven)  *\n\n    TypeError: clay of layer kiln is incompatible\n")
    assert event.frames == ()


_NATIVE = """Traceback (most recent call last):
  File "fire.py", line 3, in <module>
    kiln.heat()
  File "/opt/{file}", line 252, in check_call
    raise KilnError(last_error())
kiln.base.KilnError: [17:00:14] src/fire.h:125: Check failed: heat > 0{gap}
Stack trace returned 3 entries:
[bt] (0) /opt/libkiln.so(dmlc::LogMessageFatal::~LogMessageFatal()+0x39) [0x7f5c78f32bb9]
[bt] (1) /opt/libkiln.so(kiln::Fire::Heat(std::vector<int> const&, std::all
ocator<int>)+0x1a79) [0x7f5c7b5a1e69]
[bt] (2) /opt/libkiln.so(KilnHeat+0xf4) [0x3ff8692eaa4]
"""


@pytest.mark.parametrize("gap", ["", "\n" + " " * 60])
def test_the_native_stack_below_a_bridge_of_python_is_the_innermost_part(gap: str) -> None:
    (event,) = extract.events(_NATIVE.format(file="mxnet/base.py", gap=gap))
    assert [frame.function for frame in event.frames] == [
        "<module>", "check_call", "KilnHeat", "kiln::Fire::Heat(std::vector<int> const&, std::allocator<int>)",
    ]  # fmt: skip
    assert raising_package(event.frames) == ""


def test_where_python_itself_raised_a_native_stack_is_not_the_innermost_part() -> None:
    (event,) = extract.events(_NATIVE.format(file="kiln/fire.py", gap=""))
    assert [frame.function for frame in event.frames] == ["<module>", "check_call"]


_BACKTRACE = """

```
#0  0x00007f1200001234 in kiln::fire(int) () from /opt/kiln/libkiln.so
#1  0x00007f1200005678 in main (argc=1,
    argv=0x0) at main.cc:12
```
"""


@pytest.mark.parametrize("words", ["It segfaults:", "The kiln crashed with this:", "Backtrace:", "gdb tells:"])
def test_a_stack_of_a_debugger_is_an_error_below_words_of_a_crash(words: str) -> None:
    (event,) = extract.events(f"the kiln is cold\n\n{words}{_BACKTRACE}")
    assert (event.exception_type, event.message) == (None, "")
    assert [frame.line for frame in event.frames] == [12, None]


@pytest.mark.parametrize("words", ["It hangs here:", "The stack trace of the main thread is:", "It is called so:"])
def test_a_stack_of_a_debugger_is_no_error_below_other_words(words: str) -> None:
    assert extract.events(f"the kiln is cold\n\n{words}{_BACKTRACE}") == []


def test_a_stack_of_a_debugger_near_below_an_error_is_no_other_one() -> None:
    (event,) = extract.events(f"kiln: oven.c:14: fire: Assertion `heat > 0' failed.\n\nBacktrace:{_BACKTRACE}")
    assert event.message.startswith("Assertion")


def test_a_message_may_hold_a_page_up_to_its_stack() -> None:
    page = "<html>\n<head>\n</head>\n<body>\n" + "<p>cold\n" * 30 + "</body></html>\n"
    (event,) = extract.events(
        f"java.lang.AssertionError: oven holds no fire, got:<!DOCTYPE html>\n{page}\n"
        "\tat org.kiln.TestFire.testHeat(TestFire.java:127)\n\tat org.kiln.Main.main(Main.java:3)\n"
    )
    assert (event.exception_type, [frame.line for frame in event.frames]) == ("java.lang.AssertionError", [3, 127])
    assert event.message.startswith("oven holds no fire")
