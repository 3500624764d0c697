"""Lines that only look like errors: each row refuses its examples, none its look-alikes; no event is made of one."""

from __future__ import annotations

from pipeline import extract
from pipeline.extract import refusals
from tests import linear
from tests.each import each


@each("row, words", [(row, words) for row in refusals.rows() for words in row.examples])
def test_a_row_refuses_its_examples(row: refusals.Refused, words: str) -> None:
    assert row.pattern.search(words)


@each("words", [words for row in refusals.rows() for words in row.lookalikes])
def test_no_row_refuses_a_lookalike(words: str) -> None:
    assert refusals.refusal(words) is None


@each("words", ["kiln fire --lid open", "sudo kiln fire shelf --no-lid=now"])
def test_a_command_is_no_error(words: str) -> None:
    assert refusals.refusal(words) == "command"


def test_what_is_refused_is_no_event() -> None:
    assert _guesses("```\nkiln 7: cannot count the burners: no such file\n```") != []
    assert _guesses("```\nkiln 7: cannot count the burners: assuming 4\n```") == []


def test_a_sentence_that_leads_to_an_error_is_no_part_of_it() -> None:
    text = "```\nand then the kiln stops with kiln.LidError: the lid is missing\n```"
    (event,) = extract.events(text)
    assert (event.exception_type, event.message) == ("kiln.LidError", "the lid is missing")
    assert text[event.start : event.end] == "kiln.LidError: the lid is missing"


@each(
    "shown, message",
    [
        ('"message": "Failed to open the lid of \\"shelf 7\\".",', 'Failed to open the lid of \\"shelf 7\\".'),
        (
            '{"state": {"code": 500, "msg": "KilnError", "lid_msg": "lid 7: could not be opened"}}',
            "lid 7: could not be opened",
        ),
        ('"lid_error": "no such lid was found", "lid": 7', "no such lid was found"),
    ],
)
def test_of_an_object_the_field_is_read_that_tells_what_failed(shown: str, message: str) -> None:
    assert _guesses(f"```\n{shown}\n```") == [message]


def test_a_long_line_is_no_work() -> None:
    for unit in ("a (I ", 'a": "', "FAILED a.", "assert a ", "Aa.", "http://"):
        linear.check(refusals.refusal, unit)
        linear.check(_guesses, f"```\nfailed {unit}\n```\n")


def _guesses(text: str) -> list[str]:
    return [event.message for event in extract.events(text) if event.dialect == extract.GENERIC]
