"""What an expression needs is read off it: whatever it matches holds that, and begins so."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract import native
from pipeline.extract.announced import LINES
from pipeline.extract.rule import Lazy
from pipeline.text import prefixes
from pipeline.text.needed import SHORTEST_OF_LINE, Alternatives, begins, clauses, stand
from tests.each import each


@each(
    "pattern, needed",
    [
        (r"kiln: \d{1,3} shelves", ((" shelves",), ("kiln: ",))),
        (r"(?P<type>kiln|oven) is cold", ((" is cold",), ("kiln", "oven"))),
        (r"(?:the kiln)? went cold", ((" went cold",),)),
        (r"(?:kiln){2}", (("kiln",),)),
        (r"(?>the )kiln", (("the kiln",),)),
        (r"kiln\b(?! is) fires", (("kiln fires",),)),
        (r"(?=kiln)\w+", (("kiln",),)),
        (r"(?<=kiln)\w+", ()),
        (r"(?i:kiln) fires", ((" fires",),)),
        (r"(?:kiln|\w+) fires", ((" fires",),)),
        (r"[Kk]iln", (("iln",),)),
        (r"\d+", ()),
        (r"(?i)kiln", ()),
    ],
)
def test_clauses(pattern: str, needed: tuple[tuple[str, ...], ...]) -> None:
    assert clauses(pattern) == needed


def test_of_one_line_shorter_literals_are_asked() -> None:
    pattern = r"#\d{1,3} .{1,60}? (?P<file>/\S{1,60})$"
    assert clauses(pattern) == ()
    assert clauses(pattern, shortest=SHORTEST_OF_LINE) == ((" /",),)
    assert stand(((" /",), ("#1", "#2")), "#2 fire /kiln.c")
    assert not stand(((" /",), ("#1", "#2")), "#2 fire kiln.c")
    assert not stand(((" /",),), "#2 fire /kiln.c", 0, 8)


def test_nothing_is_needed_where_letters_of_either_case_match() -> None:
    assert clauses("kiln", re.IGNORECASE) == ()
    assert Lazy("kiln", re.IGNORECASE).search("KILN") is not None


@each(
    "pattern, letters",
    [
        (r"kiln", "k"),
        (r"[a-c^\]]x|\s?\d", "abc^] \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f0123456789"),
        (r"(?:a|b)?c", "abc"),
        (r"(?!x)(?=.)a", "a"),
        (r"\b(?<!x)a{2,3}", "a"),
        (r"a?", None),
        (r".a", None),
        (r"(?i:a)b", None),
        (r"[^ab]", "".join(map(chr, range(128))).replace("a", "").replace("b", "")),
        (r"[^a]", None),
    ],
)
def test_begins(pattern: str, letters: str | None) -> None:
    assert begins(pattern) == (None if letters is None else frozenset(letters))


@pytest.mark.long
def test_the_rules_find_in_their_examples_what_their_bare_expressions_find() -> None:
    texts = [text for row in LINES.rows() for text in (*row.examples, *row.lookalikes)]
    spared = 0
    for rule in native._rules().rules:
        bare = re.compile(rule.pattern.pattern, rule.pattern.flags | re.MULTILINE)
        for text in texts:
            found, wanted = rule.pattern.search(text), bare.search(text)
            assert (found and found.span()) == (wanted and wanted.span()), rule.name
            assert [one.span() for one in rule.pattern.finditer(text)] == [one.span() for one in bare.finditer(text)]
            spared += not rule.pattern._may_match(text, 0, len(text))
    assert spared > len(texts)


_ROWS = [row for row in prefixes.own_rows() if "message" in row.at]
_JOINED, _TRIED = re.compile("|".join(f"(?:{row.pattern})" for row in _ROWS)), prefixes.joined(_ROWS)


@given(st.sampled_from(_ROWS).map(lambda row: "".join(row.example)) | st.text(max_size=12), st.integers(0, 3))
@pytest.mark.long
def test_alternatives_take_what_the_whole_expression_takes(text: str, at: int) -> None:
    found, wanted = _TRIED.match(text, at), _JOINED.match(text, at)
    assert (found and found.span()) == (wanted and wanted.span())


@pytest.mark.parametrize("text", ["", "é", "a"])
def test_an_alternative_that_takes_nothing_matches_everywhere(text: str) -> None:
    assert Alternatives([("b", "b"), ("c?", "c?")]).match(text) is not None
    assert Alternatives([("b", "b")]).match(text) is None
