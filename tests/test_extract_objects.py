"""Errors printed as an object, stacks behind a mark of their program, exceptions apart from their stacks."""

from __future__ import annotations

import pytest

from pipeline import extract
from pipeline.records import Event
from tests import linear

ANSWER = """the API says

```
{
  "error": {
    "code": 403,
    "message": "pods is forbidden: User \\"potter\\" cannot list pods",
    "status": "PERMISSION_DENIED"
  }
}
```
"""


def _one(text: str) -> Event:
    (event,) = extract.events(text)
    return event


def test_an_object_that_is_an_error_is_read_with_its_message_and_its_type() -> None:
    event = _one(ANSWER)
    assert (event.dialect, event.exception_type) == ("object", "PERMISSION_DENIED")
    assert event.message == 'pods is forbidden: User \\"potter\\" cannot list pods'
    assert ANSWER[event.start : event.end].startswith('  "error": {')


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ('{"message": "the kiln is cold", "statusCode": 503}', None, "the kiln is cold"),
        ('{"success": false, "message": "the kiln is cold"}', None, "the kiln is cold"),
        ("{'error': {'message': 'the kiln is cold', 'type': 'kiln_error'}}", "kiln_error", "the kiln is cold"),
        ('{"message":"the kiln is cold","errorType":"ColdError"}', "ColdError", "the kiln is cold"),
        ('"{\\"error\\":{\\"message\\":\\"no heat\\",\\"status\\":\\"NOT_FOUND\\"}}"', "NOT_FOUND", "no heat"),
        ('{"errors":[{"message":"no heat","extensions":{"code":"BAD_USER_INPUT"}}]}', "BAD_USER_INPUT", "no heat"),
    ],
)
def test_what_says_that_an_object_is_an_error(text: str, kind: str | None, message: str) -> None:
    event = _one(f"```\n{text}\n```")
    assert (event.dialect, event.exception_type, event.message) == ("object", kind, message)


@pytest.mark.parametrize(
    "text",
    [
        '{"message": "the kiln is warm", "statusCode": 200}',
        '{"status": "Success", "message": "the kiln is warm"}',
        '{"error": null, "message": "the kiln is warm"}',
        'return { "error": { "message": "warm" } }',
        '{"name": "kiln", "type": "module", "message": "the kiln is warm"}',
    ],
)
def test_other_objects_are_none(text: str) -> None:
    assert all(event.dialect != "object" for event in extract.events(f"```\n{text}\n```"))


def test_a_place_in_an_object_is_its_frame() -> None:
    event = _one(
        '```\nScript Error {\n  line = 46;\n  message = "no clay";\n  sourceURL = "file:///kiln/app.js";\n}\n```'
    )
    assert [(frame.file, frame.line) for frame in event.frames] == [("file:///kiln/app.js", 46)]


def test_a_mark_before_each_line_is_taken_off_where_no_row_knows_it() -> None:
    event = _one(
        "[ERROR] Oven: Error: no clay\n"
        "[ERROR] Oven:     at heat (/oven.js:16:23)\n"
        "[ERROR] Oven:     at run (/kiln.js:9:1)\n"
    )
    assert (event.exception_type, event.message) == ("Error", "no clay")
    assert [frame.function for frame in event.frames] == ["run", "heat"]


def test_a_mark_on_one_line_alone_is_none() -> None:
    (event,) = extract.events("Error: no clay\nthe oven:     at heat (/oven.js:16:23)\n    at run (/kiln.js:9:1)\n")
    assert [frame.function for frame in event.frames] != ["run", "heat"]


def test_a_frame_that_a_page_wrapped_is_whole() -> None:
    event = _one(
        "java.lang.IllegalStateException: cold\n"
        "        at org.kiln.server.blocks.BlockInfoUnderConstruction$\n"
        "            Replica.isAlive(BlockInfo.java:121)\n"
        "        at org.kiln.server.Lease.check(Lease.java:474)\n"
    )
    assert event.message == "cold"
    assert [frame.line for frame in event.frames] == [474, 121]


def test_the_cause_of_a_trace_on_one_line_is_the_error() -> None:
    event = _one(
        "Error: org.kiln.Shuffle$ShuffleError: error in fetcher#9 at org.kiln.Shuffle.run(Shuffle.java:134) "
        "Caused by: org.kiln.HeapException: no space at org.kiln.Bytes.grow(Bytes.java:56)"
    )
    assert (event.exception_type, event.message) == ("org.kiln.HeapException", "no space")
    assert [frame.function for frame in event.frames] == ["org.kiln.Bytes.grow"]
    assert [link.exception_type for link in event.chain] == ["org.kiln.Shuffle$ShuffleError"]


def test_a_traceback_that_breaks_off_names_the_exception_before_it() -> None:
    text = (
        'Traceback (most recent call last):\n  File "oven.py", line 14, in heat\n    return clay[name]\n'
        "KeyError: 'glaze'\n\nDuring handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "main.py", line 7, in <module>\n    heat("glaze")\n'
    )
    event = _one(text)
    assert (event.exception_type, event.message, event.is_truncated) == ("KeyError", "'glaze'", True)


def test_a_nameless_stack_below_the_name_of_an_exception_is_its_own() -> None:
    frames = (
        'File "/usr/lib/streamlit/exec_code.py", line 121, in run\n    result = func()\n'
        'File "/srv/app.py", line 4, in <module>\n    import clay\n'
    )
    event = _one(f"ModuleNotFoundError: No module named 'clay'\n\nTraceback:\n{frames}")
    assert (event.exception_type, event.frames[-1].file) == ("ModuleNotFoundError", "/srv/app.py")
    apart = extract.events(f"ModuleNotFoundError: No module named 'clay'\n\nI looked at it:\n{frames}")
    assert all(not one.frames for one in apart if one.exception_type)


def test_the_last_line_of_a_run_is_not_its_error() -> None:
    event = _one("/usr/bin/env: 'python3': No such file or directory\nError: Process completed with exit code 127.\n")
    assert event.message.endswith("'python3': No such file or directory")


@pytest.mark.parametrize(
    "unit",
    [
        '{"error": {"message": "a", ',
        '"message": "a\\',
        "{" * 40,
        '{"message": ',
        "K: a  at b (c.js:1:2\n",
        '\\"message\\":',
    ],
)
def test_hostile_objects_are_read_in_linear_time(unit: str) -> None:
    linear.check(extract.events, unit)


def test_an_object_that_a_logger_opens_on_its_own_line_is_read_whole_with_the_place_that_a_field_holds() -> None:
    event = _one(
        '[ERROR] Script Error {\n[ERROR]     line = 42;\n[ERROR]     message = "no clay";\n'
        '[ERROR]     nativeLocation = "-[Kiln heat:] (Kiln.m:751)";\n'
    )
    assert event.message == "no clay"
    assert [(one.file, one.line, one.function) for one in event.frames] == [("Kiln.m", 751, "-[Kiln heat:]")]


def test_a_frame_that_was_broken_behind_its_first_word_is_one() -> None:
    event = _one(
        "java.lang.AssertionError: cold\n    at org.junit.Assert.fail(Assert.java:88)\n    at\n"
        "org.kiln.TestFire.heats(TestFire.java:276)\n\n"
    )
    assert [one.line for one in event.frames] == [276]
