"""The fallback: a line that no rule knows is a guess where it looks printed, and prose, code and settings are none."""

from __future__ import annotations

import pytest

from pipeline import extract
from pipeline.ask import reading
from pipeline.extract import blocks, generic, refusals
from pipeline.records import Event
from tests import linear
from tests.each import each


def _guess(text: str) -> Event | None:
    return next((event for event in extract.events(text) if event.dialect == extract.GENERIC), None)


@each(
    "text, message",
    [
        ("```\nKiln: error 12: heat is gone\n```", "Kiln: error 12: heat is gone"),
        ("```\nstarting\nfailed to fire the kiln\n```", "failed to fire the kiln"),
        ("```text\nThe kiln door could not be found\n```", "The kiln door could not be found"),
        ("{noformat}\nconnection refused by the kiln\n{noformat}", "connection refused by the kiln"),
        ("<pre>\nUnable to open the kiln door\n</pre>", "Unable to open the kiln door"),
        ("I get the message `kiln door is not supported` at noon", "kiln door is not supported"),
        ('It fails with "Cannot fire the kiln twice" at noon', "Cannot fire the kiln twice"),
        ("So.\n`Error opening the kiln for reading`\n", "Error opening the kiln for reading"),
        ('Heating yields an error message : "The heat exceeds your kiln". Odd.', "The heat exceeds your kiln"),
        ('Its throwing an error as **"Something went so wrong!"**', "Something went so wrong!"),
        (
            "It fails with a {{*** Shelf <Oven: 0x14ee> was heated while it was read.}} error",
            "Shelf <Oven: 0x14ee> was heated while it was read.",
        ),
        ('Error said that  the "kiln reference is of no oven". Why?', "kiln reference is of no oven"),
        ("```\nFatal kiln: FATAL 12: the heat is gone\n```", "Fatal kiln: FATAL 12: the heat is gone"),
    ],
)
def test_a_line_that_looks_printed_is_a_guess(text: str, message: str) -> None:
    found = _guess(text)
    assert found is not None
    assert found.message == message
    assert text[found.start : found.end] == found.message


@each(
    "line,file,number,message",
    [
        (r".\kiln.go:13: invalid variable name _ in the lid", "kiln.go", 13, "invalid variable name _ in the lid"),
        ("src/kiln.hx:7: Unknown identifier: the_lid", "src/kiln.hx", 7, "Unknown identifier: the_lid"),
        (
            "C:\\kiln\\a.pas(12,4): unknown identifier in the lid",
            "C:\\kiln\\a.pas",
            12,
            "unknown identifier in the lid",
        ),
    ],
)
def test_the_place_that_opens_a_guess_is_its_frame(line: str, file: str, number: int, message: str) -> None:
    found = _guess(f"```\n{line}\n```")
    assert found is not None
    assert (found.message, [(one.file, one.line) for one in found.frames]) == (message, [(file, number)])
    plain = _guess("```\nFailed to load kiln.go: 13 lids are missing\n```")
    assert plain is not None
    assert plain.frames == ()


def test_the_place_before_an_exception_is_its_frame_whatever_a_bundler_puts_behind_its_name() -> None:
    found = _guess("```\nkiln.js?70ef:76 Uncaught HeatError: lid.open is not a function\n```")
    assert found is not None
    assert (found.exception_type, found.message) == ("HeatError", "lid.open is not a function")
    assert [(one.file, one.line) for one in found.frames] == [("kiln.js", 76)]


def test_an_exception_that_opens_a_guess_is_its_type() -> None:
    found = _guess("When I fire it I get this error: `Error: the kiln must be cold`")
    assert found is not None
    assert (found.exception_type, found.message) == ("Error", "the kiln must be cold")


@each(
    "text",
    [
        ("The kiln is cold, and I cannot fire it.",),
        ("We should return an error: heat is gone?",),
        ('```\nthrow new HeatFailed("failed to fire the kiln");\n```',),
        ("```js\nkiln.fire(shelf); // failed before noon\n```",),
        ('```\n{"error": "failed to fire the kiln",\n```',),
        ("```\n$ kiln --unknown option\n```",),
        ("```\nINFO kiln could not be found, using the other\n```",),
        ("| kiln | tests | failed in the kiln. |",),
        ("```\nfailed\n```",),
    ],
)
def test_prose_code_and_settings_are_no_guess(text: str) -> None:
    assert _guess(text[0] if isinstance(text, tuple) else text) is None


def test_in_a_block_where_a_rule_knows_a_failure_nothing_is_guessed() -> None:
    text = "```\nfailed to fire the kiln\nValueError: the kiln is cold\n```\n"
    assert [event.dialect for event in extract.events(text)] == ["exception-line"]


def test_a_warning_does_not_stand_against_a_guess() -> None:
    text = "UserWarning: the kiln is old\n\n```\nfailed to fire the kiln\n```"
    assert [event.dialect for event in extract.events(text)] == ["exception-line", extract.GENERIC]


def test_a_line_says_why_where_a_rule_knows_only_that_something_failed() -> None:
    text = "```\nThe kiln door could not be found\nAborted (core dumped)\n```"
    assert [event.dialect for event in extract.events(text)] == [extract.GENERIC, "signal"]


def test_a_guess_is_grouped_but_does_not_decide_what_a_pasted_text_is() -> None:
    read = reading.read_pasted("```\nfailed to fire the kiln\n```")
    assert [event.dialect for event in read.errors] == [extract.GENERIC]
    assert read.signature(read.errors[0]).text == "failed to fire the kiln"
    assert read.whole.text == reading.read_pasted("failed to fire the kiln").whole.text


@pytest.mark.parametrize(
    "unit",
    [
        "error error ",
        "`error ",
        '"fail ',
        "```\n",
        "a: b: c: ",
        "ERROR [",
        "error: x\n",
        "failed with failed ",
        "{{",
        "(( ",
    ],
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    linear.check(lambda text: generic.read(blocks.lines(text)), unit)
    linear.check(lambda text: generic.read(blocks.lines(text)), f"```\n{unit * 60}\n")


@each(
    "text",
    [
        ("I get the message `Could not find a path for kiln 7, falling back to the other`",),
        ("```\nread -p 'Could not open the kiln' answer\n```",),
        ("I see the message `Unable to open the kiln, try again? `",),
    ],
)
def test_a_command_a_question_and_another_way_to_go_on_are_no_guess(text: str) -> None:
    assert _guess(text[0] if isinstance(text, tuple) else text) is None


@each("words", [("unrecognized option --glaze",), ("unknown argument -g",), ("cannot find -lkiln",)])
def test_an_error_that_names_a_flag_is_no_command(words: tuple[str, ...]) -> None:
    assert refusals.refusal(words[0]) is None
    found = _guess(f"```\n{words[0]} of the kiln\n```")
    assert found is not None
    assert found.message == f"{words[0]} of the kiln"


STACK = "Error: kiln run exited with error code 1\n    at fire (/srv/run.js:92:66)\n    at door (/srv/run.js:9:6)\n"


def test_above_a_stack_that_tells_only_how_a_command_ended_the_reason_is_a_guess_and_above_another_it_is_none() -> None:
    reason = "[ERROR] the clay of the kiln cannot be used because it is wet\n"
    found = _guess(reason + STACK)
    assert found is not None
    assert found.message == "the clay of the kiln cannot be used because it is wet"
    assert _guess(reason + STACK.replace("kiln run exited with error code 1", "the lid is open")) is None
