"""Lines that announce an error: every row knows its examples and nothing that only looks like them, in linear time."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import extract, packs
from pipeline.extract import announced, native
from pipeline.extract.announced import Line
from pipeline.packs import PackError
from pipeline.records import Event, Severity
from tests import linear
from tests.each import each

ROWS = announced.LINES.rows()
ROW = """
[[row]]
name = "fire"
dialect = "kiln"
words = ["KILN-"]
pattern = 'KILN-(?P<number>\\d{1,4}): (?P<msg>[^\\n]{1,200})'
type = "KILN-{number}"
codes = ["kiln:{number}"]
examples = ["KILN-12: it is cold"]
lookalikes = ["KILN-12 is a code"]
"""


def _rows_of(text: str) -> list[str]:
    return [
        f"{row.place.pack}/{row.name}" for row in native.announced.named(rule.name for _, rule in native.found(text))
    ]


@each("row, text", [(row, text) for row in ROWS for text in row.examples], parts=3)
def test_an_example_is_an_event_of_its_row_and_of_no_other(row: Line, text: str) -> None:
    assert _rows_of(text) == [f"{row.place.pack}/{row.name}"]
    found = extract.events(text)
    assert [event.severity for event in found] == [row.severity]
    assert found[0].message


@each("row, text", [(row, text) for row in ROWS for text in row.lookalikes])
def test_a_lookalike_is_no_event_of_the_row(row: Line, text: str) -> None:
    assert f"{row.place.pack}/{row.name}" not in _rows_of(text)


@each(
    "unit",
    sorted({unit for row in ROWS for unit in (row.words[0], f"{row.examples[0]} ", f"{row.examples[0][:-1]}\n")}),
    parts=8,
)
def test_a_hostile_text_is_read_in_linear_time(unit: str) -> None:
    linear.check(native.events, unit, size=10_000)


@pytest.fixture
def kiln(tmp_path: Path) -> Path:
    folder = tmp_path / "kiln"
    folder.mkdir()
    (folder / "pack.toml").write_text('name = "kiln"\ntitle = "Kiln"\nversion = "1"\nsummary = "A kiln."\n')
    (folder / "lines.toml").write_text(ROW)
    return folder


def _read(folder: Path, text: str) -> list[Event]:
    with packs.using(folder):
        return extract.events(text)


def test_a_row_of_a_team_gives_type_message_and_code(kiln: Path) -> None:
    (event,) = _read(kiln, "we fire it\nKILN-12: it is cold\n")
    assert (event.dialect, event.exception_type, event.message) == ("kiln", "KILN-12", "it is cold")
    assert event.codes == ("kiln:12",)
    assert extract.events("we fire it\nKILN-12: it is cold\n") == []


@pytest.mark.parametrize("before", ["2024-11-20T18:12:40.455Z ", "kiln-1  | ", "> ", "I get the error: `", "[ERROR] "])
def test_a_line_is_shown_behind_prefixes_and_words_that_lead_to_it(kiln: Path, before: str) -> None:
    (event,) = _read(kiln, f"we fire it\n{before}KILN-12: it is cold\n")
    assert event.message == "it is cold"


def test_in_the_middle_of_a_sentence_a_line_is_not_shown(kiln: Path) -> None:
    assert _read(kiln, "we fire it\nmy colleague thinks KILN-12: it is cold\n") == []


def test_a_row_that_stands_anywhere_is_found_there(kiln: Path) -> None:
    (kiln / "lines.toml").write_text(ROW.replace("[[row]]", '[[row]]\nwhere = "anywhere"'))
    assert _read(kiln, "we fire it\nmy colleague thinks KILN-12: it is cold\n")[0].codes == ("kiln:12",)


def test_a_line_goes_on_and_its_message_may_stand_further_down(kiln: Path) -> None:
    more = "[[row]]\ngoes_on = '^  '\nsays_more = 'because (?P<msg>[^\\n]{1,80})'"
    (kiln / "lines.toml").write_text(ROW.replace("[[row]]", more))
    (event,) = _read(kiln, "KILN-12: it is cold\n  at noon\n  because of the wind\nand so on\n")
    assert event.message == "of the wind"
    assert event.detail.endswith("of the wind")


def test_a_line_that_yields_gives_way_to_the_traceback_below_it(kiln: Path) -> None:
    (kiln / "lines.toml").write_text(ROW.replace("[[row]]", "[[row]]\nyields = true"))
    text = (
        'KILN-12: it is cold\nTraceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: b\n'
    )
    assert [event.exception_type for event in _read(kiln, text)] == ["ValueError"]


def test_the_severity_is_the_rows(kiln: Path) -> None:
    (kiln / "lines.toml").write_text(ROW.replace("[[row]]", '[[row]]\nseverity = "warning"'))
    assert _read(kiln, "KILN-12: it is cold")[0].severity == Severity.WARNING


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('type = "KILN-{number}"', 'type = "{digits}"', "names a group that the pattern lacks: digits"),
        *(
            ('type = "KILN-{number}"', f"{key} = {value}", "has a brace that is none of")
            for key, value in (
                ("type", "'{msg.__class__}'"),
                ("type", "'{msg!r:>300000000}'"),
                ("message", "'{'"),
                ("message", "'{}'"),
                ("message", "'{0.x}'"),
                ("type", "'{msg:d}'"),
                ("type", "'{msg.nope}'"),
                ("type", "'a:}'"),
            )
        ),
        ('codes = ["kiln:{number}"]', 'codes = ["kiln:{number"]', "has a brace that is none of"),
        ('type = "KILN-{number}"', "says_more = 'because'", "says_more has no group msg"),
        ("KILN-(?P", "KILN-((?P", "no regular expression"),
        ('words = ["KILN-"]', 'words = ["窯"]', "words"),
        ('words = ["KILN-"]', "words = []", "words"),
        ('dialect = "kiln"', 'dialect = "The kiln"', "dialect"),
    ],
)
def test_a_bad_row_is_refused_with_its_place(kiln: Path, old: str, new: str, told: str) -> None:
    (kiln / "lines.toml").write_text(ROW.replace(old, new))
    with pytest.raises(PackError, match=told) as refused:
        _read(kiln, "KILN-12")
    assert refused.value.problems[0].line


def test_the_name_of_an_errno_inside_a_line_that_says_error_is_its_type() -> None:
    (event,) = extract.events("Error: connect ECONNREFUSED 127.0.0.1:5432")
    assert (event.exception_type, event.codes) == ("ECONNREFUSED", ("node:ECONNREFUSED",))


def test_a_groups_text_is_put_in_as_it_is(kiln: Path) -> None:
    (kiln / "lines.toml").write_text(ROW.replace('"KILN-{number}"', '"{msg}"'))
    assert _read(kiln, "KILN-12: {number} {msg.x}")[0].exception_type == "{number} {msg.x}"


def test_a_line_that_is_no_number_is_none(kiln: Path) -> None:
    (kiln / "lines.toml").write_text(ROW.replace("(?P<number>\\d{1,4})", "(?P<number>(?P<line>\\w{1,4}))"))
    assert _read(kiln, "KILN-12a: it is cold")[0].message == "it is cold"


def test_a_row_of_a_native_program_keeps_its_lines_and_the_one_above_names_the_exception(kiln: Path) -> None:
    lines = kiln / "lines.toml"
    row = ROW.replace('type = "KILN-{number}"', "above = '^(?P<type>[\\w.]{1,80}Error):$'\ngoes_on = '{stack}'")
    lines.write_text(f"{row}where = 'anywhere'\nnative = true\n")
    text = "kiln.ColdError:\nshelf 3 KILN-12: it is cold\n#0 fire at kiln.cc:3\n#1 main at kiln.cc:9\nall is well\n"
    (event,) = _read(kiln, text)
    assert (event.exception_type, event.message) == ("kiln.ColdError", "it is cold")
    assert event.detail == text.partition("\nall is")[0]
    assert extract.events("shelf 3 KILN-12: it is cold") == []
    before = "E0101 12:00:00.000 7 fire.cc:3] KILN-12: it is cold"
    assert [one.dialect for one in _read(kiln, before)] == ["kiln"]
    lines.write_text(f"{row}where = 'anywhere'\nnative = true\ngeneric = true\n")
    assert [one.dialect for one in _read(kiln, before)] == ["glog"]  # who knows the form of a log is asked before
