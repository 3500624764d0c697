"""Where an error is that has no frames: the place printed beside it, and the frames run together on its line."""

from __future__ import annotations

import re

from pipeline import extract
from pipeline.extract import places
from pipeline.records import Frame
from tests import linear
from tests.each import each


def _frames(text: str) -> list[tuple[Frame, ...]]:
    return [event.frames for event in extract.events(f"It fails.\n\n```\n{text}\n```\n")]


def _knows(row: places.Place, words: str) -> bool:
    return any(row.pattern.search(words) if where == "words" else places.match(words, where) for where in row.at)


@each("row, words", [(row, words) for row in places.rows() for words in row.examples])
def test_a_row_knows_its_examples(row: places.Place, words: str) -> None:
    hit = row.pattern.search(words)
    assert hit is not None
    assert any(hit.groupdict().get(name) for name in ("file", "function"))
    assert _knows(row, words)


@each("row, words", [(row, words) for row in places.rows() for words in row.lookalikes])
def test_no_row_knows_a_lookalike(row: places.Place, words: str) -> None:
    assert not _knows(row, words)


@each(
    "text, file, line",
    [
        ("KilnError: no fire\n  --> src/fire.rs:4:2", "src/fire.rs", 4),
        ("src/fire.ts\n  14:9  error  'clay' is not defined  no-undef", "src/fire.ts", 14),
        ("/srv/fire.mjs:3\nimport clay\n       ^\nKilnError: no clay", "/srv/fire.mjs", 3),
        ("KilnError: no clay\n\nLocation:\n   src/fire.rs:14", "src/fire.rs", 14),
        ("KilnError: no lid at lib/Fire.pm line 14.", "lib/Fire.pm", 14),
        ("fire.js?70ef:76 Uncaught TypeError: kiln.heat is not a function", "fire.js", 76),
        ("KilnError: no fire\nFile: fire.js\nLine: 16", "fire.js", 16),
        ("[ERROR] :  KilnError: no fire\n[ERROR] :  File: fire.js\n[ERROR] :  Line: 16", "fire.js", 16),
        (
            "[DEBUG] /srv/fire.js:14\n[DEBUG]   heat().door\n[DEBUG]         ^\n[ERROR] KilnError: no lid",
            "/srv/fire.js",
            14,
        ),
        ("/srv/build.xml:14: impossible to bake:\n\tkiln.ColdException: no fire", "/srv/build.xml", 14),
        ("Assertion failed: lid != nullptr [File:C:/kiln/Fire.cpp] [Line: 14]", "C:/kiln/Fire.cpp", 14),
        ("KilnError: no fire (file: /etc/kiln/init.pp, line: 14, column: 3) on node kiln", "/etc/kiln/init.pp", 14),
    ],
)
def test_a_place_beside_an_error_is_its_frame(text: str, file: str, line: int) -> None:
    assert _frames(text) == [(Frame(file, line, None),)]


@each(
    "text",
    [
        "KilnError: no fire from kiln.example.org:443",
        "KilnError: no fire\n\n\nsrc/fire.rs:14",
    ],
)
def test_what_is_no_place_of_an_error_is_no_frame(text: str) -> None:
    assert _frames(text) == [()]


def test_a_place_behind_the_block_is_not_the_errors() -> None:
    (event,) = extract.events("```\nKilnError: no fire\n```\nsrc/fire.rs:14:2\n")
    assert event.frames == ()


def test_a_stack_of_which_no_frame_is_own_code_has_the_place_above_it() -> None:
    (frames,) = _frames(
        "file:///srv/fire.mjs:3\nimport clay\n^\nSyntaxError: no clay\n    at link (node:internal/modules/job:123:21)"
    )
    assert frames[-1] == Frame("file:///srv/fire.mjs", 3, None)


def test_a_function_and_its_line_are_a_place_where_no_file_is_named() -> None:
    assert _frames("Unrecognized function or variable 'heat'.\n\nError in kiln (line 14)\nheat(3)") == [
        (Frame(None, 14, "kiln"),)
    ]


def test_a_system_header_is_not_where_an_error_is_but_who_includes_it() -> None:
    [frames] = _frames(
        "In file included from src/fire.c:7:\n/usr/include/clay.h:26:10: fatal error: 'lid.h' file not found"
    )
    assert frames == (Frame("/usr/include/clay.h", 26, None), Frame("src/fire.c", 7, None))


def test_frames_that_were_run_together_are_frames() -> None:
    (frames,) = _frames("KilnException: cold   at Kiln.Fire.Heat(String door)     at Kiln.Program.Main(String[] args)")
    assert [one.function for one in frames] == ["Kiln.Program.Main", "Kiln.Fire.Heat"]


def test_long_lines_are_no_work() -> None:
    for unit in ("a.py:1", "/a", "at a.b(", "line 1 of ", "a.js (", "File: a.c\n"):
        linear.check(lambda text: extract.events(f"KilnError: no fire\n{text}"), unit)
    for row in places.rows():
        assert re.compile(row.pattern.pattern).groups <= len(row.pattern.groupindex)
