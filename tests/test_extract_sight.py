"""The trained reader of lines: one line of a block, by whole numbers, and none where a rule sees the failure."""

from __future__ import annotations

import random

import pytest

from pipeline import extract
from pipeline.extract import blocks, sight
from tests import linear
from tests.each import each

#: Tools that nobody wrote a rule for.
_KILN = "```\n$ kiln fire --shelf 7\nheating shelf 7\nfire: could not light burner 2: no such valve\ncooling\n```"
_GLAZE = "The next day I get:\n\n```\nglazer.cfg:12: unknown colour in the second coat\n```\n"


def _guesses(text: str) -> list[str]:
    return [event.message for event in extract.events(text) if event.dialect == extract.GENERIC]


def test_the_line_of_a_block_that_states_the_error_is_found_where_nothing_announces_it() -> None:
    assert _guesses(_KILN) == ["fire: could not light burner 2: no such valve"]


def test_each_block_has_its_own_line() -> None:
    assert _guesses(f"{_KILN}\n{_GLAZE}") == [*_guesses(_KILN), *_guesses(_GLAZE)]
    assert len(_guesses(_GLAZE)) == 1


def test_a_failure_of_another_block_does_not_stand_against_a_line() -> None:
    text = f"{_KILN}\n\nand then\n\n```\nValueError: the kiln is cold\n```\n"
    assert [event.dialect for event in extract.events(text)] == [extract.GENERIC, "exception-line"]


@each(
    "words, kind, message",
    [
        (
            "[ERROR] Kiln: kiln.heat.LostException: shelf 7 does not answer",
            "kiln.heat.LostException",
            "shelf 7 does not answer",
        ),
        ("Uncaught (in promise) TypeError: kiln.fire is not a function", "TypeError", "kiln.fire is not a function"),
        (
            "Bind result: hr = 0x80070002. The system cannot find the file specified.",
            "0x80070002",
            "Bind result: hr = 0x80070002. The system cannot find the file specified.",
        ),
        ("{color:red}[ERROR] shelf 7 is unable to hold pots{color}", None, "shelf 7 is unable to hold pots"),
        ("shelf 7 is unable to hold 40 pots", None, "shelf 7 is unable to hold 40 pots"),
    ],
)
def test_a_type_is_what_the_words_name(words: str, kind: str | None, message: str) -> None:
    found = next(event for event in extract.events(f"```\n{words}\n```"))
    assert (found.exception_type, found.message) == (kind, message)


@each(
    "text",
    [
        ("```\ndef fire(shelf):\n    if not shelf.found:\n        return None\n```",),
        ("```\n2026-03-04 09:12:01 INFO kiln 2.4.0 starts with 3 shelves\n2026-03-04 09:12:02 INFO no errors\n```",),
        ("It would be nice if the kiln could say which shelf is missing. I do not know why it does not.",),
        ("```\nkiln.c(12): warning K8029: the coat could not be found, and is not needed\n```",),
        ("```yaml\nerrors:\n  limit: 5\n  unknown: ignore\n```",),
    ],
)
def test_code_settings_ordinary_logs_and_talk_state_nothing(text: str) -> None:
    assert _guesses(text[0] if isinstance(text, tuple) else text) == []


def test_what_is_learned_is_whole_numbers() -> None:
    known = sight.learned()
    tables = (known.words, known.pairs, known.traits, known.gate)
    assert all(table for table in tables)
    assert all(type(number) is int for table in tables for number in table.values())
    assert {f" {kind}" for kind in sight.LEAST} <= known.gate.keys()


def test_a_score_is_the_sum_of_what_is_seen_in_any_order() -> None:
    line = blocks.lines(_KILN)[0]
    seen = sight.seen(looked := _look(_KILN, line))
    known = sight.learned()
    every = [
        *(known.words.get(word, 0) for word in seen.words),
        *(known.pairs.get(pair, 0) for pair in seen.pairs),
        *(known.traits.get(trait, 0) for trait in seen.traits),
    ]
    random.Random(7).shuffle(every)
    assert known.bias + sum(every) == sight.score(looked)


def _look(text: str, line: blocks.Line) -> sight.Line:
    looked = sight.look(text, line, {})
    assert looked is not None
    return looked


@pytest.mark.parametrize(
    "unit", ["not found ", "a.b.", "Error: ", "```\nfailed to x\n", "\n\nno such x", "0x8007 ", "(x:"]
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    linear.check(lambda text: sight.read(text, blocks.lines(text), []), unit)
    linear.check(lambda text: sight.read(text, blocks.lines(text), []), f"```\n{unit * 60}\n")


def test_the_ends_of_a_paragraph_are_looked_for_once_however_many_lines_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    paragraph = blocks.paragraph
    monkeypatch.setattr(blocks, "paragraph", lambda text, place: asked.append(place) or paragraph(text, place))
    one = "ERROR: failed to open the kiln\n" * 200
    text = f"{one}\n{one}"
    found = sight.read(text, blocks.lines(text), [])
    assert asked == [0, len(one) + 1]
    assert [event.start > len(one) for event in found] == [False, True]


def test_a_title_that_speaks_of_an_error_is_told_from_one_that_states_it() -> None:
    assert sight.is_heading("Undefined symbol at import")
    assert sight.is_heading("Segmentation fault when the kiln is cold")
    assert not sight.is_heading('Uncaught (in promise) Error: Unrecognized glaze type: "kiln"')
    assert not sight.is_heading("cannot import name 'kiln_fire'")
