"""What pages and carriers put around the lines of a stack: read as if it were not there, and quoted as it stands."""

from __future__ import annotations

from pipeline import extract
from pipeline.extract import related
from tests import linear
from tests.each import each

_STACK = """KilnError: no fire
    at heat (/srv/fire.js:14:11)
    at light (/srv/kiln.js:3:1)"""


def _carried(before: str, behind: str = "") -> str:
    return "```\n" + "\n".join(f"{before}{line}{behind}" for line in _STACK.split("\n")) + "\n```\n"


@each(
    "before, behind",
    [
        ("web:build: ", ""), ("[server] ", ""), ("remote: ", ""), ("==> default: ", ""), ("@kiln/web: ", ""),
        ("[31m", "[0m"), ("^[[31m", "^[[0m"), ("", "<br>"), ("0|kiln  | ", ""), ("[pod/kiln-0/fire] ", ""),
        ("build\tRun\t2024-05-01T10:11:12.1Z ", ""), ("2024-05-01T10:11:12.1Z stderr F ", ""),
    ],
)  # fmt: skip
def test_a_stack_is_read_behind_what_carried_it(before: str, behind: str) -> None:
    text = _carried(before, behind)
    (event,) = extract.events(text)
    assert (event.exception_type, event.message) == ("KilnError", "no fire")
    assert [one.function for one in event.frames] == ["light", "heat"]
    assert "KilnError: no fire" in text[event.start : event.end]


@each("before", ["error: ", "fire.c:14: ", "npm ERR! ", "| ", "Caused by: ", "expected: "])
def test_what_a_program_says_itself_is_no_margin(before: str) -> None:
    text = _carried(before)
    assert related.without_margins(text, [text.index("at heat")]) == text


def test_a_mark_is_one_only_where_several_lines_in_a_row_have_it() -> None:
    text = "web:build: KilnError: no fire\nweb:build:     at heat (/srv/fire.js:14:11)\nand then it was cold\n"
    assert related.without_margins(text, [text.index("at heat")]) == text


def test_every_place_stays_what_it_is() -> None:
    text = _carried("web:build: ", "<br>")
    plain = related.without_margins(text, [text.index("at heat")])
    assert len(plain) == len(text)
    assert plain.index("at light") == text.index("at light")


def test_long_marks_are_no_work() -> None:
    for unit in ("a:b: ", "[a] ", "web:build:     at a\n", "<br>", "[31m"):
        linear.check(lambda text: extract.events(f"{text}\n    at heat (/srv/fire.js:14:11)"), unit)


_WRAPPED = """<p>E/Kiln( 513): org.kiln.ColdException:
no fire in "the kiln"<br>
E/Kiln( 513): at
org.kiln.Fire.heat(Fire.java:14)<br>
E/Kiln( 513): at
org.kiln.Main.main(Main.java:3)<br>
E/Kiln( 513): ... 4 more</p>
"""


def test_a_line_that_a_page_wrapped_ends_with_its_break() -> None:
    (event,) = extract.events(_WRAPPED)
    assert (event.exception_type, event.message) == ("org.kiln.ColdException", 'no fire in "the kiln"')
    assert [one.line for one in event.frames] == [3, 14]
    assert len(related.without_wraps(_WRAPPED)) == len(_WRAPPED)


@each(
    "text",
    [
        _WRAPPED.replace("<br>", ""),
        "E/Kiln( 513): cold:\nno fire<br>\nand more\nof it\n",
        "the kiln\nis cold<br>\nthe fire\nis out<br>\n",
        "E/Kiln( 513): cold\n\nno fire<br>\nE/Kiln( 513): out\n\nno gas<br>\n",
    ],
)
def test_other_lines_are_no_parts_of_one(text: str) -> None:
    assert related.without_wraps(text) == text


def test_many_wraps_are_no_work() -> None:
    for unit in ("E/Kiln( 513): at\n", "E/Kiln( 513): at\nno fire<br>\n", "<br>\n", "E/Kiln( 513): <br "):
        linear.check(related.without_wraps, unit)
