"""The function that tells an error from others of the same words: how it is named, and where an entry shows it."""

from __future__ import annotations

from dataclasses import replace

from pipeline import normalise
from pipeline.ask import read
from pipeline.records import Frame, Signature
from pipeline.text.frames import frame_key, place
from pipeline.text.sentences import bare, titled
from pipeline.translate.assembly import entry
from tests.each import each
from tests.test_translate import draft


@each(
    "frame, named",
    [
        ("kiln:(unknown)", ""),
        ("kiln:unknown", ""),
        ("Kiln:org.kiln.server.Kiln.getFires", "Kiln.getFires"),
        ("Kiln:org.kiln.server.Kiln$Door.<init>", "Kiln$Door"),
        ("?:org.kiln.Kiln.heat", "Kiln.heat"),
        ("fire:heat", "fire.heat"),
        ("door:kiln/fire.(*Door).Open", "fire.(*Door).Open"),
        ("door:main.open", "main.open"),
        ("libkiln:kiln::Door::open(kiln::Key const&, int)", "kiln::Door::open"),
        ("libkiln:kiln_open (key=0x1)", "kiln_open"),
        ("libkiln:void kiln::each<kiln::Door>(int)", ""),
        ("<stdin>:<module>", ""),
        ("kiln:?", ""),
        ("", ""),
    ],
)
def test_a_function_is_named_as_people_name_it(frame: str, named: str) -> None:
    assert place(frame) == named


@each(
    "name, seen",
    [
        ("org.kiln.server.furnaces.burners.management.BurnerManager.lightFirst", "BurnerManager.lightFirst"),
        ("example.org/kiln/kiln/furnaces/burners/management/burners.(*Manager).Light", "burners.(*Manager).Light"),
        (
            "kiln::(anonymous namespace)::lightTheFirstBurner(kiln::Burner const&, int)",
            "kiln::(anonymous namespace)::l",
        ),
    ],
)
def test_of_a_long_name_the_part_is_seen_that_tells_it_from_others(name: str, seen: str) -> None:
    assert seen in frame_key([Frame("Kiln.java", 7, name)])


def test_two_functions_of_one_long_package_are_two_places() -> None:
    package = "org.kiln.server.furnaces.burners.management.internal.BurnerManager"
    first, second = (_null(f"{package}.{name}") for name in ("light", "quench"))
    assert first.text == second.text == "NullPointerException"
    assert first.signature_id != second.signature_id


def _null(function: str) -> Signature:
    text = (
        f"java.lang.NullPointerException\n\tat {function}(BurnerManager.java:7)\n\tat org.kiln.Main.main(Main.java:3)"
    )
    (event,) = read(text).errors
    return normalise.signature(event, text)


def test_what_is_put_behind_a_message_is_taken_off_again() -> None:
    for several in (False, True):
        told = titled("NullPointerException", place="fire.(*Door).Open", is_one_of_several=several)
        assert bare(told) == "NullPointerException"
    assert bare("no clay (in the shed)") == "no clay (in the shed)"
    assert titled("no clay") == "no clay"


def test_an_entry_says_where_in_both_languages() -> None:
    given = draft(text="No such file or directory", exception_type=None)
    plain, told = entry(given, entry_id="a/b"), entry(replace(given, place="Kiln.heat"), entry_id="a/b")
    assert plain.signature_zh is not None
    assert told.signature == f"{plain.signature} (in Kiln.heat)"
    assert told.signature_zh == f"{plain.signature_zh.removesuffix('。')}（位于 Kiln.heat）。"
