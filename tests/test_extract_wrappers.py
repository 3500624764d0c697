"""Events that only say that something failed; notes that look like failures; frames without line breaks."""

from __future__ import annotations

from pipeline.extract import events
from pipeline.normalise import signature

COMPILE = 'kernel.cu(7): error: identifier "foo" is undefined\n'
MADE = "make: *** [all] Error 2\n"
TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n'


def severities(text: str) -> list[str]:
    return [event.severity for event in events(text)]


def test_an_end_of_a_build_far_from_its_compiler_error_is_a_wrapper() -> None:
    talk = "more lines of the log\n" * 40
    assert severities(COMPILE + talk + MADE) == ["error", "wrapper"]


def test_an_end_of_a_build_alone_is_an_error() -> None:
    assert severities(MADE) == ["error"]


def test_a_failure_in_another_post_does_not_explain_it() -> None:
    assert severities(COMPILE + "talk\n" * 2000 + MADE) == ["error", "error"]


def test_an_information_line_of_nccl_is_no_error() -> None:
    line = "host:1:2 [0] NCCL INFO NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file\n"
    assert severities(line) == ["warning"]


def test_a_function_ends_where_the_source_runs_into_its_line() -> None:
    flat = '  File "b.py", line 2, in call return fn(x) File "c.py", line 3, in g\n'
    (event,) = events(f"{TRACEBACK}    g()\n{flat}ValueError: no\n")
    assert [frame.function for frame in event.frames] == ["f", "call"]


def test_cut_tracebacks_of_different_functions_are_different_errors() -> None:
    cut = [events(TRACEBACK.replace("in f", f"in {name}") + "    x()\n")[0] for name in ("load", "save")]
    assert len({signature(event).signature_id for event in cut}) == 2
    assert signature(cut[0]).text == "no message in a:load"
