"""A thread as numbered units: every word of people is in one, none overlaps, and blocks stay whole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import extract
from pipeline.records import Document
from pipeline.text.units import MOST_CHARACTERS, UnitKind, units
from tests import distil_factory


def document(*posts: str) -> Document:
    rows = [{"kind": "comment", "text": text, "role": "NONE"} for text in posts]
    return distil_factory.document({"number": 5, "kind": "issue", "posts": [{"kind": "title", "text": "t"}, *rows]})


def shown(text: str) -> list[tuple[str, str]]:
    """Kind and words of the units of one comment."""
    thread = document(text)
    found = units(thread, extract.events(thread.text))
    return [(unit.kind.value, thread.text[unit.start : unit.end]) for unit in found if unit.post == 1]


def test_sentences_end_where_people_end_them() -> None:
    text = "It fails, e.g. on Windows. See `a.b. C` for it! Does 2.1 help? 升级就好了。谢谢。"
    assert [words for _, words in shown(text)] == [
        "It fails, e.g. on Windows.",
        "See `a.b. C` for it!",
        "Does 2.1 help?",
        "升级就好了。",
        "谢谢。",
    ]


def test_lists_headings_quotations_and_blocks_are_told_apart() -> None:
    text = (
        "## Steps\n1. Clone it.\n- [ ] Build it\n> somebody said this\n> and that\n\n```sh\nmake\n\nmake test\n```\n"
        '  File "/srv/a.py", line 3, in b\nThat is all.'
    )
    assert shown(text) == [
        ("heading", "## Steps"),
        ("item", "1. Clone it."),
        ("item", "- [ ] Build it"),
        ("quoted", "> somebody said this\n> and that"),
        ("code", "```sh\nmake\n\nmake test\n```"),
        ("output", 'File "/srv/a.py", line 3, in b'),
        ("sentence", "That is all."),
    ]


def test_lines_that_a_mail_program_wrapped_are_one_sentence() -> None:
    text = "The linker does not look into that folder unless it is\ntold so with a flag.\nA new line is a new sentence"
    assert [words for _, words in shown(text)] == [
        "The linker does not look into that folder unless it is\ntold so with a flag.",
        "A new line is a new sentence",
    ]


def test_a_saved_page_that_breaks_lines_behind_links_loses_no_sentence() -> None:
    assert [words for _, words in shown("For example, see\n#12\n, which says why.")][-1].endswith(", which says why.")


def test_an_error_is_output_and_what_nobody_sees_is_no_unit() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no'
    text = f"Before.\n<!-- a template\nsays this -->\n{trace}\n\nAfter."
    assert [kind for kind, _ in shown(text)] == ["sentence", "output", "sentence"]


def test_jira_blocks_are_code() -> None:
    assert [kind for kind, _ in shown("Use this:\n{code:java}\nint a = 1;\nA b.\n{code}\nDone.")] == [
        "sentence",
        "code",
        "sentence",
    ]


def test_a_robot_has_no_units() -> None:
    rows = [{"kind": "title", "text": "t"}, {"kind": "comment", "text": "Closing as stale.", "bot": True}]
    thread = distil_factory.document({"number": 5, "kind": "issue", "posts": rows})
    assert {unit.post for unit in units(thread, [])} == {0}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(alphabet="aZ .!?\n`>-*#\t0。{}code:", max_size=300), max_size=4))
def test_units_are_in_order_apart_inside_their_posts_and_hold_every_letter(posts: list[str]) -> None:
    thread = document(*posts)
    found = units(thread, [])
    at = 0
    for number, unit in enumerate(found):
        assert unit.number == number
        assert at <= unit.start < unit.end
        post = thread.posts[unit.post]
        assert post.start <= unit.start
        assert unit.end <= post.end
        assert unit.kind not in (UnitKind.SENTENCE, UnitKind.ITEM) or unit.end - unit.start <= MOST_CHARACTERS
        between = thread.text[at : unit.start]
        assert not any(map(str.isalnum, between.replace("<!--", "")))
        at = unit.end
    assert not any(map(str.isalnum, thread.text[at:]))


def test_a_hostile_post_takes_no_longer_than_its_length() -> None:
    for piece in ("```", "> a\n", "{code}", "<!--", "a. ", "[ ] ", "0x0 "):
        assert len(units(document(piece * (60_000 // len(piece))), [])) <= 60_000
